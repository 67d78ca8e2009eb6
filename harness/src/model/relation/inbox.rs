//! The inbox (section 12): a left fold of splices over two lists.

use super::Breach;
use crate::model::event::Event;
use crate::model::text;
use crate::model::tree::Value;

const TARGETS: [&str; 2] = ["next-turn", "next-step"];

/// A message that waits: its canonical bytes, and its id where that is a string.
#[derive(Clone)]
struct Pending {
    text: String,
    id: Option<Vec<u16>>,
}

/// The two lists, in the order of `TARGETS`.
#[derive(Default)]
pub(crate) struct Inbox {
    lists: [Vec<Pending>; 2],
}

impl Inbox {
    /// As `show --as inbox` prints it.
    pub(crate) fn show(&self) -> String {
        let [turn, step] =
            [0, 1].map(|list| text::list(self.lists[list].iter().map(|pending| &pending.text)));
        format!("{{\"next-turn\":{turn},\"next-step\":{step}}}")
    }

    /// Applies a splice. INBOX-1: one that is ill-typed or out of range is skipped. INBOX-2 is only reported.
    fn splice(&mut self, event: &Event) -> Option<&'static str> {
        let Some((list, start, removed, inserted)) = self.read(event) else { return Some("INBOX-1") };
        self.lists[list].splice(start..start + removed, inserted);
        let ids: Vec<&Vec<u16>> =
            self.lists.iter().flatten().filter_map(|pending| pending.id.as_ref()).collect();
        let new: Vec<Vec<u16>> = event
            .at("data.inserted")
            .and_then(Value::items)?
            .into_iter()
            .filter_map(|message| Some(message.get("id")?.units()?.to_vec()))
            .collect();
        let twice = new.iter().any(|id| ids.iter().filter(|other| **other == id).count() > 1);
        twice.then_some("INBOX-2")
    }

    fn read(&self, event: &Event) -> Option<(usize, usize, usize, Vec<Pending>)> {
        let target = event.at("data.target")?;
        let list = TARGETS.iter().position(|name| target.is(name))?;
        let start = event.at("data.start")?.natural()?;
        let removed = event.at("data.removedCount").map_or(Some(0), Value::natural)?;
        let inserted = event.at("data.inserted")?.items()?;
        if start + removed > self.lists[list].len() as u64 {
            return None;
        }
        let pending = |message: Value<'_>| Pending {
            text: message.canonical(),
            id: message.get("id").and_then(Value::units).map(<[u16]>::to_vec),
        };
        Some((list, start as usize, removed as usize, inserted.into_iter().map(pending).collect()))
    }
}

/// INBOX-3: inherited events are ignored.
pub(crate) fn replay(events: &[Event], inherited: u64) -> (Inbox, Vec<Breach<'_>>) {
    let mut inbox = Inbox::default();
    let mut found = Vec::new();
    for event in events {
        if event.seq >= inherited
            && event.is("agent/inbox/spliced")
            && let Some(rule) = inbox.splice(event)
        {
            found.push((rule, event));
        }
    }
    (inbox, found)
}
