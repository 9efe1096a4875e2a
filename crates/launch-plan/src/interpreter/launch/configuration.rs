//! What a launch's configuration struct and its attributes ask for.

use super::Configuration;
use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::runtime::{LAUNCH_ACCESS_POLICY, LAUNCH_CLUSTER, LAUNCH_COOPERATIVE};
use crate::interpreter::value::{HostRef, Target, Value};
use crate::source::text::At;

/// Attributes that one configuration may have; the runtime knows fewer.
const MAX_ATTRIBUTES: u64 = 32;

impl Interpreter<'_> {
    /// A `cudaLaunchConfig_t` or `CUlaunchConfig` behind a pointer.
    pub(in crate::interpreter) fn configuration(
        &mut self,
        pointer: &Value,
        at: At,
    ) -> Fallible<Configuration> {
        let config = match pointer {
            Value::Pointer(_, Target::Host(place)) => self.memory.load(&place.clone(), at)?,
            _ => None,
        };
        let Some(config @ Value::Record(..)) = config else {
            return Err(Fault::launch(at, "a launch without a configuration")
                .hint("pass the address of a cudaLaunchConfig_t"));
        };
        let shared = config.field("dynamicSmemBytes");
        let shared_bytes = match shared.or_else(|| config.field("sharedMemBytes")) {
            Some(value) => self.count_of(value, at)?,
            None => 0,
        };
        // The driver's struct has numbers where the runtime's has dim3.
        let grid = match config.field("gridDim") {
            Some(grid) => extents(Some(grid), ["x", "y", "z"]),
            None => extents(Some(&config), ["gridDimX", "gridDimY", "gridDimZ"]),
        };
        let block = match config.field("blockDim") {
            Some(block) => extents(Some(block), ["x", "y", "z"]),
            None => extents(Some(&config), ["blockDimX", "blockDimY", "blockDimZ"]),
        };
        let mut configuration = Configuration {
            grid,
            block,
            shared_bytes,
            cluster: None,
            cooperative: false,
        };
        let count = match config.field("numAttrs") {
            Some(value) => self.count_of(value, at)?,
            None => 0,
        };
        if count > MAX_ATTRIBUTES {
            return Err(Fault::launch(
                at,
                format!("a launch has {count} attributes"),
            ));
        }
        for index in 0..count {
            let Some(Value::Pointer(_, Target::Host(first))) = config.field("attrs") else {
                return Err(Fault::launch(
                    at,
                    "numAttrs counts attributes, but attrs points to none",
                ));
            };
            let place = HostRef {
                index: first.index.saturating_add_unsigned(index),
                ..first.clone()
            };
            if let Some(attribute) = self.memory.load(&place, at)? {
                self.apply_attribute(&mut configuration, &attribute, at);
            }
        }
        Ok(configuration)
    }

    /// Sets what an attribute asks for. Those that only order or give hints change no plan: one stream has
    /// every launch wait for the one before, whatever a programmatic dependence allows.
    fn apply_attribute(&mut self, configuration: &mut Configuration, attribute: &Value, at: At) {
        let value = attribute.field("val").or_else(|| attribute.field("value"));
        let (Some(Value::Integer(_, id)), Some(value)) = (attribute.field("id"), value) else {
            return;
        };
        match *id {
            LAUNCH_CLUSTER => {
                let cluster = extents(value.field("clusterDim"), ["x", "y", "z"]);
                configuration.cluster = Some(cluster);
            }
            LAUNCH_COOPERATIVE => {
                configuration.cooperative = matches!(
                    value.field("cooperative"), Some(Value::Integer(_, set)) if *set != 0
                );
            }
            LAUNCH_ACCESS_POLICY => self.warn_about_access_policy(at),
            _ => {}
        }
    }
}

/// Three fields; 1 where one was never set.
fn extents(value: Option<&Value>, names: [&str; 3]) -> [u32; 3] {
    names.map(|name| match value.and_then(|value| value.field(name)) {
        Some(Value::Integer(_, extent)) => u32::try_from(*extent).unwrap_or(u32::MAX),
        _ => 1,
    })
}
