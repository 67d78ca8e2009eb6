//! Laws of appending (ENV-3, LIVE).

use super::weave::Weave;
use super::{Applied, Context, Violation, json};
use crate::case::{Call, View, seq_of};
use crate::systems::{Model, Outcome, Step, System, compare};
use foldproof::json::Value;
use foldproof::rule::{Breaker, Class, Rule};
use std::collections::BTreeMap;

/// No outcome is a crash, a hang or a breach of the protocol, and there is one for every operation.
pub(super) fn system_answers(context: &Context<'_>) -> Result<Applied, Violation> {
    let steps = &context.trace.steps;
    for (op, step) in steps.iter().enumerate() {
        if let Outcome::Broken { kind, message } = &step.outcome {
            let name = context.case.ops.get(op).map_or("operation", |op| op.call.name());
            return Err(Violation::new(op, "LIVE-2", format!("{} in {name}: {message}", kind.name())));
        }
    }
    if steps.len() != context.case.ops.len() {
        let counts = (context.case.ops.len().to_string(), steps.len().to_string());
        let found = Violation::new(steps.len(), "LIVE-2", "there is not one outcome for every operation");
        return Err(found.between(counts.0, counts.1));
    }
    Ok(Applied(steps.len() as u64))
}

/// What the system's own wrapper saw to change.
pub(super) fn held_stays(context: &Context<'_>) -> Result<Applied, Violation> {
    match context.trace.faults.first() {
        Some(fault) => {
            let found = Violation::new(fault.op, fault.rule, "what was handed out has changed");
            Err(found.between(&fault.expected, &fault.got))
        }
        None => {
            let tries =
                |call: &Call| matches!(call, Call::Mutate { .. } | Call::View { view: View::Surface, .. });
            Ok(Applied(context.case.ops.iter().filter(|op| tries(&op.call)).count() as u64))
        }
    }
}

/// Seqs count from what is there, without gap or repeat.
pub(super) fn seq_contiguous(context: &Context<'_>) -> Result<Applied, Violation> {
    let mut counts: BTreeMap<&str, Option<u64>> = BTreeMap::new();
    let mut chances = 0;
    for (place, (op, step)) in context.case.ops.iter().zip(&context.trace.steps).enumerate() {
        let Some(answer) = step.outcome.ok() else { continue };
        let wrong = |expected: u64, got: &str| {
            Err(Violation::new(place, "ENV-3", "a seq is not the number of events before it")
                .between(expected.to_string(), got))
        };
        let known = counts.get(op.session.as_str()).copied().flatten();
        match &op.call {
            Call::Open { inherited: None, .. } => drop(counts.insert(&op.session, Some(0))),
            Call::Open { .. } => drop(counts.insert(&op.session, None)),
            Call::Restore { .. } => drop(counts.insert(&op.session, json::number(answer, &["events"]))),
            Call::Fork { child, .. } => drop(counts.insert(child, None)),
            Call::Append(_) => {
                chances += 1;
                let Some(seq) = seq_of(answer) else { return wrong(known.unwrap_or(0), answer) };
                if known.is_some_and(|known| known != seq) {
                    return wrong(known.unwrap_or(0), answer);
                }
                counts.insert(&op.session, Some(seq + 1));
            }
            Call::Repair | Call::View { view: View::Events, at: None, .. } => {
                let repair = matches!(op.call, Call::Repair);
                let first = if repair { known } else { Some(0) };
                let mut expected = first;
                let read = |root: Value<'_>| {
                    for event in root.elements() {
                        let seq = event.get("seq").and_then(Value::as_uint);
                        if expected.is_some() && seq != expected {
                            return Err((expected.unwrap_or(0), json::own(event)));
                        }
                        expected = seq.map(|seq| seq + 1);
                    }
                    Ok(root.elements().count())
                };
                let events = match json::with(answer, read) {
                    Some(Err((expected, found))) => return wrong(expected, &found),
                    Some(Ok(events)) => events,
                    None => 0,
                };
                if !repair && known.is_some() && known != expected {
                    return wrong(known.unwrap_or(0), &format!("{events} events"));
                }
                chances += 1;
                counts.insert(&op.session, expected);
            }
            _ => {}
        }
    }
    Ok(Applied(chances))
}

