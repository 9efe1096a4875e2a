//! Several workers of one process, one for each GPU.

use std::future::Future;
use std::pin::{Pin, pin};

use tokio::sync::watch;
use tokio::task::JoinSet;

/// Resolves when a worker is to stop.
pub(crate) type Stop = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Why a worker ended that was not told to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended<E> {
    /// It could not go on.
    Failed(E),
    /// It broke.
    Panicked(String),
}

/// The name of a GPU's worker: the host's, where there is no other.
pub(crate) fn name(host: &str, ordinal: u32, is_alone: bool) -> String {
    match is_alone {
        true => host.to_owned(),
        false => format!("{host}/gpu{ordinal}"),
    }
}

/// Runs a worker for each lane, all until `told` resolves. One that cannot go on stops the others: half a
/// worker would pass for a whole one. The first failure is the outcome.
pub(crate) async fn run<S, F, E>(
    lanes: Vec<S>,
    worker: impl Fn(S, Stop) -> F,
    told: impl Future<Output = ()>,
) -> Result<(), Ended<E>>
where
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: Send + 'static,
{
    let (stop, stopping) = watch::channel(false);
    let mut running = JoinSet::new();
    for settings in lanes {
        let mut stopping = stopping.clone();
        let stop = Box::pin(async move {
            let _ = stopping.wait_for(|stop| *stop).await; // whoever could tell is gone: stop
        });
        running.spawn(worker(settings, stop));
    }
    let mut told = pin!(told);
    let mut outcome = Ok(());
    loop {
        let ended = tokio::select! {
            ended = running.join_next() => ended,
            () = &mut told, if !*stop.borrow() => {
                stop.send_replace(true);
                continue;
            }
        };
        let Some(ended) = ended else {
            return outcome;
        };
        let failure = match ended {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => Ended::Failed(error),
            Err(panicked) => Ended::Panicked(panicked.to_string()),
        };
        outcome = outcome.and(Err(failure));
        // The others finish or hand back what they have.
        stop.send_replace(true);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn a_gpu_among_several_has_its_number_in_the_name() {
        assert_eq!(name("rack7", 0, true), "rack7");
        assert_eq!(name("rack7", 3, false), "rack7/gpu3");
    }

    type Log = Arc<Mutex<Vec<&'static str>>>;

    /// Workers that end when they are told to, but for `breaks`, which fails at once.
    fn workers(log: &Log) -> impl Fn(&'static str, Stop) -> Pin<Box<Working>> {
        let log = Arc::clone(log);
        move |lane, stop| {
            let log = Arc::clone(&log);
            Box::pin(async move {
                match lane {
                    "breaks" => return Err("no card"),
                    "panics" => panic!("out of paper"),
                    _ => {}
                }
                stop.await;
                log.lock().unwrap().push(lane);
                Ok(())
            })
        }
    }

    type Working = dyn Future<Output = Result<(), &'static str>> + Send;

    #[tokio::test]
    async fn all_work_until_they_are_told_to_stop() {
        let log = Log::default();
        let (tell, told) = tokio::sync::oneshot::channel::<()>();
        let told = async {
            let _ = told.await;
        };
        let mut running = pin!(run(vec!["a", "b"], workers(&log), told));
        let patience = std::time::Duration::from_millis(50);
        assert!(tokio::time::timeout(patience, &mut running).await.is_err());
        assert!(log.lock().unwrap().is_empty());
        drop(tell);
        assert_eq!(running.await, Ok(()));
        let mut ended = log.lock().unwrap().clone();
        ended.sort_unstable();
        assert_eq!(ended, ["a", "b"]);
    }

    #[tokio::test]
    async fn one_that_fails_stops_the_others_and_is_told() {
        let log = Log::default();
        let never = std::future::pending();
        let ended = run(vec!["a", "breaks", "b"], workers(&log), never).await;
        assert_eq!(ended, Err(Ended::Failed("no card")));
        assert_eq!(log.lock().unwrap().len(), 2, "the others ended well");
    }

    #[tokio::test]
    async fn one_that_breaks_does_not_take_the_others_along() {
        let log = Log::default();
        let ended = run(vec!["panics", "a"], workers(&log), std::future::pending()).await;
        assert!(matches!(ended, Err(Ended::Panicked(_))), "{ended:?}");
        assert_eq!(*log.lock().unwrap(), ["a"]);
    }
}
