//! Spans and slopes.
//!
//! CUPTI measures what is ranked. Without it an event before and one after the work measure the span
//! with the costs of both and of the launch in it, a few microseconds: good for practice, never ranked.
//! The slope is independent of either cost, is taken while CUPTI is suspended, and checks it.

use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use domain::TimerRef;

use super::context::Context;
use super::cupti::{self, Cupti, CuptiError};
use super::gate::{self, Gate};
use super::graph::Graph;
use super::stream::{Event, Stream};
use super::work::Work;
use crate::{DeviceError, Slope};

/// Pairs of spans, the shortest of which make a slope.
const SLOPE_REPEATS: usize = 7;

/// Why nothing is ranked where kernels share the host's address space.
const REACHES_HOST_MEMORY: &str = "kernels can reach the host's memory on this system (HMM), the timer's \
     records included; load the driver's module nvidia_uvm with uvm_disable_hmm=1";

/// What measures spans.
pub(super) enum Timer {
    Cupti(Cupti),
    /// And why it is not CUPTI.
    Events(String),
}

impl Timer {
    /// Must come before the context is made.
    pub(super) fn start(library: Option<&Path>) -> Self {
        let Some(library) = library else {
            return Self::Events("there is no CUPTI beside the compiler".to_owned());
        };
        match cupti::start(library) {
            Ok(cupti) => Self::Cupti(cupti),
            Err(error) => Self::Events(error.to_string()),
        }
    }

    /// `reaches_host_memory`: kernels can follow any pointer of this process.
    pub(super) fn describe(&self, driver: String, reaches_host_memory: bool) -> TimerRef {
        let (name, cupti, by_events) = match self {
            Self::Cupti(cupti) => ("cupti", Some(cupti.version().to_string()), None),
            Self::Events(why) => {
                let by_events = format!("times are by CUDA events: {why}");
                ("events", None, Some(by_events))
            }
        };
        let reachable = reaches_host_memory.then(|| REACHES_HOST_MEMORY.to_owned());
        let reasons: Vec<String> = by_events.into_iter().chain(reachable).collect();
        TimerRef {
            name: name.to_owned(),
            cupti,
            driver,
            unranked: (!reasons.is_empty()).then(|| reasons.join("; ")),
        }
    }

    /// Runs `work` on an empty stream and says how long it took, first to last activity.
    pub(super) fn measure(
        &self,
        context: &Rc<Context>,
        stream: &Stream,
        work: &[Work],
        limit: Duration,
    ) -> Result<Duration, DeviceError> {
        let graph = match work {
            [] => return Ok(Duration::ZERO),
            [_] => None,
            several => Some(Graph::of(context, stream, several, 1)?),
        };
        let issue = || match &graph {
            Some(graph) => graph.launch(stream),
            None => work[0].enqueue(context, stream),
        };
        match self {
            Self::Cupti(cupti) if !cupti.is_suspended() => {
                cupti.begin().map_err(internal)?;
                issue()?;
                stream.wait(limit)?;
                cupti.end(work.len()).map_err(internal)
            }
            _ => between_events(context, stream, limit, issue, None),
        }
    }
}

/// A measurement under way, on a stream that was empty when it began.
pub(super) enum Window {
    /// Nobody wants to know.
    Unmeasured,
    /// By CUPTI's records.
    Records,
    /// From an event on.
    Since(Event),
}

impl Timer {
    /// Begins to measure what is put on an empty stream from now on.
    pub(super) fn open(
        &self,
        context: &Rc<Context>,
        stream: &Stream,
    ) -> Result<Window, DeviceError> {
        match self {
            Self::Cupti(cupti) if !cupti.is_suspended() => {
                cupti.begin().map_err(internal)?;
                Ok(Window::Records)
            }
            _ => {
                let before = context.told(Event::new(context))?;
                context.told(before.record(stream))?;
                Ok(Window::Since(before))
            }
        }
    }

    /// Waits for all of it and says how long it took. `activities`: how many there were; the limit is of
    /// what began then.
    pub(super) fn close(
        &self,
        context: &Rc<Context>,
        stream: &Stream,
        window: Window,
        activities: usize,
        (begun, limit): (Instant, Duration),
    ) -> Result<Option<Duration>, DeviceError> {
        match (self, window) {
            (_, Window::Unmeasured) => stream.wait_since(begun, limit).map(|()| None),
            (Self::Cupti(cupti), Window::Records) => {
                stream.wait_since(begun, limit)?;
                cupti.end(activities).map(Some).map_err(internal)
            }
            (Self::Events(_), Window::Records) => Err(DeviceError::Internal(
                "a measurement by another timer".to_owned(),
            )),
            (_, Window::Since(before)) => {
                let after = context.told(Event::new(context))?;
                context.told(after.record(stream))?;
                stream.wait_since(begun, limit)?;
                context.told(before.until(&after)).map(Some)
            }
        }
    }

    /// The time of one run of `work` by two timers that know nothing of each other: by events while
    /// CUPTI is suspended, whose instrumentation costs about a microsecond a node that events see; then
    /// by CUPTI, where that is what measures.
    pub(super) fn slope(
        &self,
        context: &Rc<Context>,
        stream: &Stream,
        work: &[Work],
        copies: u32,
        limit: Duration,
    ) -> Result<Slope, DeviceError> {
        if work.is_empty() {
            return Ok(Slope::default());
        }
        let by_events =
            self.suspended(|| self.slope_by_events(context, stream, work, copies, limit))?;
        let by_timer = match self {
            Self::Cupti(cupti) if !cupti.is_suspended() => {
                let span = |graph: &Graph, run: Run| {
                    cupti.begin().map_err(internal)?;
                    graph.launch(stream)?;
                    stream.wait(limit)?;
                    cupti.end(run.activities).map_err(internal)
                };
                if_measured(slope(context, stream, work, copies, span))?
            }
            _ => None,
        };
        Ok(Slope {
            by_events,
            by_timer,
        })
    }

