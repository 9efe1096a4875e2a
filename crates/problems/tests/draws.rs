//! Which shapes a judging runs, and what held-out draws give away.

use std::collections::BTreeSet;
use std::path::Path;

use domain::report::ShapeRole;
use domain::{DeviceKind, Mode};
use problems::{EpochSecret, Package, Shape};

fn package(slug: &str) -> Package {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems");
    Package::load(&dir.join(slug)).unwrap_or_else(|e| panic!("{e}"))
}

fn epoch(name: &str, byte: u8) -> EpochSecret {
    EpochSecret::new(name, [byte; 32])
}

fn held_out(package: &Package, epoch: &EpochSecret) -> Vec<Shape> {
    let mut shapes = package.shapes(Mode::Ranked, DeviceKind::Gpu, Some(epoch));
    shapes.retain(|s| s.role == ShapeRole::HeldOut);
    shapes
}

fn roles(shapes: &[Shape]) -> [usize; 4] {
    [
        ShapeRole::Edge,
        ShapeRole::Public,
        ShapeRole::HeldOut,
        ShapeRole::Emulated,
    ]
    .map(|role| shapes.iter().filter(|s| s.role == role).count())
}

#[test]
fn the_mode_and_the_device_decide_which_shapes_run() {
    let package = package("vector_add");
    let secret = epoch("1", 1);
    let of = |mode, kind, epoch| roles(&package.shapes(mode, kind, epoch));
    let (gpu, emulated) = (DeviceKind::Gpu, DeviceKind::Emulated);
    assert_eq!(of(Mode::Practice, gpu, Some(&secret)), [8, 4, 0, 0]);
    assert_eq!(of(Mode::Ranked, gpu, Some(&secret)), [8, 4, 4, 0]);
    assert_eq!(of(Mode::Ranked, gpu, None), [8, 4, 0, 0]);
    assert_eq!(of(Mode::Practice, emulated, None), [8, 0, 0, 4]);
    assert_eq!(of(Mode::Ranked, emulated, Some(&secret)), [8, 0, 0, 4]);
}

#[test]
fn public_and_held_out_share_the_weight_of_their_stratum() {
    let package = package("vector_add");
    let secret = epoch("1", 1);
    let weight = |mode, id: &str| {
        let shapes = package.shapes(mode, DeviceKind::Gpu, Some(&secret));
        let shape = shapes.iter().find(|s| s.id == id).expect("the shape runs");
        shape.weight.expect("it has a weight")
    };
    assert_eq!(weight(Mode::Practice, "large.public"), 0.4404);
    assert_eq!(weight(Mode::Ranked, "large.public"), 0.2202);
    assert_eq!(weight(Mode::Ranked, "large.held_out"), 0.2202);
}

#[test]
fn ids_are_unique() {
    let package = package("matmul");
    for kind in [DeviceKind::Gpu, DeviceKind::Emulated] {
        let shapes = package.shapes(Mode::Ranked, kind, Some(&epoch("1", 1)));
        let ids: BTreeSet<&str> = shapes.iter().map(|s| s.id.as_str()).collect();
        assert_eq!(ids.len(), shapes.len());
    }
}

#[test]
fn draws_are_the_same_for_everybody_and_change_with_the_epoch() {
    let package = package("matmul");
    let first = held_out(&package, &epoch("1", 1));
    assert_eq!(first, held_out(&package, &epoch("1", 1)));
    assert_ne!(first, held_out(&package, &epoch("2", 1)), "another epoch");
    assert_ne!(first, held_out(&package, &epoch("1", 2)), "another secret");
    let mut next = package.clone();
    next.version += 1;
    assert_ne!(first, held_out(&next, &epoch("1", 1)), "another version");
    let mut other = package.clone();
    other.slug = "matmul2".to_owned();
    assert_ne!(first, held_out(&other, &epoch("1", 1)), "another problem");
}

#[test]
fn draws_stay_in_range_aligned_and_off_the_public_point() {
    for slug in ["vector_add", "matmul"] {
        let package = package(slug);
        for byte in 0..50 {
            for shape in held_out(&package, &epoch("e", byte)) {
                let name = shape.stratum.expect("it has a stratum");
                let stratum = package.strata.iter().find(|s| s.id == name);
                let stratum = stratum.expect("of the package");
                for (axis, drawn) in &stratum.drawn {
                    let value = shape.axes[axis];
                    assert!(
                        (drawn.lo..=drawn.hi).contains(&value),
                        "{slug} {name} {axis}"
                    );
                    assert_eq!(value % drawn.align, 0);
                }
                for (axis, value) in &stratum.fixed {
                    assert_eq!(shape.axes[axis], *value);
                }
                let public = stratum.public_axes();
                assert!(
                    public
                        .iter()
                        .any(|(axis, value)| shape.axes[axis] != *value)
                );
            }
        }
    }
}

#[test]
fn draws_reach_both_ends_of_a_small_range() {
    let mut package = package("vector_add");
    let drawn = package.strata[0].drawn.get_mut("N").expect("N is drawn");
    (drawn.public, drawn.lo, drawn.hi, drawn.align) = (8, 3, 17, 4);
    // Aligned values are 4, 8, 12, 16, and 8 is public.
    let seen: BTreeSet<i64> = (0..60)
        .map(|byte| held_out(&package, &epoch("e", byte))[0].axes["N"])
        .collect();
    assert_eq!(seen, BTreeSet::from([4, 12, 16]));
}

#[test]
fn a_stratum_without_another_point_has_no_held_out_draw() {
    let mut package = package("vector_add");
    let drawn = package.strata[0].drawn.get_mut("N").expect("N is drawn");
    (drawn.public, drawn.lo, drawn.hi) = (8, 8, 8);
    let shapes = package.shapes(Mode::Ranked, DeviceKind::Gpu, Some(&epoch("e", 0)));
    assert_eq!(roles(&shapes), [8, 4, 3, 0]);
    let alone = shapes.iter().find(|s| s.id == "tiny.public");
    assert_eq!(alone.expect("it runs").weight, Some(0.2028));
}

#[test]
fn a_draw_is_frozen() {
    // A change of this value changes every epoch that is open: it needs a new package version.
    let shapes = held_out(&package("vector_add"), &epoch("1", 7));
    let drawn: Vec<i64> = shapes.iter().map(|s| s.axes["N"]).collect();
    // Computed independently with Python's `hmac`.
    assert_eq!(drawn, [41_840, 1_040_785, 23_768_049, 109_007_545]);
}

#[test]
fn the_secret_is_never_printed() {
    let secret = EpochSecret::new("1", [0xab; 32]);
    let printed = format!("{secret:?}");
    assert!(
        !printed.contains("171") && !printed.contains("ab"),
        "{printed}"
    );
}
