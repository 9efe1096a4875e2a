//! Liveness, and the packing of virtual registers into few slots.
//!
//! PTX gives every value a register of its own; a warp's frame would outgrow the caches. Lanes own
//! their part of a register, so liveness along each lane's path is ordinary liveness, and two
//! registers may share a slot when no point of the program needs both.

use super::flow::{falls_through, targets};
use super::{Access, BarrierMode, Builtin, Inst, Kind, Program};
use crate::lanes::{Class, Slot};

/// How an instruction touches a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Read,
    Write,
}

/// Pairs of a block and a register that are kept, one bit each: a large kernel has some 2^28.
const MAX_PAIRS: u64 = 1 << 30;
/// Words of such bits that may be looked at until nothing changes any more.
const MAX_STEPS: u64 = 1 << 32;

/// Replaces virtual slots by packed ones and records their number and the undefined ones. Whether the
/// program is small enough for that.
#[must_use]
pub(crate) fn assign_slots(program: &mut Program) -> bool {
    let virtual_slots = [program.narrow_slots, program.wide_slots];
    let Some(live) = Liveness::new(&program.insts, virtual_slots) else {
        return false;
    };
    let mut packed = [Vec::new(), Vec::new()];
    for (class, packed) in packed.iter_mut().enumerate() {
        let (map, count) = pack(&live.intervals[class]);
        *packed = map;
        match class {
            0 => program.narrow_slots = count,
            _ => program.wide_slots = count,
        }
    }
    let rename = |slot: Slot| {
        let class = slot.class();
        match class {
            Class::Narrow | Class::Wide => {
                Slot::new(class, packed[class as usize][slot.index()] as usize)
            }
            Class::NarrowConst | Class::WideConst => slot,
        }
    };
    for inst in &mut program.insts {
        for_each_slot(inst, &mut |slot, _| *slot = rename(*slot));
    }
    program.undefined = live.undefined.into_iter().map(rename).collect();
    program.undefined.sort_unstable_by_key(|slot| slot.0);
    program.undefined.dedup();
    true
}

/// First and last position at which a register holds a value that is still needed.
type Interval = Option<(u32, u32)>;

struct Liveness {
    intervals: [Vec<Interval>; 2],
    undefined: Vec<Slot>,
}

impl Liveness {
    fn new(insts: &[Inst], virtual_slots: [usize; 2]) -> Option<Self> {
        let number = |slot: Slot| match slot.class() {
            Class::Narrow => Some(slot.index()),
            Class::Wide => Some(virtual_slots[0] + slot.index()),
            Class::NarrowConst | Class::WideConst => None,
        };
        let total = virtual_slots[0] + virtual_slots[1];
        let blocks = blocks(insts);
        let mut effects = effects(insts, &number);
        let mentioned = number_mentioned(&mut effects, total);
        if blocks.len() as u64 * mentioned.len() as u64 > MAX_PAIRS {
            return None;
        }
        let live_in = solve(insts, &blocks, &effects, mentioned.len())?;

        let mut intervals = vec![None; total];
        for (block, &(start, end)) in blocks.iter().enumerate() {
            for &next in &successors(insts, &blocks, end) {
                live_in[next].each(|at| extend(&mut intervals[mentioned[at]], end as u32 - 1));
            }
            live_in[block].each(|at| extend(&mut intervals[mentioned[at]], start as u32));
            for (at, effect) in effects.iter().enumerate().take(end).skip(start) {
                for &register in effect.reads.iter().chain(&effect.writes) {
                    extend(&mut intervals[mentioned[register]], at as u32);
                }
            }
        }
        let mut undefined = Vec::new();
        if let Some(entry) = live_in.first() {
            entry.each(|at| {
                let register = mentioned[at];
                undefined.push(match register.checked_sub(virtual_slots[0]) {
                    Some(wide) => Slot::new(Class::Wide, wide),
                    None => Slot::new(Class::Narrow, register),
                });
            });
        }
        let wide = intervals.split_off(virtual_slots[0]);
        Some(Self {
            intervals: [intervals, wide],
            undefined,
        })
    }
}

/// Numbers the registers that instructions mention from 0; gives the register of each number.
fn number_mentioned(effects: &mut [Effect], total: usize) -> Vec<usize> {
    let mut numbers = vec![usize::MAX; total];
    let mut mentioned = Vec::new();
    for effect in effects {
        for register in effect.reads.iter_mut().chain(&mut effect.writes) {
            let number = &mut numbers[*register];
            if *number == usize::MAX {
                *number = mentioned.len();
                mentioned.push(*register);
            }
            *register = *number;
        }
    }
    mentioned
}

fn extend(interval: &mut Interval, at: u32) {
    *interval = Some(match *interval {
        None => (at, at),
        Some((first, last)) => (first.min(at), last.max(at)),
    });
}

