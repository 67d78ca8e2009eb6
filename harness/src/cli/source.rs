//! A path to something that can be read: which encoding, and stdin.

use super::interrupt::{Stdin, Watched};
use super::walk::{self, Log};
use foldproof::check::Input;
use foldproof::codec::frames::MAGIC;
use foldproof::limits::{Limit, LimitError};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::sync::atomic::AtomicU64;

/// Opens a log. Bytes read from it are added to `count`. Compressed text that cannot be sought in is held in memory, at
/// most `held` bytes of it.
pub fn open<'a>(log: &Log, held: u64, count: &'a AtomicU64) -> Result<Input<'a>, io::Error> {
    if log.is_stdin() {
        return stream(Watched::new(Stdin, count), held);
    }
    let file = File::open(&log.path)?;
    let data = file.metadata()?;
    if data.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it became a folder"));
    }
    if !data.is_file() {
        return stream(Watched::new(file, count), held);
    }
    let compressed = match walk::is_compressed(&log.path) {
        Some(compressed) => compressed,
        None => magic(&file)?,
    };
    let file = Watched::new(file, count);
    Ok(if compressed { Input::Compressed(Box::new(file)) } else { Input::Plain(Box::new(file)) })
}

fn magic(mut file: &File) -> io::Result<bool> {
    let mut head = vec![];
    file.take(MAGIC.len() as u64).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(head == MAGIC)
}

/// Something that can only be read on: Zstandard is recognized by its magic.
fn stream<'a>(mut source: impl Read + 'a, held: u64) -> io::Result<Input<'a>> {
    let mut head = vec![];
    source.by_ref().take(MAGIC.len() as u64).read_to_end(&mut head)?;
    if head != MAGIC {
        return Ok(Input::Plain(Box::new(Cursor::new(head).chain(source))));
    }
    source.take(held.saturating_sub(head.len() as u64).saturating_add(1)).read_to_end(&mut head)?;
    if head.len() as u64 > held {
        return Err(io::Error::other(LimitError { limit: Limit::Held, bound: held, line: 0 }));
    }
    Ok(Input::Compressed(Box::new(Cursor::new(head))))
}
