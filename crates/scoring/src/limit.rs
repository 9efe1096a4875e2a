//! T_SOL: the least time in which a card can do a piece of work.
//!
//! Pipes of one unit take turns, so their times add; units work at the same time, so the largest
//! counts. Memory works beside them. A pipe that the card lacks is replaced by the next that can do
//! the same arithmetic; FP16 without tensor cores is work of the FP32 unit.

use std::collections::BTreeMap;

use domain::report::Bound;

use crate::device::Device;
use crate::pipe::{Cost, Pipe, Unit};

/// The limit of one piece of work on one card, with its derivation.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Time of the busiest unit at its peak, s.
    pub t_compute_s: f64,
    /// Time to move the fused bytes at peak bandwidth, s.
    pub t_memory_s: f64,
    /// The larger of the two, s.
    pub t_sol_s: f64,
    /// Which of the two it is. Equal times count as memory.
    pub bound: Bound,
    /// FLOP per byte; infinite for work that moves nothing, zero for work that computes nothing.
    pub arithmetic_intensity: f64,
    /// The intensity at which both times are equal for this mix of pipes, FLOP per byte. Below it
    /// the work is bound by memory. Zero for work that computes nothing.
    pub ridge: f64,
    /// What was computed on which pipe: FLOP and the peak they were priced at, FLOP/s.
    pub priced: BTreeMap<Pipe, Priced>,
    /// How products of FP32 accuracy were made, where there were any.
    pub fp32_product_pipe: Option<Pipe>,
}

/// FLOP on a pipe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Priced {
    /// Operations executed there. A product of FP32 accuracy executes 3 on TF32, 6 on BF16.
    pub flop: f64,
    /// The pipe's peak.
    pub peak_flop_per_s: f64,
}

/// The limit of `cost` on `device`, at the datasheet's figures.
///
/// Products of FP32 accuracy go to whichever pipe makes the whole work fastest. A pipe that neither
/// the card nor its substitutes offer counts as FP32, which every card has.
#[must_use]
pub fn limit(cost: &Cost, device: &Device) -> Limit {
    let product = cost.fp32_product_flop;
    let ways = FP32_PRODUCT_WAYS
        .iter()
        .filter(|(pipe, _)| device.peak(*pipe).is_some());
    let best = ways
        .map(|(pipe, passes)| {
            let mut flop = cost.flop.clone();
            if product > 0.0 {
                *flop.entry(*pipe).or_default() += passes * product;
            }
            let priced = price(&flop, device);
            (busiest_unit_s(&priced), *pipe, priced)
        })
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let (t_compute_s, pipe, priced) = best.expect("every card has an FP32 pipe; a test says so");
    let t_memory_s = cost.fused_bytes as f64 / device.peak_bytes_per_s;
    let flop = cost.total_flop();
    Limit {
        t_compute_s,
        t_memory_s,
        t_sol_s: t_compute_s.max(t_memory_s),
        bound: if t_compute_s > t_memory_s {
            Bound::Compute
        } else {
            Bound::Memory
        },
        arithmetic_intensity: ratio(flop, cost.fused_bytes as f64),
        ridge: ratio(flop, t_compute_s * device.peak_bytes_per_s),
        priced,
        fp32_product_pipe: (product > 0.0).then_some(pipe),
    }
}

/// The legal ways to a product of FP32 accuracy, with the products each takes.
const FP32_PRODUCT_WAYS: [(Pipe, f64); 3] =
    [(Pipe::Fp32, 1.0), (Pipe::Tf32, 3.0), (Pipe::Bf16, 6.0)];

/// The pipes that can do the arithmetic of `pipe`, the pipe itself first.
fn substitutes(pipe: Pipe) -> &'static [Pipe] {
    match pipe {
        Pipe::Fp32 => &[Pipe::Fp32],
        Pipe::Tf32 => &[Pipe::Tf32, Pipe::Fp32],
        Pipe::Bf16 => &[Pipe::Bf16, Pipe::Fp32],
        Pipe::Fp16 => &[Pipe::Fp16, Pipe::Fp32],
        Pipe::Fp16Acc16 => &[Pipe::Fp16Acc16, Pipe::Fp16, Pipe::Fp32],
        Pipe::Fp8 => &[Pipe::Fp8, Pipe::Fp16, Pipe::Bf16, Pipe::Fp32],
        Pipe::Int8 => &[Pipe::Int8, Pipe::Fp32],
        Pipe::Fp64 => &[Pipe::Fp64, Pipe::Fp32],
        Pipe::Fp64Tensor => &[Pipe::Fp64Tensor, Pipe::Fp64, Pipe::Fp32],
    }
}

fn price(flop: &BTreeMap<Pipe, f64>, device: &Device) -> BTreeMap<Pipe, Priced> {
    let mut priced: BTreeMap<Pipe, Priced> = BTreeMap::new();
    for (wanted, flop) in flop {
        let offered = substitutes(*wanted)
            .iter()
            .find_map(|pipe| device.peak(*pipe).map(|peak| (*pipe, peak)));
        let (pipe, peak_flop_per_s) = offered.expect("every card has an FP32 pipe");
        let entry = priced.entry(pipe).or_insert(Priced {
            flop: 0.0,
            peak_flop_per_s,
        });
        entry.flop += flop;
    }
    priced
}

