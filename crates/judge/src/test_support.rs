//! What unit tests of the children's insides share: real compiled code on the emulated device, in this
//! process. The sources are the tests' own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use device::{Bounds, Checking, OpenRequest, Target};
use domain::{DeviceName, Direction, ElementType};
use problems::{Generator, TensorSpec};
use toolchain::{CompileRequest, Toolchain};

use crate::wire::Code;

/// The toolchain from LIGHTSPEED_TOOLCHAIN, or installed once into the build folder.
pub(crate) fn toolchain() -> PathBuf {
    match std::env::var_os("LIGHTSPEED_TOOLCHAIN") {
        Some(folder) => folder.into(),
        None => {
            let state = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/state");
            let folder = Toolchain::default_dir(&state);
            let installed = Toolchain::install(&folder, &mut |_| {});
            installed.expect("the toolchain installs").root().to_owned()
        }
    }
}

/// Compiles device code whose kernels are `extern "C"`.
pub(crate) fn compiled(source: &str) -> Code {
    compiled_for(source, "sm_90a")
}

/// The same for another architecture.
pub(crate) fn compiled_for(source: &str, arch: &str) -> Code {
    let toolchain = Toolchain::open(&toolchain()).unwrap();
    let request = CompileRequest {
        source: source.to_owned(),
        name_expressions: Vec::new(),
        arch: arch.to_owned(),
        want_cubin: true,
    };
    let compiled = toolchain::compile(&toolchain, &request).unwrap();
    Code {
        ptx: compiled.ptx,
        cubin: compiled.cubin.unwrap(),
        lowered_names: BTreeMap::new(),
    }
}

/// An emulated H200.
pub(crate) fn emulated() -> OpenRequest {
    OpenRequest {
        target: Target::Emulated,
        limits: scoring::device(DeviceName::H200).limits.clone(),
    }
}

/// A gigabyte, and more instructions than any test needs.
pub(crate) fn bounds() -> Bounds {
    Bounds {
        memory_bytes: 1 << 30,
        reserve_bytes: 0,
        instruction_fuel: 1 << 32,
        run_limit: Duration::from_secs(60),
        checking: Checking::Bounds,
    }
}

/// A vector.
pub(crate) fn vector(
    name: &str,
    element: ElementType,
    direction: Direction,
    elements: u64,
    generator: Option<Generator>,
) -> TensorSpec {
    TensorSpec {
        name: name.to_owned(),
        element,
        direction,
        dims: vec![elements],
        generator,
        bytes: elements * element.size_bytes(),
        align_bytes: 16,
    }
}
