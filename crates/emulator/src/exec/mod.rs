//! Launches: geometry checked, blocks scheduled, counters and output gathered.
//!
//! Invariant: the result does not depend on the number of host threads. Blocks that can observe
//! one another (atomics, fences, volatile or ordered accesses of global memory) run on one thread
//! in a fixed rotation; others are independent and are spread.

#![allow(
    clippy::result_large_err,
    reason = "a fault is built once and ends the launch"
)]

mod access;
mod asynchronous;
mod atomics;
mod barrier;
mod block;
mod bulk;
mod bulk_stores;
mod calls;
mod cluster;
mod copies;
mod elements;
mod exchange;
mod flights;
mod format;
mod gather;
mod geometry;
mod groups;
mod inspect;
mod link;
mod local;
mod mbarrier;
mod mbarrier_word;
mod order;
mod placed;
mod print;
mod ranges;
mod reconverge;
mod shadow;
mod standstill;
mod step;
mod tensor;
mod tiles;
mod traffic;
mod turns;
mod violations;
mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

use crate::checks::{Checks, Footprint, Order};
use crate::counters::Counters;
use crate::fault::{Fault, FaultKind};
use crate::heap::Heap;
use crate::memory::{LoadedModule, Memory, Regions};
use crate::module::Kernel;
use gather::gather;
use geometry::{validate, validate_cluster};
use link::Linked;
use shadow::Shadow;
use worker::Worker;

/// Shared memory that a block of an H200 can have.
pub(crate) const MAX_SHARED_BYTES: u32 = 227 * 1024;
const MAX_BLOCK_THREADS: u64 = 1024;
/// Blocks that a cluster of an H200 can have, where it need not be portable.
const MAX_CLUSTER_BLOCKS: u64 = 16;
/// Blocks that run side by side in a seeded order when blocks cannot wait for one another.
const SEEDED_RESIDENT_BLOCKS: usize = 16;
/// What the host may keep for blocks that run side by side.
const MAX_RESIDENT_BYTES: u64 = 1 << 30;
/// What it may keep for the activations of functions that they have called.
const MAX_STACKS_BYTES: u64 = 256 << 20;
/// Local memory that a thread can have, its calls included.
pub(crate) const MAX_LOCAL_BYTES: u32 = 512 * 1024;

/// One kernel launch.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// Mangled name of the kernel.
    pub kernel: &'a str,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y and z; `[1, 1, 1]` leaves it to the kernel.
    pub cluster: [u32; 3],
    /// Shared memory beyond what the kernel declares.
    pub dynamic_shared_bytes: u32,
    /// Arguments, packed at the offsets of [`Kernel::parameters`].
    pub parameters: &'a [u8],
}

/// What a launch may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Warp instructions over the whole launch.
    pub instruction_fuel: u64,
    /// Host threads.
    pub threads: usize,
    /// Bytes that `printf` may write.
    pub output_bytes: usize,
    /// Blocks that run side by side when blocks can wait for one another.
    pub resident_blocks: usize,
    /// What is looked for beyond bounds.
    pub checks: Checks,
    /// The order of blocks and warps.
    pub order: Order,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            instruction_fuel: 1 << 36,
            threads: 1,
            output_bytes: 64 * 1024,
            resident_blocks: 132 * 8,
            checks: Checks::BOUNDS,
            order: Order::Index,
        }
    }
}

/// A launch that ran to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What it did.
    pub counters: Counters,
    /// What it printed.
    pub output: Output,
    /// What it touched of each allocation, in their order, with [`Checks::footprints`].
    pub footprints: Vec<Footprint>,
    /// Whether the checks that were asked for were done. They are left out for a kernel with an
    /// instruction whose accesses they cannot follow.
    pub is_checked: bool,
    /// What the kernel may have done that no counter shows, in the plural; then no time can be modelled.
    pub uncounted: Option<&'static str>,
}

/// What `printf` wrote, in block order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// The text.
    pub text: String,
}

