//! The smallest log that still breaks a rule.
//!
//! Everything behind the place goes first, and everything in front of it where nothing of that is needed; then stretches
//! of turns, of steps and of lines, in halves and smaller, and brackets around what may stay; then texts become short. A smaller log is kept when it breaks the rule and no
//! rule that the log did not break before, so that what comes out shows one thing.

use super::lines::{Bracket, Script};
use foldproof::check::{Input, Options, check};
use foldproof::json::{Kind, Scanner, Value};
use foldproof::limits::READ_DEPTH;
use foldproof::rule::Rule;
use std::collections::BTreeSet;
use std::ops::Range;

/// What reducing came to.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The log.
    pub text: Vec<u8>,
    /// Logs that were checked.
    pub runs: u64,
    /// Whether it ended by itself, and not by its bound or a person.
    pub finished: bool,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Reached {
    /// Lines that are left.
    pub lines: usize,
    /// Logs that were checked.
    pub runs: u64,
}

/// Bounds, and who looks on.
pub struct Bounds<'b> {
    /// Logs to check at most.
    pub runs: u64,
    /// Whether to stop.
    pub stop: &'b dyn Fn() -> bool,
    /// Told now and then.
    pub tell: &'b dyn Fn(Reached),
}

/// Reduces the decoded text of a log; nothing when it does not break the rule.
pub fn reduce(text: Vec<u8>, rule: Rule, options: &Options, bounds: &Bounds<'_>) -> Option<Reduced> {
    let first = found(&text, options)?;
    if !first.iter().any(|(broken, _)| *broken == rule) {
        return None;
    }
    let allowed = first.iter().map(|(rule, _)| *rule).collect();
    let size = text.len();
    let work = WORK.1.max(WORK.0 * size as u64);
    let mut search = Search { best: Script::new(text), rule, allowed, options, bounds, runs: 1, work, size };
    let last = first.iter().filter(|(broken, _)| *broken == rule).map(|(_, line)| *line).min().unwrap_or(0);
    let last = usize::try_from(last).unwrap_or(usize::MAX);
    if last < search.best.len() {
        search.offer(std::slice::from_ref(&(last..search.best.len())));
    }
    // What needs nothing that stands in front of it is done at once, however long the log is.
    if last == search.best.len() && last > 2 {
        search.offer(std::slice::from_ref(&(1..last - 1)));
    }
    loop {
        let before = search.size;
        for starts in [&[Bracket::TurnStart][..], &[Bracket::TurnStart, Bracket::TurnEnd, Bracket::StepStart]]
        {
            let is = |place: usize, script: &Script| {
                place == 1 || script.bracket(place).is_some_and(|bracket| starts.contains(&bracket))
            };
            search.stretches(&is);
        }
        search.stretches(&|_, _| true);
        search.nested();
        search.texts();
        if search.size == before || search.is_over() {
            break;
        }
    }
    let finished = !search.is_over();
    Some(Reduced { text: search.best.text(), runs: search.runs, finished })
}

/// The rules that a log breaks, and where it does so first; nothing when it meets a limit.
fn found(text: &[u8], options: &Options) -> Option<Vec<(Rule, u64)>> {
    let report = check(Input::Plain(Box::new(text)), options).ok()?;
    Some(report.findings.list.iter().map(|finding| (finding.rule, finding.line)).collect())
}

struct Search<'s> {
    best: Script,
    rule: Rule,
    /// Rules that may be broken.
    allowed: BTreeSet<Rule>,
    options: &'s Options,
    bounds: &'s Bounds<'s>,
    runs: u64,
    /// Bytes that may still be checked.
    work: u64,
    size: usize,
}

