//! Headers handed to NVRTC in memory, which win over files: the prelude, and shims for headers that
//! the wheel lacks because they are the host's.
//!
//! NVRTC has no standard library. The shims declare what device code may use of it and nothing else;
//! headers of host-only libraries are empty, so that a leftover `#include` does no harm.

use std::borrow::Cow;

use crate::cub;

/// Included before every source: what nvcc would have dragged in unasked.
pub(crate) const PRELUDE: &str = "lightspeed/prelude.h";

/// The headers for one source. A shim that does not know a word of the source is left out, and the
/// toolkit's header read instead.
pub(crate) fn for_source(source: &str) -> Vec<(&'static str, Cow<'static, str>)> {
    let groups = has_any(source, &BEYOND_GROUPS);
    let atomics = groups || has_any(source, &BEYOND_ATOMICS); // the toolkit's groups include these
    let is_beyond = |name: &str| {
        (groups && name.starts_with("cooperative_groups")) || (atomics && name == "cuda/atomic")
    };
    ALL.iter()
        .filter(|(name, _)| !is_beyond(name))
        .map(|&(name, text)| match name {
            cub::UMBRELLA => (name, cub::umbrella(source).into()),
            _ => (name, text.into()),
        })
        .collect()
}

/// Words of cooperative groups that the shim does not know.
const BEYOND_GROUPS: [&str; 8] = [
    "binary_partition",
    "labeled_partition",
    "block_tile_memory",
    "multi_grid",
    "invoke_one",
    "barrier_arrive",
    "reduce_update_async",
    "cooperative_groups::details",
];

/// Words of `<cuda/atomic>` and of what only that brings to CUB's users.
const BEYOND_ATOMICS: [&str; 11] = [
    "cuda/atomic",
    "cuda/pipeline",
    "atomic<",
    "atomic_",
    "thread_scope",
    "memory_order",
    "NONDETERMINISTIC",
    "chrono",
    "ratio<",
    "std::mem",
    "std::str",
];

/// How a source asks for CUB, and for libcu++.
const CUB: [&str; 2] = ["<cub/", "\"cub/"];
const LIBCUDACXX: [&str; 2] = ["<cuda/", "\"cuda/"];

/// Words of the types of less than 32 bits.
const SMALL_FLOATS: [&str; 7] = ["half", "bfloat", "bf16", "fp16", "fp8", "fp6", "fp4"];

/// Whether a source includes headers of tens of thousands of lines.
pub(crate) fn asks_for_large(source: &str) -> bool {
    has_any(source, &CUB) || has_any(source, &LIBCUDACXX)
}

/// Whether CUB may do without the small types. Other headers (barriers, pipelines) need them always.
pub(crate) fn may_omit_small_floats(source: &str) -> bool {
    let others: [&[&str]; 3] = [&LIBCUDACXX, &BEYOND_GROUPS, &SMALL_FLOATS];
    has_any(source, &CUB) && !others.iter().any(|words| has_any(source, words))
}

fn has_any(source: &str, words: &[&str]) -> bool {
    words.iter().any(|word| source.contains(word))
}

macro_rules! headers {
    ($($body:expr => [$($name:literal),+ $(,)?]),+ $(,)?) => {
        /// Name and text of every header.
        const ALL: &[(&str, &str)] = &[$($(($name, $body)),+),+];
    };
}

macro_rules! shim {
    ($file:literal) => {
        include_str!(concat!("../shims/", $file))
    };
}