/// Linear scan: the slot of each register, and how many slots there are.
fn pack(intervals: &[Interval]) -> (Vec<u32>, usize) {
    let mut order: Vec<usize> = (0..intervals.len())
        .filter(|&r| intervals[r].is_some())
        .collect();
    order.sort_by_key(|&register| intervals[register]);
    let mut map = vec![0; intervals.len()];
    let mut busy: std::collections::BinaryHeap<std::cmp::Reverse<(u32, u32)>> =
        std::collections::BinaryHeap::new();
    let mut free = Vec::new();
    let mut count = 0;
    for register in order {
        let Some((first, last)) = intervals[register] else {
            continue;
        };
        // A source whose last use is here must not be overwritten by a second destination of the
        // same instruction, hence strictly before.
        while let Some(&std::cmp::Reverse((end, slot))) = busy.peek() {
            if end >= first {
                break;
            }
            free.push(slot);
            busy.pop();
        }
        let slot = free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        map[register] = slot;
        busy.push(std::cmp::Reverse((last, slot)));
    }
    (map, count as usize)
}

#[derive(Default)]
struct Effect {
    reads: Vec<usize>,
    writes: Vec<usize>,
    /// A guarded write leaves the other lanes' values alive.
    partial: bool,
}

fn effects(insts: &[Inst], number: &dyn Fn(Slot) -> Option<usize>) -> Vec<Effect> {
    insts
        .iter()
        .map(|inst| {
            let mut effect = Effect {
                partial: inst.guard.index != 0,
                ..Effect::default()
            };
            let mut copy = inst.clone();
            for_each_slot(&mut copy, &mut |slot, role| {
                if let Some(register) = number(*slot) {
                    match role {
                        Role::Read => effect.reads.push(register),
                        Role::Write => effect.writes.push(register),
                    }
                }
            });
            effect
        })
        .collect()
}

/// The registers that are needed where each block begins, or nothing if that takes too long.
fn solve(
    insts: &[Inst],
    blocks: &[(usize, usize)],
    effects: &[Effect],
    total: usize,
) -> Option<Vec<BitSet>> {
    let successors: Vec<Vec<usize>> = blocks
        .iter()
        .map(|&(_, end)| successors(insts, blocks, end))
        .collect();
    let order = post_order(&successors);
    let mut live_in = vec![BitSet::new(total); blocks.len()];
    let mut live = BitSet::new(total);
    let mut steps = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &order {
            let (start, end) = blocks[block];
            live.clear();
            for &next in &successors[block] {
                live.merge(&live_in[next]);
            }
            for effect in effects[start..end].iter().rev() {
                if !effect.partial {
                    effect
                        .writes
                        .iter()
                        .for_each(|&register| live.remove(register));
                }
                effect
                    .reads
                    .iter()
                    .for_each(|&register| live.insert(register));
            }
            if live != live_in[block] {
                live_in[block].clone_from(&live);
                changed = true;
            }
            steps += ((2 + successors[block].len()) * live.0.len() + end - start) as u64;
        }
        if steps > MAX_STEPS {
            return None;
        }
    }
    Some(live_in)
}

/// Blocks behind those that they can go on to, as far as there are no loops: what is needed travels
/// against the order in which a program runs.
fn post_order(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(successors.len());
    let mut seen = vec![false; successors.len()];
    let mut stack = Vec::new();
    for first in 0..successors.len() {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        stack.push((first, 0));
        while let Some((block, at)) = stack.pop() {
            let Some(&next) = successors[block].get(at) else {
                order.push(block);
                continue;
            };
            stack.push((block, at + 1));
            if !std::mem::replace(&mut seen[next], true) {
                stack.push((next, 0));
            }
        }
    }
    order
}

