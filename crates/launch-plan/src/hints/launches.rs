//! Launches and calls of the runtime that are nearly right.

use domain::Diagnostic;
use domain::slips::words;

use super::line_of;

pub(super) const LAUNCH: &str = "a launch is written `kernel<<<grid, block>>>(arguments)`";

/// By the words of the fault alone.
pub(super) fn about_a_launch(message: &str, code: &str) -> Option<String> {
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
    if message.contains("; the limit is") && message.contains("block") && is_about_threads(message)
    {
        return Some("use smaller blocks and more of them".to_owned());
    }
    if message.contains("and is not a __global__ function") {
        return Some("a function that is launched is declared `__global__ void`".to_owned());
    }
    if message.ends_with("is not given and does not follow from the arguments") {
        let kernel = message.split('`').nth(3)?;
        return Some(format!(
            "name it at the launch: `{kernel}<...><<<grid, block>>>(arguments)`"
        ));
    }
    let kernel = counted(message).or_else(|| typed(message))?;
    let head = kernel_head(code, kernel)?;
    let address = taken_address(message).unwrap_or_default();
    Some(format!("{address}its declaration: {head}"))
}

fn is_about_threads(message: &str) -> bool {
    message.starts_with("block.") || message.starts_with("a block of")
}

/// The kernel in "the kernel `k` takes 3 arguments; the launch passes 2".
fn counted(message: &str) -> Option<&str> {
    let is_counted = message.contains("arguments; the launch passes");
    message.split('`').nth(1).filter(|_| is_counted)
}

/// The kernel in "argument 1 of `k` is a `int` where `float*` is expected".
fn typed(message: &str) -> Option<&str> {
    let is_typed = message.starts_with("argument ") && message.ends_with("is expected");
    message.split('`').nth(1).filter(|_| is_typed)
}

/// Where a pointer to the wanted pointer is passed.
fn taken_address(message: &str) -> Option<&'static str> {
    let mut words = message.split('`').skip(3).step_by(2);
    let (given, wanted) = (words.next()?, words.next()?);
    (given.strip_suffix('*')? == wanted).then_some("pass the pointer itself, without `&`; ")
}

/// Calls of the runtime whose arguments are mixed up, going by the line.
pub(super) fn about_a_call(diagnostic: &Diagnostic, code: &str) -> Option<String> {
    let message = &diagnostic.message;
    if message.contains(" runs past ") && message.contains(" bytes from offset ") {
        return Some(
            "sizes are counted in bytes, `n * sizeof(float)`, here and where the memory is allocated"
                .to_owned(),
        );
    }
    let line = line_of(diagnostic, code)?;
    if message.ends_with("is read before it has a value") {
        let name = message.split('`').nth(1)?;
        return line
            .contains(&format!("cudaMalloc({name},"))
            .then(|| format!("cudaMalloc stores an address in it: pass `&{name}`"));
    }
    if !message.contains("does not convert to `") {
        return None;
    }
    let calls = [
        (
            "cudaMemcpy(",
            "cudaMemcpy(destination, source, bytes, kind)",
        ),
        ("cudaMemset(", "cudaMemset(pointer, value, bytes)"),
        ("cudaMalloc(", "cudaMalloc(&pointer, bytes)"),
    ];
    let (_, order) = calls.iter().find(|(call, _)| line.contains(call))?;
    Some(format!("its arguments are {order}"))
}

/// The head of a kernel without its comments, on one line.
fn kernel_head(code: &str, kernel: &str) -> Option<String> {
    let name = kernel.rsplit("::").next()?.split('<').next()?;
    code.match_indices("__global__").find_map(|(start, _)| {
        let rest = &code[start..];
        let head = &rest[..rest.find(['{', ';'])?];
        let is_it = words(head).any(|word| word == name);
        let text = head.split_whitespace().collect::<Vec<_>>().join(" ");
        (is_it && text.len() <= 300).then_some(text)
    })
}
