//! The large headers, read beforehand.

use std::path::Path;
use std::process::{Command, Stdio};

use toolchain::{CompileFailure, Compiled, Toolchain};

use crate::{PRECOMPILE_ROLE, confined, confined_with, toolchain};

const ARCH: &str = "sm_90a";
const SUM: &str = "\
#include <cub/block/block_reduce.cuh>
#include <cuda/std/array>
template <int B> __global__ void sum(const float* a, float* c) {
    typedef cub::BlockReduce<float, B> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    cuda::std::array<float, 2> pair{a[threadIdx.x], 1.0f};
    float total = Reduce(storage).Sum(pair[0] * pair[1]);
    if (threadIdx.x == 0) c[0] = total;
}
";

/// The process that makes them.
pub fn child() -> ! {
    let root = std::env::var_os(toolchain::SETTLE).unwrap();
    toolchain::settle(Path::new(&root));
    let toolchain = Toolchain::open(Path::new(&root)).unwrap();
    toolchain::precompile(&toolchain, ARCH).unwrap();
    std::process::exit(0)
}

/// One case after the other: each process that makes the file takes seconds and some hundred megabytes.
pub fn all() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("precompiled");
    let toolchain = if std::env::var("DEBUG_PCH").is_ok() {
        Toolchain::open(&root).unwrap()
    } else {
        linked(&root)
    };
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .arg(PRECOMPILE_ROLE)
        .env_clear()
        .env(toolchain::SETTLE, toolchain.root())
        .current_dir("/")
        .stdin(Stdio::null());
    sandbox::fix_addresses(&mut command);
    assert!(command.status().unwrap().success());
    assert!(toolchain.has_precompiled(ARCH) && !toolchain.has_precompiled("sm_80"));
    errors_stay_at_their_place(&toolchain, SUM);
    // As large as a submission may be: buffers of that size must not move the compiler's heap.
    errors_stay_at_their_place(
        &toolchain,
        &format!("{SUM}{}", "// padding padding padding\n".repeat(9000)),
    );
    same_code(&toolchain);
    a_lost_file_does_no_harm(&toolchain);
    std::fs::remove_dir_all(&root).unwrap();
}

/// The toolchain of all tests by links, in a folder of its own.
fn linked(root: &Path) -> Toolchain {
    let _ = std::fs::remove_dir_all(root);
    std::fs::create_dir_all(root).unwrap();
    for entry in ["headers", "nvidia", "nvrtc-version"] {
        std::os::unix::fs::symlink(toolchain().root().join(entry), root.join(entry)).unwrap();
    }
    Toolchain::open(root).unwrap()
}

fn compiled(toolchain: &Toolchain, source: &str) -> Compiled {
    let compiled = confined_with(toolchain, ARCH, source, &["sum<128>"], 60);
    compiled
        .unwrap()
        .unwrap_or_else(|failure| panic!("{failure:#?}"))
}

/// Errors stay where the author sees them. What the file saves is measured (docs/compile.md), not asserted.
fn errors_stay_at_their_place(toolchain: &Toolchain, source: &str) {
    let broken = format!("{source}__global__ void k() {{ int x = y; }}\n");
    let line = u32::try_from(broken.lines().count()).unwrap();
    match confined_with(toolchain, ARCH, &broken, &[], 60).unwrap() {
        Err(CompileFailure::Errors(errors)) => {
            assert_eq!(errors[0].message, "identifier \"y\" is undefined");
            assert_eq!((errors[0].line, errors[0].column), (Some(line), Some(31)));
        }
        other => panic!("{other:?}"),
    }
}

fn same_code(toolchain: &Toolchain) {
    let with = compiled(toolchain, SUM);
    let without = confined(ARCH, SUM, &["sum<128>"], 60).unwrap().unwrap();
    assert_eq!(with.lowered_names, without.lowered_names);
    assert_eq!(with.kernels, without.kernels);
    assert!(with.diagnostics.is_empty(), "{:?}", with.diagnostics);
    assert!(!with.ptx.contains("large.h"));
}

fn a_lost_file_does_no_harm(toolchain: &Toolchain) {
    let mut entries = std::fs::read_dir(toolchain.precompiled_folder()).unwrap();
    let file = entries.next().unwrap().unwrap().path();
    std::fs::remove_file(&file).unwrap();
    compiled(toolchain, SUM);
}
