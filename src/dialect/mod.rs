//! What differs between dialects, as data that the engine reads. Nothing in the engine knows a dialect's name.

mod builtin;
mod load;

pub use builtin::{by_name, by_version, dsh_v0, names, tutorial};
pub use load::{DialectError, from_json};

use crate::rule::{Rule, RuleSet, Stage};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// One dialect of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Dialect {
    /// Its name, as in reports.
    pub name: String,
    /// The header line; nothing where the log has none.
    pub header: Option<HeaderSpec>,
    /// Whether runs of chunks may be stored as packed rows (CODEC-1).
    pub packed_rows: bool,
    /// The spelling of a replace (SURF-2).
    pub replace: ReplaceSpelling,
    /// Types that can be on the surface.
    pub surface: Vec<SurfaceType>,
    /// What other types mean to the folds.
    pub roles: BTreeMap<String, Role>,
    /// Vocabulary that is refused (VOCAB-3).
    pub retired: Vec<Retired>,
    /// Types that the build knows (VOCAB-1).
    pub vocabulary: Vec<String>,
    /// What becomes of an unknown type.
    pub unknown: UnknownPolicy,
    /// How an inherited prefix is marked.
    pub seed: SeedSpec,
    /// What a request is rebuilt from (REQ-1, REQ-3); nothing where the dialect has no request header.
    pub request: RequestSpec,
    /// Reasons of a `turn/end` (LIFE-5).
    pub reasons: Vec<ReasonSpec>,
    /// What recovery writes (REPAIR-2, REPAIR-3).
    pub repair: RepairSpec,
    /// Which rules hold, and at which stage the released reader enforces each. A rule that is absent is not enforced.
    pub rules: BTreeMap<Rule, Stage>,
    /// Whether a released reader exists that `--reader` can answer for.
    pub released: bool,
    /// The types by name, once they were looked up; a new dialect starts with the default.
    pub index: Index,
}

impl Dialect {
    /// The table of its types. It is made once, so a dialect that was used is changed in a copy only.
    pub fn types(&self) -> Arc<Types> {
        Arc::clone(self.index.0.get_or_init(|| Arc::new(Types::new(self))))
    }
}

/// Where a dialect keeps its table of types. A copy of a dialect makes its own, because a copy is there to be changed.
#[derive(Debug, Default)]
pub struct Index(OnceLock<Arc<Types>>);

impl Clone for Index {
    fn clone(&self) -> Self {
        Index::default()
    }
}

/// What is looked up is no part of what a dialect is.
impl PartialEq for Index {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The header line (STORE-1, STORE-2).
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderSpec {
    /// What `version` must be.
    pub version: u64,
    /// Members that must be there.
    pub required: Vec<(String, HeaderShape)>,
    /// Members that may be there.
    pub optional: Vec<(String, HeaderShape)>,
    /// Members that were retired and are refused.
    pub retired: Vec<String>,
    /// Whether members not named here are refused.
    pub exact: bool,
}

/// What a header member holds.
#[derive(Clone, Debug, PartialEq)]
pub enum HeaderShape {
    /// A number.
    Number,
    /// A string, possibly empty.
    Text,
    /// A string that is not empty.
    Name,
    /// A safe integer that is not negative.
    Count,
    /// An absolute path, POSIX or Windows form.
    AbsolutePath,
    /// A boolean.
    Flag,
    /// One of these strings.
    OneOf(Vec<String>),
}

/// How a replace names its span.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplaceSpelling {
    /// The member naming the first node.
    pub start: String,
    /// The member naming the last node.
    pub end: String,
    /// Whether other members are refused.
    pub exact: bool,
}

/// A type of event that can be on the surface.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceType {
    /// The event type.
    pub kind: String,
    /// Its part in the conversation.
    pub part: Part,
    /// Where in `data` the message is; empty for `data` itself.
    pub message: Vec<String>,
    /// What the message must look like.
    pub shape: MessageShape,
    /// Whether an empty `sourceEventSeqs` means something (SURF-3).
    pub empty_sources: bool,
}

/// The part that a surface event plays for the folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Said to the model: user input and anything else that only speaks.
    Input,
    /// Said by the model; may hold calls. Empty content projects to nothing.
    Output,
    /// The answer to a call.
    Result,
}

/// What a message must look like (SHAPE).
#[derive(Clone, Debug, PartialEq)]
pub struct MessageShape {
    /// `id`, `source` and array `content` are required (SHAPE-1); without it, message and `content` only must exist.
    pub identified: bool,
    /// What `role` must be, where it is checked.
    pub role: Option<String>,
    /// What `source.kind` must be, where it is fixed.
    pub source_kind: Option<String>,
    /// Members of `source` that must be non-empty strings.
    pub source_members: Vec<String>,
    /// For results, how they name their call.
    pub result: ResultShape,
}

/// How a result message carries its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultShape {
    /// Not a result, or nothing is checked. A rewrite may change `content` of the message.
    Plain,
    /// `content` is one block `{"type":"tool-result","toolCallId","content":[…]}`; a rewrite may change its `content`.
    Block,
    /// The message has `toolCallId` and direct `content`; a rewrite may change that.
    Direct,
}

