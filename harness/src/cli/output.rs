//! A file that a command writes: it appears whole or not at all, and never over one that is there unless forced.

use super::exit::Failure;
use super::walk;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Where a command writes to.
#[derive(Clone, Debug, clap::Args)]
pub struct Output {
    /// Where to write; .zst and .jsonl.zstd compress
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    pub path: PathBuf,
    /// Overwrite what is there
    #[arg(long)]
    pub force: bool,
}

impl Output {
    /// Says before any work that the file may not be written.
    pub fn check(&self) -> Result<(), Failure> {
        match self.path.symlink_metadata() {
            Ok(data) if data.is_dir() => Err(Failure::Told(format!("{} is a folder", self.path.display()))),
            Ok(_) if !self.force => Err(taken(&self.path)),
            _ => Ok(()),
        }
    }

    /// Whether the name asks for Zstandard.
    pub fn is_compressed(&self) -> bool {
        walk::is_compressed(&self.path) == Some(true)
    }

    /// Writes the file as `fill` fills it.
    pub fn write(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        write(&self.path, self.force, fill)
    }
}

/// Writes a file beside its place, syncs it, and moves it there. Nothing is left behind on an error.
pub fn write(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Told(format!("cannot write {}: {error}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = beside(folder).map_err(failed)?;
    let mut buffer = BufWriter::with_capacity(1 << 20, &mut file);
    fill(&mut buffer).and_then(|()| buffer.flush()).map_err(failed)?;
    drop(buffer);
    file.as_file().sync_all().map_err(failed)?;
    let moved = if force { file.persist(path) } else { file.persist_noclobber(path) };
    moved.map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => taken(path),
        _ => failed(error.error),
    })?;
    // The name is durable once its folder is; where folders cannot be synced there is nothing to be done.
    if let Ok(folder) = fs::File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// A temporary file is its owner's alone; one that was asked for by name is as readable as any other new file, which
/// the process's umask decides.
#[cfg(unix)]
fn beside(folder: &Path) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder)
}

#[cfg(not(unix))]
fn beside(folder: &Path) -> io::Result<NamedTempFile> {
    NamedTempFile::new_in(folder)
}

fn taken(path: &Path) -> Failure {
    Failure::Told(format!("{} is there already; --force overwrites it", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_or_not_at_all_and_never_over_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.jsonl");
        let put = |text: &'static str, force| write(&path, force, |out| out.write_all(text.as_bytes()));
        put("one", false).expect("a new file");
        assert!(put("two", false).is_err());
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("one"));
        put("two", true).expect("forced");
        assert!(write(&path, true, |_| Err(io::Error::other("no"))).is_err());
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("two"));
        assert_eq!(fs::read_dir(folder.path()).map(Iterator::count).ok(), Some(1));
    }
}
