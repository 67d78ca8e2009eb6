//! Compaction brackets and prunes (section 13).

use super::Breach;
use super::life::{self, Place};
use crate::model::event::{Event, Op};
use crate::model::surface::Surface;
use crate::model::tree::Value;

/// An open bracket.
struct Bracket {
    id: Option<String>,
    turn: Option<String>,
    /// Its summary, where there is one.
    summary: Option<u64>,
}

fn canonical(event: &Event, path: &str) -> Option<String> {
    event.at(path).map(Value::canonical)
}

/// COMP-1 to COMP-4.
pub(crate) fn brackets(events: &[Event]) -> Vec<Breach<'_>> {
    let mut found = Vec::new();
    let mut place = Place::start();
    let mut surface = Surface::default();
    let mut open: Option<Bracket> = None;
    // COMP-4: the ids of brackets whose process is gone.
    let mut stale: Vec<Option<String>> = Vec::new();
    for event in events {
        surface.apply(event);
        let id = canonical(event, "data.compactionId");
        match event.kind.as_str() {
            "compaction/start" => {
                let lies_well = match event.at("data.turn") {
                    Some(turn) if turn.is_null() => place.turn.is_none(),
                    Some(_) => place.names_turn(event),
                    None => false,
                };
                let named = event.at("data.compactionId").is_some_and(|id| id.units().is_some());
                if open.is_some() || !lies_well || !named {
                    found.push(("COMP-1", event));
                }
                open = Some(Bracket { id, turn: canonical(event, "data.turn"), summary: None });
            }
            "compaction/end" => match open.take() {
                Some(bracket) => {
                    if bracket.id != id || bracket.turn != canonical(event, "data.turn") {
                        // The end is not this bracket's, so it says nothing of its summary.
                        found.push(("COMP-1", event));
                    } else if bracket.summary.is_none() && event.at("data.error").is_none() {
                        found.push(("COMP-2", event));
                    }
                }
                None => found.push((if stale.contains(&id) { "COMP-4" } else { "COMP-1" }, event)),
            },
            "compaction/summary" => match &mut open {
                Some(bracket) => {
                    if bracket.summary.is_some() || bracket.id != id || !is_summary(event) {
                        found.push(("COMP-2", event));
                    }
                    bracket.summary = Some(event.seq);
                }
                None => found.push((if stale.contains(&id) { "COMP-4" } else { "COMP-2" }, event)),
            },
            "turn/end" if life::ends_as(event, "interrupted") => {
                stale.extend(open.take().map(|open| open.id))
            }
            "session/end-seed" => stale.extend(open.take().map(|open| open.id)),
            "turn/start" | "turn/end" => found.extend(open.take().map(|_| ("COMP-1", event))),
            "user/message" => {
                let shadowed = match event.op() {
                    Op::Replace(..) => surface.replacements.last().map(|last| &last.shadowed),
                    _ => None,
                };
                if let (Some(shadowed), Some(id)) = (shadowed, checkpoint(event))
                    && !follows_summary(event, events, open.as_ref(), &id, shadowed)
                {
                    found.push(("COMP-3", event));
                }
            }
            _ => {}
        }
        place.advance(event);
    }
    found
}

/// The bracket that a checkpoint message belongs to.
fn checkpoint(event: &Event) -> Option<String> {
    let plugin = event.at("data.source.kind").is_some_and(|kind| kind.is("plugin"));
    canonical(event, "data.source.compactionId").filter(|_| plugin)
}

/// COMP-2: the members that a summary needs.
fn is_summary(event: &Event) -> bool {
    let Some(seqs) = event.at("data.shadowedSeqs").and_then(Value::items) else { return false };
    let (Some(first), Some(last)) = (seqs.first(), seqs.last()) else { return false };
    let range = event.at("data.shadowedRange");
    range.is_some_and(|range| range.has_exactly(&["start", "end"]))
        && canonical(event, "data.shadowedRange.start") == Some(first.canonical())
        && canonical(event, "data.shadowedRange.end") == Some(last.canonical())
        && event.at("data.shadowedTokenCount").is_some_and(|count| count.natural().is_some())
}

/// COMP-3: directly behind the summary of its own open bracket, over exactly the seqs that it names.
fn follows_summary(
    event: &Event,
    events: &[Event],
    open: Option<&Bracket>,
    id: &String,
    shadowed: &[u64],
) -> bool {
    let Some(before) = event.seq.checked_sub(1).map(|seq| &events[seq as usize]) else { return false };
    open.is_some_and(|bracket| bracket.id.as_ref() == Some(id) && bracket.summary == Some(before.seq))
        && canonical(before, "data.compactionId").as_ref() == Some(id)
        && before.at("data.shadowedSeqs").and_then(Value::naturals).is_some_and(|seqs| seqs == shadowed)
}

/// COMP-5: a prune stands directly before the replace it prices.
pub(crate) fn prunes(events: &[Event]) -> Vec<Breach<'_>> {
    let mut found = Vec::new();
    for (index, event) in events.iter().enumerate() {
        if !event.is("compaction/prune") {
            continue;
        }
        // At the end of the log nothing can be said yet.
        let behind = &events[index + 1..];
        let fine = behind.is_empty()
            || prices(event, &events[..=index], &behind[0])
            || behind[0].is("session/end-seed")
            || is_interrupted(behind);
        if !fine {
            found.push(("COMP-5", event));
        }
    }
    found
}

/// Whether a prune names the span of the replace behind it.
fn prices(prune: &Event, before: &[Event], next: &Event) -> bool {
    let Op::Replace(start, end) = next.op() else { return false };
    let named = |path: &str| prune.at(path).and_then(Value::natural);
    named("data.shadowedRange.start") == Some(start)
        && named("data.shadowedRange.end") == Some(end)
        && prune.at("data.shadowedSeqs").and_then(Value::naturals) == Surface::fold(before).span(start, end)
}

/// Whether the turn was interrupted here: only what a repair appends stands before its end, or the log stops there.
fn is_interrupted(behind: &[Event]) -> bool {
    let closes = |event: &&Event| {
        let code = event.at("data.error.code");
        let synthetic =
            code.is_some_and(|code| code.is("TOOL_NOT_STARTED") || code.is("TOOL_OUTCOME_UNKNOWN"));
        event.is("tool/result") && synthetic
    };
    let mut rest = behind.iter().skip_while(closes).peekable();
    rest.next_if(|event| event.is("step/end"));
    rest.next().is_none_or(|event| life::ends_as(event, "interrupted"))
}
