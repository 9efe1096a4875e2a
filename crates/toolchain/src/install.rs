//! Installing the toolchain: pip for the wheel, NVRTC's own call for the headers it bundles.
//!
//! Everything happens in a folder beside the final one, which is renamed into place when complete.
//! A lock file beside it keeps installers apart; the lock goes with the process that holds it.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::cupti;
use crate::nvrtc::Nvrtc;
use crate::toolchain::{NVRTC_VERSION, Toolchain, ToolchainError};

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
    cupti::add(partial.path(), progress);
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
    if !cupti::is_due(toolchain.root()) {
        return;
    }
    match lock(toolchain.root(), progress) {
        Ok(_lock) if cupti::is_due(toolchain.root()) => cupti::add(toolchain.root(), progress),
        Ok(_) => {} // another installer was faster
        Err(error) => progress(&format!(
            "CUPTI is not added to the CUDA compiler: {error}."
        )),
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
    let python = find_python()?;
    progress(&format!(
        "Downloading the CUDA compiler (nvidia-cuda-nvrtc {NVRTC_VERSION}, 58 MB) with pip."
    ));
    download(
        &python,
        &format!("nvidia-cuda-nvrtc=={NVRTC_VERSION}"),
        root,
    )?;
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

pub(crate) fn find_python() -> Result<PathBuf, ToolchainError> {
    let mut why = String::from("no python3 found");
    for name in ["python3", "python"] {
        match run(Path::new(name), ["-m", "pip", "--version"]) {
            Ok(output) if output.status.success() => return Ok(name.into()),
            Ok(output) => why = format!("{name}: {}", last_line(&output.stderr)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => why = format!("{name}: {e}"),
        }
    }
    Err(ToolchainError::NoPip(why))
}

/// Unpacks one wheel into a folder that holds nothing of the same name.
pub(crate) fn download(
    python: &Path,
    requirement: &str,
    root: &Path,
) -> Result<(), ToolchainError> {
    let arguments: [&OsStr; 11] = [
        "-m".as_ref(),
        "pip".as_ref(),
        "install".as_ref(),
        "--no-deps".as_ref(),
        "--no-input".as_ref(),
        "--no-compile".as_ref(),
        "--only-binary=:all:".as_ref(),
        "--disable-pip-version-check".as_ref(),
        "--target".as_ref(),
        root.as_os_str(),
        requirement.as_ref(),
    ];
    let output = run(python, arguments).map_err(io("cannot run", python))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(ToolchainError::Pip {
        package: requirement.replace("==", " "),
        reason: error_line(&words),
        advice: advice(&words),
    })
}

fn run<A: AsRef<OsStr>>(
    program: &Path,
    arguments: impl IntoIterator<Item = A>,
) -> std::io::Result<Output> {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
}

fn advice(words: &str) -> &'static str {
    let says = |text: &str| words.contains(text);
    if says("No space left") || says("Errno 28") {
        "free 250 MB there and in the folder for temporary files"
    } else if says("NewConnectionError") || says("Temporary failure") || says("timed out") {
        "check the network and pip's index settings"
    } else if says("No matching distribution") {
        "pip's index must carry this wheel for this platform (x86-64 or arm64 Linux, glibc), and pip must be 20.3 or newer"
    } else {
        "try again, or point LIGHTSPEED_TOOLCHAIN to a ready folder"
    }
}

/// The line in which pip says what is wrong.
fn error_line(words: &str) -> String {
    let line = words.lines().rev().find(|line| line.starts_with("ERROR"));
    match line {
        Some(line) => line.trim_start_matches("ERROR:").trim().to_owned(),
        None => last_line(words.as_bytes()),
    }
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    line.unwrap_or("no message").trim().to_owned()
}

pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> ToolchainError {
    let path = path.to_owned();
    move |source| ToolchainError::Io { what, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pips_words_become_a_reason_and_a_way_out() {
        let words = "WARNING: Retrying ... NewConnectionError('Temporary failure in name resolution')\n\
                     ERROR: Could not find a version that satisfies the requirement x==1 (from versions: none)\n\
                     ERROR: No matching distribution found for x==1\n";
        assert_eq!(error_line(words), "No matching distribution found for x==1");
        assert!(advice(words).contains("network"));
        let full = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n";
        assert!(advice(full).contains("free"));
    }

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
