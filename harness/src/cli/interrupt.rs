//! Ctrl-C as a flag: what was found until then is still reported.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static WAITING: AtomicBool = AtomicBool::new(false);

/// Starts to listen. The first Ctrl-C asks to stop; a second one, or one while stdin is waited for, ends at once.
pub fn listen() {
    // Where no handler can be set, Ctrl-C ends the process the usual way.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) || WAITING.load(Ordering::SeqCst) {
            std::process::exit(i32::from(super::exit::Exit::Interrupted.code()));
        }
    });
}

/// Whether a person asked to stop.
pub fn requested() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Asks to stop.
pub fn request() {
    INTERRUPTED.store(true, Ordering::SeqCst);
}

/// Reads from stdin; a Ctrl-C while it waits for bytes ends the process, because such a read cannot be woken.
#[derive(Debug)]
pub struct Stdin;

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Waiting is told before the flag is looked at, so that a Ctrl-C between the two is seen by one of both sides.
        WAITING.store(true, Ordering::SeqCst);
        let count = match requested() {
            true => Err(io::Error::other("interrupted")),
            false => io::stdin().lock().read(buffer),
        };
        WAITING.store(false, Ordering::SeqCst);
        count
    }
}

/// A reader that fails once a person asked to stop, and counts what it reads.
#[derive(Debug)]
pub struct Watched<'a, R> {
    source: R,
    count: &'a AtomicU64,
}

impl<'a, R> Watched<'a, R> {
    /// Watches over `source`.
    pub fn new(source: R, count: &'a AtomicU64) -> Self {
        Watched { source, count }
    }
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if requested() {
            return Err(io::Error::other("interrupted"));
        }
        let count = self.source.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl<R: Seek> Seek for Watched<'_, R> {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.source.seek(place)
    }
}
