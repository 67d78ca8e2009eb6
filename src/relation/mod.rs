//! Relations between events (contract, sections 9, 12 and 13): each a left fold that returns findings.
//!
//! Findings of class `relation` never stop a log from folding; each fold settles on a state after a finding, so that
//! one mistake is reported once.

pub(crate) mod calls;
mod compaction;
mod inbox;
mod life;
mod list;
mod pair;
mod sources;

pub use inbox::{Inbox, Pending};

use crate::admit::{Admission, Admitted, Change};
use crate::codec::rows::Row;
use crate::dialect::{Part, Role};
use crate::event::Event;
use crate::json::Value;
use crate::limits::LimitError;
use crate::rule::{Rule, RuleSet};
use compaction::Compaction;
use life::Life;
use pair::Pairs;
use sources::Attempts;

/// A place in a log: file line, offset in the line, seq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// File line, counted from 1.
    pub line: u64,
    /// Offset in the line.
    pub at: usize,
    /// The event's seq.
    pub seq: u64,
}

/// Takes a fold's findings: rule, place, and what was expected and found.
pub type Sink<'s> = dyn FnMut(Rule, Place, String) + 's;

/// An event that was folded, as the relations see it.
#[derive(Clone, Copy)]
pub struct Folded<'a> {
    /// The event.
    pub event: &'a Event<'a>,
    /// What admission made of it.
    pub admitted: Admitted<'a>,
    /// The admission state behind it.
    pub admission: &'a Admission,
    /// File line.
    pub line: u64,
}

impl<'a> Folded<'a> {
    /// Its part in the conversation, for a surface event.
    pub fn part(&self) -> Option<Part> {
        match self.event.role {
            Role::Surface(place) => Some(self.admission.dialect().surface[usize::from(place)].part),
            _ => None,
        }
    }

    /// Its message, also where it projects to nothing.
    pub fn message(&self) -> Option<Value<'a>> {
        match self.event.role {
            Role::Surface(place) => {
                crate::shape::message(&self.admission.dialect().surface[usize::from(place)], self.event)
            }
            _ => None,
        }
    }

    /// Whether it replaced a span.
    pub fn is_replace(&self) -> bool {
        matches!(self.admitted.change, Change::Replace(_))
    }

    /// The place of a value of the event, or of the event.
    pub fn place(&self, value: Option<Value<'_>>) -> Place {
        let at = value.map_or(self.event.root.at(), Value::at);
        Place { line: self.line, at, seq: self.admitted.seq }
    }
}

/// Every relation of a log, folded together.
#[derive(Debug)]
pub struct Relations {
    life: Option<Life>,
    pairs: Option<Pairs>,
    inbox: Option<Inbox>,
    compaction: Option<Compaction>,
    attempts: Option<Attempts>,
}

impl Relations {
    /// The relations that `rules` ask for. `inherited` events at the start do not fill the inbox (INBOX-3).
    pub fn new(rules: RuleSet, inherited: u64) -> Self {
        let any = |list: &[Rule]| list.iter().any(|rule| rules.has(*rule));
        let life = [Rule::Life1, Rule::Life2, Rule::Life3, Rule::Life4, Rule::Life5];
        let pairs = [Rule::Pair1, Rule::Pair2, Rule::Pair3, Rule::Pair4, Rule::Shape6];
        let compaction = [Rule::Comp1, Rule::Comp2, Rule::Comp3, Rule::Comp4, Rule::Comp5];
        Relations {
            life: any(&life).then(|| Life::new(rules)),
            pairs: any(&pairs).then(|| Pairs::new(rules)),
            inbox: any(&[Rule::Inbox1, Rule::Inbox2]).then(|| Inbox::new(inherited, rules)),
            compaction: any(&compaction).then(|| Compaction::new(rules)),
            attempts: any(&[Rule::Pair5]).then(Attempts::new),
        }
    }

    /// Folds one admitted event.
    pub fn fold(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) -> Result<(), LimitError> {
        if let Some(life) = &mut self.life {
            life.fold(folded, sink);
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.fold(folded, sink)?;
        }
        if let Some(inbox) = &mut self.inbox {
            inbox.fold(folded, sink);
        }
        if let Some(compaction) = &mut self.compaction {
            compaction.fold(folded, sink);
        }
        if let Some(attempts) = &mut self.attempts {
            attempts.fold(folded, sink);
        }
        Ok(())
    }

    /// Folds a packed row: the same as folding its events one by one.
    pub fn fold_row(&mut self, row: &Row<'_>, line: u64, sink: &mut Sink<'_>) {
        if let Some(life) = &mut self.life {
            life.fold_row(row, line, sink);
        }
        if let Some(compaction) = &mut self.compaction {
            compaction.fold_row(sink);
        }
        if let Some(attempts) = &mut self.attempts {
            attempts.fold_row(row);
        }
    }
}
