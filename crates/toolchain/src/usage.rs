//! What the assembler says of each kernel.

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection as _};
use serde::{Deserialize, Serialize};

/// Resources of one compiled kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelUsage {
    /// Mangled name, as in the PTX.
    pub lowered_name: String,
    /// Registers a thread.
    pub registers: u32,
    /// Bytes a thread that are stored because registers ran out.
    pub spill_bytes: u32,
    /// Local memory a thread: arrays that registers cannot hold, and spills.
    pub stack_bytes: u32,
    /// Static shared memory a block. Dynamic shared memory comes on top at launch.
    pub static_shared_bytes: u32,
    /// Hardware barriers a block.
    pub barriers: u32,
    /// `__constant__` variables of the whole file, which every kernel can read.
    pub constant_bytes: u32,
}

/// Size of a CUBIN's `__constant__` variables: of the bank that they all lie in. The assembler does not
/// tell of it. 0 for what is no CUBIN.
pub(crate) fn constant_bytes(cubin: &[u8]) -> u32 {
    let Ok(file) = ElfFile64::<Endianness>::parse(cubin) else {
        return 0;
    };
    let bank = file.section_by_name(".nv.constant3");
    bank.map_or(0, |bank| u32::try_from(bank.size()).unwrap_or(u32::MAX))
}

/// Reads the assembler's lines at the end of a log, for the kernels of `ptx`.
///
/// A source can make the compiler print any text, but only before the assembler speaks: the last
/// word on a kernel is the true one.
pub(crate) fn read(log: &str, ptx: &str, constant_bytes: u32) -> Vec<KernelUsage> {
    let unknown = |lowered_name| KernelUsage {
        lowered_name,
        constant_bytes,
        ..KernelUsage::default()
    };
    let mut kernels: Vec<KernelUsage> = entries(ptx).map(|name| unknown(name.to_owned())).collect();
    let mut current = None;
    for line in log.lines() {
        if let Some(rest) = line.strip_prefix("ptxas info    : Compiling entry function '") {
            let name = rest.split('\'').next().unwrap_or_default();
            current = kernels.iter_mut().find(|k| k.lowered_name == name);
            if let Some(kernel) = &mut current {
                **kernel = unknown(std::mem::take(&mut kernel.lowered_name));
            }
        } else if let Some(kernel) = &mut current {
            note(kernel, line);
        }
    }
    kernels
}

fn note(kernel: &mut KernelUsage, line: &str) {
    let Some(rest) = line.strip_prefix("ptxas") else {
        return;
    };
    let facts = rest.trim_start_matches([' ', '.', ':']);
    let facts = facts.strip_prefix("info").unwrap_or(facts);
    let facts = facts.trim_start_matches([' ', ':']);
    for fact in facts.split(',') {
        let words: Vec<&str> = fact.split_whitespace().collect();
        match words[..] {
            ["Used", n, "registers"] => set(&mut kernel.registers, n),
            ["used", n, "barriers"] => set(&mut kernel.barriers, n),
            [n, "bytes", "smem"] => set(&mut kernel.static_shared_bytes, n),
            [n, "bytes", "stack", "frame"] => set(&mut kernel.stack_bytes, n),
            [n, "bytes", "spill", "stores"] => set(&mut kernel.spill_bytes, n),
            _ => {}
        }
    }
}

fn set(field: &mut u32, digits: &str) {
    if let Ok(number) = digits.parse::<u64>() {
        *field = u32::try_from(number).unwrap_or(u32::MAX);
    }
}

/// Names of the kernels that a PTX module defines.
fn entries(ptx: &str) -> impl Iterator<Item = &str> {
    ptx.lines().filter_map(|line| {
        let (before, after) = line.split_once(".entry ")?;
        let is_definition = before.is_empty() || before.starts_with('.');
        let name = after.split(['(', ' ']).next()?;
        is_definition.then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 9.5\n.visible .entry _Z1kPf(\n\t.param .u64 x\n)\n// .entry no(\n.weak .entry _Z1tIiEvPT_(\n";

    #[test]
    fn facts_go_to_their_kernel() {
        let log = "\
ptxas info    : 36 bytes gmem
ptxas info    : Compiling entry function '_Z1tIiEvPT_' for 'sm_90a'
ptxas info    : Function properties for _Z1tIiEvPT_
ptxas         .     848 bytes stack frame, 36 bytes spill stores, 40 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 848 bytes cumulative stack size
ptxas info    : Compile time = 3558.402 ms
ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90a'
ptxas info    : Function properties for _Z1kPf
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 14 registers, used 1 barriers, 400 bytes smem
";
        let usage = read(log, PTX, 64);
        assert_eq!(usage.len(), 2);
        assert_eq!(
            usage[0],
            KernelUsage {
                lowered_name: "_Z1kPf".into(),
                registers: 14,
                static_shared_bytes: 400,
                barriers: 1,
                constant_bytes: 64,
                ..KernelUsage::default()
            }
        );
        assert_eq!((usage[1].registers, usage[1].stack_bytes), (32, 848));
        assert_eq!(usage[1].spill_bytes, 36);
    }

    #[test]
    fn more_than_a_field_holds_is_not_nothing() {
        let log = "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90a'\n\
                   ptxas         .     8000000000 bytes stack frame, 0 bytes spill stores\n";
        assert_eq!(read(log, PTX, 64)[0].stack_bytes, u32::MAX);
    }

    #[test]
    fn a_forged_line_loses_to_the_assembler() {
        let log = "\
submission.cu(1): remark: #pragma message: \"
ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90a'
ptxas info    : Used 1 registers, 7 bytes smem\"
ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90a'
ptxas info    : Used 90 registers, used 0 barriers
";
        let usage = read(log, PTX, 64);
        assert_eq!((usage[0].registers, usage[0].static_shared_bytes), (90, 0));
    }
}
