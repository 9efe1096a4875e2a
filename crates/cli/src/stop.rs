//! Being told to stop: once is in order, twice is at once.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::failure::Failure;

/// How often this process was told to stop.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Receiver<u32>);

impl Stop {
    /// Listens for Ctrl-C, SIGTERM and the end of the terminal from now on.
    pub(crate) fn by_signals() -> Result<Self, Failure> {
        let on = |kind| signal(kind).map_err(|e| Failure::unavailable(e.to_string(), ""));
        let mut signals = [
            on(SignalKind::interrupt())?,
            on(SignalKind::terminate())?,
            on(SignalKind::hangup())?,
        ];
        let (told, stop) = watch::channel(0);
        tokio::spawn(async move {
            loop {
                any(&mut signals).await;
                told.send_modify(|times| *times += 1);
            }
        });
        Ok(Self(stop))
    }

    /// A stop that another part of the program calls for.
    pub(crate) fn by_hand() -> (watch::Sender<u32>, Self) {
        let (told, stop) = watch::channel(0);
        (told, Self(stop))
    }

    /// Whether it was told.
    pub(crate) fn told(&self) -> bool {
        *self.0.borrow() > 0
    }

    /// Resolves once it was told to stop; also when nobody can tell it any more.
    pub(crate) async fn asked(&mut self) {
        let _ = self.0.wait_for(|&times| times > 0).await;
    }

    /// Resolves once it was told a second time.
    pub(crate) async fn pressed(&mut self) {
        if self.0.wait_for(|&times| times > 1).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

async fn any(signals: &mut [Signal; 3]) {
    let [interrupt, terminate, hangup] = signals;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn once_asks_and_twice_presses() {
        let (told, mut stop) = Stop::by_hand();
        assert!(!stop.told());
        told.send_modify(|times| *times += 1);
        stop.asked().await;
        assert!(stop.told());
        told.send_modify(|times| *times += 1);
        stop.pressed().await;
    }
}
