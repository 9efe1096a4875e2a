//! Sources that attack the compiler or the host.

use sandbox::ChildFailure;
use toolchain::{CompileFailure, Toolchain};

use super::{VECTOR_ADD, errors, first_error};
use crate::{compile, compile_for, confined, toolchain};

pub fn host_files() {
    let secret = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let secret = secret.trim();
    for path in [
        "/etc/hostname",
        "/etc/passwd",
        "/proc/self/environ",
        "/proc/self/maps",
        "/dev/zero",
        "/dev/random",
    ] {
        for source in [
            format!("#include \"{path}\"\n"),
            format!("#include <{path}>\n"),
            format!("#define P \"{path}\"\n#include P\n"),
        ] {
            let diagnostics = errors(&source, &[]);
            let error = &diagnostics[0];
            assert!(
                error.message.contains("cannot open source file"),
                "{diagnostics:?}"
            );
            let text = format!("{diagnostics:?}");
            assert!(!text.contains("root:"), "{text}");
            assert!(secret.len() < 6 || !text.contains(secret), "{text}");
        }
    }
    let relative = compile(
        "#include \"../../../../../../etc/passwd\"\n__global__ void k() {}\n",
        &[],
    );
    let warnings = relative.unwrap().diagnostics;
    assert_eq!(
        warnings[0].message,
        "cannot open source file \"../../../../../../etc/passwd\"; the include is left out"
    );
    let probe = "#if __has_include(\"/etc/passwd\")\n#error there\n#else\n#error absent\n#endif\n";
    let probed = first_error(probe, &[]);
    assert!(probed.message.contains("absent"), "{}", probed.message);
    let embedded = errors("const char x[] = {\n#embed \"/etc/passwd\"\n};\n", &[]);
    assert!(!format!("{embedded:?}").contains("root:"));
}

pub fn line_directives() {
    let error = first_error(
        "#line 77 \"/etc/passwd\"\n# 5 \"x.cu\"\n__global__ void k() { y; }\n",
        &[],
    );
    assert_eq!((error.line, error.column), (Some(3), Some(23)));
    // A spelling that is not recognised costs the place, and leaks nothing.
    let error = first_error(
        "#/**/line 77 \"/etc/passwd\"\n__global__ void k() { y; }\n",
        &[],
    );
    assert!(!error.message.contains("passwd"));
}

pub fn template_bomb() {
    let source = "template <int N, int M> struct B { static constexpr long v = B<N - 1, M * 2>::v + B<N - 1, M * 2 + 1>::v; };\n\
                  template <int M> struct B<0, M> { static constexpr long v = M; };\n\
                  __global__ void k(long* a) { a[0] = B<25, 1>::v; }\n";
    match confined("sm_90a", source, &[], 3) {
        Err(ChildFailure::CpuLimit | ChildFailure::MemoryLimit) => {}
        Ok(Err(CompileFailure::Limit(_))) => {}
        other => panic!("{other:?}"),
    }
    // Every macro quadruples the text.
    let mut macros: String = (0..20)
        .map(|i| format!("#define A{i} A{j} A{j} A{j} A{j}\n", j = i + 1))
        .collect();
    macros.push_str("#define A20 x +\n__global__ void k(int* a) { int x = 1; a[0] = A0 1; }\n");
    let failure = confined("sm_90a", &macros, &[], 3).unwrap_err();
    assert!(
        matches!(failure, ChildFailure::CpuLimit | ChildFailure::MemoryLimit),
        "{failure}"
    );
}

pub fn huge_array() {
    let source =
        "__device__ int table[1 << 28] = {1};\n__global__ void k(int* a) { a[0] = table[a[1]]; }\n";
    match confined("sm_90a", source, &[], 5) {
        Err(ChildFailure::CpuLimit | ChildFailure::MemoryLimit) => {}
        Ok(Err(CompileFailure::Limit(_))) => {}
        other => panic!(
            "a gigabyte of initialised data: {:?}",
            other.map(Result::err)
        ),
    }
}

pub fn flood() {
    let source: String = (0..5000)
        .map(|i| format!("__device__ int f{i}() {{ return undefined{i}; }}\n"))
        .collect();
    let diagnostics = errors(&source, &[]);
    assert!(
        (10..=50).contains(&diagnostics.len()),
        "{}",
        diagnostics.len()
    );
}

pub fn unknown_architecture() {
    let failure = compile_for("sm_1", VECTOR_ADD, &[]).unwrap_err();
    assert!(
        matches!(failure, CompileFailure::Internal(_)),
        "{failure:?}"
    );
}

pub fn idempotent() {
    // A folder made before CUPTI was part of it gets that, and nothing else.
    let again = Toolchain::install(toolchain().root(), &mut |step| {
        assert!(step.contains("CUPTI"), "{step}");
    });
    assert_eq!(again.unwrap(), *toolchain());
}
