//! The inner loop: one split, instruction by instruction, until it parts, waits or gives way.
#![allow(unsafe_code)]

use super::access::FrameBounds;
use super::block::Block;
use super::calls::{exit_lanes, return_lanes};
use super::elements::lanes_of;

use super::reconverge::{Split, Warp, lane_value};
use super::turns::{ATOMIC_COST, POLL_COST};
use super::violations::Verb;
use super::worker::{Stop, Worker};
use crate::fault::{Fault, FaultKind};
use crate::lanes::{LANES, View};
use crate::program::{
    AtomicOp, Builtin, Carry, CarryOp, Compare, Flop, Kind, LaneMask, Pipe, Predicate, Special,
    Tensor,
};

/// What ends the loop without a fault.
enum Next {
    /// The next instruction.
    Step,
    Jump(u32),
    /// The split was changed or removed; the scheduler looks again.
    Leave,
}

/// What an instruction is executed with.
pub(super) struct Here {
    pub(super) at: usize,
    pub(super) split: Split,
    pub(super) mask: u32,
    pub(super) view: View,
    pub(super) bounds: FrameBounds,
}

/// Active lanes whose predicate holds.
#[inline(always)]
pub(super) fn holding(view: &View, predicate: Predicate) -> u32 {
    // SAFETY: the predicate is one of the program's.
    let value = unsafe { view.predicate(predicate.index) };
    if predicate.negated { !value } else { value }
}

