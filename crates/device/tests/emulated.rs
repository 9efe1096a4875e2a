//! The emulated backend through the `Device` trait: what the host function moves is counted and checked.

#![allow(clippy::unwrap_used)] // a step that fails fails the test

mod limits;

use device::emulated::Settings;
use device::{
    Address, Argument, Bounds, BufferId, Checking, Device, DeviceError, EmulatedDevice, LaunchSpec,
    ModuleImage, Operation, Span,
};
use domain::VerdictKind;

fn device() -> EmulatedDevice {
    EmulatedDevice::new(Settings {
        limits: limits::h200(),
        memory_limit_bytes: 1 << 20,
        instruction_fuel: 1000,
    })
}

fn at(buffer: BufferId, offset_bytes: i64) -> Address {
    Address::Buffer {
        buffer,
        offset_bytes,
    }
}

fn run(device: &mut EmulatedDevice, operations: &[Operation]) -> Result<Span, DeviceError> {
    let stream = device.stream().unwrap();
    device.run(stream, operations)
}

fn sectors(span: &Span) -> (u64, u64) {
    let counters = span.counters.as_ref().unwrap();
    (counters.global_load_sectors, counters.global_store_sectors)
}

#[test]
fn a_copy_moves_its_sectors_on_both_sides() {
    let mut device = device();
    let from = device.allocate(1024, "from").unwrap();
    let to = device.allocate(1024, "to").unwrap();
    device.write(from, &[7; 1024]).unwrap();
    let copy = Operation::Copy {
        destination: at(to, 0),
        source: at(from, 0),
        bytes: 1024,
    };
    assert_eq!(sectors(&run(&mut device, &[copy]).unwrap()), (32, 32));
    assert_eq!(device.read(to).unwrap(), [7; 1024]);
}

#[test]
fn four_bytes_across_a_sector_boundary_move_two_sectors() {
    let mut device = device();
    let from = device.allocate(64, "from").unwrap();
    let to = device.allocate(64, "to").unwrap();
    let copy = Operation::Copy {
        destination: at(to, 0),
        source: at(from, 30),
        bytes: 4,
    };
    assert_eq!(sectors(&run(&mut device, &[copy]).unwrap()), (2, 1));
}

#[test]
fn memset_and_upload_count_what_they_write() {
    let mut device = device();
    let buffer = device.allocate(256, "buffer").unwrap();
    let operations = [
        Operation::Memset {
            destination: at(buffer, 0),
            value: 1,
            bytes: 256,
        },
        Operation::Upload {
            destination: at(buffer, 32),
            data: vec![9; 32],
        },
    ];
    assert_eq!(sectors(&run(&mut device, &operations).unwrap()), (0, 8 + 1));
    assert_eq!(device.read(buffer).unwrap()[31..34], [1, 9, 9]);
}

#[test]
fn a_copy_past_the_end_names_the_buffer() {
    let mut device = device();
    let buffer = device.allocate(16, "C").unwrap();
    let memset = Operation::Memset {
        destination: at(buffer, 8),
        value: 0,
        bytes: 16,
    };
    let Err(DeviceError::Fault(fault)) = run(&mut device, &[memset]) else {
        panic!("it must fault");
    };
    assert_eq!(fault.kind, VerdictKind::OutOfBounds);
    assert!(
        fault.message.contains("`C`, which has 16 bytes"),
        "{}",
        fault.message
    );
}

#[test]
fn memory_freed_in_the_middle_is_gone_for_what_follows() {
    let mut device = device();
    let buffer = device.allocate(64, "scratch").unwrap();
    let memset = Operation::Memset {
        destination: at(buffer, 0),
        value: 0,
        bytes: 64,
    };
    let operations = [memset.clone(), Operation::Free(buffer), memset];
    let Err(DeviceError::Fault(fault)) = run(&mut device, &operations) else {
        panic!("it must fault");
    };
    assert_eq!(fault.kind, VerdictKind::UseAfterFree);
    device.free(buffer).unwrap(); // a second time does nothing
}

#[test]
fn more_memory_than_there_is_names_both_sizes() {
    let mut device = device();
    device.allocate(1 << 19, "half").unwrap();
    let refused = device.allocate(1 << 20, "too much").unwrap_err();
    let expected = DeviceError::OutOfMemory {
        requested_bytes: 1 << 20,
        available_bytes: 1 << 19,
    };
    assert_eq!(refused, expected);
}

