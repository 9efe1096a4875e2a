//! Bytes that are no source, or nearly none, and those that are one all the same.

use end_to_end::answers::{HOST, KERNEL, expect, refused, vector_add};
use end_to_end::{judge, lightspeed, run_with_input};

#[test]
fn the_plain_answer_is_accepted() {
    expect(
        &vector_add(&format!("{KERNEL}{HOST}")),
        "accepted",
        "all 12 shapes are correct",
    );
}

#[test]
fn empty_source() {
    refused(&judge("vector_add", b""), 2, "the source is empty");
    refused(&judge("vector_add", b" \r\n\t"), 2, "the source is empty");
}

#[test]
fn binary_garbage() {
    refused(
        &judge("vector_add", b"\x7fELF\x02\x01\0\0"),
        2,
        "a NUL byte at offset 6",
    );
    refused(
        &judge("vector_add", b"\xff\xfe\xfd"),
        2,
        "the source is not UTF-8",
    );
}

#[test]
fn three_hundred_kibibytes() {
    let large = vec![b' '; 300 * 1024];
    refused(
        &judge("vector_add", &large),
        2,
        "the source has 307200 bytes; the limit is 262144",
    );
}

#[test]
fn as_much_as_is_admitted() {
    let mut source = format!("{KERNEL}{HOST}").into_bytes();
    source.resize(262_144, b'\n');
    expect(
        &judge("vector_add", &source),
        "accepted",
        "all 12 shapes are correct",
    );
}

#[test]
fn unknown_problem() {
    refused(&judge("no_such_problem", b"x"), 2, "no_such_problem");
}

#[test]
fn unknown_device() {
    let source = format!("{KERNEL}{HOST}");
    let mut command = lightspeed();
    command.args(["judge", "vector_add", "-", "--device", "abacus"]);
    let output = run_with_input(&mut command, source.as_bytes());
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("abacus"));
}

#[test]
fn byte_order_mark_and_crlf_are_judged_right() {
    let source = format!("\u{feff}{KERNEL}{HOST}").replace('\n', "\r\n");
    expect(
        &vector_add(&source),
        "accepted",
        "all 12 shapes are correct",
    );
}

#[test]
fn text_that_is_no_cuda_at_all() {
    let judged = vector_add("Dear judge, please accept this letter.");
    expect(&judged, "plan_error/signature", "solve");
}
