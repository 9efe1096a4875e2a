//! A submission's host functions in the executor, and what earlier runs of them needed.

use std::collections::BTreeMap;

use launch_plan::HostProgram;

use super::run::RunFailure;
use crate::host_code::HostCode;

/// Host functions, where any shape's are interpreted.
pub(super) struct Host {
    program: Option<HostProgram>,
    /// Sizes of scratch buffers, by shape.
    scratch: BTreeMap<String, Vec<u64>>,
}

impl Host {
    /// Decodes what the compile child encoded, or whoever has taken its place.
    pub fn of(code: Option<HostCode>) -> Result<Self, RunFailure> {
        let program = code
            .map(|code| HostProgram::from_bytes(&code.0))
            .transpose();
        Ok(Self {
            program: program.map_err(|error| RunFailure::Ours(error.to_string()))?,
            scratch: BTreeMap::new(),
        })
    }

    pub fn program(&self) -> Result<&HostProgram, RunFailure> {
        let missing = || RunFailure::Ours("there are no host functions to interpret".to_owned());
        self.program.as_ref().ok_or_else(missing)
    }

    /// Keeps what scratch a run of a shape needed.
    pub fn remember(&mut self, shape: &str, scratch: Vec<u64>) {
        self.scratch.insert(shape.to_owned(), scratch);
    }

    /// What scratch the last run of a shape needed that was interpreted.
    pub fn scratch(&self, shape: &str) -> &[u64] {
        self.scratch.get(shape).map_or(&[], Vec::as_slice)
    }
}
