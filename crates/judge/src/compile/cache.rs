//! What judgings of the same packages would make again, compiled code above all: one JSON file a job, named by the digest of all that matters.
//!
//! Only what comes of packages' references and baselines and of the judge's own kernels is kept; a lost or damaged file is made again, never reported.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Part of the name, so that a change of the stored form misses instead of misreading.
const FORMAT: &str = concat!("v2-", env!("CARGO_PKG_VERSION"));

pub(crate) fn load<Reply: DeserializeOwned>(
    directory: &Path,
    job: &impl Serialize,
) -> Option<Reply> {
    let text = fs::read(path(directory, job)).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Keeps a result. Failing to is not an error: the next judging compiles again.
pub(crate) fn store(directory: &Path, job: &impl Serialize, reply: &impl Serialize) {
    if let Err(error) = write(directory, job, reply) {
        tracing::warn!(%error, "a result could not be cached");
    }
}

fn write(directory: &Path, job: &impl Serialize, reply: &impl Serialize) -> std::io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(&serde_json::to_vec(reply)?)?;
    file.persist(path(directory, job))?;
    Ok(())
}

fn path(directory: &Path, job: &impl Serialize) -> PathBuf {
    // The job names the source, the shapes, the target and the toolchain's folder with its version.
    let job = serde_json::to_vec(job).expect("a job is plain data");
    let digest = Sha256::new_with_prefix(FORMAT)
        .chain_update(toolchain::NVRTC_VERSION)
        .chain_update(build_stamp())
        .chain_update(job)
        .finalize();
    directory.join(format!("code-{}.json", hex::encode(digest)))
}

/// Changes whenever the running program does: planning and shims are compiled in.
fn build_stamp() -> &'static [u8] {
    use std::sync::OnceLock;
    static STAMP: OnceLock<Vec<u8>> = OnceLock::new();
    STAMP.get_or_init(|| {
        let metadata = std::env::current_exe().and_then(fs::metadata);
        let modified = metadata.and_then(|m| Ok((m.len(), m.modified()?)));
        format!("{modified:?}").into_bytes()
    })
}
