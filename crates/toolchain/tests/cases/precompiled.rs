//! The large headers, read beforehand.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

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

/// The toolchain of all tests by links, in a folder of its own, with precompiled headers.
fn prepared(name: &str) -> Toolchain {
    static MADE: OnceLock<Toolchain> = OnceLock::new();
    let first = MADE.get_or_init(|| {
        let toolchain = linked("precompiled");
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .arg(PRECOMPILE_ROLE)
            .env_clear()
            .env(toolchain::SETTLE, toolchain.root())
            .current_dir("/")
            .stdin(Stdio::null());
        sandbox::fix_addresses(&mut command);
        assert!(command.status().unwrap().success());
        toolchain
    });
    if name == "precompiled" {
        return first.clone();
    }
    let other = linked(name);
    std::fs::create_dir_all(other.precompiled_folder()).unwrap();
    for entry in std::fs::read_dir(first.precompiled_folder()).unwrap() {
        let entry = entry.unwrap();
        let copy = other.precompiled_folder().join(entry.file_name());
        std::fs::copy(entry.path(), copy).unwrap();
    }
    other
}

fn linked(name: &str) -> Toolchain {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&root).unwrap();
    for entry in ["headers", "nvidia", "nvrtc-version"] {
        std::os::unix::fs::symlink(toolchain().root().join(entry), root.join(entry)).unwrap();
    }
    Toolchain::open(&root).unwrap()
}

fn compiled(toolchain: &Toolchain, source: &str) -> Compiled {
    let compiled = confined_with(toolchain, ARCH, source, &["sum<128>"], 60);
    compiled
        .unwrap()
        .unwrap_or_else(|failure| panic!("{failure:#?}"))
}

pub fn same_code() {
    let toolchain = prepared("precompiled");
    assert!(toolchain.has_precompiled(ARCH) && !toolchain.has_precompiled("sm_80"));
    // The front end alone, where the code generator's time does not blur the difference: on a loaded
    // machine a wall clock says little, so the limit on processor time is the measure.
    let broken = format!("{SUM}__global__ void k() {{ int x = y; }}\n");
    let failure = confined_with(&toolchain, ARCH, &broken, &[], 1).unwrap();
    let Err(CompileFailure::Errors(errors)) = failure else {
        panic!("{failure:?}");
    };
    assert_eq!((errors[0].line, errors[0].column), (Some(10), Some(29)));
    assert_eq!(errors[0].message, "identifier \"y\" is undefined");
    assert!(
        confined(ARCH, &broken, &[], 1).is_err(),
        "no second is enough without"
    );

    let with = compiled(&toolchain, SUM);
    let without = confined(ARCH, SUM, &["sum<128>"], 60).unwrap().unwrap();
    assert_eq!(with.lowered_names, without.lowered_names);
    assert_eq!(with.kernels, without.kernels);
    assert!(with.diagnostics.is_empty(), "{:?}", with.diagnostics);
    assert!(!with.ptx.contains("precompiled") && !with.ptx.contains("large.h"));
}

pub fn large_source() {
    // As large as a submission may be: buffers of that size must not move the compiler's heap.
    let source = format!("{SUM}{}", "// padding padding padding\n".repeat(9000));
    let broken = format!("{source}__global__ void k() {{ int x = y; }}\n");
    let failure = confined_with(&prepared("precompiled"), ARCH, &broken, &[], 1).unwrap();
    let Err(CompileFailure::Errors(errors)) = failure else {
        panic!("{failure:?}");
    };
    assert_eq!(errors[0].line, Some(9010));
}

pub fn damaged() {
    let toolchain = prepared("damaged");
    let entry = std::fs::read_dir(toolchain.precompiled_folder())
        .unwrap()
        .next();
    let file = entry.unwrap().unwrap().path();
    let whole = std::fs::metadata(&file).unwrap().len();
    for length in [0, 100, 5000] {
        let opened = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
        opened.set_len(length.min(whole)).unwrap();
        drop(opened);
        let compiled = compiled(&toolchain, SUM);
        assert!(
            compiled.diagnostics.is_empty(),
            "{:?}",
            compiled.diagnostics
        );
    }
    std::fs::remove_file(&file).unwrap();
    compiled(&toolchain, SUM);
}
