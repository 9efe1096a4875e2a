//! `printf` and `assert`: strings and argument buffers read from device memory.
#![allow(unsafe_code)]

use super::access::FrameBounds;
use super::block::Block;
use super::elements::{lanes_of, read_local, write_local};
use super::reconverge::Warp;
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::memory::{LOCAL_BASE, PARAMETER_BASE, SHARED_BASE};
use crate::program::Builtin;

/// Longest string that is followed.
const MAX_STRING_BYTES: usize = 64 * 1024;
/// As much of an assertion's text as is told: it is an expression of the source, or hostile.
const MAX_ASSERTION_CHARS: usize = 200;

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_ASSERTION_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

impl Worker<'_> {
    /// `vprintf`: one call a lane, from the lowest.
    pub(super) fn print(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        mask: u32,
        frame: FrameBounds,
        (format, arguments, result): (u32, u32, Option<u32>),
    ) -> Result<(), Stop> {
        for lane in lanes_of(mask) {
            let at = |offset: u32| read_local(&warp.local, lane, frame.base + offset, 8);
            let format = self.string(block, warp, lane, at(format))?;
            let reader = Arguments {
                at: at(arguments),
                block,
                warp,
                lane,
                worker: self,
            };
            let (text, count) = render(&format, reader)?;
            self.output.push_str(&text);
            if self.output_bytes() > self.context.limits.output_bytes {
                let limit = self.context.limits.output_bytes;
                let what = format!("printed past the limit of {limit} bytes");
                return Err(Stop::new(FaultKind::OutputLimit, lane as u32, what));
            }
            if let Some(result) = result {
                write_local(&mut warp.local, lane, frame.base + result, 4, count);
            }
        }
        Ok(())
    }

    /// `__assertfail`: the fault of the lowest lane.
    pub(super) fn assertion(
        &self,
        block: &Block,
        warp: &Warp,
        mask: u32,
        frame: FrameBounds,
        builtin: &Builtin,
    ) -> Stop {
        let lane = mask.trailing_zeros();
        let message = match builtin {
            Builtin::AssertFail { message } => {
                let address = read_local(&warp.local, lane as usize, frame.base + message, 8);
                self.string(block, warp, lane as usize, address)
                    .unwrap_or_default()
            }
            Builtin::Print { .. } => String::new(),
        };
        Stop::new(
            FaultKind::Assert,
            lane,
            format!("fails the assertion `{}`", cut(&message)),
        )
    }

    /// A zero-terminated string at a generic address.
    fn string(
        &self,
        block: &Block,
        warp: &Warp,
        lane: usize,
        address: u64,
    ) -> Result<String, Stop> {
        let mut bytes = Vec::new();
        while bytes.len() < MAX_STRING_BYTES {
            let byte = self.byte(block, warp, lane, address + bytes.len() as u64)?;
            if byte == 0 {
                break;
            }
            bytes.push(byte);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// One byte at a generic address.
    fn byte(&self, block: &Block, warp: &Warp, lane: usize, address: u64) -> Result<u8, Stop> {
        let outside = || {
            let what = format!("gives printf a pointer to {address:#x}, which is in no allocation");
            Stop::new(FaultKind::OutOfBounds, lane as u32, what)
        };
        match address {
            LOCAL_BASE..PARAMETER_BASE => {
                let at = (address - LOCAL_BASE) as usize;
                let word = warp.local.get(at / 4).ok_or_else(outside)?;
                Ok((word[lane] >> (8 * (at % 4))) as u8)
            }
            SHARED_BASE..LOCAL_BASE => {
                let at = (address - SHARED_BASE) as usize;
                let word = block.shared.get(at / 8).ok_or_else(outside)?;
                Ok((word >> (8 * (at % 8))) as u8)
            }
            _ => {
                let region = self.context.regions.find(address).ok_or_else(outside)?;
                let offset = address.wrapping_sub(region.address);
                if offset >= region.bytes {
                    return Err(outside());
                }
                // SAFETY: inside the region; other threads write by atomics of whole elements,
                // and a torn character harms nothing.
                Ok(unsafe {
                    std::sync::atomic::AtomicU8::from_ptr(region.data.add(offset as usize))
                        .load(std::sync::atomic::Ordering::Relaxed)
                })
            }
        }
    }
}

/// The buffer that `vprintf` is given: each argument at its natural alignment.
struct Arguments<'a, 'w> {
    at: u64,
    block: &'a Block,
    warp: &'a Warp,
    lane: usize,
    worker: &'a Worker<'w>,
}

impl Arguments<'_, '_> {
    fn next(&mut self, bytes: u64) -> Result<u64, Stop> {
        self.at = self.at.next_multiple_of(bytes);
        let mut value = 0;
        for byte in 0..bytes {
            let found = self
                .worker
                .byte(self.block, self.warp, self.lane, self.at + byte)?;
            value |= u64::from(found) << (8 * byte);
        }
        self.at += bytes;
        Ok(value)
    }
}

/// One conversion of a format string.
#[derive(Default)]
struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Bytes of an integer argument.
    long: bool,
}

