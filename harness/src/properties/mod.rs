//! Properties: laws with ids over a trace. No randomness, no files, no panics.
//!
//! A property sees a case, what the system under test did with it, and what the model did. Where that is not enough
//! it lets the same system run *derived* cases: the same operations with questions woven in or put behind. So every
//! property works for every system, and none knows how cases are generated.

mod context;
mod fork;
mod json;
mod labels;
mod live;
mod model;
mod pack;
mod prefix;
mod projection;
mod redact;
mod repair;
mod request;
mod surface;
mod vocab;
mod weave;

pub use context::Context;
pub use labels::{LABELS, labels};

use crate::case::{Recorded, Status};
use crate::systems::compare::excerpt;

/// A law.
#[derive(Debug)]
pub struct Property {
    /// Its stable id.
    pub id: &'static str,
    /// The rules of the contract that it is about; none for the law of a tool.
    pub rules: &'static [&'static str],
    /// What it costs.
    pub cost: Cost,
    /// The law, in one line.
    pub law: &'static str,
    /// Looks for a violation.
    pub check: fn(&Context<'_>) -> Result<Applied, Violation>,
}

/// What a property costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// It looks at the trace: ask it for every case.
    EveryCase,
    /// It runs derived cases: ask it for one case in so many.
    Sampled(u64),
}

/// How often a property had a chance in a case. A property that never has one proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Applied(pub u64);

/// A law that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The operation, by its place in the case.
    pub op: usize,
    /// The rule of the contract.
    pub rule: &'static str,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub got: String,
    /// Both refuse, under different rules: a softer finding.
    pub refused_otherwise: bool,
}

impl Violation {
    /// A violation at an operation.
    pub fn new(op: usize, rule: &'static str, message: impl Into<String>) -> Violation {
        Violation {
            op,
            rule,
            message: message.into(),
            expected: String::new(),
            got: String::new(),
            refused_otherwise: false,
        }
    }

    /// With what was expected and what was found.
    pub fn between(self, expected: impl Into<String>, got: impl Into<String>) -> Violation {
        Violation { expected: expected.into(), got: got.into(), ..self }
    }

    /// How a case file records it: the texts cut around their first difference.
    pub fn recorded(&self, property: &Property) -> Recorded {
        let status = if self.refused_otherwise { Status::RefusedOtherwise } else { Status::Failed };
        let (expected, got) = excerpt(&self.expected, &self.got);
        let both = !self.expected.is_empty() || !self.got.is_empty();
        Recorded {
            status,
            property: Some(property.id.to_owned()),
            rule: Some(self.rule.to_owned()),
            op: Some(self.op as u64),
            message: Some(self.message.clone()),
            expected: both.then_some(expected),
            got: both.then_some(got),
        }
    }
}

/// The property with this id.
pub fn by_id(id: &str) -> Option<&'static Property> {
    TABLE.iter().find(|property| property.id == id)
}