/// Runs a kernel to its end.
///
/// # Errors
/// The first fault; among blocks that run in parallel, that of the lowest block.
pub fn launch(
    module: &LoadedModule,
    launch: &Launch<'_>,
    memory: &mut Memory,
    limits: &Limits,
) -> Result<Outcome, Fault> {
    let kernel = module
        .module()
        .check(launch.kernel)
        .map_err(|error| unsupported(&error))?;
    validate(kernel, launch)?;
    let linked = Linked::new(module, kernel).map_err(|error| unsupported(&error))?;
    if linked.largest_frame_bytes() > MAX_LOCAL_BYTES {
        let message = format!(
            "the kernel needs more than {MAX_LOCAL_BYTES} bytes of local memory a thread, the limit"
        );
        return Err(Fault::of_launch(FaultKind::BadLaunch, message));
    }
    let cluster = match kernel.required_cluster {
        Some(required) if launch.cluster == [1; 3] => required,
        _ => launch.cluster,
    };
    validate_cluster(kernel, launch, cluster)?;
    let heap = std::mem::take(&mut memory.heap);
    let (outcome, heap) = launch_in(kernel, &linked, launch, memory, limits, cluster, heap);
    memory.heap = heap;
    outcome
}

/// The launch itself. The heap is taken out of the memory meanwhile, which kernels only read.
fn launch_in(
    kernel: &Kernel,
    linked: &Linked<'_>,
    launch: &Launch<'_>,
    memory: &mut Memory,
    limits: &Limits,
    cluster: [u32; 3],
    heap: Heap,
) -> (Result<Outcome, Fault>, Heap) {
    // Blocks of a cluster reach each other's shared memory, which is not observed.
    let is_seen = !linked.has_unseen && cluster == [1; 3];
    let is_checked = limits.checks == Checks::BOUNDS || is_seen;
    let shadow = (limits.checks != Checks::BOUNDS && is_checked)
        .then(|| Box::new(Shadow::new(limits.checks, memory.lend_contents())));
    if shadow.is_none() {
        memory.define_all();
    }
    let regions = memory.regions();
    let context = Context {
        kernel,
        linked,
        memory,
        heap: Mutex::new(heap),
        cluster,
        cluster_blocks: cluster.iter().product(),
        regions: &regions,
        launch,
        limits,
        blocks: launch
            .grid
            .iter()
            .map(|&extent| u64::from(extent))
            .product(),
        alone: linked.couples_blocks
            || limits.threads <= 1
            || shadow.is_some()
            || limits.order != Order::Index,
        issued: AtomicU64::new(0),
        next_group: AtomicU64::new(0),
        first_fault: AtomicU64::new(u64::MAX),
    };
    let grouping = (context.cluster_blocks, context.runs_side_by_side());
    let (results, shadow) = run(&context, shadow);
    let heap = context.heap.into_inner();
    let footprints = shadow.map(|shadow| shadow.into_parts(memory));
    let footprints = footprints.map_or(Vec::new(), |(footprints, contents)| {
        memory.take_contents_back(contents);
        footprints
    });
    let outcome = gather(results, grouping, limits, &regions).map(|outcome| Outcome {
        footprints,
        is_checked,
        uncounted: linked.uncounted,
        ..outcome
    });
    (outcome, heap.unwrap_or_else(PoisonError::into_inner))
}

/// What every worker of a launch shares.
pub(crate) struct Context<'a> {
    kernel: &'a Kernel,
    linked: &'a Linked<'a>,
    memory: &'a Memory,
    regions: &'a Regions,
    heap: Mutex<Heap>,
    /// Blocks of a cluster along each axis, and in all.
    cluster: [u32; 3],
    cluster_blocks: u32,
    launch: &'a Launch<'a>,
    limits: &'a Limits,
    blocks: u64,
    /// One host thread runs the whole launch.
    alone: bool,
    /// Warp instructions that the workers have reported.
    issued: AtomicU64,
    /// Cluster to run next; a block without one is a cluster of its own.
    next_group: AtomicU64,
    /// Lowest cluster that faulted: later ones need not run.
    first_fault: AtomicU64,
}

impl Context<'_> {
    fn groups(&self) -> u64 {
        self.blocks / u64::from(self.cluster_blocks)
    }

    fn shared_bytes(&self) -> u32 {
        self.kernel.static_shared_bytes + self.launch.dynamic_shared_bytes
    }

    /// Blocks take turns, so that one may print before an earlier one has ended.
    fn runs_side_by_side(&self) -> bool {
        self.linked.couples_blocks || self.limits.order != Order::Index
    }

    /// Clusters that may run side by side: as many as the limits name and the host has room for.
    fn resident_groups(&self) -> usize {
        let threads: u32 = self.launch.block.iter().product();
        let block = self
            .linked
            .block_bytes(self.kernel.function, threads.div_ceil(32));
        let group = (block + u64::from(self.shared_bytes())) * u64::from(self.cluster_blocks);
        let room = (MAX_RESIDENT_BYTES / group) as usize;
        let named = self.limits.resident_blocks / self.cluster_blocks as usize;
        named.min(room).max(1)
    }
}

