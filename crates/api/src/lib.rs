//! The HTTP API. Clients, workers and the page speak to nothing else.
//!
//! Routes stand in folders by audience (`public`, `user`, `worker`, `operator`), one file an
//! endpoint. Handlers hold no SQL and no rules: the database crate has the former, `access` says who
//! may see what. Every answer that is not a success is `application/problem+json` with a code and the
//! id of the request, and never internal text.

mod access;
mod auth;
mod background;
mod body;
mod config;
mod error;
pub mod local;
mod malformed;
mod openapi;
mod origin;
mod outer;
mod packages;
mod parameters;
mod routes;
mod server;
mod state;
mod views;
mod web;

use std::future::Future;

use axum::Router;
use tokio::net::TcpListener;

pub use config::{Config, ConnectionLimits, LeaseSettings};
pub use error::StartError;
pub use openapi::document as openapi;
pub use packages::publish;

use state::AppState;

/// Every route. Must be called within a Tokio runtime, on a migrated database that knows the
/// packages ([`publish`]). Nothing expires leases unless [`serve`] runs somewhere.
pub fn router(config: Config) -> Router {
    routes::router(AppState::new(config))
}

/// Publishes the packages, serves until `shutdown` completes, then ends open streams, lets requests
/// finish, and returns.
pub async fn serve(
    listener: TcpListener,
    config: Config,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), StartError> {
    publish(&config.database, &config.packages).await?;
    let state = AppState::new(config);
    let stopping = state.stopping.clone();
    let keeper = tokio::spawn(background::keep_house(state.clone()));
    let limits = state.connections;
    let shutdown = async move {
        shutdown.await;
        // Streams and waiting claims end on this; without it they would hold the server open.
        stopping.cancel();
    };
    server::serve(listener, routes::router(state), limits, shutdown).await;
    keeper.abort();
    Ok(())
}
