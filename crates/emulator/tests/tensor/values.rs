//! Small integers in every format, and the plain product.

/// An element type of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    F16,
    Bf16,
    /// tf32 too.
    F32,
    F64,
    S8,
    U8,
    S32,
    E4m3,
    E5m2,
}

impl Format {
    /// A small integer's bytes.
    pub fn encode(self, value: i32) -> Vec<u8> {
        let value_f = value as f32;
        match self {
            Self::F16 => half::f16::from_f32(value_f).to_le_bytes().to_vec(),
            Self::Bf16 => half::bf16::from_f32(value_f).to_le_bytes().to_vec(),
            Self::F32 => value_f.to_le_bytes().to_vec(),
            Self::F64 => f64::from(value).to_le_bytes().to_vec(),
            Self::S8 | Self::U8 => vec![value as u8],
            Self::S32 => value.to_le_bytes().to_vec(),
            // Eight-bit floats are the upper parts of f16's pattern, with another bias for e4m3.
            Self::E5m2 => vec![half::f16::from_f32(value_f).to_le_bytes()[1]],
            Self::E4m3 => {
                let bits = half::f16::from_f32(value_f).to_bits();
                let magnitude = bits & 0x7fff;
                let eight = if magnitude == 0 {
                    0
                } else {
                    (magnitude >> 7) - (8 << 3)
                };
                vec![(bits >> 8 & 0x80 | eight) as u8]
            }
        }
    }

    pub fn encode_all(self, values: &[i32]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|&value| self.encode(value))
            .collect()
    }

    pub fn decode_all(self, bytes: &[u8]) -> Vec<i32> {
        match self {
            Self::F16 => chunks(bytes)
                .map(|b| half::f16::from_le_bytes(b).to_f32() as i32)
                .collect(),
            Self::F32 => chunks(bytes)
                .map(|b| f32::from_le_bytes(b) as i32)
                .collect(),
            Self::F64 => chunks(bytes)
                .map(|b| f64::from_le_bytes(b) as i32)
                .collect(),
            Self::S32 => chunks(bytes).map(i32::from_le_bytes).collect(),
            _ => panic!("not a format of sums"),
        }
    }

    pub fn bytes(self) -> usize {
        self.encode(0).len()
    }
}

fn chunks<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.chunks_exact(N).map(|chunk| chunk.try_into().unwrap())
}

/// A matrix of small integers that differ between rows and columns.
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<i32>,
}

impl Matrix {
    pub fn new(rows: usize, columns: usize, seed: usize, signed: bool) -> Self {
        let values = (0..rows * columns)
            .map(|at| {
                let mixed = (at * at * 7 + at * 13 + seed * 31) % 11;
                if signed {
                    mixed as i32 - 5
                } else {
                    mixed as i32
                }
            })
            .collect();
        Self {
            rows,
            columns,
            values,
        }
    }

    pub fn at(&self, row: usize, column: usize) -> i32 {
        self.values[row * self.columns + column]
    }

    /// As it lies in memory, with a stride between rows or, if `by_column`, between columns.
    pub fn stored(&self, by_column: bool, stride: usize) -> Vec<i32> {
        let lines = if by_column { self.columns } else { self.rows };
        let mut out = vec![0; lines * stride];
        for row in 0..self.rows {
            for column in 0..self.columns {
                let at = if by_column {
                    column * stride + row
                } else {
                    row * stride + column
                };
                out[at] = self.at(row, column);
            }
        }
        out
    }
}

/// `a * b + c`
pub fn product(a: &Matrix, b: &Matrix, c: &Matrix) -> Matrix {
    let mut values = c.values.clone();
    for row in 0..a.rows {
        for column in 0..b.columns {
            for at in 0..a.columns {
                values[row * b.columns + column] += a.at(row, at) * b.at(at, column);
            }
        }
    }
    Matrix {
        rows: a.rows,
        columns: b.columns,
        values,
    }
}
