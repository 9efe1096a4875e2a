//! Elements by themselves or with their neighbours.

use super::numbers::{Chance, Number};
use super::whole::{Source, Whole};

pub fn sources() -> Vec<Source> {
    vec![
        Source {
            name: "vector_add",
            text: include_str!("vector_add.cu"),
            kernels: vec![vector_add()],
        },
        Source {
            name: "transpose",
            text: include_str!("transpose.cu"),
            kernels: vec![
                transpose("transpose_padded"),
                transpose("transpose_swizzled"),
            ],
        },
        Source {
            name: "stencil",
            text: include_str!("stencil.cu"),
            kernels: vec![stencil()],
        },
        Source {
            name: "convolution",
            text: include_str!("convolution.cu"),
            kernels: vec![convolution_1d(), convolution_2d()],
        },
        Source {
            name: "structures",
            text: include_str!("structures.cu"),
            kernels: vec![structure_by_value(), local_arrays(), bit_casts()],
        },
        Source {
            name: "mandelbrot",
            text: include_str!("mandelbrot.cu"),
            kernels: vec![mandelbrot()],
        },
    ]
}

fn vector_add() -> Whole {
    let mut chance = Chance(1);
    let (a, b) = (
        chance.floats(1000, -9.0, 9.0),
        chance.floats(1000, -0.1, 0.1),
    );
    let sums: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    Whole::new("vector_add", 3, 128)
        .array(&a)
        .array(&b)
        .gives(&sums)
        .value(1000_i32)
}

fn transpose(name: &'static str) -> Whole {
    let (width, height) = (45, 37);
    let matrix = Chance(2).floats(width * height, -1.0, 1.0);
    let turned: Vec<f32> = (0..width * height)
        .map(|at| matrix[at % height * width + at / height])
        .collect();
    Whole::over(name, [2, 2, 1], [32, 8, 1])
        .array(&matrix)
        .gives(&turned)
        .value(width as i32)
        .value(height as i32)
}

fn stencil() -> Whole {
    let side = 32;
    let grid = Chance(3).whole_floats(side * side, -99, 99);
    let at = |x: usize, y: usize| grid[y % side * side + x % side];
    let next = |i: usize| {
        let (x, y) = (i % side + side, i / side + side);
        0.5 * at(x, y) + 0.125 * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1))
    };
    let next: Vec<f32> = (0..side * side).map(next).collect();
    Whole::over("stencil", [2, 2, 1], [16, 16, 1])
        .array(&grid)
        .gives(&next)
        .value(side as i32)
}

fn convolution_1d() -> Whole {
    let mask = [1.0, -2.0, 3.0, 4.0, 3.0, -2.0, 1.0];
    let count = 300;
    let line = Chance(4).whole_floats(count, -50, 50);
    let at = |i: usize| {
        if i < 3 || i >= count + 3 {
            0.0
        } else {
            line[i - 3]
        }
    };
    let sum = |i: usize| (0..7).map(|k| mask[k] * at(i + k)).sum();
    let sums: Vec<f32> = (0..count).map(sum).collect();
    Whole::new("convolution_1d", 3, 128)
        .array(&line)
        .gives(&sums)
        .value(count as i32)
}

fn convolution_2d() -> Whole {
    let side = [1.0_f32, 2.0, 3.0, 2.0, 1.0];
    let (width, height) = (30_i32, 21_i32);
    let image = Chance(5).whole_floats((width * height) as usize, -20, 20);
    let at = |x: i32, y: i32| match (0..width).contains(&x) && (0..height).contains(&y) {
        true => image[(y * width + x) as usize],
        false => 0.0,
    };
    // The mask is the product of its sides.
    let sum = |i: i32| -> f32 {
        let tap = |k: i32| {
            let (u, v) = (k % 5, k / 5);
            side[u as usize] * side[v as usize] * at(i % width + u - 2, i / width + v - 2)
        };
        (0..25).map(tap).sum()
    };
    let sums: Vec<f32> = (0..width * height).map(sum).collect();
    Whole::over("convolution_2d", [2, 6, 1], [16, 4, 1])
        .array(&image)
        .gives(&sums)
        .value(width)
        .value(height)
}

