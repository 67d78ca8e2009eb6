//! In-flight files: what a process was about to run, so that its sudden end is not forgotten.
//!
//! An overflow of the stack or an abort takes the whole process with it. Before each block its seed and range go to a
//! file; who finds such a file of a process that is gone runs the block again in a child process, case by case, and
//! saves the case that ends it.

use crate::seed::Seed;
use foldproof::json::{Scanner, Value};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A block that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inflight {
    /// The process.
    pub pid: u32,
    /// The campaign's seed.
    pub seed: Seed,
    /// The first case.
    pub from: u64,
    /// The case behind the last one.
    pub to: u64,
    /// Ops of a case at most, which the cases depend on.
    pub max_size: u64,
    /// Name of the system.
    pub system: String,
}

const PREFIX: &str = "inflight-";

fn place(folder: &Path, pid: u32) -> PathBuf {
    folder.join(format!("{PREFIX}{pid}.json"))
}

impl Inflight {
    /// Writes the file of this process.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let text = format!(
            "{{\"foldproof\":1,\"pid\":{},\"seed\":\"{}\",\"from\":{},\"to\":{},\"maxSize\":{},\"system\":\"{}\"}}\n",
            self.pid, self.seed, self.from, self.to, self.max_size, self.system
        );
        fs::write(place(folder, self.pid), text)
    }

    fn read(path: &Path) -> Option<Inflight> {
        let text = fs::read(path).ok()?;
        let mut scanner = Scanner::new(8);
        let root = scanner.scan(text.trim_ascii_end()).ok()?.root();
        let number = |name: &str| root.get(name).and_then(Value::as_uint);
        let string = |name: &str| root.get(name).and_then(Value::as_str).map(|text| text.display());
        Some(Inflight {
            pid: u32::try_from(number("pid")?).ok()?,
            seed: string("seed")?.parse().ok()?,
            from: number("from")?,
            to: number("to")?,
            max_size: number("maxSize")?,
            system: string("system")?,
        })
    }
}

/// Takes the file of this process away.
pub fn clear(folder: &Path, pid: u32) {
    let _ = fs::remove_file(place(folder, pid));
}

/// Whether a process is there. Where that cannot be seen, it is taken to be gone unless it is this one.
fn is_alive(pid: u32) -> bool {
    pid == std::process::id()
        || (Path::new("/proc/self").exists() && Path::new(&format!("/proc/{pid}")).exists())
}

/// The blocks of processes that are gone, with their files, in order of their names.
pub fn left_behind(folder: &Path) -> Vec<(PathBuf, Inflight)> {
    let Ok(entries) = fs::read_dir(folder) else { return vec![] };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    let ours = |path: &PathBuf| {
        path.file_name().is_some_and(|name| {
            let name = name.to_string_lossy();
            name.starts_with(PREFIX) && name.ends_with(".json")
        })
    };
    paths
        .into_iter()
        .filter(ours)
        .filter_map(|path| Inflight::read(&path).map(|block| (path, block)))
        .filter(|(_, block)| !is_alive(block.pid))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_found_when_its_process_is_gone() {
        let Ok(folder) = tempfile::tempdir() else { return };
        // Process numbers end far below this one.
        let block = Inflight {
            pid: u32::MAX - 1,
            seed: Seed(7),
            from: 256,
            to: 512,
            max_size: 60,
            system: "core".to_owned(),
        };
        assert!(block.write(folder.path()).is_ok());
        let own = Inflight { pid: std::process::id(), ..block.clone() };
        assert!(own.write(folder.path()).is_ok());
        let found: Vec<Inflight> = left_behind(folder.path()).into_iter().map(|(_, block)| block).collect();
        assert_eq!(found, std::slice::from_ref(&block));
        clear(folder.path(), block.pid);
        assert!(left_behind(folder.path()).is_empty());
    }
}
