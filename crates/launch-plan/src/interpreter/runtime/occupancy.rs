//! How many blocks and clusters of a kernel are resident at a time.

use super::attributes::kernel_of;
use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::parameters::Given;
use crate::interpreter::value::{KernelRef, Value};
use crate::source::text::At;
use crate::types::Scalar;

/// How a fault calls these functions.
const WHAT: &str = "an occupancy query";
/// Multiprocessors that share a crossbar, among which a cluster is placed. Cards differ by a few, so that
/// answers about clusters are estimates, mostly exact or low by one.
const GROUP_MULTIPROCESSORS: u64 = 16;

/// Dynamic shared memory of a block in bytes.
enum SharedMemory {
    Same(u64),
    /// What this function says of the number of threads.
    ByThreads(Value),
}

impl Interpreter<'_> {
    pub(super) fn occupancy_call(
        &mut self,
        name: &str,
        values: &[Value],
        at: At,
    ) -> Option<Fallible<Value>> {
        Some(match (name, values) {
            (
                "cudaOccupancyMaxActiveBlocksPerMultiprocessor"
                | "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
                [target, kernel, threads, shared, ..],
            ) => self.resident_blocks(target, kernel, threads, shared, at),
            (
                "cudaOccupancyMaxPotentialBlockSize"
                | "cudaOccupancyMaxPotentialBlockSizeWithFlags",
                [grid, block, kernel, rest @ ..],
            ) => {
                let shared = rest.first().map_or(Ok(0), |bytes| self.count_of(bytes, at));
                shared.and_then(|bytes| {
                    let shared = SharedMemory::Same(bytes);
                    self.potential_block([grid, block], kernel, &shared, rest.get(1), at)
                })
            }
            (
                "cudaOccupancyMaxPotentialBlockSizeVariableSMem"
                | "cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags",
                [grid, block, kernel, function, rest @ ..],
            ) => {
                let shared = SharedMemory::ByThreads(function.clone());
                self.potential_block([grid, block], kernel, &shared, rest.first(), at)
            }
            ("cudaOccupancyAvailableDynamicSMemPerBlock", [target, kernel, blocks, _]) => {
                self.available_shared(target, kernel, blocks, at)
            }
            ("cudaOccupancyMaxActiveClusters", [target, kernel, configuration]) => {
                self.resident_clusters(target, kernel, configuration, at)
            }
            ("cudaOccupancyMaxPotentialClusterSize", [target, kernel, configuration]) => {
                self.potential_cluster(target, kernel, configuration, at)
            }
            _ => return None,
        })
    }

    /// `cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared)`.
    pub(super) fn resident_blocks(
        &mut self,
        target: &Value,
        kernel: &Value,
        threads: &Value,
        shared: &Value,
        at: At,
    ) -> Fallible<Value> {
        let kernel = kernel_of(kernel, WHAT, at)?;
        let threads = self.count_of(threads, at)?;
        let shared = self.count_of(shared, at)?;
        let blocks = self.blocks_of(kernel, threads, shared, at)?;
        self.store_through(target, Value::int(blocks.into()), at)
    }

    /// `cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel, shared = 0, most = 0)`: the search
    /// of `cuda_runtime.h`, from the largest block down.
    fn potential_block(
        &mut self,
        [grid, block]: [&Value; 2],
        kernel: &Value,
        shared: &SharedMemory,
        limit: Option<&Value>,
        at: At,
    ) -> Fallible<Value> {
        let kernel = kernel_of(kernel, WHAT, at)?;
        let (attributes, _) = self.attributes_of(kernel, at)?;
        let mut most = u64::from(
            attributes
                .max_threads
                .min(self.limits.max_threads_per_block),
        );
        if let Some(given) = limit {
            let given = self.count_of(given, at)?;
            if given != 0 {
                most = most.min(given);
            }
        }
        let warp = u64::from(self.limits.warp_size.max(1));
        let full = u64::from(self.limits.max_threads_per_multiprocessor);
        let (mut best_threads, mut best_block, mut best_blocks) = (0, 0, 0);
        let mut aligned = most.next_multiple_of(warp);
        while aligned > 0 && best_threads < full {
            self.spend(1, at)?;
            let threads = aligned.min(most);
            let shared = self.shared_memory(shared, threads, at)?;
            let blocks = self.blocks_of(kernel, threads, shared, at)?;
            let resident = threads * u64::from(blocks);
            if resident > best_threads {
                (best_threads, best_block, best_blocks) = (resident, threads, blocks);
            }
            aligned -= warp;
        }
        let blocks = i128::from(best_blocks) * i128::from(self.limits.multiprocessors);
        self.store_through(grid, Value::int(blocks), at)?;
        self.store_through(block, Value::int(best_block.into()), at)
    }

    fn shared_memory(&mut self, shared: &SharedMemory, threads: u64, at: At) -> Fallible<u64> {
        match shared {
            SharedMemory::Same(bytes) => Ok(*bytes),
            SharedMemory::ByThreads(function) => {
                let threads = Given::value(Value::int(threads.into()), at);
                let bytes = self.call_with(function, vec![threads], at)?;
                self.count_of(&bytes, at)
            }
        }
    }

    /// `cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, blocks, threads)`.
    fn available_shared(
        &mut self,
        target: &Value,
        kernel: &Value,
        blocks: &Value,
        at: At,
    ) -> Fallible<Value> {
        let kernel = kernel_of(kernel, WHAT, at)?;
        let blocks = self.count_of(blocks, at)?.max(1);
        let (attributes, _) = self.attributes_of(kernel, at)?;
        let limits = self.limits;
        let reserved = if limits.compute_major >= 8 { 1024 } else { 0 };
        let share = u64::from(limits.shared_memory_per_multiprocessor_bytes) / blocks;
        let most = u64::from(limits.shared_memory_per_block_optin_bytes);
        let bytes = share.saturating_sub(reserved).min(most);
        let bytes = bytes.saturating_sub(attributes.static_shared_bytes.into());
        self.store_through(target, Value::Integer(Scalar::ULong, bytes.into()), at)
    }

    /// `cudaOccupancyMaxActiveClusters(&clusters, kernel, &configuration)`.
    fn resident_clusters(
        &mut self,
        target: &Value,
        kernel: &Value,
        configuration: &Value,
        at: At,
    ) -> Fallible<Value> {
        let kernel = kernel_of(kernel, WHAT, at)?;
        let (cluster, blocks) = self.clusters_asked(kernel, configuration, at)?;
        let size = volume(cluster.unwrap_or([1; 3]));
        let blocks = u64::from(blocks);
        let multiprocessors = u64::from(self.limits.multiprocessors);
        let groups = multiprocessors / GROUP_MULTIPROCESSORS;
        let rest = multiprocessors % GROUP_MULTIPROCESSORS;
        let of = |multiprocessors: u64| (multiprocessors * blocks).checked_div(size).unwrap_or(0);
        let clusters = groups * of(GROUP_MULTIPROCESSORS) + of(rest);
        self.store_through(target, Value::int(clusters.into()), at)
    }

    /// `cudaOccupancyMaxPotentialClusterSize(&size, kernel, &configuration)`.
    fn potential_cluster(
        &mut self,
        target: &Value,
        kernel: &Value,
        configuration: &Value,
        at: At,
    ) -> Fallible<Value> {
        let kernel = kernel_of(kernel, WHAT, at)?;
        let (_, blocks) = self.clusters_asked(kernel, configuration, at)?;
        let size = match blocks {
            0 => 0,
            _ => self.largest_cluster(kernel, at)?,
        };
        self.store_through(target, Value::int(size.into()), at)
    }

    /// The cluster of a configuration, and the blocks that one multiprocessor holds under it.
    fn clusters_asked(
        &mut self,
        kernel: &KernelRef,
        configuration: &Value,
        at: At,
    ) -> Fallible<(Option<[u32; 3]>, u32)> {
        let configuration = self.configuration(configuration, at)?;
        if self.limits.compute_major < 9 {
            return Err(
                Fault::launch(at, "clusters are asked about on a device without clusters")
                    .hint("clusters need compute capability 9.0"),
            );
        }
        let threads = volume(configuration.block);
        let blocks = self.blocks_of(kernel, threads, configuration.shared_bytes, at)?;
        Ok((configuration.cluster, blocks))
    }

    /// Blocks of a kernel that one multiprocessor holds; 0 if it cannot hold one.
    fn blocks_of(
        &mut self,
        kernel: &KernelRef,
        threads: u64,
        shared: u64,
        at: At,
    ) -> Fallible<u32> {
        let (attributes, known) = self.attributes_of(kernel, at)?;
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        let shared = u64::from(attributes.static_shared_bytes).saturating_add(shared);
        let shared = u32::try_from(shared).unwrap_or(u32::MAX);
        if threads == 0 || threads > attributes.max_threads {
            return Ok(0);
        }
        if known {
            let blocks = self
                .facts
                .resident_blocks(attributes.registers, shared, threads);
            return Ok(blocks.unwrap_or(0));
        }
        let by_threads = self.limits.max_threads_per_multiprocessor / threads;
        Ok(by_threads.clamp(1, self.limits.max_blocks_per_multiprocessor.max(1)))
    }
}

fn volume(extents: [u32; 3]) -> u64 {
    let extents = extents.into_iter().map(u64::from);
    extents.fold(1, u64::saturating_mul)
}
