//! The card's number among the host's device files, which the driver tells in text files of its own.

use std::path::Path;

/// One folder a card, with a file of lines `name: value`.
const CARDS: &str = "/proc/driver/nvidia/gpus";

/// The number behind `/dev/nvidia` of the card with this name.
pub(super) fn minor(uuid: &str) -> Option<u32> {
    let cards = Path::new(CARDS).read_dir().ok()?;
    cards
        .flatten()
        .filter_map(|card| std::fs::read_to_string(card.path().join("information")).ok())
        .find_map(|text| minor_in(&text, uuid))
}

fn minor_in(text: &str, uuid: &str) -> Option<u32> {
    let value = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| *key == name).map(|(_, v)| v.trim())
    };
    (value("GPU UUID") == Some(uuid))
        .then(|| value("Device Minor")?.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 41\nGPU UUID: \t GPU-c2\n\
                        Device Minor: \t 3\nGPU Excluded:\t No\n";

    #[test]
    fn the_number_of_the_card_meant_is_read() {
        assert_eq!(minor_in(TEXT, "GPU-c2"), Some(3));
        assert_eq!(minor_in(TEXT, "GPU-c3"), None);
        assert_eq!(minor_in("GPU UUID: GPU-c2\n", "GPU-c2"), None);
    }
}
