//! `wgmma`: each of a warpgroup's four warps computes its 16 rows when it comes to the instruction.
//!
//! Nothing runs later than it is issued, so a missing `wait_group` changes no result here. What a
//! descriptor says, in units of 16 bytes: where the matrix starts (bits 0 to 13), its leading byte
//! offset (16 to 29), its stride byte offset (32 to 45), the row of the swizzle's pattern that it
//! starts in (49 to 51), and the swizzle (62 and 63: none, 128, 64 or 32 bytes). [`Layout::chunk`]
//! gives the place of each 16 bytes; the swizzle then exchanges bits 4 to 6 of the address with
//! bits 7 to 9, as far as its width reaches.
#![allow(unsafe_code)]

use super::super::block::Block;
use super::super::reconverge::Warp;
use super::super::step::holding;
use super::super::worker::{Stop, Worker};
use super::planes::{self, Pitch};
use super::product::{put_sums, take_sums};
use super::{Place, uniform};
use crate::fault::{Fault, FaultKind};
use crate::lanes::{FULL, View};
use crate::program::{Arithmetic, Described, FloatForm, Group, Integer, Source};

/// What one product takes of each row of A and each column of B.
const LINE_BYTES: usize = 32;
/// What the banks of shared memory give at once.
const WAVEFRONT_BYTES: usize = 128;

/// The `wgmma` products that a warp has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::exec) struct Trace {
    count: u64,
    /// Of their places, in order.
    hash: u64,
    line: Option<u32>,
}

impl Worker<'_> {
    pub(super) fn group(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        place: &Place<'_>,
        group: &Group,
    ) -> Result<(), Stop> {
        let number = warp.first_thread / 32;
        // The block's threads, those of warps that have ended as well.
        let threads: u32 = self.context.launch.block.iter().product();
        if (number / 4 + 1) * 128 > threads {
            let what = format!(
                "reaches `wgmma`, which the 128 threads of a warpgroup run together; its block has {threads} threads"
            );
            return Err(Stop::new(FaultKind::BarrierDivergence, 0, what));
        }
        let program = self.context.linked.function(place.function).program;
        let step = (place.function as u64) << 32 | u64::from(place.pc);
        let trace = &mut warp.group_trace;
        trace.count += 1;
        trace.hash = trace.hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ step;
        trace.line = program.lines.get(place.pc as usize).copied().flatten();

        let adds = holding(place.view, group.adds);
        if adds != 0 && adds != FULL {
            let what = "has another scale-d than the first thread of its warp".to_owned();
            let lane = (adds ^ if adds & 1 != 0 { FULL } else { 0 }).trailing_zeros();
            return Err(Stop::new(FaultKind::BarrierDivergence, lane, what));
        }
        self.count_product(group.extents, group.arithmetic);
        self.count_reads(group, number);
        let first_row = (number % 4 * 16) as usize;
        let memory = Memory {
            bytes: block.shared_bytes,
            words: &block.shared,
            view: place.view,
        };
        let mut scratch = std::mem::take(&mut self.tensor);
        let outcome = match group.arithmetic {
            Arithmetic::Float(form) => float(
                &memory,
                group,
                form,
                first_row,
                adds != 0,
                &mut scratch.step,
            ),
            Arithmetic::Integer { a, b, saturates } => {
                let whole = &mut scratch.whole;
                integer(
                    &memory,
                    group,
                    ([a, b], saturates),
                    first_row,
                    adds != 0,
                    whole,
                )
            }
            Arithmetic::Double { .. } | Arithmetic::Bits { .. } => Ok(()),
        };
        self.tensor = scratch;
        outcome
    }

    /// What tensor cores read of shared memory: 32 bytes of each of a warp's 16 rows of A; of each column of
    /// B, which the four warps share and the first counts. As if no two banks were in conflict, which holds
    /// for the layouts that descriptors are made for.
    fn count_reads(&mut self, group: &Group, warp: u32) {
        let [m, n, _] = group.extents;
        let a = matches!(group.a, Source::Memory(_)).then_some(m);
        let b = warp.is_multiple_of(4).then_some(n);
        for lines in a.into_iter().chain(b) {
            self.counters.shared_requests += 1;
            self.counters.shared_wavefronts +=
                (lines * LINE_BYTES).div_ceil(WAVEFRONT_BYTES) as u64;
        }
    }

    /// The fault of a block that has ended, if warps of a warpgroup ran different `wgmma`s.
    pub(in crate::exec) fn split_group(&self, block: &Block) -> Option<Fault> {
        let mut groups = block.warps.chunks(4);
        let (first, other) = groups.find_map(|group| {
            let first = &group[0];
            let differs = |warp: &&Warp| {
                let (a, b) = (warp.group_trace, first.group_trace);
                (a.count, a.hash) != (b.count, b.hash)
            };
            group.iter().find(differs).map(|other| (first, other))
        })?;
        let (few, many) = if first.group_trace.count < other.group_trace.count {
            (first, other)
        } else {
            (other, first)
        };
        let thread = self.thread_index(few, 0);
        let message = format!(
            "thread {} of block {} ran {} `wgmma` products and thread {} {}: the four warps of a warpgroup must run the same ones",
            crate::fault::triple(thread),
            crate::fault::triple(block.index),
            few.group_trace.count,
            crate::fault::triple(self.thread_index(many, 0)),
            many.group_trace.count,
        );
        Some(Fault {
            block: block.index,
            thread,
            line: many.group_trace.line.or(few.group_trace.line),
            ..Fault::of_launch(FaultKind::BarrierDivergence, message)
        })
    }
}

