//! The code of a submission in files, for whoever asked for it: `lightspeed judge --keep-code`.
//!
//! A disassembler then reads a CUBIN that came of the submission, in this process's name and unconfined. That
//! is for a person and their own file; a worker never asks for it.

use std::path::Path;

use toolchain::{Disassembler, Listing};

use crate::compile::wire::CompiledSource;

/// Writes `code.ptx`, `code.cubin` and, where this machine has a disassembler, `code.sass`; PTX and SASS with
/// the lines of the submission that they were made from. Tells what could not be written.
pub(crate) fn write(folder: &Path, source: &str, compiled: &CompiledSource) -> Vec<String> {
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
    match Disassembler::find().map(|found| found.disassemble(&compiled.cubin)) {
        Some(Ok(sass)) => keep(
            "code.sass",
            Listing::of_sass(&sass).with_source(source).as_bytes(),
        ),
        Some(Err(error)) => failures.push(format!("no machine code is kept: {error}")),
        None => failures.push(
            "no machine code is kept: neither nvdisasm nor cuobjdump is found; name one in \
             LIGHTSPEED_NVDISASM"
                .to_owned(),
        ),
    }
    failures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::compiled;

    const SOURCE: &str = "\
extern \"C\" __global__ void twice(const float* x, float* y) {
    int i = threadIdx.x;
    y[i] = 2 * x[i];
}
";

    #[test]
    fn code_stands_under_the_line_that_it_was_made_from() {
        let code = compiled(SOURCE);
        let source = CompiledSource {
            plans: Vec::new(),
            held_out: Default::default(),
            unplanned: Default::default(),
            host: None,
            listing: Default::default(),
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
        let failures = write(folder.path(), SOURCE, &source);
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
            // This machine has no disassembler, or one that is older than the code.
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
            ptx: String::new(),
            cubin: Vec::new(),
            lowered_names: Default::default(),
            asked: Default::default(),
            usage: Vec::new(),
            warnings: Vec::new(),
            options: Vec::new(),
            nvrtc_version: String::new(),
        };
        let failures = write(Path::new("/nowhere/at/all"), "", &source);
        assert!(failures[0].starts_with("/nowhere/at/all/code.ptx is not kept"));
    }
}
