//! `wgmma`: images of shared memory in each layout that a descriptor can name.

use super::common::{Arguments, Device, module};
use super::values::{Format, Matrix, product};
use emulator::{Fault, FaultKind};

/// How a matrix lies in shared memory: bytes of its swizzle (16: none), and whether its rows or
/// columns, not k, are contiguous.
#[derive(Debug, Clone, Copy)]
struct Layout {
    swizzle: usize,
    line_major: bool,
}

const PLAIN: Layout = Layout {
    swizzle: 16,
    line_major: false,
};

impl Layout {
    /// Leading and stride byte offset for `lines` lines, by k of `k_bytes` or of `k` rows.
    fn offsets(self, lines: usize, k_bytes: usize) -> (usize, usize) {
        match (self.line_major, self.swizzle) {
            // Core matrices of 8 lines of 16 bytes: along k first, then along lines.
            (false, 16) => (128, 8 * k_bytes),
            (false, swizzle) => (16, 8 * swizzle),
            // Core matrices of 8 k rows of 8 lines: k first; leading is along k here.
            (true, 16) => (lines * 16, 128),
            (true, swizzle) => (16 * swizzle, 8 * swizzle),
        }
    }

    /// Byte offset of an element, from the pictures of PTX's chapter on shared memory layouts.
    fn place(self, line: usize, at: usize, bytes: usize, offsets: (usize, usize)) -> usize {
        let (leading, stride) = offsets;
        let width = self.swizzle / 16;
        let mut address = if self.line_major {
            let (chunk, inside) = (line * bytes / 16, line * bytes % 16);
            let (row, band) = (at % 8, at / 8);
            if width == 1 {
                chunk * stride + row * 16 + band * leading + inside
            } else {
                chunk / width * leading
                    + band * stride
                    + row * self.swizzle
                    + chunk % width * 16
                    + inside
            }
        } else {
            let (chunk, inside) = (at * bytes / 16, at * bytes % 16);
            let (row, band) = (line % 8, line / 8);
            if width == 1 {
                band * stride + row * 16 + chunk * leading + inside
            } else {
                band * stride + row * self.swizzle + chunk * 16 + inside
            }
        };
        if width > 1 {
            address ^= (address / 128 % width) * 16;
        }
        address
    }

    fn descriptor(self, start: usize, offsets: (usize, usize)) -> u64 {
        let mode = match self.swizzle {
            128 => 1,
            64 => 2,
            32 => 3,
            _ => 0,
        };
        (start >> 4) as u64
            | ((offsets.0 >> 4) as u64) << 16
            | ((offsets.1 >> 4) as u64) << 32
            | mode << 62
    }
}

/// One instruction with everything around it.
struct Case {
    n: usize,
    k: usize,
    types: &'static str,
    factors: Format,
    sums: Format,
    a: Layout,
    b: Layout,
    /// k at which the instruction starts in a matrix of `k_all`.
    k_first: usize,
    k_all: usize,
    a_in_registers: bool,
    /// Scale of d, a and b.
    scales: [i32; 3],
}

impl Case {
    fn new(types: &'static str, factors: Format, n: usize, a: Layout, b: Layout) -> Self {
        let k = 32 / factors.bytes();
        Self {
            n,
            k,
            types,
            factors,
            sums: if factors == Format::S8 {
                Format::S32
            } else {
                Format::F32
            },
            a,
            b,
            k_first: 0,
            k_all: k,
            a_in_registers: false,
            scales: [1, 1, 1],
        }
    }

    fn instruction(&self) -> String {
        let count = self.n / 2 * self.sums.bytes() / 4;
        let sums: Vec<String> = (0..count).map(|at| format!("%x{at}")).collect();
        let a = if self.a_in_registers {
            "{%y0, %y1, %y2, %y3}"
        } else {
            "%da"
        };
        let mut tail = String::new();
        if self.factors != Format::S8 {
            tail += &format!(", {}, {}", self.scales[1], self.scales[2]);
        }
        if matches!(self.factors, Format::F16 | Format::Bf16) {
            if !self.a_in_registers {
                tail += &format!(", {}", i32::from(self.a.line_major));
            }
            tail += &format!(", {}", i32::from(self.b.line_major));
        }
        format!(
            "wgmma.mma_async.sync.aligned.m64n{}k{}.{} {{{}}}, {a}, %db, %p{tail};",
            self.n,
            self.k,
            self.types,
            sums.join(", ")
        )
    }
}

