//! Reading a kernel from a file or from standard input, refused here for what the service would
//! refuse it for.

use std::io::Read;
use std::path::Path;

use domain::Source;
use domain::source::MAX_SOURCE_BYTES;

use crate::failure::Failure;

/// Reads `path`; `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<Source, Failure> {
    let name = path.display();
    let (bytes, size) = if path == Path::new("-") {
        (take(std::io::stdin().lock()), None)
    } else {
        let size = path.metadata().ok().filter(std::fs::Metadata::is_file);
        let bytes = std::fs::File::open(path).and_then(take);
        (bytes, size.map(|metadata| metadata.len()))
    };
    let bytes = bytes.map_err(|error| {
        let message = format!("cannot read {name}: {error}");
        Failure::usage(
            message,
            "give the path of a .cu file, or - for standard input",
        )
    })?;
    let refused = |message: String, code: &str| {
        let hint = format!("hand in one CUDA C++ file of 1 to {MAX_SOURCE_BYTES} bytes of UTF-8");
        Failure::usage(message, hint).with_code(code)
    };
    if bytes.len() > MAX_SOURCE_BYTES {
        let read_to_its_end = (bytes.len() < MOST_READ).then_some(bytes.len() as u64);
        let size = size.or(read_to_its_end).map_or_else(
            || format!("more than {MAX_SOURCE_BYTES} bytes"),
            |size| format!("{size} bytes"),
        );
        let message =
            format!("{name}: the source has {size}; the limit is {MAX_SOURCE_BYTES} bytes");
        return Err(refused(message, "source_too_large"));
    }
    Source::from_bytes(bytes).map_err(|error| refused(format!("{name}: {error}"), error.code()))
}

/// Enough to name the size of what a pipe brings truly, and never without end.
const MOST_READ: usize = 64 * MAX_SOURCE_BYTES;

fn take(reader: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(MOST_READ as u64).read_to_end(&mut bytes)?;
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
        // Larger than anything that is read: the file's size is told all the same.
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(20_000_000).unwrap();
        let failure = read(&path).unwrap_err();
        let expected = format!(
            "{}: the source has 20000000 bytes; the limit is 262144 bytes (source_too_large)",
            path.display()
        );
        assert_eq!(failure.to_string(), expected);
        let missing = read(&folder.path().join("none.cu")).unwrap_err();
        assert_eq!(missing.exit_code(), 2);
        std::fs::write(&path, "__global__ void k() {}").unwrap();
        assert!(read(&path).unwrap().as_str().starts_with("__global__"));
    }
}
