//! What PTX says of kernels that the assembler's log does not.

/// What `__launch_bounds__` says of a kernel: PTX's `.maxntid` or `.reqntid` between its head and its
/// body.
pub(crate) fn launch_bound(ptx: &str, lowered: &str) -> Option<u32> {
    let head = format!(".entry {lowered}(");
    let rest = &ptx[ptx.find(&head)? + head.len()..];
    let rest = rest.split('{').next()?;
    let bound = [".maxntid", ".reqntid"]
        .iter()
        .find_map(|directive| rest.split_once(directive))?
        .1;
    let numbers = bound.lines().next()?.split(',');
    numbers
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
        assert_eq!(launch_bound(SAMPLE, "_Z1kPf"), None);
        assert_eq!(launch_bound(SAMPLE, "_Z5smallPf"), Some(128));
        assert_eq!(launch_bound(SAMPLE, "_Z5small"), None);
    }

    #[test]
    fn constants_of_the_file_are_counted() {
        assert_eq!(constant_bytes(SAMPLE), 68);
        assert_eq!(constant_bytes(".global .align 4 .u32 x;"), 0);
    }
}
