//! Compiles one source for a GPU, as the judge would, and writes `NAME.ptx` and `NAME.cubin`.
//!
//! `cargo run --release -p toolchain --example compile -- IN.cu OUT_DIR ARCH [NAME_EXPRESSION ...]`,
//! with the toolchain's folder in LIGHTSPEED_TOOLCHAIN. A name expression instantiates a template; its
//! mangled name is printed. No sandbox here: for sources that you trust.

use std::path::{Path, PathBuf};

use toolchain::{CompileFailure, CompileRequest, Toolchain, compile};

fn main() {
    if let Err(message) = run() {
        eprintln!("{message}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let (Some(input), Some(folder), Some(arch)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("usage: compile IN.cu OUT_DIR ARCH [NAME_EXPRESSION ...]".to_owned());
    };
    let input = PathBuf::from(input);
    let folder = PathBuf::from(folder);
    let toolchain =
        std::env::var_os("LIGHTSPEED_TOOLCHAIN").ok_or("LIGHTSPEED_TOOLCHAIN names no folder")?;
    let toolchain = Toolchain::open(Path::new(&toolchain)).map_err(|e| e.to_string())?;
    let request = CompileRequest {
        source: std::fs::read_to_string(&input).map_err(|e| format!("{}: {e}", input.display()))?,
        name_expressions: arguments.collect(),
        arch,
        want_cubin: true,
    };
    let compiled = compile(&toolchain, &request).map_err(failure_text)?;
    for (expression, name) in &compiled.lowered_names {
        println!("{expression} {name}");
    }
    let name = input.file_stem().ok_or("the input has no name")?;
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let write = |extension: &str, bytes: &[u8]| {
        let path = folder.join(name).with_extension(extension);
        std::fs::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))
    };
    write("ptx", compiled.ptx.as_bytes())?;
    write("cubin", &compiled.cubin.ok_or("no CUBIN came back")?)
}

fn failure_text(failure: CompileFailure) -> String {
    match failure {
        CompileFailure::Errors(diagnostics) => diagnostics
            .iter()
            .map(|d| format!("{d:?}"))
            .collect::<Vec<_>>()
            .join("\n"),
        other => other.to_string(),
    }
}
