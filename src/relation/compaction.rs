//! Compaction brackets, checkpoints and prunes (COMP-1 to COMP-5).

use super::{Folded, Place, Sink};
use crate::dialect::{Part, Role};
use crate::event::{describe, few};
use crate::json::{Kind, Value, print};
use crate::rule::{Rule, RuleSet};
use std::collections::BTreeSet;

/// The turn a bracket names: `Some(None)` for `null`, nothing for what is neither that nor a number.
type Turn = Option<Option<f64>>;

#[derive(Debug)]
struct Bracket {
    /// Canonical bytes of its id.
    id: Vec<u8>,
    turn: Turn,
    summary: bool,
}

/// A summary that was the last event.
#[derive(Debug)]
struct Summary {
    id: Vec<u8>,
    shadowed: Option<Vec<u64>>,
}

/// A prune whose replace did not come yet.
#[derive(Debug)]
struct Prune {
    place: Place,
    range: Option<(u64, u64)>,
    shadowed: Option<Vec<u64>>,
    /// Closers of an interrupted turn stand behind it; what follows decides whether its process is gone.
    closing: Closing,
}

#[derive(Debug)]
pub(super) struct Compaction {
    rules: RuleSet,
    turn: Option<Option<f64>>,
    open: Option<Bracket>,
    stale: BTreeSet<Vec<u8>>,
    summary: Option<Summary>,
    prune: Option<Prune>,
}

const PRUNE_ALONE: &str = "expected the replace that the prune prices directly behind it";

impl Compaction {
    pub(super) fn new(rules: RuleSet) -> Self {
        Compaction { rules, turn: None, open: None, stale: BTreeSet::new(), summary: None, prune: None }
    }

    pub(super) fn fold(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        if self.prune.is_some() {
            self.behind_prune(folded, sink);
        }
        let before = self.summary.take();
        match folded.event.role {
            Role::TurnStart => {
                self.crossing(folded, sink);
                self.turn = Some(folded.event.field("turn").and_then(Value::as_double));
            }
            Role::TurnEnd => {
                if is_interrupted(folded) {
                    self.outlive()
                } else {
                    self.crossing(folded, sink)
                }
                self.turn = None;
            }
            Role::EndSeed => self.outlive(),
            Role::CompactionStart => self.start(folded, sink),
            Role::CompactionSummary => self.summary(folded, sink),
            Role::CompactionEnd => self.end(folded, sink),
            Role::CompactionPrune => {
                self.prune = Some(Prune {
                    place: folded.place(folded.event.kind),
                    range: folded.event.field("shadowedRange").and_then(range),
                    shadowed: folded.event.field("shadowedSeqs").and_then(seqs),
                    closing: Closing::No,
                });
            }
            Role::Surface(_) if folded.is_replace() && folded.part() == Some(Part::Input) => {
                self.checkpoint(folded, before, sink);
            }
            _ => {}
        }
    }

    pub(super) fn fold_row(&mut self, sink: &mut Sink<'_>) {
        self.summary = None;
        if let Some(prune) = self.prune.take() {
            let text = format!("{PRUNE_ALONE}, found packed chunks");
            self.report(Rule::Comp5, prune.place, text, sink);
        }
    }

    fn report(&self, rule: Rule, place: Place, text: String, sink: &mut Sink<'_>) {
        if self.rules.has(rule) {
            sink(rule, place, text);
        }
    }

    /// COMP-4: the process that held the bracket is gone.
    fn outlive(&mut self) {
        if let Some(bracket) = self.open.take() {
            self.stale.insert(bracket.id);
        }
    }

    /// COMP-1 at a turn boundary.
    fn crossing(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        if let Some(bracket) = self.open.take() {
            let text = format!("compaction {} is still open at the turn boundary", show(&bracket.id));
            self.report(Rule::Comp1, folded.place(folded.event.kind), text, sink);
        }
    }

    fn start(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        let id = folded.event.field("compactionId");
        let value = folded.event.field("turn");
        let turn = turn(value);
        let problem = if let Some(open) = &self.open {
            Some((folded.event.kind, format!("a compaction starts while {} is open", show(&open.id))))
        } else if id.and_then(Value::as_str).is_none() {
            Some((
                id,
                format!("expected compactionId to be a string, found {}", id.map_or("none".into(), describe)),
            ))
        } else {
            let fits = match (turn, self.turn) {
                (Some(None), None) => true,
                (Some(Some(named)), Some(open)) => open.is_none_or(|open| open == named),
                _ => false,
            };
            let open = match self.turn {
                None => "no turn is open".to_owned(),
                Some(None) => "a turn without a number is open".into(),
                Some(Some(number)) => format!("turn {number} is open"),
            };
            let named = value.map_or("none".into(), describe);
            (!fits).then(|| (value, format!("the bracket names turn {named}, but {open}")))
        };
        if let Some((at, text)) = problem {
            self.report(Rule::Comp1, folded.place(at.or(folded.event.data)), text, sink);
        }
        self.open = Some(Bracket { id: canonical(id), turn, summary: false });
    }

