//! Products of matrices in registers.

use super::super::worker::Worker;
use super::planes::{Pitch, floats, halves, integers, pairs, put_halves, put_pairs, words};
use crate::lanes::View;
use crate::numerics::exact::{self, F64};
use crate::numerics::half::{self, F16, Half as _};
use crate::numerics::tensor::{Format, Step, Steps, accumulate};
use crate::numerics::{NEAREST, Rounding, double, single};
use crate::program::{Arithmetic, FloatForm, Fragment, Integer, Product};

/// Dense matrices of the product at hand: a is m by k, b is k by n, c is m by n.
#[derive(Debug, Default)]
pub(in crate::exec) struct Scratch {
    pub(super) step: Step,
    pub(super) whole: Whole,
}

#[derive(Debug, Default)]
pub(super) struct Whole {
    pub(super) a: Vec<i32>,
    pub(super) b: Vec<i32>,
    pub(super) c: Vec<i32>,
}

impl Worker<'_> {
    pub(super) fn product(&mut self, view: &View, product: &Product) {
        self.count_product(product.extents, product.arithmetic);
        match product.arithmetic {
            Arithmetic::Float(form) => {
                let mut scratch = std::mem::take(&mut self.tensor);
                float(view, product, form, &mut scratch.step);
                self.tensor = scratch;
            }
            Arithmetic::Double { rounding } => doubles(view, product, rounding),
            Arithmetic::Integer { a, b, saturates } => {
                let mut scratch = std::mem::take(&mut self.tensor);
                whole(view, product, [a, b], saturates, &mut scratch.whole);
                self.tensor = scratch;
            }
            Arithmetic::Bits { and } => bits(view, product, and),
        }
    }

    /// A product that is added is two operations.
    pub(super) fn count_product(&mut self, [m, n, k]: [usize; 3], arithmetic: Arithmetic) {
        let counters = &mut self.counters;
        let counter = match arithmetic {
            Arithmetic::Float(form) => match form.a {
                Format::F16 | Format::Bf16 => &mut counters.flop_tensor_f16,
                Format::Tf32 => &mut counters.flop_tensor_tf32,
                Format::E4m3 | Format::E5m2 => &mut counters.flop_tensor_fp8,
            },
            Arithmetic::Double { .. } => &mut counters.flop_tensor_f64,
            Arithmetic::Integer { .. } | Arithmetic::Bits { .. } => &mut counters.flop_tensor_int8,
        };
        *counter += (2 * m * n * k) as u64;
    }
}

fn float(view: &View, product: &Product, form: FloatForm, step: &mut Step) {
    let [m, n, k] = product.extents;
    step.a.values.resize(m * k, 0.0);
    step.b.values.resize(k * n, 0.0);
    step.c.values.resize(m * n, 0.0);
    let by_line = Pitch { line: k, place: 1 };
    let by_place = Pitch { line: 1, place: n };
    floats(view, &product.a, form.a, by_line, &mut step.a.values);
    floats(view, &product.b, form.b, by_place, &mut step.b.values);
    take_sums(view, &product.c, form.half_in, n, &mut step.c.values);
    if form.rule.steps == Steps::One {
        step.a.split(form.a);
        step.b.split(form.b);
        accumulate(
            step,
            product.extents,
            form.rule,
            [form.half_in, form.half_out],
        );
    } else {
        by_steps(step, product.extents, form);
    }
    put_sums(view, &product.d, form.half_out, n, &step.c.values);
}

/// A product that the machine makes in several steps along k.
fn by_steps(step: &mut Step, [m, n, k]: [usize; 3], form: FloatForm) {
    let steps = form.rule.steps;
    let is_unpacked = steps == Steps::Unpacked;
    let all_a = std::mem::take(&mut step.a.values);
    let all_b = std::mem::take(&mut step.b.values);
    let (mut half_in, half_out) = (form.half_in, form.half_out);
    let mut accumulator = Vec::new();
    if is_unpacked {
        accumulator = std::mem::replace(&mut step.c.values, vec![0.0; m * n]);
        half_in = half_out;
    }
    let formats = if is_unpacked {
        [Format::F16; 2]
    } else {
        [form.a, form.b]
    };
    for number in 0..steps.count(k) {
        step.a.values.clear();
        step.b.values.clear();
        for row in all_a.chunks_exact(k) {
            let here = row
                .iter()
                .enumerate()
                .filter(|(at, _)| steps.of(*at) == number);
            step.a.values.extend(here.map(|(_, value)| value));
        }
        for (at, line) in all_b.chunks_exact(n).enumerate() {
            if steps.of(at) == number {
                step.b.values.extend(line);
            }
        }
        step.a.split(formats[0]);
        step.b.split(formats[1]);
        let extents = [m, n, step.b.values.len() / n];
        accumulate(step, extents, form.rule, [half_in, half_out]);
        half_in = half_out;
    }
    for (sum, &begun) in step.c.values.iter_mut().zip(&accumulator) {
        *sum = if half_out {
            F16::widen(half::add::<F16>(F16::narrow(*sum), F16::narrow(begun)))
        } else {
            f32::from_bits(single::add::<NEAREST, false, false>(
                sum.to_bits(),
                begun.to_bits(),
            ))
        };
    }
}

