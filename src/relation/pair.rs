//! Calls and their results (PAIR-1 to PAIR-4), and message ids on the surface (SHAPE-6).
//!
//! A *group* is an assistant message with the results behind it. On the surface every group must be whole; only the
//! last one may have calls that are not answered yet, while its step is open (PAIR-2). Empty assistant messages
//! separate nothing.

use super::{Folded, Sink, calls};
use crate::admit::Change;
use crate::dialect::{Part, Role};
use crate::json::{Str, Value};
use crate::limits::{Limit, LimitError, PAIR_STEPS};
use crate::rule::{Rule, RuleSet};
use crate::surface::Ordinal;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Stands for an id; ids may be long, and there are as many as there are messages.
type Digest = u128;

fn digest(id: Str<'_>) -> Digest {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&blake3::hash(&id.canonical()).as_bytes()[..16]);
    Digest::from_le_bytes(bytes)
}

/// What a surface node is to pairing.
#[derive(Clone, Debug)]
enum Fact {
    /// Separates nothing.
    Quiet,
    /// Separates groups; requests nothing.
    Other,
    /// An assistant message: its calls in `Pairs::calls`, and the step it was written in.
    Requests { calls: Range<u32>, step: u64 },
    /// A result, of this call.
    Answers(Digest),
}

#[derive(Debug)]
pub(super) struct Pairs {
    rules: RuleSet,
    facts: Vec<Fact>,
    calls: Vec<Digest>,
    /// Message ids by ordinal, and how often each is on the surface now.
    ids: Vec<Option<Digest>>,
    current: BTreeMap<Digest, u32>,
    /// Number of the step, counted over the log, and whether it is open.
    step: u64,
    step_open: bool,
    /// Calls requested in the open step and not answered in it, and those that a result of it answers (PAIR-3).
    unanswered: BTreeMap<Digest, String>,
    answered: BTreeSet<Digest>,
    /// Ids that `tool/call` opened in the open step (PAIR-1).
    started: BTreeSet<Digest>,
    /// The last group of the surface: its assistant message, and what it still waits for.
    tail: Option<Ordinal>,
    waiting: BTreeSet<Digest>,
    budget: u64,
}

impl Pairs {
    pub(super) fn new(rules: RuleSet) -> Self {
        Pairs {
            rules,
            facts: vec![],
            calls: vec![],
            ids: vec![],
            current: BTreeMap::new(),
            step: 0,
            step_open: false,
            unanswered: BTreeMap::new(),
            answered: BTreeSet::new(),
            started: BTreeSet::new(),
            tail: None,
            waiting: BTreeSet::new(),
            budget: 1 << 20,
        }
    }

    pub(super) fn fold(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) -> Result<(), LimitError> {
        self.budget += PAIR_STEPS;
        match folded.event.role {
            Role::StepStart => self.enter(true),
            Role::TurnStart | Role::TurnEnd => self.enter(false),
            Role::StepEnd => {
                self.step_end(folded, sink);
                self.enter(false);
            }
            Role::Call => {
                if let Some(id) = folded.event.field("callId").and_then(Value::as_str) {
                    self.started.insert(digest(id));
                }
            }
            Role::Surface(_) => return self.surface(folded, sink),
            _ => {}
        }
        Ok(())
    }

    fn enter(&mut self, open: bool) {
        self.step += 1;
        self.step_open = open;
        self.unanswered.clear();
        self.answered.clear();
        self.started.clear();
    }

    /// PAIR-3.
    fn step_end(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        if let Some(first) = self.unanswered.values().next()
            && self.rules.has(Rule::Pair3)
        {
            let count = self.unanswered.len();
            let text = match count {
                1 => format!("the step ends while call {first} is unanswered"),
                _ => format!("the step ends while {count} calls are unanswered, {first} among them"),
            };
            sink(Rule::Pair3, folded.place(folded.event.kind), text);
        }
    }

