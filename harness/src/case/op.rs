//! Operations: those of the adapter protocol.

use super::payload::{Payload, Template};
use super::refs::Ref;

/// One operation on one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// The handle by which the case names the session; also its id where no header names another.
    pub session: String,
    /// What is done.
    pub call: Call,
}

impl Op {
    /// An operation on a session.
    pub fn new(session: impl Into<String>, call: Call) -> Op {
        Op { session: session.into(), call }
    }
}

/// What is done with a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Opens a session: an empty one, or one constructed from a seed (SEED-1, SEED-2; an empty list is a seed).
    Open {
        /// The header line; without one a plain header is made of the handle.
        header: Option<Payload>,
        /// The events that it is constructed from.
        inherited: Option<Inherited>,
    },
    /// Appends an event.
    Append(Append),
    /// Asks for a projection.
    View {
        /// Which one.
        view: View,
        /// As it stood after this event; beyond the end, at the end.
        at: Option<Ref>,
        /// The request of one step (`request` only).
        step: Option<StepOf>,
    },
    /// Forks the session.
    Fork {
        /// The last inherited event; by default all are.
        boundary: Option<Ref>,
        /// Handle and id of the child.
        child: String,
    },
    /// Loads a log as a session under this handle.
    Restore {
        /// The log.
        log: LogSource,
        /// How it is stored.
        encoding: Encoding,
    },
    /// Writes the session's log.
    Dump {
        /// Whether runs of chunks become rows.
        packed: bool,
        /// How it is stored.
        encoding: Encoding,
    },
    /// Closes what stands open, by appending synthetic events.
    Repair,
    /// Compares a request with the one that the log rebuilds.
    CheckRequest {
        /// The request.
        request: RequestSource,
    },
    /// Registers an observer of appends.
    Observe {
        /// What it does when it is called.
        behaviour: Behaviour,
    },
    /// The seqs that observers saw, in order.
    Observed,
    /// Tries to change what was handed in or out.
    Mutate {
        /// What is changed.
        what: Mutation,
    },
}

impl Call {
    /// A view of the session as it stands.
    pub fn view(view: View) -> Call {
        Call::View { view, at: None, step: None }
    }

    /// The name in the adapter protocol.
    pub fn name(&self) -> &'static str {
        match self {
            Call::Open { .. } => "open",
            Call::Append(_) => "append",
            Call::View { view, .. } => view.name(),
            Call::Fork { .. } => "fork",
            Call::Restore { .. } => "restore",
            Call::Dump { .. } => "dump",
            Call::Repair => "repair",
            Call::CheckRequest { .. } => "check_request",
            Call::Observe { .. } => "observe",
            Call::Observed => "observed",
            Call::Mutate { .. } => "mutate",
        }
    }
}

/// The event of an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Append {
    /// The type.
    pub kind: String,
    /// `data`, as JSON text.
    pub data: Template,
    /// `surfaceOp`.
    pub surface_op: Option<SurfaceOp>,
    /// `sourceEventSeqs`.
    pub sources: Option<Sources>,
    /// `time`, in epoch milliseconds.
    pub time: i64,
}

/// What an event does to the surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SurfaceOp {
    /// Stands at the tail.
    Append,
    /// Takes the place of a span.
    Replace {
        /// First node of the span.
        start: Ref,
        /// Last node of the span.
        end: Ref,
    },
    /// JSON text that is perhaps neither.
    Text(Payload),
}

/// The cited events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sources {
    /// A list of seqs.
    Seqs(Vec<Ref>),
    /// JSON text that is perhaps no such list.
    Text(Payload),
}

/// The events of a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inherited {
    /// Lines of events, as JSON text.
    Events(Vec<Payload>),
    /// What an earlier `events` operation answered: a session that is constructed again.
    Op(usize),
}

/// A stored log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogSource {
    /// Its bytes.
    Bytes(Payload),
    /// What an earlier `dump` operation answered.
    Dump(usize),
}

/// A request to be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestSource {
    /// Its JSON text.
    Text(Payload),
    /// What an earlier `request` operation answered, with one change.
    Tampered {
        /// That operation, by its place in the case.
        op: usize,
        /// The change.
        how: Tampering,
    },
}

/// One change to a request. Places are taken modulo what there is; a change that finds nothing changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tampering {
    /// No change.
    None,
    /// Another value for the member at this place, `messages` excepted.
    ChangeMember(u64),
    /// The member at this place is taken out.
    RemoveMember(u64),
    /// A member that the log does not have is put in front of the member at this place.
    AddMember(u64),
    /// The member at this place and the next change places.
    MoveMember(u64),
    /// The member at this place gets another name.
    RenameMember(u64),
    /// One message (first number) differs in one byte of a string or number (second number).
    ChangeMessage(u64, u64),
    /// One message is taken out.
    DropMessage(u64),
    /// One message stands twice.
    DoubleMessage(u64),
    /// One message and the next change places.
    SwapMessages(u64),
}

/// A projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum View {
    /// The array of events.
    Events,
    /// The surface with its replacements.
    Surface,
    /// The model history.
    Messages,
    /// The human transcript.
    Transcript,
    /// The request header in force.
    Header,
    /// The rebuilt request.
    Request,
    /// The pending messages.
    Inbox,
}

impl View {
    /// All of them.
    pub const ALL: [View; 7] = [
        View::Events,
        View::Surface,
        View::Messages,
        View::Transcript,
        View::Header,
        View::Request,
        View::Inbox,
    ];

    /// The name in the adapter protocol.
    pub fn name(self) -> &'static str {
        match self {
            View::Events => "events",
            View::Surface => "surface",
            View::Messages => "messages",
            View::Transcript => "transcript",
            View::Header => "header",
            View::Request => "request",
            View::Inbox => "inbox",
        }
    }

    /// The view with this name.
    pub fn from_name(name: &str) -> Option<View> {
        View::ALL.into_iter().find(|view| view.name() == name)
    }
}

/// A step, by its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOf {
    /// The turn's number.
    pub turn: u64,
    /// The step's number.
    pub step: u64,
    /// 1 for the first try.
    pub attempt: u64,
}

/// How a log is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Text.
    Plain,
    /// Zstandard frames.
    Zstd,
}

/// What an observer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Records.
    Record,
    /// Records and fails.
    Throw,
    /// Records and tries to append to the same session.
    Reenter,
}

/// What `mutate` tries to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// The bytes of the last append.
    Input,
    /// The list of events that was handed out.
    Events,
    /// The histories that were handed out.
    Messages,
}
