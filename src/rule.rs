//! The rules of the contract as data: id, class, kind, stage of the released reader, and the law in one line.

use std::fmt;

/// How bad a finding is; stronger classes order higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Legal but worth a line.
    Note,
    /// Torn tail or open turn at the end: recovery applies.
    Repairable,
    /// Each event is admissible, together they break a relation.
    Relation,
    /// An event that the contract does not admit.
    Reject,
    /// Storage damage inside the committed region.
    Corrupt,
    /// Intact, but written for another version or vocabulary.
    Unsupported,
}

impl Class {
    /// The name used in reports.
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

    /// All classes, strongest first.
    pub const ALL: [Class; 6] =
        [Class::Unsupported, Class::Corrupt, Class::Reject, Class::Relation, Class::Repairable, Class::Note];
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Who can break a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaker {
    /// A log or a call: the rule has an accepted and a violating example.
    Input,
    /// Only an implementation: the rule has a property and a planted bug.
    Behaviour,
}

/// Where the released reader of a dialect enforces a rule, if it does (contract, section 16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Opening and reading the stored file.
    Provider,
    /// The live session and its invariant companion.
    Publish,
    /// Released, but in neither stage.
    Elsewhere,
    /// Ours only.
    Ours,
}

impl Stage {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Provider => "provider",
            Stage::Publish => "publish",
            Stage::Elsewhere => "elsewhere",
            Stage::Ours => "ours",
        }
    }
}

/// What is known of a rule, apart from dialects.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The stable id, such as `SURF-5`.
    pub id: &'static str,
    /// The class of its findings, unless a place in the contract says otherwise.
    pub class: Class,
    /// Who can break it.
    pub breaker: Breaker,
    /// The law in one line.
    pub law: &'static str,
    /// What a person can do about a finding; empty where the law says it all.
    pub help: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $class:ident $breaker:ident $law:literal $help:literal;)*) => {
        /// A rule of the contract.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $(#[doc = concat!("`", $id, "`: ", $law)] $name,)* }

        impl Rule {
            /// Every rule, in the order of the contract.
            pub const ALL: &'static [Rule] = &[$(Rule::$name,)*];

            /// The rule's facts.
            pub fn info(self) -> &'static Info {
                const INFOS: &[Info] = &[$(Info {
                    id: $id, class: Class::$class, breaker: Breaker::$breaker, law: $law, help: $help,
                },)*];
                &INFOS[self as usize]
            }
        }
    };
}