/// The text, and how many conversions it had.
fn render(format: &str, mut arguments: Arguments<'_, '_>) -> Result<(String, u64), Stop> {
    let mut out = String::new();
    let mut count = 0;
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if rest.next_if_eq(&'%').is_some() {
            out.push('%');
            continue;
        }
        let mut conversion = Conversion::default();
        while let Some(flag) = rest.next_if(|c| "-+ #0".contains(*c)) {
            match flag {
                '-' => conversion.left = true,
                '+' => conversion.plus = true,
                ' ' => conversion.space = true,
                '#' => conversion.alternate = true,
                _ => conversion.zero = true,
            }
        }
        conversion.width = number(&mut rest, &mut arguments)?.unwrap_or(0);
        if rest.next_if_eq(&'.').is_some() {
            conversion.precision = Some(number(&mut rest, &mut arguments)?.unwrap_or(0));
        }
        while let Some(size) = rest.next_if(|c| "hlLqjzt".contains(*c)) {
            conversion.long |= !matches!(size, 'h');
        }
        let Some(kind) = rest.next() else { break };
        count += 1;
        out.push_str(&convert(&conversion, kind, &mut arguments)?);
    }
    Ok((out, count))
}

/// A width or precision: digits, or `*` for an argument.
fn number(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    arguments: &mut Arguments<'_, '_>,
) -> Result<Option<usize>, Stop> {
    if rest.next_if_eq(&'*').is_some() {
        let value = arguments.next(4)? as u32 as i32;
        return Ok(usize::try_from(value).ok().map(|value| value.min(4096)));
    }
    let mut value = None;
    while let Some(digit) = rest.next_if(char::is_ascii_digit) {
        let digit = digit as usize - '0' as usize;
        value = Some((value.unwrap_or(0) * 10 + digit).min(4096));
    }
    Ok(value)
}

fn convert(
    conversion: &Conversion,
    kind: char,
    arguments: &mut Arguments<'_, '_>,
) -> Result<String, Stop> {
    let bytes = if conversion.long { 8 } else { 4 };
    let (sign, body) = match kind {
        'd' | 'i' => {
            let raw = arguments.next(bytes)?;
            let value = if conversion.long {
                raw as i64
            } else {
                i64::from(raw as u32 as i32)
            };
            (
                sign(conversion, value < 0),
                value.unsigned_abs().to_string(),
            )
        }
        'u' => ("", arguments.next(bytes)?.to_string()),
        'x' => (
            prefix(conversion, "0x"),
            format!("{:x}", arguments.next(bytes)?),
        ),
        'X' => (
            prefix(conversion, "0X"),
            format!("{:X}", arguments.next(bytes)?),
        ),
        'o' => (
            prefix(conversion, "0"),
            format!("{:o}", arguments.next(bytes)?),
        ),
        'c' => {
            let c = char::from(arguments.next(4)? as u8);
            return Ok(pad(conversion, "", &c.to_string(), false));
        }
        'p' => ("0x", format!("{:x}", arguments.next(8)?)),
        's' => {
            let address = arguments.next(8)?;
            let Arguments {
                worker,
                block,
                warp,
                lane,
                ..
            } = arguments;
            let mut text = worker.string(block, warp, *lane, address)?;
            if let Some(precision) = conversion.precision {
                text = text.chars().take(precision).collect();
            }
            return Ok(pad(conversion, "", &text, false));
        }
        'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => {
            let value = f64::from_bits(arguments.next(8)?);
            let text = float(value.abs(), kind, conversion);
            let sign = sign(conversion, value.is_sign_negative() && !value.is_nan());
            return Ok(pad(conversion, sign, &text, value.is_finite()));
        }
        other => return Ok(format!("%{other}")),
    };
    let body = match conversion.precision {
        Some(precision) => format!("{body:0>precision$}"),
        None => body,
    };
    Ok(pad(conversion, sign, &body, conversion.precision.is_none()))
}

fn sign(conversion: &Conversion, negative: bool) -> &'static str {
    match (negative, conversion.plus, conversion.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

fn prefix(conversion: &Conversion, text: &'static str) -> &'static str {
    if conversion.alternate { text } else { "" }
}

fn pad(conversion: &Conversion, sign: &str, body: &str, zeros_fit: bool) -> String {
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
fn float(value: f64, kind: char, conversion: &Conversion) -> String {
    let upper = kind.is_ascii_uppercase();
    let text = if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        "inf".to_owned()
    } else {
        let precision = conversion.precision.unwrap_or(6);
        match kind.to_ascii_lowercase() {
            'f' => format!("{value:.precision$}"),
            'e' => exponent_form(value, precision),
            'a' => hexadecimal(value),
            _ => general(value, precision.max(1), conversion.alternate),
        }
    };
    if upper { text.to_uppercase() } else { text }
}

/// `1.5e+00`: Rust leaves out the sign and the second digit of the exponent.
fn exponent_form(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
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
    trim(&format!("{value:.decimals$}"))
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
