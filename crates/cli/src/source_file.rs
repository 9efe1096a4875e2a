//! Reading a kernel from a file or from standard input, refused here for what the service would
//! refuse it for.

use std::io::Read;
use std::path::Path;

use domain::Source;
use domain::source::MAX_SOURCE_BYTES;

use crate::failure::Failure;

/// Reads `path`; `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<Source, Failure> {
    let bytes = if path == Path::new("-") {
        take(std::io::stdin().lock())
    } else {
        std::fs::File::open(path).and_then(take)
    };
    let bytes = bytes.map_err(|error| {
        let message = format!("cannot read {}: {error}", path.display());
        Failure::usage(
            message,
            "give the path of a .cu file, or - for standard input",
        )
    })?;
    Source::from_bytes(bytes).map_err(|error| {
        let message = format!("{}: {error} ({})", path.display(), error.code());
        Failure::usage(
            message,
            "hand in one CUDA C++ file of 1 to 262144 bytes of UTF-8",
        )
    })
}

/// Enough to name the size of an oversized file truly, and never without end.
fn take(reader: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader
        .take(64 * MAX_SOURCE_BYTES as u64)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_files_are_refused_with_the_services_codes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.cu");
        let cases: [(&[u8], &str); 3] = [
            (b"", "invalid_source"),
            (b"\xff\xfe", "invalid_source"),
            (&[b'x'; 300 * 1024], "source_too_large"),
        ];
        for (bytes, code) in cases {
            std::fs::write(&path, bytes).unwrap();
            let failure = read(&path).unwrap_err();
            assert_eq!(failure.exit_code(), 2);
            assert!(failure.to_string().contains(code), "{failure}");
        }
        let missing = read(&folder.path().join("none.cu")).unwrap_err();
        assert_eq!(missing.exit_code(), 2);
        std::fs::write(&path, "__global__ void k() {}").unwrap();
        assert!(read(&path).unwrap().as_str().starts_with("__global__"));
    }
}
