//! Control-flow graph and immediate post-dominators: where diverged lanes meet again.

use super::{Inst, Kind, NO_JOIN};

/// For each instruction that can diverge, the index at which its sides meet, or [`NO_JOIN`].
///
/// Lanes never wait at an instruction that only ends the thread (`exits`): they leave at once, so
/// that an early return does not hold up a barrier.
pub(crate) fn join_points(insts: &[Inst]) -> Vec<u32> {
    let graph = Graph::new(insts);
    let joins = graph.post_dominators();
    let mut out = vec![NO_JOIN; insts.len()];
    for (block, &(_, end)) in graph.blocks.iter().enumerate() {
        let join = joins[block];
        if join < graph.blocks.len() {
            let start = graph.blocks[join].0;
            if !matches!(insts[start].kind, Kind::Exit) {
                out[end - 1] = start as u32;
            }
        }
    }
    out
}

pub(super) struct Graph {
    /// Start and end index of each block, in order.
    pub(super) blocks: Vec<(usize, usize)>,
    pub(super) successors: Vec<Vec<usize>>,
    /// The block can end the thread or the call. A trap ends the launch and joins nothing.
    exits: Vec<bool>,
}

impl Graph {
    pub(super) fn new(insts: &[Inst]) -> Self {
        let mut leader = vec![false; insts.len() + 1];
        leader[0] = true;
        for (at, inst) in insts.iter().enumerate() {
            if let Some(targets) = targets(inst) {
                leader[at + 1] = true;
                for &target in targets {
                    leader[target as usize] = true;
                }
            }
        }
        let mut blocks = Vec::new();
        let mut block_of = vec![0; insts.len()];
        for at in 0..insts.len() {
            if leader[at] {
                blocks.push((at, at));
            }
            let last = blocks.len() - 1;
            blocks[last].1 = at + 1;
            block_of[at] = last;
        }
        let successors = blocks
            .iter()
            .map(|&(_, end)| {
                let inst = &insts[end - 1];
                let mut next: Vec<usize> = targets(inst)
                    .into_iter()
                    .flatten()
                    .map(|&target| block_of[target as usize])
                    .collect();
                if falls_through(inst) && end < insts.len() {
                    next.push(block_of[end]);
                }
                next
            })
            .collect();
        let exits = blocks
            .iter()
            .map(|&(_, end)| matches!(insts[end - 1].kind, Kind::Return | Kind::Exit))
            .collect();
        Self {
            blocks,
            successors,
            exits,
        }
    }

    /// Cooper, Harvey and Kennedy's iteration on the reversed graph. The virtual exit is
    /// `blocks.len()`; a block that cannot reach it (an endless loop) gets it as well.
    pub(super) fn post_dominators(&self) -> Vec<usize> {
        let exit = self.blocks.len();
        let mut predecessors = vec![Vec::new(); exit + 1];
        for (block, next) in self.successors.iter().enumerate() {
            if self.exits[block] {
                predecessors[exit].push(block);
            }
            for &to in next {
                predecessors[to].push(block);
            }
        }
        let order = post_order(&predecessors, exit);
        let mut number = vec![usize::MAX; exit + 1];
        for (at, &block) in order.iter().enumerate() {
            number[block] = at;
        }
        let mut dominator = vec![usize::MAX; exit + 1];
        dominator[exit] = exit;
        let mut changed = true;
        while changed {
            changed = false;
            for &block in order.iter().rev().filter(|&&block| block != exit) {
                let mut best = usize::MAX;
                let leaves = self.exits[block].then_some(exit);
                for to in self.successors[block].iter().copied().chain(leaves) {
                    if dominator[to] != usize::MAX {
                        best = if best == usize::MAX {
                            to
                        } else {
                            meet(&dominator, &number, best, to)
                        };
                    }
                }
                if best != usize::MAX && dominator[block] != best {
                    dominator[block] = best;
                    changed = true;
                }
            }
        }
        dominator.truncate(exit);
        dominator.iter().map(|&join| join.min(exit)).collect()
    }
}

fn meet(dominator: &[usize], number: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while number[a] < number[b] {
            a = dominator[a];
        }
        while number[b] < number[a] {
            b = dominator[b];
        }
    }
    a
}

fn post_order(edges: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; edges.len()];
    let mut stack = vec![(root, 0)];
    seen[root] = true;
    while let Some((node, next)) = stack.pop() {
        match edges[node].get(next) {
            Some(&to) => {
                stack.push((node, next + 1));
                if !seen[to] {
                    seen[to] = true;
                    stack.push((to, 0));
                }
            }
            None => order.push(node),
        }
    }
    order
}

/// Branch targets of an instruction that ends a block, or nothing if it does not end one.
pub(super) fn targets(inst: &Inst) -> Option<&[u32]> {
    match &inst.kind {
        Kind::Branch { target, .. } => Some(std::slice::from_ref(target)),
        Kind::Table { targets, .. } => Some(targets),
        Kind::Return | Kind::Exit | Kind::Trap => Some(&[]),
        _ => None,
    }
}

/// Whether control can reach the next instruction.
pub(super) fn falls_through(inst: &Inst) -> bool {
    let always = inst.guard.index == 0 && !inst.guard.negated;
    let ends = matches!(
        inst.kind,
        Kind::Branch { .. } | Kind::Table { .. } | Kind::Return | Kind::Exit | Kind::Trap
    );
    !(always && ends)
}
