//! Findings for other programs: SARIF and JUnit files, and annotations of GitHub Actions. `check` and `explain` share it.

use super::exit::{Failure, say};
use super::render::clean;
use super::{github, junit, sarif};
use foldproof::check::Report;
use foldproof::rule::Class;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where findings go beside the terminal.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Elsewhere {
    /// Write the findings as SARIF 2.1.0
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Write the logs as JUnit test cases
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Print findings as workflow commands of GitHub Actions, which shows them beside the lines
    #[arg(long)]
    pub github: bool,
}

impl Elsewhere {
    /// Whether columns are wanted in characters, for which findings must keep their lines.
    pub fn wants_characters(&self) -> bool {
        self.sarif.is_some() || self.github
    }

    /// The files are written over what was there, as in any CI; a log that was named is not.
    pub fn refuse_overwriting<'a>(
        &self,
        logs: impl Iterator<Item = &'a Path> + Clone,
    ) -> Result<(), Failure> {
        for out in [&self.sarif, &self.junit].into_iter().flatten() {
            let Ok(target) = out.canonicalize() else { continue };
            if logs.clone().any(|log| log.canonicalize().is_ok_and(|path| path == target)) {
                return Err(Failure::Told(format!(
                    "{} is one of the logs and is not written over",
                    clean(&out.to_string_lossy(), usize::MAX)
                )));
            }
        }
        Ok(())
    }

    /// Collects what `command` finds. `json`: stdout is left to JSON. `allow`: a repairable log passes. At most `most`
    /// findings of a log become annotations.
    pub fn collector(&self, command: &str, json: bool, allow: bool, most: usize) -> Collector {
        Collector {
            sarif: self.sarif.clone().map(|path| (path, sarif::Builder::default())),
            junit: self.junit.clone().map(|path| (path, junit::Builder::new(command))),
            github: self.github,
            json,
            allow,
            most,
        }
    }
}

/// What was found so far.
#[derive(Debug)]
pub struct Collector {
    sarif: Option<(PathBuf, sarif::Builder)>,
    junit: Option<(PathBuf, junit::Builder)>,
    github: bool,
    json: bool,
    allow: bool,
    most: usize,
}

impl Collector {
    /// Takes a log that was checked.
    pub fn add(&mut self, name: &str, report: &Report) {
        if let Some((_, sarif)) = &mut self.sarif {
            sarif.add(name, report);
        }
        if let Some((_, junit)) = &mut self.junit {
            junit.add(name, report, self.allow);
        }
    }

    /// Prints the annotations of a log.
    pub fn annotate(&self, name: &str, report: &Report) {
        if !self.github {
            return;
        }
        let list = report.findings.list.iter().take(self.most);
        let commands: String = list
            .map(|finding| github::finding(name, finding, self.allow && finding.class == Class::Repairable))
            .collect();
        self.print(&commands);
    }

    /// Takes something that could not be read.
    pub fn unreadable(&mut self, name: &str, why: &str) {
        if self.github {
            self.print(&github::unreadable(name, why));
        }
        if let Some((_, sarif)) = &mut self.sarif {
            sarif.unreadable(name, why);
        }
        if let Some((_, junit)) = &mut self.junit {
            junit.unreadable(name, why);
        }
    }

    /// GitHub reads commands on both streams; stdout is left to JSON where that was asked for.
    fn print(&self, commands: &str) {
        if commands.is_empty() {
            return;
        }
        if self.json {
            say(format_args!("{}", commands.trim_end_matches('\n')));
        } else {
            let mut out = io::stdout().lock();
            // A reader that went away is noticed with the next thing that is printed.
            let _ = out.write_all(commands.as_bytes()).and_then(|()| out.flush());
        }
    }

    /// Writes the files.
    pub fn finish(self) -> Result<(), Failure> {
        if let Some((path, sarif)) = self.sarif {
            sarif.write(&path)?;
        }
        if let Some((path, junit)) = self.junit {
            junit.write(&path)?;
        }
        Ok(())
    }
}
