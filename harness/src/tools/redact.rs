//! A log with everything said in it replaced, and everything that a rule looks at kept.
//!
//! A text becomes the number of its first appearance (`t1`, `t2`, …) and is filled up to the power of two that its size
//! reaches: equal texts stay equal, others stay different, and nothing of a text can be worked out from what stands for
//! it. Words of the vocabulary stay where they mean something, so do the numbers that place an event; other numbers are
//! counted like texts. Inside what the contract never looks into nothing is a word of the vocabulary.
//!
//! Lines are rewritten token by token, so that white space, order, repeated keys and depth stay as they are. A line that
//! cannot be read is replaced by one that cannot be read for the same reason.

use super::rewrite::Rewriter;
use foldproof::codec::frames::{FrameError, MAGIC};
use foldproof::codec::lines::{Item, Lines};
use foldproof::dialect::Dialect;
use std::io::{self, Write};

/// Level of the frames that are written.
const LEVEL: i32 = 3;

/// A frame header descriptor whose reserved bit is set, which no decoder accepts.
const RESERVED: u8 = 0x08;

/// Why a log could not be redacted.
#[derive(Debug, thiserror::Error)]
pub enum RedactError {
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] FrameError),
    /// It could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Redacts a log. What comes compressed is compressed again, frame by frame.
pub fn redact(lines: &mut Lines<'_>, dialect: &Dialect, out: &mut dyn Write) -> Result<(), RedactError> {
    let mut rewriter = Rewriter::new(dialect);
    if !lines.is_compressed() {
        while let Item::Line { bytes, ended, .. } = lines.read()? {
            rewriter.line(bytes);
            if ended {
                rewriter.out.push(b'\n');
            }
            out.write_all(&rewriter.out)?;
        }
        return Ok(());
    }
    let mut frame = frame()?;
    loop {
        match lines.read()? {
            Item::Line { bytes, ended, .. } => {
                rewriter.line(bytes);
                if ended {
                    rewriter.out.push(b'\n');
                }
                frame.write_all(&rewriter.out)?;
            }
            Item::FrameEnd => {
                let done = std::mem::replace(&mut frame, self::frame()?).finish()?;
                out.write_all(&done)?;
            }
            Item::Torn => {
                // What is flushed can be decoded although the frame never ends; one without a line still begins.
                frame.flush()?;
                let begun: &[u8] = frame.get_ref();
                out.write_all(if begun.is_empty() { &MAGIC[..3] } else { begun })?;
                break;
            }
            Item::Damage(_) => {
                // Whatever is wrong with it, nothing of it counts and nothing behind it is looked at: what stands for
                // it begins like a frame, so that the log is still known for a compressed one, and cannot be one.
                out.write_all(&MAGIC)?;
                out.write_all(&[RESERVED; 8])?;
                break;
            }
            Item::End => break,
        }
    }
    Ok(())
}

fn frame() -> io::Result<zstd::stream::write::Encoder<'static, Vec<u8>>> {
    let mut encoder = zstd::stream::write::Encoder::new(vec![], LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}
