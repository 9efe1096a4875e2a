//! What later judgings would make again, compiled code above all: one file a job, named by the digest of all that matters.
//!
//! Any file, and the whole folder, may be deleted at any time: what is lost or damaged is made again,
//! never reported. [`prune`] bounds the folder; what was used last goes last.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Part of the name, so that a change of the stored form misses instead of misreading.
const FORMAT: &str = concat!("v6-", env!("CARGO_PKG_VERSION"));

/// What every file of the cache begins with; whatever else lies in the folder is left alone.
const PREFIX: &str = "code-";

/// Bytes of a digest in hexadecimal, with which a file begins.
const DIGEST_BYTES: usize = 64;

/// A kept result. One that was damaged on disk is a miss.
pub(crate) fn load<Reply: DeserializeOwned>(
    directory: &Path,
    job: &impl Serialize,
) -> Option<Reply> {
    let text = fs::read(path(directory, job)).ok()?;
    let (digest, body) = text.split_at_checked(DIGEST_BYTES)?;
    if digest != hex::encode(Sha256::digest(body)).as_bytes() {
        return None;
    }
    serde_json::from_slice(body).ok()
}

/// Keeps a result. Failing to is not an error: the next judging compiles again.
pub(crate) fn store(directory: &Path, job: &impl Serialize, reply: &impl Serialize) {
    if let Err(error) = write(directory, job, reply) {
        tracing::warn!(%error, "a result could not be cached");
    }
}

/// Notes that a result was of use.
pub(crate) fn touch(directory: &Path, job: &impl Serialize, now: SystemTime) {
    let file = File::options().append(true).open(path(directory, job));
    // Who loses a file now, or may not write to it, loses nothing but the order.
    let _ = file.and_then(|file| file.set_modified(now));
}

/// Deletes what was used longest ago until no more than `bytes` are kept.
pub(crate) fn prune(directory: &Path, bytes: u64) {
    let mut kept = files(directory);
    let mut total: u64 = kept.iter().map(|file| file.bytes).sum();
    if total <= bytes {
        return;
    }
    kept.sort_by_key(|file| file.used);
    for file in kept {
        if total <= bytes {
            break;
        }
        // Another process may prune at the same time.
        let _ = fs::remove_file(&file.path);
        total -= file.bytes;
    }
}

struct Kept {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

/// Files of the cache, those that are being written included.
fn files(directory: &Path) -> Vec<Kept> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
        .filter_map(|entry| {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some(Kept {
                path: entry.path(),
                bytes: metadata.len(),
                used: metadata.modified().ok()?,
            })
        })
        .collect()
}

fn write(directory: &Path, job: &impl Serialize, reply: &impl Serialize) -> std::io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut file = tempfile::Builder::new()
        .prefix(PREFIX)
        .suffix(".part")
        .tempfile_in(directory)?;
    let body = serde_json::to_vec(reply)?;
    file.write_all(hex::encode(Sha256::digest(&body)).as_bytes())?;
    file.write_all(&body)?;
    file.persist(path(directory, job))?;
    Ok(())
}

fn path(directory: &Path, job: &impl Serialize) -> PathBuf {
    // The job names the source, the shapes, the target and the toolchain's folder with its version;
    // options, instantiations and shims follow from them and from the running program.
    let job = serde_json::to_vec(job).expect("a job is plain data");
    let digest = Sha256::new_with_prefix(FORMAT)
        .chain_update(toolchain::NVRTC_VERSION)
        .chain_update(build_stamp())
        .chain_update(job)
        .finalize();
    directory.join(format!("{PREFIX}{}.json", hex::encode(digest)))
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(second: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(second)
    }

    fn kept(folder: &Path, job: &str) -> Option<String> {
        load(folder, &job)
    }

    #[test]
    fn damaged_and_lost_files_are_misses() {
        let folder = tempfile::tempdir().unwrap();
        store(folder.path(), &"job", &"mov.u32 %r1, 1;");
        assert_eq!(kept(folder.path(), "job").unwrap(), "mov.u32 %r1, 1;");
        assert_eq!(kept(folder.path(), "another job"), None);

        let file = path(folder.path(), &"job");
        let mut bytes = fs::read(&file).unwrap();
        let last_digit = bytes.iter().rposition(|&byte| byte == b'1').unwrap();
        bytes[last_digit] = b'2'; // still JSON, and other code
        fs::write(&file, &bytes).unwrap();
        assert_eq!(kept(folder.path(), "job"), None);
        for damage in [&b""[..], b"{", &bytes[..70]] {
            fs::write(&file, damage).unwrap();
            assert_eq!(kept(folder.path(), "job"), None);
        }
        fs::remove_dir_all(folder.path()).unwrap();
        assert_eq!(kept(folder.path(), "job"), None);
        store(folder.path(), &"job", &"again");
        assert_eq!(kept(folder.path(), "job").unwrap(), "again");
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "x".repeat(5000)).unwrap();
        let reply = "x".repeat(1000);
        for (second, job) in ["first", "second", "third"].iter().enumerate() {
            store(folder.path(), job, &reply);
            touch(folder.path(), job, at(second as u64));
        }
        touch(folder.path(), &"first", at(100));
        prune(folder.path(), 4000);
        assert!(kept(folder.path(), "second").is_some(), "within the bound");
        prune(folder.path(), 2500);
        assert_eq!(kept(folder.path(), "second"), None);
        assert!(kept(folder.path(), "first").is_some());
        assert!(kept(folder.path(), "third").is_some());
        prune(folder.path(), 0);
        assert_eq!(kept(folder.path(), "first"), None);
        assert!(
            folder.path().join("thesis.tex").exists(),
            "not of the cache"
        );
    }
}
