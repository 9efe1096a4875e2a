//! Comparing outputs by hand-worked values.

use super::*;

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn out(element: ElementType, dims: &[u64]) -> Output<'_> {
    Output {
        name: "y",
        element,
        dims,
        poisoned: true,
    }
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn the_tolerance_is_slack_times_scale_plus_half_an_ulp() {
    // r = 1, S = 4, slack = 2^-20: admitted 2^-18 + 2^-24.
    // Above 1 the spacing of f32 is 2^-23: 2^-18 is 32 steps of it, 33 steps are too many.
    let step = 2_f32.powi(-23);
    for (steps, wrong) in [(0.0, 0), (32.0, 0), (33.0, 1), (-32.0, 0), (-33.0, 1)] {
        let x = f32s(&[1.0 + steps * step]);
        let found = floats(
            &out(ElementType::F32, &[1]),
            &x,
            &[1.0],
            &[4.0],
            2_f64.powi(-20),
        );
        assert_eq!(found.unwrap().count, wrong, "{steps}");
    }
}

#[test]
fn a_scale_belongs_to_its_own_element() {
    // The same error of 0.01 passes where S is large and fails where it is small.
    let x = f32s(&[1000.01, 1.01]);
    let found = floats(
        &out(ElementType::F32, &[2]),
        &x,
        &[1000.0, 1.0],
        &[1000.0, 1.0],
        1e-4,
    )
    .unwrap();
    assert_eq!(found.count, 1);
    assert_eq!(found.first[0].index, [1]);
    assert_eq!(found.first[0].expected, "1");
}

#[test]
fn nan_and_infinity_match_only_the_same() {
    let x = f32s(&[
        f32::NAN,
        f32::NAN,
        f32::INFINITY,
        f32::INFINITY,
        f32::NEG_INFINITY,
        1.0,
    ]);
    let r = [NAN, 1.0, INF, 1.0, INF, NAN];
    let found = floats(&out(ElementType::F32, &[6]), &x, &r, &[1.0; 6], 0.5).unwrap();
    // Wrong: NaN for 1, inf for 1, -inf for inf, 1 for NaN.
    assert_eq!(found.count, 4);
    assert_eq!((found.nan, found.inf, found.unwritten), (1, 2, 0));
    let told: Vec<_> = found
        .first
        .iter()
        .map(|m| (m.index[0], m.expected.as_str(), m.actual.as_str()))
        .collect();
    let wanted = [
        (1, "1", "NaN"),
        (3, "1", "inf"),
        (4, "inf", "-inf"),
        (5, "NaN", "1"),
    ];
    assert_eq!(told, wanted);
}

#[test]
fn poison_is_unwritten_even_where_nan_is_right() {
    let mut x = Vec::new();
    element::fill_poison(ElementType::F32, 2, &mut x);
    let r = [NAN, 1.0];
    let found = floats(&out(ElementType::F32, &[2]), &x, &r, &[1.0; 2], 1.0).unwrap();
    assert_eq!((found.count, found.unwritten, found.nan), (2, 2, 0));
    // An inout tensor was never poisoned.
    let inout = Output {
        poisoned: false,
        ..out(ElementType::F32, &[2])
    };
    let found = floats(&inout, &x, &r, &[1.0; 2], 1.0).unwrap();
    assert_eq!((found.count, found.unwritten, found.nan), (1, 0, 1));
}

#[test]
fn overflow_of_the_output_type_is_right_where_it_must_happen() {
    // 65504 is the largest f16; from 65520 on, rounding gives infinity.
    let infinity = half::f16::INFINITY.to_le_bytes();
    for (r, wrong) in [(65_520.0, 0), (65_500.0, 1), (-65_520.0, 1)] {
        let f16 = out(ElementType::F16, &[1]);
        let found = floats(&f16, &infinity, &[r], &[0.0], 0.0).unwrap();
        // r = 65500 with half an ulp (16) of tolerance stays below 65520.
        assert_eq!(found.count, wrong, "{r}");
    }
}

