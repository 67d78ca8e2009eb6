//! Paths to logs: files, folders, stdin.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A log that was named or found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Where it is; `-` is stdin.
    pub path: PathBuf,
    /// Its size where that is known without reading it.
    pub size: u64,
}

impl Log {
    /// Whether it comes from stdin.
    pub fn is_stdin(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// The path as text, for programs; what is no Unicode is replaced.
    pub fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// The path for people.
    pub fn title(&self) -> String {
        if self.is_stdin() { "<stdin>".to_owned() } else { self.name() }
    }
}

/// Something on the way that could not be read.
#[derive(Debug)]
pub struct Unreadable {
    /// Where.
    pub path: PathBuf,
    /// Why, as the system says it.
    pub why: String,
}

/// What paths lead to.
#[derive(Debug, Default)]
pub struct Found {
    /// The logs, in the order of the paths; inside a folder sorted by name.
    pub logs: Vec<Log>,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
}

/// Whether a file in a folder is a log, by its name.
pub fn is_log(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    [&b".jsonl"[..], b".jsonl.zstd", b".zst"]
        .iter()
        .any(|suffix| name.len() > suffix.len() && name.ends_with(suffix))
}

/// Whether the name says that the log is compressed; nothing where it does not say.
pub fn is_compressed(path: &Path) -> Option<bool> {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    if name.ends_with(b".jsonl.zstd") || name.ends_with(b".zst") {
        Some(true)
    } else if name.ends_with(b".jsonl") {
        Some(false)
    } else {
        None
    }
}

/// Follows the paths. A file that is named is a log whatever its name; in a folder the name decides.
pub fn find(paths: &[PathBuf]) -> Found {
    let mut found = Found::default();
    for path in paths {
        if path.as_os_str() == "-" {
            found.logs.push(Log { path: path.clone(), size: 0 });
            continue;
        }
        match fs::metadata(path) {
            Ok(data) if data.is_dir() => folder(path, &mut found),
            Ok(data) => found.logs.push(Log { path: path.clone(), size: data.len() }),
            Err(error) => found.unreadable(path, &error),
        }
    }
    found
}

impl Found {
    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        self.unreadable.push(Unreadable { path: path.to_owned(), why: error.to_string() });
    }
}

/// Walks a folder without recursion on the call stack. Links to folders are not followed, so that a loop cannot hold
/// the walk; links to files are, unless the file itself lies in the folder too.
fn folder(root: &Path, found: &mut Found) {
    let first = found.logs.len();
    let mut links: BTreeSet<PathBuf> = BTreeSet::new();
    let mut stack = vec![root.to_owned()];
    while let Some(path) = stack.pop() {
        let inside = match fs::read_dir(&path) {
            Ok(inside) => inside,
            Err(error) => {
                found.unreadable(&path, &error);
                continue;
            }
        };
        for entry in inside {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    found.unreadable(&path, &error);
                    break;
                }
            };
            // A path that begins with "./" only because the folder was named "." reads worse than without.
            let path = if path.as_os_str() == "." { PathBuf::from(entry.file_name()) } else { entry.path() };
            let link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if !link && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                stack.push(path);
            } else if is_log(&path) {
                match fs::metadata(&path) {
                    Ok(data) if data.is_file() => {
                        if link {
                            links.insert(path.clone());
                        }
                        found.logs.push(Log { path, size: data.len() });
                    }
                    // A link to a folder, or a pipe or socket, on which reading could wait for ever.
                    Ok(_) => {}
                    Err(error) => found.unreadable(&path, &error),
                }
            }
        }
    }
    found.logs[first..].sort_by(|a, b| a.path.cmp(&b.path));
    if !links.is_empty() {
        let real: BTreeSet<PathBuf> = found.logs[first..]
            .iter()
            .filter(|log| !links.contains(&log.path))
            .filter_map(|log| log.path.canonicalize().ok())
            .collect();
        let doubled = |log: &Log| {
            links.contains(&log.path) && log.path.canonicalize().is_ok_and(|target| real.contains(&target))
        };
        let tail: Vec<Log> = found.logs.drain(first..).filter(|log| !doubled(log)).collect();
        found.logs.extend(tail);
    }
    found.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["a.jsonl", "d/a.jsonl.zstd", "a.packed.jsonl", "a.zst", "a.jsonl.zst"] {
            assert!(is_log(Path::new(name)), "{name}");
        }
        for name in ["a.json", ".jsonl", "jsonl", "a.zstd", "a.jsonl.bak", ".zst", "a.jsonl.gz"] {
            assert!(!is_log(Path::new(name)), "{name}");
        }
        assert_eq!(is_compressed(Path::new("a.jsonl.zst")), Some(true));
        assert_eq!(is_compressed(Path::new("a.jsonl")), Some(false));
        assert_eq!(is_compressed(Path::new("a.log")), None);
    }
}
