//! Faults in packages are told with file, line, column, field and what to do.

use std::fs;
use std::path::{Path, PathBuf};

use problems::{Package, PackageError};
use tempfile::TempDir;

const PROBLEM: &str = r#"schema = 1
version = 1
slug = "toy"
kind = "lesson"
difficulty = "easy"
title = { en = "Toy", zh = "玩具" }
tags = []
constraints = ["M * N < 1000000"]

[[axes]]
name = "M"
var = { min = 1, max = 1000, align = 1 }

[[axes]]
name = "N"
expr = "2 * M"

[[parameters]]
name = "x"
use = "in"
element = "f32"
dims = ["M", "N"]
generator = { kind = "normal", mean = 0.5, std = 1.0 }

[[parameters]]
name = "y"
use = "out"
element = "f32"
dims = ["M"]
tolerance = { factor = 2.0, length = "N", accumulation = "f32" }

[[parameters]]
name = "M"
use = "scalar"
element = "i32"
value = "M"

[cost]
flop = { fp32 = "M * N" }
"#;

const SHAPES: &str = r#"provenance = "ours"
licence = "Apache-2.0"

[[strata]]
id = "a"
label = "small"
drawn = { M = { public = 8, lo = 4, hi = 16 } }
calls = 0.5
time = 0.3
w = 0.4
basis = "spec"
source = "chosen"

[[strata]]
id = "b"
label = "fixed"
fixed = { M = 100 }
calls = 0.5
time = 0.7
w = 0.6
basis = "spec"
source = "chosen"

[[edge]]
id = "one"
axes = { M = 1 }

[[emulated]]
id = "a-0"
stratum = "a"
axes = { M = 2 }

[[emulated]]
id = "b-0"
stratum = "b"
axes = { M = 3 }

[[emulated]]
id = "b-1"
stratum = "b"
axes = { M = 4 }
"#;

/// A package on disk that loads, until a test spoils it.
struct Toy {
    _root: TempDir,
    dir: PathBuf,
}

impl Toy {
    fn new() -> Self {
        let root = TempDir::new().expect("a scratch folder");
        let dir = root.path().join("toy");
        fs::create_dir_all(dir.join("solutions")).expect("a writable folder");
        let toy = Self { _root: root, dir };
        toy.write("problem.toml", PROBLEM);
        toy.write("shapes.toml", SHAPES);
        for file in ["statement.en.md", "statement.zh.md"] {
            toy.write(file, "Compute $y$.\n");
        }
        for file in ["reference.cu", "baseline.cu", "starter.cu"] {
            toy.write(file, "void solve() {}\n");
        }
        toy.write(
            "solutions/good.cu",
            "// expect: accepted\nvoid solve() {}\n",
        );
        toy
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.dir.join(file), text).expect("a writable folder");
    }

    fn load(&self) -> Result<Package, PackageError> {
        Package::load(&self.dir)
    }
}

/// Replaces `old` by `new` in one of the two files and tells the fault.
fn spoilt(file: &str, old: &str, new: &str) -> PackageError {
    let text = if file == "problem.toml" {
        PROBLEM
    } else {
        SHAPES
    };
    assert!(text.contains(old), "{old}");
    let toy = Toy::new();
    toy.write(file, &text.replacen(old, new, 1));
    let error = toy.load().expect_err("the package is spoilt");
    assert!(error.file.ends_with(file), "{error}");
    assert!(!error.hint.is_empty());
    error
}

fn place(error: &PackageError) -> (Option<u32>, Option<u32>, &str) {
    (
        error.line,
        error.column,
        error.field.as_deref().unwrap_or(""),
    )
}

#[test]
fn the_toy_loads() {
    let package = Toy::new().load().unwrap();
    assert_eq!(package.slug, "toy");
    assert_eq!(package.edge[0].axes["N"], 2);
    assert_eq!(package.digest.len(), 64);
}

#[test]
fn the_digest_changes_with_any_file() {
    let toy = Toy::new();
    let before = toy.load().unwrap().digest;
    toy.write(
        "solutions/good.cu",
        "// expect: accepted\nvoid solve() { }\n",
    );
    assert_ne!(before, toy.load().unwrap().digest);
}

