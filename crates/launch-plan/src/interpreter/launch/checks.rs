//! A launch's configuration against the device's limits.

use std::rc::Rc;

use super::{Configuration, Instance};
use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::value::{KernelRef, Value};
use crate::source::text::At;
use crate::syntax::ast::Expr;
use crate::types::{Record, Type};

/// Blocks of a cluster on any device that has clusters.
const PORTABLE_CLUSTER: u64 = 8;
/// Blocks of a cluster where the kernel allows more.
const MAX_CLUSTER: u64 = 16;

impl<'p> Interpreter<'p> {
    /// A grid or block: a dim3, or a number for its x.
    pub(super) fn extents(&mut self, expr: &'p Expr) -> Fallible<[u32; 3]> {
        let dim3 = Record::builtin("dim3").expect("dim3 is built in");
        let ty = Type::Record(Rc::new(dim3));
        let value = self.initialised(&ty, expr)?;
        let Value::Record(_, fields) = value else {
            return Err(Fault::launch(
                expr.at,
                "a grid or block is a dim3 or a number",
            ));
        };
        let mut extents = [1; 3];
        for (extent, field) in extents.iter_mut().zip(fields) {
            if let Some(Value::Integer(_, value)) = field {
                *extent = u32::try_from(value).unwrap_or(u32::MAX);
            }
        }
        Ok(extents)
    }

    pub(super) fn check_extents(&self, grid: [u32; 3], block: [u32; 3], at: At) -> Fallible<()> {
        let limits = self.limits;
        for (what, extents, most) in [
            ("grid", grid, limits.max_grid),
            ("block", block, limits.max_block),
        ] {
            for (axis, (extent, most)) in ["x", "y", "z"].iter().zip(extents.iter().zip(most)) {
                if *extent == 0 {
                    return Err(Fault::launch(at, format!("{what}.{axis} is 0"))
                        .hint("an extent must be at least 1"));
                }
                if *extent > most {
                    let shown = with_sign(*extent);
                    return Err(Fault::launch(
                        at,
                        format!("{what}.{axis} is {shown}; the limit is {most}"),
                    ));
                }
            }
        }
        let threads: u64 = block.iter().map(|&extent| u64::from(extent)).product();
        if threads > limits.max_threads_per_block.into() {
            let [x, y, z] = block;
            let message = format!(
                "a block of {x} x {y} x {z} has {threads} threads; the limit is {}",
                limits.max_threads_per_block
            );
            return Err(Fault::launch(at, message));
        }
        Ok(())
    }

    /// Clusters need hardware that has them, and must tile the grid.
    pub(super) fn check_cluster(
        &self,
        configuration: &Configuration,
        instance: &Instance,
        at: At,
    ) -> Fallible<()> {
        let Some(cluster) = configuration.cluster else {
            return Ok(());
        };
        let [x, y, z] = cluster;
        let blocks: u64 = cluster.iter().map(|&extent| u64::from(extent)).product();
        if self.limits.compute_major < 9 && blocks != 1 {
            return Err(Fault::launch(
                at,
                format!("a cluster of {x} x {y} x {z} blocks on a device without clusters"),
            )
            .hint("clusters need compute capability 9.0"));
        }
        let most = self.most_of_cluster(instance);
        if blocks == 0 || blocks > most {
            let message =
                format!("a cluster of {x} x {y} x {z} has {blocks} blocks; the limit is {most}");
            let fault = Fault::launch(at, message);
            return Err(if (PORTABLE_CLUSTER..=MAX_CLUSTER).contains(&blocks) {
                fault.hint(
                    "allow it with cudaFuncSetAttribute(kernel, \
                     cudaFuncAttributeNonPortableClusterSizeAllowed, 1)",
                )
            } else {
                fault
            });
        }
        for (axis, (grid, cluster)) in ["x", "y", "z"]
            .iter()
            .zip(configuration.grid.iter().zip(cluster))
        {
            if grid % cluster != 0 {
                let message = format!(
                    "grid.{axis} is {grid}, which is no multiple of the cluster's {cluster}"
                );
                return Err(Fault::launch(at, message).hint("round the grid up"));
            }
        }
        Ok(())
    }

    fn most_of_cluster(&self, instance: &Instance) -> u64 {
        match self.large_clusters.contains(&instance.identity) {
            true => MAX_CLUSTER,
            false => PORTABLE_CLUSTER,
        }
    }

    /// Blocks of the largest cluster that a kernel may be launched with.
    pub(in crate::interpreter) fn largest_cluster(
        &mut self,
        kernel: &KernelRef,
        at: At,
    ) -> Fallible<u64> {
        let instance = self.instance_without_call(kernel, at)?;
        Ok(self.most_of_cluster(&instance))
    }

    pub(super) fn check_shared(&self, instance: &Instance, shared: u64, at: At) -> Fallible<()> {
        let plain = u64::from(self.limits.shared_memory_per_block_bytes);
        let optin = u64::from(self.limits.shared_memory_per_block_optin_bytes);
        let allowed = self
            .dynamic_shared_limits
            .get(&instance.identity)
            .copied()
            .unwrap_or(0)
            .max(plain);
        if shared <= allowed {
            return Ok(());
        }
        let message = format!("dynamic shared memory is {shared} bytes; the limit is {allowed}");
        let fault = Fault::launch(at, message);
        Err(if shared <= optin {
            fault.hint(
                "raise it with cudaFuncSetAttribute(kernel, \
                 cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
            )
        } else {
            fault.hint(format!("this device has at most {optin} bytes for a block"))
        })
    }
}

/// An extent; one that a negative number became is told as that.
fn with_sign(extent: u32) -> String {
    const LIKELY: i32 = -100_000_000;
    match extent.cast_signed() {
        negative @ LIKELY..0 => format!("{negative}, which is {extent} without its sign"),
        _ => extent.to_string(),
    }
}
