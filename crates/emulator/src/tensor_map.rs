//! Tensor maps: what `cp.async.bulk.tensor` is told of a tensor in global memory.
//!
//! A map is 128 bytes that programs hand on without looking into them. Here they are, little endian:
//! 4 bytes `LsTM`, then one byte each for element, rank, swizzle and fill; the address (8); five
//! extents less one (4 each); four strides in bytes (8 each); five box extents (2 each); five element
//! strides (1 each); the rest zero.

use crate::exec::MAX_SHARED_BYTES;

/// Bytes of an encoded map.
pub const TENSOR_MAP_BYTES: usize = 128;

const MAGIC: [u8; 4] = *b"LsTM";
const ADDRESS: usize = 8;
const EXTENTS: usize = 16;
const STRIDES: usize = 40;
const BOXES: usize = 72;
const STEPS: usize = 82;

/// What a tensor consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// 8 bits.
    U8,
    /// 16 bits.
    U16,
    /// 32 bits, unsigned.
    U32,
    /// 32 bits, signed.
    S32,
    /// 64 bits, unsigned.
    U64,
    /// 64 bits, signed.
    S64,
    /// Half precision.
    F16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// `bfloat16`.
    Bf16,
    /// Single precision; subnormal numbers become zero on their way.
    F32Ftz,
}

impl Element {
    const ALL: [Self; 11] = [
        Self::U8,
        Self::U16,
        Self::U32,
        Self::S32,
        Self::U64,
        Self::S64,
        Self::F16,
        Self::F32,
        Self::F64,
        Self::Bf16,
        Self::F32Ftz,
    ];

    /// Size of one.
    pub fn bytes(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F32 | Self::F32Ftz => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16 | Self::F32 | Self::F64 | Self::Bf16 | Self::F32Ftz
        )
    }
}

/// How the 16-byte parts of a box are exchanged in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Swizzle {
    /// They are not.
    #[default]
    None,
    /// Within 32 bytes.
    Bytes32,
    /// Within 64 bytes.
    Bytes64,
    /// Within 128 bytes.
    Bytes128,
}

impl Swizzle {
    const ALL: [Self; 4] = [Self::None, Self::Bytes32, Self::Bytes64, Self::Bytes128];

    /// Extent of the exchange, if there is one.
    pub fn bytes(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Bytes32 => Some(32),
            Self::Bytes64 => Some(64),
            Self::Bytes128 => Some(128),
        }
    }
}

/// Why a map cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a tensor map with dimensions {dimensions:?} and boxes of {boxes:?}: {why}")]
pub struct TensorMapError {
    dimensions: Vec<u64>,
    boxes: Vec<u32>,
    why: String,
}

/// A tensor in global memory and the boxes it is moved in. Dimensions begin with the one whose
/// elements lie side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorMapDescriptor {
    /// Device address of the first element.
    pub address: u64,
    /// What it consists of.
    pub element: Element,
    /// Extents in elements.
    pub dimensions: Vec<u64>,
    /// Distance of neighbours along each dimension but the first, in bytes.
    pub strides_bytes: Vec<u64>,
    /// Extents of a box in elements.
    pub box_dimensions: Vec<u32>,
    /// Of so many elements of a box one is moved, along each dimension.
    pub element_strides: Vec<u32>,
    /// Layout in shared memory.
    pub swizzle: Swizzle,
    /// Elements outside the tensor read as NaN instead of zero.
    pub fills_with_nan: bool,
}

impl TensorMapDescriptor {
    /// The 128 bytes that a kernel is given.
    ///
    /// # Errors
    /// For what `cuTensorMapEncodeTiled` does not admit.
    pub fn encode(&self) -> Result<[u8; TENSOR_MAP_BYTES], TensorMapError> {
        self.check().map_err(|why| TensorMapError {
            dimensions: self.dimensions.clone(),
            boxes: self.box_dimensions.clone(),
            why,
        })?;
        let mut out = [0; TENSOR_MAP_BYTES];
        out[..4].copy_from_slice(&MAGIC);
        let index = |found: Option<usize>| found.unwrap_or(0) as u8;
        out[4] = index(Element::ALL.iter().position(|&e| e == self.element));
        out[5] = self.dimensions.len() as u8;
        out[6] = index(Swizzle::ALL.iter().position(|&s| s == self.swizzle));
        out[7] = u8::from(self.fills_with_nan);
        out[ADDRESS..ADDRESS + 8].copy_from_slice(&self.address.to_le_bytes());
        for (at, extent) in self.dimensions.iter().enumerate() {
            let start = EXTENTS + 4 * at;
            out[start..start + 4].copy_from_slice(&((extent - 1) as u32).to_le_bytes());
        }
        for (at, stride) in self.strides_bytes.iter().enumerate() {
            let start = STRIDES + 8 * at;
            out[start..start + 8].copy_from_slice(&stride.to_le_bytes());
        }
        for (at, &extent) in self.box_dimensions.iter().enumerate() {
            let start = BOXES + 2 * at;
            out[start..start + 2].copy_from_slice(&(extent as u16).to_le_bytes());
        }
        for (at, &step) in self.element_strides.iter().enumerate() {
            out[STEPS + at] = step as u8;
        }
        Ok(out)
    }

