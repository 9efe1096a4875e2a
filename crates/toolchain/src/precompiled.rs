//! CUB's and libcu++'s headers, read once and kept: NVRTC takes some three seconds over them.
//!
//! The file is made from this crate's own list of headers and never sees a submission; children may
//! read it. It is an image of the compiler's memory and fits only where library and heap lie at the
//! addresses at which it was made. A process that wants it must therefore start without randomised
//! addresses and call [`settle`] before it allocates anything large. Where a file is missing, damaged,
//! of other headers or of other addresses, NVRTC reads the headers as if there were none.

use std::ffi::OsStr;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::nvrtc::{Input, Nvrtc, NvrtcError};
use crate::toolchain::Toolchain;
use crate::{headers, log, options, scratch};

/// The environment variable that names the toolchain's folder to a child that is to settle.
pub const SETTLE: &str = "LIGHTSPEED_PRECOMPILED";

/// Where the files lie in the toolchain's folder.
const FOLDER: &str = "precompiled";
const SUFFIX: &str = "pch";

/// How a source asks for any of the headers.
const ASKED_BY: [&str; 4] = ["<cub/", "\"cub/", "<cuda/", "\"cuda/"];

/// Name of the header that includes them all.
const ALL: &str = "lightspeed/large.h";

/// All of them. Each takes its share of time and disk whether a source wants it or not, so that barriers
/// and pipelines are left out (docs/compile.md has the figures). Cooperative groups have a shim, which
/// does not get along with the toolkit's.
const ALL_TEXT: &str = "\
#include <cub/cub.cuh>
#include <cuda/std/array>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
";

/// What stands before a source, which keeps its line numbers.
const BEFORE: &str = "\
#include <lightspeed/large.h>
#pragma nv_hdrstop
#line 1 \"submission.cu\"
";

static SETTLED: OnceLock<Settled> = OnceLock::new();

/// A process whose addresses are known.
struct Settled {
    /// Of the library's code and of the heap.
    addresses: [usize; 2],
}

/// Loads NVRTC, and finds out where its heap will lie. To be called by a child first thing; a process
/// that could not settle compiles without precompiled headers.
pub fn settle(root: &Path) {
    let toolchain = Toolchain::unfinished(root.to_owned());
    if let Ok(nvrtc) = Nvrtc::load(&toolchain)
        && let Ok(addresses) = nvrtc.settle()
    {
        scratch::keep_in_memory();
        let _ = SETTLED.set(Settled { addresses });
    }
}

/// Whether precompiled headers help a source.
#[must_use]
pub fn helps(source: &str) -> bool {
    asks_for_large(source) && !headers::beyond_the_shims(source)
}

/// Whether a source includes headers that take seconds to read.
pub(crate) fn asks_for_large(source: &str) -> bool {
    ASKED_BY.iter().any(|header| source.contains(header))
}

impl Toolchain {
    /// The folder of precompiled headers, for children that may read them.
    #[must_use]
    pub fn precompiled_folder(&self) -> PathBuf {
        self.root().join(FOLDER)
    }

    /// Whether there are any for an architecture. Those of other addresses count: only a child learns
    /// its own.
    #[must_use]
    pub fn has_precompiled(&self, arch: &str) -> bool {
        let prefix = prefix(arch);
        let entries = std::fs::read_dir(self.precompiled_folder());
        entries.into_iter().flatten().flatten().any(|entry| {
            let path = entry.path();
            path.extension() == Some(OsStr::new(SUFFIX))
                && entry.file_name().to_string_lossy().starts_with(&prefix)
        })
    }
}

/// A source and what it needs to make use of the file.
pub(crate) struct Prepared {
    pub(crate) source: String,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) option: String,
}

/// Prepares a source, where the headers would help it and this process has them.
pub(crate) fn prepare(toolchain: &Toolchain, source: &str, arch: &str) -> Option<Prepared> {
    let settled = SETTLED.get().filter(|_| helps(source))?;
    let file = settled.file(toolchain, arch);
    file.is_file().then(|| Prepared {
        source: format!("{BEFORE}{source}"),
        headers: with_all(source),
        option: format!("--use-pch={}", file.display()),
    })
}

