//! What must come of which source.

mod compiles;
mod cub;
mod hostile;
mod refused;

use domain::{Diagnostic, Severity};
use toolchain::CompileFailure;

use crate::compile;

/// Every case by name.
pub const ALL: &[(&str, fn())] = &[
    ("a_plain_kernel_gives_ptx_cubin_and_name", compiles::plain),
    ("nothing_of_the_host_is_in_the_ptx", compiles::no_host_paths),
    (
        "template_kernels_are_named_by_expressions",
        compiles::templates,
    ),
    ("other_architectures_compile", compiles::architectures),
    ("half_bfloat16_and_fp8_compile", compiles::small_floats),
    ("tensor_core_headers_compile", compiles::tensor_cores),
    (
        "common_includes_and_std_names_compile",
        compiles::common_includes,
    ),
    ("math_on_integers_is_what_cpp_says", compiles::integer_math),
    (
        "limits_and_traits_are_constants",
        compiles::limits_and_traits,
    ),
    ("cuda_std_and_the_shims_get_along", compiles::with_cuda_std),
    ("cub_block_primitives_compile", cub::sum),
    (
        "every_class_of_cub_comes_with_its_umbrella_header",
        cub::every_class_that_is_named,
    ),
    ("cubs_headers_take_little_memory", cub::is_cheap),
    (
        "shims_of_inner_headers_change_no_code_of_cub",
        cub::is_the_toolkits,
    ),
    (
        "cub_compiles_with_half_atomics_barriers_and_macros",
        cub::with_all_it_can,
    ),
    ("barriers_and_pipelines_compile", compiles::barriers),
    ("cooperative_groups_compile", compiles::cooperative_groups),
    (
        "rare_cooperative_groups_compile_by_the_toolkits_header",
        compiles::rare_groups,
    ),
    (
        "cooperative_groups_compile_beside_libcudacxx",
        compiles::groups_beside_libcudacxx,
    ),
    ("what_host_compilers_predefine", compiles::predefined),
    (
        "includes_of_missing_headers_are_left_out",
        compiles::missing_headers,
    ),
    ("printf_and_assert_compile", compiles::printf_and_assert),
    ("tensor_maps_are_kernel_parameters", compiles::tensor_maps),
    ("byte_order_mark_and_crlf_compile", compiles::bom_and_crlf),
    ("resources_of_a_kernel_are_known", compiles::resources),
    ("spills_are_counted", compiles::spills),
    ("a_syntax_error_has_line_and_column", refused::syntax_error),
    (
        "an_unknown_name_has_line_column_and_hint",
        refused::unknown_name,
    ),
    (
        "a_header_forgotten_by_a_template_kernel_is_explained",
        refused::forgotten_header,
    ),
    ("a_missing_global_is_explained", refused::missing_global),
    (
        "a_launch_in_device_code_is_explained",
        refused::launch_in_device_code,
    ),
    ("unknown_headers_are_explained", refused::unknown_header),
    ("warnings_come_with_success", refused::warnings),
    (
        "too_much_static_shared_memory_is_an_error",
        refused::shared_memory,
    ),
    (
        "static_memory_beyond_the_limits_is_an_error",
        refused::static_limits,
    ),
    (
        "control_characters_are_replaced",
        refused::control_characters,
    ),
    ("overloads_are_named_by_casts", compiles::overloads),
    ("files_of_the_host_cannot_be_included", hostile::host_files),
    ("line_directives_change_nothing", hostile::line_directives),
    ("a_template_bomb_meets_the_limit", hostile::template_bomb),
    ("a_huge_array_does_not_kill_the_judge", hostile::huge_array),
    ("an_error_flood_is_short", hostile::flood),
    (
        "an_unknown_architecture_is_our_fault",
        hostile::unknown_architecture,
    ),
    ("installing_again_changes_nothing", hostile::idempotent),
];

const VECTOR_ADD: &str = "\
#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
";

fn errors(source: &str, names: &[&str]) -> Vec<Diagnostic> {
    match compile(source, names) {
        Err(CompileFailure::Errors(diagnostics)) => diagnostics,
        other => panic!("expected errors, got {other:?}"),
    }
}

fn first_error(source: &str, names: &[&str]) -> Diagnostic {
    let diagnostics = errors(source, names);
    let error = diagnostics
        .into_iter()
        .find(|d| d.severity == Severity::Error);
    error.unwrap()
}

fn compiles(source: &str) {
    if let Err(failure) = compile(source, &[]) {
        panic!("{failure:#?}\n{source}");
    }
}
