//! Launches that no device can run.
#![allow(
    clippy::result_large_err,
    reason = "a fault is built once and ends the launch"
)]

use super::{Launch, MAX_BLOCK_THREADS, MAX_CLUSTER_BLOCKS, MAX_SHARED_BYTES};
use crate::fault::{Fault, FaultKind};
use crate::module::Kernel;

pub(super) fn validate_cluster(
    kernel: &Kernel,
    launch: &Launch<'_>,
    cluster: [u32; 3],
) -> Result<(), Fault> {
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

pub(super) fn validate(kernel: &Kernel, launch: &Launch<'_>) -> Result<(), Fault> {
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
