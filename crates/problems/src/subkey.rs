//! Keys derived from keys, so that nothing that is generated twice is the same by accident and
//! nothing can be predicted without the secret above it.
//!
//! Master seed -> subkey of (shape, launch, tensor) -> elements. Epoch secret -> held-out draws.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A key of the generators.
pub type Subkey = [u8; 32];

/// The key of one tensor's contents in one launch: HMAC-SHA-256 under `master`.
#[must_use]
pub fn derive(master: &[u8; 32], shape: &str, launch: u64, tensor: &str) -> Subkey {
    mac(
        master,
        &[
            b"tensor",
            shape.as_bytes(),
            &launch.to_le_bytes(),
            tensor.as_bytes(),
        ],
    )
}

/// HMAC-SHA-256 over length-prefixed parts, so that no two lists of parts read the same.
pub(crate) fn mac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        mac.update(&(part.len() as u64).to_le_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected digest comes from Python's `hmac` over the same prefixed parts.
    #[test]
    fn it_is_hmac_sha256_over_prefixed_parts() {
        assert_eq!(
            hex::encode(derive(&[0; 32], "s", 0, "A")),
            "ea6dfe69a4ba0969a481417d705ea85bf8c99d0ccc964aa4a36289c719ea4ce3"
        );
    }

    #[test]
    fn every_part_matters() {
        let base = derive(&[1; 32], "s0", 3, "A");
        assert_ne!(base, derive(&[2; 32], "s0", 3, "A"));
        assert_ne!(base, derive(&[1; 32], "s1", 3, "A"));
        assert_ne!(base, derive(&[1; 32], "s0", 4, "A"));
        assert_ne!(base, derive(&[1; 32], "s0", 3, "B"));
        assert_eq!(base, derive(&[1; 32], "s0", 3, "A"));
    }
}
