//! Every package of the repository loads, and its figures are what they should be.

use std::path::{Path, PathBuf};

use domain::report::ShapeRole;
use domain::{Axes, DeviceKind, Mode, Verdict};
use problems::{EpochSecret, Package};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems")
}

fn package(slug: &str) -> Package {
    Package::load(&directory().join(slug)).unwrap_or_else(|e| panic!("{e}"))
}

fn axes(pairs: &[(&str, i64)]) -> Axes {
    pairs.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect()
}

#[test]
fn all_load() {
    let (packages, errors) = problems::load_all(&directory());
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    let slugs: Vec<&str> = packages.iter().map(|p| p.slug.as_str()).collect();
    for slug in ["matmul", "vector_add"] {
        assert!(slugs.contains(&slug), "{slugs:?}");
    }
}

#[test]
fn every_judging_has_weights_that_sum_to_one() {
    let (packages, _) = problems::load_all(&directory());
    let epoch = EpochSecret::new("1", [3; 32]);
    for package in packages {
        for (mode, target, epoch) in [
            (Mode::Practice, DeviceKind::Gpu, None),
            (Mode::Ranked, DeviceKind::Gpu, Some(&epoch)),
            (Mode::Ranked, DeviceKind::Emulated, Some(&epoch)),
        ] {
            let shapes = package.shapes(mode, target, epoch);
            let weight: f64 = shapes.iter().filter_map(|s| s.weight).sum();
            let calls: f64 = shapes.iter().filter_map(|s| s.calls).sum();
            assert!((weight - 1.0).abs() < 1e-4, "{}: {weight}", package.slug);
            assert!((calls - 1.0).abs() < 1e-4, "{}: {calls}", package.slug);
            for shape in &shapes {
                let edge = shape.role == ShapeRole::Edge;
                assert_eq!(edge, shape.weight.is_none(), "{}", shape.id);
                assert_eq!(edge, shape.stratum.is_none(), "{}", shape.id);
            }
        }
    }
}

#[test]
fn every_package_has_the_negatives_that_must_fail() {
    let (packages, _) = problems::load_all(&directory());
    for package in packages {
        let expects = |verdict| {
            package
                .solutions
                .iter()
                .any(|s| s.expect.verdict == verdict)
        };
        for verdict in [
            Verdict::Accepted,
            Verdict::WrongAnswer,
            Verdict::RuntimeError,
        ] {
            assert!(expects(verdict), "{}: no {verdict}", package.slug);
        }
        assert!(!package.hints.is_empty(), "{}", package.slug);
    }
}

#[test]
fn vector_add_asks_for_what_the_contract_pins() {
    let package = package("vector_add");
    assert_eq!(
        package.signature().declaration(),
        "void solve(const float* A, const float* B, float* C, int N)"
    );
    assert_eq!(
        package.reference_signature().declaration(),
        "void solve(const float* A, const float* B, double* C, double* C_scale, int N)"
    );
    // Two inputs and an output of 4 bytes an element; one addition an element.
    let cost = package.cost(&axes(&[("N", 1000)])).unwrap();
    assert_eq!(cost.fused_bytes, 12_000);
    assert_eq!(cost.total_flop(), 1000.0);
    // sqrt(2) * 2^-24
    let slack = package.tolerance("C").unwrap().slack(&axes(&[("N", 1)]));
    assert!((slack.unwrap() - 8.429_369_702_178_807e-8).abs() < 1e-20);
}

#[test]
fn matmul_asks_for_what_the_contract_pins() {
    let package = package("matmul");
    assert_eq!(
        package.signature().declaration(),
        "void solve(const float* A, const float* B, float* C, int M, int N, int K)"
    );
    assert_eq!(
        package.reference_signature().declaration(),
        "void solve(const float* A, const float* B, double* C, double* C_scale, \
         int M, int N, int K)"
    );
    // 2 * 4 * 8 * 16 = 1024 FLOP; 4 * (4 * 8 + 8 * 16 + 4 * 16) = 896 bytes.
    let shape = axes(&[("M", 4), ("N", 8), ("K", 16)]);
    let cost = package.cost(&shape).unwrap();
    assert_eq!(cost.fp32_product_flop, 1024.0);
    assert!(cost.flop.is_empty());
    assert_eq!(cost.fused_bytes, 896);
    let tensors = package.tensors(&shape).unwrap();
    let dims: Vec<&[u64]> = tensors.iter().map(|t| t.dims.as_slice()).collect();
    assert_eq!(dims, [[4, 8], [8, 16], [4, 16]]);
    let scalars = package.scalars(&shape).unwrap();
    let bytes: Vec<Vec<u8>> = scalars
        .iter()
        .map(|s| s.value.to_bytes(s.element))
        .collect();
    assert_eq!(bytes, [[4, 0, 0, 0], [8, 0, 0, 0], [16, 0, 0, 0]]);
    // 2 * sqrt(8) * 2^-24
    let slack = package.tolerance("C").unwrap().slack(&shape).unwrap();
    assert!((slack - 2.0 * 8_f64.sqrt() / 16_777_216.0).abs() < 1e-20);
}