#[test]
fn indices_and_maxima_are_told() {
    let x = f32s(&[1.0, 2.0, 3.0, 4.0, 5.0, 9.0]);
    let r = [1.0, 2.0, 3.0, 4.0, 4.0, 6.0];
    let found = floats(&out(ElementType::F32, &[2, 3]), &x, &r, &[0.0; 6], 0.0).unwrap();
    assert_eq!((found.count, found.elements), (2, 6));
    assert_eq!(found.first[0].index, [1, 1]);
    assert_eq!(found.first[1].index, [1, 2]);
    assert_eq!(found.max_abs_error, Some(3.0)); // 9 for 6
    assert_eq!(found.max_rel_error, Some(0.5)); // 3 of 6
}

#[test]
fn only_the_first_are_told() {
    let found = floats(
        &out(ElementType::F32, &[100]),
        &f32s(&[0.0; 100]),
        &[1.0; 100],
        &[1.0; 100],
        1e-6,
    );
    let found = found.unwrap();
    assert_eq!((found.count, found.first.len()), (100, FIRST_MISMATCHES));
}

#[test]
fn integers_must_be_equal() {
    let bytes =
        |values: &[i64]| -> Vec<u8> { values.iter().flat_map(|v| v.to_le_bytes()).collect() };
    // 2^53 + 1 is no double: equality is decided on the bytes.
    let big = (1 << 53) + 1;
    let poison = i64::from_le_bytes([0xa5; 8]);
    let found = exact(
        &out(ElementType::I64, &[3]),
        &bytes(&[big, big - 1, poison]),
        &bytes(&[big, big, 7]),
    )
    .unwrap();
    assert_eq!((found.count, found.unwritten), (2, 1));
    assert_eq!(found.first[0].expected, "9007199254740993");
    assert_eq!(found.first[0].actual, "9007199254740992");
    assert_eq!(found.first[0].tolerance, "0");
}

#[test]
fn buffers_that_do_not_fit_are_the_judges_fault() {
    let f32 = out(ElementType::F32, &[2]);
    let x = f32s(&[1.0, 2.0]);
    assert!(matches!(
        floats(&f32, &x[..7], &[1.0; 2], &[1.0; 2], 0.0),
        Err(CompareError::Length {
            buffer: "output",
            ..
        })
    ));
    assert!(matches!(
        floats(&f32, &x, &[1.0; 3], &[1.0; 2], 0.0),
        Err(CompareError::Length {
            buffer: "reference",
            ..
        })
    ));
    assert!(matches!(
        floats(&f32, &x, &[1.0; 2], &[NAN, 1.0], 0.0),
        Err(CompareError::Scale { index: 0, .. })
    ));
    assert!(exact(&out(ElementType::I32, &[2]), &[0; 8], &[0; 4]).is_err());
}

/// More elements than one thread looks at, wrong in the first piece, at a border and in the last.
#[test]
fn pieces_add_up_to_the_whole_in_order() {
    let elements = 5 * PIECE + 3;
    let mut actual = vec![1.0_f32; elements];
    let wrong = [
        7,
        PIECE - 1,
        PIECE,
        3 * PIECE + 11,
        elements - 2,
        elements - 1,
    ];
    for (at, error) in wrong
        .into_iter()
        .zip([0.5, 0.25, 4.0, -2.0, f32::NAN, f32::INFINITY])
    {
        actual[at] = 1.0 + error;
    }
    let expected = vec![1.0; elements];
    let dims = [elements as u64];
    let found = floats(
        &out(ElementType::F32, &dims),
        &f32s(&actual),
        &expected,
        &expected,
        0.0,
    );
    let found = found.unwrap();
    assert_eq!(
        (found.count, found.nan, found.inf, found.unwritten),
        (6, 1, 1, 0)
    );
    assert_eq!(
        (found.max_abs_error, found.max_rel_error),
        (Some(4.0), Some(4.0))
    );
    let first: Vec<u64> = found
        .first
        .iter()
        .map(|mismatch| mismatch.index[0])
        .collect();
    assert_eq!(
        first,
        wrong[..FIRST_MISMATCHES]
            .iter()
            .map(|at| *at as u64)
            .collect::<Vec<_>>()
    );

    let mut scales = expected.clone();
    scales[4 * PIECE] = -1.0;
    let refused = floats(
        &out(ElementType::F32, &dims),
        &f32s(&actual),
        &expected,
        &scales,
        0.0,
    );
    assert!(matches!(refused, Err(CompareError::Scale { index, .. }) if index == 4 * PIECE));

    let bytes: Vec<u8> = vec![3; elements];
    let mut other = bytes.clone();
    (other[2], other[elements - 1]) = (9, 0);
    let found = exact(&out(ElementType::U8, &dims), &other, &bytes).unwrap();
    assert_eq!((found.count, found.max_abs_error), (2, Some(6.0)));
}

