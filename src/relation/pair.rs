//! Calls and their results (PAIR-1 to PAIR-4), and message ids on the surface (SHAPE-6).
//!
//! A *group* is an assistant message with the results behind it. On the surface every group must be whole; only the
//! last one may have calls that are not answered yet, while its step is open (PAIR-2). Empty assistant messages
//! separate nothing.
//!
//! What a group lacks is kept with it, so that a replace costs what it shadows and says, and not what stands beside it.

use super::{Folded, Sink, calls};
use crate::admit::Change;
use crate::dialect::{Part, Role};
use crate::json::{Str, Value};
use crate::limits::{Limit, LimitError, PAIR_STEPS};
use crate::rule::{Rule, RuleSet};
use crate::surface::{Ordinal, Surface};
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

/// Behind every anchor.
const NONE: Ordinal = Ordinal::MAX;

/// The anchor of a group's head; nothing for the results in front of the first one.
#[derive(Clone, Copy, Debug)]
struct GroupKey(Option<Ordinal>);

/// A message that separates, and what is known of the results behind it.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// The message.
    head: Ordinal,
    /// Whether a result behind it answers none of its calls, or one a second time.
    stray: bool,
    /// Number of its calls without a result.
    unanswered: u32,
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
    /// The groups of the surface by the anchor of the message that heads them.
    groups: BTreeMap<Ordinal, Group>,
    /// Whether a result stands in front of the first group.
    stray: bool,
    /// The results on the surface: by anchor, the ordinal under which their call is known.
    results: BTreeMap<Ordinal, Ordinal>,
    /// What the last group still waits for.
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
            groups: BTreeMap::new(),
            stray: false,
            results: BTreeMap::new(),
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
        let id = message.and_then(calls::answered);
        let key = id.map(digest);
        if !folded.is_replace() {
            let code = folded.event.data.and_then(|data| data.path(&["error", "code"]));
            let never_started = code.and_then(Value::as_str).is_some_and(|code| code.is("TOOL_NOT_STARTED"));
            let started = key.is_some_and(|key| {
                self.unanswered.remove(&key);
                self.answered.insert(key);
                self.started.remove(&key)
            });
            if !started && !never_started && self.rules.has(Rule::Pair1) {
                let text = match id {
                    Some(id) => format!(
                        "the result answers call \"{}\", which no tool/call opened in this step",
                        id.display()
                    ),
                    // Only the shape from before messages had identities gets here, where a reader migrates it.
                    None => {
                        "the result names no call, and so none that a tool/call opened in this step".into()
                    }
                };
                sink(Rule::Pair1, folded.place(message), text);
            }
        }
        let Some(key) = key else { return Fact::Other };
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
        let ordinal = self.facts.len() as Ordinal;
        let breach = match fact {
            Fact::Quiet => None,
            Fact::Answers(key) => {
                self.results.insert(ordinal, ordinal);
                let wanted = self.waiting.remove(key);
                match self.groups.last_entry() {
                    Some(mut last) if wanted => last.get_mut().unanswered -= 1,
                    Some(mut last) => last.get_mut().stray = true,
                    None => self.stray = true,
                }
                (!wanted).then(|| {
                    "the result does not stand behind the assistant message that requested its call"
                        .to_owned()
                })
            }
            Fact::Other | Fact::Requests { .. } => {
                let count = self.waiting.len();
                let breach = match count {
                    0 => None,
                    1 => Some("the message parts an unanswered call from its result".into()),
                    _ => Some(format!("the message parts {count} unanswered calls from their results")),
                };
                self.waiting = self.requested(fact);
                let unanswered = self.waiting.len() as u32;
                self.groups.insert(ordinal, Group { head: ordinal, stray: false, unanswered });
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
        let shadowed = folded.admission.shadowed();
        let mut breach = self
            .hides_waiting(surface, ordinal, shadowed)?
            .then(|| "the replace shadows a call that is still unanswered".to_owned());
        let last = self.groups.keys().next_back().copied();
        let touched = self.regroup(surface, ordinal, shadowed, last)?;
        for anchor in touched.into_iter().flatten() {
            breach = breach.or_else(|| self.unbalanced(anchor).map(str::to_owned));
        }
        if let Some(text) = breach
            && self.rules.has(Rule::Pair2)
        {
            sink(Rule::Pair2, folded.place(folded.event.surface_op), text);
        }
        Ok(())
    }

    /// Whether a message of the open step leaves the surface while a call of it waits that the new node does not make
    /// again. The groups are still those from before the replace.
    fn hides_waiting(
        &mut self,
        surface: &Surface,
        ordinal: Ordinal,
        shadowed: &[Ordinal],
    ) -> Result<bool, LimitError> {
        let again = self.requested(&self.facts[ordinal as usize]);
        let mut beyond = 0;
        let mut hides = false;
        for gone in shadowed {
            let fact = &self.facts[*gone as usize];
            let anchor = surface.anchor(*gone);
            if !self.in_open_step(fact) || self.groups.get(&anchor).is_none_or(|group| group.unanswered == 0)
            {
                continue;
            }
            let mut waiting = self.requested(fact);
            // The message goes away, so its calls are looked at once; results beside it may stay.
            let mut free = waiting.len();
            let end = self.groups.range(anchor + 1..).next().map_or(NONE, |(behind, _)| *behind);
            for (_, result) in self.results.range(anchor..end) {
                if let Fact::Answers(key) = &self.facts[*result as usize] {
                    waiting.remove(key);
                }
                beyond += u64::from(free == 0);
                free = free.saturating_sub(1);
                if beyond > self.budget {
                    break;
                }
            }
            hides |= waiting.difference(&again).next().is_some();
        }
        self.spend(beyond)?;
        Ok(hides)
    }

    /// Brings the groups up to date behind a replace; gives those that it touched, in surface order: the group of the
    /// node in front, of the new node, and of the node behind. `last` was the last group before.
    fn regroup(
        &mut self,
        surface: &Surface,
        ordinal: Ordinal,
        shadowed: &[Ordinal],
        last: Option<Ordinal>,
    ) -> Result<[Option<GroupKey>; 3], LimitError> {
        let here = surface.anchor(ordinal);
        // Results that the group in front lost, results that any group lost, and whether a group lost its head.
        let (mut lost_in_front, mut lost, mut beheaded) = (false, false, false);
        for gone in shadowed {
            let anchor = surface.anchor(*gone);
            if self.results.remove(&anchor).is_some() {
                lost = true;
                lost_in_front |= !beheaded;
            }
            beheaded |= self.groups.remove(&anchor).is_some();
        }
        let front = self.groups.range(..here).next_back().map(|(anchor, _)| *anchor);
        let behind = self.groups.range(here..).next().map(|(anchor, _)| *anchor);
        let follows = self.results.range(here..behind.unwrap_or(NONE)).next().is_some();
        let heads = matches!(self.facts[ordinal as usize], Fact::Other | Fact::Requests { .. });
        let answers = matches!(self.facts[ordinal as usize], Fact::Answers(_));
        if answers {
            self.results.insert(here, ordinal);
        }
        let mut recounted = None;
        if heads {
            self.groups.insert(here, Group { head: ordinal, stray: false, unanswered: 0 });
            if lost_in_front || (follows && !beheaded) {
                self.recount(front, here, false)?;
            }
            recounted = Some((Some(here), self.recount(Some(here), behind.unwrap_or(NONE), true)?));
        } else if lost || answers || (follows && beheaded) {
            recounted = Some((front, self.recount(front, behind.unwrap_or(NONE), false)?));
        }
        let now = self.groups.keys().next_back().copied();
        match recounted {
            Some((group, waiting)) if group == now => self.waiting = waiting,
            _ if now == last => {}
            // Another group became the last one as it stood.
            _ => {
                let lacks =
                    now.and_then(|anchor| self.groups.get(&anchor)).is_some_and(|now| now.unanswered > 0);
                self.waiting = if lacks { self.recount(now, NONE, false)? } else { BTreeSet::new() };
            }
        }
        let next = surface.next(ordinal).map(|next| surface.anchor(next));
        let next = next.filter(|anchor| self.groups.contains_key(anchor));
        Ok([
            Some(GroupKey(front)),
            heads.then_some(GroupKey(Some(here))),
            next.map(|next| GroupKey(Some(next))),
        ])
    }

    /// Counts a group afresh, which ends in front of the anchor `end`; gives what it waits for. `own`: the calls are
    /// those of the event itself, so looking at them costs what the event says.
    fn recount(
        &mut self,
        group: Option<Ordinal>,
        end: Ordinal,
        own: bool,
    ) -> Result<BTreeSet<Digest>, LimitError> {
        let head = group.and_then(|anchor| self.groups.get(&anchor)).map(|group| group.head);
        let mut waiting = head.map_or_else(BTreeSet::new, |head| self.requested(&self.facts[head as usize]));
        if !own {
            self.spend(waiting.len() as u64)?;
        }
        let mut free = if own { waiting.len() } else { 0 };
        let mut stray = false;
        let mut walked = 0;
        for result in self.results.range(group.unwrap_or(0)..end).map(|(_, ordinal)| *ordinal) {
            if let Fact::Answers(key) = &self.facts[result as usize] {
                stray |= !waiting.remove(key);
            }
            match free.checked_sub(1) {
                Some(left) => free = left,
                None => walked += 1,
            }
            if walked > self.budget {
                break;
            }
        }
        self.spend(walked)?;
        match group.and_then(|anchor| self.groups.get_mut(&anchor)) {
            Some(group) => *group = Group { stray, unanswered: waiting.len() as u32, ..*group },
            None => self.stray = stray,
        }
        Ok(waiting)
    }

    /// What is wrong with a group, if anything is. The last one may wait for results while its step is open.
    fn unbalanced(&self, GroupKey(group): GroupKey) -> Option<&'static str> {
        let without_call = "the replace leaves a result without its call";
        let Some(group) = group.and_then(|anchor| Some((anchor, self.groups.get(&anchor)?))) else {
            return self.stray.then_some(without_call);
        };
        let (anchor, Group { head, stray, unanswered }) = group;
        if *stray {
            return Some(without_call);
        }
        let last = self.groups.keys().next_back() == Some(&anchor);
        let open = last && self.in_open_step(&self.facts[*head as usize]);
        (*unanswered > 0 && !open).then_some("the replace leaves a call without its result")
    }

    fn in_open_step(&self, fact: &Fact) -> bool {
        self.step_open && matches!(fact, Fact::Requests { step, .. } if *step == self.step)
    }

    fn spend(&mut self, steps: u64) -> Result<(), LimitError> {
        match self.budget.checked_sub(steps) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(LimitError { limit: Limit::Work, bound: PAIR_STEPS, line: 0 }),
        }
    }
}