const B_START: usize = 16384;

/// The block copies an image of 32 KiB into shared memory, loads its sums and perhaps a, runs
/// `body`, and stores its sums.
fn kernel(case: &Case, body: &str) -> String {
    let count = case.n / 2 * case.sums.bytes() / 4;
    let each = |what: &dyn Fn(usize) -> String| (0..count).map(what).collect::<String>();
    let loads = each(&|at| format!("ld.global.b32 %x{at}, [%g+{}];\n", 4 * at));
    let stores = each(&|at| format!("st.global.b32 [%g+{}], %x{at};\n", 4 * at));
    module(&format!(
        ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u64 k_param_2, .param .u64 k_param_3, .param .u64 k_param_4)
{{
    .reg .b32 %x<128>;
    .reg .b32 %y<4>;
    .reg .b32 %t<4>;
    .reg .b64 %a;
    .reg .b64 %g;
    .reg .b64 %da;
    .reg .b64 %db;
    .reg .pred %p;
    .reg .pred %q;
    .shared .align 1024 .b8 s[32768];
    mov.u32 %t0, %tid.x;
    mov.u32 %t1, %t0;
    ld.param.u64 %a, [k_param_0];
COPY:
    mad.wide.u32 %g, %t1, 4, %a;
    ld.global.u32 %t2, [%g];
    mov.u32 %t3, s;
    mad.lo.u32 %t3, %t1, 4, %t3;
    st.shared.u32 [%t3], %t2;
    mov.u32 %t2, %ntid.x;
    add.u32 %t1, %t1, %t2;
    setp.lt.u32 %q, %t1, 8192;
    @%q bra COPY;
    bar.sync 0;
    ld.param.u64 %a, [k_param_1];
    mad.wide.u32 %g, %t0, 16, %a;
    ld.global.v4.b32 {{%y0, %y1, %y2, %y3}}, [%g];
    ld.param.u64 %da, [k_param_3];
    ld.param.u64 %db, [k_param_4];
    ld.param.u64 %a, [k_param_2];
    mad.wide.u32 %g, %t0, {}, %a;
{loads}
    setp.ne.u32 %p, {}, 0;
    wgmma.fence.sync.aligned;
{body}
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
{stores}
    ret;
}}
",
        4 * count,
        case.scales[0],
    ))
}