/// A case that carries a rule is refused under it; or, for a rule between events, the checker finds it.
pub(super) fn refused_names_its_rule(context: &Context<'_>) -> Result<Applied, Violation> {
    let Some(rule) = context.case.rule.as_deref().and_then(Rule::from_id) else { return Ok(Applied(0)) };
    let info = rule.info();
    if info.class < Class::Reject && info.breaker == Breaker::Input {
        return found_by_the_checker(context, rule);
    }
    // Of the rules that only an implementation can break, one is about what a call is refused for.
    if info.breaker == Breaker::Behaviour && rule.id() != "FORK-2" {
        return Ok(Applied(0));
    }
    let mut refused = false;
    let mut otherwise = None;
    for (place, step) in context.trace.steps.iter().enumerate() {
        let Outcome::Err { rule: named, message } = &step.outcome else { continue };
        refused = true;
        if let Some(named) = named.as_ref().filter(|named| *named != rule.id()) {
            let found = Violation::new(place, info.id, format!("refused for another reason: {message}"));
            let found = found.between(rule.id(), named.as_str());
            otherwise = Some(Violation { refused_otherwise: true, ..found });
            break;
        }
    }
    if refused && otherwise.is_none() {
        return Ok(Applied(1));
    }
    // A case of which the faulty operation was taken away says its rule still, and is no longer faulty.
    let as_expected =
        |step: &Step| matches!(&step.outcome, Outcome::Err { rule: Some(named), .. } if named == rule.id());
    if !context.model().steps.iter().any(as_expected) {
        return Ok(Applied(0));
    }
    let last = context.case.ops.len().saturating_sub(1);
    let accepted = || {
        Violation::new(last, info.id, "nothing was refused")
            .between(format!("refused under {}", rule.id()), "accepted")
    };
    Err(otherwise.unwrap_or_else(accepted))
}

fn found_by_the_checker(context: &Context<'_>, rule: Rule) -> Result<Applied, Violation> {
    let epilogue = context.epilogue();
    let wanted = format!("\"rule\":\"{}\"", rule.id());
    let mut found = None;
    for finale in &epilogue.sessions {
        let Some(log) = epilogue.ok(finale.plain.dump) else { continue };
        let log = crate::case::dumped(log);
        match context.check(log.bytes(), crate::case::Encoding::Plain) {
            Some(Outcome::Ok(text)) if text.contains(&wanted) => {
                return Ok(Applied(1));
            }
            Some(Outcome::Ok(text)) => {
                // As above: the model says whether the fault is still there.
                let want = Model.check(&context.case.dialect, log.bytes(), crate::case::Encoding::Plain);
                if matches!(want, Some(Outcome::Ok(text)) if text.contains(&wanted)) {
                    found.get_or_insert(text);
                }
            }
            // A system without a checker claims nothing.
            _ => return Ok(Applied(0)),
        }
    }
    let Some(found) = found else { return Ok(Applied(0)) };
    let last = context.case.ops.len().saturating_sub(1);
    Err(Violation::new(last, rule.id(), "the checker does not find the rule").between(rule.id(), found))
}

/// Most refusals of one case that are looked at.
const REFUSALS: usize = 12;

/// Every projection is the same before and after an operation that is refused.
pub(super) fn refused_changes_nothing(context: &Context<'_>) -> Result<Applied, Violation> {
    let refused: Vec<usize> = (0..context.trace.steps.len())
        .filter(|place| context.trace.steps[*place].outcome.is_refused())
        .filter(|place| {
            context.sessions().iter().any(|ended| ended.handle == context.case.ops[*place].session)
        })
        .take(REFUSALS)
        .collect();
    if refused.is_empty() {
        return Ok(Applied(0));
    }
    let mut weave = Weave::new(context.case);
    let mut asked = vec![];
    for place in 0..context.case.ops.len() {
        let session = &context.case.ops[place].session;
        let watched = refused.contains(&place);
        let before = if watched { weave.views(session, &View::ALL) } else { vec![] };
        weave.next();
        if watched {
            asked.push((place, before, weave.views(session, &View::ALL)));
        }
    }
    let (case, _) = weave.case();
    let trace = context.run(&case);
    for (place, before, after) in &asked {
        for (before, after) in before.iter().zip(after) {
            let (old, new) = (&trace.steps[*before].outcome, &trace.steps[*after].outcome);
            if old != new {
                let op = &case.ops[*after];
                let message = format!(
                    "a refused {} changed the {}",
                    context.case.ops[*place].call.name(),
                    op.call.name()
                );
                let found = Violation::new(*place, "LIVE-2", message);
                return Err(found.between(compare::show(op, old), compare::show(op, new)));
            }
        }
    }
    Ok(Applied(asked.len() as u64))
}
