//! Why a PTX module, or one kernel of it, cannot be executed. Returned before any launch.

/// A construct that this crate does not execute, or text that is not PTX.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// An instruction form, directive or external function that is not implemented.
    #[error("the emulated device does not support `{opcode}`{}", at(*.line, *.ptx_line))]
    Unsupported {
        /// The whole opcode with its modifiers, or the directive or callee.
        opcode: String,
        /// Line of the CUDA source, from the nearest `.loc`.
        line: Option<u32>,
        /// Line of the PTX text, from 1.
        ptx_line: u32,
    },
    /// The text breaks PTX's grammar.
    #[error("malformed PTX at line {ptx_line}: {message}")]
    Malformed {
        /// Line of the PTX text, from 1.
        ptx_line: u32,
        /// What was expected or found.
        message: String,
    },
    /// The module has no kernel of that name.
    #[error("the module has no kernel named `{name}`")]
    UnknownKernel {
        /// The mangled name that was asked for.
        name: String,
    },
}

fn at(line: Option<u32>, ptx_line: u32) -> String {
    match line {
        Some(line) => format!(" (source line {line})"),
        None => format!(" (PTX line {ptx_line})"),
    }
}

impl LoadError {
    pub(crate) fn malformed(ptx_line: u32, message: impl Into<String>) -> Self {
        Self::Malformed {
            ptx_line,
            message: message.into(),
        }
    }
}