rules! {
    Json1 "JSON-1" Reject Input "numbers are finite" "write a number whose double is finite";
    Json2 "JSON-2" Reject Input "no negative zero in any spelling" "write 0";
    Json3 "JSON-3" Reject Input "no number is rounded by parsing it" "write the shortest spelling of the double, or put the digits in a string";
    Json4 "JSON-4" Reject Input "text is UTF-8; a lone surrogate is written as an escape and kept" "";
    Json5 "JSON-5" Reject Input "nesting is bounded by a configured depth" "raise --limit-depth if the log is legitimate";
    Json6 "JSON-6" Reject Input "an object does not repeat a key" "keep one of the members: a parser keeps only the last";
    Json7 "JSON-7" Note Input "legal but not in canonical spelling" "`foldproof convert` writes canonical bytes";
    Store1 "STORE-1" Corrupt Input "the first line is a whole, well-typed session header" "a log can be read only with a valid header; `foldproof explain` says what is left";
    Store2 "STORE-2" Unsupported Input "the header's version is compared before anything else is interpreted" "";
    Store3 "STORE-3" Corrupt Input "every committed record is an object with the next seq" "`foldproof repair` cuts a torn tail; `--salvage` keeps the longest valid prefix of a corrupt log";
    Store4 "STORE-4" Corrupt Input "invalid UTF-8 is damage, never replaced by U+FFFD" "`foldproof repair` cuts a torn tail; `--salvage` keeps the longest valid prefix of a corrupt log";
    Store5 "STORE-5" Corrupt Input "a last line without its newline was never committed" "`foldproof repair` cuts it; a live log is legal with --allow repairable";
    Store6 "STORE-6" Corrupt Input "blank lines, a byte-order mark and NUL bytes are damage" "`foldproof repair` cuts a torn tail; `--salvage` keeps the longest valid prefix of a corrupt log";
    Store7 "STORE-7" Corrupt Behaviour "a durable writer appends, syncs, and restores the length on failure" "";
    Store8 "STORE-8" Relation Input "seedLength is at most the number of events" "";
    Store9 "STORE-9" Corrupt Behaviour "listing a store survives damaged artifacts and names them" "";
    Codec1 "CODEC-1" Corrupt Input "a packed row is exactly a run of delta chunks" "";
    Codec2 "CODEC-2" Corrupt Behaviour "unpack(pack(x)) = x, byte-identical; only recognized shapes are packed" "";
    Codec3 "CODEC-3" Corrupt Input "a compressed log is whole Zstandard frames, the first holding exactly the header line" "`foldproof repair` cuts a torn last frame; of other damage `foldproof explain` says what is left";
    Codec4 "CODEC-4" Corrupt Behaviour "ids become path segments injectively, without traversal" "";
    Env1 "ENV-1" Reject Input "an event has exactly the members type, seq, time, data and the optional surfaceOp, sourceEventSeqs, ignorable" "put further facts into data";
    Env2 "ENV-2" Reject Input "envelope members are well-typed" "";
    Env3 "ENV-3" Reject Input "seq equals the number of events before it" "";
    Vocab1 "VOCAB-1" Unsupported Input "an unknown type that is not ignorable refuses the log" "read it with the harness that wrote it; its writer may mark the event ignorable";
    Vocab2 "VOCAB-2" Unsupported Behaviour "an unknown ignorable event is kept and influences no projection" "";
    Vocab3 "VOCAB-3" Reject Input "retired vocabulary is refused on append and on load" "do not write it any more; in place of a header delta stands a full request/header";
    Surf1 "SURF-1" Reject Input "surface events carry surfaceOp, no other event carries surfaceOp or sourceEventSeqs" "";
    Surf2 "SURF-2" Reject Input "surfaceOp is append or an exact replace" "";
    Surf3 "SURF-3" Reject Input "sourceEventSeqs are distinct earlier seqs, not empty" "";
    Surf4 "SURF-4" Reject Behaviour "append puts the event at the tail of the surface" "";
    Surf5 "SURF-5" Reject Input "a replace spans current surface nodes, start not behind end in surface order" "start and end name the first and the last node to be shadowed, as they stand on the surface";
    Surf6 "SURF-6" Reject Input "a replace cites every node it shadows" "add the missing seqs to sourceEventSeqs";
    Surf7 "SURF-7" Reject Input "a tool/result replace rewrites only the content of one current tool/result" "";
    Surf8 "SURF-8" Reject Behaviour "an event is checked in a fixed order, and one that fails changes nothing" "";
    Shape1 "SHAPE-1" Reject Input "a message has id, role, source and content" "";
    Shape2 "SHAPE-2" Reject Input "an assistant message comes from a model with provider and model" "";
    Shape3 "SHAPE-3" Reject Input "a tool result is one tool-result block of its own call" "";
    Shape4 "SHAPE-4" Reject Input "a request header has a well-formed config and marks only fields it has" "";
    Shape5 "SHAPE-5" Reject Behaviour "members not named are kept verbatim and never interpreted" "";
    Shape6 "SHAPE-6" Relation Input "message ids on the surface are distinct" "";
    Shape7 "SHAPE-7" Reject Input "a message without id and role is the shape used before messages had identities" "the released reader migrates it while reading; `--reader` checks what it accepts";
    Shape8 "SHAPE-8" Reject Input "data of turn/start and turn/end is an object, of turn/end with only turn and reason" "";
    Proj1 "PROJ-1" Reject Behaviour "one pure function from event to message" "";
    Proj2 "PROJ-2" Reject Behaviour "the history is that function over the surface in surface order" "";
    Proj3 "PROJ-3" Reject Behaviour "a cached projection is byte-identical to a fresh fold" "";
    Proj4 "PROJ-4" Reject Behaviour "a returned history never changes" "";
    Proj5 "PROJ-5" Reject Behaviour "the transcript is the same function over append-origin events in log order" "";
    Proj6 "PROJ-6" Reject Behaviour "events off the surface never change the history" "";
    Proj7 "PROJ-7" Reject Behaviour "folding is incremental" "";
    Req1 "REQ-1" Reject Behaviour "request/header is a full snapshot; its canonical form has four members" "";
    Req2 "REQ-2" Reject Behaviour "the header in force is the latest snapshot" "";
    Req3 "REQ-3" Reject Behaviour "the rebuilt request is config, messages, system, tools at the dispatch boundary" "";
    Req4 "REQ-4" Reject Behaviour "rebuilding is path-independent" "";
    Req5 "REQ-5" Reject Behaviour "the gate stops any request that the log does not rebuild" "";
    Req6 "REQ-6" Reject Behaviour "the gate runs outermost" "";
    Req7 "REQ-7" Reject Behaviour "without replace or header change, earlier messages are a byte prefix of later ones" "";
    Life1 "LIFE-1" Relation Input "turns do not nest, are numbered 1, 2, 3, and end with no step open" "";
    Life2 "LIFE-2" Relation Input "steps lie in their turn, do not nest, and are numbered 1, 2, 3" "";
    Life3 "LIFE-3" Relation Input "chunks, assistant messages, calls and results name the open turn and step" "";
    Life4 "LIFE-4" Relation Input "todo/write, request/header, request/context and result rewrites need an open turn" "";
    Life5 "LIFE-5" Relation Input "turn/end has a known reason with its members" "";
    Pair1 "PAIR-1" Relation Input "an appended tool/result closes a call that tool/call opened in its step" "";
    Pair2 "PAIR-2" Relation Input "results follow their assistant message directly, one per call" "put nothing between a call and its results, and replace all of them or none";
    Pair3 "PAIR-3" Relation Input "a step does not end while a call is unanswered" "";
    Pair4 "PAIR-4" Relation Input "call ids within one assistant message are non-empty and distinct" "";
    Pair5 "PAIR-5" Note Input "an assistant message cites exactly the chunks it was assembled from" "";
    Seed1 "SEED-1" Reject Behaviour "constructing from events checks what appending them checks" "";
    Seed2 "SEED-2" Reject Behaviour "a seeded session appends one end-seed marker, and reopening never grows it" "";
    Seed3 "SEED-3" Reject Behaviour "a session rebuilt from its own events is the same session" "";
    Fork1 "FORK-1" Reject Behaviour "a fork takes the inclusive prefix up to a boundary" "";
    Fork2 "FORK-2" Reject Behaviour "fork errors have codes" "";
    Fork3 "FORK-3" Relation Behaviour "the child's header records its parent and keeps what decides how its history is read" "";
    Fork4 "FORK-4" Relation Behaviour "the child's history equals the parent's at the boundary" "";
    Live1 "LIVE-1" Reject Behaviour "append takes a snapshot" "";
    Live2 "LIVE-2" Reject Behaviour "append is synchronous and atomic" "";
    Live3 "LIVE-3" Reject Behaviour "observers run after commit, in order, each isolated" "";
    Live4 "LIVE-4" Reject Behaviour "an append from inside an observer is refused" "";
    Live5 "LIVE-5" Reject Behaviour "an earlier snapshot of the event list does not grow" "";
    Live6 "LIVE-6" Reject Behaviour "flush is the durability barrier" "";
    Live7 "LIVE-7" Reject Behaviour "whatever append admits, load admits" "";
    Inbox1 "INBOX-1" Relation Input "a splice lies within its list as it stands" "";
    Inbox2 "INBOX-2" Relation Input "a message is pending at most once" "";
    Inbox3 "INBOX-3" Relation Behaviour "inherited events do not fill the inbox" "";
    Inbox4 "INBOX-4" Relation Behaviour "the splice is committed before the live lists change" "";
    Comp1 "COMP-1" Relation Input "a compaction bracket has one id, is alone, and lies inside its turn or between turns" "";
    Comp2 "COMP-2" Relation Input "a bracket that succeeds has one well-formed summary" "";
    Comp3 "COMP-3" Relation Input "a checkpoint stands directly behind its summary and shadows exactly its seqs" "";
    Comp4 "COMP-4" Relation Input "a bracket whose process is gone is stale: nothing continues it" "";
    Comp5 "COMP-5" Relation Input "a prune stands directly before the replace it prices" "";
    Repair1 "REPAIR-1" Repairable Behaviour "a balanced log gets nothing" "";
    Repair2 "REPAIR-2" Repairable Input "an open turn at the end is closed with synthetic events" "`foldproof repair` closes it; a live log is legal with --allow repairable";
    Repair3 "REPAIR-3" Repairable Behaviour "synthetic results say whether the call was started, with a derived id" "";
    Repair4 "REPAIR-4" Repairable Behaviour "repairing twice changes nothing more, and nothing committed is removed" "";
    Repair5 "REPAIR-5" Repairable Behaviour "after a crash the log is a prefix holding everything flushed" "";
    Repair6 "REPAIR-6" Relation Input "repair never emits what load refuses: a call without an id cannot be answered" "";
    Loop1 "LOOP-1" Reject Behaviour "session, agent and capability events are three domains" "";
    Loop2 "LOOP-2" Reject Behaviour "input reaches the driver only through the inbox" "";
    Loop3 "LOOP-3" Reject Behaviour "agent/pre-step decides what enters; a rejection leaves a turn" "";
    Loop4 "LOOP-4" Reject Behaviour "every finished provider call leaves exactly one assistant/message" "";
    Loop5 "LOOP-5" Reject Behaviour "what the model is to see must become an event" "";
}

