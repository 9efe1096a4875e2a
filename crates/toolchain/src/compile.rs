//! One compile: a source to PTX, CUBIN, names, diagnostics and resource usage.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use domain::{Diagnostic, Severity, Stage};
use serde::{Deserialize, Serialize};

use crate::hint::Hints;
use crate::listing::Listing;
use crate::log::Reader;
use crate::missing_headers::WithoutMissing;
use crate::nvrtc::{Input, Nvrtc, Outcome, Output};
use crate::toolchain::{NVRTC_VERSION, Toolchain};
use crate::usage::KernelUsage;
use crate::{headers, limits, log, options, source, usage};

/// What to compile. There are no free options: what may vary is named here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileRequest {
    /// Device code; host functions are blanked out.
    pub source: String,
    /// Kernels by the expressions that name them: `k`, `ns::k<float, 4>`.
    pub name_expressions: Vec<String>,
    /// The exact architecture, e.g. `sm_90a`.
    pub arch: String,
    /// Whether the binary is wanted. The PTX always is.
    pub want_cubin: bool,
}

/// A compiled source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiled {
    /// For the emulated device; names no path of the host.
    pub ptx: String,
    /// For a GPU of exactly the asked architecture.
    pub cubin: Option<Vec<u8>>,
    /// Mangled name by name expression.
    pub lowered_names: BTreeMap<String, String>,
    /// Warnings, with the notes that belong to them.
    pub diagnostics: Vec<Diagnostic>,
    /// One entry a kernel, in the order of the PTX.
    pub kernels: Vec<KernelUsage>,
    /// The options that matter to the code.
    pub options: Vec<String>,
    /// [`NVRTC_VERSION`].
    pub nvrtc_version: String,
}

/// Why there is no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum CompileFailure {
    /// The source is at fault; at least one diagnostic is an error.
    #[error("the source does not compile")]
    Errors(Vec<Diagnostic>),
    /// A limit, named.
    #[error("{0}")]
    Limit(String),
    /// The toolchain is at fault.
    #[error("{0}")]
    Internal(String),
}

/// Compiles. Must run in a sandboxed child that is thrown away: the source may crash or seize NVRTC,
/// and time and memory are limited by the sandbox alone.
pub fn compile(
    toolchain: &Toolchain,
    request: &CompileRequest,
) -> Result<Compiled, CompileFailure> {
    let Some(portable) = options::portable(&request.arch) else {
        let message = format!("no such architecture: {}", request.arch);
        return Err(CompileFailure::Internal(message));
    };
    let nvrtc = Nvrtc::load(toolchain).map_err(internal)?;
    let text = Text::of(toolchain, &request.source, &portable);
    let input = text.input(&request.name_expressions);
    let hints = Hints::new(&request.source);
    let teller = Teller {
        headers: &toolchain.headers(),
        hints: &hints,
    };
    if names_could_crash(request) {
        run(&nvrtc, &syntax_check(&input), &teller)?;
    }
    let ran = run(&nvrtc, &input, &teller)?;
    let compiled = assemble(request, portable, ran, &teller);
    let listing = Listing::of_ptx(&compiled.ptx);
    match limits::exceeded(&compiled.kernels, &listing, &hints) {
        excess if excess.is_empty() => Ok(compiled),
        mut excess => {
            excess.extend(compiled.diagnostics);
            Err(CompileFailure::Errors(excess))
        }
    }
}

/// Looks for errors only, which is fast and does not bring NVRTC down where instantiating would. The
/// same demands as for [`compile`] hold.
pub fn check_syntax(toolchain: &Toolchain, source: &str, arch: &str) -> Result<(), CompileFailure> {
    let Some(portable) = options::portable(arch) else {
        let message = format!("no such architecture: {arch}");
        return Err(CompileFailure::Internal(message));
    };
    let nvrtc = Nvrtc::load(toolchain).map_err(internal)?;
    let text = Text::of(toolchain, source, &portable);
    let teller = Teller {
        headers: &toolchain.headers(),
        hints: &Hints::new(source),
    };
    run(&nvrtc, &syntax_check(&text.input(&[])), &teller)?;
    Ok(())
}

/// A source with the headers and options that it is compiled with.
struct Text {
    source: String,
    headers: Vec<(&'static str, Cow<'static, str>)>,
    options: Vec<String>,
}

impl Text {
    fn of(toolchain: &Toolchain, source: &str, portable: &[String]) -> Self {
        let source = source::prepare(source);
        let mut options = portable.to_vec();
        options.extend(options::local(&toolchain.headers(), headers::PRELUDE));
        if headers::may_omit_small_floats(&source) {
            options.push(options::NO_SMALL_FLOATS.into());
        }
        Self {
            headers: headers::for_source(&source),
            source,
            options,
        }
    }

    fn input<'a>(&'a self, name_expressions: &'a [String]) -> Input<'a> {
        Input {
            source: &self.source,
            name: log::SOURCE_NAME,
            headers: &self.headers,
            name_expressions,
            options: &self.options,
            syntax_only: false,
        }
    }
}