#[test]
fn blocks_of_a_launch_with_clusters_know_their_rank() {
    const PTX: &str = "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x)
{
\t.reg .b32 %r<5>;
\t.reg .b64 %rd<4>;
\tld.param.u64 %rd1, [x];
\tmov.u32 %r1, %cluster_ctarank;
\tmov.u32 %r2, %cluster_nctarank;
\tmad.lo.u32 %r3, %r2, 10, %r1;
\tmov.u32 %r4, %ctaid.x;
\tmul.wide.u32 %rd2, %r4, 4;
\tadd.u64 %rd3, %rd1, %rd2;
\tst.global.u32 [%rd3], %r3;
\tret;
}
";
    let mut device = device();
    let image = ModuleImage {
        ptx: PTX,
        cubin: &[],
    };
    let module = device.load(image).unwrap();
    let x = device.allocate(16, "x").unwrap();
    let launch = |cluster| {
        Operation::Launch(LaunchSpec {
            module,
            kernel: "k".to_owned(),
            grid: [4, 1, 1],
            block: [1, 1, 1],
            cluster,
            cooperative: false,
            dynamic_shared_bytes: 0,
            arguments: vec![Argument::Pointer(at(x, 0))],
        })
    };
    for (cluster, expected) in [
        (None, [10, 10, 10, 10]),
        (Some([1, 1, 1]), [10, 10, 10, 10]),
        (Some([2, 1, 1]), [20, 21, 20, 21]),
        (Some([4, 1, 1]), [40, 41, 42, 43]),
    ] {
        run(&mut device, &[launch(cluster)]).unwrap();
        let bytes = device.read(x).unwrap();
        let ranks: Vec<u8> = bytes.iter().step_by(4).copied().collect();
        assert_eq!(ranks, expected);
    }
    let refused = run(&mut device, &[launch(Some([3, 1, 1]))]).unwrap_err();
    assert!(
        refused.to_string().contains("whole clusters of (3,1,1)"),
        "{refused}"
    );
}

#[test]
fn counters_go_on_over_the_segments_of_a_span_and_end_with_it() {
    let mut device = device();
    let stream = device.stream().unwrap();
    let (a, b) = (
        device.allocate(1024, "a").unwrap(),
        device.allocate(1024, "b").unwrap(),
    );
    let copy = Operation::Copy {
        destination: at(b, 0),
        source: at(a, 0),
        bytes: 1024,
    };
    device.begin_span(stream, true).unwrap();
    device.issue(stream, std::slice::from_ref(&copy)).unwrap();
    let mut read = [1; 64];
    device.fetch(stream, at(b, 512), &mut read).unwrap();
    assert_eq!(read, [0; 64]);
    device.issue(stream, std::slice::from_ref(&copy)).unwrap();
    let span = device.end_span(stream).unwrap();
    // Two copies of 32 sectors, and a read-back of two.
    assert_eq!(sectors(&span), (66, 64));
    assert_eq!(span.duration, None);
    let alone = run(&mut device, &[copy]).unwrap();
    assert_eq!(sectors(&alone), (32, 32));
    let past = device.fetch(stream, at(b, 1000), &mut read);
    assert!(past.is_err(), "no span is under way");
}

/// Each thread stores, then thread 0 of each warp reads what another thread stored.
const HANDED_ON: &str = ".version 9.5\n.target sm_90a\n.address_size 64\n
.visible .entry k(.param .u64 p)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    .shared .align 4 .b8 s[256];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, s;
    mad.lo.u32 %r3, %r1, 4, %r2;
    .loc 1 7 0
    st.shared.u32 [%r3], %r1;
    BARRIER
    xor.b32 %r4, %r1, 32;
    mad.lo.u32 %r3, %r4, 4, %r2;
    .loc 1 9 0
    ld.shared.u32 %r5, [%r3];
    .loc 1 10 0
    st.global.u32 [%rd1], 0;
    ret;
}
";

fn hand_on(barrier: &str, checking: Checking) -> Result<Span, DeviceError> {
    let mut device = device();
    let ptx = HANDED_ON.replace("BARRIER", barrier);
    let module = device.load(ModuleImage {
        ptx: &ptx,
        cubin: &[],
    });
    let module = module.unwrap();
    let out = device.allocate(4, "out").unwrap();
    let bounds = Bounds {
        memory_bytes: 1 << 20,
        reserve_bytes: 0,
        instruction_fuel: 1000,
        run_limit: std::time::Duration::from_secs(1),
        checking,
    };
    device.bound(&bounds).unwrap();
    device.expect_results(out).unwrap();
    let launch = LaunchSpec {
        module,
        kernel: "k".to_owned(),
        grid: [1, 1, 1],
        block: [64, 1, 1],
        dynamic_shared_bytes: 0,
        arguments: vec![Argument::Pointer(at(out, 0))],
        cluster: None,
        cooperative: false,
    };
    run(&mut device, &[Operation::Launch(launch)])
}

#[test]
fn a_race_is_looked_for_where_that_is_asked_for() {
    hand_on("bar.sync 0;", Checking::Full).unwrap();
    hand_on("", Checking::Bounds).unwrap();
    let Err(DeviceError::Fault(fault)) = hand_on("", Checking::Full) else {
        panic!("it must fault");
    };
    assert_eq!((fault.kind, fault.line), (VerdictKind::Race, Some(7)));
    assert!(
        fault.message.contains("read on line 9"),
        "{}",
        fault.message
    );
}
