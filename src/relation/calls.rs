//! Where messages name calls: blocks that request one, results that answer one.

use crate::json::{Str, Value};

/// The `tool-call` blocks of an assistant message, in order.
pub(crate) fn requested(message: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let content = message.get("content");
    content
        .into_iter()
        .flat_map(Value::elements)
        .filter(|block| block.get("type").and_then(Value::as_str).is_some_and(|kind| kind.is("tool-call")))
}

/// The id of a requested call, where it has a usable one (PAIR-4).
pub(crate) fn id(block: Value<'_>) -> Option<Str<'_>> {
    block.get("id").and_then(Value::as_str).filter(|id| !id.is_empty())
}

/// The id of the call that a result message answers.
pub(crate) fn answered(message: Value<'_>) -> Option<Str<'_>> {
    let named = message.path(&["source", "callId"]).or_else(|| message.get("toolCallId"));
    named.and_then(Value::as_str)
}
