//! Compressed logs: where frames begin and end, and what they decode to (CODEC-3; RFC 8878 section 3.1).
//!
//! Decoding is the Zstandard library's work. Where a frame ends is read here from its block headers, because a log
//! must tell an incomplete frame from a damaged one without holding the frame in memory.

use crate::limits::{FRAME_SEARCH, Limit, LimitError, Limits};
use std::io::{self, Read, Seek, SeekFrom};
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// What a Zstandard frame begins with.
pub const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Largest window that a frame may ask the decoder to keep: 2^27 bytes, the library's own bound.
const WINDOW_LOG: u32 = 27;
const CHUNK: usize = 64 << 10;
/// What the decoder wants of a frame first: magic and descriptor.
const HEADER_START: usize = 5;
const BLOCK_HEADER: usize = 3;

/// Where a frame that starts at some place ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it is there; the offset behind it.
    Complete(u64),
    /// Header, blocks or checksum go past the end of the file.
    Incomplete,
    /// Not a frame: what is wrong.
    Bad(&'static str),
}

/// Random access to an artifact, with a small buffer.
#[derive(Debug)]
pub struct Window<R> {
    source: R,
    length: u64,
    buffer: Vec<u8>,
    start: u64,
}

impl<R: Read + Seek> Window<R> {
    /// Takes the source; reads its length.
    pub fn new(mut source: R) -> io::Result<Self> {
        let length = source.seek(SeekFrom::End(0))?;
        Ok(Window { source, length, buffer: vec![], start: 0 })
    }

    /// Bytes of the artifact.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// True when the artifact has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The bytes from `at` on: at least `want` of them unless the artifact ends before.
    pub fn bytes(&mut self, at: u64, want: usize) -> io::Result<&[u8]> {
        let end = (at + want as u64).min(self.length);
        let held = self.start..self.start + self.buffer.len() as u64;
        if at < held.start || end > held.end || !held.contains(&at) {
            let size = want.max(CHUNK).min((self.length - at.min(self.length)) as usize);
            self.buffer.resize(size, 0);
            self.source.seek(SeekFrom::Start(at))?;
            let mut filled = 0;
            while filled < size {
                match self.source.read(&mut self.buffer[filled..]) {
                    Ok(0) => break,
                    Ok(count) => filled += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            // The file may have been cut since its length was read; what is not there does not exist.
            if filled < size {
                self.length = at + filled as u64;
            }
            self.buffer.truncate(filled);
            self.start = at;
        }
        Ok(&self.buffer[(at - self.start).min(self.buffer.len() as u64) as usize..])
    }

    /// Where the frame at `at` ends.
    pub fn extent(&mut self, at: u64) -> io::Result<Extent> {
        let mut steps = u64::MAX;
        self.extent_within(at, &mut steps)
    }

    fn extent_within(&mut self, at: u64, steps: &mut u64) -> io::Result<Extent> {
        let head = self.bytes(at, 18)?;
        if head.len() < 4 {
            return Ok(Extent::Incomplete);
        }
        if head[..4] != MAGIC {
            // Skippable frames have sixteen magics.
            let found = if head[0] & 0xf0 == 0x50 && head[1..4] == [0x2a, 0x4d, 0x18] {
                "expected the magic of a Zstandard frame, found a skippable frame"
            } else if head[..4].iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) {
                "expected the magic of a Zstandard frame, found plain text"
            } else {
                "expected the magic of a Zstandard frame, found other bytes"
            };
            return Ok(Extent::Bad(found));
        }
        let Some(&descriptor) = head.get(4) else { return Ok(Extent::Incomplete) };
        if descriptor & 0x08 != 0 {
            return Ok(Extent::Bad("expected the reserved bit of the frame header to be 0, found 1"));
        }
        let single = descriptor & 0x20 != 0;
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let size = match descriptor >> 6 {
            0 => u64::from(single),
            1 => 2,
            2 => 4,
            _ => 8,
        };
        let checksum = if descriptor & 0x04 != 0 { 4 } else { 0 };
        let blocks = at + 5 + u64::from(!single) + dictionary + size;
        self.blocks(blocks, checksum, steps)
    }

    /// Walks block headers from `at` to the end of the frame, at most `steps` of them.
    fn blocks(&mut self, mut at: u64, checksum: u64, steps: &mut u64) -> io::Result<Extent> {
        loop {
            if *steps == 0 {
                return Ok(Extent::Incomplete);
            }
            *steps -= 1;
            let bytes = self.bytes(at, 3)?;
            let Some(head) = bytes.get(..3) else { return Ok(Extent::Incomplete) };
            let head = u32::from(head[0]) | u32::from(head[1]) << 8 | u32::from(head[2]) << 16;
            let size = u64::from(head >> 3);
            at += 3 + match head >> 1 & 3 {
                0 | 2 => size,
                1 => 1,
                _ => return Ok(Extent::Bad("expected a block of a known type, found the reserved one")),
            };
            if at > self.length {
                return Ok(Extent::Incomplete);
            }
            if head & 1 == 1 {
                let end = at + checksum;
                return Ok(if end > self.length { Extent::Incomplete } else { Extent::Complete(end) });
            }
        }
    }

    /// Whether a complete frame that decodes starts anywhere behind the first byte of the frame at `at`. `None` when
    /// the search would cost more than its bound: hostile bytes can hold many magics in front of long chains of blocks.
    fn later_frame(&mut self, at: u64) -> io::Result<Option<bool>> {
        let mut budget = (self.length - at).saturating_mul(FRAME_SEARCH);
        let mut from = at + 1;
        while from + 4 <= self.length {
            let bytes = self.bytes(from, CHUNK)?;
            let Some(step) = memchr::memmem::find(bytes, &MAGIC) else {
                from += (bytes.len() as u64).saturating_sub(3).max(1);
                continue;
            };
            let candidate = from + step as u64;
            from = candidate + 1;
            let extent = self.extent_within(candidate, &mut budget)?;
            if let Extent::Complete(end) = extent
                && self.decodes(candidate, end, &mut budget)?
            {
                return Ok(Some(true));
            }
            if budget == 0 {
                return Ok(None);
            }
        }
        Ok(Some(false))
    }

    fn decodes(&mut self, at: u64, end: u64, budget: &mut u64) -> io::Result<bool> {
        let mut decoder = FrameDecoder::new()?;
        let mut place = at;
        let mut out = vec![0; CHUNK];
        loop {
            let bytes = self.bytes(place, CHUNK)?;
            let bytes = &bytes[..bytes.len().min((end - place) as usize)];
            let Ok(step) = decoder.run(bytes, &mut out) else { return Ok(false) };
            place += step.read as u64;
            *budget = budget.saturating_sub((step.read + step.written) as u64);
            if step.finished {
                return Ok(place == end);
            }
            if *budget == 0 || (step.read == 0 && step.written == 0) {
                return Ok(false);
            }
        }
    }
}

/// One call of the decoder: how much it took and gave.
#[derive(Clone, Copy, Debug)]
struct Step {
    read: usize,
    written: usize,
    /// The frame is at its end, and all of it was given out.
    finished: bool,
    /// How much input the decoder would like next: up to the end of a block.
    wants: usize,
}

impl Step {
    /// The decoder neither took nor gave anything.
    fn stuck(self) -> bool {
        self.read == 0 && self.written == 0 && !self.finished
    }
}

struct FrameDecoder {
    decoder: Decoder<'static>,
}

impl FrameDecoder {
    fn new() -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(zstd::stream::raw::DParameter::WindowLogMax(WINDOW_LOG))?;
        Ok(FrameDecoder { decoder })
    }