/// What a type means to the folds. Types without a role are carried along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `turn/start`
    TurnStart,
    /// `turn/end`
    TurnEnd,
    /// `step/start`
    StepStart,
    /// `step/end`
    StepEnd,
    /// `assistant/chunk`
    Chunk,
    /// `tool/call`
    Call,
    /// `request/header`
    RequestHeader,
    /// `request/context` and others that only need an open turn
    InTurn,
    /// `session/end-seed`
    EndSeed,
    /// `agent/inbox/spliced`
    Inbox,
    /// `compaction/start`
    CompactionStart,
    /// `compaction/summary`
    CompactionSummary,
    /// `compaction/end`
    CompactionEnd,
    /// `compaction/prune`
    CompactionPrune,
    /// `llm/retry-started`
    RetryStarted,
    /// On the surface: the index of its [`SurfaceType`].
    Surface(u8),
    /// Nothing to the folds.
    Other,
}

/// Refused vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct Retired {
    /// The event type.
    pub kind: String,
    /// Only when `data` has this member with this value.
    pub when: Option<(String, String)>,
}

/// What becomes of an event whose type is not in the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownPolicy {
    /// Refused unless it is marked `ignorable: true`.
    UnlessIgnorable,
    /// Refused whatever it is marked.
    Refuse,
    /// Kept whatever it is marked.
    Keep,
}

/// How a log says which of its events were inherited.
#[derive(Clone, Debug, PartialEq)]
pub struct SeedSpec {
    /// The header member that counts them, where there is one.
    pub length: Option<String>,
    /// The member of a marker's `data` that tags it as the end of what was inherited, where there is one.
    pub tag: Option<String>,
    /// Whether a session built from a seed appends a marker (SEED-2).
    pub marker: bool,
}

/// What a request is rebuilt from.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestSpec {
    /// Members of the canonical header behind `config`, in order (REQ-1).
    pub members: Vec<HeaderMember>,
    /// Members of `config` that `adapterDefaults` may mark (SHAPE-4).
    pub defaults: Vec<String>,
}

/// A member of the canonical request header.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderMember {
    /// Its name.
    pub name: String,
    /// When it is there.
    pub when: HeaderWhen,
    /// Whether the rebuilt request carries it, behind `messages`.
    pub in_request: bool,
}

/// When a header member counts as present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderWhen {
    /// A string or array of positive length.
    NotEmpty,
    /// An object that marks something.
    Marks,
}

/// A reason of a `turn/end`.
#[derive(Clone, Debug, PartialEq)]
pub struct ReasonSpec {
    /// `reason.kind`
    pub kind: String,
    /// A member that must be an object, and its members that must be strings.
    pub needs: Option<(String, Vec<String>)>,
}

/// What recovery writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairSpec {
    /// Error results for unanswered calls (else only step and turn are closed).
    pub results: bool,
}

/// Which of the dialect's rules count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// All of them: the contract.
    Strict,
    /// Those that the released reader enforces up to a stage.
    Released(Stage),
}

impl Dialect {
    /// The rules that count in a reading.
    pub fn enforced(&self, reading: Reading) -> RuleSet {
        let counts = |stage: Stage| match reading {
            Reading::Strict => true,
            Reading::Released(up_to) => !self.released || stage <= up_to,
        };
        self.rules.iter().filter(|(_, stage)| counts(**stage)).map(|(rule, _)| *rule).collect()
    }

    /// The surface type with this name.
    pub fn surface_type(&self, kind: &str) -> Option<&SurfaceType> {
        self.surface.iter().find(|surface| surface.kind == kind)
    }
}

/// A dialect made ready for lookups by event type.
#[derive(Clone, Debug)]
pub struct Types {
    sorted: Vec<Type>,
}

/// What the dialect knows of one event type.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its name.
    pub name: Box<[u8]>,
    /// What it means to the folds.
    pub role: Role,
    /// In the vocabulary.
    pub known: bool,
    /// Refused, always or under a condition.
    pub retired: bool,
}

impl Types {
    /// The table of a dialect.
    pub fn new(dialect: &Dialect) -> Self {
        let mut table: BTreeMap<&str, Type> = BTreeMap::new();
        let surface = dialect.surface.iter().enumerate();
        let roles = surface
            .map(|(place, surface)| (surface.kind.as_str(), Role::Surface(place as u8)))
            .chain(dialect.roles.iter().map(|(kind, role)| (kind.as_str(), *role)));
        for (kind, role) in roles {
            table.entry(kind).or_insert_with(|| entry(kind)).role = role;
        }
        for kind in &dialect.vocabulary {
            table.entry(kind).or_insert_with(|| entry(kind)).known = true;
        }
        for retired in &dialect.retired {
            let known = table.entry(&retired.kind).or_insert_with(|| entry(&retired.kind));
            known.retired = true;
            // A retired type is refused under VOCAB-3 and never called unknown.
            known.known = true;
        }
        Types { sorted: table.into_values().collect() }
    }

    /// The entry of a type, by its canonical inner text.
    pub fn find(&self, name: &[u8]) -> Option<(u16, &Type)> {
        let place = self.sorted.binary_search_by(|entry| (*entry.name).cmp(name)).ok()?;
        Some((place as u16, &self.sorted[place]))
    }

    /// The entry at a place that [`Types::find`] gave.
    pub fn get(&self, place: u16) -> Option<&Type> {
        self.sorted.get(usize::from(place))
    }
}

fn entry(kind: &str) -> Type {
    Type { name: kind.as_bytes().into(), role: Role::Other, known: false, retired: false }
}
