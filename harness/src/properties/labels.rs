//! Labels: what a case was about. A campaign counts them, and one that never occurs fails the campaign's own check.

use crate::case::{Append, Behaviour, Call, Case, Encoding, Inherited, LogSource, Op, Piece, Ref, SurfaceOp};
use crate::systems::{Outcome, Trace};
use memchr::memmem;
use std::collections::{BTreeMap, BTreeSet};

/// All labels, in the order in which they are reported.
pub const LABELS: &[&str] = &[
    "chunks",
    "tool-call",
    "parallel-calls",
    "replace",
    "replace-over-replace",
    "tool-result-rewrite",
    "whole-surface-replace",
    "fork",
    "fork-of-fork",
    "fork-in-the-middle",
    "fork-refused",
    "seed",
    "resume",
    "retry",
    "several-attempts",
    "interrupted",
    "empty-message",
    "header-change",
    "adapter-defaults",
    "unknown-ignorable",
    "unknown-required-refused",
    "compaction-complete",
    "compaction-failed",
    "compaction-stale",
    "prune",
    "inbox-splice",
    "repaired-tail",
    "repair-refused",
    "packed",
    "zstd",
    "load-refused",
    "refused-JSON",
    "refused-ENV",
    "refused-VOCAB",
    "refused-SHAPE",
    "refused-SURF",
    "refused-without-rule",
    "gate-passed",
    "gate-stopped",
    "observer",
    "observer-throws",
    "observer-reenters",
    "mutation",
];

/// The labels of a case, in the order of [`LABELS`].
pub fn labels(case: &Case, trace: &Trace) -> Vec<&'static str> {
    let mut tally = Tally::default();
    for (place, (op, step)) in case.ops.iter().zip(&trace.steps).enumerate() {
        tally.step(place, op, &step.outcome, trace);
    }
    tally.finish();
    LABELS.iter().copied().filter(|label| tally.found.contains(label)).collect()
}

/// What is known of a session on the way.
#[derive(Clone, Default)]
struct Seen {
    /// The nodes of the surface, and those among all that came by a replace. Loaded events are not looked into.
    nodes: Vec<u64>,
    replacements: BTreeSet<u64>,
    forked: bool,
    headers: u64,
    retries: u64,
    brackets: u64,
}

#[derive(Default)]
struct Tally {
    found: BTreeSet<&'static str>,
    sessions: BTreeMap<String, Seen>,
}

impl Tally {
    fn step(&mut self, place: usize, op: &Op, outcome: &Outcome, trace: &Trace) {
        let rule = match outcome {
            Outcome::Err { rule, .. } => Some(rule.as_deref().unwrap_or_default()),
            _ => None,
        };
        let answer = outcome.ok();
        match &op.call {
            Call::Append(append) => match (answer, rule) {
                (Some(answer), _) => {
                    let seq = crate::case::seq_of(answer).unwrap_or(0);
                    self.append(&op.session, append, seq, trace);
                }
                (_, Some(rule)) => self.refused(rule),
                _ => {}
            },
            Call::Open { inherited: Some(inherited), .. } if answer.is_some() => {
                self.add("seed", true);
                self.add("resume", matches!(inherited, Inherited::Op(_)));
            }
            Call::Open { .. } => self.refused_by(rule),
            Call::Restore { log, encoding } => {
                self.add("load-refused", rule.is_some());
                self.refused_by(rule);
                self.add("unknown-required-refused", rule == Some("VOCAB-1"));
                self.add("zstd", answer.is_some() && *encoding == Encoding::Zstd);
                self.add("resume", answer.is_some() && matches!(log, LogSource::Dump(_)));
                let ignorable = |log: &LogSource| match log {
                    LogSource::Bytes(bytes) => contains(bytes.bytes(), "\"ignorable\":true"),
                    LogSource::Dump(_) => false,
                };
                self.add("unknown-ignorable", answer.is_some() && ignorable(log));
            }
            Call::Fork { boundary, child } => {
                self.add("fork-refused", rule.is_some());
                if answer.is_some() {
                    self.fork(&op.session, boundary.as_ref(), child, trace);
                }
            }
            Call::Dump { packed, encoding } => {
                let rows = answer.is_some_and(|log| log.contains("-chunks\\\""));
                self.add("packed", *packed && rows);
                self.add("zstd", answer.is_some() && *encoding == Encoding::Zstd);
            }
            Call::Repair => {
                self.add("repaired-tail", answer.is_some_and(|events| events != "[]"));
                self.add("repair-refused", rule == Some("REPAIR-6"));
            }
            Call::CheckRequest { .. } => {
                self.add("gate-passed", answer == Some("null"));
                self.add("gate-stopped", answer.is_some_and(|answer| answer != "null"));
            }
            Call::Observe { behaviour } => {
                self.add("observer", true);
                self.add("observer-throws", *behaviour == Behaviour::Throw);
                self.add("observer-reenters", *behaviour == Behaviour::Reenter);
            }
            Call::Mutate { .. } => self.add("mutation", place > 0),
            _ => {}
        }
    }

    fn add(&mut self, label: &'static str, holds: bool) {
        if holds {
            self.found.insert(label);
        }
    }

    /// What only a whole event can break is refused where events are given as a whole.
    fn refused_by(&mut self, rule: Option<&str>) {
        if let Some(rule) = rule
            && ["JSON-", "ENV-", "VOCAB-", "SHAPE-", "SURF-"].iter().any(|area| rule.starts_with(area))
        {
            self.refused(rule);
        }
    }

