//! The rules of ARCHITECTURE.md on who may know whom, enforced on manifests and sources.

#![allow(clippy::unwrap_used)] // a step that fails fails the test

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What each of our crates may depend on, of ours.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("emulator", &[]),
    ("scoring", &["domain"]),
    ("sandbox", &["domain"]),
    ("launch-plan", &["domain"]),
    ("toolchain", &["domain"]),
    ("local-postgres", &["domain"]),
    ("protocol", &["domain"]),
    ("database", &["domain"]),
    // Nobody may depend on it but tests, or the shipped program would hold it.
    ("database-testing", &["database"]),
    ("problems", &["scoring", "domain"]),
    ("device", &["emulator", "domain"]),
    (
        "judge",
        &[
            "toolchain",
            "device",
            "launch-plan",
            "problems",
            "scoring",
            "sandbox",
            "domain",
        ],
    ),
    (
        "judge-workers",
        &["judge", "sandbox", "problems", "protocol", "domain"],
    ),
    (
        "api",
        &["database", "problems", "scoring", "protocol", "domain"],
    ),
    (
        "cli",
        &[
            "api",
            "judge-workers",
            "judge",
            "local-postgres",
            "problems",
            "protocol",
            "sandbox",
            "domain",
        ],
    ),
];

/// Crates that only some of ours may depend on.
const RESERVED: &[(&str, &[&str])] = &[
    ("sqlx", &["database", "database-testing"]),
    ("axum", &["api"]),
    ("hyper", &["api"]),
    ("reqwest", &["judge-workers", "cli"]),
    ("cudarc", &["device", "toolchain"]),
    ("landlock", &["sandbox"]),
    ("tree-sitter", &["launch-plan"]),
];

/// Where `unsafe` may stand.
const MAY_BE_UNSAFE: &[&str] = &["device", "toolchain", "sandbox", "emulator"];

struct Member {
    name: String,
    folder: PathBuf,
    /// Dependencies that are part of the product.
    dependencies: BTreeSet<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ lies in the workspace")
}

fn members() -> Vec<Member> {
    let mut folders: Vec<PathBuf> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.push(root().join("judge-workers"));
    folders
        .into_iter()
        .filter(|f| f.join("Cargo.toml").exists())
        .map(member)
        .collect()
}

fn member(folder: PathBuf) -> Member {
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = text.parse().unwrap();
    let name = manifest["package"]["name"].as_str().unwrap().to_owned();
    let mut dependencies = BTreeSet::new();
    let mut collect = |table: &toml::Table| {
        for section in ["dependencies", "build-dependencies"] {
            if let Some(section) = table.get(section).and_then(toml::Value::as_table) {
                dependencies.extend(section.keys().cloned());
            }
        }
    };
    collect(&manifest);
    for target in manifest
        .get("target")
        .and_then(toml::Value::as_table)
        .into_iter()
        .flatten()
    {
        collect(target.1.as_table().unwrap());
    }
    Member {
        name,
        folder,
        dependencies,
    }
}

fn sources(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push((path.clone(), fs::read_to_string(path).unwrap()));
        }
    }
}

fn sources_of(name: &str) -> Vec<(PathBuf, String)> {
    let member = members()
        .into_iter()
        .find(|member| member.name == name)
        .unwrap();
    let mut found = Vec::new();
    sources(&member.folder.join("src"), &mut found);
    assert!(!found.is_empty(), "{name} has sources");
    found
}

#[test]
fn every_crate_imports_only_what_it_may() {
    let ours: BTreeSet<String> = members().into_iter().map(|member| member.name).collect();
    for member in members() {
        let rule = MAY_IMPORT.iter().find(|(name, _)| *name == member.name);
        let (_, allowed) = rule.unwrap_or_else(|| panic!("no rule for crate `{}`", member.name));
        for dependency in member.dependencies.intersection(&ours) {
            assert!(
                allowed.contains(&dependency.as_str()),
                "`{}` must not depend on `{dependency}`",
                member.name
            );
        }
    }
}

#[test]
fn libraries_of_one_room_stay_in_it() {
    for member in members() {
        for (library, rooms) in RESERVED {
            assert!(
                !member.dependencies.contains(*library) || rooms.contains(&member.name.as_str()),
                "`{}` must not depend on `{library}`",
                member.name
            );
        }
    }
}

#[test]
fn unsafe_stands_only_where_it_may() {
    for member in members() {
        if MAY_BE_UNSAFE.contains(&member.name.as_str()) {
            continue;
        }
        let manifest = fs::read_to_string(member.folder.join("Cargo.toml")).unwrap();
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "{} inherits lints",
            member.name
        );
        let mut files = Vec::new();
        sources(&member.folder.join("src"), &mut files);
        for (path, text) in files {
            assert!(
                !text.contains("unsafe_code"),
                "{} lifts the unsafe lint",
                path.display()
            );
        }
    }
}

#[test]
fn scoring_does_no_io() {
    for (path, text) in sources_of("scoring") {
        for door in [
            "std::fs",
            "std::net",
            "std::env",
            "std::process",
            "std::time::Instant",
        ] {
            assert!(!text.contains(door), "{} uses {door}", path.display());
        }
    }
}

#[test]
fn sql_is_written_in_one_crate() {
    for name in ["api", "judge-workers", "cli", "judge", "protocol"] {
        for (path, text) in sources_of(name) {
            for words in ["SELECT ", "INSERT INTO ", "DELETE FROM "] {
                assert!(
                    !text.contains(words),
                    "{} holds SQL ({words})",
                    path.display()
                );
            }
        }
    }
}
