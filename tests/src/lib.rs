//! End-to-end tests: real Postgres, real NVRTC, real browser, real worker processes.