    fn refused(&mut self, rule: &str) {
        let label = match rule.split('-').next().unwrap_or_default() {
            "JSON" => "refused-JSON",
            "ENV" => "refused-ENV",
            "VOCAB" => "refused-VOCAB",
            "SHAPE" => "refused-SHAPE",
            "SURF" => "refused-SURF",
            _ => "refused-without-rule",
        };
        self.add(label, true);
    }

    fn append(&mut self, session: &str, append: &Append, seq: u64, trace: &Trace) {
        let mut text = Vec::new();
        for piece in append.data.pieces() {
            match piece {
                Piece::Text(part) => text.extend_from_slice(part.bytes()),
                Piece::Seq(_) => text.push(b'0'),
            }
        }
        let says = |part: &str| contains(&text, part);
        let mut seen = self.sessions.remove(session).unwrap_or_default();
        match append.kind.as_str() {
            "assistant/chunk" => self.add("chunks", true),
            "tool/call" => self.add("tool-call", true),
            "assistant/message" => {
                self.add("empty-message", says("\"content\":[]"));
                self.add("interrupted", says("\"interrupted\":true"));
                let calls = memmem::find_iter(&text, CALL).count();
                self.add("parallel-calls", calls > 1);
            }
            "turn/end" => self.add("interrupted", says("\"kind\":\"interrupted\"")),
            "request/header" => {
                seen.headers += 1;
                self.add("header-change", seen.headers > 1);
                self.add("adapter-defaults", says("\"adapterDefaults\":{\""));
            }
            "llm/retry-started" => {
                seen.retries += 1;
                self.add("retry", true);
                self.add("several-attempts", seen.retries > 1);
            }
            "step/start" => seen.retries = 0,
            "compaction/start" => seen.brackets += 1,
            "compaction/end" => {
                seen.brackets = seen.brackets.saturating_sub(1);
                self.add("compaction-failed", says("\"error\":"));
                self.add("compaction-complete", !says("\"error\":"));
            }
            "compaction/prune" => self.add("prune", true),
            "agent/inbox/spliced" => self.add("inbox-splice", true),
            _ => {}
        }
        self.surface(append, seq, &mut seen, trace);
        self.sessions.insert(session.to_owned(), seen);
    }

    fn surface(&mut self, append: &Append, seq: u64, seen: &mut Seen, trace: &Trace) {
        match &append.surface_op {
            Some(SurfaceOp::Append) => seen.nodes.push(seq),
            Some(SurfaceOp::Replace { start, end }) => {
                self.add("replace", true);
                self.add("tool-result-rewrite", append.kind == "tool/result");
                let (start, end) = (number(start, trace), number(end, trace));
                let place = |seq: u64| seen.nodes.iter().position(|node| *node == seq);
                if let (Some(first), Some(last)) = (place(start), place(end))
                    && first <= last
                {
                    let over = seen.nodes[first..=last].iter().any(|node| seen.replacements.contains(node));
                    self.add("replace-over-replace", over);
                    self.add("whole-surface-replace", last - first + 1 == seen.nodes.len() && first < last);
                    seen.nodes.splice(first..=last, [seq]);
                }
                seen.replacements.insert(seq);
            }
            _ => {}
        }
    }

    fn fork(&mut self, parent: &str, boundary: Option<&Ref>, child: &str, trace: &Trace) {
        self.add("fork", true);
        let mut seen = self.sessions.get(parent).cloned().unwrap_or_default();
        self.add("fork-of-fork", seen.forked);
        if let Some(boundary) = boundary.map(|boundary| number(boundary, trace)) {
            self.add("fork-in-the-middle", seen.nodes.iter().any(|node| *node > boundary));
            // What was replaced behind the boundary is back in the child; that is not followed here.
            seen.nodes.retain(|node| *node <= boundary);
        }
        seen.forked = true;
        self.sessions.insert(child.to_owned(), seen);
    }

    fn finish(&mut self) {
        let stale = self.sessions.values().any(|seen| seen.brackets > 0);
        self.add("compaction-stale", stale);
    }
}

/// What a call looks like in a message.
const CALL: &[u8] = b"\"type\":\"tool-call\"";

fn contains(text: &[u8], part: &str) -> bool {
    memmem::find(text, part.as_bytes()).is_some()
}

fn number(reference: &Ref, trace: &Trace) -> u64 {
    match reference {
        Ref::Op(op) => trace.ok(*op).and_then(crate::case::seq_of).unwrap_or(0),
        other => crate::systems::boundary(other).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::{Core, System};

    #[test]
    fn a_compaction_and_a_fork_are_seen() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpora/sessions/");
        let log = |name: &str| std::fs::read(format!("{folder}{name}")).expect("a session of the corpora");
        let case = crate::import::import(&log("compaction-over-compaction.jsonl"), None);
        let found = labels(&case, &Core.run(&case));
        for label in ["replace", "replace-over-replace", "compaction-complete"] {
            assert!(found.contains(&label), "{label} in {found:?}");
        }
        let places: Vec<usize> =
            found.iter().filter_map(|label| LABELS.iter().position(|known| known == label)).collect();
        assert!(places.is_sorted() && places.len() == found.len());
    }
}
