//! From a directory to a [`Package`], or to the first fault in it.
//!
//! Nothing is guessed and nothing is skipped: unknown keys and stray files are faults, and whatever
//! can be evaluated is evaluated here, on every shape, so that a loaded package cannot surprise.

mod parameters;
mod problem;
mod shapes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use domain::Source;
use sha2::{Digest, Sha256};

use crate::error::{PackageError, Text};
use crate::expect::Expectation;
use crate::manifest;
use crate::package::{Bilingual, Package, Solution};

/// The files a package may have beside `solutions/`; the flag says whether it must.
const FILES: [(&str, bool); 11] = [
    ("problem.toml", true),
    ("shapes.toml", true),
    ("statement.en.md", true),
    ("statement.zh.md", true),
    ("reference.cu", true),
    ("baseline.cu", true),
    ("starter.cu", true),
    ("hints.toml", false),
    ("editorial.en.md", false),
    ("editorial.zh.md", false),
    ("README.md", false),
];

impl Package {
    /// Loads and checks the package in `dir`.
    pub fn load(dir: &Path) -> Result<Self, PackageError> {
        let files = list(dir)?;
        let (text, raw) = manifest::read(&dir.join("problem.toml"))?;
        let mut package = problem::package(&text, raw)?;
        check_slug(dir, &package.slug)?;
        package.statement_en = markdown(&dir.join("statement.en.md"))?;
        package.statement_zh = markdown(&dir.join("statement.zh.md"))?;
        package.editorial = editorial(dir)?;
        package.hints = hints(dir)?;
        package.reference_source = source(&dir.join("reference.cu"))?;
        package.baseline_source = source(&dir.join("baseline.cu"))?;
        package.starter_source = source(&dir.join("starter.cu"))?;
        package.solutions = solutions(dir, &files)?;
        package.digest = digest(dir, &files)?;
        let (text, raw) = manifest::read(&dir.join("shapes.toml"))?;
        shapes::fill(&mut package, &text, raw)?;
        Ok(package)
    }
}

/// Loads every package below `dir` (each subdirectory that has a `problem.toml` or looks like it
/// should), in order of slugs. A bad package does not hide the others.
pub fn load_all(dir: &Path) -> (Vec<Package>, Vec<PackageError>) {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) => {
            let message = format!("cannot be listed: {e}");
            let hint = "point LIGHTSPEED_PROBLEMS or --problems at a directory of packages";
            return (Vec::new(), vec![PackageError::whole(dir, message, hint)]);
        }
    };
    let mut dirs: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|e| e.path())
        .filter(|p| p.is_dir() && !hidden(p))
        .collect();
    dirs.sort();
    let (mut packages, mut errors) = (Vec::new(), Vec::new());
    for dir in dirs {
        match Package::load(&dir) {
            Ok(package) => packages.push(package),
            Err(error) => errors.push(error),
        }
    }
    (packages, errors)
}

