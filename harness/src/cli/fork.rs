//! FORK-3 and FORK-4 between a child and its parent, both read as streams.

use super::families::Fork;
use super::header::{self, KEPT};
use super::walk::Log;
use foldproof::codec::lines::{Item, Lines};
use foldproof::codec::rows::{Row, Tag};
use foldproof::finding::{Excerpt, Finding};
use foldproof::json::{Scanner, Value, print};
use foldproof::limits::{Limits, READ_DEPTH};
use foldproof::rule::{Rule, RuleSet};
use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;

/// What a child does not keep of its parent. `parent` and `child` are the logs; their own faults are reported elsewhere,
/// so the comparison ends where one of them cannot be read on.
pub fn compare(fork: &Fork, child: &Log, parent: &Log, limits: Limits) -> Vec<Finding> {
    let mut findings = kept(fork, parent);
    let count = AtomicU64::new(0);
    let streams = header::lines(child, limits, &count).zip(header::lines(parent, limits, &count));
    if let Some((ours, theirs)) = streams {
        findings.extend(history(fork, Events::new(ours), Events::new(theirs), parent));
    }
    findings
}

/// FORK-3.
fn kept(fork: &Fork, parent: &Log) -> Vec<Finding> {
    let mut findings = vec![];
    for ((name, ours), theirs) in KEPT.iter().zip(&fork.child.kept).zip(&fork.origin.kept) {
        let value = |member: &Option<(Vec<u8>, usize)>| {
            member
                .as_ref()
                .map_or("none".to_owned(), |(bytes, _)| String::from_utf8_lossy(bytes).into_owned())
        };
        if ours.as_ref().map(|(bytes, _)| bytes) == theirs.as_ref().map(|(bytes, _)| bytes) {
            continue;
        }
        let message = format!(
            "expected {name} to be that of the parent {}, {}, found {}",
            parent.name(),
            value(theirs),
            value(ours)
        );
        let at = ours.as_ref().map_or(0, |(_, at)| *at);
        findings.push(finding(Rule::Fork3, (1, at), None, message, &fork.child.line));
    }
    findings
}

/// FORK-4.
fn history(fork: &Fork, mut ours: Events<'_>, mut theirs: Events<'_>, parent: &Log) -> Option<Finding> {
    let inherited = fork.child.inherited?;
    for seq in 0..inherited {
        // A child shorter than its seedLength is STORE-8's finding, and damage is STORE-3's.
        let Next::Event(mine) = ours.next() else { return None };
        match theirs.next() {
            Next::Event(event) => {
                if event.bytes == mine.bytes {
                    continue;
                }
                let differs = event.bytes.iter().zip(&mine.bytes).position(|(a, b)| a != b);
                let at = differs.unwrap_or(event.bytes.len().min(mine.bytes.len()));
                let message = format!(
                    "the inherited event {seq} differs from the parent's ({}:{}) from byte {} of its canonical form on",
                    parent.name(),
                    event.line,
                    at + 1
                );
                // Columns count bytes of the line, which are those of the canonical form where it is spelled so.
                let at = if ours.text == mine.bytes { at } else { 0 };
                return Some(finding(Rule::Fork4, (mine.line, at), Some(seq), message, &ours.text));
            }
            Next::End => {
                let message = format!(
                    "{inherited} events are inherited, but the parent {} holds only {seq}",
                    parent.name()
                );
                return Some(finding(Rule::Fork4, (mine.line, 0), Some(seq), message, &ours.text));
            }
            Next::Unknown => return None,
        }
    }
    None
}

fn finding(rule: Rule, (line, at): (u64, usize), seq: Option<u64>, message: String, text: &[u8]) -> Finding {
    Finding {
        rule,
        class: rule.info().class,
        line,
        column: at as u64 + 1,
        seq,
        message,
        help: rule.info().help.to_owned(),
        stage: None,
        excerpt: (text.len() <= foldproof::limits::EXCERPT).then(|| Excerpt { text: text.into(), from: 0 }),
    }
}

/// An event in canonical form, and the line that it stands in.
struct Event {
    bytes: Vec<u8>,
    line: u64,
}

enum Next {
    Event(Event),
    End,
    /// What comes cannot be read, or was never committed.
    Unknown,
}

/// The events of a stored log, rows unpacked.
struct Events<'a> {
    lines: Lines<'a>,
    scanner: Scanner,
    /// Events of the line that was read last.
    ready: VecDeque<Vec<u8>>,
    /// Its number and text.
    line: u64,
    text: Vec<u8>,
    /// Events of that line that were made ready so far, when it is a row that holds more.
    pending: Option<usize>,
}

/// Events of a row that are made ready at once: a row of a few bytes an event can hold millions.
const BATCH: usize = 1 << 18;

impl<'a> Events<'a> {
    fn new(lines: Lines<'a>) -> Self {
        Events {
            lines,
            // How deep a log may nest is the log's own finding; here it is only compared.
            scanner: Scanner::new(READ_DEPTH),
            ready: VecDeque::new(),
            line: 0,
            text: vec![],
            pending: None,
        }
    }

    fn next(&mut self) -> Next {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Next::Event(Event { bytes, line: self.line });
            }
            if let Some(done) = self.pending {
                if self.unpack(done).is_none() {
                    return Next::Unknown;
                }
                continue;
            }
            match self.lines.read() {
                Ok(Item::FrameEnd) => {}
                Ok(Item::Line { bytes, number, ended: true, .. }) => {
                    // The header was read before.
                    if number > 1 {
                        self.text.clear();
                        self.text.extend_from_slice(bytes);
                        self.line = number;
                        if self.unpack(0).is_none() {
                            return Next::Unknown;
                        }
                    }
                }
                Ok(Item::End) => return Next::End,
                Ok(Item::Line { .. } | Item::Torn | Item::Damage(_)) | Err(_) => return Next::Unknown,
            }
        }
    }

    /// Makes events of the line ready, behind the first `done`.
    fn unpack(&mut self, done: usize) -> Option<()> {
        self.pending = None;
        std::str::from_utf8(&self.text).ok()?;
        let scan = self.scanner.scan(&self.text).ok()?;
        // What is not indexed cannot be printed.
        if scan.fault_of(RuleSet::EMPTY.with(Rule::Json5)).is_some() {
            return None;
        }
        let root = scan.root();
        if !root.is_object() {
            return None;
        }
        match root.get("type").and_then(Value::as_str).and_then(Tag::of) {
            Some(tag) => {
                let row = Row::read(root, tag).ok()?;
                for member in row.members().skip(done).take(BATCH) {
                    let mut bytes = vec![];
                    row.unpack(&member, &mut bytes);
                    self.ready.push_back(bytes);
                }
                let done = done + BATCH;
                self.pending = (row.count > done as u64).then_some(done);
            }
            None => {
                let mut bytes = vec![];
                print::canonical(root, &mut bytes);
                self.ready.push_back(bytes);
            }
        }
        Some(())
    }
}
