//! The inbox as the log tells it (INBOX-1, INBOX-2, INBOX-3).

use super::list::BlockList;
use super::{Folded, Sink};
use crate::dialect::Role;
use crate::event::describe;
use crate::json::{Kind, Value, print};
use crate::rule::{Rule, RuleSet};
use std::collections::BTreeMap;

/// The two lists of pending messages.
#[derive(Clone, Debug)]
pub struct Inbox {
    rules: RuleSet,
    inherited: u64,
    next_turn: BlockList<Pending>,
    next_step: BlockList<Pending>,
    /// How often each id is pending; more than once only after a finding.
    pending: BTreeMap<Vec<u8>, u32>,
}

/// A pending message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Canonical inner text of its id, where it has one.
    id: Option<Vec<u8>>,
    /// Its canonical bytes.
    message: Vec<u8>,
}

impl Inbox {
    /// An empty inbox; the first `inherited` events do not fill it (INBOX-3).
    pub fn new(inherited: u64, rules: RuleSet) -> Self {
        Inbox {
            rules,
            inherited,
            next_turn: BlockList::default(),
            next_step: BlockList::default(),
            pending: BTreeMap::new(),
        }
    }

    /// The canonical object `{"next-turn":[…],"next-step":[…]}`.
    pub fn print(&self, out: &mut Vec<u8>) {
        let list = |list: &BlockList<Pending>, out: &mut Vec<u8>| {
            for (place, pending) in list.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(&pending.message);
            }
        };
        out.extend_from_slice(b"{\"next-turn\":[");
        list(&self.next_turn, out);
        out.extend_from_slice(b"],\"next-step\":[");
        list(&self.next_step, out);
        out.extend_from_slice(b"]}");
    }

    /// Folds one event: a splice, or a marker that tags everything before it as inherited.
    pub fn fold(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        if folded.event.role == Role::EndSeed
            && let Some(tag) = &folded.admission.dialect().seed.tag
            && folded.event.field(tag).is_some_and(Value::is_true)
        {
            *self = Inbox::new(self.inherited, self.rules);
        }
        if folded.event.role != Role::Inbox || folded.admitted.seq < self.inherited {
            return;
        }
        match self.read(folded) {
            Ok(splice) => self.splice(splice, folded, sink),
            Err((at, text)) => {
                if self.rules.has(Rule::Inbox1) {
                    sink(Rule::Inbox1, folded.place(at), text);
                }
            }
        }
    }

    fn read<'a>(&self, folded: &Folded<'a>) -> Result<Splice<'a>, (Option<Value<'a>>, String)> {
        let field = |name: &str| folded.event.field(name);
        let wrong = |value: Option<Value<'a>>, name: &str, want: &str| {
            let found = value.map_or("none".into(), describe);
            (value, format!("expected {name} to be {want}, found {found}"))
        };
        let target = field("target");
        let next_turn = match target.and_then(Value::as_str) {
            Some(text) if text.is("next-turn") => true,
            Some(text) if text.is("next-step") => false,
            _ => return Err(wrong(target, "target", "\"next-turn\" or \"next-step\"")),
        };
        let count = |name: &str, missing: Option<u64>| match field(name) {
            None => missing.ok_or_else(|| wrong(None, name, "a safe integer that is not negative")),
            Some(value) => {
                value.as_uint().ok_or_else(|| wrong(Some(value), name, "a safe integer that is not negative"))
            }
        };
        let start = count("start", None)?;
        let removed = count("removedCount", Some(0))?;
        let inserted = field("inserted");
        let Some(inserted) = inserted.filter(|list| list.kind() == Kind::Array) else {
            return Err(wrong(inserted, "inserted", "an array"));
        };
        let length = if next_turn { self.next_turn.len() } else { self.next_step.len() } as u64;
        if start > length {
            let text = format!("the splice starts at {start}, but the list holds {}", messages(length));
            return Err((field("start"), text));
        }
        if removed > length - start {
            let held = messages(length);
            let text = format!("the splice removes {removed} from {start} on, but the list holds {held}");
            return Err((field("removedCount"), text));
        }
        Ok(Splice { next_turn, start: start as usize, removed: removed as usize, inserted })
    }

    fn splice(&mut self, splice: Splice<'_>, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        let list = if splice.next_turn { &mut self.next_turn } else { &mut self.next_step };
        for gone in list.remove(splice.start, splice.removed) {
            if let Some(id) = gone.id
                && let Some(count) = self.pending.get_mut(&id)
            {
                *count -= 1;
                if *count == 0 {
                    self.pending.remove(&id);
                }
            }
        }
        let mut items = vec![];
        for value in splice.inserted.elements() {
            let id = value.get("id").and_then(Value::as_str).map(|id| id.canonical().into_owned());
            if let Some(id) = &id {
                let count = self.pending.entry(id.clone()).or_default();
                *count += 1;
                if *count > 1 && self.rules.has(Rule::Inbox2) {
                    let text = format!("the message \"{}\" is pending already", String::from_utf8_lossy(id));
                    sink(Rule::Inbox2, folded.place(Some(value)), text);
                }
            }
            let mut message = Vec::new();
            print::canonical(value, &mut message);
            items.push(Pending { id, message });
        }
        list.insert(splice.start, items);
    }
}

struct Splice<'a> {
    next_turn: bool,
    start: usize,
    removed: usize,
    inserted: Value<'a>,
}

fn messages(count: u64) -> String {
    if count == 1 { "1 message".into() } else { format!("{count} messages") }
}
