//! The machine code of a judging, made by a foreign program from what a submission had a hand in: it tells
//! nothing of held-out shapes, and a program that misbehaves costs the machine code and nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use domain::{CodeKind, CodeListing, Mode, Verdict};
use judge::{Environment, NVRTC_VERSION, Toolchain, judge_listing_over};

use crate::held_out::{ELSEWHERE, THERE, environment, request};

/// The code of an addition, whose verdict is `accepted`.
fn listing(environment: &Environment, host: &str, size: i64) -> CodeListing {
    let (request, shapes) = request("", "", host, Mode::Ranked, size);
    let judged = judge_listing_over(environment, &request, shapes, &mut |_| {});
    assert_eq!(
        judged.report.verdict,
        Verdict::Accepted,
        "{:?}",
        judged.report
    );
    let listing = judged.listing.unwrap();
    assert_eq!(listing.check(), Ok(()));
    listing
}

#[test]
fn machine_code_knows_its_source_and_tells_no_held_out_instance() {
    let host = "if (n == 4711) add<4711><<<n, 256>>>(a, b, c, n);";
    let there = listing(&environment(), host, THERE);
    let sass = there.sass.as_ref().unwrap();
    let parts = sass.parts.iter();
    let parts: Vec<_> = parts.map(|part| (part.kind, part.name.as_str())).collect();
    assert_eq!(parts, [(CodeKind::Kernel, "add<1>")]);
    let part = &sass.parts[0];
    let mut lines = part.text.lines().zip(&part.source_lines);
    let (store, line) = lines.find(|(line, _)| line.contains("STG.E")).unwrap();
    assert_eq!(*line, Some(6), "{store}");
    assert!(!part.text.contains("//## File"), "{}", part.text);
    assert_eq!(there, listing(&environment(), host, ELSEWHERE));
}

/// A judge whose toolchain has this program for its disassembler, or none.
fn with_disassembler(folder: &Path, program: Option<&str>) -> Environment {
    let whole = environment();
    let root = whole.toolchain.root().to_owned();
    let library = folder.join("nvidia/cu13");
    fs::create_dir_all(library.join("bin")).unwrap();
    symlink(root.join("headers"), folder.join("headers")).unwrap();
    symlink(root.join("nvidia/cu13/lib"), library.join("lib")).unwrap();
    fs::copy(root.join("nvrtc-version"), folder.join("nvrtc-version")).unwrap();
    if let Some(program) = program {
        let tool = library.join("bin/nvdisasm");
        fs::copy(program, &tool).unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(folder.join("nvdisasm-version"), NVRTC_VERSION).unwrap();
    }
    Environment {
        toolchain: Toolchain::open(folder).unwrap(),
        ..whole
    }
}

#[track_caller]
fn costs_the_machine_code_alone(program: Option<&str>, reason: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let environment = with_disassembler(folder.path(), program);
    let listing = listing(&environment, "", ELSEWHERE);
    assert_eq!(listing.sass, None);
    let said = listing.no_sass.unwrap();
    assert!(said.contains(reason), "{said}");
    assert_eq!(listing.ptx.parts[0].name, "add<1>");
}

#[test]
fn a_disassembler_that_is_missing_costs_the_machine_code_alone() {
    costs_the_machine_code_alone(None, "toolchain has no nvdisasm");
}

#[test]
fn a_disassembler_that_fails_or_says_something_else_costs_the_machine_code_alone() {
    let failed = "the disassembler failed on this code (exited with status 1 and no response)";
    costs_the_machine_code_alone(Some("/bin/false"), failed);
    costs_the_machine_code_alone(Some("/bin/true"), "found no code");
    costs_the_machine_code_alone(Some("/bin/echo"), "found no code");
}
