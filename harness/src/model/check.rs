//! A whole log through all stages.

use super::event::Event;
use super::rules::{self, Class, Finding, Mode, Report};
use super::store::{self, Stored};
use super::tree::{Tree, Value};
use super::{Dialect, admit, relation, vocabulary};
use std::sync::Arc;

/// What a log folds to.
pub(crate) struct Folded {
    pub(crate) header: Option<Arc<Tree>>,
    pub(crate) events: Vec<Event>,
    pub(crate) findings: Vec<Finding>,
}

/// Checks a plain log: the header line and the event lines.
pub fn check(log: &[u8], dialect: Dialect, mode: Mode) -> Report {
    report(fold(log, false, dialect, mode))
}

/// Checks a compressed log (CODEC-3).
pub fn check_zstd(log: &[u8], dialect: Dialect, mode: Mode) -> Report {
    report(fold(log, true, dialect, mode))
}

fn report(folded: Folded) -> Report {
    Report {
        verdict: rules::verdict(&folded.findings),
        events: folded.events.len() as u64,
        findings: folded.findings,
    }
}

/// Reads, admits and relates. The findings of an earlier stage are the only ones.
pub(crate) fn fold(log: &[u8], zstd: bool, dialect: Dialect, mode: Mode) -> Folded {
    // The tutorial dialect has no released reader: all its rules are asked for.
    let mode = if dialect == Dialect::Tutorial { Mode::Strict } else { mode };
    let stored = if zstd { store::zstd(log, dialect, mode) } else { store::plain(log, dialect, mode) };
    let alone = |finding| Folded { header: None, events: Vec::new(), findings: vec![finding] };
    let stored = match stored {
        Ok(stored) => stored,
        Err(finding) => return alone(finding),
    };
    if let Some(event) = stored.events.iter().find(|event| is_unknown(event, dialect)) {
        let Event { line, seq, .. } = *event;
        return alone(Finding { rule: "VOCAB-1", class: Class::Unsupported, line, seq: Some(seq) });
    }
    admit_all(stored, dialect, mode)
}

/// VOCAB-1: a type outside the vocabulary that is not ignorable. A retired one is VOCAB-3.
fn is_unknown(event: &Event, dialect: Dialect) -> bool {
    event.at("type").is_some_and(|kind| kind.units().is_some())
        && !vocabulary::of(dialect).contains(&event.kind.as_str())
        && !admit::RETIRED.contains(&event.kind.as_str())
        && !event.at("ignorable").is_some_and(Value::is_true)
}

/// The first of the events that belong to a parent.
pub(crate) fn inherited(header: Option<&Tree>) -> u64 {
    header.and_then(|header| header.value().get("seedLength")).and_then(Value::natural).unwrap_or(0)
}

fn admit_all(stored: Stored, dialect: Dialect, mode: Mode) -> Folded {
    let Stored { header, events: incoming, mut findings } = stored;
    let total = incoming.len() as u64;
    let seed = inherited(header.as_ref());
    let mut events: Vec<Event> = Vec::new();
    let mut rejected = false;
    let mut found = |rule, class, event: &Event| {
        if mode.applies(rule) {
            findings.push(Finding { rule, class, line: event.line, seq: Some(event.seq) });
        }
    };
    for event in incoming {
        if let Some(rule) = admit::refuse(&event, &events, dialect, mode) {
            found(rule, Class::Reject, &event);
            rejected = true;
            break;
        }
        if event.respelled {
            found("JSON-7", Class::Note, &event);
        }
        events.push(event);
    }
    for (rule, event) in relation::breaches(&events, seed, dialect) {
        found(rule, Class::Relation, event);
    }
    if dialect == Dialect::DshV0 {
        for (rule, event) in relation::stream::notes(&events) {
            found(rule, Class::Note, event);
        }
    }
    if let Some(tail) = relation::tail::open(&events, dialect).filter(|_| !rejected) {
        if tail.is_hopeless() {
            found("REPAIR-6", Class::Relation, tail.turn);
        } else {
            found("REPAIR-2", Class::Repairable, tail.turn);
        }
    }
    if seed > total && mode.applies("STORE-8") {
        findings.push(Finding { rule: "STORE-8", class: Class::Relation, line: 1, seq: None });
    }
    findings.sort_by_key(|finding| (finding.line, finding.seq));
    Folded { header: header.map(Arc::new), events, findings }
}
