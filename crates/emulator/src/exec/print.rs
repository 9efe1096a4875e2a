//! `printf` and `assert`: strings and argument buffers read from device memory.
#![allow(unsafe_code)]

use super::access::FrameBounds;
use super::block::Block;
use super::elements::lanes_of;
use super::format::{Conversion, float, pad, prefix, sign};
use super::reconverge::Warp;
use super::violations::Verb;
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::memory::{LOCAL_BASE, PARAMETER_BASE, SHARED_BASE};
use crate::program::{AddressSpace, Builtin};

/// Bytes of a copy that a character of output costs as much as.
const CHARACTER_COST: usize = 16;
/// Longest format that is followed.
const MAX_STRING_BYTES: usize = 64 * 1024;
const PARAMETER_END: u64 = PARAMETER_BASE << 1;
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
            let at = |offset: u32| warp.local.read(lane, frame.base + offset, 8);
            let (format, arguments) = (at(format), at(arguments));
            let thread = Thread {
                block,
                warp,
                lane,
                top: frame.top,
            };
            let format = self.string(&thread, format, MAX_STRING_BYTES)?;
            let left = self.output_left();
            let reader = Arguments {
                at: arguments,
                thread,
                worker: self,
                left,
            };
            let (text, count) = render(&format, reader)?;
            self.charge(CHARACTER_COST * (format.len() + text.len()));
            self.output.push_str(&text);
            if text.len() > left {
                let limit = self.context.limits.output_bytes;
                let what = format!("printed past the limit of {limit} bytes");
                return Err(Stop::new(FaultKind::OutputLimit, lane as u32, what));
            }
            if let Some(result) = result {
                warp.local.write(lane, frame.base + result, 4, count);
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
                let address = warp.local.read(lane as usize, frame.base + message, 8);
                let thread = Thread {
                    block,
                    warp,
                    lane: lane as usize,
                    top: frame.top,
                };
                self.string(&thread, address, MAX_STRING_BYTES)
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

    /// A zero-terminated string at a generic address, or its first bytes.
    fn string(&self, thread: &Thread<'_>, address: u64, most: usize) -> Result<String, Stop> {
        let mut bytes = Vec::new();
        while bytes.len() < most {
            let byte = self.byte(thread, address.wrapping_add(bytes.len() as u64))?;
            if byte == 0 {
                break;
            }
            bytes.push(byte);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// One byte at a generic address.
    fn byte(&self, thread: &Thread<'_>, address: u64) -> Result<u8, Stop> {
        let lane = thread.lane as u32;
        let outside = || {
            let what = format!("gives printf a pointer to {address:#x}, which is in no allocation");
            Stop::new(FaultKind::OutOfBounds, lane, what)
        };
        let of_word = |word: u64, at: u64| (word >> (8 * at)) as u8;
        match address {
            PARAMETER_BASE..PARAMETER_END => {
                let at = (address - PARAMETER_BASE) as usize;
                let parameters = self.context.launch.parameters;
                let parameters = &parameters[..self.context.kernel.parameter_bytes as usize];
                parameters.get(at).copied().ok_or_else(outside)
            }
            LOCAL_BASE..PARAMETER_BASE => {
                let at = address - LOCAL_BASE;
                if at >= u64::from(thread.top) {
                    return Err(outside());
                }
                Ok(thread.warp.local.read(thread.lane, at as u32, 1) as u8)
            }
            SHARED_BASE..LOCAL_BASE => {
                let (space, range) = (AddressSpace::Generic, (1, 1));
                let place =
                    { self.shared_place(thread.block, lane, address, space, range, Verb::Read) }
                        .map_err(|_| outside())?;
                let shared = match place.peer {
                    None => &thread.block.shared,
                    Some(rank) => &self.peers[rank].shared,
                };
                let at = place.offset;
                Ok(of_word(shared[at as usize / 8], u64::from(at % 8)))
            }
            _ => {
                let region = self.find_region(address).ok_or_else(outside)?;
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

/// Who prints.
struct Thread<'a> {
    block: &'a Block,
    warp: &'a Warp,
    lane: usize,
    /// End of its local memory.
    top: u32,
}

/// The buffer that `vprintf` is given: each argument at its natural alignment.
struct Arguments<'a, 'w> {
    at: u64,
    thread: Thread<'a>,
    worker: &'a Worker<'w>,
    /// Bytes that may still be printed: no conversion is put together beyond them.
    left: usize,
}

impl Arguments<'_, '_> {
    fn next(&mut self, bytes: u64) -> Result<u64, Stop> {
        self.at = self.at.checked_next_multiple_of(bytes).unwrap_or(0);
        let mut value = 0;
        for byte in 0..bytes {
            let found = self.worker.byte(&self.thread, self.at.wrapping_add(byte))?;
            value |= u64::from(found) << (8 * byte);
        }
        self.at = self.at.wrapping_add(bytes);
        Ok(value)
    }

    fn string(&mut self, most: Option<usize>) -> Result<String, Stop> {
        let address = self.next(8)?;
        let most = most.unwrap_or(usize::MAX).min(self.left + 1);
        self.worker.string(&self.thread, address, most)
    }
}

/// The text, and how many conversions it had. It is cut off behind what may still be printed.
fn render(format: &str, mut arguments: Arguments<'_, '_>) -> Result<(String, u64), Stop> {
    let mut out = String::new();
    let mut count = 0;
    let mut rest = format.chars().peekable();
    while out.len() <= arguments.left
        && let Some(c) = rest.next()
    {
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
        let value = usize::try_from(value).ok();
        return Ok(value.map(|value| value.min(arguments.left + 1)));
    }
    let mut value = None;
    while let Some(digit) = rest.next_if(char::is_ascii_digit) {
        let digit = digit as usize - '0' as usize;
        value = Some((value.unwrap_or(0) * 10 + digit).min(arguments.left + 1));
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
            let text = arguments.string(conversion.precision)?;
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
        Some(precision) => "0".repeat(precision.saturating_sub(body.len())) + &body,
        None => body,
    };
    Ok(pad(conversion, sign, &body, conversion.precision.is_none()))
}
