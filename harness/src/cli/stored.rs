//! A path that a tool reads from, and what tools say of it.

use super::exit::{Exit, Failure, say};
use super::global::Global;
use super::render::clean;
use super::walk;
use crate::tools::artifact::Artifact;
use foldproof::check::Options;
use foldproof::codec::frames::FrameError;
use foldproof::limits::{Limit, LimitError};
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A stored log under the name that it was given by.
pub struct Stored {
    /// Its bytes.
    pub artifact: Artifact,
    /// The path as it was given.
    pub path: PathBuf,
}

impl Stored {
    /// Opens a file; stdin and pipes are read to their end and held.
    pub fn open(path: &Path, global: &Global) -> Result<Stored, Failure> {
        let told = |why: &dyn Display| failed(path, why);
        let held = |source: &mut dyn Read| -> Result<Artifact, Failure> {
            let bound = global.limits().held;
            let mut bytes = vec![];
            let read = source.take(bound.saturating_add(1)).read_to_end(&mut bytes);
            read.map_err(|error| told(&error))?;
            if bytes.len() as u64 > bound {
                return Err(told(&LimitError { limit: Limit::Held, bound, line: 0 }));
            }
            Ok(Artifact::held(bytes))
        };
        let artifact = if path.as_os_str() == "-" {
            held(&mut super::interrupt::Stdin)?
        } else {
            let data = fs::metadata(path).map_err(|error| told(&error))?;
            if data.is_dir() {
                return Err(told(&"it is a folder, where one log is wanted"));
            }
            if data.is_file() {
                Artifact::file(path.to_owned(), walk::is_compressed(path)).map_err(|error| told(&error))?
            } else {
                held(&mut File::open(path).map_err(|error| told(&error))?)?
            }
        };
        // A file that is being written is taken back when a person asks to stop.
        super::interrupt::listen();
        let artifact = artifact.stopped_by(super::interrupt::requested);
        Ok(Stored { artifact, path: path.to_owned() })
    }

    /// Whether it came from stdin.
    pub fn is_stdin(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// The path for programs.
    pub fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// The path for people.
    pub fn title(&self) -> String {
        if self.is_stdin() { "<stdin>".to_owned() } else { clean(&self.name(), usize::MAX) }
    }

    /// A failure that names it.
    pub fn failed(&self, why: impl Display) -> Failure {
        failed(&self.path, &why)
    }

    /// A failure to read it on.
    pub fn unread(&self, error: FrameError) -> Failure {
        self.failed(error)
    }

    /// Says before any work that the log itself would be written over.
    pub fn refuse_over(&self, out: &Path) -> Result<(), Failure> {
        let same = |one: io::Result<PathBuf>, other: io::Result<PathBuf>| matches!((one, other), (Ok(one), Ok(other)) if one == other);
        if !self.is_stdin() && same(self.path.canonicalize(), out.canonicalize()) {
            return Err(self.failed("it is the log itself, which is not written over; name another file"));
        }
        Ok(())
    }
}

fn failed(path: &Path, why: &dyn Display) -> Failure {
    let name = if path.as_os_str() == "-" { "<stdin>".into() } else { path.to_string_lossy() };
    Failure::Told(format!("{}: {}", clean(&name, usize::MAX), clean(&why.to_string(), usize::MAX)))
}

/// The end of a command that a person may have asked to stop: what failed because of that is no error of the log.
pub fn stoppable(ended: Result<Exit, Failure>) -> Result<Exit, Failure> {
    match ended {
        Err(Failure::Told(_)) if super::interrupt::requested() => {
            say(format_args!("interrupted: nothing more was written"));
            Ok(Exit::Interrupted)
        }
        ended => ended,
    }
}

/// The options of a strict check whose findings are shown.
pub fn strict(global: &Global) -> Options {
    Options {
        dialect: global.dialect.0.clone(),
        excerpts: !global.json(),
        limits: global.limits(),
        ..Options::default()
    }
}

/// Prints one line of JSON.
pub fn print(shape: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(shape).map_err(|error| Failure::Told(error.to_string()))?;
    put(&format!("{text}\n"))
}

/// Prints text for people.
pub fn put(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