fn blocks(insts: &[Inst]) -> Vec<(usize, usize)> {
    let mut leaders = vec![0];
    for (at, inst) in insts.iter().enumerate() {
        if let Some(targets) = targets(inst) {
            leaders.push(at + 1);
            leaders.extend(targets.iter().map(|&target| target as usize));
        }
    }
    leaders.push(insts.len());
    leaders.sort_unstable();
    leaders.dedup();
    leaders.retain(|&leader| leader <= insts.len());
    leaders.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

fn successors(insts: &[Inst], blocks: &[(usize, usize)], end: usize) -> Vec<usize> {
    let block_at = |index: usize| {
        blocks
            .binary_search_by_key(&index, |block| block.0)
            .expect("a target leads its block")
    };
    let last = &insts[end - 1];
    let mut next: Vec<usize> = targets(last)
        .into_iter()
        .flatten()
        .map(|&target| block_at(target as usize))
        .collect();
    if falls_through(last) && end < insts.len() {
        next.push(block_at(end));
    }
    next
}

#[derive(PartialEq, Eq, Clone)]
struct BitSet(Vec<u64>);

impl BitSet {
    fn new(total: usize) -> Self {
        Self(vec![0; total.div_ceil(64)])
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }

    fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn remove(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    fn merge(&mut self, other: &Self) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(word, other)| *word |= other);
    }

    fn each(&self, mut visit: impl FnMut(usize)) {
        for (at, &word) in self.0.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                visit(at * 64 + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    }
}

/// Visits every slot of an instruction, sources before destinations.
pub(crate) fn visit_slots(inst: &Inst, visit: &mut dyn FnMut(Slot, Role)) {
    for_each_slot(&mut inst.clone(), &mut |slot, role| visit(*slot, role));
}

/// The same with the right to replace them.
fn for_each_slot(inst: &mut Inst, visit: &mut dyn FnMut(&mut Slot, Role)) {
    use Role::{Read, Write};
    match &mut inst.kind {
        Kind::Lane { operands, .. } => {
            operands.src.iter_mut().for_each(|slot| visit(slot, Read));
            visit(&mut operands.dst, Write);
        }
        Kind::Compare(compare) => {
            visit(&mut compare.a, Read);
            visit(&mut compare.b, Read);
        }
        Kind::Select { dst, a, b, .. } => {
            visit(a, Read);
            visit(b, Read);
            visit(dst, Write);
        }
        Kind::Carry(carry) => {
            carry.src.iter_mut().for_each(|slot| visit(slot, Read));
            visit(&mut carry.dst, Write);
        }
        Kind::Special { dst, .. } => visit(dst, Write),
        Kind::Load(access) => {
            address(access, visit);
            access
                .data
                .iter_mut()
                .flatten()
                .for_each(|slot| visit(slot, Write));
        }
        Kind::Store(access) => {
            address(access, visit);
            access
                .data
                .iter_mut()
                .flatten()
                .for_each(|slot| visit(slot, Read));
        }
        Kind::Atomic(atomic) => {
            address(&mut atomic.access, visit);
            atomic
                .access
                .data
                .iter_mut()
                .flatten()
                .for_each(|slot| visit(slot, Read));
            atomic.swap.iter_mut().for_each(|slot| visit(slot, Read));
            atomic
                .dst
                .iter_mut()
                .flatten()
                .for_each(|slot| visit(slot, Write));
        }
        Kind::Async(op) => {
            op.sources.iter_mut().for_each(|slot| visit(slot, Read));
            op.dst.iter_mut().for_each(|slot| visit(slot, Write));
        }
        Kind::CallAddress(call) => visit(&mut call.target, Read),
        Kind::Table { index, .. } => visit(index, Read),
        Kind::Barrier(barrier) => {
            visit(&mut barrier.id, Read);
            barrier
                .threads
                .iter_mut()
                .for_each(|slot| visit(slot, Read));
            if let BarrierMode::Count { dst, .. } = &mut barrier.mode {
                visit(dst, Write);
            }
        }
        Kind::SyncWarp { members } => visit(members, Read),
        Kind::Shuffle(shuffle) => {
            for slot in [
                &mut shuffle.value,
                &mut shuffle.lane,
                &mut shuffle.clamp,
                &mut shuffle.members,
            ] {
                visit(slot, Read);
            }
            visit(&mut shuffle.dst, Write);
        }
        Kind::Vote { dst, members, .. } => {
            visit(members, Read);
            visit(dst, Write);
        }
        Kind::Match {
            dst,
            value,
            members,
            ..
        }
        | Kind::Reduce {
            dst,
            value,
            members,
            ..
        } => {
            visit(value, Read);
            visit(members, Read);
            visit(dst, Write);
        }
        Kind::Elect { dst, members, .. } => {
            visit(members, Read);
            dst.iter_mut().for_each(|slot| visit(slot, Write));
        }
        Kind::Tensor(tensor) => tensor.each_slot(&mut |slot, writes| {
            visit(slot, if writes { Write } else { Read });
        }),
        Kind::Builtin(builtin) => match builtin.as_mut() {
            // Arguments and results lie in the frame.
            Builtin::Print { .. } | Builtin::AssertFail { .. } => {}
        },
        Kind::Logic { .. }
        | Kind::Branch { .. }
        | Kind::Call(_)
        | Kind::Return
        | Kind::Exit
        | Kind::Trap
        | Kind::Fence
        | Kind::Passes(_)
        | Kind::Sleep => {}
    }
}

fn address(access: &mut Access, visit: &mut dyn FnMut(&mut Slot, Role)) {
    access
        .address
        .iter_mut()
        .for_each(|slot| visit(slot, Role::Read));
}
