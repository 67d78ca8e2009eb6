//! How much of a prompt the next one can use again.
//!
//! A prompt, as a provider caches it, is the model, the system text, the tools and then the messages: what differs in
//! one of the first three leaves nothing to be used again, what differs in another setting leaves everything.

use super::headers::{Headers, spoiler};
use super::prompt::{Passed, Prompt, Story, Stretch};
use foldproof::dialect::Role;
use foldproof::json::Scanner;
use foldproof::log::Log;
use foldproof::request::{Boundary, boundaries};

/// How much of an earlier prompt a later one begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reuse {
    /// What both begin with.
    pub kept: Stretch,
    /// The earlier prompt.
    pub of: Stretch,
    /// The member in front of the messages that spoils it all.
    pub spoiled: Option<String>,
}

impl Reuse {
    /// Thousandths of the earlier prompt's bytes, rounded down; an empty one is kept whole.
    pub fn permille(&self) -> u64 {
        if self.of.bytes == 0 {
            return if self.spoiled.is_some() { 0 } else { 1000 };
        }
        self.kept.bytes * 1000 / self.of.bytes
    }
}

/// What is kept of a prompt, when nothing or `spoiled` differs in front of its messages.
pub(super) fn reuse(kept: Stretch, of: Stretch, spoiled: Option<String>) -> Reuse {
    Reuse { kept: if spoiled.is_some() { Stretch::default() } else { kept }, of, spoiled }
}

/// What broke a prompt's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Another `request/header`.
    Header,
    /// A checkpoint that a compaction wrote.
    Compaction,
    /// A replace that a `compaction/prune` priced.
    Prune,
    /// Another replace.
    Replace,
}

impl Cause {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Header => "header",
            Cause::Compaction => "compaction",
            Cause::Prune => "prune",
            Cause::Replace => "replace",
        }
    }
}

/// A request and what it keeps of the one before.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Which step and attempt.
    pub of: Boundary,
    /// Its messages.
    pub messages: Stretch,
    /// What it keeps; nothing for the first request.
    pub reuse: Option<Reuse>,
    /// The event that broke the prefix, if it was broken.
    pub broken: Option<(Cause, u64)>,
}

/// Each request of a log against the one before.
pub fn requests(log: &Log) -> Vec<Kept> {
    let story = Story::new(log);
    let base = Story::base(&[&story]);
    let [mut former, mut prompt] = [Prompt::new(&story, base), Prompt::new(&story, base)];
    let headers = Headers::new(log);
    let mut list: Vec<Kept> = vec![];
    for of in boundaries(log) {
        let mut passed: Vec<Passed> = vec![];
        prompt.advance(of.count, |replace| passed.push(replace));
        let (mut kept, mut broken) = (None, None);
        if let Some(last) = list.last() {
            let (before, now) = (headers.at(last.of.count), headers.at(of.count));
            let same = match passed.is_empty() {
                true => former.all(),
                false => former.common(&prompt),
            };
            let reuse = reuse(same, former.all(), spoiler(before, now));
            broken = if reuse.spoiled.is_some() {
                now.map(|(seq, _)| (Cause::Header, *seq))
            } else if same.messages < former.all().messages {
                culprit(log, &prompt, last.of.count, same.messages, &passed)
            } else {
                None
            };
            kept = Some(reuse);
        }
        former.advance(of.count, |_| {});
        list.push(Kept { of, messages: prompt.all(), reuse: kept, broken });
    }
    list
}

/// The replace that gave the first message which differs, else the one that stood furthest in front.
fn culprit(
    log: &Log,
    prompt: &Prompt<'_>,
    since: u64,
    index: u64,
    passed: &[Passed],
) -> Option<(Cause, u64)> {
    let given = prompt.seq(index).filter(|seq| *seq >= since && log.is_replace(*seq));
    let seq = given.or_else(|| {
        passed
            .iter()
            .filter(|replace| replace.index <= index)
            .min_by_key(|replace| replace.index)
            .map(|r| r.seq)
    })?;
    let line = log.line(seq)?;
    let mut scanner = Scanner::new(u64::MAX);
    let compacts =
        scanner.scan(&line).is_ok_and(|scan| scan.root().path(&["data", "source", "compactionId"]).is_some());
    let pruned = seq.checked_sub(1).is_some_and(|before| log.role(before) == Role::CompactionPrune);
    let cause = match (compacts, pruned) {
        (true, _) => Cause::Compaction,
        (_, true) => Cause::Prune,
        _ => Cause::Replace,
    };
    Some((cause, seq))
}
