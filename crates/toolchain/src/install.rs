//! Installing the toolchain: pip for the wheels, NVRTC's own call for the headers it bundles.
//!
//! Everything happens in a folder beside the final one, which is renamed into place when complete.
//! A lock file beside it keeps installers apart; the lock goes with the process that holds it.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::addition::Addition;
use crate::cupti::CUPTI;
use crate::nvdisasm::NVDISASM;
use crate::nvrtc::Nvrtc;
use crate::toolchain::{NVRTC_VERSION, Toolchain, ToolchainError};
use crate::wheel::{self, Wheel};

/// The compiler.
const NVRTC: Wheel = Wheel {
    name: "nvidia-cuda-nvrtc",
    version: NVRTC_VERSION,
    megabytes: 58,
    sha256: [
        "86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc",
        "36e4fa2a8ada293f5693d308e531c196ab6f91cf7a0ff479bf96a537d43a6096",
    ],
};
/// What works without, and is better with.
const ADDITIONS: [Addition; 2] = [CUPTI, NVDISASM];

pub(crate) fn install(
    dir: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Toolchain, ToolchainError> {
    match Toolchain::open(dir) {
        Err(ToolchainError::Missing(_) | ToolchainError::Damaged { .. }) => {}
        Ok(toolchain) => {
            complete(&toolchain, progress);
            return Ok(toolchain);
        }
        refused => return refused,
    }
    let dir = std::path::absolute(dir).map_err(io("cannot resolve", dir))?;
    let parent = dir.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(parent).map_err(io("cannot create", parent))?;
    let _lock = lock(&dir, progress)?;
    if let Ok(toolchain) = Toolchain::open(&dir) {
        return Ok(toolchain); // another installer was faster
    }
    if !Toolchain::may_replace(&dir) {
        return Err(ToolchainError::Occupied(dir));
    }
    let partial = tempfile::Builder::new()
        .prefix(".nvrtc-partial-")
        .tempdir_in(parent)
        .map_err(io("cannot create a folder in", parent))?;
    fill(partial.path(), progress)?;
    for addition in &ADDITIONS {
        addition.add(partial.path(), progress);
    }
    if dir.exists() {
        std::fs::remove_dir_all(&dir).map_err(io("cannot replace", &dir))?;
    }
    let partial = partial.keep();
    std::fs::rename(&partial, &dir).map_err(io("cannot move the compiler to", &dir))?;
    progress("The CUDA compiler is ready.");
    Toolchain::open(&dir)
}

/// Adds what folders of earlier judges lack, where that is possible: the compiler works without it.
fn complete(toolchain: &Toolchain, progress: &mut dyn FnMut(&str)) {
    let root = toolchain.root();
    for addition in ADDITIONS.iter().filter(|addition| addition.is_due(root)) {
        match lock(root, progress) {
            Ok(_lock) if addition.is_due(root) => addition.add(root, progress),
            Ok(_) => {} // another installer was faster
            Err(error) => progress(&format!(
                "{} is not added to the CUDA compiler: {error}.",
                addition.title
            )),
        }
    }
}

/// Waits for other installers of the same folder.
fn lock(dir: &Path, progress: &mut dyn FnMut(&str)) -> Result<File, ToolchainError> {
    let mut path = dir.as_os_str().to_owned();
    path.push(".lock");
    let path = PathBuf::from(path);
    let file = File::create(&path).map_err(io("cannot create", &path))?;
    if file.try_lock().is_err() {
        progress("Waiting for another process that installs the CUDA compiler.");
        file.lock().map_err(io("cannot lock", &path))?;
    }
    Ok(file)
}

fn fill(root: &Path, progress: &mut dyn FnMut(&str)) -> Result<(), ToolchainError> {
    let python = wheel::find_python()?;
    let what = NVRTC.what();
    progress(&format!("Downloading the CUDA compiler ({what}) with pip."));
    NVRTC.download(&python, root)?;
    let toolchain = Toolchain::unfinished(root.to_owned());
    progress("Unpacking the CUDA headers.");
    let nvrtc = Nvrtc::load(&toolchain).map_err(|e| ToolchainError::Unusable(e.to_string()))?;
    nvrtc
        .install_headers(&toolchain.headers())
        .map_err(|e| ToolchainError::Unusable(e.to_string()))?;
    // Others' processes, among them sandboxed children under a user of their own, may read it.
    let readable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(root, readable).map_err(io("cannot open to others", root))?;
    toolchain.stamp().map_err(io("cannot write into", root))
}

pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> ToolchainError {
    let path = path.to_owned();
    move |source| ToolchainError::Io { what, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_other_files_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("papers");
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("thesis.tex"), "x").unwrap();
        let refused = install(&dir, &mut |_| {}).unwrap_err();
        assert!(matches!(refused, ToolchainError::Occupied(_)), "{refused}");
        assert!(dir.join("thesis.tex").exists());
    }
}
