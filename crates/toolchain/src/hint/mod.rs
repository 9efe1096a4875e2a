//! What to do about common mistakes, by the compiler's words.
//!
//! A hint that is wrong is worse than none: each is given only where the message, and the source where it
//! must be asked, leave no other reading.

mod text;

use domain::Diagnostic;
use domain::misspelling::meant;
use domain::slips::words;

use crate::device_names::DEVICE_NAMES;

/// What hints are looked up in besides the message itself.
pub(crate) struct Hints<'a> {
    source: &'a str,
    lines: Vec<&'a str>,
    names: Vec<&'a str>,
}

impl<'a> Hints<'a> {
    /// For messages about `source`.
    pub(crate) fn new(source: &'a str) -> Self {
        let mut names: Vec<&str> = words(source).collect();
        names.sort_unstable();
        names.dedup();
        Self {
            source,
            lines: source.lines().collect(),
            names,
        }
    }

    /// Gives a message its way out, where it is one of the well-known ones. After an error on the same
    /// line what the compiler misses may be no more than what it did not understand: `follows` leaves out
    /// hints that take it at its word.
    pub(crate) fn give(&self, diagnostic: &mut Diagnostic, follows: bool) {
        let message = &diagnostic.message;
        let at_its_word = || {
            self.semicolon(diagnostic)
                .or_else(|| self.undeclared(diagnostic))
                .filter(|_| !follows)
        };
        diagnostic.hint = include(message)
            .or_else(|| self.undefined(diagnostic))
            .or_else(|| self.in_text(diagnostic))
            .or_else(at_its_word)
            .or_else(|| member(message))
            .or_else(|| argument(message))
            .or_else(|| known(message).map(str::to_owned));
    }

    fn undefined(&self, diagnostic: &Diagnostic) -> Option<String> {
        let name = undefined_name(&diagnostic.message)?;
        self.library(name)
            .or_else(|| self.header(name))
            .or_else(|| old_warp_function(name))
            .or_else(|| self.misspelt(name, diagnostic))
    }

    /// Functions of libraries that run on the host, and of those that are not there.
    fn library(&self, name: &str) -> Option<String> {
        if name.starts_with("curand") {
            let included = self.source.contains("curand_kernel.h");
            let hint = if included {
                "of cuRAND's device side the Philox generator is here: curandStatePhilox4_32_10_t"
            } else {
                "#include <curand_kernel.h>, and use its curandStatePhilox4_32_10_t"
            };
            return Some(hint.to_owned());
        }
        if ["cublas", "cudnn", "cusparse", "cufft", "thrust"]
            .iter()
            .any(|library| name.starts_with(library))
        {
            return Some("host libraries are not available; write this as a kernel".to_owned());
        }
        let is_runtime = name
            .strip_prefix("cuda")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
        let called = self.source.contains(&format!("{name}("));
        (is_runtime && called)
            .then(|| format!("`{name}` is a host function: call it in `solve`, not in device code"))
    }

    /// The header that declares a name, where the source does not include it.
    fn header(&self, name: &str) -> Option<String> {
        let header = match name {
            "half" | "half2" | "__half" | "__half2" | "__float2half" | "__half2float"
            | "__float2half_rn" | "__float22half2_rn" | "__half22float2" | "__hadd" | "__hmul"
            | "__hfma" | "__hadd2" | "__hmul2" | "__hfma2" => "cuda_fp16.h",
            "wmma" | "nvcuda" => "mma.h",
            "cooperative_groups" => "cooperative_groups.h",
            "cub" => "cub/cub.cuh",
            "FLT_MAX" | "FLT_MIN" | "FLT_EPSILON" | "DBL_MAX" | "DBL_MIN" | "DBL_EPSILON" => {
                "cfloat"
            }
            "INT_MAX" | "INT_MIN" | "UINT_MAX" | "LLONG_MAX" | "LLONG_MIN" | "CHAR_BIT" => {
                "climits"
            }
            "CUDART_INF_F" | "CUDART_INF" | "CUDART_NAN_F" | "CUDART_PI_F" => "math_constants.h",
            _ if name.contains("bfloat16") || name.contains("bfloat162") => "cuda_bf16.h",
            _ if name.starts_with("__nv_fp8") => "cuda_fp8.h",
            _ => return None,
        };
        let included = self.source.contains(&format!("<{header}>"))
            || self.source.contains(&format!("\"{header}\""));
        (!included).then(|| format!("#include <{header}>"))
    }