fn busiest_unit_s(priced: &BTreeMap<Pipe, Priced>) -> f64 {
    let mut units: BTreeMap<Unit, f64> = BTreeMap::new();
    for (pipe, work) in priced {
        *units.entry(pipe.unit()).or_default() += work.flop / work.peak_flop_per_s;
    }
    units.into_values().fold(0.0, f64::max)
}

/// `a / b`, where nothing over nothing is nothing.
fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a / b }
}

#[cfg(test)]
mod tests {
    use domain::DeviceName;

    use super::*;
    use crate::device::device;

    fn cost(flop: &[(Pipe, f64)], fused_bytes: u64) -> Cost {
        Cost {
            flop: flop.iter().copied().collect(),
            fp32_product_flop: 0.0,
            fused_bytes,
        }
    }

    fn close(actual: f64, expected: f64) {
        assert!(
            (actual / expected - 1.0).abs() < 1e-6,
            "{actual} is not {expected}"
        );
    }

    #[test]
    fn gemm_4096_in_bf16_on_an_h200() {
        // 2 * 4096^3 = 137 438 953 472 FLOP at 989 TFLOP/s = 138.967597 us.
        // 3 * 4096^2 * 2 = 100 663 296 bytes at 4.8 TB/s = 20.97152 us.
        let gemm = cost(&[(Pipe::Bf16, 137_438_953_472.0)], 100_663_296);
        let limit = limit(&gemm, device(DeviceName::H200));
        close(limit.t_compute_s, 1.389_675_97e-4);
        close(limit.t_memory_s, 2.097_152e-5);
        close(limit.t_sol_s, 1.389_675_97e-4);
        assert_eq!(limit.bound, Bound::Compute);
        // AI = 137438953472 / 100663296 = 1365.333; ridge = 989e12 / 4.8e12 = 206.0417.
        close(limit.arithmetic_intensity, 1_365.333_333);
        close(limit.ridge, 206.041_667);
    }

    #[test]
    fn copy_of_one_gibibyte_on_an_h200() {
        // 2^30 bytes read and 2^30 written: 2 147 483 648 / 4.8e12 = 447.392427 us.
        let limit = limit(&cost(&[], 2 << 30), device(DeviceName::H200));
        close(limit.t_sol_s, 4.473_924_27e-4);
        assert_eq!(limit.t_compute_s, 0.0);
        assert_eq!(limit.bound, Bound::Memory);
        assert_eq!((limit.arithmetic_intensity, limit.ridge), (0.0, 0.0));
    }

    #[test]
    fn the_published_example_on_a_b200_at_a_locked_clock() {
        // 603 751 MAC/cycle * 2 * 1.5 GHz = 1.811253 PFLOP/s; 5111.6 B/cycle * 1.5 GHz = 7.6674 TB/s.
        let mut b200 = device(DeviceName::B200).clone();
        b200.peak_flop_per_s
            .insert(Pipe::Bf16, 603_751.0 * 2.0 * 1.5e9);
        b200.peak_bytes_per_s = 5111.6 * 1.5e9;
        // (16, 512, 2560) x (2560, 2560): 2 * 8192 * 2560 * 2560 = 107.374182 GFLOP; 126 MB.
        let matmul = cost(&[(Pipe::Bf16, 2.0 * 8192.0 * 2560.0 * 2560.0)], 126_000_000);
        let limit = limit(&matmul, &b200);
        // 107.374182e9 / 1.811253e15 = 59.2817 us, the printed 0.0593 ms; memory 16.4332 us.
        close(limit.t_sol_s, 5.928_171_4e-5);
        assert!((limit.t_sol_s * 1e3 - 0.0593).abs() < 5e-5);
        assert!((limit.t_memory_s - 16.4332e-6).abs() < 1e-9);
        assert_eq!(limit.bound, Bound::Compute);
    }

    #[test]
    fn vector_add_is_bound_by_memory() {
        // AI = N / 12 N = 0.08333; ridge of fp32 on an H200 = 66.9 / 4.8 = 13.9375.
        let limit = limit(
            &cost(&[(Pipe::Fp32, 1e8)], 1_200_000_000),
            device(DeviceName::H200),
        );
        close(limit.arithmetic_intensity, 1.0 / 12.0);
        close(limit.ridge, 13.9375);
        close(limit.t_sol_s, 250e-6);
        assert_eq!(limit.bound, Bound::Memory);
    }

    #[test]
    fn intensity_against_the_ridge_decides_the_bound() {
        let h200 = device(DeviceName::H200);
        // The ridge of bf16 is 206.04: one side of it and the other.
        for (intensity, bound) in [(206.0, Bound::Memory), (206.1, Bound::Compute)] {
            let work = cost(&[(Pipe::Bf16, intensity * 1e9)], 1_000_000_000);
            let limit = limit(&work, h200);
            assert_eq!(limit.bound, bound, "{intensity}");
            assert_eq!(
                limit.arithmetic_intensity > limit.ridge,
                bound == Bound::Compute
            );
        }
    }

