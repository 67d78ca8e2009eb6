//! A finding: a rule, where it was broken, what was expected and what was found.

use crate::rule::{Class, Rule, Stage};
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
    /// In the order of the log, at most [`crate::limits::FINDINGS`].
    pub list: Vec<Finding>,
    /// Findings beyond that many, which were counted only.
    pub more: u64,
    strongest: Option<Class>,
}

impl Findings {
    /// Adds one.
    pub fn push(&mut self, finding: Finding) {
        if finding.class > Class::Note || self.strongest.is_none() {
            self.strongest = self.strongest.max(Some(finding.class));
        }
        if self.list.len() < crate::limits::FINDINGS {
            self.list.push(finding);
        } else {
            self.more += 1;
        }
    }

    /// The strongest class found.
    pub fn strongest(&self) -> Option<Class> {
        self.strongest
    }

    /// True when nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Keeps the findings for which `keep` holds.
    pub fn retain(&mut self, keep: impl FnMut(&Finding) -> bool) {
        self.list.retain(keep);
        self.strongest = self.list.iter().map(|finding| finding.class).max();
    }
}