/// All properties. The first violation in this order is the one that is reported, so that what is most specific comes
/// first and the comparison with the model, which sees everything, comes last.
pub static TABLE: &[Property] = &[
    Property {
        id: "system-answers",
        rules: &["LIVE-2"],
        cost: Cost::EveryCase,
        law: "whatever a system is asked, it answers or refuses: it does not crash, hang or babble",
        check: live::system_answers,
    },
    Property {
        id: "held-stays",
        rules: &["PROJ-3", "PROJ-4", "LIVE-1", "LIVE-5"],
        cost: Cost::EveryCase,
        law: "what was handed out never changes, whatever happens to the log or to what the caller holds",
        check: live::held_stays,
    },
    Property {
        id: "seq-contiguous",
        rules: &["ENV-3"],
        cost: Cost::EveryCase,
        law: "every event that is committed gets the number of events before it as its seq",
        check: live::seq_contiguous,
    },
    Property {
        id: "refused-names-its-rule",
        rules: &["SURF-8"],
        cost: Cost::EveryCase,
        law: "a faulty operation is refused, under the rule that it breaks and no other, and nothing else is",
        check: live::refused_names_its_rule,
    },
    Property {
        id: "refused-changes-nothing",
        rules: &["LIVE-2", "SURF-8"],
        cost: Cost::Sampled(16),
        law: "an operation that is refused leaves every projection byte-identical",
        check: live::refused_changes_nothing,
    },
    Property {
        id: "cached-equals-fresh",
        rules: &["PROJ-3", "PROJ-7", "REQ-2", "SURF-5"],
        cost: Cost::Sampled(16),
        law: "a projection asked of a live session equals that of a session loaded afresh from the same events",
        check: surface::cached_equals_fresh,
    },
    Property {
        id: "replay-from-events",
        rules: &["SEED-1", "SEED-2", "SEED-3", "LIVE-7"],
        cost: Cost::Sampled(32),
        law: "a session rebuilt from its log, or from its own events, has the same projections",
        check: surface::replay_from_events,
    },
    Property {
        id: "fork-equals-prefix",
        rules: &["FORK-1", "FORK-3", "FORK-4"],
        cost: Cost::Sampled(32),
        law: "a fork's projections equal those of its parent's events up to the boundary, and its header says whence",
        check: fork::fork_equals_prefix,
    },
    Property {
        id: "fork-is-apart",
        rules: &["FORK-4"],
        cost: Cost::Sampled(32),
        law: "what happens to a fork does not change its parent",
        check: fork::fork_is_apart,
    },
    Property {
        id: "request-path-independent",
        rules: &["REQ-2", "REQ-3", "REQ-4"],
        cost: Cost::Sampled(32),
        law: "a request is the same from the live session, the file, a packed or compressed file, a fork and a resume",
        check: request::path_independent,
    },
    Property {
        id: "gate-catches-tamper",
        rules: &["REQ-5"],
        cost: Cost::Sampled(64),
        law: "any one change to a rebuilt request is stopped, and the unchanged request passes",
        check: request::gate_catches_tamper,
    },
    Property {
        id: "request-prefix-extends",
        rules: &["REQ-7"],
        cost: Cost::Sampled(64),
        law: "without a replace or a header change between them, a request's messages begin with those of the one before",
        check: prefix::request_prefix_extends,
    },
    Property {
        id: "transcript-ignores-replace",
        rules: &["PROJ-1", "PROJ-5"],
        cost: Cost::Sampled(32),
        law: "the transcript is the messages of the appended nodes in log order, and no replacement shows in it",
        check: projection::transcript_ignores_replace,
    },
    Property {
        id: "log-only-invisible",
        rules: &["PROJ-2", "PROJ-6"],
        cost: Cost::Sampled(32),
        law: "events that are not on the surface never change what a model is shown, wherever they stand",
        check: projection::log_only_invisible,
    },
    Property {
        id: "unknown-required-refused",
        rules: &["VOCAB-1"],
        cost: Cost::Sampled(32),
        law: "a log with an event of an unknown type that is not ignorable is refused as a whole",
        check: vocab::unknown_required_refused,
    },
    Property {
        id: "ignorable-invisible",
        rules: &["VOCAB-2"],
        cost: Cost::Sampled(32),
        law: "an unknown ignorable event is kept, keeps its seq, and changes no projection",
        check: vocab::ignorable_invisible,
    },
    Property {
        id: "pack-roundtrip",
        rules: &["CODEC-1", "CODEC-2", "CODEC-3"],
        cost: Cost::Sampled(32),
        law: "packed, compressed and plain logs of a session hold the same events, byte for byte",
        check: pack::pack_roundtrip,
    },
    Property {
        id: "repair-balances",
        rules: &["REPAIR-1", "REPAIR-2", "REPAIR-3", "REPAIR-6"],
        cost: Cost::Sampled(32),
        law: "repair adds events behind those there are, at the time of the last, closes the open turn, and no more",
        check: repair::balances,
    },
    Property {
        id: "repair-idempotent",
        rules: &["REPAIR-4"],
        cost: Cost::Sampled(32),
        law: "repairing twice changes nothing more",
        check: repair::idempotent,
    },
    Property {
        id: "verdict-equals-model",
        rules: &["LIFE-1", "PAIR-1", "INBOX-1", "COMP-1", "STORE-3"],
        cost: Cost::Sampled(64),
        law: "the checker finds in every log of the case what the model finds: the same rules at the same places",
        check: model::verdict_equals_model,
    },
    Property {
        id: "redact-keeps-verdict",
        rules: &[],
        cost: Cost::Sampled(64),
        law: "a redacted log has the verdict and the findings of the log that it was made of, notes aside",
        check: redact::keeps_verdict,
    },
    Property {
        id: "system-equals-model",
        rules: &[
            "PROJ-2", "SURF-4", "SURF-8", "SHAPE-5", "REQ-1", "REQ-3", "FORK-2", "LIVE-3", "LIVE-4",
            "INBOX-3",
        ],
        cost: Cost::Sampled(8),
        law: "every outcome equals the model's, refusals included",
        check: model::system_equals_model,
    },
];
