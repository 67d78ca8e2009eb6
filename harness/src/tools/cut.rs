//! Where a log can be cut: the place of a line in plain text, the frame of a line in a compressed log.

use super::artifact::Artifact;
use foldproof::codec::frames::{Extent, FrameError, Window};
use foldproof::codec::lines::Item;
use foldproof::limits::{Limit, LimitError, Limits};
use memchr::memchr_iter;
use std::io::{self, Read};

/// A place to cut at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The first line that is not kept, counted from 1.
    pub line: u64,
    /// Bytes of the artifact in front of the cut, which stay as they are.
    pub at: u64,
    /// Kept lines of the frame that the cut falls into, to be written again.
    pub rewritten: Vec<u8>,
}

impl Cut {
    /// What follows the bytes that stay as they are: the rewritten lines and others behind them, encoded.
    pub fn tail(&self, compressed: bool, behind: &[u8]) -> io::Result<Vec<u8>> {
        let text = [&self.rewritten[..], behind].concat();
        let mut tail = vec![];
        match compressed && !text.is_empty() {
            true => super::sink::frame(&text, &mut tail)?,
            false => tail = text,
        }
        Ok(tail)
    }
}

/// The cut in front of a line of the log, counted from 1. A line behind the last one is the end of plain text, and in a
/// compressed log the start of what is no complete frame.
pub fn before(artifact: &Artifact, line: u64, limits: Limits) -> Result<Cut, FrameError> {
    if artifact.is_compressed() { frame_of(artifact, line, limits) } else { Ok(line_start(artifact, line)?) }
}

fn line_start(artifact: &Artifact, line: u64) -> io::Result<Cut> {
    let mut source = artifact.part(0, artifact.size())?;
    let mut buffer = vec![0; 1 << 16];
    let (mut at, mut left) = (0, line.saturating_sub(1));
    while left > 0 {
        let count = source.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        let mut ends = memchr_iter(b'\n', &buffer[..count]);
        match ends.by_ref().nth(usize::try_from(left - 1).unwrap_or(usize::MAX)) {
            Some(end) => return Ok(Cut { line, at: at + end as u64 + 1, rewritten: vec![] }),
            None => left -= memchr_iter(b'\n', &buffer[..count]).count() as u64,
        }
        at += count as u64;
    }
    Ok(Cut { line, at, rewritten: vec![] })
}

/// First the frame is found, then its kept lines are: only those are held.
fn frame_of(artifact: &Artifact, line: u64, limits: Limits) -> Result<Cut, FrameError> {
    let mut window = Window::new(artifact.part(0, artifact.size())?)?;
    let mut lines = artifact.lines(0, limits)?;
    let (mut at, mut last) = (0, 0);
    let mut before = 0;
    loop {
        match lines.read()? {
            Item::Line { number, .. } if number >= line => break,
            Item::Line { number, .. } => last = number,
            Item::FrameEnd => match window.extent(at)? {
                Extent::Complete(end) => (at, before) = (end, last),
                Extent::Incomplete | Extent::Bad(_) => break,
            },
            Item::Torn | Item::Damage(_) | Item::End => break,
        }
    }
    let mut rewritten = vec![];
    let mut lines = artifact.lines(at, limits)?;
    loop {
        match lines.read()? {
            Item::Line { bytes, number, ended: true, .. } if before + number < line => {
                rewritten.extend_from_slice(bytes);
                rewritten.push(b'\n');
                if rewritten.len() as u64 > limits.held {
                    return Err(LimitError { limit: Limit::Held, bound: limits.held, line }.into());
                }
            }
            Item::Line { .. } => {}
            Item::FrameEnd | Item::Torn | Item::End => return Ok(Cut { line, at, rewritten }),
            // Lines of a frame that does not decode to its end may be altered: its checksum is not theirs.
            Item::Damage(_) => return Ok(Cut { line: before + 1, at, rewritten: vec![] }),
        }
    }
}
