//! What a confined process must reach to drive a device.

use std::ops::RangeInclusive;
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
    /// Variables of the environment.
    pub environment: Vec<(String, String)>,
}

/// What the driver of a target opens. The emulated device needs nothing.
#[must_use]
pub fn access(target: &Target) -> Access {
    let Target::Gpu { card, cupti, .. } = target else {
        return Access::default();
    };
    let mut readable: Vec<PathBuf> = DRIVER_FILES.iter().map(PathBuf::from).collect();
    readable.extend(pci_roots());
    let card = card.as_ref();
    readable.extend(match card {
        Some(card) => device_files(card.minor..=card.minor),
        None => device_files(0..=MOST_CARDS),
    });
    let mut loadable: Vec<PathBuf> = LIBRARY_FOLDERS.iter().map(PathBuf::from).collect();
    loadable.extend(cupti.as_deref().and_then(Path::parent).map(Path::to_owned));
    Access {
        readable,
        loadable,
        // The driver names its threads.
        writable: vec!["/proc/self/task".into()],
        local_listener: true,
        environment: card
            .map(|card| ("CUDA_VISIBLE_DEVICES".to_owned(), card.uuid.clone()))
            .into_iter()
            .collect(),
    }
}

/// Hosts have no more cards than that.
const MOST_CARDS: u32 = 31;

fn device_files(minors: RangeInclusive<u32>) -> Vec<PathBuf> {
    minors
        .map(|minor| PathBuf::from(format!("/dev/nvidia{minor}")))
        .collect()
}

/// Where the system describes cards: below one folder for each of its PCI roots.
fn pci_roots() -> Vec<PathBuf> {
    let entries = Path::new("/sys/devices").read_dir().into_iter().flatten();
    entries
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"pci"))
        .map(|entry| entry.path())
        .collect()
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
    fn a_process_reaches_the_card_it_is_for_and_no_other() {
        let access = access(&Target::Gpu {
            ordinal: 3,
            card: Some(crate::Card {
                uuid: "GPU-1".to_owned(),
                minor: 5,
            }),
            cupti: None,
        });
        let is_card = |path: &&PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| {
                let number = name.strip_prefix("nvidia");
                number.is_some_and(|number| number.parse::<u32>().is_ok())
            })
        };
        let cards: Vec<_> = access.readable.iter().filter(is_card).collect();
        assert_eq!(cards, [Path::new("/dev/nvidia5")]);
        let visible = ("CUDA_VISIBLE_DEVICES".to_owned(), "GPU-1".to_owned());
        assert_eq!(access.environment, [visible]);
    }

    #[test]
    fn a_gpu_needs_its_device_files_and_the_timer_library() {
        let access = access(&Target::Gpu {
            ordinal: 0,
            card: None,
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
