//! Saved cases: where they live, how they are named, and whether they still do what they did.

use crate::case::{Case, CaseError, Recorded};
use crate::properties;
use crate::runner::{self, Asked, Judged};
use crate::systems::System;
use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The end of a saved case's file name.
pub const SUFFIX: &str = ".case.json";

/// Where the cases of the core live, from the top of the repository.
pub const REGRESSIONS: &str = "corpora/regressions";

/// A saved case.
#[derive(Clone, Debug)]
pub struct Saved {
    /// Its file.
    pub path: PathBuf,
    /// The case.
    pub case: Case,
}

/// Why cases could not be loaded or saved.
#[derive(Debug)]
pub enum CorpusError {
    /// The file system said no.
    Io(PathBuf, io::Error),
    /// A file is no case.
    Case(PathBuf, CaseError),
    /// There is another case under the name.
    Taken(PathBuf),
}

impl fmt::Display for CorpusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CorpusError::Io(path, error) => write!(f, "{}: {error}", path.display()),
            CorpusError::Case(path, error) => write!(f, "{}: {error}", path.display()),
            CorpusError::Taken(path) => write!(f, "{}: there is another file already", path.display()),
        }
    }
}

impl std::error::Error for CorpusError {}

/// The name of a case: what it is about, and a digest of its bytes without what was recorded.
///
/// The same program is the same file, whatever its outcome is by now.
pub fn name(case: &Case) -> String {
    let about = case.property.as_deref().or(case.rule.as_deref()).unwrap_or("case");
    let safe: String = about
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' })
        .collect();
    let bare = Case { outcome: None, ..case.clone() };
    let digest = blake3::hash(&bare.to_bytes());
    format!("{safe}-{}{SUFFIX}", &digest.to_hex()[..10])
}

/// Reads one case.
pub fn load(path: &Path) -> Result<Saved, CorpusError> {
    let text = fs::read(path).map_err(|error| CorpusError::Io(path.to_owned(), error))?;
    let case = Case::parse(&text).map_err(|error| CorpusError::Case(path.to_owned(), error))?;
    Ok(Saved { path: path.to_owned(), case })
}

/// All cases of a folder, by file name. A folder that is not there holds none.
pub fn load_all(folder: &Path) -> Result<Vec<Saved>, CorpusError> {
    let failed = |error| CorpusError::Io(folder.to_owned(), error);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(failed(error)),
    };
    let mut paths = vec![];
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(SUFFIX)) {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| load(path)).collect()
}

/// Writes a case to a file of any name, whole or not at all; over one that is there only when `force` says so.
pub fn write(path: &Path, case: &Case, force: bool) -> Result<(), CorpusError> {
    let failed = |error| CorpusError::Io(path.to_owned(), error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut draft = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    draft.write_all(&case.to_bytes()).map_err(failed)?;
    match force {
        true => draft.persist(path).map_err(|error| failed(error.error)).map(drop),
        false => draft.persist_noclobber(path).map(drop).map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => CorpusError::Taken(path.to_owned()),
            _ => failed(error.error),
        }),
    }
}

/// Saves a case under its name; gives the file. A case that is there already is left as it is, with what was recorded
/// of it.
pub fn save(folder: &Path, case: &Case) -> Result<PathBuf, CorpusError> {
    let path = folder.join(name(case));
    let failed = |error| CorpusError::Io(path.clone(), error);
    if path.exists() {
        let there = load(&path)?.case;
        let same = Case { outcome: None, ..there } == Case { outcome: None, ..case.clone() };
        return if same { Ok(path) } else { Err(CorpusError::Taken(path)) };
    }
    fs::create_dir_all(folder).map_err(failed)?;
    // Written whole under another name and then linked, so that a reader never sees half a case and nothing is lost.
    let mut draft = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    draft.write_all(&case.to_bytes()).map_err(failed)?;
    match draft.persist_noclobber(&path) {
        Ok(_) => Ok(path),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => save(folder, case),
        Err(error) => Err(failed(error.error)),
    }
}

/// Whether a case does what was recorded of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// The outcome is the recorded one, byte for byte.
    Same,
    /// It is another one.
    Differs {
        /// What was recorded.
        recorded: Recorded,
        /// What it is now.
        now: Recorded,
    },
    /// Nothing was recorded.
    Unrecorded(Recorded),
}

/// Runs a case again.
///
/// A case that names a property it failed is asked that property alone, as it was when it was shrunk; one that names
/// none, or that passed, is asked all of them.
pub fn replay(case: &Case, system: &mut dyn System) -> (Replayed, Judged) {
    let pinned: Vec<String> =
        case.property.iter().filter(|id| properties::by_id(id).is_some()).cloned().collect();
    let failed = case.outcome.as_ref().is_some_and(|outcome| outcome.status != crate::case::Status::Passed);
    let asked = if failed && !pinned.is_empty() { Asked::Only(&pinned) } else { Asked::All };
    let judged = runner::run(case, system, asked);
    let now = judged.recorded();
    let replayed = match &case.outcome {
        None => Replayed::Unrecorded(now),
        Some(recorded) if *recorded == now => Replayed::Same,
        Some(recorded) => Replayed::Differs { recorded: recorded.clone(), now },
    };
    (replayed, judged)
}