fn launch(case: &Case, body: &str, threads: u32) -> Result<(), Fault> {
    let (m, n) = (64, case.n);
    let a = Matrix::new(m, case.k_all, 1, true);
    let b = Matrix::new(case.k_all, n, 2, true);
    let c = Matrix::new(m, n, 3, true);
    let bytes = case.factors.bytes();
    let mut image = vec![0; 2 * B_START];
    let of_a = case.a.offsets(m, case.k_all * bytes);
    let of_b = case.b.offsets(n, case.k_all * bytes);
    for at in 0..case.k_all {
        for line in 0..m {
            let start = case.a.place(line, at, bytes, of_a);
            image[start..start + bytes].copy_from_slice(&case.factors.encode(a.at(line, at)));
        }
        for line in 0..n {
            let start = B_START + case.b.place(line, at, bytes, of_b);
            image[start..start + bytes].copy_from_slice(&case.factors.encode(b.at(at, line)));
        }
    }
    // An instruction further along k starts at its first element, before any swizzle.
    let unturned = |layout: Layout, offsets: (usize, usize)| {
        let chunk = case.k_first * bytes / 16;
        if layout.line_major {
            unreachable!("the tests step along contiguous k only");
        }
        chunk * if layout.swizzle == 16 { offsets.0 } else { 16 }
    };
    let (step_a, step_b) = match case.k_first {
        0 => (0, 0),
        _ => (unturned(case.a, of_a), unturned(case.b, of_b)),
    };
    let descriptors = [
        case.a.descriptor(step_a, of_a),
        case.b.descriptor(B_START + step_b, of_b),
    ];

    let sums = n / 2;
    let place = |thread: usize, i: usize| {
        let (warp, lane) = (thread / 32, thread % 32);
        let row = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
        (row, i / 4 * 8 + lane % 4 * 2 + i % 2)
    };
    let spread = |matrix: &Matrix| -> Vec<u8> {
        (0..128 * sums)
            .flat_map(|at| {
                let (row, column) = place(at / sums, at % sums);
                case.sums.encode(matrix.at(row, column))
            })
            .collect()
    };
    let held: Vec<u8> = (0..128 * 8)
        .flat_map(|at| {
            let (thread, i) = (at / 8, at % 8);
            let (warp, lane) = (thread / 32, thread % 32);
            let row = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
            let column = lane % 4 * 2 + i % 2 + i / 4 * 8;
            Format::F16.encode(if column < case.k {
                a.at(row, column)
            } else {
                0
            })
        })
        .collect();

    let mut device = Device::new(&kernel(case, body));
    let image = device.bytes("image", &image);
    let held = device.bytes("held", &held);
    let start = spread(&c);
    let d = device.bytes("d", &start);
    let arguments = Arguments::new()
        .pointer(image)
        .pointer(held)
        .pointer(d)
        .pointer(descriptors[0])
        .pointer(descriptors[1]);
    let outcome = device.launch("k", [1, 1, 1], [threads, 1, 1], &arguments)?;
    let part = |matrix: &Matrix, by_row: bool, scale: i32| {
        let (rows, columns) = if by_row { (m, case.k) } else { (case.k, n) };
        let values = (0..rows * columns)
            .map(|at| {
                let (row, column) = (at / columns, at % columns);
                scale
                    * if by_row {
                        matrix.at(row, case.k_first + column)
                    } else {
                        matrix.at(case.k_first + row, column)
                    }
            })
            .collect();
        Matrix {
            rows,
            columns,
            values,
        }
    };
    let from = Matrix {
        values: c
            .values
            .iter()
            .map(|value| value * case.scales[0])
            .collect(),
        ..c
    };
    let (a, b) = (
        part(&a, true, case.scales[1]),
        part(&b, false, case.scales[2]),
    );
    let mut found = vec![0; start.len()];
    device.memory.read(d, &mut found).unwrap();
    let expected = case.sums.decode_all(&spread(&product(&a, &b, &from)));
    assert_eq!(
        case.sums.decode_all(&found),
        expected,
        "{}",
        case.instruction()
    );
    let counters = outcome.counters;
    let flop = counters.flop_tensor_f16
        + counters.flop_tensor_tf32
        + counters.flop_tensor_fp8
        + counters.flop_tensor_int8;
    assert_eq!(flop, (2 * 64 * n * case.k) as u64);
    // 256 stores fill shared memory. Each of four warps reads 16 rows of A, of 32 bytes each: four times
    // the 128 that the banks give at once. B is read once.
    let of_a = if case.a_in_registers { 0 } else { 4 };
    assert_eq!(counters.shared_requests, 256 + of_a + 1);
    assert_eq!(counters.shared_wavefronts, 256 + 4 * of_a + n as u64 / 4);
    assert_eq!(counters.tensor_instructions, 4);
    Ok(())
}

fn check(case: &Case) {
    launch(case, &case.instruction(), 128).unwrap();
}

fn by_k(swizzle: usize) -> Layout {
    Layout {
        swizzle,
        line_major: false,
    }
}

fn by_line(swizzle: usize) -> Layout {
    Layout {
        swizzle,
        line_major: true,
    }
}

#[test]
fn every_swizzle_with_contiguous_k() {
    for swizzle in [16, 32, 64, 128] {
        let layout = by_k(swizzle);
        check(&Case::new("f32.f16.f16", Format::F16, 16, layout, layout));
        // The second step inside one width of the swizzle.
        if swizzle > 32 || swizzle == 16 {
            check(&Case {
                k_first: 16,
                k_all: 32,
                ..Case::new("f32.f16.f16", Format::F16, 24, layout, layout)
            });
        }
    }
}