impl Worker<'_> {
    pub(super) fn run(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        at: usize,
        budget: &mut i64,
    ) -> Result<(), Fault> {
        if warp.tainted {
            return self.run_split::<true>(block, warp, at, budget);
        }
        self.run_split::<false>(block, warp, at, budget)
    }

    /// With `FOLLOWS`, undefined values are followed from register to register.
    #[inline(always)]
    fn run_split<const FOLLOWS: bool>(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        at: usize,
        budget: &mut i64,
    ) -> Result<(), Fault> {
        let context = self.context;
        let mut split = warp.splits[at];
        let code = context.linked.function(warp.frame(split.frame).function);
        let view = warp.view(split.frame, code);
        let base = warp.frame(split.frame).local_base;
        let bounds = FrameBounds {
            base,
            top: base + code.program.frame_bytes,
        };
        let join = warp.join_of(split.node);
        let insts = &code.program.insts[..];
        let active = split.mask;
        let lanes = u64::from(active.count_ones());
        let (mut issued, mut threads, mut branches) = (0u64, 0u64, 0u64);
        let mut path = 0u64;
        let outcome = loop {
            if split.pc == join {
                warp.splits[at] = split;
                warp.arrive(at);
                break Ok(());
            }
            if *budget <= 0 {
                warp.splits[at] = split;
                break Ok(());
            }
            let inst = &insts[split.pc as usize];
            issued += u64::from(inst.issues);
            path += inst.path;
            *budget -= 1;
            let mut mask = active;
            if inst.guard.index != 0 || inst.guard.negated {
                mask &= holding(&view, inst.guard);
                threads += u64::from(mask.count_ones() * inst.issues);
                let is_control = matches!(inst.kind, Kind::Branch { .. });
                if mask == 0 && !is_control {
                    split.pc += 1;
                    continue;
                }
            } else {
                threads += lanes * u64::from(inst.issues);
            }
            if inst.flop.count != 0 {
                self.count_flop(inst.flop, mask);
            }
            if FOLLOWS {
                let here = Here {
                    at,
                    split,
                    mask,
                    view,
                    bounds,
                };
                if let Err(stop) = self.follow(block, warp, &here, inst) {
                    warp.advance(&mut issued, &mut path);
                    break Err(self.place(block, warp, split.frame, split.pc, stop));
                }
                if !warp.tainted {
                    *budget = 0; // the faster loop takes over after this instruction
                }
            }
            // The frequent kinds stay in the loop; the others leave it as a call.
            match &inst.kind {
                Kind::Lane { run, operands } => {
                    // SAFETY: the decoder paired the function with these slots.
                    unsafe { run(&view, operands, mask) };
                    split.pc += 1;
                    continue;
                }
                Kind::Compare(compare) => {
                    compare_lanes(&view, compare, mask);
                    split.pc += 1;
                    continue;
                }
                Kind::Branch { target, .. } if mask == active => {
                    branches += 1;
                    split.pc = *target;
                    continue;
                }
                Kind::Branch { .. } if mask == 0 => {
                    branches += 1;
                    split.pc += 1;
                    continue;
                }
                kind => {
                    warp.advance(&mut issued, &mut path);
                    let here = Here {
                        at,
                        split,
                        mask,
                        view,
                        bounds,
                    };
                    match self.execute(block, warp, kind, &here, budget) {
                        Ok(Next::Step) => split.pc += 1,
                        Ok(Next::Jump(target)) => split.pc = target,
                        Ok(Next::Leave) => break Ok(()),
                        Err(stop) => {
                            break Err(self.place(block, warp, split.frame, split.pc, stop));
                        }
                    }
                    split.polls = warp.splits[at].polls;
                }
            }
        };
        warp.advance(&mut issued, &mut path);
        self.counters.thread_instructions += threads;
        self.counters.control_instructions += branches;
        outcome
    }

    /// Counts a warp instruction that is not arithmetic.
    fn count_class(&mut self, kind: &Kind) {
        let counters = &mut self.counters;
        let class = match kind {
            Kind::Load(_)
            | Kind::Store(_)
            | Kind::Atomic(_)
            | Kind::Async(_)
            | Kind::Tensor(Tensor::Rows(_)) => &mut counters.memory_instructions,
            Kind::Tensor(Tensor::Product(_) | Tensor::Group(_)) => {
                &mut counters.tensor_instructions
            }
            Kind::Branch { .. }
            | Kind::Table { .. }
            | Kind::Call(_)
            | Kind::Return
            | Kind::Exit => &mut counters.control_instructions,
            Kind::SyncWarp { .. }
            | Kind::Shuffle(_)
            | Kind::Vote { .. }
            | Kind::Match { .. }
            | Kind::Reduce { .. }
            | Kind::Elect { .. } => &mut counters.exchange_instructions,
            _ => return,
        };
        *class += 1;
    }

    fn count_flop(&mut self, flop: Flop, mask: u32) {
        let count = u64::from(flop.count) * u64::from(mask.count_ones());
        match flop.pipe {
            Pipe::F32 => {
                self.counters.flop_f32 += count;
                self.counters.f32_instructions += 1;
            }
            Pipe::F64 => {
                self.counters.flop_f64 += count;
                self.counters.f64_instructions += 1;
            }
            Pipe::F16 => {
                self.counters.flop_f16 += count;
                self.counters.f16_instructions += 1;
            }
            Pipe::Special => {
                self.counters.special_instructions += 1;
                self.counters.special_functions += count;
                self.counters.flop_f32 += count;
            }
            Pipe::Other => {}
        }
    }

    fn execute(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        kind: &Kind,
        here: &Here,
        budget: &mut i64,
    ) -> Result<Next, Stop> {
        let (view, mask) = (&here.view, here.mask);
        self.count_class(kind);
        match kind {
            Kind::Load(access) => {
                if access.strong {
                    poll(warp, here.at, budget, POLL_COST);
                }
                if self.shadow.is_some() && self.observe(block, warp, here, access, Verb::Read)? {
                    *budget = 0; // the loop that follows undefined values takes over
                }
                self.load(block, warp, view, access, mask, here.bounds)?;
            }
            Kind::Store(access) => {
                if self.shadow.is_some() {
                    self.observe(block, warp, here, access, Verb::Write)?;
                }
                self.store(block, warp, view, access, mask, here.bounds)?;
            }
            Kind::Atomic(atomic) => {
                let cost = match atomic.op {
                    AtomicOp::CompareSwap | AtomicOp::Exchange => POLL_COST,
                    _ => ATOMIC_COST,
                };
                poll(warp, here.at, budget, cost);
                if self.shadow.is_some() {
                    self.observe_atomic(block, warp, here, atomic)?;
                }
                self.atomic(block, view, atomic, mask, here.bounds)?;
            }
            Kind::Select { dst, a, b, by } => {
                let chosen = holding(view, *by);
                // SAFETY: the slots are the program's.
                unsafe {
                    if dst.class().is_wide() {
                        select::<u64>(view, *dst, *a, *b, chosen, mask);
                    } else {
                        select::<u32>(view, *dst, *a, *b, chosen, mask);
                    }
                }
            }
            Kind::Logic { dst, op, a, b } => {
                let value = op.apply(holding(view, *a), holding(view, *b));
                // SAFETY: the predicate is one of the program's.
                unsafe { view.set_predicate(*dst, mask, value) };
            }
            Kind::Carry(carry) => carry_lanes(view, carry, mask),
            Kind::Special { dst, what } => {
                let values = self.special(block, warp, *what, here);
                // SAFETY: the slot is one of the program's.
                unsafe {
                    if dst.class().is_wide() {
                        view.store(*dst, mask, &values.map(u64::from));
                    } else {
                        view.store(*dst, mask, &values);
                    }
                }
            }
            Kind::Branch { target, join } => {
                self.part(warp, here, *join, &[(*target, mask)]);
                return Ok(Next::Leave);
            }
            Kind::Table {
                index,
                targets,
                join,
            } => {
                return self.jump_by_table(warp, here, *index, targets, *join);
            }
            Kind::Call(call) => {
                self.call(warp, here, call)?;
                return Ok(Next::Leave);
            }
            Kind::CallAddress(call) => {
                self.call_address(warp, here, call)?;
                return Ok(Next::Leave);
            }
            Kind::Async(what) => {
                let before = self.work;
                let leaves = self.asynchronous(block, warp, what, here, budget)?;
                *budget = budget.saturating_sub((self.work - before) as i64);
                return Ok(if leaves { Next::Leave } else { Next::Step });
            }
            Kind::Builtin(builtin) => match builtin.as_ref() {
                Builtin::Print {
                    format,
                    arguments,
                    result,
                } => {
                    let before = self.work;
                    self.print(
                        block,
                        warp,
                        mask,
                        here.bounds,
                        (*format, *arguments, *result),
                    )?;
                    *budget = budget.saturating_sub((self.work - before) as i64);
                }
                assertion => return Err(self.assertion(block, warp, mask, here.bounds, assertion)),
            },
            Kind::Return => {
                return_lanes(self, warp, here);
                return Ok(Next::Leave);
            }
            Kind::Exit => {
                self.wait_bulk(block, warp, None, false, mask)?;
                self.cluster_exit(warp, mask);
                exit_lanes(self, block, warp, here);
                return Ok(Next::Leave);
            }
            Kind::Trap => {
                let lane = mask.trailing_zeros();
                return Err(Stop::new(
                    FaultKind::Trap,
                    lane,
                    "executes __trap()".to_owned(),
                ));
            }
            Kind::Barrier(barrier) => {
                return self
                    .barrier(block, warp, here.at, here.split, view, barrier, mask)
                    .map(|leaves| if leaves { Next::Leave } else { Next::Step });
            }
            Kind::Passes(barriers) => self.pass(block, warp, barriers, mask)?,
            Kind::SyncWarp { .. }
            | Kind::Shuffle(_)
            | Kind::Vote { .. }
            | Kind::Match { .. }
            | Kind::Reduce { .. }
            | Kind::Elect { .. } => {
                let waits =
                    self.exchange_or_wait(block, warp, here.at, here.split, view, kind, mask);
                return Ok(if waits { Next::Leave } else { Next::Step });
            }
            Kind::Tensor(tensor) => {
                let waits = self.tensor_or_wait(block, warp, here, kind, tensor)?;
                if warp.tainted {
                    *budget = 0; // the loop that follows undefined values takes over
                }
                return Ok(if waits { Next::Leave } else { Next::Step });
            }
            Kind::Fence => {
                if self.shadow.is_some() {
                    self.note_fence(block, warp);
                }
            }
            Kind::Sleep => poll(warp, here.at, budget, POLL_COST),
            Kind::Lane { run, operands } => {
                // SAFETY: the decoder paired the function with these slots.
                unsafe { run(view, operands, mask) };
            }
            Kind::Compare(compare) => compare_lanes(view, compare, mask),
        }
        Ok(Next::Step)
    }

    /// Lanes part: each listed group jumps, the rest falls through.
    fn part(&mut self, warp: &mut Warp, here: &Here, join: u32, jumps: &[(u32, u32)]) {
        self.counters.divergent_branches += 1;
        let split = here.split;
        let node = warp.meet_at(&split, join);
        let jumping = jumps.iter().fold(0, |all, &(_, mask)| all | mask);
        let rest = split.mask & !jumping;
        let fall = (split.pc + 1, rest);
        let groups = jumps.iter().copied().chain((rest != 0).then_some(fall));
        for (number, (pc, mask)) in groups.enumerate() {
            let part = Split {
                pc,
                mask,
                node,
                ..split
            };
            if number == 0 {
                warp.splits[here.at] = part;
            } else {
                warp.splits.push(part);
            }
        }
    }

    fn jump_by_table(
        &mut self,
        warp: &mut Warp,
        here: &Here,
        index: crate::lanes::Slot,
        targets: &[u32],
        join: u32,
    ) -> Result<Next, Stop> {
        let mut groups: Vec<(u32, u32)> = Vec::new();
        for lane in lanes_of(here.mask) {
            // SAFETY: the slot is one of the program's.
            let entry = unsafe { lane_value(&here.view, index, lane) } as usize;
            let Some(&target) = targets.get(entry) else {
                let what = format!("jumps to entry {entry} of a table of {}", targets.len());
                return Err(Stop::new(FaultKind::OutOfBounds, lane as u32, what));
            };
            match groups.iter_mut().find(|(known, _)| *known == target) {
                Some((_, mask)) => *mask |= 1 << lane,
                None => groups.push((target, 1 << lane)),
            }
        }
        if let [(target, mask)] = groups[..]
            && mask == here.split.mask
        {
            return Ok(Next::Jump(target));
        }
        self.part(warp, here, join, &groups);
        Ok(Next::Leave)
    }

    fn special(&self, block: &Block, warp: &Warp, what: Special, here: &Here) -> [u32; LANES] {
        let launch = self.context.launch;
        let uniform = |value: u32| [value; LANES];
        let each = |f: &dyn Fn(u32) -> u32| std::array::from_fn(|lane| f(lane as u32));
        match what {
            Special::Thread(axis) => warp
                .threads
                .as_ref()
                .map_or([0; LANES], |threads| threads[axis]),
            Special::BlockExtent(axis) => uniform(launch.block[axis]),
            Special::Block(axis) => uniform(block.index[axis]),
            Special::GridExtent(axis) => uniform(launch.grid[axis]),
            Special::Lane => each(&|lane| lane),
            Special::Warp => uniform(warp.first_thread / 32),
            Special::WarpCount => uniform(block.warps.len() as u32),
            Special::LaneMask(mask) => each(&|lane| {
                let bit = 1u32 << lane;
                match mask {
                    LaneMask::Equal => bit,
                    LaneMask::Less => bit - 1,
                    LaneMask::LessEqual => bit | (bit - 1),
                    LaneMask::Greater => !(bit | (bit - 1)),
                    LaneMask::GreaterEqual => !(bit - 1),
                }
            }),
            Special::ActiveMask => uniform(here.mask),
            Special::Clock | Special::Nanoseconds => uniform(warp.issued as u32),
            Special::Multiprocessor => uniform((block.number % 132) as u32),
            Special::MultiprocessorCount => uniform(132),
            Special::DynamicSharedBytes => uniform(launch.dynamic_shared_bytes),
            Special::TotalSharedBytes => uniform(self.context.shared_bytes()),
            Special::Frame(offset) => uniform(here.bounds.base.wrapping_add(offset)),
            Special::Cluster(axis) => uniform(block.index[axis] / self.context.cluster[axis]),
            Special::ClusterCount(axis) => uniform(self.context.clusters()[axis]),
            Special::BlockOfCluster(axis) => {
                uniform(block.index[axis] % self.context.cluster[axis])
            }
            Special::ClusterExtent(axis) => uniform(self.context.cluster[axis]),
            Special::ClusterRank => uniform(block.rank),
            Special::ClusterSize => uniform(self.context.cluster_blocks),
            Special::ExplicitCluster => uniform(u32::from(
                self.context.cluster_blocks > 1 || self.context.kernel.required_cluster.is_some(),
            )),
            Special::Zero => uniform(0),
        }
    }
}