    /// What [`TensorMapDescriptor::encode`] was given, or nothing for bytes that it did not make.
    pub fn decode(bytes: &[u8; TENSOR_MAP_BYTES]) -> Option<Self> {
        let rank = bytes[5] as usize;
        if bytes[..4] != MAGIC || !(1..=5).contains(&rank) {
            return None;
        }
        let word = |start: usize, length: usize| {
            let mut word = [0; 8];
            word[..length].copy_from_slice(&bytes[start..start + length]);
            u64::from_le_bytes(word)
        };
        let map = Self {
            address: word(ADDRESS, 8),
            element: *Element::ALL.get(bytes[4] as usize)?,
            dimensions: (0..rank).map(|at| word(EXTENTS + 4 * at, 4) + 1).collect(),
            strides_bytes: (1..rank)
                .map(|at| word(STRIDES + 8 * (at - 1), 8))
                .collect(),
            box_dimensions: { 0..rank }
                .map(|at| word(BOXES + 2 * at, 2) as u32)
                .collect(),
            element_strides: (0..rank).map(|at| u32::from(bytes[STEPS + at])).collect(),
            swizzle: *Swizzle::ALL.get(bytes[6] as usize)?,
            fills_with_nan: bytes[7] != 0,
        };
        map.check().ok().map(|()| map)
    }

    /// Elements of a box that are moved, along each dimension.
    pub(crate) fn moved(&self) -> Vec<u32> {
        let steps = { 0..self.dimensions.len() }.map(|at| self.step(at));
        let extents = self.box_dimensions.iter();
        extents
            .zip(steps)
            .map(|(&extent, step)| extent.div_ceil(step))
            .collect()
    }

    /// The element stride along a dimension; along the first there is none.
    pub(crate) fn step(&self, at: usize) -> u32 {
        if at == 0 { 1 } else { self.element_strides[at] }
    }

    /// Bytes of a box in shared memory, which can hold it.
    pub(crate) fn box_bytes(&self) -> u32 {
        self.wide_box_bytes() as u32
    }

    /// At most 256 to the fifth elements, before the map is checked.
    fn wide_box_bytes(&self) -> u64 {
        let elements: u64 = self.moved().into_iter().map(u64::from).product();
        elements * u64::from(self.element.bytes())
    }

    /// The element that stands for one outside.
    pub(crate) fn fill(&self) -> u64 {
        match self.element {
            _ if !self.fills_with_nan => 0,
            Element::F32 | Element::F32Ftz => 0x7fff_ffff,
            Element::F64 => 0x7ff8_0000_0000_0000,
            _ => 0x7fff,
        }
    }

    fn check(&self) -> Result<(), String> {
        let rank = self.dimensions.len();
        let fits = (1..=5).contains(&rank)
            && self.strides_bytes.len() + 1 == rank
            && self.box_dimensions.len() == rank
            && self.element_strides.len() == rank;
        if !fits {
            return Err("its lists do not fit a tensor of 1 to 5 dimensions".to_owned());
        }
        if !self.address.is_multiple_of(16) {
            return Err(format!(
                "its address {:#x} is not a multiple of 16",
                self.address
            ));
        }
        if let Some(&extent) = self.dimensions.iter().find(|&&e| e == 0 || e > 1 << 32) {
            return Err(format!(
                "an extent of {extent} elements; 1 to 2^32 are possible"
            ));
        }
        let is_bad = |stride: &&u64| !stride.is_multiple_of(16) || **stride >= 1 << 40;
        if let Some(stride) = self.strides_bytes.iter().find(is_bad) {
            return Err(format!(
                "a stride of {stride} bytes; it has to be a multiple of 16 below 2^40"
            ));
        }
        if let Some(&extent) = self.box_dimensions.iter().find(|&&e| e == 0 || e > 256) {
            return Err(format!("a box of {extent} elements; 1 to 256 are possible"));
        }
        if let Some(step) = self.element_strides.iter().find(|&&s| s == 0 || s > 8) {
            return Err(format!("an element stride of {step}; 1 to 8 are possible"));
        }
        let row = self.box_dimensions[0] * self.element.bytes();
        if !row.is_multiple_of(16) {
            return Err(format!(
                "a box whose rows have {row} bytes, no multiple of 16"
            ));
        }
        if let Some(span) = self.swizzle.bytes().filter(|&span| row > span) {
            return Err(format!(
                "a box whose rows have {row} bytes, swizzled within {span}"
            ));
        }
        let bytes = self.wide_box_bytes();
        if bytes > u64::from(MAX_SHARED_BYTES) {
            return Err(format!(
                "a box of {bytes} bytes; shared memory holds {MAX_SHARED_BYTES}"
            ));
        }
        if self.fills_with_nan && !self.element.is_float() {
            return Err("NaN fills only tensors of floating-point numbers".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TensorMapDescriptor {
        TensorMapDescriptor {
            address: 1 << 34,
            element: Element::F16,
            dimensions: vec![1 << 32, 7, 3],
            strides_bytes: vec![1 << 34, 1 << 38],
            box_dimensions: vec![64, 256, 1],
            element_strides: vec![1, 3, 1],
            swizzle: Swizzle::Bytes128,
            fills_with_nan: true,
        }
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let bytes = map().encode().unwrap();
        assert_eq!(TensorMapDescriptor::decode(&bytes), Some(map()));
        assert_eq!(TensorMapDescriptor::decode(&[0; 128]), None);
        assert_eq!(map().moved(), [64, 86, 1]);
    }

    #[test]
    fn what_the_driver_refuses_is_refused_with_a_reason() {
        let mut map = map();
        map.box_dimensions[0] = 65;
        let why = map.encode().unwrap_err().to_string();
        assert!(why.contains("130 bytes"), "{why}");
        map.box_dimensions[0] = 128;
        let why = map.encode().unwrap_err().to_string();
        assert!(why.contains("256 bytes, swizzled within 128"), "{why}");
    }
}
