//! A case: a replayable program of operations on sessions, as plain data.
//!
//! A case is the only thing that crosses between generators and properties. It is the *resolved* form: where an
//! operation needs the seq of an event, it names the operation whose append made that event, so that operations can
//! be taken out ([`Case::without`]) and what remains still means what it meant.

mod inline;
mod names;
mod op;
mod payload;
mod read;
mod refs;
mod resolve;
mod spot;
mod tamper;
mod write;

pub use op::{
    Append, Behaviour, Call, Encoding, Inherited, LogSource, Mutation, Op, RequestSource, Sources, StepOf,
    SurfaceOp, Tampering, View,
};
pub use payload::{Payload, Piece, Template};
pub use refs::Ref;
pub use resolve::resolve;
pub(crate) use resolve::{dumped, elements, seq_of, with_value};
pub use spot::CaseError;
pub use tamper::tamper;

/// The version of the case format that this build writes and reads.
pub const FORMAT: u64 = 1;
/// The version of the contract that this build checks.
pub const CONTRACT: u64 = 1;

/// A replayable program, where it came from, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Name of the dialect: `dsh-v0`, `tutorial`, …
    pub dialect: String,
    /// The system under test: `core`, `store`, `driver`, `adapter:NAME`, …
    pub system: String,
    /// The property that the case is about, when it is about one.
    pub property: Option<String>,
    /// The rule that a faulty case breaks: its last refused operation is refused under it.
    pub rule: Option<String>,
    /// The campaign's seed, when the case was generated.
    pub seed: Option<u64>,
    /// Its number in the campaign.
    pub index: Option<u64>,
    /// The program.
    pub ops: Vec<Op>,
    /// A schedule for systems that interleave, as JSON text; this build keeps it and does not read it.
    pub schedule: Option<String>,
    /// Faults for systems that can fail, as JSON text; this build keeps it and does not read it.
    pub faults: Option<String>,
    /// What the property said on the system, when that was recorded.
    pub outcome: Option<Recorded>,
}

impl Case {
    /// A case that is nothing but a program for the core.
    pub fn new(dialect: &str, ops: Vec<Op>) -> Case {
        Case {
            dialect: dialect.to_owned(),
            system: "core".to_owned(),
            property: None,
            rule: None,
            seed: None,
            index: None,
            ops,
            schedule: None,
            faults: None,
            outcome: None,
        }
    }

    /// Reads a case.
    pub fn parse(text: &[u8]) -> Result<Case, CaseError> {
        read::case(text)
    }

    /// Its text: JSON, the same for the same case, one operation on a line.
    pub fn to_bytes(&self) -> Vec<u8> {
        write::case(self)
    }

    /// One ASCII word, `fp1:` and base64url, for a command line.
    pub fn to_inline(&self) -> String {
        inline::to_inline(self)
    }

    /// Reads the inline form.
    pub fn from_inline(text: &str) -> Result<Case, CaseError> {
        inline::from_inline(text)
    }
}

impl Op {
    /// Its JSON, as it stands in a case file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write::op(&mut out, self);
        out
    }
}

/// How a property ended on a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Nothing to report.
    Passed,
    /// The property is falsified.
    Failed,
    /// What had to be refused was refused, but under another rule.
    RefusedOtherwise,
    /// The system does not claim to check the rule.
    NotClaimed,
    /// The system cannot run the case.
    Skipped,
    /// The system did not answer as the protocol wants.
    AdapterBroken,
    /// The same case gave two traces.
    Nondeterministic,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 7] = [
        Status::Passed,
        Status::Failed,
        Status::RefusedOtherwise,
        Status::NotClaimed,
        Status::Skipped,
        Status::AdapterBroken,
        Status::Nondeterministic,
    ];

    /// The name used in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::RefusedOtherwise => "refused-otherwise",
            Status::NotClaimed => "not-claimed",
            Status::Skipped => "skipped",
            Status::AdapterBroken => "adapter-broken",
            Status::Nondeterministic => "nondeterministic",
        }
    }

    /// The status with this name.
    pub fn from_name(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// What a property said about a case, as it is recorded in the case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// How it ended.
    pub status: Status,
    /// The property, when one is falsified.
    pub property: Option<String>,
    /// The rule of the contract.
    pub rule: Option<String>,
    /// The operation, by its place in the case.
    pub op: Option<u64>,
    /// What is wrong, in a sentence.
    pub message: Option<String>,
    /// What was expected, around the first difference.
    pub expected: Option<String>,
    /// What was found there.
    pub got: Option<String>,
}

impl Recorded {
    /// Nothing to report.
    pub fn passed() -> Recorded {
        Recorded {
            status: Status::Passed,
            property: None,
            rule: None,
            op: None,
            message: None,
            expected: None,
            got: None,
        }
    }
}
