//! What PTX says of kernels that the assembler's log does not.

use std::collections::BTreeMap;

/// What `__launch_bounds__` says of each kernel that has them, by mangled name: PTX's `.maxntid` or
/// `.reqntid` between a kernel's head and its body. One pass, however many kernels there are.
pub(crate) fn launch_bounds(ptx: &str) -> BTreeMap<&str, u32> {
    let mut bounds = BTreeMap::new();
    let mut head = None;
    for line in ptx.lines() {
        if let Some((_, entry)) = line.split_once(".entry ") {
            head = entry.split('(').next();
        } else if line.starts_with('{') {
            head = None;
        }
        let directives = [".maxntid", ".reqntid"].into_iter();
        let bound = directives
            .filter_map(|directive| line.split_once(directive))
            .next();
        if let (Some(kernel), Some((_, numbers))) = (head, bound)
            && let Some(threads) = product(numbers)
        {
            bounds.entry(kernel).or_insert(threads);
        }
    }
    bounds
}

fn product(numbers: &str) -> Option<u32> {
    numbers
        .split(',')
        .map(|number| number.trim().parse::<u32>().ok())
        .try_fold(1_u32, |product, number| product.checked_mul(number?))
}

/// Bytes of the file's own constant variables: PTX's `.const` declarations at file scope.
pub(crate) fn constant_bytes(ptx: &str) -> u32 {
    let bytes = ptx.lines().filter_map(|line| {
        let line = line.strip_prefix(".visible ").unwrap_or(line);
        let declared = line.strip_prefix(".const ")?;
        let declared = declared.split(['=', ';']).next()?;
        let mut words = declared.split_whitespace();
        let width = words.find_map(|word| {
            let digits = word.strip_prefix('.')?.strip_prefix(['b', 'u', 's', 'f'])?;
            digits.parse::<u32>().ok()
        })?;
        let length = match declared.split_once('[') {
            Some((_, length)) => length.split(']').next()?.trim().parse::<u32>().ok()?,
            None => 1,
        };
        length.checked_mul(width / 8)
    });
    bytes.fold(0, u32::saturating_add)
}

/// Two kernels, one with bounds, and 68 bytes of constants.
#[cfg(test)]
pub(crate) const SAMPLE: &str = "\
.const .align 4 .b8 table[64];
.visible .const .align 4 .u32 size = 7;
.visible .entry _Z1kPf(
\t.param .u64 _Z1kPf_param_0
)
{
\tret;
}
.visible .entry _Z5smallPf(
\t.param .u64 _Z5smallPf_param_0
)
.maxntid 64, 2, 1
.minnctapersm 2
{
\tret;
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_bound_is_its_own_kernel_s() {
        assert_eq!(launch_bounds(SAMPLE), [("_Z5smallPf", 128)].into());
        assert_eq!(launch_bounds(".maxntid 64"), [].into());
    }

    #[test]
    fn constants_of_the_file_are_counted() {
        assert_eq!(constant_bytes(SAMPLE), 68);
        assert_eq!(constant_bytes(".global .align 4 .u32 x;"), 0);
    }
}
