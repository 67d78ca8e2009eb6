//! Raw ops: what a case intends, before anything exists that it could speak of.
//!
//! A raw op is a kind and a handful of bytes of its own. Whatever it needs to choose, a session, a node, a text, it
//! chooses with those bytes among what exists when it is resolved, so every list of raw ops is runnable, and a change
//! of one op changes nothing in the bytes of the others.

/// Bytes of choices in one raw op.
pub const CHOICES: usize = 28;

/// What a raw op intends. Resolving adds what has to stand before it: a turn, a step, a header, answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A user message.
    User,
    /// A few chunks of the stream in the open step.
    Chunks,
    /// An assistant message over what was streamed, or of its own.
    Reply,
    /// An assistant message with tool calls.
    Calls,
    /// A tool call starts.
    Start,
    /// A tool call is answered.
    Answer,
    /// The open step ends, or one begins.
    Step,
    /// The open turn ends, or a whole turn without steps passes.
    Turn,
    /// A failed attempt and a retry inside the step.
    Retry,
    /// The turn is aborted where it stands.
    Abort,
    /// A request header.
    Header,
    /// A request context.
    Context,
    /// A todo list.
    Todo,
    /// An inbox splice.
    Inbox,
    /// A title, a hook, a command: an extension event that says nothing to a model.
    Extension,
    /// A replace of a balanced span by a user message.
    Replace,
    /// An assistant message, rewritten in place.
    Reword,
    /// A tool result, rewritten.
    Rewrite,
    /// A whole compaction: bracket, summary, checkpoint.
    Compact,
    /// A compaction bracket that opens and is left open.
    Bracket,
    /// A fork.
    Fork,
    /// Dump, then restore under another name, then go on there.
    Resume,
    /// A session opened from the events of another one.
    Seed,
    /// A log is restored that also holds events which append does not know.
    Foreign,
    /// What stands open is closed by repair.
    Repair,
    /// A projection is asked for.
    View,
    /// The log is dumped.
    Dump,
    /// A request goes through the gate.
    Gate,
    /// An observer is registered, or asked what it saw.
    Observe,
    /// The caller changes what it handed over or was given.
    Mutate,
    /// The op breaks one rule.
    Fault,
}

/// All kinds, in the order of the swarm's weights.
pub const KINDS: [Kind; 31] = [
    Kind::User,
    Kind::Chunks,
    Kind::Reply,
    Kind::Calls,
    Kind::Start,
    Kind::Answer,
    Kind::Step,
    Kind::Turn,
    Kind::Retry,
    Kind::Abort,
    Kind::Header,
    Kind::Context,
    Kind::Todo,
    Kind::Inbox,
    Kind::Extension,
    Kind::Replace,
    Kind::Reword,
    Kind::Rewrite,
    Kind::Compact,
    Kind::Bracket,
    Kind::Fork,
    Kind::Resume,
    Kind::Seed,
    Kind::Foreign,
    Kind::Repair,
    Kind::View,
    Kind::Dump,
    Kind::Gate,
    Kind::Observe,
    Kind::Mutate,
    Kind::Fault,
];

/// One intention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw {
    /// What it intends.
    pub kind: Kind,
    /// What it chooses with.
    pub choices: [u8; CHOICES],
}

/// A case before it is resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawCase {
    /// How values come out.
    pub values: super::values::Values,
    /// Chunks in one burst at most.
    pub burst: usize,
    /// Whether the last ops also compare all sessions by every path.
    pub paths: bool,
    /// The ops.
    pub ops: Vec<Raw>,
}
