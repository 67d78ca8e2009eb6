//! Lines of a log, streamed from a plain or compressed source through one reused buffer.

use super::frames::{FrameError, Frames, Piece};
use crate::limits::{LINE_MOST, Limit, LimitError, Limits};
use memchr::memchr;
use std::io::{self, Read, Seek};

/// Size of a read, and of the buffer while lines are shorter.
const CHUNK: usize = 1 << 20;
/// Bytes of the first read.
const FIRST: usize = 1 << 14;

/// What comes next from a stored log.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A line without its newline.
    Line {
        /// Its bytes.
        bytes: &'a [u8],
        /// Its number, counted from 1.
        number: u64,
        /// Where it begins in the text, when that is in memory.
        at: usize,
        /// Whether its newline is there.
        ended: bool,
        /// Whether it stands in a structurally complete frame.
        sealed: bool,
    },
    /// A structurally complete frame ended.
    FrameEnd,
    /// The last frame is incomplete; its complete lines were given.
    Torn,
    /// The storage layer itself is damaged: what is wrong.
    Damage(&'static str),
    /// Nothing more.
    End,
}

/// Anything that can be read and sought in; compressed logs need both.
pub trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

enum Source<'a> {
    /// All of it, in memory.
    Text(&'a [u8]),
    Plain(Box<dyn Read + 'a>),
    Frames(Box<Frames<Box<dyn ReadSeek + 'a>>>),
}

/// Reads a stored log line by line in bounded memory.
pub struct Lines<'a> {
    source: Source<'a>,
    limits: Limits,
    buffer: Vec<u8>,
    /// How many bytes of `buffer` were read; those behind are there to be written over.
    filled: usize,
    /// Bytes of the next read: small logs do not pay for the zeroing of a large buffer.
    step: usize,
    /// What is in `buffer` and was not given yet.
    from: usize,
    /// Up to here `buffer` was searched for a newline.
    searched: usize,
    number: u64,
    /// What the source said last, to be given once the buffered lines are.
    ending: Option<Piece>,
    read: u64,
}

impl<'a> Lines<'a> {
    /// A plain log.
    pub fn plain(source: Box<dyn Read + 'a>, limits: Limits) -> Self {
        Lines::new(Source::Plain(source), limits)
    }

    /// A plain log that is in memory already.
    pub fn text(text: &'a [u8], limits: Limits) -> Self {
        let read = text.len() as u64;
        Lines { read, ending: Some(Piece::End), ..Lines::new(Source::Text(text), limits) }
    }

    /// A compressed log. `search`: see [`Frames::new`].
    pub fn compressed(source: Box<dyn ReadSeek + 'a>, limits: Limits, search: bool) -> io::Result<Self> {
        Ok(Lines::new(Source::Frames(Box::new(Frames::new(source, limits, search)?)), limits))
    }

    fn new(source: Source<'a>, limits: Limits) -> Self {
        Lines {
            source,
            limits,
            buffer: vec![],
            filled: 0,
            step: FIRST,
            from: 0,
            searched: 0,
            number: 0,
            ending: None,
            read: 0,
        }
    }

    /// Whether lines come from frames.
    pub fn is_compressed(&self) -> bool {
        matches!(self.source, Source::Frames(_))
    }

    /// Decoded bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        self.read
    }

    /// The next item.
    pub fn read(&mut self) -> Result<Item<'_>, FrameError> {
        loop {
            if let Some(step) = memchr(b'\n', &self.buffered()[self.searched..]) {
                let end = self.searched + step;
                self.bound(end)?;
                return Ok(self.line(end, end + 1, true));
            }
            self.searched = self.buffered().len();
            self.bound(self.searched)?;
            if let Some(ending) = self.ending {
                return Ok(self.end(ending));
            }
            match self.fill()? {
                Piece::Bytes(_) => {}
                ending => self.ending = Some(ending),
            }
        }
    }

    /// What was read of the source and not moved out yet.
    #[inline]
    fn buffered(&self) -> &[u8] {
        match self.source {
            Source::Text(text) => text,
            _ => &self.buffer[..self.filled],
        }
    }

    /// Bounds the line that reaches to `end` at least; how much of the source is buffered makes no difference.
    #[inline]
    fn bound(&self, end: usize) -> Result<(), LimitError> {
        let bound = self.limits.line.min(LINE_MOST);
        if (end - self.from) as u64 > bound {
            return Err(LimitError { limit: Limit::Line, bound, line: self.number + 1 });
        }
        Ok(())
    }

    /// What the source ended with, once no whole line is left in the buffer.
    fn end(&mut self, ending: Piece) -> Item<'_> {
        let left = self.from < self.buffered().len();
        // Of a torn frame only complete lines are kept.
        if left && matches!(ending, Piece::End | Piece::FrameEnd) {
            let end = self.buffered().len();
            return self.line(end, end, false);
        }
        self.from = self.buffered().len();
        match ending {
            Piece::FrameEnd => {
                self.ending = None;
                Item::FrameEnd
            }
            Piece::Torn => {
                self.ending = Some(Piece::End);
                Item::Torn
            }
            Piece::Damage(what) => {
                self.ending = Some(Piece::End);
                Item::Damage(what)
            }
            Piece::Bytes(_) | Piece::End => Item::End,
        }
    }

    fn line(&mut self, end: usize, next: usize, ended: bool) -> Item<'_> {
        let start = self.from;
        self.from = next;
        self.searched = next;
        self.number += 1;
        let sealed = match &self.source {
            Source::Text(_) | Source::Plain(_) => false,
            Source::Frames(frames) => frames.is_complete(),
        };
        let number = self.number;
        Item::Line { bytes: &self.buffered()[start..end], number, at: start, ended, sealed }
    }

    fn fill(&mut self) -> Result<Piece, FrameError> {
        if self.from > 0 {
            // What is left of the last read is the start of one line; it moves at most once a read.
            self.buffer.copy_within(self.from..self.filled, 0);
            self.filled -= self.from;
            self.searched -= self.from;
            self.from = 0;
        }
        let length = self.filled;
        let piece = match &mut self.source {
            Source::Text(_) => Piece::End,
            Source::Frames(frames) => {
                self.buffer.truncate(length);
                let piece = frames.read(&mut self.buffer)?;
                self.filled = self.buffer.len();
                piece
            }
            Source::Plain(source) => {
                // A long line doubles the read, so that its bytes move a constant number of times.
                let step = self.step.max(length);
                self.step = CHUNK.min(self.step * 2);
                if self.buffer.len() < length + step {
                    self.buffer.resize(length + step, 0);
                }
                let count = loop {
                    match source.read(&mut self.buffer[length..length + step]) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        other => break other?,
                    }
                };
                self.filled += count;
                if count == 0 { Piece::End } else { Piece::Bytes(count) }
            }
        };
        self.read += (self.filled - length) as u64;
        Ok(piece)
    }
}
