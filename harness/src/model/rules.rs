//! The rules as data: classes, stages, findings.

/// Verdict classes, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// Legal but worth a line.
    Note,
    /// A torn tail or an open turn at the end.
    Repairable,
    /// Each event is admissible, but together they break a relation.
    Relation,
    /// An event that the contract does not admit.
    Reject,
    /// Storage damage inside the committed region.
    Corrupt,
    /// Intact, but written for another version or vocabulary.
    Unsupported,
}

impl Class {
    /// The class as it is written in a verdict.
    pub fn name(self) -> &'static str {
        match self {
            Class::Note => "note",
            Class::Repairable => "repairable",
            Class::Relation => "relation",
            Class::Reject => "reject",
            Class::Corrupt => "corrupt",
            Class::Unsupported => "unsupported",
        }
    }
}

/// Which reader is asked (section 16).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Every rule of the contract.
    Strict,
    /// What release 0.1.1 checks when it opens and reads a stored file.
    Provider,
    /// The same and what its live session and invariant companion check.
    Publish,
}

/// The rules of the stage `provider`.
const PROVIDER: [&str; 25] = [
    "STORE-1", "STORE-2", "STORE-3", "STORE-5", "STORE-6", "CODEC-1", "CODEC-3", "VOCAB-1", "VOCAB-3",
    "ENV-1", "ENV-2", "ENV-3", "SURF-1", "SURF-2", "SURF-3", "SURF-5", "SURF-6", "SURF-7", "SHAPE-1",
    "SHAPE-2", "SHAPE-3", "SHAPE-4", "SHAPE-8", "REPAIR-2", "REPAIR-6",
];

/// What the stage `publish` adds.
const PUBLISH: [&str; 5] = ["LIFE-1", "LIFE-2", "LIFE-3", "LIFE-4", "PAIR-1"];

impl Mode {
    /// Whether a rule is applied at all.
    pub(crate) fn applies(self, rule: &str) -> bool {
        match self {
            Mode::Strict => true,
            Mode::Provider => PROVIDER.contains(&rule),
            Mode::Publish => PROVIDER.contains(&rule) || PUBLISH.contains(&rule),
        }
    }
}

/// One broken rule and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The id of the rule.
    pub rule: &'static str,
    /// How bad it is here.
    pub class: Class,
    /// The line of the file from 1; the header counts.
    pub line: u64,
    /// The event, where there is one.
    pub seq: Option<u64>,
}

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// `accept`, or the name of the strongest class; notes never count.
    pub verdict: &'static str,
    /// The number of events that were folded.
    pub events: u64,
    /// Every finding in the order of lines, notes included.
    pub findings: Vec<Finding>,
}

/// The verdict over findings.
pub(crate) fn verdict(findings: &[Finding]) -> &'static str {
    let strongest = findings.iter().map(|finding| finding.class).filter(|class| *class != Class::Note).max();
    strongest.map_or("accept", Class::name)
}

/// Why a call was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The rule, where one is broken.
    pub rule: Option<&'static str>,
    /// What a person reads.
    pub message: String,
}

impl Refusal {
    pub(crate) fn rule(rule: &'static str) -> Refusal {
        Refusal { rule: Some(rule), message: format!("{rule} is broken") }
    }
}