fn structure_by_value() -> Whole {
    let values = Chance(6).integers(64, -1000, 1000);
    let offsets = [-3_i16, 400, 9];
    let mut bytes = vec![(-7_i8) as u8];
    let mut place = |at: usize, more: Vec<u8>| {
        bytes.resize(at, 0xcc);
        bytes.extend(more);
    };
    place(8, 0.75_f64.bytes());
    place(
        16,
        offsets.iter().flat_map(|offset| offset.bytes()).collect(),
    );
    place(22, vec![1]);
    place(24, (1_u64 << 33).bytes());
    place(
        32,
        [2.5_f32, -0.25]
            .iter()
            .flat_map(|half| half.bytes())
            .collect(),
    );
    place(40, vec![1, 2, 3, 200]);
    place(48, Vec::new());
    let constant = 100.0 - 7.0 + 2f64.powi(33) + 2.75 + f64::from(1 + 2 * 256 + 3 * 65536 + 200);
    let result = |(i, &value): (usize, &i32)| {
        let sum = 0.75 * f64::from(value) + f64::from(offsets[i % 3]) + constant;
        if i % 2 == 1 { -sum } else { sum }
    };
    let results: Vec<f64> = values.iter().enumerate().map(result).collect();
    Whole::new("structure_by_value", 1, 64)
        .array(&values)
        .gives(&results)
        .structure(bytes)
        .value(100_i16)
}

fn local_arrays() -> Whole {
    let keys: Vec<u32> = Chance(7)
        .words(8 * 64)
        .iter()
        .map(|word| word >> 20)
        .collect();
    let sorted = |own: &[u32]| -> Vec<u32> {
        let mut pairs: Vec<(u32, u32)> = own.iter().copied().zip(0..).collect();
        pairs.sort();
        let value = |i: usize| {
            let (key, from) = pairs[i];
            pairs[from as usize].0 ^ (key + pairs[(key & 7) as usize].1)
        };
        (0..8).map(value).collect()
    };
    let results: Vec<u32> = keys.chunks(8).flat_map(sorted).collect();
    Whole::new("local_arrays", 2, 32)
        .array(&keys)
        .gives(&results)
}

fn bit_casts() -> Whole {
    let values = Chance(8).floats(96, -3e3, 3e3);
    let result = |(i, &value): (usize, &f32)| {
        let bits = value.to_bits();
        let exponent = (bits >> 23 & 255).wrapping_sub(127);
        let byte = u32::from(bits.to_le_bytes()[i & 3]);
        let half = bits >> (16 * (i & 1)) & 0xffff;
        let wide = (f64::from(value).to_bits() >> 32) as u32;
        exponent.wrapping_mul(0x0100_0193) ^ (byte | half << 8) ^ wide ^ (bits ^ 0x8000_0000)
    };
    let results: Vec<u32> = values.iter().enumerate().map(result).collect();
    Whole::new("bit_casts", 1, 96)
        .array(&values)
        .gives(&results)
}

fn mandelbrot() -> Whole {
    let (width, height, limit) = (64, 32, 200);
    let escape = |i: u32| {
        let (cr, ci) = (
            -2.0 + 3.0 / 64.0 * (i % width) as f32,
            -1.0 + 2.0 / 32.0 * (i / width) as f32,
        );
        let (mut zr, mut zi, mut singles) = (0.0_f32, 0.0_f32, 0);
        while singles < limit && zr * zr + zi * zi <= 4.0 {
            (zr, zi) = (zr * zr - zi * zi + cr, 2.0 * (zr * zi) + ci);
            singles += 1;
        }
        let (cr, ci) = (f64::from(cr), f64::from(ci));
        let (mut zr, mut zi, mut doubles) = (0.0_f64, 0.0_f64, 0);
        while doubles < limit && zr * zr + zi * zi <= 4.0 {
            (zr, zi) = (zr * zr - zi * zi + cr, 2.0 * (zr * zi) + ci);
            doubles += 1;
        }
        singles | doubles << 16
    };
    let results: Vec<u32> = (0..width * height).map(escape).collect();
    Whole::over("mandelbrot", [4, 8, 1], [16, 4, 1])
        .gives(&results)
        .value(width)
        .value(height)
        .value(limit)
}
