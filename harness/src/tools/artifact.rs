//! A stored log that is read more than once: a file, or bytes that came from a pipe.

use foldproof::check::Input;
use foldproof::codec::frames::{FrameError, MAGIC};
use foldproof::codec::lines::Lines;
use foldproof::limits::Limits;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// A stored log as it was when it was first looked at: what a writer appends meanwhile is not seen.
#[derive(Debug)]
pub struct Artifact {
    bytes: Bytes,
    size: u64,
    compressed: bool,
    stop: fn() -> bool,
}

#[derive(Debug)]
enum Bytes {
    Held(Vec<u8>),
    File(PathBuf),
}

impl Artifact {
    /// Bytes in memory; Zstandard is recognized by its magic.
    pub fn held(bytes: Vec<u8>) -> Self {
        let compressed = bytes.starts_with(&MAGIC);
        Artifact::of(bytes, compressed)
    }

    /// Bytes in memory whose encoding is known.
    pub fn of(bytes: Vec<u8>, compressed: bool) -> Self {
        Artifact { size: bytes.len() as u64, bytes: Bytes::Held(bytes), compressed, stop: never }
    }

    /// A regular file. `compressed` is what its name says; where that says nothing the magic decides.
    pub fn file(path: PathBuf, compressed: Option<bool>) -> io::Result<Self> {
        let mut file = File::open(&path)?;
        let size = file.metadata()?.len();
        let compressed = match compressed {
            Some(compressed) => compressed,
            None => {
                let mut head = vec![];
                file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut head)?;
                head == MAGIC
            }
        };
        Ok(Artifact { bytes: Bytes::File(path), size, compressed, stop: never })
    }

    /// Reading it fails as soon as `stop` says so.
    #[must_use]
    pub fn stopped_by(self, stop: fn() -> bool) -> Self {
        Artifact { stop, ..self }
    }

    /// Its bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether it is read as Zstandard frames.
    pub fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// `zstd` or `plain`.
    pub fn encoding(&self) -> &'static str {
        if self.compressed { "zstd" } else { "plain" }
    }

    /// The bytes from one offset to another.
    pub fn part(&self, from: u64, to: u64) -> io::Result<Part<'_>> {
        let to = to.min(self.size);
        let source: Box<dyn ReadSeek + '_> = match &self.bytes {
            Bytes::Held(bytes) => Box::new(Cursor::new(&bytes[..])),
            Bytes::File(path) => Box::new(File::open(path)?),
        };
        Part::new(source, from.min(to), to, self.stop)
    }

    /// The bytes up to an offset, and others behind them.
    pub fn spliced(&self, to: u64, tail: Vec<u8>) -> io::Result<Part<'_>> {
        Ok(Part { tail, ..self.part(0, to)? })
    }

    /// All of it, to be checked.
    pub fn input(&self) -> io::Result<Input<'_>> {
        Ok(self.wrap(self.part(0, self.size)?))
    }

    /// A part or splice of it, to be checked.
    pub fn wrap<'a>(&self, part: Part<'a>) -> Input<'a> {
        if self.compressed { Input::Compressed(Box::new(part)) } else { Input::Plain(Box::new(part)) }
    }

    /// The lines from an offset on, at which a line or a frame starts.
    pub fn lines(&self, from: u64, limits: Limits) -> Result<Lines<'_>, FrameError> {
        let part = self.part(from, self.size)?;
        Ok(self.wrap(part).lines(limits, true)?)
    }

    /// Its first bytes, at most `most` of them.
    pub fn head(&self, most: u64) -> io::Result<Vec<u8>> {
        let mut head = vec![];
        self.part(0, most)?.read_to_end(&mut head)?;
        Ok(head)
    }
}

trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// A range of an artifact, and bytes that follow it.
pub struct Part<'a> {
    source: Box<dyn ReadSeek + 'a>,
    start: u64,
    length: u64,
    tail: Vec<u8>,
    at: u64,
    stop: fn() -> bool,
}

fn never() -> bool {
    false
}

impl<'a> Part<'a> {
    fn new(mut source: Box<dyn ReadSeek + 'a>, from: u64, to: u64, stop: fn() -> bool) -> io::Result<Self> {
        source.seek(SeekFrom::Start(from))?;
        Ok(Part { source, start: from, length: to - from, tail: vec![], at: 0, stop })
    }
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.stop)() {
            return Err(io::Error::other("interrupted"));
        }
        if self.at < self.length {
            let most = (self.length - self.at).min(buffer.len() as u64) as usize;
            let count = self.source.read(&mut buffer[..most])?;
            if count == 0 && most > 0 {
                return Err(io::Error::other("the file got shorter while it was read; is a writer at work?"));
            }
            self.at += count as u64;
            return Ok(count);
        }
        let mut rest = self.tail.get((self.at - self.length) as usize..).unwrap_or_default();
        let count = rest.read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Part<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let length = self.length + self.tail.len() as u64;
        let target = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(step) => length.checked_add_signed(step),
            SeekFrom::Current(step) => self.at.checked_add_signed(step),
        };
        let at = target.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        if at < self.length {
            self.source.seek(SeekFrom::Start(self.start + at))?;
        }
        self.at = at;
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_splice_reads_like_one_file() {
        let artifact = Artifact::held(b"abcdef".to_vec());
        let mut part = artifact.spliced(4, b"XY".to_vec()).expect("bytes in memory");
        let mut text = String::new();
        part.read_to_string(&mut text).expect("text");
        assert_eq!(text, "abcdXY");
        let end = part.seek(SeekFrom::End(0)).expect("an end");
        assert_eq!(end, 6);
        part.seek(SeekFrom::Start(3)).expect("a place");
        text.clear();
        part.read_to_string(&mut text).expect("text");
        assert_eq!(text, "dXY");
        text.clear();
        artifact.part(2, 5).expect("a part").read_to_string(&mut text).expect("text");
        assert_eq!(text, "cde");
    }
}
