//! The way out of a fault, where whoever raised it did not know one.
//!
//! Asked at the crate's edge only, with the whole file at hand: names that are nearly right, a launch that
//! is nearly one. A wrong hint is worse than a general one, so what is not sure is put as a question.

use domain::misspelling::meant;
use domain::{Diagnostic, VerdictKind, printable};

use crate::failure::PlanFailure;
use crate::source::text::SourceText;

/// Calls and constants of the CUDA runtime, and functions, that host code may know.
const HOST_NAMES: &[&str] = &[
    "cudaMalloc",
    "cudaMallocAsync",
    "cudaFree",
    "cudaFreeAsync",
    "cudaMemset",
    "cudaMemsetAsync",
    "cudaMemcpy",
    "cudaMemcpyAsync",
    "cudaMemcpyToSymbol",
    "cudaMemcpyHostToDevice",
    "cudaMemcpyDeviceToHost",
    "cudaMemcpyDeviceToDevice",
    "cudaMemcpyDefault",
    "cudaDeviceSynchronize",
    "cudaStreamSynchronize",
    "cudaStreamCreate",
    "cudaStreamDestroy",
    "cudaEventCreate",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaEventDestroy",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaGetErrorString",
    "cudaGetDevice",
    "cudaGetDeviceProperties",
    "cudaDeviceGetAttribute",
    "cudaFuncSetAttribute",
    "cudaFuncAttributeMaxDynamicSharedMemorySize",
    "cudaLaunchKernel",
    "cudaSuccess",
    "cudaError_t",
    "cudaStream_t",
    "cudaEvent_t",
    "cudaDeviceProp",
    "dim3",
    "size_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "float",
    "double",
    "unsigned",
    "min",
    "max",
    "ceil",
    "ceilf",
    "floor",
    "sqrt",
    "sqrtf",
    "log2",
    "pow",
    "sizeof",
    "static_cast",
    "reinterpret_cast",
    "nullptr",
];

/// Calls that exist, so that their names are no slips of others, whether or not they can be used here.
const REAL_CALLS: &[&str] = &[
    "cudaMallocHost",
    "cudaMallocManaged",
    "cudaMallocPitch",
    "cudaMallocArray",
    "cudaHostAlloc",
    "cudaHostRegister",
    "cudaFreeHost",
    "cudaFreeArray",
    "cudaMemcpyPeer",
    "cudaMemcpyFromSymbol",
    "cudaMemcpyToSymbolAsync",
    "cudaMemcpyPeerAsync",
    "cudaMemGetInfo",
    "cudaGetDeviceCount",
    "cudaSetDevice",
    "cudaDeviceReset",
    "cudaDeviceSetLimit",
    "cudaDeviceGetLimit",
    "cudaGetErrorName",
    "cudaGetSymbolAddress",
    "cudaGetSymbolSize",
    "cudaStreamCreateWithFlags",
    "cudaStreamCreateWithPriority",
    "cudaStreamWaitEvent",
    "cudaStreamQuery",
    "cudaStreamBeginCapture",
    "cudaStreamEndCapture",
    "cudaEventCreateWithFlags",
    "cudaEventElapsedTime",
    "cudaEventQuery",
    "cudaFuncGetAttributes",
    "cudaLaunchKernelEx",
    "cudaLaunchKernelExC",
    "cudaLaunchCooperativeKernel",
    "cudaGraphCreate",
    "cudaGraphLaunch",
    "cudaGraphDestroy",
    "cudaGraphInstantiate",
];

/// Gives each error of a failure a hint, and a better one where the file has one. Without the file, as in
/// a live run, only what holds for every fault of a kind can be said.
pub(crate) fn complete(mut failure: PlanFailure, source: Option<&SourceText>) -> PlanFailure {
    let kind = failure.kind;
    for diagnostic in &mut failure.diagnostics {
        let found = source.and_then(|source| in_file(kind, diagnostic, source));
        let hint = found.or_else(|| diagnostic.hint.take());
        let hint = hint.unwrap_or_else(|| general(kind).to_owned());
        diagnostic.hint = Some(printable(&hint));
    }
    failure
}

fn in_file(kind: VerdictKind, diagnostic: &Diagnostic, source: &SourceText) -> Option<String> {
    let message = &diagnostic.message;
    let sure = misspelt(message, source).or_else(|| about_a_launch(message, source));
    let is_open = diagnostic.hint.is_none() && kind == VerdictKind::Diagnostics;
    sure.or_else(|| is_open.then(|| about_syntax(diagnostic, source))?)
}

/// A name that is unknown, where a known one is near.
fn misspelt(message: &str, source: &SourceText) -> Option<String> {
    let unknown = message.ends_with("is not known to the host interpreter")
        || message.starts_with("the call `cuda")
        || message.ends_with("and no kernel of that name is in the file");
    let name = message.split('`').nth(1).filter(|_| unknown)?;
    // Real names, which the host interpreter does not know, are spelt well. Those with a dimension in
    // them are too many to list.
    let is_real = HOST_NAMES.contains(&name) || REAL_CALLS.contains(&name) || name.contains("2D");
    let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if is_real || !is_plain || name.contains("3D") {
        return None;
    }
    let code = blanked_comments(source.as_str());
    let meant = meant(name, HOST_NAMES.iter().copied().chain(words(&code)))?;
    Some(format!("did you mean `{meant}`?"))
}