/// An access by which a thread may be waiting for others: it uses up the slice faster.
fn poll(warp: &mut Warp, at: usize, budget: &mut i64, cost: i64) {
    warp.splits[at].polls += 1;
    *budget -= cost;
}

#[inline(always)]
fn compare_lanes(view: &View, compare: &Compare, mask: u32) {
    // SAFETY: the decoder paired the function with these slots and predicates.
    unsafe {
        let found = (compare.run)(view, compare.a, compare.b);
        let with = holding(view, compare.with);
        view.set_predicate(compare.dst, mask, compare.op.apply(found, with));
        if compare.dst_not != 0 {
            view.set_predicate(compare.dst_not, mask, compare.op.apply(!found, with));
        }
    }
}

/// # Safety
/// The slots must be the program's, of the width of `T`.
#[inline(always)]
unsafe fn select<T: crate::lanes::Word>(
    view: &View,
    dst: crate::lanes::Slot,
    a: crate::lanes::Slot,
    b: crate::lanes::Slot,
    chosen: u32,
    mask: u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let (a, b) = (&*view.plane::<T>(a), &*view.plane::<T>(b));
        let mut out = [T::default(); LANES];
        for lane in 0..LANES {
            out[lane] = if chosen >> lane & 1 != 0 {
                a[lane]
            } else {
                b[lane]
            };
        }
        view.store(dst, mask, &out);
    }
}

