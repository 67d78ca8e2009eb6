//! Laws of the surface and its cached folds (SURF, PROJ-3, SEED).

use super::context::Finale;
use super::weave::Weave;
use super::{Applied, Context, Violation};
use crate::case::{Call, Encoding, View, elements};
use crate::systems::{Outcome, compare};

/// Most views of one case that are asked again.
const VIEWS: usize = 24;

/// What a live session shows in the middle of the case is what one shows that is loaded from the same events.
pub(super) fn cached_equals_fresh(context: &Context<'_>) -> Result<Applied, Violation> {
    let mut weave = Weave::new(context.case);
    let mut asked = vec![];
    while let Some(place) = weave.next() {
        let op = &context.case.ops[place];
        let Call::View { at: None, .. } = &op.call else { continue };
        if context.trace.ok(place).is_some() && asked.len() < VIEWS {
            let (handle, _, restore) = weave.reload(&op.session, false, Encoding::Plain);
            let view = weave.push(&handle, op.call.clone());
            asked.push((place, restore, view));
        }
    }
    if asked.is_empty() {
        return Ok(Applied(0));
    }
    let (case, _) = weave.case();
    let trace = context.run(&case);
    let mut chances = 0;
    for (place, restore, view) in asked {
        // A log that does not load is the business of `replay-from-events`.
        if trace.ok(restore).is_none() {
            continue;
        }
        let (live, fresh) = (&context.trace.steps[place].outcome, &trace.steps[view].outcome);
        if matches!(fresh, Outcome::NotSent { .. }) {
            continue;
        }
        chances += 1;
        if live != fresh {
            let op = &context.case.ops[place];
            let message =
                format!("the {} of the live session differ from those of a fresh one", op.call.name());
            let found = Violation::new(place, "PROJ-3", message);
            return Err(found.between(compare::show(op, fresh), compare::show(op, live)));
        }
    }
    Ok(Applied(chances))
}

/// At the end: reload the log, and construct a session from the events.
pub(super) fn replay_from_events(context: &Context<'_>) -> Result<Applied, Violation> {
    let epilogue = context.epilogue();
    let mut chances = 0;
    for finale in &epilogue.sessions {
        chances += reloaded(context, finale)?;
        chances += constructed(context, finale)?;
    }
    Ok(Applied(chances))
}

fn reloaded(context: &Context<'_>, finale: &Finale) -> Result<u64, Violation> {
    let epilogue = context.epilogue();
    let place = finale.ended.last;
    match &epilogue.trace.steps[finale.plain.restore].outcome {
        Outcome::Ok(_) => {}
        Outcome::NotSent { .. } => return Ok(0),
        refusal => {
            // Append does not look at the vocabulary, load does. The model knows when that is the reason.
            let log = epilogue.ok(finale.plain.dump).map(crate::case::dumped).unwrap_or_default();
            let model = reload_on_model(context, log);
            if model.is_refused() {
                return Ok(0);
            }
            let op = epilogue.op(finale.plain.restore);
            let found = Violation::new(place, "LIVE-7", "a log that append admitted does not load");
            return Err(found.between(compare::show(op, &model), compare::show(op, refusal)));
        }
    }
    let mut chances = 0;
    for (live, fresh) in finale.live.iter().zip(&finale.plain.views) {
        chances += same(context, place, *live, *fresh, "LIVE-7", "reloaded from its log")?;
    }
    chances +=
        same(context, place, finale.plain.dump, finale.plain.again, "LIVE-7", "reloaded from its log")?;
    Ok(chances)
}

fn reload_on_model(context: &Context<'_>, log: crate::case::Payload) -> Outcome {
    let mut weave = Weave::behind(context.case);
    let (_, restore) = weave.load(log);
    let (case, _) = weave.case();
    let trace = context.run_model(&case);
    trace.steps[restore].outcome.clone()
}

/// Two places of the epilogue have the same answer. Says how often that could be seen.
fn same(
    context: &Context<'_>,
    place: usize,
    live: usize,
    other: usize,
    rule: &'static str,
    how: &str,
) -> Result<u64, Violation> {
    let epilogue = context.epilogue();
    let (Some(want), Some(_)) = (epilogue.ok(live), epilogue.trace.steps.get(other)) else { return Ok(0) };
    let got = &epilogue.trace.steps[other].outcome;
    match got {
        Outcome::NotSent { .. } => Ok(0),
        Outcome::Ok(got) if got == want => Ok(1),
        got => {
            let op = epilogue.op(other);
            let message =
                format!("the {} of the session {how} differ from those of the live one", op.call.name());
            let found = Violation::new(place, rule, message);
            Err(found.between(compare::show(op, &epilogue.trace.steps[live].outcome), compare::show(op, got)))
        }
    }
}

fn constructed(context: &Context<'_>, finale: &Finale) -> Result<u64, Violation> {
    let epilogue = context.epilogue();
    let place = finale.ended.last;
    let (events, resumed) = (finale.live[0], &finale.resumed);
    let Some(before) = epilogue.ok(events) else { return Ok(0) };
    match &epilogue.trace.steps[resumed.made].outcome {
        Outcome::Ok(_) => {}
        Outcome::NotSent { .. } => return Ok(0),
        refusal => {
            let op = epilogue.op(resumed.made);
            let found = Violation::new(
                place,
                "SEED-1",
                "a session cannot be constructed from events that it admitted",
            );
            return Err(found.between("null", compare::show(op, refusal)));
        }
    }
    let mut chances = 0;
    for (which, view) in View::ALL.iter().enumerate() {
        // The inbox of a session that is constructed without its header counts what was inherited, too.
        if !matches!(view, View::Events | View::Inbox) {
            chances += same(
                context,
                place,
                finale.live[which],
                resumed.views[which],
                "SEED-3",
                "constructed from its events",
            )?;
        }
    }
    if let Some(after) = epilogue.view(&resumed.views, View::Events) {
        chances += 1;
        let (old, new) = (elements(before), elements(after));
        let ends = |events: &[crate::case::Payload]| {
            let last = events.last().map(|event| String::from_utf8_lossy(event.bytes()).into_owned());
            last.and_then(|last| super::json::member(&last, &["type"])).as_deref()
                == Some("\"session/end-seed\"")
        };
        let marked = context.case.dialect != "tutorial";
        let fine = new.starts_with(&old) && new.len() == old.len() + usize::from(marked && !ends(&old));
        if !fine || (marked && !ends(&new)) {
            let message = "a seed is followed by one session/end-seed unless it ends in one";
            return Err(Violation::new(place, "SEED-2", message).between(before, after));
        }
    }
    Ok(chances)
}