/// What a product reads.
struct Memory<'a> {
    bytes: u32,
    words: &'a [u64],
    view: &'a View,
}

/// The part of a matrix that is wanted: lines from `first` on, and what runs along them.
#[derive(Clone, Copy)]
struct Part {
    first: usize,
    lines: usize,
    pitch: Pitch,
    name: &'static str,
}

impl Memory<'_> {
    /// Reads a described matrix: 32 bytes of k a line. `unpack` turns a word into its elements,
    /// `each` of them.
    fn read<T: Copy + Default>(
        &self,
        described: &Described,
        part: Part,
        each: usize,
        unpack: impl Fn(u32, &mut [T]),
        out: &mut [T],
    ) -> Result<(), Stop> {
        let descriptor = uniform(self.view, described.descriptor, "matrix descriptor")?;
        let layout = Layout::new(descriptor, described.line_major);
        let chunk_elements = 4 * each;
        // A chunk runs along k, or along the lines.
        let (outer, inner, along_lines) = if described.line_major {
            (part.lines / chunk_elements, 16, true)
        } else {
            (part.lines, 2, false)
        };
        for outer_at in 0..outer {
            for inner_at in 0..inner {
                let number = if along_lines {
                    part.first / chunk_elements + outer_at
                } else {
                    part.first + outer_at
                };
                let chunk = self.chunk(&layout, number, inner_at, part.name)?;
                let mut elements = [T::default(); 32];
                for (word, out) in chunk.iter().zip(elements.chunks_exact_mut(each)) {
                    unpack(*word, out);
                }
                for (at, &element) in elements[..chunk_elements].iter().enumerate() {
                    let (line, place) = if along_lines {
                        (outer_at * chunk_elements + at, inner_at)
                    } else {
                        (outer_at, inner_at * chunk_elements + at)
                    };
                    out[line * part.pitch.line + place * part.pitch.place] = element;
                }
            }
        }
        Ok(())
    }

    fn chunk(
        &self,
        layout: &Layout,
        outer: usize,
        inner: usize,
        name: &str,
    ) -> Result<[u32; 4], Stop> {
        let at = layout.chunk(outer as u64, inner as u64);
        if at + 16 > u64::from(self.bytes) {
            let what = format!(
                "reads 16 bytes at offset {at} of shared memory, which has {} bytes: there the descriptor of {name} leads",
                self.bytes
            );
            let mut stop = Stop::new(FaultKind::OutOfBounds, 0, what);
            stop.address = Some(at);
            return Err(stop);
        }
        let word = at as usize / 8;
        let (low, high) = (self.words[word], self.words[word + 1]);
        Ok([
            low as u32,
            (low >> 32) as u32,
            high as u32,
            (high >> 32) as u32,
        ])
    }
}