/// An accumulator's registers, as f32.
pub(super) fn take_sums(view: &View, c: &Fragment, half: bool, n: usize, out: &mut [f32]) {
    if half {
        halves(view, c, n, out);
    } else {
        pairs(view, c, n, |at, bits: u32| out[at] = f32::from_bits(bits));
    }
}

/// As [`take_sums`], the other way.
pub(super) fn put_sums(view: &View, d: &Fragment, half: bool, n: usize, values: &[f32]) {
    if half {
        put_halves(view, d, n, values);
    } else {
        put_pairs(view, d, n, |at| values[at].to_bits());
    }
}

fn whole(
    view: &View,
    product: &Product,
    [a, b]: [Integer; 2],
    saturates: bool,
    scratch: &mut Whole,
) {
    let [m, n, k] = product.extents;
    scratch.a.resize(m * k, 0);
    scratch.b.resize(k * n, 0);
    scratch.c.resize(m * n, 0);
    let by_line = Pitch { line: k, place: 1 };
    let by_place = Pitch { line: 1, place: n };
    integers(view, &product.a, a, by_line, &mut scratch.a);
    integers(view, &product.b, b, by_place, &mut scratch.b);
    pairs(view, &product.c, n, |at, bits: u32| {
        scratch.c[at] = bits as i32;
    });
    whole_sums(scratch, product.extents, saturates);
    put_pairs(view, &product.d, n, |at| scratch.c[at] as u32);
}

/// `c += a * b`. The products of one instruction add up to less than 2^31.
pub(super) fn whole_sums(scratch: &mut Whole, [m, n, k]: [usize; 3], saturates: bool) {
    let mut sums = vec![0i32; n];
    for row in 0..m {
        sums.fill(0);
        for at in 0..k {
            let a = scratch.a[row * k + at];
            for (sum, &b) in sums.iter_mut().zip(&scratch.b[at * n..][..n]) {
                *sum += a * b;
            }
        }
        for (c, &sum) in scratch.c[row * n..][..n].iter_mut().zip(&sums) {
            *c = if saturates {
                c.saturating_add(sum)
            } else {
                c.wrapping_add(sum)
            };
        }
    }
}

/// Ones in the conjunction or the difference of a row and a column.
fn bits(view: &View, product: &Product, and: bool) {
    let [m, n, k] = product.extents;
    let count = k / 32;
    let (mut a, mut b) = (vec![0u32; m * count], vec![0u32; n * count]);
    let pitch = Pitch {
        line: count,
        place: 1,
    };
    words(view, &product.a, 32, pitch, &mut a);
    words(view, &product.b, 32, pitch, &mut b);
    let mut c = vec![0u32; m * n];
    pairs(view, &product.c, n, |at, bits: u32| c[at] = bits);
    for (at, c) in c.iter_mut().enumerate() {
        let (a, b) = (&a[at / n * count..][..count], &b[at % n * count..][..count]);
        for (&a, &b) in a.iter().zip(b) {
            let both = if and { a & b } else { a ^ b };
            *c = c.wrapping_add(both.count_ones());
        }
    }
    put_pairs(view, &product.d, n, |at| c[at]);
}

/// Fused multiply-adds, one after the other along k.
fn doubles(view: &View, product: &Product, rounding: Rounding) {
    let [m, n, k] = product.extents;
    let (mut a, mut b, mut c) = (vec![0u64; m * k], vec![0u64; n * k], vec![0u64; m * n]);
    let pitch = Pitch { line: k, place: 1 };
    words(view, &product.a, 1, pitch, &mut a);
    words(view, &product.b, 1, pitch, &mut b);
    pairs(view, &product.c, n, |at, bits: u64| c[at] = bits);
    for (at, c) in c.iter_mut().enumerate() {
        let (a, b) = (&a[at / n * k..][..k], &b[at % n * k..][..k]);
        for (&a, &b) in a.iter().zip(b) {
            *c = if rounding == Rounding::Nearest {
                double::fma::<NEAREST>(a, b, *c)
            } else {
                exact::fma(a, b, *c, F64, rounding)
            };
        }
    }
    put_pairs(view, &product.d, n, |at| c[at]);
}
