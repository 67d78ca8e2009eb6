//! A finding: a rule, where it was broken, what was expected and what was found.

use crate::limits::FINDINGS;
use crate::rule::{Class, Rule, Stage};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An event breaks a rule: what a check says before it knows in which line the event stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// Offset in the event's line, in bytes.
    pub at: usize,
    /// What was expected and what was found, in one sentence without a full stop.
    pub message: String,
}

impl Violation {
    /// From its parts.
    pub fn new(rule: Rule, at: usize, message: impl Into<String>) -> Self {
        Violation { rule, at, message: message.into() }
    }
}

/// A rule broken at a place of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// How bad it is here.
    pub class: Class,
    /// File line, counted from 1 with the header as line 1.
    pub line: u64,
    /// Byte of the decoded line, counted from 1.
    pub column: u64,
    /// The event's seq, where there is one.
    pub seq: Option<u64>,
    /// What was expected and what was found.
    pub message: String,
    /// What can be done; empty where the message says it all.
    pub help: String,
    /// The released reader's stage that the rule belongs to, when the released reader was asked for.
    pub stage: Option<Stage>,
    /// The line, or the part of it around the place, when excerpts were asked for.
    pub excerpt: Option<Excerpt>,
}

impl Finding {
    /// The column in characters, counted from 1, where the excerpt holds all that stands before the place.
    pub fn character(&self) -> Option<u64> {
        let excerpt = self.excerpt.as_ref().filter(|excerpt| excerpt.from == 0)?;
        let before = usize::try_from(self.column).unwrap_or(usize::MAX).saturating_sub(1);
        let before = &excerpt.text[..before.min(excerpt.text.len())];
        Some(String::from_utf8_lossy(before).chars().count() as u64 + 1)
    }
}

/// A line of the log, or the part of it around a finding's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Its bytes.
    pub text: Arc<[u8]>,
    /// Offset of the first byte in the line.
    pub from: usize,
}

/// The result of checking one log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// In the order of the log, [`crate::limits::FINDINGS`] and behind them the first of every other rule and class.
    pub list: Vec<Finding>,
    /// Findings beyond those, which were counted only.
    pub more: u64,
    /// Of which rule and class there were how many, listed or not.
    counts: BTreeMap<(Rule, Class), u64>,
}

impl Findings {
    /// Adds one.
    pub fn push(&mut self, finding: Finding) {
        let count = self.counts.entry((finding.rule, finding.class)).or_default();
        *count += 1;
        if self.list.len() < FINDINGS || *count == 1 {
            self.list.push(finding);
        } else {
            self.more += 1;
        }
    }

    /// Counts more of what is listed already.
    pub fn count(&mut self, rule: Rule, class: Class, count: u64) {
        *self.counts.entry((rule, class)).or_default() += count;
        self.more += count;
    }

    /// The strongest class found.
    pub fn strongest(&self) -> Option<Class> {
        self.counts.keys().map(|(_, class)| *class).max()
    }

    /// True when nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Keeps the findings of the rules for which `keep` holds, also among those that were counted only.
    pub fn retain(&mut self, mut keep: impl FnMut(Rule) -> bool) {
        self.counts.retain(|(rule, _), _| keep(*rule));
        self.list.retain(|finding| keep(finding.rule));
        self.more = self.counts.values().sum::<u64>() - self.list.len() as u64;
    }
}
