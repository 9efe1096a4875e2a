//! NVRTC: discovery, options, headers and shims, diagnostics, resource usage.
