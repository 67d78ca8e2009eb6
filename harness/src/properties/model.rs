//! The comparison with the reference model.

use super::{Applied, Context, Violation};
use crate::case::{Call, View};
use crate::systems::compare::{self, Comparison};
use crate::systems::{Model, Outcome, System};

/// Every outcome equals the model's.
pub(super) fn system_equals_model(context: &Context<'_>) -> Result<Applied, Violation> {
    let mut chances = 0;
    let mut otherwise = None;
    for (place, op) in context.case.ops.iter().enumerate() {
        let (want, got) = (&context.model().steps[place].outcome, &context.trace.steps[place].outcome);
        match compare::compare(op, want, got) {
            Comparison::Same => chances += 1,
            Comparison::NotSent => {}
            Comparison::RefusedOtherwise => {
                let found = Violation::new(
                    place,
                    rule_of(&op.call),
                    format!("{} is refused for another reason", op.call.name()),
                );
                let found = found.between(compare::show(op, want), compare::show(op, got));
                otherwise.get_or_insert(Violation { refused_otherwise: true, ..found });
            }
            Comparison::Different(want, got) => {
                let found = Violation::new(
                    place,
                    rule_of(&op.call),
                    format!("{} differs from the model", op.call.name()),
                );
                return Err(found.between(want, got));
            }
        }
    }
    // A refusal for another reason is softer: a difference anywhere in the case is told first.
    match otherwise {
        Some(found) => Err(found),
        None => Ok(Applied(chances)),
    }
}

/// The rule that an operation's answer is about.
fn rule_of(call: &Call) -> &'static str {
    match call {
        Call::Open { .. } => "SEED-1",
        Call::Append(_) => "SURF-8",
        Call::View { view, .. } => match view {
            View::Events => "LIVE-2",
            View::Surface => "SURF-5",
            View::Messages => "PROJ-2",
            View::Transcript => "PROJ-5",
            View::Header => "REQ-2",
            View::Request => "REQ-3",
            View::Inbox => "INBOX-1",
        },
        Call::Fork { .. } => "FORK-2",
        Call::Restore { .. } => "LIVE-7",
        Call::Dump { .. } => "CODEC-2",
        Call::Repair => "REPAIR-2",
        Call::CheckRequest { .. } => "REQ-5",
        Call::Observe { .. } | Call::Observed => "LIVE-3",
        Call::Mutate { .. } => "LIVE-1",
    }
}

/// The checker's findings in every log that the case loads or leaves.
pub(super) fn verdict_equals_model(context: &Context<'_>) -> Result<Applied, Violation> {
    let mut chances = 0;
    for (place, log, encoding) in context.logs() {
        let got = context.check(log.bytes(), encoding);
        let want = Model.check(&context.case.dialect, log.bytes(), encoding);
        let (Some(Outcome::Ok(got)), Some(Outcome::Ok(want))) = (got, want) else { continue };
        chances += 1;
        if got != want {
            return Err(Violation::new(place, "STORE-3", "the checker finds other things than the model")
                .between(want, got));
        }
    }
    Ok(Applied(chances))
}