#[test]
fn every_swizzle_with_contiguous_lines() {
    for swizzle in [16, 32, 64, 128] {
        let layout = by_line(swizzle);
        let mut case = Case::new("f32.bf16.bf16", Format::Bf16, 64, PLAIN, layout);
        check(&case);
        case.a = layout;
        check(&case);
    }
}

#[test]
fn every_type() {
    let layout = by_k(32);
    check(&Case::new("f32.tf32.tf32", Format::F32, 8, layout, layout));
    check(&Case::new("s32.s8.s8", Format::S8, 32, layout, layout));
    check(&Case::new(
        "f32.e4m3.e4m3",
        Format::E4m3,
        16,
        layout,
        layout,
    ));
    check(&Case::new(
        "f32.e5m2.e5m2",
        Format::E5m2,
        16,
        layout,
        layout,
    ));
    check(&Case {
        sums: Format::F16,
        ..Case::new("f16.f16.f16", Format::F16, 128, layout, layout)
    });
    check(&Case::new("f32.f16.f16", Format::F16, 256, layout, layout));
}

#[test]
fn a_in_registers_and_scales() {
    for scales in [[1, 1, 1], [0, 1, 1], [1, -1, 1], [0, 1, -1]] {
        check(&Case {
            a_in_registers: true,
            scales,
            ..Case::new("f32.f16.f16", Format::F16, 16, PLAIN, by_k(128))
        });
    }
}

#[test]
fn a_warpgroup_that_is_not_complete_is_a_fault() {
    let case = Case::new("f32.f16.f16", Format::F16, 8, PLAIN, PLAIN);
    let fault = launch(&case, &case.instruction(), 64).unwrap_err();
    assert_eq!(fault.kind, FaultKind::BarrierDivergence);
    assert!(
        fault.message.contains("its block has 64 threads"),
        "{fault}"
    );

    let body = format!(
        "setp.lt.u32 %q, %t0, 96; @!%q bra PAST; {} PAST:",
        case.instruction()
    );
    let fault = launch(&case, &body, 128).unwrap_err();
    assert_eq!(fault.kind, FaultKind::BarrierDivergence);
    assert!(
        fault
            .message
            .contains("thread (96,0,0) of block (0,0,0) ran 0 `wgmma`"),
        "{fault}"
    );

    let body = format!(
        "add.u64 %db, %db, 0; mov.u32 %t1, %laneid; cvt.u64.u32 %g, %t1; add.u64 %db, %db, %g; {}",
        case.instruction()
    );
    let fault = launch(&case, &body, 128).unwrap_err();
    assert!(
        fault.message.contains("another matrix descriptor"),
        "{fault}"
    );
}

#[test]
fn a_descriptor_beyond_shared_memory_is_out_of_bounds() {
    let case = Case::new("f32.f16.f16", Format::F16, 8, PLAIN, PLAIN);
    let body = format!("mov.u64 %db, 2047; {}", case.instruction());
    let fault = launch(&case, &body, 128).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfBounds);
    assert!(fault.message.contains("descriptor of B"), "{fault}");
}

#[test]
fn missing_forms_are_refused_by_name() {
    let case = Case::new("f32.f16.f16", Format::F16, 8, PLAIN, PLAIN);
    for opcode in [
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16",
        "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc",
        "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16",
    ] {
        let body = format!("{opcode} {{%x0, %x1, %x2, %x3}}, %da, %db, %p, 1, 1, 0, 0;");
        let fault = launch(&case, &body, 128).unwrap_err();
        let expected = FaultKind::Unsupported {
            opcode: opcode.to_owned(),
        };
        assert_eq!(fault.kind, expected);
    }
}

#[test]
fn register_counts_are_checked_and_change_nothing() {
    let case = Case::new("f32.f16.f16", Format::F16, 8, PLAIN, PLAIN);
    let with = |count: u32| {
        let body = format!(
            "setmaxnreg.inc.sync.aligned.u32 {count}; {}",
            case.instruction()
        );
        launch(&case, &body, 128)
    };
    assert!(with(240).is_ok());
    assert!(with(20).unwrap_err().message.contains("a multiple of 8"));
}
