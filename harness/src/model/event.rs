//! One event: its place in the file and its envelope as a tree.

use super::tree::{Tree, Value};
use std::sync::{Arc, OnceLock};

/// What an event does to the surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    /// The event is not on the surface.
    None,
    /// SURF-4: the event stands at the tail.
    Append,
    /// SURF-5: the event takes the place of an inclusive span.
    Replace(u64, u64),
}

/// One event of a log. Before it is admitted, nothing but its place is certain.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// The line of the file, the header included; 0 for an event that was never in a file.
    pub(crate) line: u64,
    /// The number of events before it.
    pub(crate) seq: u64,
    /// The type, empty when it is not a string.
    pub(crate) kind: String,
    /// The first JSON fault of its line.
    pub(crate) fault: Option<&'static str>,
    /// JSON-7: whether the line is spelled otherwise than in canonical bytes.
    pub(crate) respelled: bool,
    tree: Arc<Tree>,
    /// Its canonical bytes, once somebody asked: an event never changes.
    spelled: Arc<OnceLock<String>>,
}

impl Event {
    pub(crate) fn new(
        line: u64,
        seq: u64,
        tree: Tree,
        fault: Option<&'static str>,
        respelled: bool,
    ) -> Event {
        let kind = tree.value().get("type").and_then(Value::units).map(String::from_utf16_lossy);
        Event {
            line,
            seq,
            kind: kind.unwrap_or_default(),
            fault,
            respelled,
            tree: Arc::new(tree),
            spelled: Arc::default(),
        }
    }

    pub(crate) fn whole(&self) -> Value<'_> {
        self.tree.value()
    }

    /// The canonical bytes of the whole event.
    pub(crate) fn canonical(&self) -> &str {
        self.spelled.get_or_init(|| self.whole().canonical())
    }

    /// The value at a dotted path from the envelope.
    pub(crate) fn at(&self, path: &str) -> Option<Value<'_>> {
        self.whole().at(path)
    }

    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind == kind
    }

    /// Whether the type is one of the three that can be on the surface.
    pub(crate) fn is_surface_type(&self) -> bool {
        ["user/message", "assistant/message", "tool/result"].contains(&self.kind.as_str())
    }

    /// The message that the projection extracts: `data` of a user message, `data.message` of the other two.
    pub(crate) fn message(&self) -> Option<Value<'_>> {
        match self.kind.as_str() {
            "user/message" => self.at("data"),
            "assistant/message" | "tool/result" => self.at("data.message"),
            _ => None,
        }
    }

    /// The surface operation; an ill-formed one is no operation (SURF-2 is checked by `admit`).
    pub(crate) fn op(&self) -> Op {
        let Some(op) = self.at("surfaceOp") else { return Op::None };
        if op.is("append") {
            return Op::Append;
        }
        let span = (op.get("start").and_then(Value::natural), op.get("end").and_then(Value::natural));
        match span {
            (Some(start), Some(end))
                if op.has_exactly(&["op", "start", "end"])
                    && op.get("op").is_some_and(|op| op.is("replace")) =>
            {
                Op::Replace(start, end)
            }
            _ => Op::None,
        }
    }

    pub(crate) fn sources(&self) -> Option<Vec<u64>> {
        self.at("sourceEventSeqs").and_then(Value::naturals)
    }

    /// PROJ-1: an assistant message with empty content only anchors usage and is not shown.
    pub(crate) fn is_empty_assistant(&self) -> bool {
        self.is("assistant/message")
            && self.at("data.message.content").and_then(Value::items).is_some_and(|items| items.is_empty())
    }

    /// PROJ-1: the one function from event to message.
    pub(crate) fn projected(&self) -> Option<String> {
        if self.is_empty_assistant() { None } else { self.message().map(Value::canonical) }
    }
}
