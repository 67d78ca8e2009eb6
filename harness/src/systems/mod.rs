//! Systems: what can run a case.
//!
//! A system gets a whole case and answers with its outcomes in the adapter protocol's form. It starts afresh for
//! every case. An operation that it refuses is an outcome, not a failure.

mod abrupt;
pub mod compare;
mod core;
mod frames;
mod interpret;
mod live;
mod model;

pub use self::core::Core;
pub(crate) use self::core::known;
pub use abrupt::Abrupt;
pub use model::Model;

use crate::case::{Case, Encoding, Ref};

/// Something that runs cases.
pub trait System {
    /// `core`, `model`, `adapter:NAME`, …
    fn name(&self) -> String;

    /// Its version.
    fn version(&self) -> String;

    /// Runs a whole case on fresh state. One step for every operation, in order.
    fn run(&mut self, case: &Case) -> Trace;

    /// What the system's checker says of a stored log, when it has one: the canonical JSON text
    /// `{"events":n,"findings":[{"rule","class","line","seq"}]}`.
    fn check(&mut self, dialect: &str, log: &[u8], encoding: Encoding) -> Option<Outcome> {
        let _ = (dialect, log, encoding);
        None
    }
}

/// What a system did with a case.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Trace {
    /// One for every operation.
    pub steps: Vec<Step>,
    /// What was seen to go wrong beside the outcomes: a held history that changed, for one.
    pub faults: Vec<Fault>,
}

/// One operation's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The answer.
    pub outcome: Outcome,
}

/// Something that no outcome shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The operation during or behind which it was seen.
    pub op: usize,
    /// The rule that it breaks.
    pub rule: &'static str,
    /// What it was before.
    pub expected: String,
    /// What it became.
    pub got: String,
}

/// The answer to an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done: the canonical JSON text of the answer.
    Ok(String),
    /// Refused.
    Err {
        /// The rule, when the system names it.
        rule: Option<String>,
        /// Why, for people; the code of FORK-2 comes first where that is the rule.
        message: String,
    },
    /// The system did not answer: it crashed, hung, or said something else.
    Broken {
        /// What happened.
        kind: Breakage,
        /// Details for people.
        message: String,
    },
    /// The operation was not sent: the system lacks the capability, or the value is beyond its limits.
    NotSent {
        /// Why.
        message: String,
    },
}

/// How a system fails to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breakage {
    /// It panicked or its process ended.
    Crash,
    /// It did not answer in time.
    Hang,
    /// It answered something that the protocol does not have.
    Protocol,
}

impl Breakage {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Breakage::Crash => "crash",
            Breakage::Hang => "hang",
            Breakage::Protocol => "protocol",
        }
    }
}

impl Outcome {
    /// A refusal.
    pub fn refused(rule: Option<&str>, message: impl Into<String>) -> Outcome {
        Outcome::Err { rule: rule.map(str::to_owned), message: message.into() }
    }

    /// The answer, when it was done.
    pub fn ok(&self) -> Option<&str> {
        match self {
            Outcome::Ok(text) => Some(text),
            _ => None,
        }
    }

    /// Whether it was refused.
    pub fn is_refused(&self) -> bool {
        matches!(self, Outcome::Err { .. })
    }
}

/// The system with this name, where the library alone can run it.
pub fn by_name(name: &str) -> Option<Box<dyn System>> {
    match name {
        "core" => Some(Box::new(Core)),
        "model" => Some(Box::new(Model)),
        "abrupt" => Some(Box::new(Abrupt)),
        _ => None,
    }
}

impl Trace {
    /// The trace of a case that could not be run.
    pub fn not_sent(case: &Case, message: &str) -> Trace {
        let step = || Step { outcome: Outcome::NotSent { message: message.to_owned() } };
        Trace { steps: case.ops.iter().map(|_| step()).collect(), faults: vec![] }
    }

    /// The answer of one operation, when it was done.
    pub fn ok(&self, op: usize) -> Option<&str> {
        self.steps.get(op).and_then(|step| step.outcome.ok())
    }
}

/// The seq that an operation names, when it is a safe integer.
pub(crate) fn boundary(reference: &Ref) -> Option<u64> {
    match reference {
        Ref::Seq(seq) => Some(*seq),
        Ref::Op(_) => Some(0),
        Ref::Text(text) => {
            let mut scanner = foldproof::json::Scanner::new(2);
            let text = std::str::from_utf8(text.bytes()).ok()?;
            let scan = scanner.scan(text.as_bytes()).ok()?;
            scan.fault.is_none().then(|| scan.root().as_uint()).flatten()
        }
    }
}

/// One finding as canonical JSON text.
pub(crate) fn finding_text(rule: &str, class: &str, line: u64, seq: &str) -> String {
    format!("{{\"rule\":\"{rule}\",\"class\":\"{class}\",\"line\":{line},\"seq\":{seq}}}")
}

/// A verdict as canonical JSON text. Findings at one place may come in any order, so they are sorted.
pub(crate) fn verdict_text(events: u64, mut findings: Vec<String>) -> String {
    findings.sort();
    format!("{{\"events\":{events},\"findings\":[{}]}}", findings.join(","))
}
