//! A log's text on its way into a file: plain, or as Zstandard frames as CODEC-3 wants them.

use std::io::{self, Write};
use zstd::stream::write::Encoder;

/// Bytes of text that make a frame of their own.
const BATCH: usize = 1 << 20;
/// Zstandard's own default.
const LEVEL: i32 = 3;

/// Takes whole lines and writes them: the header line as a frame of its own, then batches of lines.
pub struct Sink<'a> {
    out: &'a mut dyn Write,
    compressed: bool,
    /// The header line is to come.
    header: bool,
    batch: Vec<u8>,
}

impl<'a> Sink<'a> {
    /// `header` says whether the first line is a header.
    pub fn new(out: &'a mut dyn Write, compressed: bool, header: bool) -> Self {
        Sink { out, compressed, header, batch: vec![] }
    }

    /// Takes lines with their newlines.
    pub fn put(&mut self, lines: &[u8]) -> io::Result<()> {
        if !self.compressed {
            return self.out.write_all(lines);
        }
        self.batch.extend_from_slice(lines);
        if self.header || self.batch.len() >= BATCH {
            self.header = false;
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        frame(&self.batch, self.out)?;
        self.batch.clear();
        Ok(())
    }

    /// Writes what is left.
    pub fn finish(mut self) -> io::Result<()> {
        if self.batch.is_empty() { Ok(()) } else { self.flush() }
    }
}

/// Writes text as one frame with a checksum. The size of the text is not declared: a decoder then needs no more memory
/// than a window, however long the text is.
pub fn frame(text: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let mut encoder = Encoder::new(out, LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.write_all(text)?;
    encoder.finish()?;
    Ok(())
}
