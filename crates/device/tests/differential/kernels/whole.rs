//! A kernel, its launch, and what must come of it.

use super::super::forms::{Agreement, Class};
use super::numbers::Number;

/// A file of kernels.
pub struct Source {
    pub name: &'static str,
    pub text: &'static str,
    pub kernels: Vec<Whole>,
}

/// An argument.
pub enum Given {
    /// A buffer with these bytes.
    Array(Vec<u8>),
    /// The buffer of results, zeroed before.
    Result,
    Value(Vec<u8>),
}

/// One launch of a kernel.
pub struct Whole {
    /// The entry's name.
    pub name: &'static str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub is_cooperative: bool,
    pub dynamic_shared_bytes: u32,
    pub arguments: Vec<Given>,
    /// What an element of the result is, and how many there are.
    pub class: Class,
    pub count: usize,
    /// How closely devices must agree, and with what is expected.
    pub agreement: Agreement,
    /// Worked out here by other means; `None` where only a GPU can tell.
    pub expected: Option<Vec<u64>>,
}

impl Whole {
    /// A launch of one dimension.
    pub fn new(name: &'static str, blocks: u32, threads: u32) -> Self {
        Self::over(name, [blocks, 1, 1], [threads, 1, 1])
    }

    pub fn over(name: &'static str, grid: [u32; 3], block: [u32; 3]) -> Self {
        Self {
            name,
            grid,
            block,
            is_cooperative: false,
            dynamic_shared_bytes: 0,
            arguments: Vec::new(),
            class: Class::B32,
            count: 0,
            agreement: Agreement::Exact,
            expected: None,
        }
    }

    pub fn array<T: Number>(mut self, values: &[T]) -> Self {
        let bytes = values.iter().flat_map(|&value| value.bytes());
        self.arguments.push(Given::Array(bytes.collect()));
        self
    }

    pub fn value<T: Number>(self, value: T) -> Self {
        self.structure(value.bytes())
    }

    pub fn structure(mut self, bytes: Vec<u8>) -> Self {
        self.arguments.push(Given::Value(bytes));
        self
    }

    /// The result as an argument, and what must be in it.
    pub fn gives<T: Number>(mut self, expected: &[T]) -> Self {
        self = self.fills(T::CLASS, expected.len());
        self.expected = Some(expected.iter().map(|&value| value.bits()).collect());
        self
    }

    /// The result as an argument, where only a GPU can tell what must be in it.
    pub fn fills(mut self, class: Class, count: usize) -> Self {
        self.arguments.push(Given::Result);
        self.class = class;
        self.count = count;
        self
    }

    pub fn within(mut self, agreement: Agreement) -> Self {
        self.agreement = agreement;
        self
    }

    pub fn cooperative(mut self) -> Self {
        self.is_cooperative = true;
        self
    }

    pub fn shared(mut self, bytes: u32) -> Self {
        self.dynamic_shared_bytes = bytes;
        self
    }
}
