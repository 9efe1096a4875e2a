//! Length-prefixed frames on the pipes between parent and child.
//!
//! One frame is a tag byte, a little-endian `u32` length and that many bytes. The reader of the
//! child's frames trusts none of it: an unknown tag or a length over the cap is an error before a
//! byte of the body is kept, and memory grows with what has arrived, never with what is announced.

use std::io::{self, Read, Write};

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// Parent to child: the policy, before anything else.
    Policy,
    /// Parent to child: the request.
    Request,
    /// Child to parent: confined as described; the request may be read now.
    Entered,
    /// Child to parent: the host cannot confine and the policy insists.
    Unconfined,
    /// Child to parent: a message on the way.
    Progress,
    /// Child to parent: the response. Nothing follows until the next request, of which only a session has one.
    Response,
    /// Child to parent: it becomes the policy's program. No frame follows, but what the program says.
    Becoming,
}

impl Tag {
    const ALL: [Self; 7] = [
        Self::Policy,
        Self::Request,
        Self::Entered,
        Self::Unconfined,
        Self::Progress,
        Self::Response,
        Self::Becoming,
    ];

    fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|&tag| tag as u8 == byte)
    }
}

const HEADER_BYTES: usize = 5;

/// Why bytes are not frames.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("unknown frame tag {0}")]
    UnknownTag(u8),
    #[error("{0} bytes over all frames, more than the cap")]
    TooLarge(u64),
}

/// A frame as bytes. Fails on bodies over 4 GiB.
pub(crate) fn encode(tag: Tag, body: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(body.len())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "frame over 4 GiB"))?;
    let mut bytes = Vec::with_capacity(HEADER_BYTES + body.len());
    bytes.push(tag as u8);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(body);
    Ok(bytes)
}

/// Writes one frame.
pub(crate) fn write(to: &mut impl Write, tag: Tag, body: &[u8]) -> io::Result<()> {
    to.write_all(&encode(tag, body)?)?;
    to.flush()
}

/// Reads one frame from a parent, who is trusted.
pub(crate) fn read(from: &mut impl Read) -> io::Result<(Tag, Vec<u8>)> {
    let mut header = [0; HEADER_BYTES];
    from.read_exact(&mut header)?;
    let tag = Tag::from_byte(header[0])
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "unknown frame tag"))?;
    let mut body = vec![0; body_length(header)];
    from.read_exact(&mut body)?;
    Ok((tag, body))
}

fn body_length(header: [u8; HEADER_BYTES]) -> usize {
    let [_, a, b, c, d] = header;
    u32::from_le_bytes([a, b, c, d]) as usize
}

/// Collects a child's bytes and yields whole frames.
#[derive(Debug)]
pub(crate) struct Decoder {
    buffer: Vec<u8>,
    /// Bytes of bodies that may still come.
    allowance: u64,
    cap: u64,
}

impl Decoder {
    /// A decoder that refuses more than `cap` bytes of bodies over all frames.
    pub(crate) fn new(cap: u64) -> Self {
        Self {
            buffer: Vec::new(),
            allowance: cap,
            cap,
        }
    }

    /// Grants the whole cap again: the next response may be as large as the last.
    pub(crate) fn renew(&mut self) {
        self.allowance = self.cap;
    }

    /// Takes bytes as they arrive.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame, if there is one.
    pub(crate) fn next(&mut self) -> Result<Option<(Tag, Vec<u8>)>, FrameError> {
        let Some(&header) = self.buffer.first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let tag = Tag::from_byte(header[0]).ok_or(FrameError::UnknownTag(header[0]))?;
        let length = body_length(header);
        if length as u64 > self.allowance {
            return Err(FrameError::TooLarge(
                self.cap - self.allowance + length as u64,
            ));
        }
        if self.buffer.len() < HEADER_BYTES + length {
            return Ok(None);
        }
        let rest = self.buffer.split_off(HEADER_BYTES + length);
        let mut body = std::mem::replace(&mut self.buffer, rest);
        body.drain(..HEADER_BYTES);
        self.allowance -= length as u64;
        Ok(Some((tag, body)))
    }

    /// What has arrived and is no frame's.
    pub(crate) fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// Takes what has arrived as it is.
    pub(crate) fn take_buffered(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    /// Whether a frame has begun and not ended.
    pub(crate) fn is_mid_frame(&self) -> bool {
        !self.buffer.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_any_split() {
        let mut bytes = encode(Tag::Progress, b"half").unwrap();
        bytes.extend(encode(Tag::Response, b"").unwrap());
        for split in 0..bytes.len() {
            let mut decoder = Decoder::new(4);
            let mut frames = Vec::new();
            for part in [&bytes[..split], &bytes[split..]] {
                decoder.push(part);
                while let Some(frame) = decoder.next().unwrap() {
                    frames.push(frame);
                }
            }
            assert_eq!(
                frames,
                [(Tag::Progress, b"half".to_vec()), (Tag::Response, vec![])]
            );
            assert!(!decoder.is_mid_frame());
        }
    }

    #[test]
    fn an_announced_length_is_refused_before_the_body_arrives() {
        let mut decoder = Decoder::new(10);
        decoder.push(&encode(Tag::Response, &[0; 11]).unwrap()[..HEADER_BYTES]);
        assert_eq!(decoder.next(), Err(FrameError::TooLarge(11)));
    }

    #[test]
    fn many_small_frames_meet_the_same_cap() {
        let mut decoder = Decoder::new(10);
        for _ in 0..3 {
            decoder.push(&encode(Tag::Progress, &[0; 4]).unwrap());
        }
        assert!(decoder.next().unwrap().is_some());
        assert!(decoder.next().unwrap().is_some());
        assert_eq!(decoder.next(), Err(FrameError::TooLarge(12)));
    }

    #[test]
    fn unknown_tags_are_refused() {
        let mut decoder = Decoder::new(10);
        decoder.push(&[200, 0, 0, 0, 0]);
        assert_eq!(decoder.next(), Err(FrameError::UnknownTag(200)));
    }
}