impl Rule {
    /// The stable id.
    pub fn id(self) -> &'static str {
        self.info().id
    }

    /// The area: the id without its number.
    pub fn area(self) -> &'static str {
        let id = self.id();
        id.split_once('-').map_or(id, |(area, _)| area)
    }

    /// The rule with this id, in any case of letters.
    pub fn from_id(id: &str) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|rule| rule.id().eq_ignore_ascii_case(id))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A set of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleSet(u128);

impl RuleSet {
    /// No rule.
    pub const EMPTY: RuleSet = RuleSet(0);

    /// Whether `rule` is in the set.
    #[inline]
    pub fn has(self, rule: Rule) -> bool {
        self.0 >> (rule as u32) & 1 == 1
    }

    /// The set with `rule`.
    #[must_use]
    pub const fn with(self, rule: Rule) -> RuleSet {
        RuleSet(self.0 | 1 << (rule as u32))
    }

    /// The set without `rule`.
    #[must_use]
    pub const fn without(self, rule: Rule) -> RuleSet {
        RuleSet(self.0 & !(1 << (rule as u32)))
    }

    /// The rules in the set, in the order of the contract.
    pub fn iter(self) -> impl Iterator<Item = Rule> {
        Rule::ALL.iter().copied().filter(move |rule| self.has(*rule))
    }
}

impl FromIterator<Rule> for RuleSet {
    fn from_iter<T: IntoIterator<Item = Rule>>(rules: T) -> Self {
        rules.into_iter().fold(RuleSet::EMPTY, RuleSet::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_step() {
        assert!(Rule::ALL.len() <= 128, "a rule set has 128 bits");
        for (place, rule) in Rule::ALL.iter().enumerate() {
            assert_eq!(*rule as usize, place);
            assert_eq!(Rule::from_id(&rule.id().to_lowercase()), Some(*rule));
        }
    }
}