/// Bytes to check at most, as a multiple of the log's, and at least.
const WORK: (u64, u64) = (64, 1 << 30);

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.work == 0 || self.runs >= self.bounds.runs || (self.bounds.stop)()
    }

    /// Keeps the log without these lines when it still breaks the rule.
    fn offer(&mut self, gone: &[Range<usize>]) -> bool {
        self.keep(self.best.without(gone))
    }

    fn keep(&mut self, script: Script) -> bool {
        if self.is_over() {
            return false;
        }
        self.runs += 1;
        let text = script.text();
        self.work = self.work.saturating_sub(text.len() as u64);
        let broken = found(&text, self.options).unwrap_or_default();
        let smaller = text.len() < self.size
            && broken.iter().any(|(rule, _)| *rule == self.rule)
            && broken.iter().all(|(rule, _)| self.allowed.contains(rule));
        if smaller {
            self.allowed = broken.iter().map(|(rule, _)| *rule).collect();
            self.size = text.len();
            // Most of a long log is gone soon; what is left is then taken apart anew, and the rest is forgotten.
            self.best = if script.is_sparse() { Script::new(text) } else { script };
        }
        (self.bounds.tell)(Reached { lines: self.best.len(), runs: self.runs });
        smaller
    }

    /// Stretches of lines between places that `starts` names, in halves, then in smaller ones, then one by one; from
    /// behind, because what comes later speaks of what came before.
    fn stretches(&mut self, starts: &dyn Fn(usize, &Script) -> bool) {
        let mut bounds: Vec<usize> =
            (0..self.best.len()).filter(|place| starts(*place, &self.best)).collect();
        bounds.push(self.best.len());
        let mut width = (bounds.len() - 1).div_ceil(2);
        while width > 0 && !self.is_over() {
            let mut end = bounds.len() - 1;
            while end > 0 && !self.is_over() {
                let start = end.saturating_sub(width);
                let gone = bounds[start]..bounds[end];
                let less = gone.len();
                if self.offer(&[gone]) {
                    bounds.drain(start..end);
                    bounds[start..].iter_mut().for_each(|bound| *bound -= less);
                }
                end = start;
            }
            width /= 2;
        }
    }

    /// Turns and steps as brackets whose inside stays.
    fn nested(&mut self) {
        for (open, close) in [(Bracket::TurnStart, Bracket::TurnEnd), (Bracket::StepStart, Bracket::StepEnd)]
        {
            let mut behind = self.best.len();
            let is = |script: &Script, place: usize, bracket| script.bracket(place) == Some(bracket);
            while let Some(start) = (0..behind).rev().find(|place| is(&self.best, *place, open)) {
                let end = (start..self.best.len()).find(|place| is(&self.best, *place, close));
                let end = end.unwrap_or(self.best.len() - 1);
                if end > start && !self.offer(std::slice::from_ref(&(start..end + 1))) {
                    self.offer(&[start..start + 1, end..end + 1]);
                }
                behind = start;
                if self.is_over() {
                    return;
                }
            }
        }
    }

    /// Strings and containers inside `data`, and other members of the envelope that may be empty.
    fn texts(&mut self) {
        // Lines that were left with the numbers of a longer log get their own.
        self.best = self.best.settled();
        for place in (0..self.best.len()).rev() {
            let mut next = 0;
            while !self.is_over() {
                let line = self.best.line(place);
                let Some((at, with)) = long(line, next) else { break };
                let changed = [&line[..at.start], with, &line[at.end..]].concat();
                let script = self.best.with(place, &changed);
                // A container that may not be emptied is looked into.
                next = if self.keep(script) { at.start + with.len() } else { at.start + 1 };
            }
        }
    }
}

/// The first value of a line that begins at `from` or behind it and could be shorter, and what could stand for it.
fn long(line: &[u8], from: usize) -> Option<(Range<usize>, &'static [u8])> {
    let mut scanner = Scanner::new(READ_DEPTH);
    std::str::from_utf8(line).ok()?;
    let scan = scanner.scan(line.trim_ascii_end()).ok()?;
    let mut open = vec![scan.root()];
    let mut best: Option<(Range<usize>, &'static [u8])> = None;
    while let Some(value) = open.pop() {
        let children: Vec<Value<'_>> = match value.kind() {
            Kind::Object => value.members().map(|(_, value)| value).collect(),
            Kind::Array => value.elements().collect(),
            _ => vec![],
        };
        for child in children {
            if child.end() <= from {
                continue;
            }
            let short: Option<&'static [u8]> = match child.kind() {
                Kind::Object if child.bytes().len() > 2 => Some(b"{}"),
                Kind::Array if child.bytes().len() > 2 => Some(b"[]"),
                Kind::String if child.bytes().len() > 3 => Some(b"\"\""),
                _ => None,
            };
            if let Some(short) = short
                && child.at() >= from
                && best.as_ref().is_none_or(|(range, _)| child.at() < range.start)
            {
                best = Some((child.at()..child.end(), short));
            }
            if matches!(child.kind(), Kind::Object | Kind::Array) {
                open.push(child);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_shorter() {
        let line = br#"{"a":1,"b":{"c":"long"},"d":"x"}"#;
        assert_eq!(long(line, 0), Some((11..23, &b"{}"[..])));
        assert_eq!(long(line, 12), Some((16..22, &b"\"\""[..])));
        assert_eq!(long(line, 17), None);
    }
}