fn run<'a>(
    context: &'a Context<'a>,
    shadow: Option<Box<Shadow>>,
) -> (Vec<worker::Results>, Option<Box<Shadow>>) {
    if context.alone {
        let mut worker = Worker::new(context);
        worker.shadow = shadow;
        contained(&mut worker, |worker| {
            let resident = context.resident_groups();
            let window = match (context.linked.couples_blocks, context.limits.order) {
                (true, _) => resident,
                (false, Order::Seeded(_)) => resident.min(SEEDED_RESIDENT_BLOCKS),
                (false, Order::Index) => 1,
            };
            worker.run_window(window);
        });
        let shadow = worker.shadow.take();
        return (vec![worker.into_results()], shadow);
    }
    let threads = context.limits.threads.min(context.groups() as usize).max(1);
    let results = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(move || {
                    let mut worker = Worker::new(context);
                    contained(&mut worker, |worker| while worker.run_next() {});
                    worker.into_results()
                })
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().expect("its panics are contained"))
            .collect()
    });
    (results, None)
}

/// A panic in here is a mistake of the emulated device: it becomes the launch's fault, in words that say
/// so, and neither the host's memory nor the other workers are lost.
fn contained<'a>(worker: &mut Worker<'a>, run: impl FnOnce(&mut Worker<'a>)) {
    // What the worker leaves is read for its texts and counters, and the rest is dropped.
    let outcome = catch_unwind(AssertUnwindSafe(|| run(worker)));
    if let Err(panic) = outcome {
        let known = panic.downcast_ref::<String>().map(String::as_str);
        let known = known.or_else(|| panic.downcast_ref::<&str>().copied());
        let message = format!(
            "the emulated device failed, which is its own mistake and not the kernel's: {}",
            known.unwrap_or("unknown")
        );
        worker.fail(Fault::of_launch(FaultKind::Internal, message));
    }
}

fn unsupported(error: &crate::LoadError) -> Fault {
    let (kind, line) = match error {
        crate::LoadError::Unsupported { opcode, line, .. } => (
            FaultKind::Unsupported {
                opcode: opcode.clone(),
            },
            *line,
        ),
        _ => (FaultKind::BadLaunch, None),
    };
    Fault {
        line,
        ..Fault::of_launch(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::Module;

    /// A kernel of a function that was not linked: no launch gets as far as this.
    #[test]
    fn a_panic_is_told_as_the_device_s_own_and_the_heap_stays() {
        let ptx = ".version 9.5\n.target sm_90a\n.address_size 64\n.func f()\n{\nret;\n}\n\
                   .visible .entry k()\n{\nret;\n}\n";
        let module = Module::parse(ptx).unwrap();
        let mut memory = Memory::new(1 << 20);
        let loaded = memory.load(&module).unwrap();
        let kernel = module.check("k").unwrap();
        let linked = Linked::new(&loaded, kernel).unwrap();
        let broken = Kernel {
            function: 0,
            ..kernel.clone()
        };
        let launch = Launch {
            kernel: "k",
            grid: [8, 1, 1],
            block: [1; 3],
            cluster: [1; 3],
            dynamic_shared_bytes: 0,
            parameters: &[],
        };
        for threads in [1, 3] {
            let mut heap = Heap::default();
            let address = heap.allocate(16);
            let limits = Limits {
                threads,
                ..Limits::default()
            };
            let cluster = launch.cluster;
            let (outcome, mut heap) = launch_in(
                &broken,
                &linked,
                &launch,
                &mut memory,
                &limits,
                cluster,
                heap,
            );
            let fault = outcome.unwrap_err();
            assert_eq!(fault.kind, FaultKind::Internal);
            let start = "the emulated device failed, which is its own mistake and not the kernel's";
            assert!(fault.message.starts_with(start), "{fault}");
            assert_eq!(heap.free(address), Ok(()));
        }
    }
}
