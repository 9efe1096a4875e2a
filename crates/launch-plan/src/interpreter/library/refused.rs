//! Calls that host code may not make, told apart so that the message fits.

use crate::failure::Fault;
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind};

use super::super::unknown_types::{library_call, library_name, unknown_type};

/// The fault of such a call; `None` where it is none of them.
pub(super) fn refused_call(plain: &str, path: &str, at: At) -> Option<Box<Fault>> {
    const FILES: [&str; 13] = [
        "fopen", "fclose", "fread", "fwrite", "scanf", "fscanf", "sscanf", "sprintf", "snprintf",
        "getline", "open", "write", "read",
    ];
    const SYSTEM: [&str; 14] = [
        "system", "exit", "abort", "fork", "execve", "execl", "popen", "getenv", "mmap", "signal",
        "dlopen", "syscall", "kill", "_exit",
    ];
    if FILES.contains(&plain) {
        return Some(Fault::unsupported(
            at,
            format!("host input and output (`{path}`) is not in the host subset"),
            "remove it; `printf` in a kernel is shown in practice runs",
        ));
    }
    if SYSTEM.contains(&plain) {
        return Some(Fault::unsupported(
            at,
            format!("the system call `{path}` in host code is not in the host subset"),
            "host code may compute, allocate device memory and launch kernels",
        ));
    }
    if is_clock(path) {
        return Some(clocks(path, at));
    }
    if matches!(plain, "rand" | "srand" | "random_device") {
        return Some(Fault::unsupported(
            at,
            format!("`{path}` in host code gives another value at each run"),
            "a plan must be the same each time; use constants",
        ));
    }
    let library_prefixes = [
        "cublas", "cudnn", "cusparse", "curand", "cufft", "thrust::", "cub::", "torch::",
    ];
    if library_prefixes
        .iter()
        .any(|prefix| path.starts_with(prefix))
    {
        return Some(library_call(path, at));
    }
    if let Some(full) = library_name(path) {
        return Some(library_call(&full, at));
    }
    let holder = match plain {
        "make_shared" => Some("std::shared_ptr"),
        _ => None,
    };
    if let Some(holder) = holder {
        return Some(unknown_type(holder, at));
    }
    let first = path.split("::").nth(1).unwrap_or(plain);
    matches!(first, "thread" | "async" | "string" | "this_thread")
        .then(|| unknown_type(&format!("std::{first}"), at))
}

/// `thrust::device`, with which calls of Thrust's algorithms begin.
pub(super) fn policy(argument: &Expr) -> Option<&str> {
    let ExprKind::Name(name) = &argument.kind else {
        return None;
    };
    let last = name.path.strip_prefix("thrust::").unwrap_or(&name.path);
    matches!(last, "device" | "host" | "seq").then_some(&name.path)
}

/// Functions that Thrust has and the standard library has not.
pub(super) fn is_thrust_alone(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "sequence",
        "sort_by_key",
        "stable_sort_by_key",
        "reduce_by_key",
        "unique_by_key",
        "inclusive_scan_by_key",
        "exclusive_scan_by_key",
        "gather",
        "scatter",
        "tabulate",
        "make_zip_iterator",
        "make_counting_iterator",
        "make_transform_iterator",
        "device_malloc",
    ];
    NAMES.contains(&name)
}

/// Functions that both have.
pub(super) fn is_thrust_too(name: &str) -> bool {
    const NAMES: [&str; 26] = [
        "sort",
        "stable_sort",
        "reduce",
        "transform",
        "transform_reduce",
        "inclusive_scan",
        "exclusive_scan",
        "copy",
        "copy_n",
        "copy_if",
        "fill",
        "fill_n",
        "generate",
        "count",
        "count_if",
        "find",
        "find_if",
        "for_each",
        "unique",
        "remove_if",
        "partition",
        "reverse",
        "min_element",
        "max_element",
        "inner_product",
        "any_of",
    ];
    NAMES.contains(&name)
}

/// Whether a name is that of a clock, or of a type of its times.
fn is_clock(path: &str) -> bool {
    const CALLS: [&str; 5] = [
        "time",
        "clock",
        "gettimeofday",
        "clock_gettime",
        "omp_get_wtime",
    ];
    let plain = path.trim_start_matches("std::");
    CALLS.contains(&plain) || plain.starts_with("chrono::") || plain.contains("_clock::")
}

fn clocks(path: &str, at: At) -> Box<Fault> {
    Fault::unsupported(
        at,
        format!("host code reads a clock (`{path}`), which is not in the host subset"),
        "leave the timing out: the judge times the kernels itself",
    )
}

/// The same for a type.
pub(in crate::interpreter) fn clock_type(name: &str, at: At) -> Option<Box<Fault>> {
    let inner = name.trim_start_matches("std::");
    inner.starts_with("chrono::").then(|| clocks(name, at))
}
