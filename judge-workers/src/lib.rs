//! The worker daemon: claims over HTTP, compile pool, executor pool, heartbeats.
