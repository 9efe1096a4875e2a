//! What can be said of the backend where there is no GPU, and of code that no GPU has to run.

use super::*;

/// Where there is no driver, asking for GPUs says so; where there is one, it names what it finds.
#[test]
fn a_machine_without_a_driver_is_told_as_such() {
    match list_gpus() {
        Ok(gpus) => assert!(gpus.iter().all(|gpu| gpu.uuid.starts_with("GPU-"))),
        Err(DeviceError::Internal(why)) => assert!(
            why.contains("no CUDA driver")
                || why.contains("finds no GPU")
                || why.contains("or newer is needed"),
            "{why}"
        ),
        Err(other) => panic!("not the author's fault: {other}"),
    }
}

#[test]
fn opening_a_gpu_that_is_not_there_is_an_error() {
    let settings = Settings {
        ordinal: 4096,
        memory_limit_bytes: 0,
        cupti_library: None,
        span_limit: Duration::from_secs(1),
    };
    let refused = CudaDevice::open(&settings).err();
    assert!(
        matches!(refused, Some(DeviceError::Internal(_))),
        "{refused:?}"
    );
}
