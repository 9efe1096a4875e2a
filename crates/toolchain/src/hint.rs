//! What to do about common mistakes, by the compiler's words.

/// A way out, where the message is one of the well-known ones.
pub(crate) fn for_message(message: &str) -> Option<String> {
    include(message)
        .or_else(|| undefined(message))
        .or_else(|| known(message).map(str::to_owned))
}

fn include(message: &str) -> Option<String> {
    let rest = message.split_once("cannot open source file \"")?.1;
    let name = rest.split('"').next()?;
    let hint = if name.starts_with('/') || name.contains("..") {
        "only the toolchain's own headers can be included"
    } else if ["torch/", "ATen/", "c10/"]
        .iter()
        .any(|p| name.starts_with(p))
    {
        "PyTorch is not available; write the kernel and `solve` in plain CUDA"
    } else if ["cute/", "cutlass/"].iter().any(|p| name.starts_with(p)) {
        "CUTLASS and CuTe are not available"
    } else {
        "a submission is one file; available are cuda_fp16.h, cuda_bf16.h, cuda_fp8.h, mma.h, \
         cooperative_groups.h, cub/block/*, cub/warp/*, cuda/* and the common standard headers"
    };
    Some(hint.to_owned())
}

fn undefined(message: &str) -> Option<String> {
    let (before, _) = message.split_once("\" is undefined")?;
    let name = before.rsplit('"').next()?;
    let is_host_api = ["cuda", "cu", "cublas", "curand"].iter().any(|prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    });
    let hint = if is_host_api {
        format!("`{name}` is a host function: call it in `solve`, not in device code")
    } else if matches!(name, "half" | "half2" | "__half" | "__half2") {
        "#include <cuda_fp16.h>".to_owned()
    } else if name.starts_with("__nv_bfloat16") || name.starts_with("nv_bfloat16") {
        "#include <cuda_bf16.h>".to_owned()
    } else if name.starts_with("__nv_fp8") {
        "#include <cuda_fp8.h>".to_owned()
    } else if matches!(name, "wmma" | "nvcuda") {
        "#include <mma.h>".to_owned()
    } else {
        return None;
    };
    Some(hint)
}

fn known(message: &str) -> Option<&'static str> {
    const KNOWN: [(&str, &str); 10] = [
        (
            "device-side kernel launch",
            "kernels are launched from `solve` only; in device code call a `__device__` function",
        ),
        (
            "address of a non-__global__",
            "a function that is launched with <<<...>>> must be declared `__global__`",
        ),
        (
            "uses too much shared data",
            "static shared memory is limited; use `extern __shared__` memory of the size given at launch, \
             after cudaFuncSetAttribute where it exceeds 48 KiB",
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
        ("comment unclosed", "a `/*` has no `*/`"),
    ];
    KNOWN
        .iter()
        .find(|(words, _)| message.contains(words))
        .map(|&(_, hint)| hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_mistakes_have_a_way_out() {
        let hint = |message| for_message(message).unwrap_or_default();
        assert!(hint("cannot open source file \"/etc/passwd\"").contains("toolchain"));
        assert!(hint("cannot open source file \"torch/extension.h\"").contains("PyTorch"));
        assert!(hint("cannot open source file \"utils.h\"").contains("one file"));
        assert!(hint("identifier \"cudaMalloc\" is undefined").contains("`cudaMalloc`"));
        assert!(hint("identifier \"__half\" is undefined").contains("cuda_fp16.h"));
        assert_eq!(for_message("identifier \"customName\" is undefined"), None);
        assert_eq!(for_message("identifier \"cut\" is undefined"), None);
    }
}
