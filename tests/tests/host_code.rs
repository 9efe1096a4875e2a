//! Answers whose host code launches clusters, cooperates, encodes tensor maps, captures graphs or speaks to the
//! driver, through the real binary on the emulated device. On a GPU tests/gpu/host_code.sh judges the same
//! files; this machine's need not be one that has clusters.

use std::path::PathBuf;

use end_to_end::{judge, root};

/// What a file's first line expects of the emulated device: `// on: h200 VERDICT, emulated VERDICT`.
fn expected(source: &str) -> &str {
    let first = source.lines().next().unwrap_or_default();
    let expectation = first.split("emulated ").nth(1);
    expectation.expect("the first line says what the emulated device makes of it")
}

#[test]
fn every_answer_comes_to_the_verdict_that_it_says() {
    let folder = root().join("tests/gpu/host_code");
    let entries = std::fs::read_dir(&folder).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.sort();
    assert!(files.len() >= 7, "{files:?}");
    for file in files {
        let source = std::fs::read_to_string(&file).expect("it is text");
        let judged = judge("vector_add", source.as_bytes());
        assert_eq!(
            judged.verdict(),
            expected(&source),
            "{}: {}",
            file.display(),
            judged.message()
        );
    }
}
