//! Sources that reach for the host's files through the compiler: none opens, none shows, none can be told
//! to exist.

use std::time::{Duration, Instant};

use end_to_end::answers::{HOST, KERNEL, before_the_answer, vector_add};
use end_to_end::{Judged, root};

/// No line of a host's file is in a report.
#[track_caller]
fn tells_nothing_of(file: &str, judged: &Judged) {
    let report = judged.report().to_string();
    let content = std::fs::read(file).unwrap_or_default();
    let content = String::from_utf8_lossy(&content);
    for line in content.split(['\n', '\0']).filter(|line| line.len() > 5) {
        assert!(
            !report.contains(line),
            "the report shows `{line}` of {file}"
        );
    }
}

const SECRETS: [&str; 4] = [
    "/etc/passwd",
    "/etc/hostname",
    "/proc/self/environ",
    "/proc/self/maps",
];

#[test]
fn embedding_shows_nothing() {
    for file in SECRETS {
        let text = format!("__device__ const unsigned char x[] = {{\n#embed \"{file}\"\n}};");
        let judged = before_the_answer(&text);
        assert_eq!(judged.report()["verdict"], "compile_error", "{file}");
        tells_nothing_of(file, &judged);
    }
}

#[test]
fn has_include_does_not_tell_which_files_exist() {
    let mut answers = Vec::new();
    for file in [
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/zero",
        "/no/such/file",
    ] {
        for operator in ["__has_include", "__has_embed"] {
            let text =
                format!("#if {operator}(\"{file}\") || {operator}(<{file}>)\n#error there\n#endif");
            answers.push(before_the_answer(&text).verdict());
        }
    }
    // What the compiler does not know is refused alike for all.
    let (include, embed): (Vec<_>, Vec<_>) =
        answers.chunks(2).map(|pair| (&pair[0], &pair[1])).unzip();
    assert_eq!(include, ["accepted"; 4]);
    assert!(embed.iter().all(|answer| *answer == embed[0]), "{embed:?}");
}

#[test]
fn other_ways_to_a_file_are_closed() {
    for text in [
        "#include_next </etc/passwd>",
        "#import \"/etc/passwd\"",
        "#include __FILE__",
        "#pragma GCC dependency \"/etc/passwd\"",
        "#pragma include_alias(\"x.h\", \"/etc/passwd\")\n#include \"x.h\"",
        "__device__ void f() { asm volatile(\".include \\\"/etc/passwd\\\"\"); }\n__global__ void q() { f(); }",
        "__global__ void q() { asm volatile(\".file 9 \\\"/etc/passwd\\\"\\n.loc 9 1 1\"); }",
    ] {
        let judged = before_the_answer(text);
        let verdict = judged.report()["verdict"].clone();
        assert!(
            verdict == "compile_error" || verdict == "accepted",
            "{text}: {}",
            judged.message()
        );
        tells_nothing_of("/etc/passwd", &judged);
    }
}

#[test]
fn endless_devices_end() {
    let begun = Instant::now();
    for file in ["/dev/zero", "/dev/random", "/proc/kmsg"] {
        let judged = before_the_answer(&format!("#define F <{file}>\n#include F"));
        assert_eq!(judged.report()["verdict"], "compile_error", "{file}");
    }
    assert!(begun.elapsed() < Duration::from_secs(60));
}

/// No byte of a host file may come back, whatever is included and however.
#[test]
fn host_files_stay_closed() {
    let secrets = [
        std::fs::read_to_string("/etc/passwd"),
        std::fs::read_to_string("/etc/hostname"),
    ];
    for file in [
        "/etc/passwd",
        "/etc/hostname",
        "/proc/self/environ",
        "/proc/self/maps",
    ] {
        for (include, verdict) in [
            (format!("#include \"{file}\""), "compile_error"),
            (format!("#include <{file}>"), "compile_error"),
            (format!("#define P \"{file}\"\n#include P"), "compile_error"),
            // Like any header of one's own project that nothing needs.
            (
                format!("#include \"../../../../../../../..{file}\""),
                "accepted",
            ),
        ] {
            let judged = vector_add(&format!("{include}\n{KERNEL}{HOST}"));
            assert_eq!(judged.report()["verdict"], verdict, "{include}");
            let report = judged.report().to_string();
            for secret in secrets.iter().flatten() {
                let line = secret.lines().next().unwrap_or_default();
                assert!(
                    line.len() < 3 || !report.contains(line),
                    "{include} shows `{line}`"
                );
            }
        }
    }
}

#[test]
fn endless_devices_do_not_hold_the_compiler() {
    for file in ["/dev/zero", "/dev/random", "/dev/stdin"] {
        let judged = vector_add(&format!("#include \"{file}\"\n{KERNEL}{HOST}"));
        assert_eq!(judged.report()["verdict"], "compile_error", "{file}");
    }
}

/// The references of problems, the judge's own sources and settings are files of the host like any other.
#[test]
fn the_judges_own_files_stay_closed() {
    for file in [
        "problems/vector_add/problem.toml",
        "Cargo.toml",
        "crates/judge/Cargo.toml",
    ] {
        let path = root().join(file);
        assert!(path.exists(), "{file}");
        let path = path.to_str().expect("paths of this checkout are UTF-8");
        let judged = before_the_answer(&format!("#include \"{path}\""));
        assert_eq!(judged.report()["verdict"], "compile_error", "{file}");
        tells_nothing_of(path, &judged);
    }
}