    fn run(&mut self, input: &[u8], out: &mut [u8]) -> io::Result<Step> {
        let mut input = InBuffer::around(input);
        let mut out = OutBuffer::around(out);
        let hint = self.decoder.run(&mut input, &mut out)?;
        Ok(Step { read: input.pos(), written: out.pos(), finished: hint == 0, wants: hint })
    }
}

/// What comes next from a compressed artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// This many decoded bytes were appended.
    Bytes(usize),
    /// A structurally complete frame ended.
    FrameEnd,
    /// The last frame is incomplete, and everything of it that decodes was given.
    Torn,
    /// Damage: what is wrong.
    Damage(&'static str),
    /// The artifact ended behind a complete frame.
    End,
}

/// Decodes a compressed artifact frame by frame.
pub struct Frames<R> {
    window: Window<R>,
    decoder: FrameDecoder,
    limits: Limits,
    /// Whether a damaged block size is told from a torn tail by searching for a later frame.
    search: bool,
    at: u64,
    state: State,
    finished: bool,
    wants: usize,
    frames: u64,
    decoded: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Between,
    /// Inside a complete frame that ends there.
    Inside(u64),
    /// Inside the incomplete last frame.
    Torn,
    Done,
}

impl<R: Read + Seek> Frames<R> {
    /// `search` says whether to look for a complete frame behind an incomplete one (the released reader does not).
    pub fn new(source: R, limits: Limits, search: bool) -> io::Result<Self> {
        Ok(Frames {
            window: Window::new(source)?,
            decoder: FrameDecoder::new()?,
            limits,
            search,
            at: 0,
            state: State::Between,
            finished: false,
            wants: HEADER_START,
            frames: 0,
            decoded: 0,
        })
    }

