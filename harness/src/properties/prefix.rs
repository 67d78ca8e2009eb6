//! The law that keeps a provider's prompt cache warm (REQ-7).

use super::weave::Weave;
use super::{Applied, Context, Violation, json};
use crate::case::{Call, StepOf, View};
use foldproof::json::Value;
use std::collections::BTreeSet;

/// Most steps of one session whose requests are compared, the last ones.
const STEPS: usize = 6;

/// A step of a log, and whether something between its start and the next one's may change earlier messages.
struct Step {
    of: (u64, u64),
    /// A replace or a request header stands between this step's start and the next one's, or the end.
    changes: bool,
}

/// Of two consecutive steps without a replace or a header change between their requests, the earlier one's messages are
/// a byte prefix of the later one's.
pub(super) fn request_prefix_extends(context: &Context<'_>) -> Result<Applied, Violation> {
    let epilogue = context.epilogue();
    let mut weave = Weave::behind(context.case);
    let mut asked = vec![];
    for finale in &epilogue.sessions {
        let Some(events) = epilogue.view(&finale.live, View::Events) else { continue };
        let Some(steps) = json::with(events, steps) else { continue };
        let first = steps.len().saturating_sub(STEPS);
        let mut before: Option<(usize, bool)> = None;
        for step in &steps[first..] {
            let of = StepOf { turn: step.of.0, step: step.of.1, attempt: 1 };
            let call = Call::View { view: View::Request, at: None, step: Some(of) };
            let place = weave.push(&finale.ended.handle, call);
            // A request lies between its step's start and the next one, so both stretches have to be free of changes.
            if let Some((earlier, changed)) = before
                && !changed
                && !step.changes
            {
                asked.push((finale.ended.last, earlier, place));
            }
            before = Some((place, step.changes));
        }
    }
    if asked.is_empty() {
        return Ok(Applied(0));
    }
    let (case, _) = weave.case();
    let trace = context.run(&case);
    let mut chances = 0;
    for (last, earlier, later) in asked {
        let messages =
            |place: usize| trace.ok(place).and_then(|request| json::member(request, &["messages"]));
        let (Some(earlier), Some(later)) = (messages(earlier), messages(later)) else { continue };
        chances += 1;
        let open = earlier.strip_suffix(']').unwrap_or(&earlier);
        if !later.starts_with(open) {
            let message = "the messages of a request do not begin with those of the one before";
            return Err(Violation::new(last, "REQ-7", message).between(open, later));
        }
    }
    Ok(Applied(chances))
}

/// The steps of a log in order; none where two have the same numbers, because then a request cannot be asked for.
fn steps(events: Value<'_>) -> Vec<Step> {
    let mut steps: Vec<Step> = vec![];
    let mut seen = BTreeSet::new();
    for event in events.elements() {
        let kind = event.get("type").and_then(Value::as_str);
        let is = |name: &str| kind.is_some_and(|kind| kind.is(name));
        if is("step/start") {
            let number = |name: &str| event.path(&["data", name]).and_then(Value::as_uint);
            let (Some(turn), Some(step)) = (number("turn"), number("step")) else { return vec![] };
            if !seen.insert((turn, step)) {
                return vec![];
            }
            steps.push(Step { of: (turn, step), changes: false });
        } else if let Some(last) = steps.last_mut() {
            last.changes |= is("request/header") || event.get("surfaceOp").is_some_and(Value::is_object);
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_steps() {
        let events = r#"[
            {"type":"request/header"},
            {"type":"step/start","data":{"turn":1,"step":1}},
            {"type":"user/message","surfaceOp":"append"},
            {"type":"step/start","data":{"turn":1,"step":2}},
            {"type":"user/message","surfaceOp":{"op":"replace","start":2,"end":2}},
            {"type":"step/start","data":{"turn":2,"step":1}},
            {"type":"request/header"},
            {"type":"step/start","data":{"turn":2,"step":2}}]"#;
        let found = json::with(events, steps).unwrap();
        let found: Vec<_> = found.iter().map(|step| (step.of, step.changes)).collect();
        assert_eq!(found, [((1, 1), false), ((1, 2), true), ((2, 1), true), ((2, 2), false)]);
        let twice = r#"[{"type":"step/start","data":{"turn":1,"step":1}},{"type":"step/start","data":{"turn":1,"step":1}}]"#;
        assert!(json::with(twice, steps).unwrap().is_empty());
    }
}