headers! {
    shim!("prelude.h") => ["lightspeed/prelude.h"],
    domain::PREDEFINED_HEADER => ["lightspeed/predefined.h"],
    shim!("stdint.h") => ["stdint.h", "cstdint", "inttypes.h", "cinttypes"],
    shim!("stddef.h") => ["stddef.h", "cstddef"],
    shim!("math.h") => ["math.h", "cmath", "lightspeed/math.h"],
    shim!("float.h") => ["float.h", "cfloat"],
    shim!("limits.h") => ["limits.h", "climits"],
    shim!("limits.hpp") => ["limits"],
    shim!("stdio.h") => ["stdio.h", "cstdio"],
    shim!("stdlib.h") => ["stdlib.h", "cstdlib"],
    shim!("assert.h") => ["assert.h", "cassert"],
    shim!("utility.hpp") => ["utility", "algorithm"],
    shim!("type_traits.hpp") => ["type_traits"],
    shim!("array.hpp") => ["array"],
    shim!("functional.hpp") => ["functional"],
    shim!("cuda_runtime.h") => [
        "cuda_runtime.h", "cuda_runtime_api.h", "driver_types.h", "device_launch_parameters.h",
        "cuda_device_runtime_api.h", "vector_functions.h",
    ],
    shim!("cuda.h") => ["cuda.h", "cudaTypedefs.h"],
    // Made for each source.
    "" => ["cub/cub.cuh"],
    shim!("cuda_atomic.h") => ["cuda/atomic"],
    shim!("cooperative_groups.h") => [
        "cooperative_groups.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h",
        "cooperative_groups/memcpy_async.h",
    ],
    shim!("curand_kernel.h") => ["curand_kernel.h", "curand_philox4x32_x.h", "curand_uniform.h", "curand_normal.h"],
    shim!("thrust_functional.h") => ["thrust/functional.h"],
    // Host only. `solve.h` and its like are leftovers of other judges' templates.
    "" => [
        "iostream", "ostream", "istream", "sstream", "fstream", "iomanip", "ios", "vector", "string", "string_view",
        "map", "unordered_map", "set", "unordered_set", "list", "deque", "queue", "stack", "memory",
        "numeric", "random", "chrono", "thread", "mutex", "atomic", "stdexcept", "exception", "cstring",
        "string.h", "memory.h", "time.h", "ctime", "sys/time.h", "ctype.h", "cctype", "unistd.h", "iterator",
        "cublas_v2.h", "cublas.h", "curand.h", "cusparse.h", "cufft.h", "cudnn.h",
        "cuda_profiler_api.h", "helper_cuda.h",
        "thrust/device_vector.h", "thrust/host_vector.h", "thrust/device_ptr.h", "thrust/sort.h",
        "thrust/scan.h", "thrust/reduce.h", "thrust/extrema.h", "thrust/transform.h",
        "thrust/transform_reduce.h", "thrust/sequence.h", "thrust/fill.h", "thrust/copy.h",
        "thrust/count.h", "thrust/unique.h", "thrust/inner_product.h", "thrust/execution_policy.h",
        "solve.h", "kernel.cuh", "utils.h",
    ],
}

/// Whether a name is one of these headers.
pub(crate) fn is_shim(name: &str) -> bool {
    ALL.iter().any(|(known, _)| *known == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_hold_no_path() {
        let names: BTreeSet<&str> = ALL.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(
            names
                .iter()
                .all(|n| !n.starts_with('/') && !n.contains(".."))
        );
        assert!(is_shim(PRELUDE));
    }

    #[test]
    fn only_words_beyond_a_shim_bring_the_toolkits_header() {
        let shims = |source, prefix| {
            let headers = for_source(source);
            let of_prefix = headers.iter().filter(|(name, _)| name.starts_with(prefix));
            of_prefix.count()
        };
        let groups = |source| shims(source, "cooperative_groups");
        let atomics = |source| shims(source, "cuda/atomic");
        assert_eq!(groups("auto t = cg::tiled_partition<32>(block);"), 4);
        assert_eq!(groups("auto t = cg::binary_partition(block, x);"), 0);
        assert_eq!(atomics("auto t = cg::binary_partition(block, x);"), 0);
        assert_eq!(atomics("if (t == 0) atomicAdd(out, sum); // atomic add"), 1);
        assert_eq!(atomics("cuda::atomic_ref<int> r(n[0]);"), 0);
        assert_eq!(atomics("#include <cuda/atomic>\n"), 0);
    }

    #[test]
    fn small_types_are_left_out_where_nothing_asks_for_them() {
        let cub = "#include <cub/block/block_reduce.cuh>\n";
        assert!(may_omit_small_floats(cub));
        for more in [
            "#include <cuda/barrier>\n",
            "#include <cuda_fp16.h>\n",
            "using T = __nv_bfloat16;\n",
            "cg::binary_partition(block, x);",
        ] {
            assert!(!may_omit_small_floats(&format!("{cub}{more}")), "{more}");
        }
        assert!(!may_omit_small_floats("#include <cuda/std/array>\n"));
        assert!(!may_omit_small_floats("__global__ void k() {}\n"));
    }
}