/// A descriptor, in bytes.
struct Layout {
    start: u64,
    leading: u64,
    stride: u64,
    base_row: u64,
    /// Width of the swizzle in chunks of 16 bytes: 1 is none.
    width: u64,
    line_major: bool,
}

impl Layout {
    fn new(descriptor: u64, line_major: bool) -> Self {
        let field = |shift: u32| (descriptor >> shift & 0x3fff) << 4;
        Self {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base_row: descriptor >> 49 & 7,
            width: match descriptor >> 62 {
                0 => 1,
                1 => 8,
                2 => 4,
                _ => 2,
            },
            line_major,
        }
    }

    /// Where 16 bytes lie. With contiguous k: of line `outer`, the first or second half of 32 bytes.
    /// With contiguous lines: of row `inner` of k, the lines from `8 * outer` on.
    fn chunk(&self, outer: u64, inner: u64) -> u64 {
        let width = self.width;
        let inside = match (self.line_major, width) {
            (false, 1) => outer % 8 * 16 + outer / 8 * self.stride + inner * self.leading,
            (false, _) => outer % 8 * 16 * width + outer / 8 * self.stride + inner * 16,
            (true, 1) => outer * self.stride + inner % 8 * 16 + inner / 8 * self.leading,
            (true, _) => {
                outer % width * 16
                    + outer / width * self.leading
                    + inner % 8 * 16 * width
                    + inner / 8 * self.stride
            }
        };
        let address = self.start + inside;
        let row = (address >> 7).wrapping_sub(self.base_row) & (width - 1);
        address ^ row << 4
    }
}

fn float(
    memory: &Memory<'_>,
    group: &Group,
    form: FloatForm,
    first_row: usize,
    adds: bool,
    step: &mut crate::numerics::tensor::Step,
) -> Result<(), Stop> {
    let [m, n, k] = group.extents;
    step.a.values.resize(m * k, 0.0);
    step.b.values.resize(k * n, 0.0);
    step.c.values.resize(m * n, 0.0);
    let view = memory.view;
    let by_line = Pitch { line: k, place: 1 };
    match &group.a {
        Source::Registers(fragment) => {
            planes::floats(view, fragment, form.a, by_line, &mut step.a.values);
        }
        Source::Memory(described) => {
            let part = Part {
                first: first_row,
                lines: m,
                pitch: by_line,
                name: "A",
            };
            let unpack = |word, out: &mut [f32]| planes::widen(form.a, word, out);
            let each = planes::per_register(form.a);
            memory.read(described, part, each, unpack, &mut step.a.values)?;
        }
    }
    let part = Part {
        first: 0,
        lines: n,
        pitch: Pitch { line: 1, place: n },
        name: "B",
    };
    let unpack = |word, out: &mut [f32]| planes::widen(form.b, word, out);
    let each = planes::per_register(form.b);
    memory.read(&group.b, part, each, unpack, &mut step.b.values)?;
    for (values, negates) in { [&mut step.a.values, &mut step.b.values] }
        .into_iter()
        .zip(group.negates)
    {
        if negates {
            values.iter_mut().for_each(|value| *value = -*value);
        }
    }
    if adds {
        take_sums(view, &group.c, form.half_in, n, &mut step.c.values);
    } else {
        step.c.values.fill(0.0);
    }
    step.a.split(form.a);
    step.b.split(form.b);
    let halves = [form.half_in, form.half_out];
    crate::numerics::tensor::accumulate(step, group.extents, form.rule, halves);
    put_sums(view, &group.d, form.half_out, n, &step.c.values);
    Ok(())
}

