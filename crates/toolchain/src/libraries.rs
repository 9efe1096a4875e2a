//! The system's libraries that NVRTC is linked to, as single files.

use std::path::{Path, PathBuf};

/// From the dynamic sections of both of NVRTC's libraries, and what libstdc++ needs.
const NAMES: [&str; 9] = [
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
];

/// Where the dynamic loader looks without a cache, on the usual distributions.
const FOLDERS: [&str; 8] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// Every copy there is: the loader decides which one it takes.
pub(crate) fn system_libraries() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = FOLDERS
        .iter()
        .flat_map(|folder| NAMES.iter().map(move |name| Path::new(folder).join(name)))
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    files.sort();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_library_files_are_named() {
        let files = system_libraries();
        assert!(!files.is_empty());
        for file in files {
            let name = file.file_name().unwrap().to_str().unwrap();
            assert!(file.is_file() && name.contains(".so"), "{}", file.display());
        }
    }
}