    #[test]
    fn tensor_pipes_add_and_units_overlap() {
        let h200 = device(DeviceName::H200);
        // Tensor: 989e9 bf16 (1 ms) + 1979e9 fp8 (1 ms) + 67e9 fp64_tensor (1 ms) = 3 ms.
        let tensor = [
            (Pipe::Bf16, 989e9),
            (Pipe::Fp8, 1979e9),
            (Pipe::Fp64Tensor, 67e9),
        ];
        close(limit(&cost(&tensor, 0), h200).t_compute_s, 3e-3);
        // fp32 for 2 ms and fp64 for 2.5 ms beside it change nothing; 4 ms of fp32 do.
        let beside = |fp32| {
            let mut all = tensor.to_vec();
            all.extend([(Pipe::Fp32, fp32), (Pipe::Fp64, 2.5 * 33.5e9)]);
            limit(&cost(&all, 0), h200).t_compute_s
        };
        close(beside(2.0 * 66.9e9), 3e-3);
        close(beside(4.0 * 66.9e9), 4e-3);
    }

    #[test]
    fn fp32_products_take_the_fastest_legal_way() {
        let product = Cost {
            fp32_product_flop: 137_438_953_472.0,
            ..Cost::default()
        };
        // H200: fp32 66.9, tf32 / 3 = 165, bf16 / 6 = 164.83 TFLOP/s: three TF32 products.
        // 3 * 137438953472 / 495e12 = 832.963 us.
        let h200 = limit(&product, device(DeviceName::H200));
        assert_eq!(h200.fp32_product_pipe, Some(Pipe::Tf32));
        close(h200.t_compute_s, 8.329_633_5e-4);
        // The ridge uses the effective peak of 165 TFLOP/s.
        close(h200.ridge, 165e12 / 4.8e12);
        // A100: 19.5 against 52 and 52 TFLOP/s.
        let a100 = limit(&product, device(DeviceName::A100_80gb));
        close(a100.t_compute_s, 137_438_953_472.0 / 52e12);
        // RTX 4090: fp32 82.6 against 27.5 and 27.5: directly.
        let rtx4090 = limit(&product, device(DeviceName::Rtx4090));
        assert_eq!(rtx4090.fp32_product_pipe, Some(Pipe::Fp32));
        close(rtx4090.t_compute_s, 137_438_953_472.0 / 82.6e12);
        // T4 has neither TF32 nor BF16.
        let t4 = limit(&product, device(DeviceName::T4));
        assert_eq!(t4.fp32_product_pipe, Some(Pipe::Fp32));
    }

    #[test]
    fn the_fastest_way_counts_what_the_units_do_already() {
        // The tensor cores are busy for 10 ms; 66.9e9 of FP32 product take 1 ms beside them.
        let work = Cost {
            flop: BTreeMap::from([(Pipe::Bf16, 9890e9)]),
            fp32_product_flop: 66.9e9,
            fused_bytes: 0,
        };
        let limit = limit(&work, device(DeviceName::H200));
        assert_eq!(limit.fp32_product_pipe, Some(Pipe::Fp32));
        close(limit.t_compute_s, 10e-3);
    }

    #[test]
    fn a_missing_pipe_is_replaced_and_told() {
        let t4 = device(DeviceName::T4);
        // BF16 on a T4 is FP32 work: 8.1e9 take 1 ms, and add to FP32 work of the same unit.
        let bf16 = limit(&cost(&[(Pipe::Bf16, 8.1e9), (Pipe::Fp32, 8.1e9)], 0), t4);
        close(bf16.t_compute_s, 2e-3);
        assert_eq!(bf16.priced.keys().collect::<Vec<_>>(), [&Pipe::Fp32]);
        // FP8 on an A100 runs as FP16; FP64 on tensor cores of an L4 as plain FP64.
        let fp8 = limit(
            &cost(&[(Pipe::Fp8, 312e9)], 0),
            device(DeviceName::A100_40gb),
        );
        close(fp8.t_compute_s, 1e-3);
        let fp64 = limit(
            &cost(&[(Pipe::Fp64Tensor, 0.47e9)], 0),
            device(DeviceName::L4),
        );
        close(fp64.t_compute_s, 1e-3);
    }

    #[test]
    fn fp16_without_tensor_cores_counts_as_fp32() {
        let mut bare = device(DeviceName::H200).clone();
        bare.peak_flop_per_s.remove(&Pipe::Fp16);
        let work = cost(&[(Pipe::Fp16, 66.9e9), (Pipe::Fp32, 66.9e9)], 0);
        close(limit(&work, &bare).t_compute_s, 2e-3);
        assert!(crate::device::devices().all(|d| d.peak(Pipe::Fp32).is_some()));
    }

    #[test]
    fn nothing_takes_no_time() {
        let nothing = limit(&Cost::default(), device(DeviceName::H200));
        assert_eq!((nothing.t_sol_s, nothing.arithmetic_intensity), (0.0, 0.0));
    }
}
