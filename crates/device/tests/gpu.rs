//! The same checks through the `Device` trait on every backend there is: the emulated device always,
//! a GPU where the machine has one, else the test is skipped and says why.
//!
//! The compiler comes from LIGHTSPEED_TOOLCHAIN, or is installed once into the build folder.

#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

#[allow(dead_code)] // the example uses all of it
mod checks;
mod limits;

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use checks::bench::Bench;
use checks::{Check, Code, Images};
use device::{CudaDevice, Device, EmulatedDevice, cuda, emulated};
use libtest_mimic::{Arguments, Completion, Trial};
use toolchain::{CompileRequest, Toolchain};

const SOURCES: [(&str, &str); 4] = [
    ("plain", include_str!("../examples/kernels/plain.cu")),
    ("state", include_str!("../examples/kernels/state.cu")),
    ("wide", include_str!("../examples/kernels/wide.cu")),
    ("tma", include_str!("../examples/kernels/tma.cu")),
];

fn toolchain() -> &'static Toolchain {
    static TOOLCHAIN: OnceLock<Toolchain> = OnceLock::new();
    TOOLCHAIN.get_or_init(|| match std::env::var_os("LIGHTSPEED_TOOLCHAIN") {
        Some(dir) => Toolchain::open(Path::new(&dir)).unwrap(),
        None => {
            let dir = Toolchain::default_dir(Path::new(env!("CARGO_TARGET_TMPDIR")));
            Toolchain::install(&dir, &mut |_| {}).unwrap()
        }
    })
}

fn images(arch: &str) -> Images {
    let compile = |(name, source): (&str, &str)| (name.to_owned(), code(source, arch));
    SOURCES.into_iter().map(compile).collect()
}

fn code(source: &str, arch: &str) -> Code {
    let request = CompileRequest {
        source: source.to_owned(),
        name_expressions: Vec::new(),
        arch: arch.to_owned(),
        want_cubin: true,
    };
    let compiled = toolchain::compile(toolchain(), &request).unwrap();
    Code {
        ptx: compiled.ptx,
        cubin: compiled.cubin.unwrap(),
    }
}

/// A fresh device for each check: a fault may end the use of one.
fn perform<D: Device>(checks: &[Check], images: &Images, open: impl Fn() -> D) {
    for (name, check) in checks {
        let mut device = open();
        let mut bench = Bench::new(&mut device, images).unwrap();
        check(&mut bench).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let no_gpu = device::list_gpus().err();
    if let Some(why) = &no_gpu {
        // Also said while the tests are listed, so that runners which hide skipped tests show it.
        eprintln!("skipped: no GPU ({why})");
    }
    let trials = vec![
        Trial::test("the_emulated_device_passes_what_holds_everywhere", || {
            on_the_emulated_device();
            Ok(())
        }),
        Trial::test("variables_are_seen_in_compiled_code", || {
            variables_are_seen();
            Ok(())
        }),
        Trial::ignorable_test(
            "a_gpu_passes_what_holds_everywhere_and_what_only_gpus_do",
            || Ok(on_a_gpu()),
        )
        .with_ignored_flag(no_gpu.is_some()),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

fn on_the_emulated_device() {
    let open = || {
        EmulatedDevice::new(emulated::Settings {
            limits: limits::h200(),
            memory_limit_bytes: 1 << 28,
            instruction_fuel: 1 << 24,
        })
    };
    let images = images("sm_90a");
    perform(checks::COMMON, &images, open);
    perform(checks::HOPPER, &images, open);
}

/// What decides whether a module is loaded anew before each run.
fn variables_are_seen() {
    for arch in ["sm_75", "sm_90a", "sm_120a"] {
        let sources = [
            (
                "none",
                "extern \"C\" __global__ void k(int *p) { __shared__ int s[9]; s[*p] = 1; *p = s[2]; }",
                false,
            ),
            (
                "device",
                "__device__ int v; extern \"C\" __global__ void k() { ++v; }",
                true,
            ),
            (
                "static",
                "static __device__ int v = 3; extern \"C\" __global__ void k() { ++v; }",
                true,
            ),
            (
                "constant",
                "__constant__ int v[4]; extern \"C\" __global__ void k(int *p) { *p = v[*p]; }",
                true,
            ),
            (
                "literals",
                "extern \"C\" __global__ void k(double *p) { *p = *p * 1.2345678901234; }",
                false,
            ),
        ];
        for (name, source, wanted) in sources {
            let cubin = code(source, arch).cubin;
            let bytes = cuda::global_bytes(&cubin);
            assert_eq!(bytes.map(|b| b > 0), Some(wanted), "{name} for {arch}");
        }
    }
}

fn on_a_gpu() -> Completion {
    if let Err(why) = device::list_gpus() {
        return Completion::ignored_with(why);
    }
    let open = || {
        CudaDevice::open(&cuda::Settings {
            ordinal: 0,
            memory_limit_bytes: 1 << 30,
            cupti_library: toolchain().cupti(),
            span_limit: Duration::from_secs(10),
        })
        .unwrap()
    };
    let limits = open().limits().clone();
    let images = images(&limits.arch);
    perform(checks::COMMON, &images, open);
    if limits.compute_major < 9 {
        eprintln!(
            "skipped in part: {} has neither clusters nor tensor maps",
            limits.name
        );
        return Completion::Completed;
    }
    perform(checks::HOPPER, &images, open);
    perform(checks::GPU_ONLY, &images, open);
    Completion::Completed
}