#[test]
fn a_float_output_that_is_added_to_unset_is_known_by_its_nans() {
    let cause = |x: &[f32], r: &[f64], poisoned| {
        let mut bytes = f32s(x);
        let unwritten = x.iter().position(|x| *x == -7.0);
        if let Some(at) = unwritten {
            bytes[4 * at..][..4].copy_from_slice(element::poison(ElementType::F32));
        }
        let dims = [x.len() as u64];
        let output = Output {
            poisoned,
            ..out(ElementType::F32, &dims)
        };
        let found = floats(&output, &bytes, r, &vec![1.0; x.len()], 0.0).unwrap();
        found.likely_cause
    };
    let unset = Some(LikelyCause::OutputNotSet);
    assert_eq!(cause(&[f32::NAN, f32::NAN], &[0.5, 2.0], true), unset);
    // -7 stands for the poison itself: an element that nothing was added to.
    assert_eq!(cause(&[f32::NAN, -7.0, 3.0], &[0.5, 2.0, 3.0], true), unset);
    assert_eq!(cause(&[-7.0, 3.0], &[0.5, 3.0], true), None);
    // Something else is wrong as well, the reference has an infinity, or the tensor was handed over filled.
    assert_eq!(cause(&[f32::NAN, 1.0], &[0.5, 2.0], true), None);
    assert_eq!(cause(&[f32::NAN], &[INF], true), None);
    assert_eq!(cause(&[f32::NAN], &[0.5], false), None);
    assert_eq!(cause(&[0.5], &[0.5], true), None);
}

#[test]
fn an_integer_output_that_is_added_to_unset_is_known_by_what_is_added() {
    let cause = |element, x: &[u8], r: &[u8]| {
        let dims = [(r.len() / element::size(element)) as u64];
        exact(&out(element, &dims), x, r).unwrap().likely_cause
    };
    let unset = Some(LikelyCause::OutputNotSet);
    let i32s = |values: [i32; 2]| values.map(i32::to_le_bytes).concat();
    let base = i32::from_le_bytes([0xa5; 4]);
    let (i, r) = (ElementType::I32, i32s([40, -3]));
    assert_eq!(cause(i, &i32s([base + 40, base - 3]), &r), unset);
    // Not the sum that it should be, and still no number of its own.
    assert_eq!(cause(i, &i32s([base + 39, base - 3]), &r), unset);
    assert_eq!(cause(i, &i32s([base + 40, 17]), &r), None);
    assert_eq!(cause(i, &i32s([base, base]), &r), None);
    // A large sum is known where it is exact.
    let large = i32s([1_500_000_000, 0]);
    assert_eq!(cause(i, &i32s([base + 1_500_000_000, 0]), &large), unset);
    assert_eq!(cause(i, &i32s([base + 1_400_000_000, 0]), &large), None);
    // A byte says little: only the exact sum counts.
    assert_eq!(cause(ElementType::U8, &[0xa8], &[3]), unset);
    assert_eq!(cause(ElementType::U8, &[0xa7], &[3]), None);
    let base = u64::from_le_bytes([0xa5; 8]);
    let sum = (base + 5).to_le_bytes();
    assert_eq!(cause(ElementType::U64, &sum, &6_u64.to_le_bytes()), unset);
}
