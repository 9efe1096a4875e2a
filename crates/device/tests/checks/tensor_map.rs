//! Tensor maps: a box of a matrix arrives, and what the driver does not admit is refused.

use device::{Argument, LaunchSpec, Operation, TensorMap};
use domain::{Interleave, L2Promotion, OutOfBounds, Swizzle, TensorElement, VerdictKind};

use super::Outcome;
use super::bench::{Bench, at, ensure, fault, launch, pointer, text, word};

const COLUMNS: u32 = 100;
const ROWS: u32 = 50;
/// What the kernel fetches.
const BOX: [u32; 2] = [32, 8];

/// A box in the middle, and one that leaves the matrix, whose outside reads as zero.
pub fn box_arrives(bench: &mut Bench) -> Outcome {
    let module = bench.load("tma")?;
    let matrix = bench.buffer(u64::from(COLUMNS * ROWS) * 4, "matrix")?;
    let values: Vec<u8> = (1..=COLUMNS * ROWS).flat_map(u32::to_le_bytes).collect();
    bench.device.write(matrix, &values).map_err(text)?;
    let out = bench.buffer(u64::from(BOX[0] * BOX[1]) * 4, "out")?;
    let map = map(matrix);
    for (x, y) in [(16, 20), (80, 46)] {
        let arguments = vec![
            Argument::TensorMap(map.clone()),
            pointer(out),
            word(x),
            word(y),
        ];
        let spec = launch(module, "fetch_box", arguments);
        bench.run(&[Operation::Launch(spec)]).map_err(text)?;
        let found = bench.words(out)?;
        let wanted: Vec<u32> = (0..BOX[1])
            .flat_map(|row| (0..BOX[0]).map(move |column| element(x + column, y + row)))
            .collect();
        ensure!(found == wanted, "box at {x}, {y}: {found:?}");
    }
    Ok(())
}

/// Boxes of more than 256 elements along a dimension are not admitted.
pub fn refused(bench: &mut Bench) -> Outcome {
    let module = bench.load("tma")?;
    let matrix = bench.buffer(u64::from(COLUMNS * ROWS) * 4, "matrix")?;
    let wide = TensorMap {
        box_dimensions: vec![512, 8],
        ..map(matrix)
    };
    let arguments = vec![Argument::TensorMap(wide), pointer(matrix), word(0), word(0)];
    let spec: LaunchSpec = launch(module, "fetch_box", arguments);
    let fault = fault(
        bench.run(&[Operation::Launch(spec)]),
        VerdictKind::LaunchConfig,
    )?;
    ensure!(fault.message.contains("[512, 8]"), "{}", fault.message);
    Ok(())
}

fn map(matrix: device::BufferId) -> TensorMap {
    TensorMap {
        base: at(matrix, 0),
        element: TensorElement::U32,
        dimensions: vec![u64::from(COLUMNS), u64::from(ROWS)],
        strides_bytes: vec![u64::from(COLUMNS) * 4],
        box_dimensions: BOX.to_vec(),
        element_strides: vec![1, 1],
        interleave: Interleave::None,
        swizzle: Swizzle::None,
        l2_promotion: L2Promotion::Bytes128,
        out_of_bounds: OutOfBounds::Zero,
    }
}

fn element(x: u32, y: u32) -> u32 {
    if x < COLUMNS && y < ROWS {
        y * COLUMNS + x + 1
    } else {
        0
    }
}
