//! Functional execution of NVRTC's PTX on a CPU, bounds-checked and counted. Knows nothing of judging.
