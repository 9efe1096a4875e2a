//! Whole kernels, as CUDA programmers write them: each covers what single instructions cannot, such as control
//! flow, exchanges, shared memory and libraries. `kernels/*.cu` are the sources, `kernels/*.rs` say what each is
//! given and what must come of it.

mod arithmetic;
mod collectives;
mod irregular;
mod numbers;
mod products;
mod vectors;
mod whole;

pub use whole::{Given, Source, Whole};

pub fn all() -> Vec<Source> {
    let mut all = vectors::sources();
    all.extend(collectives::sources());
    all.extend(products::sources());
    all.extend(irregular::sources());
    all.extend(arithmetic::sources());
    all
}
