//! SURF-8: the checks of one event, in order; the first failure is its verdict.

use super::Dialect;
use super::event::{Event, Op};
use super::rules::Mode;
use super::shape;
use super::surface::Surface;
use super::text::{self, Order};
use super::tree::Value;

/// ENV-1: the members of an envelope.
const MEMBERS: [&str; 7] = ["type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable"];

/// VOCAB-3: retired types.
pub(crate) const RETIRED: [&str; 2] = ["request/header-delta", "mode/set"];

/// The rule that keeps an event out of a log with these events, or nothing.
pub(crate) fn refuse(event: &Event, before: &[Event], dialect: Dialect, mode: Mode) -> Option<&'static str> {
    event
        .fault
        .or_else(|| envelope(event))
        .or_else(|| retired(event).then_some("VOCAB-3"))
        .or_else(|| shape::fault(event, dialect, mode))
        .or_else(|| {
            (event.at("seq").and_then(Value::natural) != Some(before.len() as u64)).then_some("ENV-3")
        })
        .or_else(|| surface(event, before, dialect))
}

/// ENV-1, ENV-2.
fn envelope(event: &Event) -> Option<&'static str> {
    if !event.whole().has_only(&MEMBERS) {
        return Some("ENV-1");
    }
    let good = event.at("type").is_some_and(|kind| kind.units().is_some())
        && event.at("seq").is_some_and(|seq| seq.natural().is_some())
        && event.at("time").is_some_and(|time| time.safe().is_some())
        && event.at("data").is_some()
        && event.at("ignorable").is_none_or(Value::is_true);
    (!good).then_some("ENV-2")
}

fn retired(event: &Event) -> bool {
    RETIRED.contains(&event.kind.as_str())
        || (event.is("request/header") && event.at("data.reason").is_some_and(|reason| reason.is("fallback")))
}

/// SURF-1, SURF-2, SURF-5, SURF-3, SURF-6, SURF-7.
fn surface(event: &Event, before: &[Event], dialect: Dialect) -> Option<&'static str> {
    let (op, sources) = (event.at("surfaceOp"), event.at("sourceEventSeqs"));
    if !event.is_surface_type() {
        return (op.is_some() || sources.is_some()).then_some("SURF-1");
    }
    if op.is_none() {
        return Some("SURF-1");
    }
    let op = event.op();
    if op == Op::None {
        return Some("SURF-2");
    }
    let mut shadowed = Vec::new();
    if let Op::Replace(start, end) = op {
        match Surface::fold(before).span(start, end) {
            Some(span) => shadowed = span,
            None => return Some("SURF-5"),
        }
    }
    let cited = event.sources();
    if sources.is_some() {
        let Some(cited) = &cited else { return Some("SURF-3") };
        let distinct = cited.iter().enumerate().all(|(index, seq)| !cited[..index].contains(seq));
        let earlier = cited.iter().all(|seq| *seq < event.seq);
        if !distinct || !earlier || (cited.is_empty() && !event.is("assistant/message")) {
            return Some("SURF-3");
        }
    }
    let cited = cited.unwrap_or_default();
    if shadowed.iter().any(|seq| !cited.contains(seq)) {
        return Some("SURF-6");
    }
    if event.is("tool/result") && !shadowed.is_empty() {
        let alone = match shadowed[..] {
            [seq] => &before[seq as usize],
            _ => return Some("SURF-7"),
        };
        let alike =
            alone.is("tool/result") && without_content(alone, dialect) == without_content(event, dialect);
        return (!alike).then_some("SURF-7");
    }
    None
}

/// SURF-7: the data with the content that may differ taken out, in an order that does not depend on the writer.
fn without_content(event: &Event, dialect: Dialect) -> Option<String> {
    let content = match dialect {
        Dialect::Tutorial => event.at("data.message.content"),
        Dialect::DshV0 => {
            let blocks = event.at("data.message.content").and_then(Value::items);
            blocks.and_then(|blocks| blocks.first().and_then(|block| block.get("content")))
        }
    };
    event.at("data").map(|data| text::print(data, Order::Sorted, content.map(|content| content.place)))
}
