//! A log that is read more than once, wherever it comes from.

use super::exit::{Failure, say};
use super::global::Global;
use super::paint::Paint;
use super::render::{Diagnostics, clean, width};
use super::source;
use super::walk::Log as Named;
use foldproof::check::{Input, Report};
use foldproof::codec::frames::{FrameError, MAGIC};
use foldproof::limits::{Limit, LimitError};
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::atomic::AtomicU64;

/// Where the log comes from; it is read twice, so stdin is held in memory.
pub struct Source {
    log: Named,
    held: Option<Vec<u8>>,
    limit: u64,
}

impl Source {
    /// The log at `path`.
    pub fn new(path: &Path, global: &Global) -> Result<Self, Failure> {
        let log = Named { path: path.to_owned(), size: 0 };
        let limit = global.limits().held;
        // A file that is being written is taken back when a person asks to stop.
        super::interrupt::listen();
        let mut source = Source { log, held: None, limit };
        if source.log.is_stdin() {
            let mut held = vec![];
            let read = super::interrupt::Stdin.take(limit.saturating_add(1)).read_to_end(&mut held);
            read.map_err(|error| source.failed(&error.to_string()))?;
            source.held = Some(held);
        } else {
            let data = std::fs::metadata(path).map_err(|error| source.failed(&error.to_string()))?;
            if data.is_dir() {
                return Err(source.failed("it is a folder, where one log is wanted"));
            }
            if data.is_file() {
                source.log.size = data.len();
            } else {
                // A pipe can be read once only.
                let file = std::fs::File::open(path).map_err(|error| source.failed(&error.to_string()))?;
                let mut held = vec![];
                let read = file.take(limit.saturating_add(1)).read_to_end(&mut held);
                read.map_err(|error| source.failed(&error.to_string()))?;
                source.held = Some(held);
            }
        }
        if source.held.as_ref().is_some_and(|held| held.len() as u64 > limit) {
            return Err(source.failed(&LimitError { limit: Limit::Held, bound: limit, line: 0 }.to_string()));
        }
        Ok(source)
    }

    /// Its name for people.
    pub fn name(&self) -> String {
        self.log.title()
    }

    /// A failure that names it.
    pub fn failed(&self, why: &str) -> Failure {
        Failure::Told(format!("{}: {}", clean(&self.name(), usize::MAX), clean(why, usize::MAX)))
    }

    /// Reads it once more; the size is that of its text as far as it is known.
    pub fn read<T>(
        &self,
        read: impl FnOnce(Input<'_>, usize) -> Result<T, FrameError>,
    ) -> Result<T, Failure> {
        let count = AtomicU64::new(0);
        let input = match &self.held {
            Some(held) if held.starts_with(&MAGIC) => Input::Compressed(Box::new(Cursor::new(held))),
            Some(held) => Input::Plain(Box::new(Cursor::new(held))),
            None => source::open(&self.log, self.limit, &count)
                .map_err(|error| self.failed(&error.to_string()))?,
        };
        let size = self.held.as_ref().map_or(self.log.size, |held| held.len() as u64);
        let size = usize::try_from(size.min(self.limit)).unwrap_or(0);
        read(input, size).map_err(|error| self.failed(&error.to_string()))
    }

    /// Prints findings on stderr.
    pub fn tell(&self, report: &Report, global: &Global) {
        tell(&self.name(), report, global);
    }
}

/// Prints the findings of the log called `name` on stderr.
pub fn tell(name: &str, report: &Report, global: &Global) {
    let diagnostics = Diagnostics::new(Paint::new(global.colored_stderr()), width());
    let most = 20;
    for finding in report.findings.list.iter().take(most) {
        say(format_args!("{}", diagnostics.render(name, finding, false)));
    }
    let more = report.findings.list.len().saturating_sub(most) as u64 + report.findings.more;
    if more > 0 {
        say(format_args!("… and {more} more; `foldproof check` lists them"));
    }
}