fn carry_lanes(view: &View, carry: &Carry, mask: u32) {
    let wide = carry.dst.class().is_wide();
    let bits = if wide { 64 } else { 32 };
    // SAFETY: slots and predicate are the program's.
    unsafe {
        let mut flags = view.predicate(carry.flag);
        for lane in lanes_of(mask) {
            let value = |at: usize| u128::from(lane_value(view, carry.src[at], lane));
            let flag = u128::from(carry.takes && flags >> lane & 1 != 0);
            let (a, b) = (value(0), value(1));
            let product = |signed: bool| -> u128 {
                let extend = |x: u128| {
                    if wide {
                        x as i64 as i128
                    } else {
                        x as i32 as i128
                    }
                };
                if signed {
                    (extend(a) * extend(b)) as u128
                } else {
                    a * b
                }
            };
            let low = (1u128 << bits) - 1;
            let total = match carry.op {
                CarryOp::Add => a + b + flag,
                // The borrow comes out as the bit above the word.
                CarryOp::Sub => a.wrapping_sub(b).wrapping_sub(flag),
                CarryOp::MulLow { signed } => (product(signed) & low) + value(2) + flag,
                CarryOp::MulHigh { signed } => (product(signed) >> bits & low) + value(2) + flag,
            };
            super::elements::write_lane(view, carry.dst, lane, (total & low) as u64);
            if carry.sets {
                let out = (total >> bits & 1) as u32;
                flags = flags & !(1 << lane) | out << lane;
            }
        }
        view.set_predicate(carry.flag, mask, flags);
    }
}
