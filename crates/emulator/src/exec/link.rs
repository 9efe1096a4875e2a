//! Programs with their constants resolved: variables have addresses once a module is loaded.

use super::copies::COPIES_BYTES;
use super::flights::MAX_HELD_BYTES;
use super::reconverge::KEPT_FRAMES;
use super::shadow::{Touches, touches};
use crate::LoadError;
use crate::lanes::LANES;
use crate::memory::LoadedModule;
use crate::module::Kernel;
use crate::program::{AsyncKind, Constant, Kind, Program};

/// What a warp takes beside registers and memory.
const WARP_BYTES: u64 = 4 << 10;

impl Function<'_> {
    /// Of a thread's stack, what one activation takes: its frame and its registers.
    pub(super) fn stack_bytes(&self) -> u64 {
        let registers = 4 * self.program.planes() + self.program.predicates / 8;
        u64::from(self.program.frame_bytes.max(16)) + registers as u64
    }
}

/// The functions that a kernel reaches, by function index.
pub(super) struct Linked<'a> {
    functions: Vec<Option<Function<'a>>>,
    pub(super) couples_blocks: bool,
    /// Some instruction accesses memory in a way that the checks do not see.
    pub(super) has_unseen: bool,
    /// Some instruction puts copies under way.
    has_copies: bool,
    /// What it may do that no counter shows.
    pub(super) uncounted: Option<&'static str>,
}

pub(super) struct Function<'a> {
    pub(super) program: &'a Program,
    /// Constants, one copy a lane, so that they are read as registers are.
    pub(super) narrow: Vec<[u32; LANES]>,
    pub(super) wide: Vec<[u64; LANES]>,
}

impl<'a> Linked<'a> {
    pub(super) fn new(loaded: &'a LoadedModule, kernel: &Kernel) -> Result<Self, LoadError> {
        let module = loaded.module();
        let mut functions: Vec<Option<Function<'a>>> =
            (0..module.function_count()).map(|_| None).collect();
        let mut couples_blocks = false;
        let mut has_unseen = false;
        let mut has_copies = false;
        let mut uncounted = None;
        for index in module.reachable(kernel.function)? {
            let program = module.program(index)?;
            couples_blocks |= program.couples_blocks;
            has_unseen |= program
                .insts
                .iter()
                .any(|inst| touches(&inst.kind) == Touches::Unseen);
            has_copies |= program.insts.iter().any(|inst| puts_under_way(&inst.kind));
            uncounted = uncounted.or_else(|| {
                let mut kinds = program.insts.iter().map(|inst| &inst.kind);
                kinds.find_map(uncounted_work)
            });
            let resolve = |constant: &Constant| resolve(constant, loaded, kernel);
            functions[index] = Some(Function {
                program,
                narrow: program
                    .narrow_constants
                    .iter()
                    .map(|constant| [resolve(constant) as u32; LANES])
                    .collect(),
                wide: program
                    .wide_constants
                    .iter()
                    .map(|constant| [resolve(constant); LANES])
                    .collect(),
            });
        }
        Ok(Self {
            functions,
            couples_blocks,
            has_unseen,
            has_copies,
            uncounted,
        })
    }

    /// What the host keeps for a block of the kernel beside its shared memory, as far as it is known
    /// beforehand.
    pub(super) fn block_bytes(&self, kernel: usize, warps: u32) -> u64 {
        let program = self.function(kernel).program;
        let lanes = LANES as u64;
        let own = lanes * (4 * program.planes() as u64 + u64::from(program.frame_bytes));
        let others = self.functions.iter().flatten();
        let largest = others.map(|function| function.program.planes()).max();
        let kept = if program.callees.is_empty() {
            0
        } else {
            4 * lanes * (KEPT_FRAMES * largest.unwrap_or(0)) as u64
        };
        let (of_block, of_warp) = if self.has_copies {
            (2 * MAX_HELD_BYTES as u64, COPIES_BYTES)
        } else {
            (0, 0)
        };
        of_block + u64::from(warps) * (own + kept + of_warp + WARP_BYTES)
    }

    /// Local memory of the function that needs most.
    pub(super) fn largest_frame_bytes(&self) -> u32 {
        let functions = self.functions.iter().flatten();
        let bytes = functions.map(|function| function.program.frame_bytes);
        bytes.max().unwrap_or(0)
    }

    /// Functions of the module.
    pub(super) fn count(&self) -> usize {
        self.functions.len()
    }

    /// Whether the kernel can reach a function.
    pub(super) fn is_linked(&self, index: usize) -> bool {
        self.functions[index].is_some()
    }

    pub(super) fn function(&self, index: usize) -> &Function<'a> {
        self.functions[index]
            .as_ref()
            .expect("every function that a kernel reaches is linked")
    }
}

fn puts_under_way(kind: &Kind) -> bool {
    use AsyncKind::{BulkLoad, BulkStore, Copy, Reduce, Store, TensorLoad, TensorStore};
    let Kind::Async(what) = kind else {
        return false;
    };
    matches!(
        what.kind,
        Copy { .. }
            | BulkLoad { .. }
            | BulkStore { .. }
            | TensorLoad { .. }
            | TensorStore { .. }
            | Store { .. }
            | Reduce { .. }
    )
}

/// What an instruction does whose time does not follow from what is counted.
fn uncounted_work(kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::Async(what) => match what.kind {
            AsyncKind::Allocate { .. } | AsyncKind::Free { .. } => Some("malloc and free"),
            _ => None,
        },
        Kind::Sleep => Some("sleeps"),
        _ => None,
    }
}

fn resolve(constant: &Constant, loaded: &LoadedModule, kernel: &Kernel) -> u64 {
    match constant {
        Constant::Bits(bits) => *bits,
        Constant::Address { symbol, addend } => {
            let shared = kernel.shared.get(symbol).map(|&offset| u64::from(offset));
            let address = shared.or_else(|| loaded.global(symbol).map(|(address, _)| address));
            address.unwrap_or(0).wrapping_add(*addend as u64)
        }
    }
}
