//! Laws of requests (REQ).

use super::weave::Weave;
use super::{Applied, Context, Violation, json};
use crate::case::{Call, Encoding, RequestSource, StepOf, Tampering, View, tamper};
use crate::systems::{Outcome, compare};
use foldproof::json::Value;

/// A request is the same by every way that leads to it.
pub(super) fn path_independent(context: &Context<'_>) -> Result<Applied, Violation> {
    let epilogue = context.epilogue();
    let mut chances = 0;
    for finale in &epilogue.sessions {
        let ways = [
            ("the file", &finale.plain.views),
            ("the packed file", &finale.packed.views),
            ("the compressed file", &finale.zstd.views),
            ("a resumed session", &finale.resumed.views),
            ("a fork", &finale.fork.views),
        ];
        for (way, views) in ways {
            for view in [View::Header, View::Messages, View::Request] {
                let (Some(live), Some(other)) =
                    (epilogue.view(&finale.live, view), epilogue.view(views, view))
                else {
                    continue;
                };
                chances += u64::from(view == View::Request && live != "null");
                if live != other {
                    let rule = if view == View::Header { "REQ-2" } else { "REQ-4" };
                    let message = format!("the {} from {way} differs from the live one", view.name());
                    return Err(Violation::new(finale.ended.last, rule, message).between(live, other));
                }
            }
        }
    }
    Ok(Applied(chances + steps(context)?))
}

/// Most steps whose request is asked for.
const STEPS: usize = 4;

/// The same for the request of a step and attempt, from the live session, the packed file and a resumed session.
fn steps(context: &Context<'_>) -> Result<u64, Violation> {
    let epilogue = context.epilogue();
    let mut weave = Weave::behind(context.case);
    let mut asked = vec![];
    for finale in &epilogue.sessions {
        let Some(events) = epilogue.view(&finale.live, View::Events) else { continue };
        let found = json::with(events, |root| root.elements().filter_map(step).collect::<Vec<_>>())
            .unwrap_or_default();
        let first = found.len().saturating_sub(STEPS);
        if found.is_empty() {
            continue;
        }
        let session = &finale.ended.handle;
        let (packed, _, _) = weave.reload(session, true, Encoding::Zstd);
        let events = weave.view(session, View::Events);
        let (resumed, _) = weave.construct(events);
        for step in &found[first..] {
            for attempt in [1, 2] {
                let call =
                    Call::View { view: View::Request, at: None, step: Some(StepOf { attempt, ..*step }) };
                let ways = [session, &packed, &resumed].map(|handle| weave.push(handle, call.clone()));
                asked.push((finale.ended.last, ways));
            }
        }
    }
    if asked.is_empty() {
        return Ok(0);
    }
    let (case, _) = weave.case();
    let trace = context.run(&case);
    let mut chances = 0;
    for (last, [live, packed, resumed]) in asked {
        for (way, other) in [("the compressed file", packed), ("a resumed session", resumed)] {
            let (Some(live), Some(other)) = (trace.ok(live), trace.ok(other)) else { continue };
            chances += u64::from(live != "null");
            if live != other {
                let message = format!("the request of a step from {way} differs from the live one");
                return Err(Violation::new(last, "REQ-4", message).between(live, other));
            }
        }
    }
    Ok(chances)
}

fn step(event: Value<'_>) -> Option<StepOf> {
    let number = |name: &str| event.path(&["data", name]).and_then(Value::as_uint);
    let starts = event.get("type").and_then(Value::as_str).is_some_and(|kind| kind.is("step/start"));
    if starts { Some(StepOf { turn: number("turn")?, step: number("step")?, attempt: 1 }) } else { None }
}

/// Most sessions, and most messages of one, whose request is tampered with.
const SESSIONS: usize = 2;
const MESSAGES: u64 = 10;

/// Every single change to the request at the end is stopped.
pub(super) fn gate_catches_tamper(context: &Context<'_>) -> Result<Applied, Violation> {
    let epilogue = context.epilogue();
    let mut weave = Weave::behind(context.case);
    let mut asked = vec![];
    for finale in &epilogue.sessions {
        let Some(request) = epilogue.view(&finale.live, View::Request).filter(|request| *request != "null")
        else {
            continue;
        };
        if asked.len() >= SESSIONS {
            break;
        }
        let session = &finale.ended.handle;
        let op = weave.view(session, View::Request);
        let mut checks = vec![];
        for how in changes(request) {
            // A change that changes nothing proves nothing.
            let changed = tamper(request.as_bytes(), how);
            // An integer-like key has its place whatever order it is written in.
            let changed = foldproof::json::canonicalize(&changed, u64::MAX).unwrap_or(changed);
            if how != Tampering::None && changed == request.as_bytes() {
                continue;
            }
            let check = Call::CheckRequest { request: RequestSource::Tampered { op, how } };
            checks.push((how, weave.push(session, check)));
        }
        asked.push((finale.ended.last, checks));
    }
    if asked.is_empty() {
        return Ok(Applied(0));
    }
    let (case, _) = weave.case();
    let trace = context.run(&case);
    let mut chances = 0;
    for (last, checks) in asked {
        for (how, place) in checks {
            let outcome = &trace.steps[place].outcome;
            let said = match outcome {
                Outcome::NotSent { .. } => continue,
                Outcome::Ok(text) => text.as_str(),
                // A refusal stops the request, too.
                _ if how != Tampering::None => continue,
                _ => "a refusal",
            };
            chances += 1;
            let (name, at, byte) = how.parts();
            let change = format!("{name}{}{}", number(" at ", at), number(" byte ", byte));
            let message_change = matches!(
                how,
                Tampering::ChangeMessage(..)
                    | Tampering::DropMessage(_)
                    | Tampering::DoubleMessage(_)
                    | Tampering::SwapMessages(_)
            );
            let (fine, want) = match how {
                Tampering::None => (said == "null", "null"),
                _ if message_change => (said == r#"{"desync":"messages"}"#, r#"{"desync":"messages"}"#),
                _ => (said != "null", "a desync"),
            };
            if !fine {
                let message = format!("the gate judged a request wrongly; change: {change}");
                let got = compare::show(&case.ops[place], outcome);
                return Err(Violation::new(last, "REQ-5", message).between(want, got));
            }
        }
    }
    Ok(Applied(chances))
}

fn number(before: &str, number: Option<u64>) -> String {
    number.map(|number| format!("{before}{number}")).unwrap_or_default()
}

/// Every kind of change at every place.
fn changes(request: &str) -> Vec<Tampering> {
    let count = |root: Value<'_>| {
        let messages = root.get("messages").map_or(0, |list| list.elements().count());
        (root.members().count() as u64, messages as u64)
    };
    let (members, messages) = json::with(request, count).unwrap_or_default();
    let mut list = vec![Tampering::None];
    for at in 0..members {
        list.extend([
            Tampering::ChangeMember(at),
            Tampering::RemoveMember(at),
            Tampering::AddMember(at),
            Tampering::RenameMember(at),
        ]);
        if at + 1 < members {
            list.push(Tampering::MoveMember(at));
        }
    }
    // The ends are where folds go wrong, so they come first.
    let places = (0..messages).filter(|at| *at < MESSAGES / 2 || messages - at <= MESSAGES / 2);
    for at in places {
        list.extend([Tampering::DropMessage(at), Tampering::DoubleMessage(at)]);
        list.extend([0, 7, 40].map(|byte| Tampering::ChangeMessage(at, byte)));
        if at + 1 < messages {
            list.push(Tampering::SwapMessages(at));
        }
    }
    list
}