    fn summary(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        let id = canonical(folded.event.field("compactionId"));
        let (rule, text) = match &mut self.open {
            None if self.stale.contains(&id) => (
                Rule::Comp4,
                Some((
                    None,
                    format!("the bracket of compaction {} is stale, its process is gone", show(&id)),
                )),
            ),
            None => {
                let text = "the summary stands outside any compaction bracket".to_owned();
                (Rule::Comp2, Some((None, text)))
            }
            Some(open) if open.id != id => {
                // It counts as the bracket's summary, so that the end of the bracket is not reported as well.
                open.summary = true;
                let text =
                    format!("the summary names compaction {}, but {} is open", show(&id), show(&open.id));
                (Rule::Comp2, Some((folded.event.field("compactionId"), text)))
            }
            Some(open) => {
                let second = std::mem::replace(&mut open.summary, true);
                let problem = if second {
                    Some((None, "the bracket has a summary already".to_owned()))
                } else {
                    malformed(folded)
                };
                (Rule::Comp2, problem)
            }
        };
        if let Some((at, text)) = text {
            self.report(rule, folded.place(at.or(folded.event.data)), text, sink);
        }
        self.summary = Some(Summary { id, shadowed: folded.event.field("shadowedSeqs").and_then(seqs) });
    }

    fn end(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        let id = canonical(folded.event.field("compactionId"));
        let value = folded.event.field("turn");
        let Some(open) = self.open.take() else {
            let (rule, text) = if self.stale.contains(&id) {
                (
                    Rule::Comp4,
                    format!("the bracket of compaction {} is stale, its process is gone", show(&id)),
                )
            } else {
                (Rule::Comp1, format!("compaction {} ends, but no bracket is open", show(&id)))
            };
            return self.report(rule, folded.place(folded.event.kind), text, sink);
        };
        if open.id != id {
            let text = format!("compaction {} ends, but {} is open", show(&id), show(&open.id));
            self.report(Rule::Comp1, folded.place(folded.event.data), text, sink);
        } else if turn(value) != open.turn {
            let named = value.map_or("none".into(), describe);
            let start = match open.turn {
                None => "no turn".to_owned(),
                Some(None) => "turn null".into(),
                Some(Some(number)) => format!("turn {number}"),
            };
            let text = format!("the end of the bracket names turn {named}, but its start {start}");
            self.report(Rule::Comp1, folded.place(value.or(folded.event.data)), text, sink);
        } else if !open.summary && folded.event.field("error").is_none() {
            let text = "the bracket ends without an error, but had no summary".to_owned();
            self.report(Rule::Comp2, folded.place(folded.event.kind), text, sink);
        }
    }

    /// COMP-3.
    fn checkpoint(&mut self, folded: &Folded<'_>, before: Option<Summary>, sink: &mut Sink<'_>) {
        let source = folded.message().and_then(|message| message.get("source"));
        let plugin = source.and_then(|source| source.get("kind")).and_then(Value::as_str);
        let Some(id) = source.and_then(|source| source.get("compactionId")) else { return };
        if !plugin.is_some_and(|kind| kind.is("plugin")) {
            return;
        }
        let key = canonical(Some(id));
        let inside = self.open.as_ref().is_some_and(|open| open.id == key);
        let text = match before {
            _ if !inside => format!("the checkpoint of compaction {} stands outside its bracket", show(&key)),
            Some(summary) if summary.id == key => {
                let shadowed = shadowed(folded);
                if summary.shadowed.as_deref() == Some(&shadowed[..]) {
                    return;
                }
                let named = summary.shadowed.map_or("none".into(), |named| few(named.iter().copied()));
                format!(
                    "the checkpoint shadows {}, but its summary names {named} in shadowedSeqs",
                    few(shadowed.iter().copied())
                )
            }
            _ => "the checkpoint does not stand directly behind its summary".to_owned(),
        };
        self.report(Rule::Comp3, folded.place(folded.event.surface_op), text, sink);
    }

