//! Laws of unknown events (VOCAB).

use super::projection::{is_movable, same_views};
use super::weave::Weave;
use super::{Applied, Context, Violation, json};
use crate::case::{Call, Encoding, LogSource, Op, Payload, View, dumped};
use crate::systems::{Outcome, compare};

/// An event of a type that no vocabulary has.
fn unknown(seq: u64, ignorable: bool) -> String {
    let mark = if ignorable { ",\"ignorable\":true" } else { "" };
    format!(
        "{{\"type\":\"x-foldproof/unheard-of\",\"seq\":{seq},\"time\":0,\"data\":{{\"role\":\"user\",\"content\":[]}}{mark}}}"
    )
}

/// Logs of the case's sessions that load, as text, with the number of events.
fn loadable(context: &Context<'_>) -> Vec<(usize, usize, String, u64)> {
    let epilogue = context.epilogue();
    let mut found = vec![];
    for (which, finale) in epilogue.sessions.iter().enumerate() {
        let count = epilogue.ok(finale.plain.restore).and_then(|answer| json::number(answer, &["events"]));
        if let (Some(log), Some(count)) = (epilogue.ok(finale.plain.dump), count)
            && let Ok(log) = String::from_utf8(dumped(log).0)
        {
            found.push((which, finale.ended.last, log, count));
        }
    }
    found
}

/// The unknown event at the end of a log, and alone in one.
pub(super) fn unknown_required_refused(context: &Context<'_>) -> Result<Applied, Violation> {
    let mut weave = Weave::new(context.case);
    let mut asked = vec![];
    for (_, last, log, count) in loadable(context) {
        let (_, restore) = weave.load(format!("{log}{}\n", unknown(count, false)));
        asked.push((last, restore));
        if context.case.dialect != "tutorial" {
            let header = log.split_inclusive('\n').next().unwrap_or_default();
            let (_, restore) = weave.load(format!("{header}{}\n", unknown(0, false)));
            asked.push((last, restore));
        }
    }
    if asked.is_empty() {
        return Ok(Applied(0));
    }
    let (case, _) = weave.case();
    let trace = context.run(&case);
    for (last, restore) in &asked {
        let outcome = &trace.steps[*restore].outcome;
        let otherwise = match outcome {
            Outcome::NotSent { .. } => continue,
            Outcome::Err { rule, .. } if rule.as_deref().is_none_or(|rule| rule == "VOCAB-1") => continue,
            outcome => outcome.is_refused(),
        };
        let message = "a log with an unknown event that is not ignorable was not refused for it";
        let violation = Violation::new(*last, "VOCAB-1", message);
        let violation =
            violation.between("refused under VOCAB-1", compare::show(&case.ops[*restore], outcome));
        return Err(Violation { refused_otherwise: otherwise, ..violation });
    }
    Ok(Applied(asked.len() as u64))
}

/// The unknown event at the end of a log; and as the first one, with everything else behind it.
pub(super) fn ignorable_invisible(context: &Context<'_>) -> Result<Applied, Violation> {
    let behind = at_the_end(context)?;
    Ok(Applied(behind.0 + at_the_start(context)?.0))
}

fn at_the_end(context: &Context<'_>) -> Result<Applied, Violation> {
    let mut weave = Weave::new(context.case);
    let mut asked = vec![];
    for (which, last, log, count) in loadable(context) {
        let line = unknown(count, true);
        let (handle, restore) = weave.load(format!("{log}{line}\n"));
        asked.push((which, last, restore, line, weave.views(&handle, &View::ALL)));
    }
    if asked.is_empty() {
        return Ok(Applied(0));
    }
    let (case, _) = weave.case();
    let trace = context.run(&case);
    let epilogue = context.epilogue();
    for (which, last, restore, line, views) in &asked {
        if let refusal @ Outcome::Err { .. } = &trace.steps[*restore].outcome {
            let violation = Violation::new(*last, "VOCAB-2", "an unknown ignorable event was not kept");
            return Err(violation.between("loaded", compare::show(&case.ops[*restore], refusal)));
        }
        let live = &epilogue.sessions[*which].plain.views;
        for ((view, before), after) in View::ALL.iter().zip(live).zip(views) {
            let (Some(before), Some(after)) = (epilogue.ok(*before), trace.ok(*after)) else { continue };
            let expected = match view {
                View::Events => {
                    let mut events = json::elements(before);
                    events.push(line.clone());
                    format!("[{}]", events.join(","))
                }
                _ => before.to_owned(),
            };
            if after != expected {
                let message = format!("an unknown ignorable event changed the {}", view.name());
                return Err(Violation::new(*last, "VOCAB-2", message).between(expected, after));
            }
        }
    }
    Ok(Applied(asked.len() as u64))
}

/// A session that was opened empty starts with the event instead; every seq behind it is one more.
fn at_the_start(context: &Context<'_>) -> Result<Applied, Violation> {
    let epilogue = context.epilogue();
    if !is_movable(context.case, context.trace) {
        return Ok(Applied(0));
    }
    let mut case = context.case.clone();
    let mut replaced = 0;
    for (place, op) in case.ops.iter_mut().enumerate() {
        let Call::Open { inherited: None, .. } = &op.call else { continue };
        let finale = epilogue.sessions.iter().find(|finale| finale.ended.handle == op.session);
        let log = finale.and_then(|finale| epilogue.ok(finale.plain.dump)).map(dumped);
        let (Some(log), true) = (log, context.trace.ok(place).is_some()) else { continue };
        let mut start = Vec::new();
        if context.case.dialect != "tutorial" {
            start.extend_from_slice(
                log.bytes().split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default(),
            );
        }
        start.extend_from_slice(format!("{}\n", unknown(0, true)).as_bytes());
        let restore = Call::Restore { log: LogSource::Bytes(Payload(start)), encoding: Encoding::Plain };
        *op = Op::new(op.session.clone(), restore);
        replaced += 1;
    }
    if replaced == 0 {
        return Ok(Applied(0));
    }
    same_views(context, Weave::behind(&case), "VOCAB-2", "an unknown ignorable event changed what is shown")
}
