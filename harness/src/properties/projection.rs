//! Laws of projections (PROJ).

use super::weave::Weave;
use super::{Applied, Context, Violation, json};
use crate::case::{Append, Call, Case, LogSource, Op, Piece, Ref, Sources, SurfaceOp, View};
use crate::systems::{Trace, compare};
use foldproof::json::{Kind, Value};
use std::collections::BTreeMap;

/// The transcript, derived once more from the events alone.
pub(super) fn transcript_ignores_replace(context: &Context<'_>) -> Result<Applied, Violation> {
    let epilogue = context.epilogue();
    let mut chances = 0;
    for finale in &epilogue.sessions {
        let (events, said) =
            (epilogue.view(&finale.live, View::Events), epilogue.view(&finale.live, View::Transcript));
        let (Some(events), Some(said)) = (events, said) else { continue };
        let messages = json::with(events, |root| root.elements().filter_map(told).collect::<Vec<_>>());
        let expected = format!("[{}]", messages.unwrap_or_default().join(","));
        chances += u64::from(events.contains("\"op\":\"replace\""));
        if said != expected {
            let message = "the transcript is not the messages of the appended nodes in log order";
            return Err(Violation::new(finale.ended.last, "PROJ-5", message).between(expected, said));
        }
    }
    Ok(Applied(chances))
}

/// PROJ-1 for an event that was appended to the surface.
fn told(event: Value<'_>) -> Option<String> {
    let is =
        |name: &str, text: &str| event.get(name).and_then(Value::as_str).is_some_and(|value| value.is(text));
    if !is("surfaceOp", "append") {
        return None;
    }
    let data = event.get("data")?;
    let message = if is("type", "user/message") { data } else { data.get("message")? };
    let content = message.get("content");
    let empty =
        content.is_some_and(|content| content.kind() == Kind::Array && content.elements().next().is_none());
    (!(is("type", "assistant/message") && empty)).then(|| json::own(message))
}

/// Events off the surface, put between all operations, change nothing that a model or a person is shown.
pub(super) fn log_only_invisible(context: &Context<'_>) -> Result<Applied, Violation> {
    if !is_movable(context.case, context.trace) {
        return Ok(Applied(0));
    }
    // Both payloads look like messages: what is off the surface is not looked into.
    let (kind, data) = match context.case.dialect.as_str() {
        "tutorial" => ("todo/write", r#"{"todos":[],"role":"user","content":"off the surface"}"#),
        _ => (
            "hook/invoked",
            r#"{"id":"m","role":"user","source":{"kind":"user"},"content":["off the surface"]}"#,
        ),
    };
    let event = Append { kind: kind.to_owned(), data: data.into(), surface_op: None, sources: None, time: 0 };
    let mut weave = Weave::new(context.case);
    let mut pushed = 0;
    while let Some(place) = weave.next() {
        if pushed < INSERTED && context.trace.ok(place).is_some() {
            let op = &context.case.ops[place];
            let session = super::context::made(op).unwrap_or(&op.session);
            weave.push(session, Call::Append(event.clone()));
            pushed += 1;
        }
    }
    same_views(context, weave, "PROJ-6", "events off the surface changed what is shown")
}

/// Most events that are put between.
const INSERTED: usize = 40;

/// Runs a derived case in which seqs are others, and compares the views that show none.
pub(super) fn same_views(
    context: &Context<'_>,
    weave: Weave<'_>,
    rule: &'static str,
    message: &str,
) -> Result<Applied, Violation> {
    let mut weave = weave;
    let shown = [View::Messages, View::Transcript, View::Header, View::Request];
    let epilogue = context.epilogue();
    let mut pairs = vec![];
    for (place, op) in context.case.ops.iter().enumerate() {
        if let Call::View { view, at: None, .. } = &op.call
            && shown.contains(view)
        {
            pairs.push((place, &context.trace.steps[place].outcome, weave.at(place)));
        }
    }
    for finale in &epilogue.sessions {
        for (which, view) in View::ALL.iter().enumerate().filter(|(_, view)| shown.contains(view)) {
            let place = weave.view(&finale.ended.handle, *view);
            pairs.push((finale.ended.last, &epilogue.trace.steps[finale.live[which]].outcome, place));
        }
    }
    let (case, _) = weave.case();
    let trace = context.run(&case);
    for (place, want, derived) in &pairs {
        let got = &trace.steps[*derived].outcome;
        let op = &case.ops[*derived];
        if let compare::Comparison::Different(want, got) = compare::compare(op, want, got) {
            return Err(
                Violation::new(*place, rule, format!("{message}: {}", op.call.name())).between(want, got)
            );
        }
    }
    Ok(Applied(pairs.len() as u64))
}

/// Whether events can be put between without changing what the operations mean: no operation names a seq by a number
/// that would be another event's then.
pub(super) fn is_movable(case: &Case, trace: &Trace) -> bool {
    // Seqs below these are those of events that were loaded from bytes, or inherited of such; they stay.
    let mut fixed: BTreeMap<&str, u64> = BTreeMap::new();
    // What was true of a session when it was dumped.
    let mut dumped: BTreeMap<usize, u64> = BTreeMap::new();
    for (place, op) in case.ops.iter().enumerate() {
        let base = fixed.get(op.session.as_str()).copied().unwrap_or(0);
        let stays = |reference: &Ref| match reference {
            Ref::Seq(seq) => *seq < base,
            Ref::Op(op) => trace.ok(*op).is_some(),
            Ref::Text(_) => false,
        };
        let fine = match &op.call {
            Call::Dump { .. } => {
                dumped.insert(place, base);
                true
            }
            Call::Restore { log, .. } => {
                let count = || trace.ok(place).and_then(|text| json::number(text, &["events"])).unwrap_or(0);
                let base = match log {
                    LogSource::Dump(op) => dumped.get(op).copied().unwrap_or(0),
                    LogSource::Bytes(_) => count(),
                };
                fixed.insert(&op.session, base);
                true
            }
            Call::Append(append) => append_stays(append, op, &stays),
            Call::Fork { boundary, child } => {
                // Behind what it inherits a fork has events of its own.
                let count = trace.ok(place).and_then(|text| json::number(text, &["seedLength"])).unwrap_or(0);
                fixed.insert(child, base.min(count));
                boundary.as_ref().is_none_or(stays)
            }
            // A synthetic result's id names its seq.
            Call::Repair => false,
            // What was constructed anew counts its events again.
            Call::Open { inherited: Some(_), .. } => false,
            _ => true,
        };
        if !fine {
            return false;
        }
    }
    true
}

fn append_stays(append: &Append, op: &Op, stays: &dyn Fn(&Ref) -> bool) -> bool {
    let data = !op.makes_node() || append.data.pieces().iter().all(|piece| matches!(piece, Piece::Text(_)));
    let surface_op = match &append.surface_op {
        Some(SurfaceOp::Replace { start, end }) => stays(start) && stays(end),
        Some(SurfaceOp::Text(_)) => false,
        _ => true,
    };
    let sources = match &append.sources {
        Some(Sources::Seqs(seqs)) => seqs.iter().all(stays),
        Some(Sources::Text(_)) => false,
        None => true,
    };
    data && surface_op && sources
}
