//! Systems: what can run a case.
//!
//! A system gets a whole case and answers with its outcomes in the adapter protocol's form. It starts afresh for
//! every case. An operation that it refuses is an outcome, not a failure.

use crate::case::Case;

/// Something that runs cases.
pub trait System {
    /// `core`, `model`, `adapter:NAME`, …
    fn name(&self) -> String;

    /// Its version.
    fn version(&self) -> String;

    /// Runs a whole case on fresh state. One step for every operation, in order.
    fn run(&mut self, case: &Case) -> Trace;
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