/// NVRTC crashes on an erroneous template kernel (an undeclared parameter type is enough) when a name
/// expression instantiates it, and the user would never learn of the error. Where instantiations are
/// asked for, the source is therefore checked without them first, a second parse; not so before large
/// headers, where that takes long: a crash is then explained by another child.
fn names_could_crash(request: &CompileRequest) -> bool {
    let is_instance = |name: &String| name.contains('<');
    request.name_expressions.iter().any(is_instance) && !headers::asks_for_large(&request.source)
}

fn syntax_check<'a>(input: &Input<'a>) -> Input<'a> {
    Input {
        name_expressions: &[],
        syntax_only: true,
        ..*input
    }
}

/// Runs the compiler, again without an include where it gives up for want of a header.
fn run(nvrtc: &Nvrtc, input: &Input, teller: &Teller<'_>) -> Result<Ran, CompileFailure> {
    let mut text = WithoutMissing::new(input.source);
    loop {
        let input = Input {
            source: &text.source,
            ..*input
        };
        match nvrtc.compile(&input).map_err(internal)? {
            Outcome::Success(output) => {
                return Ok(Ran {
                    output,
                    warnings: text.warnings().collect(),
                });
            }
            Outcome::Refused { log, .. } if log.contains("catastrophic error: out of memory") => {
                return Err(out_of_memory());
            }
            Outcome::Refused { log, ptx } => {
                let errors = teller.errors(&log, &ptx.unwrap_or_default());
                if !text.take_out(&errors) {
                    let mut all = text.errors();
                    all.extend(errors);
                    return Err(CompileFailure::Errors(all));
                }
            }
            Outcome::OutOfMemory => return Err(out_of_memory()),
        }
    }
}

/// What the compiler made.
struct Ran {
    output: Output,
    /// Beside those in its log.
    warnings: Vec<Diagnostic>,
}

fn out_of_memory() -> CompileFailure {
    CompileFailure::Limit("the compiler ran out of memory on this source".into())
}

fn assemble(
    request: &CompileRequest,
    options: Vec<String>,
    ran: Ran,
    teller: &Teller<'_>,
) -> Compiled {
    let Ran {
        output,
        warnings: mut diagnostics,
    } = ran;
    diagnostics.extend(teller.read(&output.log, &output.ptx));
    let names = request.name_expressions.iter().cloned();
    let constant_bytes = usage::constant_bytes(&output.cubin);
    Compiled {
        kernels: usage::read(&output.log, &output.ptx, constant_bytes),
        diagnostics,
        ptx: without_paths(&output.ptx),
        cubin: request.want_cubin.then_some(output.cubin),
        lowered_names: names.zip(output.lowered_names).collect(),
        options,
        nvrtc_version: NVRTC_VERSION.to_owned(),
    }
}

/// Turns the compiler's words into ours.
struct Teller<'a> {
    headers: &'a Path,
    hints: &'a Hints<'a>,
}

impl Teller<'_> {
    fn read(&self, log: &str, ptx: &str) -> Vec<Diagnostic> {
        let reader = Reader {
            headers: self.headers,
            hints: self.hints,
            ptx: Some(&Listing::of_ptx(ptx)),
        };
        log::read(log, &reader)
    }

    /// At least one error. The assembler refuses what exceeds the device without calling it one.
    fn errors(&self, log: &str, ptx: &str) -> Vec<Diagnostic> {
        let mut diagnostics = self.read(log, ptx);
        let is_error = |d: &Diagnostic| d.severity == Severity::Error;
        if !diagnostics.iter().any(is_error) {
            let kernels = usage::read(log, ptx, 0);
            let listing = Listing::of_ptx(ptx);
            diagnostics.extend(limits::exceeded(&kernels, &listing, self.hints));
        }
        if !diagnostics.iter().any(is_error) {
            diagnostics.push(Diagnostic {
                stage: Stage::Compile,
                severity: Severity::Error,
                line: None,
                column: None,
                message: "the compiler refused the source without saying why".into(),
                hint: None,
            });
        }
        diagnostics
    }
}

/// Reduces the files that `.file` directives name to their last component.
fn without_paths(ptx: &str) -> String {
    let mut out = String::with_capacity(ptx.len());
    for line in ptx.split_inclusive('\n') {
        match line
            .trim_start()
            .strip_prefix(".file")
            .and_then(|_| line.split_once('"'))
        {
            Some((before, rest)) => {
                let (path, after) = rest.split_once('"').unwrap_or((rest, ""));
                let name = path.rsplit('/').next().unwrap_or_default();
                out.extend([before, "\"", name, "\"", after]);
            }
            None => out.push_str(line),
        }
    }
    out
}

fn internal(error: impl std::fmt::Display) -> CompileFailure {
    CompileFailure::Internal(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_directives_lose_their_folders() {
        let ptx = "\t.file\t1 \"/submission.cu\"\n\t.file\t2 \"/home/x/headers/cuda_fp16.hpp\", 7, 9\nmov.u32 %r1, %r2; // .file \"/a/b\"\n";
        assert_eq!(
            without_paths(ptx),
            "\t.file\t1 \"submission.cu\"\n\t.file\t2 \"cuda_fp16.hpp\", 7, 9\nmov.u32 %r1, %r2; // .file \"/a/b\"\n"
        );
    }
}