    fn surface(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) -> Result<(), LimitError> {
        let message = folded.message();
        let fact = match folded.part() {
            Some(Part::Output) => self.output(folded, message, sink),
            Some(Part::Result) => self.result(folded, message, sink),
            _ => Fact::Other,
        };
        let id = message.and_then(|message| message.get("id")).and_then(Value::as_str);
        match folded.admitted.change {
            Change::None => return Ok(()),
            Change::Append(_) => {
                self.message_id(folded, message, id, &[], sink);
                self.append(folded, &fact, sink);
                self.facts.push(fact);
            }
            Change::Replace(ordinal) => {
                let shadowed = folded.admission.shadowed();
                self.message_id(folded, message, id, shadowed, sink);
                let rewrite = matches!(
                    (&fact, shadowed),
                    (Fact::Answers(new), [target]) if matches!(self.facts[*target as usize], Fact::Answers(old) if old == *new)
                );
                self.facts.push(fact);
                if !rewrite {
                    self.replace(folded, ordinal, sink)?;
                }
            }
        }
        Ok(())
    }

    /// PAIR-4; collects what the message requests. Calls without a usable id of their own cannot be answered and
    /// are reported here alone.
    fn output(&mut self, folded: &Folded<'_>, message: Option<Value<'_>>, sink: &mut Sink<'_>) -> Fact {
        let first = self.calls.len();
        let mut seen = BTreeSet::new();
        let mut problem = None;
        for block in message.into_iter().flat_map(calls::requested) {
            let Some(id) = calls::id(block) else {
                let found = block.get("id");
                let text = format!(
                    "expected the id of a tool-call to be a string that is not empty, found {}",
                    found.map_or("none".into(), crate::event::describe)
                );
                problem.get_or_insert((found.unwrap_or(block), text));
                continue;
            };
            let key = digest(id);
            if !seen.insert(key) {
                let text = format!("the call id \"{}\" stands twice in one message", id.display());
                problem.get_or_insert((block, text));
                continue;
            }
            self.calls.push(key);
            // A message that replaces another says again what was called before; it calls nothing anew.
            if self.step_open && !folded.is_replace() && !self.answered.contains(&key) {
                self.unanswered.insert(key, format!("\"{}\"", id.display()));
            }
        }
        if let Some((at, text)) = problem
            && self.rules.has(Rule::Pair4)
        {
            sink(Rule::Pair4, folded.place(Some(at)), text);
        }
        match folded.admitted.message {
            None => Fact::Quiet,
            Some(_) => Fact::Requests { calls: first as u32..self.calls.len() as u32, step: self.step },
        }
    }

    /// PAIR-1.
    fn result(&mut self, folded: &Folded<'_>, message: Option<Value<'_>>, sink: &mut Sink<'_>) -> Fact {
        let Some(id) = message.and_then(calls::answered) else { return Fact::Other };
        let key = digest(id);
        if !folded.is_replace() {
            self.unanswered.remove(&key);
            self.answered.insert(key);
            let code = folded.event.data.and_then(|data| data.path(&["error", "code"]));
            let never_started = code.and_then(Value::as_str).is_some_and(|code| code.is("TOOL_NOT_STARTED"));
            if !self.started.remove(&key) && !never_started && self.rules.has(Rule::Pair1) {
                let text = format!(
                    "the result answers call \"{}\", which no tool/call opened in this step",
                    id.display()
                );
                sink(Rule::Pair1, folded.place(message), text);
            }
        }
        Fact::Answers(key)
    }

    /// SHAPE-6.
    fn message_id(
        &mut self,
        folded: &Folded<'_>,
        message: Option<Value<'_>>,
        id: Option<Str<'_>>,
        shadowed: &[Ordinal],
        sink: &mut Sink<'_>,
    ) {
        if !self.rules.has(Rule::Shape6) {
            return;
        }
        for ordinal in shadowed {
            if let Some(gone) = self.ids[*ordinal as usize]
                && let Some(count) = self.current.get_mut(&gone)
            {
                *count -= 1;
                if *count == 0 {
                    self.current.remove(&gone);
                }
            }
        }
        let key = id.map(digest);
        self.ids.push(key);
        let (Some(key), Some(id)) = (key, id) else { return };
        let count = self.current.entry(key).or_default();
        *count += 1;
        if *count > 1 {
            let text = format!("the message id \"{}\" is on the surface already", id.display());
            sink(Rule::Shape6, folded.place(message.and_then(|message| message.get("id"))), text);
        }
    }

