//! The code of a submission in files, for whoever asked for it: `lightspeed judge --keep-code`.
//!
//! The toolchain's disassembler is confined. One that a person names, or that is found where the toolchain
//! has none, reads the CUBIN in their name and unconfined, which is for their own file: a worker never asks
//! for it.

use std::path::Path;

use toolchain::{Disassembler, Listing};

use crate::Environment;
use crate::compile::disassembly;
use crate::compile::wire::CompiledSource;

/// Writes `code.ptx`, `code.cubin` and, where there is a disassembler, `code.sass`; PTX and SASS with
/// the lines of the submission that they were made from. Tells what could not be written.
pub(crate) fn write(
    environment: &Environment,
    folder: &Path,
    source: &str,
    compiled: &CompiledSource,
) -> Vec<String> {
    let mut failures = Vec::new();
    let mut keep = |name: &str, contents: &[u8]| {
        let file = folder.join(name);
        if let Err(error) = std::fs::write(&file, contents) {
            failures.push(format!("{} is not kept: {error}", file.display()));
        }
    };
    let ptx = Listing::of_ptx(&compiled.ptx).with_source(source);
    keep("code.ptx", ptx.as_bytes());
    keep("code.cubin", &compiled.cubin);
    match machine_code(environment, &compiled.cubin) {
        Ok(sass) => keep(
            "code.sass",
            Listing::of_sass(&sass).with_source(source).as_bytes(),
        ),
        Err(reason) => failures.push(format!("no machine code is kept: {reason}")),
    }
    failures
}

/// By the disassembler that a person names, else the toolchain's, else one that is found.
fn machine_code(environment: &Environment, cubin: &[u8]) -> Result<String, String> {
    let has_own = environment.toolchain.nvdisasm().is_some();
    let chosen =
        match Disassembler::named() {
            None if !has_own => Some(Disassembler::find().ok_or(
                "neither nvdisasm nor cuobjdump is found; name one in LIGHTSPEED_NVDISASM",
            )?),
            named => named,
        };
    match chosen {
        Some(disassembler) => disassembler.disassemble(cubin).map_err(|e| e.to_string()),
        None => disassembly::disassemble(environment, cubin)
            .map(|text| String::from_utf8_lossy(&text).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use domain::SystemClock;
    use toolchain::Toolchain;

    use crate::test_support::{compiled, toolchain};

    const SOURCE: &str = "\
extern \"C\" __global__ void twice(const float* x, float* y) {
    int i = threadIdx.x;
    y[i] = 2 * x[i];
}
";

    fn environment() -> Environment {
        let toolchain = Toolchain::open(&toolchain()).unwrap();
        Environment::new(toolchain, Arc::new(SystemClock::default())).unwrap()
    }

    #[test]
    fn code_stands_under_the_line_that_it_was_made_from() {
        let code = compiled(SOURCE);
        let source = CompiledSource {
            plans: Vec::new(),
            held_out: Default::default(),
            unplanned: Default::default(),
            host: None,
            listing: Default::default(),
            told: None,
            ptx: code.ptx,
            cubin: code.cubin,
            lowered_names: code.lowered_names,
            asked: Default::default(),
            usage: Vec::new(),
            warnings: Vec::new(),
            options: Vec::new(),
            nvrtc_version: String::new(),
        };
        let folder = tempfile::tempdir().unwrap();
        let failures = write(&environment(), folder.path(), SOURCE, &source);
        let kept = |name: &str| std::fs::read(folder.path().join(name));
        let ptx = String::from_utf8(kept("code.ptx").unwrap()).unwrap();
        let (_, after) = ptx.split_once("// 3: y[i] = 2 * x[i];\n").unwrap();
        assert!(after.contains("st.global.f32"), "{ptx}");
        assert_eq!(kept("code.cubin").unwrap(), source.cubin);
        match kept("code.sass") {
            Ok(sass) => {
                assert_eq!(failures, [] as [&str; 0]);
                let sass = String::from_utf8(sass).unwrap();
                let (_, after) = sass.split_once("// 3: y[i] = 2 * x[i];\n").unwrap();
                assert!(after.contains("STG.E"), "{sass}");
            }
            // The toolchain's needs children, which a unit test has not.
            Err(_) => assert_eq!(failures.len(), 1, "{failures:?}"),
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_told_of() {
        let source = CompiledSource {
            plans: Vec::new(),
            held_out: Default::default(),
            unplanned: Default::default(),
            host: None,
            listing: Default::default(),
            told: None,
            ptx: String::new(),
            cubin: Vec::new(),
            lowered_names: Default::default(),
            asked: Default::default(),
            usage: Vec::new(),
            warnings: Vec::new(),
            options: Vec::new(),
            nvrtc_version: String::new(),
        };
        let nowhere = Path::new("/nowhere/at/all");
        let failures = write(&environment(), nowhere, "", &source);
        assert!(failures[0].starts_with("/nowhere/at/all/code.ptx is not kept"));
    }
}
