//! Stream capture and the launch of what it took: the captured operations, in their order.
//!
//! One stream keeps the order of everything, so that a capture takes whatever is put on any stream while it
//! lasts; events that join streams to it change nothing. A graph is a list, not the judge's own graph.

use std::rc::Rc;

use crate::failure::{Fallible, Fault};
use crate::interpreter::value::Value;
use crate::interpreter::{Interpreter, MAX_LAUNCHES};
use crate::plan::{LaunchArgument, Operation, Place};
use crate::source::text::At;
use crate::types::Scalar;

/// `cudaStreamCaptureStatusActive`.
const CAPTURING: i128 = 1;

/// What was captured and what is being captured.
#[derive(Debug, Default)]
pub(in crate::interpreter) struct Graphs {
    /// Graphs, and what was instantiated of them, by the number in their handle.
    known: Vec<Graph>,
    /// The capture under way, with where it began.
    open: Option<(At, Vec<Step>)>,
}

#[derive(Debug)]
struct Graph {
    steps: Rc<[Step]>,
    /// Where its capture began.
    at: At,
    /// Whether it, or one made of it, is ever launched.
    is_used: bool,
}

#[derive(Debug)]
enum Step {
    Operation(Operation, At),
    /// Host memory is read and written when the graph is launched.
    Copy {
        destination: Value,
        source: Value,
        bytes: u64,
        direction: Option<i128>,
        at: At,
    },
}

impl Graphs {
    pub(in crate::interpreter) fn is_capturing(&self) -> bool {
        self.open.is_some()
    }

    /// Takes an operation into the capture under way; gives it back where there is none. Memory is allocated
    /// at once: it has one address for all launches of the graph.
    pub(in crate::interpreter) fn taken(
        &mut self,
        operation: Operation,
        at: At,
    ) -> Option<Operation> {
        match &mut self.open {
            Some((_, steps)) if !matches!(operation, Operation::Allocate { .. }) => {
                steps.push(Step::Operation(operation, at));
                None
            }
            _ => Some(operation),
        }
    }

    /// The same for a copy.
    pub(in crate::interpreter) fn takes_copy(
        &mut self,
        [destination, source]: [&Value; 2],
        bytes: u64,
        direction: Option<i128>,
        at: At,
    ) -> bool {
        let Some((_, steps)) = &mut self.open else {
            return false;
        };
        steps.push(Step::Copy {
            destination: destination.clone(),
            source: source.clone(),
            bytes,
            direction,
            at,
        });
        true
    }
}