#[test]
fn unknown_keys_and_wrong_types_have_a_place() {
    let error = spoilt(
        "problem.toml",
        "kind = \"lesson\"",
        "kind = \"lesson\"\nkinds = 1",
    );
    assert_eq!((error.line, error.column), (Some(5), Some(1)), "{error}");
    assert!(error.message.contains("kinds"), "{error}");

    let error = spoilt("problem.toml", "min = 1, max", "min = 1, maxx = 2, max");
    assert_eq!(error.line, Some(12), "{error}");
    assert!(error.message.contains("maxx"), "{error}");
    assert!(error.to_string().contains("axes[0].var"), "{error}");

    let error = spoilt("problem.toml", "element = \"f32\"", "element = \"float\"");
    assert_eq!(
        place(&error),
        (Some(21), Some(11), "parameters[0].element"),
        "{error}"
    );

    let error = spoilt("shapes.toml", "calls = 0.5", "calls = \"half\"");
    assert_eq!(
        place(&error),
        (Some(8), Some(9), "strata[0].calls"),
        "{error}"
    );

    let error = spoilt("problem.toml", "schema = 1", "schema = 2");
    assert_eq!(place(&error), (Some(1), Some(10), "schema"), "{error}");

    let error = spoilt("problem.toml", "version = 1", "version = ");
    assert_eq!(error.line, Some(2), "{error}");
}

#[test]
fn expressions_are_checked_where_they_stand() {
    let error = spoilt("problem.toml", "expr = \"2 * M\"", "expr = \"2 * K\"");
    // `K` is the fifth column of the expression, whose quote is in column 8.
    assert_eq!(
        place(&error),
        (Some(16), Some(13), "axes[1].expr"),
        "{error}"
    );
    assert!(
        error.message.contains('K') && error.hint.contains('M'),
        "{error}"
    );
}

#[test]
fn a_size_without_a_value_names_the_shape_that_shows_it() {
    let toy = Toy::new();
    let huge = "dims = [\"M * 4611686018427387904\"]";
    toy.write("problem.toml", &PROBLEM.replacen("dims = [\"M\"]", huge, 1));
    let error = toy.load().unwrap_err();
    assert!(error.file.ends_with("shapes.toml"), "{error}");
    assert_eq!(
        place(&error),
        (Some(5), Some(6), "strata[0] (public)"),
        "{error}"
    );
    assert!(error.message.contains("y.dims[0]"), "{error}");
    assert!(error.message.contains("overflow"), "{error}");
}

#[test]
fn parameters_must_make_sense() {
    for (old, new, part) in [
        (
            "tolerance = { factor = 2.0, length = \"N\", accumulation = \"f32\" }",
            "",
            "needs a tolerance",
        ),
        (
            "generator = { kind = \"normal\", mean = 0.5, std = 1.0 }",
            "",
            "needs a generator",
        ),
        ("mean = 0.5, ", "", "needs `mean`"),
        ("mean = 0.5", "mean = 0.5, low = 1.0", "no use for `low`"),
        ("name = \"y\"", "name = \"x\"", "there already"),
        ("name = \"y\"", "name = \"y y\"", "no identifier"),
        ("value = \"M\"", "number = 1.0", "needs one value"),
        ("factor = 2.0", "factor = -1.0", "is -1"),
        (
            "use = \"out\"",
            "use = \"in\"\ngenerator = { kind = \"constant\", value = 1 }",
            "no tolerance",
        ),
        ("dims = [\"M\", \"N\"]", "", "needs `dims`"),
        (
            "var = { min = 1, max = 1000, align = 1 }",
            "const = 3\nexpr = \"4\"",
            "exactly one",
        ),
        ("max = 1000", "max = 0", "leave no value"),
    ] {
        let error = spoilt("problem.toml", old, new);
        assert!(error.message.contains(part), "{part}: {error}");
        assert!(error.line.is_some(), "{error}");
    }
}

