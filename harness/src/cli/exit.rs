//! How a command ends: exit codes with their precedence, and what goes wrong outside the logs.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing to report.
    Clean,
    /// Findings, a falsified property, a difference.
    Findings,
    /// Usage or input/output error, also beside findings.
    Failed,
    /// Nothing could be checked.
    Inconclusive,
    /// Interrupted by a person.
    Interrupted,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::Failed => 2,
            Exit::Inconclusive => 3,
            Exit::Interrupted => 130,
        }
    }

    /// The one that wins when both happened: 130, 2, 1, 3, 0.
    #[must_use]
    pub fn and(self, other: Exit) -> Exit {
        let rank = |exit: Exit| match exit {
            Exit::Clean => 0,
            Exit::Inconclusive => 1,
            Exit::Findings => 2,
            Exit::Failed => 3,
            Exit::Interrupted => 4,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Why a command could not go on.
#[derive(Debug)]
pub enum Failure {
    /// The reader of stdout went away, which is no error.
    Closed,
    /// Something that the message names in full.
    Told(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Closed => f.write_str("the output was closed"),
            Failure::Told(text) => f.write_str(text),
        }
    }
}

/// An error of stdout; errors of other files are told with their name.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::Told(format!("cannot write to stdout: {error}")),
        }
    }
}

/// Prints a line on stderr. Unlike `eprintln!` it does not panic when nobody listens there.
pub fn say(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::Exit::*;

    #[test]
    fn precedence() {
        for (stronger, weaker) in
            [(Interrupted, Failed), (Failed, Findings), (Findings, Inconclusive), (Inconclusive, Clean)]
        {
            assert_eq!(stronger.and(weaker), stronger);
            assert_eq!(weaker.and(stronger), stronger);
        }
    }
}
