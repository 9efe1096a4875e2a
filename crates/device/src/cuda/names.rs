//! Which of the contract's devices a GPU is, and what the compiler calls its architecture.

use domain::DeviceName;

/// The device by the driver's product name; `None` for products that are not in the contract, slices
/// of a GPU among them: they would be measured against peaks that are not theirs.
pub(super) fn device_name(product: &str) -> Option<DeviceName> {
    if product.contains("MIG") || product.contains("Laptop") || product.contains("GRID") {
        return None;
    }
    let bare = ["NVIDIA ", "Tesla ", "GeForce "]
        .iter()
        .fold(product, |name, brand| {
            name.strip_prefix(brand).unwrap_or(name)
        });
    let found = match bare {
        "T4" => DeviceName::T4,
        "A10" => DeviceName::A10,
        "A100-SXM4-40GB" | "A100-PCIE-40GB" => DeviceName::A100_40gb,
        "A100-SXM4-80GB" | "A100 80GB PCIe" => DeviceName::A100_80gb,
        "L4" => DeviceName::L4,
        "L40S" => DeviceName::L40s,
        "RTX 3090" => DeviceName::Rtx3090,
        "RTX 4090" => DeviceName::Rtx4090,
        "RTX 5090" => DeviceName::Rtx5090,
        "H100 PCIe" => DeviceName::H100Pcie,
        "H100 80GB HBM3" => DeviceName::H100Sxm,
        "H200" => DeviceName::H200,
        "B200" => DeviceName::B200,
        _ => return None,
    };
    Some(found)
}

/// The compiler's name of a compute capability, with the architecture's own instructions where it has
/// any.
pub(super) fn architecture(major: u32, minor: u32) -> String {
    let own = if major >= 9 { "a" } else { "" };
    format!("sm_{major}{minor}{own}")
}

/// A GPU's identity as NVIDIA's tools write it.
pub(super) fn uuid_text(bytes: [u8; 16]) -> String {
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [0..4, 4..6, 6..8, 8..10, 10..16].map(|part| hex[part].concat());
    format!("GPU-{}", parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_told_apart() {
        let known = [
            ("NVIDIA H200", DeviceName::H200),
            ("NVIDIA H100 80GB HBM3", DeviceName::H100Sxm),
            ("NVIDIA H100 PCIe", DeviceName::H100Pcie),
            ("NVIDIA A100-SXM4-80GB", DeviceName::A100_80gb),
            ("NVIDIA A100-PCIE-40GB", DeviceName::A100_40gb),
            ("NVIDIA GeForce RTX 4090", DeviceName::Rtx4090),
            ("Tesla T4", DeviceName::T4),
            ("NVIDIA L40S", DeviceName::L40s),
        ];
        for (product, name) in known {
            assert_eq!(device_name(product), Some(name), "{product}");
        }
        for other in [
            "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
            "NVIDIA GeForce RTX 4090 Laptop GPU",
            "NVIDIA GeForce RTX 3090 Ti",
            "NVIDIA H100 NVL",
            "NVIDIA L40",
        ] {
            assert_eq!(device_name(other), None, "{other}");
        }
    }

    #[test]
    fn architectures_and_identities_are_spelled_as_the_tools_do() {
        assert_eq!(architecture(9, 0), "sm_90a");
        assert_eq!(architecture(8, 9), "sm_89");
        assert_eq!(architecture(12, 0), "sm_120a");
        let bytes = std::array::from_fn(|i| u8::try_from(i).unwrap() * 0x11);
        assert_eq!(uuid_text(bytes), "GPU-00112233-4455-6677-8899-aabbccddeeff");
    }
}