/// The package's files, relative to `dir`, sorted.
fn list(dir: &Path) -> Result<Vec<String>, PackageError> {
    let mut files = Vec::new();
    for path in entries(dir)? {
        let name = name_of(&path);
        if hidden(&path) {
            continue;
        }
        if name == "solutions" && path.is_dir() {
            for solution in entries(&path)? {
                if hidden(&solution) {
                    continue;
                }
                if solution.extension().is_none_or(|e| e != "cu") {
                    let message = "does not belong into `solutions`";
                    return Err(PackageError::whole(
                        &solution,
                        message,
                        "only `.cu` files do",
                    ));
                }
                files.push(format!("solutions/{}", name_of(&solution)));
            }
        } else if path.is_file() && FILES.iter().any(|(known, _)| *known == name) {
            files.push(name);
        } else {
            let known: Vec<&str> = FILES.iter().map(|(known, _)| *known).collect();
            let hint = format!("a package has {} and `solutions/`", known.join(", "));
            return Err(PackageError::whole(
                &path,
                "does not belong into a package",
                hint,
            ));
        }
    }
    for (name, needed) in FILES {
        if needed && !files.iter().any(|f| f == name) {
            let file = dir.join(name);
            return Err(PackageError::whole(
                &file,
                "is missing",
                "every package needs this file",
            ));
        }
    }
    files.sort();
    Ok(files)
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, PackageError> {
    let unreadable = |e: std::io::Error| {
        let hint = "a package is a readable directory";
        PackageError::whole(dir, format!("cannot be listed: {e}"), hint)
    };
    std::fs::read_dir(dir)
        .map_err(unreadable)?
        .map(|entry| entry.map(|e| e.path()).map_err(unreadable))
        .collect()
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn hidden(path: &Path) -> bool {
    name_of(path).starts_with('.')
}

fn check_slug(dir: &Path, slug: &str) -> Result<(), PackageError> {
    // A relative `.` has no name of its own.
    let full = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    if name_of(&full) == slug {
        return Ok(());
    }
    let message = format!(
        "the directory is called `{}`, the slug is `{slug}`",
        name_of(&full)
    );
    Err(PackageError {
        field: Some("slug".to_owned()),
        ..PackageError::whole(&dir.join("problem.toml"), message, "rename one of them")
    })
}

/// A Markdown text: not empty, formulas closed, no HTML that a page would have to drop.
fn markdown(file: &Path) -> Result<String, PackageError> {
    let text = Text::read(file)?;
    let content = &text.content;
    if content.trim().is_empty() {
        return Err(PackageError::whole(file, "is empty", "write the text"));
    }
    let mut open: Option<usize> = None;
    let mut fenced = false;
    let mut offset = 0;
    for line in content.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            for (at, c) in line.char_indices() {
                let escaped = at > 0 && line.as_bytes()[at - 1] == b'\\';
                if c == '$' && !escaped {
                    open = match open {
                        Some(_) => None,
                        None => Some(offset + at),
                    };
                }
            }
            if let Some(at) = line.to_ascii_lowercase().find("<script") {
                let at = offset + at;
                let hint = "statements are Markdown and KaTeX";
                return Err(text.at(&(at..at), "", "HTML is not shown", hint));
            }
        }
        offset += line.len();
    }
    match open {
        Some(at) => Err(text.at(
            &(at..at),
            "",
            "a formula is not closed",
            "add the second `$`",
        )),
        None => Ok(text.content),
    }
}

fn editorial(dir: &Path) -> Result<Option<Bilingual>, PackageError> {
    let (en, zh) = (dir.join("editorial.en.md"), dir.join("editorial.zh.md"));
    match (en.exists(), zh.exists()) {
        (false, false) => Ok(None),
        _ => Ok(Some(Bilingual {
            en: markdown(&en)?,
            zh: markdown(&zh)?,
        })),
    }
}

fn hints(dir: &Path) -> Result<Vec<Bilingual>, PackageError> {
    let file = dir.join("hints.toml");
    if !file.exists() {
        return Ok(Vec::new());
    }
    let (_, raw): (_, manifest::Hints) = manifest::read(&file)?;
    Ok(raw.hints)
}

fn source(file: &Path) -> Result<Source, PackageError> {
    let bytes = std::fs::read(file).map_err(|e| {
        PackageError::whole(file, format!("cannot be read: {e}"), "make it readable")
    })?;
    Source::from_bytes(bytes)
        .map_err(|e| PackageError::whole(file, e.to_string(), "it must be a legal submission"))
}

fn solutions(dir: &Path, files: &[String]) -> Result<Vec<Solution>, PackageError> {
    let mut solutions = Vec::new();
    for path in files {
        let Some(name) = path.strip_prefix("solutions/") else {
            continue;
        };
        let file = dir.join(path);
        let source = source(&file)?;
        let expect = Expectation::parse(source.as_str()).map_err(|e| PackageError {
            line: Some(1),
            column: Some(1),
            field: Some("expect".to_owned()),
            ..PackageError::whole(&file, e.to_string(), "e.g. `// expect: accepted`")
        })?;
        solutions.push(Solution {
            name: name.trim_end_matches(".cu").to_owned(),
            source,
            expect,
        });
    }
    if !solutions
        .iter()
        .any(|s| s.expect.verdict == domain::Verdict::Accepted)
    {
        let hint = "add a solution whose first line is `// expect: accepted`";
        let message = "no solution is expected to be accepted";
        return Err(PackageError::whole(&dir.join("solutions"), message, hint));
    }
    Ok(solutions)
}

fn digest(dir: &Path, files: &[String]) -> Result<String, PackageError> {
    let mut contents = BTreeMap::new();
    for name in files {
        let file = dir.join(name);
        let bytes = std::fs::read(&file).map_err(|e| {
            PackageError::whole(&file, format!("cannot be read: {e}"), "make it readable")
        })?;
        contents.insert(name, bytes);
    }
    let mut hash = Sha256::new();
    for (name, bytes) in contents {
        for part in [name.as_bytes(), &bytes] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    Ok(hash.finalize().iter().map(|b| format!("{b:02x}")).collect())
}