    fn undeclared(&self, diagnostic: &Diagnostic) -> Option<String> {
        let name = undefined_name(&diagnostic.message)?;
        if let Some(hint) = self.untyped_parameter(name, diagnostic) {
            return Some(hint);
        }
        if let Some(line) = self.defined_below(name, diagnostic) {
            return Some(format!(
                "`{name}` is defined in line {line}, below: move it above, or declare it before this line"
            ));
        }
        Some(if self.is_above(name, diagnostic) {
            format!("is `{name}` declared in another block, or is there one `}}` too many above?")
        } else {
            format!(
                "declare `{name}` before this line; what only host code uses is no part of device code"
            )
        })
    }

    /// A name that is there above the place is a slip of no other name of the file.
    fn misspelt(&self, name: &str, diagnostic: &Diagnostic) -> Option<String> {
        let is_own = !self.is_above(name, diagnostic);
        let own = self.names.iter().copied().filter(|_| is_own);
        let meant = meant(name, DEVICE_NAMES.iter().copied().chain(own))?;
        Some(format!("did you mean `{meant}`?"))
    }

    /// Whether a line above the place has the name.
    fn is_above(&self, name: &str, diagnostic: &Diagnostic) -> bool {
        let line = diagnostic.line.and_then(|line| usize::try_from(line).ok());
        let above = line.and_then(|line| self.lines.get(..line.checked_sub(1)?));
        let above = above.unwrap_or_default().iter();
        above.flat_map(|line| words(line)).any(|word| word == name)
    }

    /// The compiler notices a missing `;` where the next word begins, which may be lines below.
    fn semicolon(&self, diagnostic: &Diagnostic) -> Option<String> {
        if !diagnostic.message.ends_with("expected a \";\"") {
            return None;
        }
        let index = |number: u32| usize::try_from(number).ok()?.checked_sub(1);
        let (line, column) = (index(diagnostic.line?)?, index(diagnostic.column?)?);
        let before = self.lines.get(line)?.get(..column)?;
        // Before a function's qualifiers it is the declaration above that does not end.
        let begins = [
            "__global__",
            "__device__",
            "extern",
            "static",
            "inline",
            "\"C\"",
        ];
        if !before.split_whitespace().all(|word| begins.contains(&word)) {
            return Some("a `;` is missing before this place".to_owned());
        }
        let mut above = self.lines.get(..line)?.iter().enumerate().rev();
        let (above, _) = above.find(|(_, text)| is_code(text))?;
        Some(format!("a `;` is missing at the end of line {}", above + 1))
    }
}

/// `identifier "x" is undefined`
fn undefined_name(message: &str) -> Option<&str> {
    let (before, _) = message.split_once("\" is undefined")?;
    before.rsplit('"').next()
}

/// Neither blank nor a comment as a whole.
fn is_code(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with("//")
}

fn include(message: &str) -> Option<String> {
    let rest = message.split_once("cannot open source file \"")?.1;
    let name = rest.split('"').next()?;
    let hint = if ["torch/", "ATen/", "c10/"]
        .iter()
        .any(|p| name.starts_with(p))
    {
        "PyTorch is not available; write the kernel and `solve` in plain CUDA"
    } else if ["cute/", "cutlass/"].iter().any(|p| name.starts_with(p)) {
        "CUTLASS and CuTe are not available"
    } else if name.starts_with('/') {
        "only the toolchain's own headers can be included"
    } else {
        "a submission is one file; available are cuda_fp16.h, cuda_bf16.h, cuda_fp8.h, mma.h, \
         cooperative_groups.h, cub/block/*, cub/warp/*, cuda/* and the common standard headers"
    };
    Some(hint.to_owned())
}

/// Before CUDA 9 these did not say which lanes take part.
fn old_warp_function(name: &str) -> Option<String> {
    let old = [
        "__shfl",
        "__shfl_up",
        "__shfl_down",
        "__shfl_xor",
        "__ballot",
        "__any",
        "__all",
    ];
    old.contains(&name).then(|| {
        format!("use `{name}_sync`, whose first argument is the mask of lanes: 0xffffffff for all")
    })
}

