//! Laws of recovery (REPAIR).

use super::weave::Weave;
use super::{Applied, Context, Violation, json};
use crate::case::{Call, Encoding, View};
use crate::systems::{Outcome, Trace, compare};

/// The questions about one session's repair: places in the derived case.
struct Asked {
    last: usize,
    before: usize,
    repair: usize,
    after: usize,
    fork: usize,
    again: usize,
    still: usize,
    reloaded: usize,
}

/// Repairs a copy of every session, twice, and once more after reloading.
fn ask(context: &Context<'_>) -> (Vec<Asked>, crate::case::Case, Trace) {
    let mut weave = Weave::behind(context.case);
    let mut asked = vec![];
    for ended in context.sessions() {
        let (copy, _, _) = weave.reload(&ended.handle, false, Encoding::Plain);
        let before = weave.view(&copy, View::Events);
        let repair = weave.push(&copy, Call::Repair);
        let after = weave.view(&copy, View::Events);
        let child = weave.handle();
        let fork = weave.push(&copy, Call::Fork { boundary: None, child });
        let again = weave.push(&copy, Call::Repair);
        let still = weave.view(&copy, View::Events);
        let (reloaded, _, _) = weave.reload(&copy, false, Encoding::Plain);
        let reloaded = weave.push(&reloaded, Call::Repair);
        asked.push(Asked { last: ended.last, before, repair, after, fork, again, still, reloaded });
    }
    let (case, _) = weave.case();
    let trace = context.run(&case);
    (asked, case, trace)
}

/// What repair adds, and that the result is balanced.
pub(super) fn balances(context: &Context<'_>) -> Result<Applied, Violation> {
    let (asked, case, trace) = ask(context);
    let mut chances = 0;
    for asked in &asked {
        let Some(before) = trace.ok(asked.before) else { continue };
        let wrong = |rule, message: &str| Violation::new(asked.last, rule, message);
        let added = match &trace.steps[asked.repair].outcome {
            Outcome::Ok(added) => added,
            Outcome::NotSent { .. } => continue,
            Outcome::Err { rule, .. } if rule.as_deref().is_none_or(|rule| rule == "REPAIR-6") => continue,
            refusal => {
                let got = compare::show(&case.ops[asked.repair], refusal);
                return Err(
                    wrong("REPAIR-6", "repair was refused for another reason").between("REPAIR-6", got)
                );
            }
        };
        let (old, new) = (json::elements(before), json::elements(added));
        let open = turn_is_open(&old);
        chances += u64::from(open);
        if open == new.is_empty() {
            let want = if open { "events that close the open turn" } else { "[]" };
            let rule = if open { "REPAIR-2" } else { "REPAIR-1" };
            return Err(wrong(rule, "repair closes exactly what is open").between(want, added.as_str()));
        }
        let time = old.last().and_then(|event| json::member(event, &["time"]));
        if let Some(event) = new.iter().find(|event| json::member(event, &["time"]) != time) {
            let want = time.unwrap_or_default();
            return Err(wrong("REPAIR-2", "a synthetic event has another time than the last event")
                .between(want, event));
        }
        let kinds: Vec<String> = new.iter().filter_map(|event| json::member(event, &["type"])).collect();
        if let Some((last, rest)) = kinds.split_last() {
            let reason = new.last().and_then(|event| json::member(event, &["data", "reason", "kind"]));
            let mut rest = rest.iter().skip_while(|kind| *kind == "\"tool/result\"").peekable();
            rest.next_if(|kind| *kind == "\"step/end\"");
            let fine = last == "\"turn/end\""
                && reason.as_deref() == Some("\"interrupted\"")
                && rest.next().is_none();
            if !fine {
                let want = "tool/result…, step/end?, turn/end interrupted";
                return Err(wrong("REPAIR-2", "repair adds other events or in another order")
                    .between(want, added.as_str()));
            }
        }
        let all: Vec<String> = old.into_iter().chain(new).collect();
        let expected = format!("[{}]", all.join(","));
        if let Some(after) = trace.ok(asked.after)
            && after != expected
        {
            return Err(wrong("REPAIR-4", "repair changed events that were there").between(expected, after));
        }
        if let refusal @ Outcome::Err { .. } = &trace.steps[asked.fork].outcome {
            let got = compare::show(&case.ops[asked.fork], refusal);
            return Err(wrong("REPAIR-2", "a repaired session cannot be forked").between("a header", got));
        }
    }
    Ok(Applied(chances))
}

fn turn_is_open(events: &[String]) -> bool {
    let kinds = events.iter().rev().filter_map(|event| json::member(event, &["type"]));
    let mut turns = kinds.filter(|kind| kind == "\"turn/start\"" || kind == "\"turn/end\"");
    turns.next().as_deref() == Some("\"turn/start\"")
}

/// The second repair adds nothing, here and after reloading.
pub(super) fn idempotent(context: &Context<'_>) -> Result<Applied, Violation> {
    let (asked, case, trace) = ask(context);
    let mut chances = 0;
    for asked in &asked {
        if trace.ok(asked.repair).is_none() {
            continue;
        }
        for second in [asked.again, asked.reloaded] {
            let outcome = &trace.steps[second].outcome;
            // A reloaded copy that does not load answers that there is none.
            if outcome.is_refused() && second == asked.reloaded || matches!(outcome, Outcome::NotSent { .. })
            {
                continue;
            }
            chances += 1;
            if outcome.ok() != Some("[]") {
                let got = compare::show(&case.ops[second], outcome);
                return Err(
                    Violation::new(asked.last, "REPAIR-4", "a second repair adds events").between("[]", got)
                );
            }
        }
        if let (Some(after), Some(still)) = (trace.ok(asked.after), trace.ok(asked.still))
            && after != still
        {
            let violation = Violation::new(asked.last, "REPAIR-4", "a second repair changed the events");
            return Err(violation.between(after, still));
        }
    }
    Ok(Applied(chances))
}
