//! Clusters, calls through pointers and the heap of device code, as NVRTC compiles them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::result_large_err, reason = "a fault is built once")]

mod common;

use common::{Arguments, Device, module};
use emulator::{Fault, FaultKind, Launch, Limits, Outcome, launch};

const TILES: &str = include_str!("fixtures/tiles.ptx");
const POINTERS: &str = include_str!("fixtures/pointers.ptx");

/// A launch of `grid` blocks along x, in clusters of `cluster`.
fn launch_clusters(
    device: &mut Device,
    kernel: &str,
    (grid, block): (u32, u32),
    cluster: [u32; 3],
    arguments: &Arguments,
    threads: usize,
) -> Result<Outcome, Fault> {
    let launched = Launch {
        kernel,
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        cluster,
        dynamic_shared_bytes: 0,
        parameters: arguments.bytes(),
    };
    let limits = Limits {
        threads,
        ..Limits::default()
    };
    launch(&device.loaded, &launched, &mut device.memory, &limits)
}

#[test]
fn a_cluster_sums_through_its_shared_memory() {
    let mut device = Device::new(TILES);
    let values: Vec<u32> = (0..8 * 64).map(|at| at * at % 97).collect();
    let x = device.words("x", &values);
    let sums = device.words("sums", &[0; 2]);
    let arguments = Arguments::new().pointer(x).pointer(sums);
    // The kernel's own __cluster_dims__ hold where the launch names none.
    launch_clusters(&mut device, "cluster_sum", (8, 64), [1; 3], &arguments, 2).unwrap();
    let expected = [
        values[..256].iter().sum(),
        values[256..].iter().sum::<u32>(),
    ];
    assert_eq!(device.read_words(sums, 2), expected);
}

#[test]
fn blocks_of_a_cluster_update_one_another() {
    let mut device = Device::new(TILES);
    let out = device.words("out", &[0; 6]);
    let arguments = Arguments::new().pointer(out);
    launch_clusters(&mut device, "ring", (6, 32), [3, 1, 1], &arguments, 2).unwrap();
    // 32 threads of the block before add its rank plus one.
    assert_eq!(device.read_words(out, 6), [96, 32, 64, 96, 32, 64]);
}

#[test]
fn clusters_that_cannot_be_launched_are_told() {
    let mut device = Device::new(TILES);
    let out = device.words("out", &[0; 64]);
    let arguments = Arguments::new().pointer(out).pointer(out);
    let mut message = |kernel, grid, cluster| {
        let fault = launch_clusters(&mut device, kernel, (grid, 32), cluster, &arguments, 1);
        let fault = fault.unwrap_err();
        assert_eq!(fault.kind, FaultKind::BadLaunch);
        fault.message
    };
    assert_eq!(
        message("ring", 6, [4, 1, 1]),
        "a grid of (6,1,1) blocks does not consist of whole clusters of (4,1,1)"
    );
    assert_eq!(
        message("cluster_sum", 8, [2, 1, 1]),
        "the kernel's __cluster_dims__ are (4,1,1), and the launch asks for (2,1,1)"
    );
    assert_eq!(
        message("ring", 32, [32, 1, 1]),
        "a cluster of (32,1,1) blocks cannot be launched; 16 blocks are the most"
    );
}

/// One block of two leaves at once; the other then does `body` with the address of that block's
/// variable `s` in `%r1`.
fn peer(body: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .u64 k_param_0)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .shared .align 8 .b8 s[64];
    ld.param.u64 %rd1, [k_param_0];
    mov.u32 %r2, %cluster_ctarank;
    mov.u32 %r3, s;
    xor.b32 %r4, %r2, 1;
    mapa.shared::cluster.u32 %r1, %r3, %r4;
    setp.eq.u32 %p1, %r2, 1;
{body}
    ret;
}}
"
    ))
}

fn run_peer(body: &str) -> (Result<Outcome, Fault>, Vec<u32>) {
    let mut device = Device::new(&peer(body));
    let x = device.words("x", &[0; 4]);
    let arguments = Arguments::new().pointer(x);
    let outcome = launch_clusters(&mut device, "k", (2, 1), [2, 1, 1], &arguments, 1);
    (outcome, device.read_words(x, 4))
}