    /// COMP-5: what stands behind a prune.
    fn behind_prune(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        let Some(prune) = &mut self.prune else { return };
        match folded.event.role {
            Role::EndSeed if prune.closing == Closing::No => self.prune = None,
            Role::TurnEnd if is_interrupted(folded) => self.prune = None,
            Role::StepEnd if prune.closing != Closing::Step => prune.closing = Closing::Step,
            Role::Surface(_) if is_synthetic(folded) && prune.closing != Closing::Step => {
                prune.closing = Closing::Results;
            }
            _ => {
                let Some(prune) = self.prune.take() else { return };
                let text = if !folded.is_replace() {
                    format!("{PRUNE_ALONE}, found {}", folded.event.kind_name())
                } else if prune.closing != Closing::No {
                    format!("{PRUNE_ALONE}, found a replace behind other events")
                } else {
                    let nodes = shadowed(folded);
                    let span = nodes.first().copied().zip(nodes.last().copied());
                    if prune.range == span && prune.shadowed.as_deref() == Some(&nodes[..]) {
                        return;
                    }
                    let named = prune.shadowed.map_or("none".into(), |named| few(named.iter().copied()));
                    let range =
                        prune.range.map_or("no range".into(), |(start, end)| format!("{start} to {end}"));
                    format!(
                        "the prune names {named} as shadowedSeqs and {range} as shadowedRange, but the replace behind it \
                         shadows {}",
                        few(nodes.iter().copied())
                    )
                };
                self.report(Rule::Comp5, prune.place, text, sink);
            }
        }
    }
}

/// How far recovery has come behind a prune: results, then the end of the step, then that of the turn (REPAIR-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    No,
    Results,
    Step,
}

fn is_interrupted(folded: &Folded<'_>) -> bool {
    let kind = folded.event.field("reason").and_then(|reason| reason.get("kind"));
    kind.and_then(Value::as_str).is_some_and(|kind| kind.is("interrupted"))
}

/// An appended result that recovery wrote.
fn is_synthetic(folded: &Folded<'_>) -> bool {
    let code = folded.event.data.and_then(|data| data.path(&["error", "code"])).and_then(Value::as_str);
    !folded.is_replace()
        && folded.part() == Some(Part::Result)
        && code.is_some_and(|code| code.is("TOOL_NOT_STARTED") || code.is("TOOL_OUTCOME_UNKNOWN"))
}

fn shadowed(folded: &Folded<'_>) -> Vec<u64> {
    let surface = folded.admission.surface();
    folded.admission.shadowed().iter().map(|ordinal| surface.seq(*ordinal)).collect()
}

/// COMP-2: what is wrong with the members of a summary.
fn malformed<'a>(folded: &Folded<'a>) -> Option<(Option<Value<'a>>, String)> {
    let list = folded.event.field("shadowedSeqs");
    let members: Vec<Value<'_>> = match list {
        Some(list) if list.kind() == Kind::Array => list.elements().collect(),
        _ => vec![],
    };
    let (Some(first), Some(last)) = (members.first(), members.last()) else {
        let found = list.map_or("none".into(), describe);
        return Some((
            list,
            format!("expected shadowedSeqs to be an array that is not empty, found {found}"),
        ));
    };
    let span = folded.event.field("shadowedRange");
    let exact = span.is_some_and(|span| {
        let same = |name: &str, member: &Value<'_>| {
            span.get(name).is_some_and(|end| canonical(Some(end)) == canonical(Some(*member)))
        };
        span.members().count() == 2 && same("start", first) && same("end", last)
    });
    if !exact {
        let found = span.map_or("none".into(), describe);
        let (first, last) = (describe(*first), describe(*last));
        let text = format!(
            "expected shadowedRange to be {{\"start\":{first},\"end\":{last}}} as in shadowedSeqs, found {found}"
        );
        return Some((span, text));
    }
    let tokens = folded.event.field("shadowedTokenCount");
    if tokens.and_then(Value::as_uint).is_none() {
        let found = tokens.map_or("none".into(), describe);
        let text =
            format!("expected shadowedTokenCount to be a safe integer that is not negative, found {found}");
        return Some((tokens, text));
    }
    None
}

fn turn(value: Option<Value<'_>>) -> Turn {
    let value = value?;
    if value.is_null() { Some(None) } else { value.as_double().map(Some) }
}

fn range(value: Value<'_>) -> Option<(u64, u64)> {
    Some((value.get("start")?.as_uint()?, value.get("end")?.as_uint()?))
}

fn seqs(value: Value<'_>) -> Option<Vec<u64>> {
    if value.kind() != Kind::Array {
        return None;
    }
    value.elements().map(Value::as_uint).collect()
}

fn canonical(value: Option<Value<'_>>) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(value) = value {
        print::canonical(value, &mut out);
    }
    out
}

fn show(id: &[u8]) -> String {
    if id.is_empty() { "without an id".into() } else { String::from_utf8_lossy(id).into_owned() }
}