impl Interpreter<'_> {
    pub(super) fn graph_call(
        &mut self,
        name: &str,
        values: &[Value],
        at: At,
    ) -> Option<Fallible<Value>> {
        Some(match (name, values) {
            ("cudaStreamBeginCapture", [_, _]) => self.begin_capture(at),
            ("cudaStreamEndCapture", [_, target]) => self.end_capture(target, at),
            (
                "cudaStreamIsCapturing"
                | "cudaStreamGetCaptureInfo"
                | "cudaStreamGetCaptureInfo_v2",
                [_, status, ..],
            ) => {
                let status_now = i128::from(self.graphs.is_capturing()) * CAPTURING;
                self.store_through(status, Value::int(status_now), at)
            }
            (
                "cudaGraphInstantiate"
                | "cudaGraphInstantiateWithFlags"
                | "cudaGraphInstantiateWithParams"
                | "cudaGraphClone",
                [target, graph, ..],
            ) => self.instantiate(target, graph, at),
            ("cudaGraphExecUpdate", [executable, graph, ..]) => {
                self.update_graph(executable, graph, at)
            }
            ("cudaGraphGetNodes", [graph, _, count]) => {
                self.graph_of(graph, at).and_then(|graph| {
                    let steps = self.graphs.known[graph].steps.len() as i128;
                    self.store_through(count, Value::Integer(Scalar::ULong, steps), at)
                })
            }
            ("cudaGraphLaunch", [executable, _]) => self.launch_graph(executable, at),
            _ => return None,
        })
    }

    fn begin_capture(&mut self, at: At) -> Fallible<Value> {
        if let Some((begun, _)) = &self.graphs.open {
            let message = format!(
                "a capture is begun while that of line {} is under way",
                self.line(*begun)
            );
            return Err(Fault::host(at, message).hint("end it with cudaStreamEndCapture first"));
        }
        self.graphs.open = Some((at, Vec::new()));
        Ok(Value::SUCCESS)
    }

    fn end_capture(&mut self, target: &Value, at: At) -> Fallible<Value> {
        let Some((begun, steps)) = self.graphs.open.take() else {
            return Err(Fault::host(at, "no capture is under way")
                .hint("begin one with cudaStreamBeginCapture(stream, mode)"));
        };
        let graph = Graph {
            steps: steps.into(),
            at: begun,
            is_used: false,
        };
        self.store_graph(target, graph, at)
    }

    /// What is launched is a graph of its own, which an update may change.
    fn instantiate(&mut self, target: &Value, graph: &Value, at: At) -> Fallible<Value> {
        let graph = self.graph_of(graph, at)?;
        let graph = &mut self.graphs.known[graph];
        graph.is_used = true;
        let executable = Graph {
            steps: Rc::clone(&graph.steps),
            at: graph.at,
            is_used: false,
        };
        self.store_graph(target, executable, at)
    }

    fn store_graph(&mut self, target: &Value, graph: Graph, at: At) -> Fallible<Value> {
        self.graphs.known.push(graph);
        self.store_through(target, Value::Graph(self.graphs.known.len() - 1), at)
    }

    fn update_graph(&mut self, executable: &Value, graph: &Value, at: At) -> Fallible<Value> {
        let executable = self.graph_of(executable, at)?;
        let graph = self.graph_of(graph, at)?;
        self.graphs.known[graph].is_used = true;
        self.graphs.known[executable].steps = Rc::clone(&self.graphs.known[graph].steps);
        Ok(Value::SUCCESS)
    }

    /// Does what was captured.
    fn launch_graph(&mut self, executable: &Value, at: At) -> Fallible<Value> {
        let executable = self.graph_of(executable, at)?;
        let graph = &mut self.graphs.known[executable];
        graph.is_used = true;
        for step in Rc::clone(&graph.steps).iter() {
            self.spend(1, at)?;
            match step {
                Step::Operation(operation, at) => {
                    for place in places(operation) {
                        self.check_alive(place, *at)?;
                    }
                    if matches!(operation, Operation::Launch(_)) {
                        self.count_launch(*at)?;
                    }
                    self.emit(operation.clone(), *at)?;
                }
                Step::Copy {
                    destination,
                    source,
                    bytes,
                    direction,
                    at,
                } => {
                    self.memcpy(destination, source, *bytes, *direction, *at)?;
                }
            }
        }
        Ok(Value::SUCCESS)
    }

    /// Counts a launch against the plan's limit. Those of a capture count when their graph is launched.
    pub(in crate::interpreter) fn count_launch(&mut self, at: At) -> Fallible<()> {
        if self.graphs.is_capturing() {
            return Ok(());
        }
        self.launches += 1;
        if self.launches > MAX_LAUNCHES {
            let message = format!("the plan has more than {MAX_LAUNCHES} kernel launches");
            return Err(Fault::fuel(at, message).hint("let one kernel do more work"));
        }
        Ok(())
    }

    fn graph_of(&self, value: &Value, at: At) -> Fallible<usize> {
        match value {
            Value::Graph(number) if *number < self.graphs.known.len() => Ok(*number),
            _ => Err(
                Fault::host(at, "this handle is of no graph that was captured")
                    .hint("capture launches with cudaStreamBeginCapture and cudaStreamEndCapture"),
            ),
        }
    }

    /// What is captured and never launched does nothing, on hardware too.
    pub(in crate::interpreter) fn warn_about_graphs(&mut self) {
        if let Some((begun, _)) = self.graphs.open.take() {
            self.warn(
                begun,
                "the capture that begins here is never ended: nothing of it runs",
                "end it with cudaStreamEndCapture, then cudaGraphInstantiate and cudaGraphLaunch",
            );
        }
        let unused = self.graphs.known.iter().filter(|graph| !graph.is_used);
        let unused: Vec<At> = unused.map(|graph| graph.at).collect();
        for at in unused {
            self.warn(
                at,
                "the graph that is captured from here on is never launched: nothing of it runs",
                "call cudaGraphInstantiate and cudaGraphLaunch",
            );
        }
    }
}

/// Device memory that an operation names.
fn places(operation: &Operation) -> Vec<Place> {
    match operation {
        Operation::Launch(launch) => {
            let arguments = launch.arguments.iter();
            arguments
                .flat_map(|argument| match argument {
                    LaunchArgument::Pointer(place) => vec![*place],
                    LaunchArgument::Record { pointers, .. } => {
                        pointers.iter().map(|&(_, place)| place).collect()
                    }
                    LaunchArgument::TensorMap(map) => vec![map.base],
                    LaunchArgument::Value(_) => vec![],
                })
                .collect()
        }
        Operation::Memset { destination, .. } | Operation::Upload { destination, .. } => {
            vec![*destination]
        }
        Operation::Copy {
            destination,
            source,
            ..
        } => vec![*destination, *source],
        Operation::CopyToSymbol { source, .. } => vec![*source],
        Operation::Allocate { .. } | Operation::Free { .. } | Operation::UploadSymbol { .. } => {
            Vec::new()
        }
    }
}
