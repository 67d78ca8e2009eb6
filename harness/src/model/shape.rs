//! Message and header shapes (section 6).

use super::Dialect;
use super::event::Event;
use super::rules::Mode;
use super::tree::Value;

/// The SHAPE rule that an event breaks.
pub(crate) fn fault(event: &Event, dialect: Dialect, mode: Mode) -> Option<&'static str> {
    match dialect {
        // The teaching shape asks only that the message and its content exist.
        Dialect::Tutorial => {
            let content = event.message().and_then(|message| message.get("content"));
            (event.is_surface_type() && content.is_none()).then_some("SHAPE-1")
        }
        Dialect::DshV0 => match event.kind.as_str() {
            "user/message" | "assistant/message" | "tool/result" => message(event, mode),
            "request/header" => (!header(event)).then_some("SHAPE-4"),
            "turn/start" | "turn/end" => {
                let data = event.at("data");
                let good = data.is_some_and(|data| {
                    data.members().is_some() && (event.is("turn/start") || data.has_only(&["turn", "reason"]))
                });
                (!good).then_some("SHAPE-8")
            }
            _ => None,
        },
    }
}

fn is_named(value: Option<Value<'_>>) -> bool {
    value.and_then(Value::name).is_some()
}

/// SHAPE-7, then SHAPE-1, SHAPE-2, SHAPE-3.
fn message(event: &Event, mode: Mode) -> Option<&'static str> {
    let Some(message) = event.message().filter(|message| message.members().is_some()) else {
        return Some("SHAPE-1");
    };
    if message.get("id").is_none() && message.get("role").is_none() {
        // The released reader migrates this shape and asks nothing more of it.
        return mode.applies("SHAPE-7").then_some("SHAPE-7");
    }
    let role = if event.is("assistant/message") { "assistant" } else { "user" };
    let content = message.get("content").and_then(Value::items);
    let good = is_named(message.get("id"))
        && message.get("role").is_some_and(|value| value.is(role))
        && is_named(message.at("source.kind"))
        && content.is_some();
    if !good {
        return Some("SHAPE-1");
    }
    let source_is = |kind: &str| message.at("source.kind").is_some_and(|value| value.is(kind));
    let named = |path: &str| is_named(message.at(path));
    match event.kind.as_str() {
        "assistant/message" => {
            let good = source_is("model") && named("source.provider") && named("source.model");
            (!good).then_some("SHAPE-2")
        }
        "tool/result" => {
            let blocks = content.unwrap_or_default();
            let call = message.at("source.callId").and_then(Value::name);
            let good = source_is("tool")
                && call.is_some()
                && blocks.len() == 1
                && blocks[0].get("type").is_some_and(|kind| kind.is("tool-result"))
                && blocks[0].get("toolCallId").and_then(Value::units) == call
                && blocks[0].get("content").is_some_and(|content| content.items().is_some());
            (!good).then_some("SHAPE-3")
        }
        _ => None,
    }
}

/// SHAPE-4.
fn header(event: &Event) -> bool {
    let Some(config) = event.at("data.header.config").filter(|config| config.members().is_some()) else {
        return false;
    };
    let marks = |marks: Value<'_>| {
        marks.has_only(&["reasoningEffort", "maxTokens"])
            && ["reasoningEffort", "maxTokens"]
                .iter()
                .all(|key| marks.get(key).is_none_or(|mark| mark.is_true() && config.get(key).is_some()))
    };
    is_named(config.get("provider"))
        && is_named(config.get("model"))
        && config.get("reasoningEffort").is_none_or(|effort| effort.name().is_some())
        && event.at("data.header.adapterDefaults").is_none_or(marks)
}
