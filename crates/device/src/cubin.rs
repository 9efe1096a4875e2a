//! What can be told of a CUBIN from its sections.

use std::collections::BTreeMap;

use object::elf::{FileHeader64, SHT_SYMTAB};
use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, SymbolIndex};

/// Memory of a CUBIN's variables that outlive a launch and whose contents a kernel or the host may change:
/// `__device__`, static and `__constant__` ones. `None` for what is no CUBIN.
///
/// Constants that the compiler makes for itself lie in banks 0, 2 and 4 and cannot be changed. String
/// literals share the section of variables; a module that has only those is reset for nothing.
#[must_use]
pub fn global_bytes(cubin: &[u8]) -> Option<u64> {
    let header = FileHeader64::<Endianness>::parse(cubin).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, cubin).ok()?;
    let of_variables = sections.iter().filter(|section| {
        let name = sections.section_name(endian, section);
        name.is_ok_and(holds_globals)
    });
    let sizes = of_variables.map(|section| section.sh_size(endian));
    Some(sizes.fold(0, u64::saturating_add))
}

fn holds_globals(name: &[u8]) -> bool {
    [&b".nv.global"[..], b".nv.constant3"]
        .iter()
        .any(|known| name.strip_prefix(*known).is_some_and(ends_or_continues))
}

/// `.nv.global` and `.nv.global.init`, not `.nv.globalfoo`.
fn ends_or_continues(rest: &[u8]) -> bool {
    rest.is_empty() || rest[0] == b'.'
}

/// Registers of a thread of each kernel and function, by mangled name. `None` for what is no CUBIN.
pub(crate) fn registers(cubin: &[u8]) -> Option<BTreeMap<String, u32>> {
    let header = FileHeader64::<Endianness>::parse(cubin).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, cubin).ok()?;
    let symbols = sections.symbols(endian, cubin, SHT_SYMTAB).ok()?;
    let (_, notes) = sections.section_by_name(endian, b".nv.info")?;
    let notes = notes.data(endian, cubin).ok()?;
    let counts = attributes(notes).filter(|(kind, _)| *kind == REGISTER_COUNT);
    let named = counts.filter_map(|(_, value)| {
        let word = |at: usize| Some(u32::from_le_bytes(*value.get(at..)?.first_chunk()?));
        let symbol = symbols.symbol(SymbolIndex(word(0)? as usize)).ok()?;
        let name = symbols.symbol_name(endian, symbol).ok()?;
        Some((String::from_utf8_lossy(name).into_owned(), word(4)?))
    });
    Some(named.collect())
}

/// In `.nv.info`: a symbol's number and its registers.
const REGISTER_COUNT: u8 = 0x2f;
/// An attribute whose value follows it; of all others the value is in the head itself.
const SIZED: u8 = 4;

/// Each attribute's kind with its value, where it has one of its own. Format, kind, then a value or its size,
/// of two bytes.
fn attributes(mut notes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (&[format, kind, low, high], rest) = notes.split_first_chunk()?;
        let bytes = match format {
            SIZED => usize::from(u16::from_le_bytes([low, high])),
            _ => 0,
        };
        let (value, rest) = rest.split_at_checked(bytes)?;
        notes = rest;
        Some((kind, value))
    })
}

/// Whether a kernel may execute a trap, by the text that the code was made from.
pub(crate) fn may_trap(ptx: &str) -> bool {
    ptx.lines()
        .any(|line| line.split_whitespace().any(|word| word == "trap;"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_names_are_matched_whole() {
        for name in [".nv.global", ".nv.global.init", ".nv.constant3"] {
            assert!(holds_globals(name.as_bytes()), "{name}");
        }
        for name in [".nv.constant0.k", ".nv.constant30", ".text.k", ".nv.info"] {
            assert!(!holds_globals(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn attributes_carry_their_values() {
        let notes = [
            4, 0x2f, 8, 0, 9, 0, 0, 0, 12, 0, 0, 0, 3, 0x19, 4, 0, 4, 0x11, 2, 0, 7, 7,
        ];
        let expected: [(u8, &[u8]); 3] = [
            (0x2f, &[9, 0, 0, 0, 12, 0, 0, 0]),
            (0x19, &[]),
            (0x11, &[7, 7]),
        ];
        assert_eq!(attributes(&notes).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_no_cubin_is_told_as_such() {
        assert_eq!(registers(b".version 9.0"), None);
        assert_eq!(global_bytes(b".version 9.0"), None);
        assert_eq!(global_bytes(b""), None);
    }

    #[test]
    fn traps_are_instructions_not_names() {
        assert!(may_trap("{\n\t@%p1 trap;\n}"));
        assert!(!may_trap(".visible .entry trap(\n)\n ret;"));
    }
}
