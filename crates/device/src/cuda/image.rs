//! What can be told of a CUBIN from its sections.

use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionHeader};

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

/// Whether a kernel may execute a trap, by the text that the code was made from.
pub(super) fn may_trap(ptx: &str) -> bool {
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
    fn what_is_no_cubin_is_told_as_such() {
        assert_eq!(global_bytes(b".version 9.0"), None);
        assert_eq!(global_bytes(b""), None);
    }

    #[test]
    fn traps_are_instructions_not_names() {
        assert!(may_trap("{\n\t@%p1 trap;\n}"));
        assert!(!may_trap(".visible .entry trap(\n)\n ret;"));
    }
}
