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
mod calls;
mod cluster;
mod copies;
mod elements;
mod exchange;
mod inspect;
mod link;
mod mbarrier;
mod mbarrier_word;
mod order;
mod print;
mod reconverge;
mod shadow;
mod standstill;
mod step;
mod tensor;
mod tiles;
mod traffic;
mod violations;
mod worker;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::checks::{Checks, Footprint, Order};
use crate::counters::Counters;
use crate::fault::{Fault, FaultKind};
use crate::heap::Heap;
use crate::memory::{LoadedModule, Memory, Regions};
use crate::module::Kernel;
use link::Linked;
use shadow::Shadow;
use traffic::Traffic;
use worker::Worker;

/// Shared memory that a block of an H200 can have.
const MAX_SHARED_BYTES: u32 = 227 * 1024;
const MAX_BLOCK_THREADS: u64 = 1024;
/// Blocks that a cluster of an H200 can have, where it need not be portable.
const MAX_CLUSTER_BLOCKS: u64 = 16;
/// Blocks that run side by side in a seeded order when blocks cannot wait for one another.
const SEEDED_RESIDENT_BLOCKS: usize = 16;
/// Local memory that a thread can have, its calls included.
const MAX_LOCAL_BYTES: u32 = 512 * 1024;

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
    let blocks = context.blocks;
    let (results, shadow) = run(&context, shadow);
    let heap = context.heap.into_inner();
    let footprints = shadow.map(|shadow| shadow.into_parts(memory));
    let footprints = footprints.map_or(Vec::new(), |(footprints, contents)| {
        memory.take_contents_back(contents);
        footprints
    });
    let outcome = gather(results, blocks, limits, &regions).map(|outcome| Outcome {
        footprints,
        is_checked,
        uncounted: linked.uncounted,
        ..outcome
    });
    (outcome, heap.unwrap_or_else(PoisonError::into_inner))
}

/// What the workers leave, put together.
fn gather(
    mut results: Vec<worker::Results>,
    blocks: u64,
    limits: &Limits,
    regions: &Regions,
) -> Result<Outcome, Fault> {
    // Blocks print in their own order, whoever ran them.
    let mut counters = Counters::default();
    let mut traffic = Traffic::default();
    let mut texts = Vec::new();
    let mut fault: Option<(u64, Fault)> = None;
    for result in &mut results {
        counters += result.counters;
        traffic.merge(&result.traffic);
        texts.append(&mut result.printed);
        if let Some(found) = result.fault.take()
            && fault.as_ref().is_none_or(|(block, _)| found.0 < *block)
        {
            fault = Some(found);
        }
    }
    traffic.count(regions, &mut counters);
    texts.sort_by_key(|(block, _)| *block);
    let text: String = texts.into_iter().map(|(_, text)| text).collect();
    // Of the sum alone, so that the verdict is the same however many workers shared the launch.
    if fault.is_none() && counters.warp_instructions > limits.instruction_fuel {
        let spent = worker::launch_out_of_fuel(&counters, limits);
        fault = Some((blocks, spent));
    }
    if let Some((_, mut fault)) = fault {
        fault.output = text;
        fault
            .output
            .truncate(floor_boundary(&fault.output, limits.output_bytes));
        return Err(fault);
    }
    if text.len() > limits.output_bytes {
        return Err(worker::output_limit(limits.output_bytes, text));
    }
    Ok(Outcome {
        counters,
        output: Output { text },
        footprints: Vec::new(),
        is_checked: true,
        uncounted: None,
    })
}

/// The largest character boundary that is not beyond `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
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
}

fn run<'a>(
    context: &'a Context<'a>,
    shadow: Option<Box<Shadow>>,
) -> (Vec<worker::Results>, Option<Box<Shadow>>) {
    if context.alone {
        let mut worker = Worker::new(context);
        worker.shadow = shadow;
        let resident = context.limits.resident_blocks / context.cluster_blocks as usize;
        let resident = resident.max(1);
        let window = match (context.linked.couples_blocks, context.limits.order) {
            (true, _) => resident,
            (false, Order::Seeded(_)) => resident.min(SEEDED_RESIDENT_BLOCKS),
            (false, Order::Index) => 1,
        };
        worker.run_window(window);
        let shadow = worker.shadow.take();
        return (vec![worker.into_results()], shadow);
    }
    let threads = context.limits.threads.min(context.groups() as usize).max(1);
    let results = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(move || {
                    let mut worker = Worker::new(context);
                    while context.next_group.load(Ordering::Relaxed) < context.groups() {
                        worker.run_next();
                    }
                    worker.into_results()
                })
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().expect("a worker does not panic"))
            .collect()
    });
    (results, None)
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

fn validate_cluster(kernel: &Kernel, launch: &Launch<'_>, cluster: [u32; 3]) -> Result<(), Fault> {
    let bad = |message: String| Err(Fault::of_launch(FaultKind::BadLaunch, message));
    let shape = crate::fault::triple(cluster);
    let blocks: u64 = cluster.iter().map(|&extent| u64::from(extent)).product();
    if blocks == 0 || blocks > MAX_CLUSTER_BLOCKS {
        return bad(format!(
            "a cluster of {shape} blocks cannot be launched; {MAX_CLUSTER_BLOCKS} blocks are the most"
        ));
    }
    if let Some(required) = kernel
        .required_cluster
        .filter(|&required| required != cluster)
    {
        let required = crate::fault::triple(required);
        return bad(format!(
            "the kernel's __cluster_dims__ are {required}, and the launch asks for {shape}"
        ));
    }
    let divides = |axis: usize| launch.grid[axis].is_multiple_of(cluster[axis]);
    if !(0..3).all(divides) {
        let grid = crate::fault::triple(launch.grid);
        return bad(format!(
            "a grid of {grid} blocks does not consist of whole clusters of {shape}"
        ));
    }
    Ok(())
}

fn validate(kernel: &Kernel, launch: &Launch<'_>) -> Result<(), Fault> {
    let bad = |message: String| Err(Fault::of_launch(FaultKind::BadLaunch, message));
    let [x, y, z] = launch.grid;
    let grid = crate::fault::triple(launch.grid);
    let block = crate::fault::triple(launch.block);
    if x == 0 || y == 0 || z == 0 || x > i32::MAX as u32 || y > 65_535 || z > 65_535 {
        return bad(format!("a grid of {grid} blocks cannot be launched"));
    }
    let threads: u64 = launch
        .block
        .iter()
        .map(|&extent| u64::from(extent))
        .product();
    if threads == 0 || threads > MAX_BLOCK_THREADS || launch.block[2] > 64 {
        return bad(format!("a block of {block} threads cannot be launched"));
    }
    if kernel
        .max_threads
        .is_some_and(|most| threads > u64::from(most))
    {
        return bad(format!(
            "a block of {block} threads exceeds the kernel's __launch_bounds__"
        ));
    }
    if kernel
        .required_block
        .is_some_and(|required| required != launch.block)
    {
        return bad(format!(
            "the kernel does not admit blocks of {block} threads"
        ));
    }
    let shared = u64::from(kernel.static_shared_bytes) + u64::from(launch.dynamic_shared_bytes);
    if shared > u64::from(MAX_SHARED_BYTES) {
        return bad(format!(
            "a block needs {shared} bytes of shared memory and can have {MAX_SHARED_BYTES}"
        ));
    }
    if launch.parameters.len() < kernel.parameter_bytes as usize {
        return bad(format!(
            "the kernel takes {} bytes of arguments and was given {}",
            kernel.parameter_bytes,
            launch.parameters.len()
        ));
    }
    Ok(())
}