#[test]
fn shared_memory_of_a_block_that_has_exited_cannot_be_reached() {
    let (outcome, _) = run_peer(
        "    @!%p1 bra END;
    nanosleep.u32 100;
    ld.shared::cluster.u32 %r5, [%r1];
END:",
    );
    assert_eq!(
        outcome.unwrap_err().message,
        "thread (0,0,0) of block (1,0,0) reads shared memory of block (0,0,0) of its cluster, \
         all of whose threads have exited"
    );
}

#[test]
fn special_registers_and_address_mappings_of_a_cluster() {
    let (outcome, words) = run_peer(
        "    mov.u32 %r5, %cluster_nctarank;
    getctarank.shared::cluster.u32 %r6, %r1;
    mad.lo.u32 %r5, %r6, 10, %r5;
    getctarank.shared::cluster.u32 %r6, %r3;
    mad.lo.u32 %r5, %r6, 100, %r5;
    mov.u32 %r6, %nclusterid.x;
    mad.lo.u32 %r5, %r6, 1000, %r5;
    mov.pred %p2, %is_explicit_cluster;
    selp.u32 %r6, 10000, 0, %p2;
    add.u32 %r5, %r5, %r6;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd2, %rd1, %rd2;
    st.global.u32 [%rd2], %r5;",
    );
    outcome.unwrap();
    assert_eq!(words[..2], [11012, 11102]);
}

#[test]
fn elements_sent_to_another_block_are_told_to_its_barrier() {
    // Rank 0 sends three words, rank 1 waits for their 16 bytes and stores two of them.
    let (outcome, words) = run_peer(
        "    @!%p1 bra READY;
    mbarrier.init.shared.b64 [s], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [s], 16;
READY:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    @%p1 bra WAIT;
    mov.u32 %r5, 7;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1+16], {%r5, 8}, [%r1];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1+20], 5, [%r1];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.s32 [%r1+16], %r5, [%r1];
    bra LEAVE;
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [s], 0;
    @!%p2 bra WAIT;
    ld.shared.v2.u32 {%r5, %r6}, [s+16];
    st.global.v2.u32 [%rd1], {%r5, %r6};
LEAVE:
    barrier.cluster.arrive;
    barrier.cluster.wait;",
    );
    outcome.unwrap();
    assert_eq!(words, [7, 13, 0, 0]);
}

#[test]
fn a_multicast_reaches_every_block_of_its_mask() {
    let body = "    mbarrier.init.shared.b64 [s], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [s], 16;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    @%p1 bra WAIT;
    mov.u16 %h, 3;
    mov.u32 %r5, s;
    add.u32 %r6, %r5, 16;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r6], [%rd1], 16, [%r5], %h;
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [s], 0;
    @!%p2 bra WAIT;
    ld.shared.u32 %r5, [s+24];
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd2, %rd1, %rd2;
    add.u32 %r5, %r5, %r2;
    st.global.u32 [%rd2], %r5;";
    let body = format!("    .reg .b16 %h;\n{body}");
    let mut device = Device::new(&peer(&body));
    let x = device.words("x", &[1, 2, 30, 4]);
    let arguments = Arguments::new().pointer(x);
    launch_clusters(&mut device, "k", (2, 1), [2, 1, 1], &arguments, 1).unwrap();
    assert_eq!(device.read_words(x, 4), [30, 31, 30, 4]);
}

#[test]
fn threads_call_what_a_table_of_functions_holds() {
    let mut device = Device::new(POINTERS);
    let which: Vec<u32> = (0..32).map(|t| t * 7 % 3).collect();
    let kinds = device.words("which", &which);
    let out = device.words("out", &[0; 32]);
    let arguments = Arguments::new().pointer(kinds).pointer(out);
    device
        .launch("by_table", [1, 1, 1], [32, 1, 1], &arguments)
        .unwrap();
    let expected: Vec<u32> = (0..32u32)
        .map(|t| match which[t as usize] {
            0 => t + 3,
            1 => t.wrapping_sub(3),
            _ => t * 3,
        })
        .collect();
    assert_eq!(device.read_words(out, 32), expected);
}

