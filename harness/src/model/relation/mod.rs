//! Relations between admitted events (LIFE, PAIR, INBOX, COMP, SHAPE-6). Each is a plain walk over the whole log.

pub(crate) mod compaction;
pub(crate) mod inbox;
pub(crate) mod life;
pub(crate) mod pair;
pub(crate) mod stream;
pub(crate) mod tail;

use super::Dialect;
use super::event::{Event, Op};
use super::surface::Surface;

/// A rule that an event breaks together with those before it.
pub(crate) type Breach<'a> = (&'static str, &'a Event);

/// Every breach of a relation, in no particular order.
pub(crate) fn breaches(events: &[Event], inherited: u64, dialect: Dialect) -> Vec<Breach<'_>> {
    let mut found = life::breaches(events);
    if dialect == Dialect::DshV0 {
        found.extend(pair::answered(events));
        found.extend(pair::adjacent(events));
        found.extend(pair::complete(events));
        found.extend(pair::distinct(events));
        found.extend(inbox::replay(events, inherited).1);
        found.extend(compaction::brackets(events));
        found.extend(compaction::prunes(events));
        found.extend(identities(events));
    }
    found
}

/// SHAPE-6: the id of a new node is on the surface once.
fn identities(events: &[Event]) -> Vec<Breach<'_>> {
    let mut found = Vec::new();
    let mut surface = Surface::default();
    let id = |event: &Event| {
        event.message().and_then(|message| message.get("id")).and_then(|id| id.units()).map(<[u16]>::to_vec)
    };
    for event in events {
        surface.apply(event);
        let own = id(event);
        let taken = own.is_some()
            && surface.nodes.iter().any(|node| *node != event.seq && id(&events[*node as usize]) == own);
        if event.op() != Op::None && taken {
            found.push(("SHAPE-6", event));
        }
    }
    found
}