#[test]
fn shapes_must_fit_the_problem_and_each_other() {
    for (old, new, part) in [
        ("w = 0.4", "w = 0.5", "(calls + time) / 2"),
        ("time = 0.7\nw = 0.6", "time = 0.6\nw = 0.55", "sums to 0.8"),
        ("hi = 16", "hi = 1600", "in steps of"),
        ("lo = 4", "lo = 40", "leave no value"),
        (
            "fixed = { M = 100 }",
            "fixed = { M = 100, N = 7 }",
            "the problem makes it 200",
        ),
        ("fixed = { M = 100 }", "fixed = { Q = 100 }", "has no value"),
        (
            "fixed = { M = 100 }",
            "fixed = { M = 800 }",
            "does not hold",
        ),
        (
            "axes = { M = 1 }",
            "axes = { M = 0 }",
            "goes from 1 to 1000",
        ),
        (
            "stratum = \"a\"",
            "stratum = \"b\"",
            "no shape for the emulated device",
        ),
        ("stratum = \"a\"", "stratum = \"z\"", "no stratum `z`"),
        ("id = \"b-1\"", "id = \"b-0\"", "there already"),
        ("id = \"one\"", "id = \"One\"", "is no id"),
        ("licence = \"Apache-2.0\"", "licence = \"\"", "is empty"),
    ] {
        let error = spoilt("shapes.toml", old, new);
        assert!(error.message.contains(part), "{part}: {error}");
    }
}

#[test]
fn an_int_must_hold_its_value() {
    let toy = Toy::new();
    let wide = PROBLEM.replacen("value = \"M\"", "value = \"M * 1000000000\"", 1);
    toy.write("problem.toml", &wide);
    let error = toy.load().unwrap_err();
    assert!(
        error.message.contains("8000000000 does not fit `int`"),
        "{error}"
    );
}

#[test]
fn files_are_complete_and_known() {
    let toy = Toy::new();
    fs::remove_file(toy.dir.join("reference.cu")).unwrap();
    let error = toy.load().unwrap_err();
    assert!(
        error.to_string().contains("reference.cu: is missing"),
        "{error}"
    );

    let toy = Toy::new();
    toy.write("hint.toml", "");
    let error = toy.load().unwrap_err();
    assert!(
        error.file.ends_with("hint.toml") && error.hint.contains("hints.toml"),
        "{error}"
    );

    let toy = Toy::new();
    toy.write("statement.en.md", "Let $x be.\n");
    let error = toy.load().unwrap_err();
    assert_eq!((error.line, error.column), (Some(1), Some(5)), "{error}");

    let toy = Toy::new();
    toy.write("solutions/bad.cu", "// expect: sorrow\n");
    let error = toy.load().unwrap_err();
    assert_eq!(place(&error), (Some(1), Some(1), "expect"), "{error}");
    assert!(
        error.message.contains("`sorrow` is not a verdict"),
        "{error}"
    );

    let toy = Toy::new();
    toy.write("solutions/good.cu", "// expect: wrong_answer\n");
    let error = toy.load().unwrap_err();
    assert!(
        error
            .message
            .contains("no solution is expected to be accepted"),
        "{error}"
    );

    let toy = Toy::new();
    let renamed = toy.dir.with_file_name("game");
    fs::rename(&toy.dir, &renamed).unwrap();
    let error = Package::load(&renamed).unwrap_err();
    assert_eq!(error.field.as_deref(), Some("slug"), "{error}");
}

#[test]
fn one_bad_package_does_not_hide_the_others() {
    let toy = Toy::new();
    let root = toy.dir.parent().unwrap();
    fs::create_dir(root.join("broken")).unwrap();
    let (packages, errors) = problems::load_all(root);
    assert_eq!(packages.len(), 1);
    assert_eq!(errors.len(), 1);
    assert!(
        errors[0].file.starts_with(root.join("broken")),
        "{}",
        errors[0]
    );
    let (none, errors) = problems::load_all(Path::new("/nonexistent/problems"));
    assert!(none.is_empty() && errors.len() == 1);
}