    /// The slope by events as things stand: with CUPTI's instrumentation in it unless it is suspended.
    pub(super) fn slope_by_events(
        &self,
        context: &Rc<Context>,
        stream: &Stream,
        work: &[Work],
        copies: u32,
        limit: Duration,
    ) -> Result<Duration, DeviceError> {
        let gate = Gate::new(context)?;
        // Both graphs of a pair or neither: else the host's time were in one alone.
        let is_gated = 2 * work.len() * copies.max(1) as usize <= gate::MOST_NODES;
        let span = |graph: &Graph, run: Run| {
            let closed = (is_gated && run.is_kept).then(|| gate.close(stream));
            let closed = closed.transpose()?;
            between_events(context, stream, limit, || graph.launch(stream), closed)
        };
        slope(context, stream, work, copies, span)
    }

    /// Does something while CUPTI is suspended, and lets it gather again whatever came of it.
    fn suspended<T>(&self, act: impl FnOnce() -> Result<T, DeviceError>) -> Result<T, DeviceError> {
        match self {
            Self::Cupti(cupti) if !cupti.is_suspended() => {
                let stopped = cupti.suspend().map_err(internal);
                let outcome = stopped.and_then(|()| act());
                let resumed = cupti.resume().map_err(internal);
                let value = outcome?;
                resumed.map(|()| value)
            }
            _ => act(),
        }
    }

    /// Takes CUPTI out of the device's way, or puts it back. Meanwhile spans are measured by events.
    pub(super) fn set_suspended(&self, is_suspended: bool) -> Result<(), DeviceError> {
        match self {
            Self::Cupti(cupti) if is_suspended => cupti.suspend().map_err(internal),
            Self::Cupti(cupti) => cupti.resume().map_err(internal),
            Self::Events(_) => Ok(()),
        }
    }
}

/// A timer that missed something has no opinion, which takes nothing from the other timer's.
fn if_measured(one: Result<Duration, DeviceError>) -> Result<Option<Duration>, DeviceError> {
    match one {
        Err(DeviceError::Unmeasured(_)) => Ok(None),
        one => one.map(Some),
    }
}

/// One run of a graph for a slope.
#[derive(Clone, Copy)]
struct Run {
    activities: usize,
    /// The first run of a graph is slower and is not kept: the driver may have to make room first, and
    /// wait for the stream meanwhile.
    is_kept: bool,
}

/// `(t(2k) - t(k)) / k` of the shortest of several spans each, which take turns. `span` runs a graph and says
/// how long it took.
fn slope(
    context: &Rc<Context>,
    stream: &Stream,
    work: &[Work],
    copies: u32,
    span: impl Fn(&Graph, Run) -> Result<Duration, DeviceError>,
) -> Result<Duration, DeviceError> {
    let copies = copies.max(1);
    let short = Graph::of(context, stream, work, copies)?;
    let long = Graph::of(context, stream, work, copies.saturating_mul(2))?;
    let activities = work.len() * copies as usize;
    let mut spans = (Vec::new(), Vec::new());
    for repeat in 0..=SLOPE_REPEATS {
        let is_kept = repeat > 0;
        let run = |activities| Run {
            activities,
            is_kept,
        };
        let pair = (
            span(&short, run(activities))?,
            span(&long, run(activities * 2))?,
        );
        if is_kept {
            spans.0.push(pair.0);
            spans.1.push(pair.1);
        }
    }
    Ok(shortest(&spans.1).saturating_sub(shortest(&spans.0)) / copies)
}

/// A host that is interrupted while it feeds a graph to the card makes a span longer, nothing makes it
/// shorter; work that hides from a timer is in every one.
fn shortest(spans: &[Duration]) -> Duration {
    spans.iter().copied().min().unwrap_or_default()
}

/// What `issue` puts on an empty stream, between two events; behind a gate, where one was closed.
fn between_events(
    context: &Rc<Context>,
    stream: &Stream,
    limit: Duration,
    issue: impl Fn() -> Result<(), DeviceError>,
    closed: Option<gate::Closed<'_>>,
) -> Result<Duration, DeviceError> {
    let before = context.told(Event::new(context))?;
    let after = context.told(Event::new(context))?;
    context.told(before.record(stream))?;
    issue()?;
    context.told(after.record(stream))?;
    drop(closed);
    stream.wait(limit)?;
    context.told(before.until(&after))
}

/// Records that are missing or odd say nothing of the next span; a call that fails does.
fn internal(error: CuptiError) -> DeviceError {
    match error {
        CuptiError::Span(error) => DeviceError::Unmeasured(error.to_string()),
        other => DeviceError::Internal(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_of_several_spans_counts() {
        let spans = [30, 10, 20].map(Duration::from_micros);
        assert_eq!(shortest(&spans), Duration::from_micros(10));
        assert_eq!(shortest(&[]), Duration::ZERO);
    }

    #[test]
    fn without_cupti_events_measure_and_say_so() {
        let none = Timer::start(None);
        let described = none.describe("13.0".to_owned(), false);
        assert_eq!((described.name.as_str(), described.cupti), ("events", None));
        let absent = Timer::start(Some(Path::new("/does/not/exist/libcupti.so.13")));
        let Timer::Events(why) = absent else {
            panic!("there is no such file");
        };
        assert!(why.contains("cannot be loaded"), "{why}");
    }
}