    /// Offset in the artifact of the frame that is being read, or of what follows the last one.
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// Number of frames begun so far.
    pub fn count(&self) -> u64 {
        self.frames
    }

    /// Whether what was decoded last lies in a structurally complete frame.
    pub fn is_complete(&self) -> bool {
        self.state != State::Torn
    }

    /// Decodes a little more, appending to `out`.
    pub fn read(&mut self, out: &mut Vec<u8>) -> Result<Piece, FrameError> {
        match self.state {
            State::Done => Ok(Piece::End),
            State::Between => self.begin(out),
            State::Inside(end) => {
                if self.finished {
                    if self.at != end {
                        return self.damage("a frame that ends before its last block");
                    }
                    self.state = State::Between;
                    return Ok(Piece::FrameEnd);
                }
                match self.step(Some(end), out)? {
                    Some(step) if step.stuck() => self.damage("expected a complete frame to end where its blocks do, found that it wants more input"),
                    Some(step) => Ok(Piece::Bytes(step.written)),
                    None => self.damage("expected a complete frame to decompress to what its checksum says, found that it does not"),
                }
            }
            State::Torn => match self.step(None, out)? {
                Some(step) if !step.stuck() && !step.finished => Ok(Piece::Bytes(step.written)),
                _ => {
                    self.state = State::Done;
                    Ok(Piece::Torn)
                }
            },
        }
    }

    fn damage(&mut self, what: &'static str) -> Result<Piece, FrameError> {
        self.state = State::Done;
        Ok(Piece::Damage(what))
    }

    fn begin(&mut self, out: &mut Vec<u8>) -> Result<Piece, FrameError> {
        let left = self.window.len() - self.at.min(self.window.len());
        if left == 0 {
            self.state = State::Done;
            return Ok(Piece::End);
        }
        self.frames += 1;
        if self.frames > self.limits.frames {
            return Err(FrameError::Limit(LimitError {
                limit: Limit::Frames,
                bound: self.limits.frames,
                line: 0,
            }));
        }
        self.decoder.decoder.reinit()?;
        self.finished = false;
        self.wants = HEADER_START;
        // Fewer than four bytes are the start of a frame, whatever they are.
        if left < 4 {
            self.state = State::Torn;
            return self.read(out);
        }
        match self.window.extent(self.at)? {
            Extent::Complete(end) => {
                self.state = State::Inside(end);
                self.read(out)
            }
            Extent::Bad(what) => self.damage(what),
            Extent::Incomplete => {
                if self.search {
                    match self.window.later_frame(self.at)? {
                        Some(false) => {}
                        Some(true) => {
                            return self.damage("an incomplete frame with a complete one behind it");
                        }
                        None => {
                            return self
                                .damage("an incomplete frame, and too much behind it to rule out another");
                        }
                    }
                }
                self.state = State::Torn;
                self.read(out)
            }
        }
    }

    /// One decoder call up to `end`; nothing when the decoder fails.
    fn step(&mut self, end: Option<u64>, out: &mut Vec<u8>) -> Result<Option<Step>, FrameError> {
        let at = self.at;
        // Of a small frame only its own bytes are wanted: asking for more would read the source again for each one.
        let want = end.map_or(CHUNK, |end| CHUNK.min((end - at) as usize));
        let bytes = self.window.bytes(at, want)?;
        let bytes = match end {
            Some(end) => &bytes[..bytes.len().min((end - at) as usize)],
            // A call that fails gives nothing, not even what came before the failure. So a torn frame goes in block by
            // block, each apart from the header of the next one.
            None => &bytes[..bytes.len().min(self.wants.saturating_sub(BLOCK_HEADER).max(1))],
        };
        let length = out.len();
        out.resize(length + 2 * CHUNK, 0);
        let step = self.decoder.run(bytes, &mut out[length..]);
        let written = step.as_ref().map_or(0, |step| step.written);
        out.truncate(length + written);
        let Ok(step) = step else { return Ok(None) };
        self.at += step.read as u64;
        self.finished = step.finished;
        self.wants = step.wants;
        self.decoded += written as u64;
        if self.decoded > self.limits.decoded {
            return Err(FrameError::Limit(LimitError {
                limit: Limit::Decoded,
                bound: self.limits.decoded,
                line: 0,
            }));
        }
        Ok(Some(step))
    }
}

/// Why a compressed artifact could not be read on.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A bound was met.
    #[error(transparent)]
    Limit(#[from] LimitError),
}
