//! Laws of forks (FORK).

use super::context::made;
use super::weave::Weave;
use super::{Applied, Context, Violation, json};
use crate::case::{Call, Case, Encoding, Op, Ref, View, dumped};
use crate::systems::{Outcome, compare};
use std::collections::BTreeSet;

/// Most forks of one case that are looked at.
const FORKS: usize = 4;

/// A fork shows what its parent's events up to the boundary show.
pub(super) fn fork_equals_prefix(context: &Context<'_>) -> Result<Applied, Violation> {
    let mut weave = Weave::new(context.case);
    let mut forks = vec![];
    for (place, op) in context.case.ops.iter().enumerate() {
        let wanted =
            matches!(op.call, Call::Fork { .. }) && context.trace.ok(place).is_some() && forks.len() < FORKS;
        if !wanted {
            weave.next();
            continue;
        }
        let events = weave.view(&op.session, View::Events);
        let dump = weave.push(&op.session, Call::Dump { packed: false, encoding: Encoding::Plain });
        weave.next();
        let child = made(op).unwrap_or_default();
        forks.push((place, events, dump, weave.views(child, &View::ALL)));
    }
    if forks.is_empty() {
        return Ok(Applied(0));
    }
    let (case, map) = weave.case();
    let trace = context.run(&case);
    let mut chances = 0;
    for (place, events, dump, views) in forks {
        let (Some(header), Some(events)) = (context.trace.ok(place), trace.ok(events)) else { continue };
        let events = json::elements(events);
        let Some(count) = inherited(&case.ops[map[place]], &trace, events.len()) else { continue };
        if context.case.dialect != "tutorial"
            && let Some(dump) = trace.ok(dump)
        {
            let log = dumped(dump);
            let line = log.bytes().split(|byte| *byte == b'\n').next().unwrap_or_default();
            child_header(place, &context.case.ops[place], header, &String::from_utf8_lossy(line), count)?;
            chances += 1;
        }
        let child: Vec<&Outcome> = views.iter().map(|view| &trace.steps[*view].outcome).collect();
        chances += equals_prefix(context, place, header, &events[..count], &child)?;
    }
    Ok(Applied(chances))
}

/// How many events a fork inherits.
fn inherited(fork: &Op, trace: &crate::systems::Trace, length: usize) -> Option<usize> {
    let Call::Fork { boundary, .. } = &fork.call else { return None };
    let seq = match boundary {
        None => return Some(length),
        Some(Ref::Op(op)) => trace.ok(*op).and_then(crate::case::seq_of).unwrap_or(0),
        Some(other) => crate::systems::boundary(other)?,
    };
    usize::try_from(seq).ok().map(|seq| seq + 1).filter(|count| *count <= length)
}

/// FORK-3.
fn child_header(place: usize, fork: &Op, child: &str, parent: &str, count: usize) -> Result<(), Violation> {
    let member = |text: &str, name: &str| json::member(text, &[name]);
    let quoted = |text: &str| {
        let mut out = Vec::new();
        foldproof::json::text::quote(text, &mut out);
        String::from_utf8(out).ok()
    };
    let mut wanted = vec![
        ("id", made(fork).and_then(quoted)),
        ("parentSession", member(parent, "id")),
        ("seedLength", Some(count.to_string())),
    ];
    for name in ["cwd", "agentPreset", "origin", "delegationDepth"] {
        wanted.push((name, member(parent, name)));
    }
    for (name, want) in wanted {
        let found = member(child, name);
        if found != want {
            let text = |value: Option<String>| value.unwrap_or_else(|| "absent".to_owned());
            let violation = Violation::new(place, "FORK-3", format!("the child's header has another {name}"));
            return Err(violation.between(text(want), text(found)));
        }
    }
    Ok(())
}

fn equals_prefix(
    context: &Context<'_>,
    place: usize,
    header: &str,
    events: &[String],
    child: &[&Outcome],
) -> Result<u64, Violation> {
    // The prefix is loaded under the child's own header, so that its inbox starts empty as the child's does.
    let mut log = if header == "null" { String::new() } else { format!("{header}\n") };
    events.iter().for_each(|event| {
        log.push_str(event);
        log.push('\n');
    });
    let mut weave = Weave::new(context.case);
    let (handle, restore) = weave.load(log);
    let views = weave.views(&handle, &View::ALL);
    let (case, _) = weave.case();
    let trace = context.run(&case);
    if trace.ok(restore).is_none() {
        return Ok(0);
    }
    let mut chances = 0;
    for ((which, view), got) in View::ALL.iter().zip(&views).zip(child) {
        let want = &trace.steps[*view].outcome;
        let (Outcome::Ok(_), Outcome::Ok(found)) = (want, got) else { continue };
        chances += 1;
        let same = match which {
            View::Events => {
                let found = json::elements(found);
                found.starts_with(events) && found.len() <= events.len() + 1
            }
            _ => want == *got,
        };
        if !same {
            let op = &case.ops[*view];
            let message =
                format!("the {} of a fork are not those of its parent up to the boundary", which.name());
            let violation = Violation::new(place, "FORK-4", message);
            return Err(violation.between(compare::show(op, want), compare::show(op, got)));
        }
    }
    Ok(chances)
}

/// Without the fork and all that was done to it, the parent ends the same.
pub(super) fn fork_is_apart(context: &Context<'_>) -> Result<Applied, Violation> {
    let ops = &context.case.ops;
    let first = (0..ops.len()).find(|place| {
        matches!(&ops[*place].call, Call::Fork { child, .. } if context.trace.ok(*place).is_some()
            && ops[place + 1..].iter().any(|op| op.session == *child && matches!(op.call, Call::Append(_))))
    });
    let Some(first) = first else { return Ok(Applied(0)) };
    let parent = &ops[first].session;
    let mut gone: BTreeSet<&str> = made(&ops[first]).into_iter().collect();
    let mut places = vec![first];
    for (place, op) in ops.iter().enumerate().skip(first + 1) {
        if gone.contains(op.session.as_str()) {
            gone.extend(made(op));
            places.push(place);
        }
    }
    // Operations on other sessions that name one of these would change their meaning.
    let names = |op: &Op| {
        let mut op = op.clone();
        let mut found = false;
        op.repoint(|from| {
            found |= places.contains(&from);
            from
        });
        found
    };
    if gone.contains(parent.as_str())
        || ops.iter().enumerate().any(|(place, op)| !places.contains(&place) && names(op))
    {
        return Ok(Applied(0));
    }
    let mut without: Case = context.case.clone();
    places.iter().rev().for_each(|place| without.without(*place..place + 1));
    let mut weave = Weave::behind(&without);
    let views = weave.views(parent, &View::ALL);
    let (case, _) = weave.case();
    let trace = context.run(&case);
    let epilogue = context.epilogue();
    let Some(finale) = epilogue.sessions.iter().find(|finale| finale.ended.handle == *parent) else {
        return Ok(Applied(0));
    };
    for (alone, beside) in views.iter().zip(&finale.live) {
        let (want, got) = (&trace.steps[*alone].outcome, &epilogue.trace.steps[*beside].outcome);
        if want != got {
            let op = &case.ops[*alone];
            let message = format!("the {} of the parent changed with its fork", op.call.name());
            let violation = Violation::new(first, "FORK-4", message);
            return Err(violation.between(compare::show(op, want), compare::show(op, got)));
        }
    }
    Ok(Applied(1))
}
