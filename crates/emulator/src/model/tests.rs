//! Terms against values worked out by hand.

use super::*;

const BLOCK: Occupancy = Occupancy {
    block_threads: 256,
    registers: 32,
    shared_bytes: 0,
};

fn close(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < 1e-12, "{a} and {b}");
}

/// 264 blocks of 256 threads: two on each multiprocessor, all of them at once.
fn launch() -> Counters {
    Counters {
        blocks: 264,
        warps: 2112,
        warp_instructions: 2112 * 1000,
        warp_cycles: 2112 * 900,
        warp_waits: 2112 * 10,
        longest_warp_cycles: 1000,
        longest_warp_waits: 12,
        global_requests: 2112 * 10,
        global_load_sectors: 2112 * 40,
        // A quarter of what is loaded, for the first time.
        first_read_bytes: 2112 * 320,
        shared_requests: 2112 * 20,
        shared_wavefronts: 2112 * 640,
        memory_instructions: 2112 * 30,
        f32_instructions: 2112 * 500,
        special_instructions: 2112 * 100,
        ..Counters::default()
    }
}

#[test]
fn terms_by_hand() {
    let found = estimate(&launch(), &BLOCK, &H200, false).unwrap();
    close(found.term_s(Term::Dram), 2112.0 * 320.0 / 4.3e12);
    close(found.term_s(Term::L2), 2112.0 * 40.0 * 32.0 / 8.0e12);
    // 16 warps on each multiprocessor.
    close(found.term_s(Term::Issue), 16.0 * 1000.0 / 4.0 / 1.98e9);
    close(found.term_s(Term::Shared), 16.0 * 640.0 / 1.98e9);
    // 100 approximate functions at half an instruction a cycle: more than 370 others at 2.
    close(found.term_s(Term::Pipe), 16.0 * 100.0 / 0.5 / 1.98e9);
    // The first load takes 800 cycles. Of the others a quarter does, and the rest 270: 402.5.
    let chain = 1000.0 + 800.0 + 11.0 * 402.5;
    close(found.term_s(Term::Latency), chain / 1.98e9);
    // Shared memory takes 10 240 cycles once the first data are there, the longest warp 6 227.5.
    assert_eq!(found.limit(), Term::Shared);
    close(found.seconds, 0.6e-6 + (800.0 + 10_240.0) / 1.98e9);
    let second = estimate(&launch(), &BLOCK, &H200, true).unwrap();
    close(second.seconds, found.seconds + 0.2e-6);
}

/// 1320 blocks of 1024 threads that fit twice: five waves.
#[test]
fn further_waves_take_a_mean_warp_each() {
    let counters = Counters {
        blocks: 1320,
        warps: 1320 * 32,
        warp_cycles: 1320 * 32 * 200,
        longest_warp_cycles: 1000,
        ..Counters::default()
    };
    let large = Occupancy {
        block_threads: 1024,
        ..BLOCK
    };
    let found = estimate(&counters, &large, &H200, false).unwrap();
    close(found.term_s(Term::Latency), (1000.0 + 4.0 * 200.0) / 1.98e9);
    close(found.seconds, 0.6e-6 + 1800.0 / 1.98e9);
}

#[test]
fn tensor_cores_work_at_the_rates_of_the_data_sheet() {
    let all = |counters: Counters| {
        let counters = Counters {
            blocks: 132,
            ..counters
        };
        let found = estimate(&counters, &BLOCK, &H200, false).unwrap();
        found.term_s(Term::Tensor)
    };
    let flop = 989_400_000;
    let of = |set: fn(&mut Counters, u64)| {
        let mut counters = Counters::default();
        set(&mut counters, flop);
        all(counters)
    };
    close(of(|c, flop| c.flop_tensor_f16 = flop), 1e-6);
    close(of(|c, flop| c.flop_tensor_tf32 = flop), 2e-6);
    close(
        of(|c, flop| c.flop_tensor_fp8 = flop),
        989.4 / 1978.9 * 1e-6,
    );
    close(
        of(|c, flop| c.flop_tensor_int8 = flop),
        989.4 / 1978.9 * 1e-6,
    );
    close(of(|c, flop| c.flop_tensor_f64 = flop), 989.4 / 66.9 * 1e-6);
    let two = all(Counters {
        flop_tensor_f16: flop,
        flop_tensor_tf32: flop,
        ..Counters::default()
    });
    close(two, 3e-6);
}

/// One block has one multiprocessor's tensor cores, issue slots and way to L2.
#[test]
fn a_small_grid_leaves_the_rest_idle() {
    let counters = Counters {
        blocks: 1,
        warps: 1,
        flop_tensor_f16: 989_400_000,
        global_load_sectors: 3_960,
        ..Counters::default()
    };
    let found = estimate(&counters, &BLOCK, &H200, false).unwrap();
    close(found.term_s(Term::Tensor), 132e-6);
    // 64 bytes a cycle.
    close(found.term_s(Term::L2), 1e-6);
}

/// 133 blocks take two rounds, as 264 do.
#[test]
fn the_last_round_counts_whole() {
    let shared_s = |blocks: u64| {
        let counters = Counters {
            blocks,
            shared_wavefronts: blocks * 1000,
            ..Counters::default()
        };
        let found = estimate(&counters, &BLOCK, &H200, false).unwrap();
        found.term_s(Term::Shared)
    };
    close(shared_s(132), 1000.0 / 1.98e9);
    close(shared_s(133), 2000.0 / 1.98e9);
    close(shared_s(264), 2000.0 / 1.98e9);
}

#[test]
fn atomics_on_one_sector_do_not_spread() {
    let counters = Counters {
        blocks: 132,
        atomics: 4224,
        atomic_passes: 4224,
        atomic_passes_per_sector: 4224,
        ..Counters::default()
    };
    let found = estimate(&counters, &BLOCK, &H200, false).unwrap();
    close(found.term_s(Term::Atomics), 4224.0 * 2.0 / 1.98e9);
}

#[test]
fn a_block_that_fits_nowhere_has_no_time() {
    let asked = Occupancy {
        block_threads: 1024,
        registers: 255,
        shared_bytes: 0,
    };
    let counters = Counters {
        blocks: 1,
        ..Counters::default()
    };
    assert_eq!(estimate(&counters, &asked, &H200, false), None);
}

/// 8.6 MB, read and written: two microseconds of DRAM, a latency and a launch.
#[test]
fn a_transfer_moves_its_bytes_once() {
    let found = estimate_transfer(8_600_000, &H200, false);
    close(found.seconds, 0.6e-6 + 800.0 / 1.98e9 + 2e-6);
    assert_eq!(found.limit(), Term::Dram);
}
