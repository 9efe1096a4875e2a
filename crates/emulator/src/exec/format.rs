//! What one conversion of `printf` makes of its value, as C writes it.

/// One conversion of a format string.
#[derive(Default)]
pub(super) struct Conversion {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) space: bool,
    pub(super) alternate: bool,
    pub(super) zero: bool,
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
    /// Bytes of an integer argument.
    pub(super) long: bool,
}

pub(super) fn sign(conversion: &Conversion, negative: bool) -> &'static str {
    match (negative, conversion.plus, conversion.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

pub(super) fn prefix(conversion: &Conversion, text: &'static str) -> &'static str {
    if conversion.alternate { text } else { "" }
}

pub(super) fn pad(conversion: &Conversion, sign: &str, body: &str, zeros_fit: bool) -> String {
    let missing = conversion
        .width
        .saturating_sub(sign.len() + body.chars().count());
    if conversion.left {
        return format!("{sign}{body}{}", " ".repeat(missing));
    }
    if conversion.zero && zeros_fit {
        return format!("{sign}{}{body}", "0".repeat(missing));
    }
    format!("{}{sign}{body}", " ".repeat(missing))
}

/// The magnitude of a float as C prints it.
pub(super) fn float(value: f64, kind: char, conversion: &Conversion) -> String {
    let upper = kind.is_ascii_uppercase();
    let text = if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        "inf".to_owned()
    } else {
        let precision = conversion.precision.unwrap_or(6);
        match kind.to_ascii_lowercase() {
            'f' => fixed(value, precision),
            'e' => exponent_form(value, precision),
            'a' => hexadecimal(value),
            _ => general(value, precision.max(1), conversion.alternate),
        }
    };
    if upper { text.to_uppercase() } else { text }
}

/// A double has no more decimals than these; behind them are zeros.
const MOST_DECIMALS: usize = 1074;

fn fixed(value: f64, precision: usize) -> String {
    let decimals = precision.min(MOST_DECIMALS);
    let zeros = "0".repeat(precision - decimals);
    format!("{value:.decimals$}{zeros}")
}

/// `1.5e+00`: Rust leaves out the sign and the second digit of the exponent.
fn exponent_form(value: f64, precision: usize) -> String {
    let decimals = precision.min(MOST_DECIMALS);
    let zeros = "0".repeat(precision - decimals);
    let text = format!("{value:.decimals$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{zeros}e{sign}{:02}", exponent.abs())
}

/// `%g`: the shorter of both forms, without trailing zeros.
fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let scientific = exponent_form(value, precision - 1);
    let exponent: i32 = scientific
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    let trim = |text: &str| -> String {
        if keep_zeros || !text.contains('.') {
            return text.to_owned();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{exponent}", trim(mantissa));
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    trim(&fixed(value, decimals))
}

/// `%a`: `0x1.8p+1`.
fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (lead, exponent) = match (field, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, field - 1023),
    };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{digits}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Conversion {
        Conversion::default()
    }

    #[test]
    fn floats_as_c_prints_them() {
        assert_eq!(float(1.5, 'f', &plain()), "1.500000");
        assert_eq!(float(12345.678, 'e', &plain()), "1.234568e+04");
        assert_eq!(float(0.0001, 'g', &plain()), "0.0001");
        assert_eq!(float(1e10, 'g', &plain()), "1e+10");
        assert_eq!(float(100.0, 'g', &plain()), "100");
        assert_eq!(float(3.0, 'a', &plain()), "0x1.8p+1");
        assert_eq!(float(f64::INFINITY, 'F', &plain()), "INF");
    }

    #[test]
    fn padding() {
        let wide = Conversion {
            width: 6,
            zero: true,
            ..plain()
        };
        assert_eq!(pad(&wide, "-", "42", true), "-00042");
        assert_eq!(pad(&wide, "", "inf", false), "   inf");
        let left = Conversion {
            width: 4,
            left: true,
            ..plain()
        };
        assert_eq!(pad(&left, "", "7", true), "7   ");
    }
}