/// Makes the file for an architecture, unless it is there. In a process of the judge's own that was
/// started without randomised addresses and has settled.
pub fn precompile(toolchain: &Toolchain, arch: &str) -> Result<(), PrecompileError> {
    let settled = SETTLED.get().ok_or(PrecompileError::Unsettled)?;
    let file = settled.file(toolchain, arch);
    if file.is_file() {
        return Ok(());
    }
    let portable = options::portable(arch).ok_or(PrecompileError::Architecture)?;
    let folder = toolchain.precompiled_folder();
    std::fs::create_dir_all(&folder)?;
    let partial = tempfile::Builder::new()
        .prefix(".partial-")
        .tempdir_in(&folder)?;
    let made = partial.path().join("headers");
    let mut all_options = portable;
    all_options.extend(options::local(&toolchain.headers(), headers::PRELUDE));
    all_options.push(format!("--create-pch={}", made.display()));
    let nvrtc = Nvrtc::load(toolchain)?;
    let source = format!("{BEFORE}__global__ void nothing() {{}}\n");
    let input = Input {
        source: &source,
        name: log::SOURCE_NAME,
        headers: &with_all(""),
        name_expressions: &[],
        options: &all_options,
        syntax_only: false,
    };
    nvrtc.save_headers(&input)?;
    remove_others(&folder, arch, &file);
    std::fs::rename(made, file)?;
    Ok(())
}

/// Why there are no precompiled headers.
#[derive(Debug, thiserror::Error)]
pub enum PrecompileError {
    /// [`settle`] was not called or failed.
    #[error("the process does not know its addresses")]
    Unsettled,
    /// Not one of the known ones.
    #[error("no such architecture")]
    Architecture,
    /// Files.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The compiler made none.
    #[error("{0}")]
    Library(String),
}

impl From<NvrtcError> for PrecompileError {
    fn from(error: NvrtcError) -> Self {
        Self::Library(error.to_string())
    }
}

impl Settled {
    fn file(&self, toolchain: &Toolchain, arch: &str) -> PathBuf {
        let [code, heap] = self.addresses;
        let name = format!("{}{code:x}-{heap:x}.{SUFFIX}", prefix(arch));
        toolchain.precompiled_folder().join(name)
    }
}

/// Architecture and digest of all that goes into a file. (NVRTC itself compares the headers on disk.)
fn prefix(arch: &str) -> String {
    let mut digest = std::hash::DefaultHasher::new();
    with_all("").hash(&mut digest);
    options::portable(arch).hash(&mut digest);
    format!("{arch}-{:016x}-", digest.finish())
}

fn with_all(source: &str) -> Vec<(&'static str, &'static str)> {
    let mut headers = headers::for_source(source);
    headers.push((ALL, ALL_TEXT));
    headers
}

/// Files of earlier shims, or of a binary that lay elsewhere, help nobody and are large.
fn remove_others(folder: &Path, arch: &str, file: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of_arch = format!("{arch}-");
    for entry in entries {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(&of_arch) && entry.path() != file {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Takes the compiler's words about precompiled headers out of its log: they are not about the source,
/// and name a path of the host.
pub(crate) fn without_remarks(log: &str) -> String {
    log.lines()
        .filter(|line| !line.contains("precompiled header"))
        .flat_map(|line| [line, "\n"])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sources_with_large_headers_are_helped() {
        assert!(helps("#include <cub/block/block_reduce.cuh>\n"));
        assert!(helps("#include <cuda/std/array>\n"));
        assert!(!helps("#include <cuda_fp16.h>\n"));
        let both =
            "#include <cub/cub.cuh>\n#include <cooperative_groups.h>\ncg::binary_partition(b, x);";
        assert!(!helps(both), "the toolkit's groups are not among them");
    }

    #[test]
    fn remarks_go_and_errors_stay() {
        let log = "\"submission.cu\": using precompiled header file \"/x/y.pch\"\nsubmission.cu(3): error: no\n";
        assert_eq!(without_remarks(log), "submission.cu(3): error: no\n");
    }

    #[test]
    fn a_process_that_did_not_settle_makes_none() {
        let toolchain = Toolchain::unfinished("/does/not/exist".into());
        let failure = precompile(&toolchain, "sm_90a").unwrap_err();
        assert!(matches!(failure, PrecompileError::Unsettled), "{failure}");
        assert!(!toolchain.has_precompiled("sm_90a"));
        assert!(prepare(&toolchain, "#include <cub/cub.cuh>", "sm_90a").is_none());
    }
}
