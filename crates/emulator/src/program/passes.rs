//! Where a thread has left a barrier of the whole block behind for good.
//!
//! For each `__syncthreads()` of a kernel that is the first instruction after it that every thread
//! comes to, whichever way it takes, and from which no way leads back. A thread that is there while
//! another waits at the barrier has gone around it. There is no such place where nothing but the end
//! of the kernel follows: going around is then the same as an early `return`.

use super::flow::Graph;
use super::{Inst, Kind, Program};

/// Inserts a [`Kind::Passes`] at each such place.
pub(crate) fn mark_passes(program: &mut Program) {
    let mut marks = places(&program.insts);
    if marks.is_empty() {
        return;
    }
    marks.sort_unstable();
    // A place moves behind the marks before it; a mark itself stands where its place was.
    let mut starts: Vec<u32> = marks.iter().map(|&(place, _)| place).collect();
    starts.dedup();
    let target_of = |at: u32| at + starts.partition_point(|&place| place < at) as u32;
    let place_of = |at: u32| at + starts.partition_point(|&place| place <= at) as u32;
    let mut insts = Vec::with_capacity(program.insts.len() + starts.len());
    let mut lines = Vec::with_capacity(insts.capacity());
    let old = std::mem::take(&mut program.insts);
    for (at, (mut inst, line)) in old.into_iter().zip(program.lines.drain(..)).enumerate() {
        if starts.binary_search(&(at as u32)).is_ok() {
            let first = marks.partition_point(|&(place, _)| (place as usize) < at);
            let here = marks[first..]
                .iter()
                .take_while(|&&(place, _)| place as usize == at);
            insts.push(mark(here.map(|&(_, barrier)| place_of(barrier)).collect()));
            lines.push(line);
        }
        match &mut inst.kind {
            Kind::Branch { target, .. } => *target = target_of(*target),
            Kind::Table { targets, .. } => {
                targets
                    .iter_mut()
                    .for_each(|target| *target = target_of(*target));
            }
            _ => {}
        }
        insts.push(inst);
        lines.push(line);
    }
    (program.insts, program.lines) = (insts, lines);
}

fn mark(barriers: Box<[u32]>) -> Inst {
    Inst {
        guard: super::Predicate::default(),
        flop: super::Flop::default(),
        issues: 0,
        path: 0,
        kind: Kind::Passes(barriers),
    }
}

/// Each place with the barrier that it belongs to.
fn places(insts: &[Inst]) -> Vec<(u32, u32)> {
    let is_barrier =
        |inst: &Inst| matches!(&inst.kind, Kind::Barrier(barrier) if barrier.is_whole_block());
    if !insts.iter().any(is_barrier) {
        return Vec::new();
    }
    let graph = Graph::new(insts);
    let joins = graph.post_dominators();
    let predecessors = predecessors(&graph);
    let mut places = Vec::new();
    for (block, &(start, end)) in graph.blocks.iter().enumerate() {
        let mut barriers = (start..end).filter(|&at| is_barrier(&insts[at])).peekable();
        if barriers.peek().is_none() {
            continue;
        }
        let leads_here = ancestors(block, &predecessors);
        let mut place = joins[block];
        while place < graph.blocks.len() && leads_here[place] {
            place = joins[place];
        }
        let Some(&(place, _)) = graph.blocks.get(place) else {
            continue;
        };
        if !matches!(insts[place].kind, Kind::Exit) {
            places.extend(barriers.map(|barrier| (place as u32, barrier as u32)));
        }
    }
    places
}

fn predecessors(graph: &Graph) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); graph.blocks.len()];
    for (block, next) in graph.successors.iter().enumerate() {
        for &to in next {
            predecessors[to].push(block);
        }
    }
    predecessors
}

/// The blocks from which a block can be reached.
fn ancestors(block: usize, predecessors: &[Vec<usize>]) -> Vec<bool> {
    let mut found = vec![false; predecessors.len()];
    let mut pending = vec![block];
    while let Some(block) = pending.pop() {
        for &before in &predecessors[block] {
            if !std::mem::replace(&mut found[before], true) {
                pending.push(before);
            }
        }
    }
    found
}
