//! What a confined process must reach to drive a device.

use std::path::{Path, PathBuf};

use crate::Target;

/// Paths for a sandbox's policy. Missing ones grant nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// To be read; devices also to be controlled.
    pub readable: Vec<PathBuf>,
    /// Libraries.
    pub loadable: Vec<PathBuf>,
    /// To be written too.
    pub writable: Vec<PathBuf>,
    /// Whether the driver must be able to listen on a local socket.
    pub local_listener: bool,
}

/// What the driver of a target opens. The emulated device needs nothing.
#[must_use]
pub fn access(target: &Target) -> Access {
    let Target::Gpu { ordinal, cupti } = target else {
        return Access::default();
    };
    let mut readable: Vec<PathBuf> = DRIVER_FILES.iter().map(PathBuf::from).collect();
    readable.extend(cards(*ordinal));
    let mut loadable: Vec<PathBuf> = LIBRARY_FOLDERS.iter().map(PathBuf::from).collect();
    loadable.extend(cupti.as_deref().and_then(Path::parent).map(Path::to_owned));
    Access {
        readable,
        loadable,
        // The driver names its threads.
        writable: vec!["/proc/self/task".into()],
        local_listener: true,
    }
}

/// The card meant. Where the numbers of the driver and of the device files may differ, all cards: a
/// process picks one by the driver's number.
fn cards(_ordinal: u32) -> impl Iterator<Item = PathBuf> {
    (0..16).map(|card| PathBuf::from(format!("/dev/nvidia{card}")))
}

const DRIVER_FILES: &[&str] = &[
    "/dev/nvidiactl",
    "/dev/nvidia-uvm",
    "/dev/nvidia-uvm-tools",
    "/dev/nvidia-caps",
    "/dev/null",
    "/dev/zero",
    "/dev/urandom",
    // Its own address space, the processor's and the cards' descriptions.
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/devices",
    "/proc/modules",
    "/proc/driver/nvidia",
    "/proc/driver/nvidia-uvm",
    "/proc/driver/nvidia-caps",
    "/proc/sys/vm/mmap_min_addr",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system",
    "/sys/bus/pci",
    "/sys/devices/pci0000:00",
    "/sys/module/nvidia",
    "/sys/module/nvidia_uvm",
    "/etc/ld.so.cache",
    "/etc/nvidia",
    "/usr/share/nvidia",
];

const LIBRARY_FOLDERS: &[&str] = &[
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/nvidia",
    "/usr/local/cuda/compat",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_emulated_device_needs_nothing() {
        assert_eq!(access(&Target::Emulated), Access::default());
    }

    #[test]
    fn a_gpu_needs_its_device_files_and_the_timer_library() {
        let access = access(&Target::Gpu {
            ordinal: 0,
            cupti: Some("/toolchain/cupti/libcupti.so.13".into()),
        });
        assert!(access.readable.contains(&"/dev/nvidia0".into()));
        assert!(access.loadable.contains(&"/toolchain/cupti".into()));
        let whole = [
            Path::new("/"),
            Path::new("/dev"),
            Path::new("/proc"),
            Path::new("/etc"),
        ];
        let all = access.readable.iter().chain(&access.loadable);
        assert!(all.into_iter().all(|path| !whole.contains(&path.as_path())));
    }
}