const LAUNCH: &str = "a launch is written `kernel<<<grid, block>>>(arguments)`";

fn about_a_launch(message: &str, source: &SourceText) -> Option<String> {
    if message.starts_with("`<<` between `kernel`") {
        return Some(LAUNCH.to_owned());
    }
    if message.starts_with("a launch needs a grid and a block") {
        return Some(format!("{LAUNCH}; one block of n threads is `<<<1, n>>>`"));
    }
    if message.starts_with("grid.") && message.ends_with(" is 0") {
        return Some(
            "an extent is at least 1; is a division rounded down? `(n + block - 1) / block` rounds up"
                .to_owned(),
        );
    }
    if message.contains("; the limit is") && message.starts_with("block") {
        return Some("use smaller blocks and more of them".to_owned());
    }
    if message.contains("and is not a __global__ function") {
        return Some("a function that is launched is declared `__global__ void`".to_owned());
    }
    let counted = message.contains("arguments; the launch passes");
    let kernel = message.split('`').nth(1).filter(|_| counted)?;
    let head = kernel_head(source.as_str(), kernel)?;
    Some(format!("its declaration: {head}"))
}

/// The head of a kernel as written, on one line.
fn kernel_head(source: &str, kernel: &str) -> Option<String> {
    let name = kernel.rsplit("::").next()?.split('<').next()?;
    source.match_indices("__global__").find_map(|(start, _)| {
        let rest = &source[start..];
        let head = &rest[..rest.find(['{', ';'])?];
        let is_it = head
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .any(|w| w == name);
        let text = head.split_whitespace().collect::<Vec<_>>().join(" ");
        (is_it && text.len() <= 300).then_some(text)
    })
}

fn about_syntax(diagnostic: &Diagnostic, source: &SourceText) -> Option<String> {
    let message = &diagnostic.message;
    if message.contains("without its `#endif`") {
        return Some("every `#if`, `#ifdef` and `#ifndef` ends with `#endif`".to_owned());
    }
    if message.contains("`}` is missing") {
        return Some("a `{` above this line has no `}`".to_owned());
    }
    if message.contains("has already been defined") {
        return Some("keep one of the two, or give the other another name".to_owned());
    }
    let number = diagnostic.line?;
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    let text = source.as_str().lines().nth(index).unwrap_or("");
    if text.contains("<<<") && !text.contains(">>>") {
        return Some(format!("is a `>>>` missing? {LAUNCH}"));
    }
    let line = unfinished_line(source, number)?;
    Some(format!("is a `;` missing at the end of line {line}?"))
}

/// The line at or above line `number` that ends as if a statement went on.
fn unfinished_line(source: &SourceText, number: u32) -> Option<u32> {
    let lines: Vec<&str> = source.as_str().lines().collect();
    let last = usize::try_from(number).ok()?;
    // The parser may notice where the statement begins, where it ends, or on the line after.
    let nearby = last.saturating_sub(2)..last.min(lines.len());
    let found = nearby.rev().find(|&index| ends_unfinished(lines[index]))?;
    u32::try_from(found + 1).ok()
}

/// A statement, going by its last character, that lacks its `;`.
fn ends_unfinished(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or(line).trim();
    // What a brace or a `;` ends is not meant.
    let code = code.rsplit(['{', '}', ';']).next().unwrap_or(code).trim();
    let begins_as_one = !code.starts_with('#') && code.contains(['=', '(']);
    let keyword = [
        "if",
        "for",
        "while",
        "else",
        "switch",
        "do",
        "__global__",
        "extern",
        "void",
        "template",
    ];
    let head = code
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .next()
        .unwrap_or("");
    begins_as_one
        && !keyword.contains(&head)
        && code.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | ']' | '_' | '"'))
}

/// What holds for every fault of a kind.
fn general(kind: VerdictKind) -> &'static str {
    match kind {
        VerdictKind::HostFault => {
            "C++ leaves this undefined, so that the result would be chance; compute it in another way"
        }
        VerdictKind::LaunchConfig => {
            "compare the launch with the kernel's parameters and with the device's limits"
        }
        VerdictKind::Fuel => "host code only prepares launches; loops over data belong in a kernel",
        VerdictKind::Signature => "compare `solve` with the problem's signature",
        VerdictKind::Diagnostics => "look at the text just before this place",
        VerdictKind::CompileLimit => "shorten the file, or remove generated code",
        _ => {
            "host code of plain variables, loops and calls of the CUDA runtime is interpreted; write it with \
             these, or move it into a kernel"
        }
    }
}

/// The text with spaces for its comments, so that places stay the same.
pub(crate) fn blanked_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('/') {
        code.push_str(&rest[..start]);
        let comment = &rest[start..];
        let end = if comment.starts_with("//") {
            comment.find('\n')
        } else if comment.starts_with("/*") {
            comment.find("*/").map(|end| end + 2)
        } else {
            code.push('/');
            rest = &comment[1..];
            continue;
        };
        let end = end.unwrap_or(comment.len());
        let blank = comment[..end].bytes();
        code.extend(blank.map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        rest = &comment[end..];
    }
    code + rest
}

/// Its identifiers and keywords.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}
