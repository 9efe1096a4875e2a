//! Connections: how many there may be, and how long a client may take over its part of a call.
//!
//! Whoever sends or reads slowly enough to hold a place for nothing is cut off. Streams of events
//! and waiting claims are not slow clients: there it is the server that has nothing to say.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_io_timeout::TimeoutStream;

use crate::config::ConnectionLimits;

/// The pause when the system has no room for another connection.
const OUT_OF_ROOM: Duration = Duration::from_millis(200);

/// Serves until `shutdown` completes, then takes no more, lets open requests end, and returns.
pub(crate) async fn serve(
    listener: TcpListener,
    routes: Router,
    limits: ConnectionLimits,
    shutdown: impl Future<Output = ()>,
) {
    let open = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(limits.connections));
    tokio::pin!(shutdown);
    loop {
        let (stream, place) = tokio::select! {
            next = next(&listener, &places) => next,
            () = &mut shutdown => break,
        };
        start(stream, place, routes.clone(), limits, &open);
    }
    drop(listener);
    open.shutdown().await;
}

/// The next connection, once there is a place for it. Those beyond wait in the system's queue.
async fn next(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    let place = Arc::clone(places).acquire_owned().await;
    let place = place.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, place),
            Err(error) if is_the_clients(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "no connection can be taken; trying again");
                tokio::time::sleep(OUT_OF_ROOM).await;
            }
        }
    }
}

fn start(
    stream: TcpStream,
    place: OwnedSemaphorePermit,
    routes: Router,
    limits: ConnectionLimits,
    open: &GracefulShutdown,
) {
    // Small events must not wait for more to send.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.write_stall));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_read)
        .serve_connection(
            TokioIo::new(Box::pin(stream)),
            TowerToHyperService::new(routes),
        );
    let connection = open.watch(connection);
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection broke off");
        }
        drop(place);
    });
}

fn is_the_clients(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}
