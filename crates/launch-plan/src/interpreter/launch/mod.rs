//! Kernel launches: which instance, with what configuration and arguments.

mod arguments;
mod by_call;
mod by_driver;
mod callee;
mod checks;
mod configuration;
mod instance;

use super::Interpreter;
use super::value::{TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::plan::{KernelInstance, Launch, LaunchArgument, Operation};
use crate::source::text::At;
use crate::syntax::ast::LaunchExpr;

/// The kernels that a launch may mean, with the template arguments written there.
struct Launched {
    functions: Vec<usize>,
    explicit: Vec<TemplateValue>,
}

/// A kernel with all its template arguments.
pub(super) struct Instance {
    /// What NVRTC is asked for: defaults are left out.
    pub(super) name: String,
    /// With defaults, so that one instance has one text.
    pub(super) identity: String,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Configuration {
    grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared_bytes: u64,
    pub(super) cluster: Option<[u32; 3]>,
    cooperative: bool,
}

impl<'p> Interpreter<'p> {
    /// `kernel<<<grid, block, shared, stream>>>(arguments)`.
    pub(super) fn launch(&mut self, launch: &'p LaunchExpr, at: At) -> Fallible<Value> {
        let launched = self.launched(&launch.callee, at)?;
        let configuration = &launch.configuration;
        let (Some(grid), Some(block)) = (configuration.first(), configuration.get(1)) else {
            return Err(Fault::launch(
                at,
                "a launch needs a grid and a block: <<<grid, block>>>",
            ));
        };
        let grid = self.extents(grid)?;
        let block = self.extents(block)?;
        let shared_bytes = match configuration.get(2) {
            Some(shared) => {
                let value = self.evaluate(shared)?;
                if matches!(value, Value::Handle) {
                    let message = "a stream stands where a launch takes the bytes of its dynamic shared memory";
                    return Err(Fault::syntax(shared.at, message)
                        .hint("the stream is the fourth: `<<<grid, block, 0, stream>>>`"));
                }
                self.count_of(&value, shared.at)?
            }
            None => 0,
        };
        if let Some(stream) = configuration.get(3) {
            self.evaluate(stream)?;
        }
        let arguments = self.expanded(&launch.arguments)?;
        let (instance, arguments) = self.launch_arguments(&launched, arguments, at)?;
        let configuration = Configuration {
            grid,
            block,
            shared_bytes,
            cluster: None,
            cooperative: false,
        };
        self.issue(configuration, instance, arguments, at)?;
        Ok(Value::Void)
    }

    /// Puts a launch into the plan, if the device would take it.
    fn issue(
        &mut self,
        configuration: Configuration,
        instance: Instance,
        arguments: Vec<LaunchArgument>,
        at: At,
    ) -> Fallible<()> {
        self.check_extents(configuration.grid, configuration.block, at)?;
        self.check_cluster(&configuration, &instance, at)?;
        self.check_shared(&instance, configuration.shared_bytes, at)?;
        self.count_launch(at)?;
        let (line, column) = self.source.position(at);
        let launch = Launch {
            kernel: KernelInstance(instance.name),
            grid: configuration.grid,
            block: configuration.block,
            cluster: configuration.cluster,
            cooperative: configuration.cooperative,
            dynamic_shared_bytes: u32::try_from(configuration.shared_bytes).unwrap_or(u32::MAX),
            arguments,
            line,
            column,
        };
        self.emit(Operation::Launch(launch), at)
    }
}