#[test]
fn a_table_entry_that_is_no_function_is_a_fault() {
    let mut device = Device::new(POINTERS);
    let kinds = device.words("which", &[0]);
    let out = device.words("out", &[0]);
    let (table, _) = device.loaded.global("table").unwrap();
    device
        .memory
        .write(table, &0x1234u64.to_le_bytes())
        .unwrap();
    let arguments = Arguments::new().pointer(kinds).pointer(out);
    let fault = device
        .launch("by_table", [1, 1, 1], [1, 1, 1], &arguments)
        .unwrap_err();
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) calls 0x1234, which is no function of the kernel's module"
    );
}

#[test]
fn virtual_functions_of_objects_made_on_the_device() {
    let mut device = Device::new(POINTERS);
    let out = device.words("out", &[0; 40]);
    let arguments = Arguments::new().pointer(out);
    device
        .launch("areas", [1, 1, 1], [40, 1, 1], &arguments)
        .unwrap();
    let expected: Vec<u32> = (0..40)
        .map(|t| if t % 3 == 0 { t * t } else { 2 * t })
        .collect();
    assert_eq!(device.read_words(out, 40), expected);
    assert_eq!(device.memory.device_heap(), (0, 0));
}

#[test]
fn the_heap_outlives_a_launch_and_tells_what_was_freed() {
    let mut device = Device::new(POINTERS);
    let out = device.words("out", &[0; 2]);
    device
        .launch("build", [1, 1, 1], [1, 1, 1], &Arguments::new().int(5))
        .unwrap();
    assert_eq!(device.memory.device_heap(), (5, 80));
    let mut total = |frees| {
        let arguments = Arguments::new().pointer(out).int(frees);
        let outcome = device.launch("total", [1, 1, 1], [1, 1, 1], &arguments);
        (
            outcome,
            device.read_words(out, 1)[0],
            device.memory.device_heap(),
        )
    };
    let (outcome, sum, heap) = total(0);
    assert_eq!((outcome.is_ok(), sum, heap), (true, 10, (5, 80)));
    let (outcome, _, heap) = total(2);
    let fault = outcome.unwrap_err();
    assert_eq!(fault.kind, FaultKind::UseAfterFree);
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) reads 4 bytes at offset 0 of `memory from malloc` after it was freed"
    );
    assert_eq!(heap, (0, 0));
    let (outcome, _, _) = total(1);
    assert_eq!(outcome.unwrap_err().kind, FaultKind::UseAfterFree);
}

#[test]
fn a_full_heap_gives_null() {
    let mut device = Device::new(POINTERS);
    let out = device.words("out", &[1; 2]);
    let arguments = Arguments::new().pointer(out);
    device
        .launch("too_much", [1, 1, 1], [1, 1, 1], &arguments)
        .unwrap();
    assert_eq!(device.read_words(out, 2), [0, 0]);
}

/// One warp arrives and leaves for good; the third comes late and writes before it arrives.
#[test]
fn threads_that_arrived_and_exited_do_not_open_a_barrier_for_others() {
    let text = module(
        ".visible .entry k(.param .u64 k_param_0)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .shared .align 8 .b8 s[64];
    ld.param.u64 %rd1, [k_param_0];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 32;
    @!%p1 bra STAY;
    barrier.cluster.arrive;
    ret;
STAY:
    setp.lt.u32 %p1, %r1, 64;
    @%p1 bra WAIT;
    st.shared.u32 [s], 7;
WAIT:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ld.shared.u32 %r2, [s];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd2, %rd1, %rd2;
    st.global.u32 [%rd2], %r2;
    ret;
}
",
    );
    let mut device = Device::new(&text);
    let x = device.words("x", &[0; 96]);
    let arguments = Arguments::new().pointer(x);
    launch_clusters(&mut device, "k", (1, 96), [1, 1, 1], &arguments, 1).unwrap();
    let mut expected = [7; 96];
    expected[..32].fill(0);
    assert_eq!(device.read_words(x, 96), expected);
}