    fn append(&mut self, folded: &Folded<'_>, fact: &Fact, sink: &mut Sink<'_>) {
        let breach = match fact {
            Fact::Quiet => None,
            Fact::Answers(key) => (!self.waiting.remove(key)).then(|| {
                "the result does not stand behind the assistant message that requested its call".to_owned()
            }),
            Fact::Other | Fact::Requests { .. } => {
                let count = self.waiting.len();
                let breach = match count {
                    0 => None,
                    1 => Some("the message parts an unanswered call from its result".into()),
                    _ => Some(format!("the message parts {count} unanswered calls from their results")),
                };
                self.tail = Some(self.facts.len() as Ordinal);
                self.waiting = self.requested(fact);
                breach
            }
        };
        if let Some(text) = breach
            && self.rules.has(Rule::Pair2)
        {
            sink(Rule::Pair2, folded.place(folded.event.kind), text);
        }
    }

    fn requested(&self, fact: &Fact) -> BTreeSet<Digest> {
        match fact {
            Fact::Requests { calls, .. } => {
                self.calls[calls.start as usize..calls.end as usize].iter().copied().collect()
            }
            _ => BTreeSet::new(),
        }
    }

    /// PAIR-2 behind a replace: the groups that it touched are whole.
    fn replace(
        &mut self,
        folded: &Folded<'_>,
        ordinal: Ordinal,
        sink: &mut Sink<'_>,
    ) -> Result<(), LimitError> {
        let surface = folded.admission.surface();
        let again = self.requested(&self.facts[ordinal as usize]);
        let waits = |key: &Digest| self.unanswered.contains_key(key) && !again.contains(key);
        let shadows_waiting =
            folded.admission.shadowed().iter().any(|shadowed| match &self.facts[*shadowed as usize] {
                fact @ Fact::Requests { calls, .. } if self.in_open_step(fact) => {
                    self.calls[calls.start as usize..calls.end as usize].iter().any(waits)
                }
                _ => false,
            });
        let mut breach =
            shadows_waiting.then(|| "the replace shadows a call that is still unanswered".to_owned());
        // From the separator at or before the node in front, up to the end of the group behind the new node.
        let mut at = ordinal;
        while let Some(previous) = surface.previous(at) {
            self.spend()?;
            at = previous;
            if matches!(self.facts[at as usize], Fact::Other | Fact::Requests { .. }) {
                break;
            }
        }
        let after = surface.next(ordinal);
        let mut separator = None;
        let mut group = BTreeSet::new();
        let mut passed = false;
        let mut node = Some(at);
        while let Some(here) = node {
            self.spend()?;
            match &self.facts[here as usize] {
                Fact::Quiet => {}
                Fact::Answers(key) => {
                    if !group.remove(key) {
                        breach.get_or_insert_with(|| "the replace leaves a result without its call".into());
                    }
                }
                fact => {
                    if !group.is_empty() {
                        breach.get_or_insert_with(|| "the replace leaves a call without its result".into());
                    }
                    if passed && Some(here) != after {
                        break;
                    }
                    group = self.requested(fact);
                    separator = Some(here);
                }
            }
            passed |= here == ordinal;
            node = surface.next(here);
        }
        if node.is_none() {
            // The walk reached the end of the surface, so this is its last group.
            let open = separator.is_some_and(|here| self.in_open_step(&self.facts[here as usize]));
            if !group.is_empty() && !open {
                breach.get_or_insert_with(|| "the replace leaves a call without its result".into());
            }
            self.tail = separator;
            self.waiting = group;
        }
        if let Some(text) = breach
            && self.rules.has(Rule::Pair2)
        {
            sink(Rule::Pair2, folded.place(folded.event.surface_op), text);
        }
        Ok(())
    }

    fn in_open_step(&self, fact: &Fact) -> bool {
        self.step_open && matches!(fact, Fact::Requests { step, .. } if *step == self.step)
    }

    fn spend(&mut self) -> Result<(), LimitError> {
        match self.budget.checked_sub(1) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(LimitError { limit: Limit::Work, bound: PAIR_STEPS, line: 0 }),
        }
    }
}