fn integer(
    memory: &Memory<'_>,
    group: &Group,
    ([a, b], saturates): ([Integer; 2], bool),
    first_row: usize,
    adds: bool,
    scratch: &mut super::product::Whole,
) -> Result<(), Stop> {
    let [m, n, k] = group.extents;
    scratch.a.resize(m * k, 0);
    scratch.b.resize(k * n, 0);
    scratch.c.resize(m * n, 0);
    let view = memory.view;
    let by_line = Pitch { line: k, place: 1 };
    match &group.a {
        Source::Registers(fragment) => {
            planes::integers(view, fragment, a, by_line, &mut scratch.a);
        }
        Source::Memory(described) => {
            let part = Part {
                first: first_row,
                lines: m,
                pitch: by_line,
                name: "A",
            };
            let unpack = |word, out: &mut [i32]| planes::small(a, word, out);
            memory.read(described, part, 4, unpack, &mut scratch.a)?;
        }
    }
    let part = Part {
        first: 0,
        lines: n,
        pitch: Pitch { line: 1, place: n },
        name: "B",
    };
    let unpack = |word, out: &mut [i32]| planes::small(b, word, out);
    memory.read(&group.b, part, 4, unpack, &mut scratch.b)?;
    if adds {
        planes::pairs(view, &group.c, n, |at, bits: u32| {
            scratch.c[at] = bits as i32;
        });
    } else {
        scratch.c.fill(0);
    }
    super::product::whole_sums(scratch, group.extents, saturates);
    planes::put_pairs(view, &group.d, n, |at| scratch.c[at] as u32);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Layout;

    fn layout(swizzle: u64, leading: u64, stride: u64, line_major: bool) -> Layout {
        let descriptor = 1024 >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62;
        Layout::new(descriptor, line_major)
    }

    #[test]
    fn contiguous_k_without_a_swizzle_is_in_core_matrices() {
        let layout = layout(0, 128, 256, false);
        assert_eq!(layout.chunk(0, 0), 1024);
        assert_eq!(layout.chunk(3, 0), 1024 + 48);
        assert_eq!(layout.chunk(3, 1), 1024 + 128 + 48);
        assert_eq!(layout.chunk(8, 0), 1024 + 256);
    }

    #[test]
    fn a_swizzle_of_128_bytes_turns_chunks_by_the_row() {
        let layout = layout(1, 16, 1024, false);
        assert_eq!(layout.chunk(0, 1), 1024 + 16);
        assert_eq!(layout.chunk(1, 0), 1024 + 128 + 16);
        assert_eq!(layout.chunk(5, 1), 1024 + 5 * 128 + (5 ^ 1) * 16);
        assert_eq!(layout.chunk(8, 0), 2048);
    }

    #[test]
    fn narrower_swizzles_use_fewer_rows() {
        let middle = layout(2, 16, 512, false);
        // Row 2 of 64 bytes begins the second 128: chunks turn by one.
        assert_eq!(middle.chunk(2, 0), 1024 + 128 + 16);
        let narrow = layout(3, 16, 256, false);
        assert_eq!(narrow.chunk(3, 0), 1024 + 96);
        assert_eq!(narrow.chunk(4, 0), 1024 + 128 + 16);
    }

    #[test]
    fn contiguous_lines_take_whole_rows_of_k() {
        let layout = layout(1, 4096, 1024, true);
        assert_eq!(layout.chunk(0, 0), 1024);
        assert_eq!(layout.chunk(2, 1), 1024 + 128 + (2 ^ 1) * 16);
        assert_eq!(layout.chunk(8, 0), 1024 + 4096);
        assert_eq!(layout.chunk(0, 8), 2048);
    }
}
