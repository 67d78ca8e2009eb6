//! Requests (section 8).

use super::event::Event;
use super::surface;
use super::tree::Value;
use super::{parse, text};

/// The members of an object that is built, with values in canonical bytes.
type Members = Vec<(Vec<u16>, String)>;

/// Sets a member as an assignment does: a member that is there keeps its place.
fn set(members: &mut Members, key: &[u16], value: String) {
    match members.iter_mut().find(|(name, _)| name == key) {
        Some(member) => member.1 = value,
        None => members.push((key.to_vec(), value)),
    }
}

fn print(members: &Members) -> String {
    let keys: Vec<&[u16]> = members.iter().map(|(key, _)| &key[..]).collect();
    let member = |index: usize| format!("{}:{}", text::quote(keys[index]), members[index].1);
    let parts: Vec<String> = text::own_key_order(&keys).into_iter().map(member).collect();
    format!("{{{}}}", parts.join(","))
}

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

/// REQ-2: the header in force is the latest snapshot.
fn latest(events: &[Event]) -> Option<Value<'_>> {
    events.iter().rev().find(|event| event.is("request/header"))?.at("data.header")
}

/// REQ-1: a system or tools member counts only when it is a string or array of positive length.
fn positive<'a>(header: Value<'a>, key: &str) -> Option<Value<'a>> {
    let value = header.get(key)?;
    let filled = value.name().is_some() || value.items().is_some_and(|items| !items.is_empty());
    filled.then_some(value)
}

/// REQ-1: the canonical header, or `null`.
pub(crate) fn header(events: &[Event]) -> String {
    let Some(header) = latest(events) else { return "null".to_owned() };
    let mut members = Members::new();
    let mut put = |key: &str, value: Option<Value<'_>>| {
        if let Some(value) = value {
            set(&mut members, &units(key), value.canonical());
        }
    };
    let marks = header.get("adapterDefaults");
    put("config", header.get("config"));
    put("adapterDefaults", marks.filter(|marks| marks.members().is_some_and(|marks| !marks.is_empty())));
    put("system", positive(header, "system"));
    put("tools", positive(header, "tools"));
    print(&members)
}

/// REQ-3: the members of the request that these events, up to its boundary, describe.
fn members(events: &[Event]) -> Option<Members> {
    let header = latest(events)?;
    let mut members = Members::new();
    for (key, value) in header.get("config").and_then(Value::members).unwrap_or_default() {
        set(&mut members, key, value.canonical());
    }
    set(&mut members, &units("messages"), surface::messages(events));
    for key in ["system", "tools"] {
        if let Some(value) = positive(header, key) {
            set(&mut members, &units(key), value.canonical());
        }
    }
    Some(members)
}

/// REQ-3: the request at the end of these events, or `null`.
pub(crate) fn at_end(events: &[Event]) -> String {
    members(events).map_or_else(|| "null".to_owned(), |members| print(&members))
}

/// The number of events before the request of a step's attempt was dispatched.
pub(crate) fn boundary(events: &[Event], turn: u64, step: u64, attempt: u64) -> Option<usize> {
    let is = |event: &Event, path: &str, number: u64| {
        event.at(path).and_then(Value::number) == Some(number as f64)
    };
    let start = events.iter().rposition(|event| {
        event.is("step/start") && is(event, "data.turn", turn) && is(event, "data.step", step)
    })?;
    let closes = |event: &Event| event.is("step/end") || event.is("turn/end");
    let end = events[start..].iter().position(closes).map_or(events.len(), |length| start + length);
    // Attempt 1 begins at the step's start, attempt k > 1 at the step's (k-1)-th `llm/retry-started`.
    let retries = (start + 1..end).filter(|index| events[*index].is("llm/retry-started"));
    let begin = std::iter::once(start).chain(retries).nth(usize::try_from(attempt.checked_sub(1)?).ok()?)?;
    let dispatched = |index: &usize| {
        ["assistant/chunk", "assistant/message", "llm/retry-started"].contains(&events[*index].kind.as_str())
    };
    Some((begin + 1..end).find(dispatched).unwrap_or(end))
}

/// REQ-5: the first member in which a request differs from the rebuilt one.
pub(crate) fn desync(events: &[Event], request: &str) -> Option<String> {
    let Some(rebuilt) = members(events) else { return Some("header".to_owned()) };
    let parsed = parse::parse(request);
    let Some(given) = parsed.as_ref().and_then(|parsed| parsed.tree.value().members()) else {
        return Some("request".to_owned());
    };
    // A key that is repeated takes its last value, as every parser reads it.
    let lookup =
        |key: &[u16]| given.iter().rev().find(|(name, _)| *name == key).map(|(_, value)| value.canonical());
    let keys: Vec<&[u16]> = rebuilt.iter().map(|(key, _)| &key[..]).collect();
    let changed = text::own_key_order(&keys)
        .into_iter()
        .map(|index| &rebuilt[index])
        .find(|(key, value)| lookup(key).as_ref() != Some(value))
        .map(|(key, _)| &key[..]);
    let added = || given.iter().map(|(key, _)| *key).find(|key| !keys.contains(key));
    // The same members in another order are other bytes; the first one that stands elsewhere is named.
    let moved = || {
        let mut once: Vec<&[u16]> = Vec::new();
        for (key, _) in &given {
            if !once.contains(key) {
                once.push(key);
            }
        }
        let places = text::own_key_order(&once).into_iter().zip(text::own_key_order(&keys));
        let mut pairs = places.map(|(found, want)| (once[found], keys[want]));
        pairs.find(|(found, want)| found != want).map(|(found, _)| found)
    };
    changed.or_else(added).or_else(moved).map(String::from_utf16_lossy)
}