/// `threadIdx.X`
fn member(message: &str) -> Option<String> {
    let rest = message.split_once("class \"")?.1;
    let (class, rest) = rest.split_once("\" has no member \"")?;
    let name = rest.split('"').next()?;
    let members: &[&str] = match class {
        "dim3" | "uint3" | "int3" | "float3" => &["x", "y", "z"],
        "float4" | "int4" | "uint4" => &["x", "y", "z", "w"],
        "float2" | "int2" | "uint2" | "double2" => &["x", "y"],
        _ => return None,
    };
    let lower = name.to_lowercase();
    Some(match members.iter().find(|member| **member == lower) {
        Some(member) => format!("did you mean `.{member}`?"),
        None => format!("its members are {}", members.join(", ")),
    })
}

/// A pointer to `const` where one to what may be written is taken.
fn argument(message: &str) -> Option<String> {
    let (given, rest) = message.split_once("\" is incompatible with parameter of type \"")?;
    let given = given.split_once("argument of type \"")?.1;
    let wanted = rest.split('"').next()?;
    (given.replace("const ", "") == wanted).then(|| {
        "the function may write through its parameter; declare the parameter `const` if it only reads"
            .to_owned()
    })
}

fn known(message: &str) -> Option<&'static str> {
    const KNOWN: &[(&str, &str)] = &[
        (
            "device-side kernel launch",
            "kernels are launched from `solve` only; in device code call a `__device__` function",
        ),
        (
            "address of a non-__global__",
            "a function that is launched with <<<...>>> must be declared `__global__`",
        ),
        (
            "must have a void return type",
            "a kernel returns nothing: declare it `void`, and write results through a pointer",
        ),
        (
            "return value type does not match the function type",
            "a `void` function returns no value; a kernel writes its results through a pointer",
        ),
        (
            "no instance of overloaded function \"std::m",
            "both arguments must be of one type: cast one of them",
        ),
        (
            "function is marked `__host__`",
            "mark it `__host__ __device__`, or `__device__` where only device code calls it",
        ),
        (
            "uses too much shared data",
            "use `extern __shared__` memory of the size that the launch's third argument gives, after \
             cudaFuncSetAttribute where it exceeds 48 KiB; or a smaller tile",
        ),
        (
            "uses too much local data",
            "large arrays belong in memory that the host function allocates, or in shared memory",
        ),
        (
            "namespace \"std\" has no member",
            "device code has std::min, max, swap, numeric_limits, array, type traits and the math \
             functions; containers and streams are for the host",
        ),
        (
            "does not support exception handling",
            "device code cannot throw; write a result or call __trap()",
        ),
        (
            "Unresolved extern function",
            "the function is declared but has no body in this file",
        ),
        (
            "must be a constant",
            "sizes of `__shared__` and local arrays are constants: use `constexpr`, a template argument or a macro",
        ),
        (
            "expression must have a constant value",
            "sizes of `__shared__` and local arrays are constants: use `constexpr`, a template argument or a macro",
        ),
        (
            "expression must be a modifiable lvalue",
            "what stands on the left is `const`, an array, or no variable",
        ),
        ("comment unclosed", "a `/*` has no `*/`"),
        ("missing closing quote", "a `\"` has no partner on its line"),
        (
            "#endif for this directive is missing",
            "every `#if`, `#ifdef` and `#ifndef` ends with `#endif`",
        ),
        ("expected a \"}\"", "a `{` has no `}`"),
        ("expected a \")\"", "a `(` has no `)`"),
        ("expected a \"]\"", "a `[` has no `]`"),
        (
            "expected a declaration",
            "is there one `}` too many above this line?",
        ),
        (
            "too few arguments in function call",
            "compare the call with the function's parameters",
        ),
        (
            "too many arguments in function call",
            "compare the call with the function's parameters",
        ),
        (
            "assembler: ",
            "this comes of inline assembly: compare it with the PTX instruction set of this architecture",
        ),
    ];
    let found = KNOWN.iter().find(|(words, _)| message.contains(words));
    found.map(|&(_, hint)| hint)
}

#[cfg(test)]
#[path = "../hint_tests.rs"]
mod tests;
