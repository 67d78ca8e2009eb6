//! A case in a process of its own: what ends a process, an overflow of the stack or an abort, ends only that one.

use super::exit::Failure;
use crate::case::{Case, Encoding, Recorded, Status};
use crate::corpus;
use crate::shrink::shrink;
use crate::systems::{Breakage, Outcome, Step, System, Trace};
use std::io::Write;
use std::process::{Command, Stdio};

/// The property of a case that ends its process.
const PROPERTY: &str = "system-answers";

/// Executions of one shrinking at most: each of them is a process.
const MOST: u64 = 400;

/// Whether the process ends by anything but an exit code of its own when it runs this case, all properties asked.
pub fn ends(case: &Case, system: &str) -> Result<bool, Failure> {
    let failed = |error| Failure::Told(format!("cannot start this program again: {error}"));
    let this = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(this)
        .args(["replay", "-", "--alone", "--system", system])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A child that is gone already says so by how it ended.
        let _ = stdin.write_all(&case.to_bytes());
    }
    let status = child.wait().map_err(failed)?;
    Ok(!matches!(status.code(), Some(0..=3 | 130)))
}

/// Whether a case was saved because no process survives it, as far as one can tell before it is run.
pub fn is_suspect(case: &Case) -> bool {
    let failed = case.outcome.as_ref().is_some_and(|outcome| outcome.status == Status::Failed);
    failed && case.property.as_deref() == Some(PROPERTY)
}

/// A system that first runs each case in a process of its own, and here only when that process survived.
pub struct Alone(pub Box<dyn System>);

impl System for Alone {
    fn name(&self) -> String {
        self.0.name()
    }

    fn version(&self) -> String {
        self.0.version()
    }

    fn run(&mut self, case: &Case) -> Trace {
        let message = match ends(case, &self.name()) {
            Ok(false) => return self.0.run(case),
            Ok(true) => "the process ended while it ran this case".to_owned(),
            Err(failure) => failure.to_string(),
        };
        let mut trace = Trace::not_sent(case, "the process is gone");
        // Which operation did it cannot be seen from outside; a shrunk case ends in it.
        if let Some(last) = trace.steps.last_mut() {
            *last = Step { outcome: Outcome::Broken { kind: Breakage::Crash, message } };
        }
        trace
    }

    fn check(&mut self, dialect: &str, log: &[u8], encoding: Encoding) -> Option<Outcome> {
        self.0.check(dialect, log, encoding)
    }
}

/// The smallest case that still ends its process, with what was seen recorded in it.
pub fn shrunk(case: &Case, system: Box<dyn System>, stop: &dyn Fn() -> bool) -> Case {
    let name = system.name();
    let mut small = shrink(case, MOST, &mut |case| matches!(ends(case, &name), Ok(true)), stop).case;
    small.property = Some(PROPERTY.to_owned());
    small.outcome = Some(Recorded { status: Status::Failed, ..Recorded::passed() });
    let (_, judged) = corpus::replay(&small, &mut Alone(system));
    small.outcome = Some(judged.recorded());
    small
}
