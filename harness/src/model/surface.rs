//! The surface (section 5) and what is projected from it (section 7).

use super::event::{Event, Op};
use super::text;

/// One replacement and what it shadowed, in surface order.
#[derive(Clone)]
pub(crate) struct Replacement {
    seq: u64,
    start: u64,
    end: u64,
    pub(crate) shadowed: Vec<u64>,
}

/// The ordered seqs that are model-visible.
#[derive(Clone, Default)]
pub(crate) struct Surface {
    pub(crate) nodes: Vec<u64>,
    pub(crate) replacements: Vec<Replacement>,
}

impl Surface {
    /// The surface of admitted events, from nothing.
    pub(crate) fn fold(events: &[Event]) -> Surface {
        let mut surface = Surface::default();
        for event in events {
            surface.apply(event);
        }
        surface
    }

    /// SURF-4 and SURF-5 for an event that was admitted here.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event.op() {
            Op::None => {}
            Op::Append => self.nodes.push(event.seq),
            Op::Replace(start, end) => {
                let shadowed = self.span(start, end).expect("admitted replaces name a span of the surface");
                let first =
                    self.nodes.iter().position(|node| *node == start).expect("the span has its start");
                self.nodes.splice(first..first + shadowed.len(), [event.seq]);
                self.replacements.push(Replacement { seq: event.seq, start, end, shadowed });
            }
        }
    }

    /// The nodes from start to end in surface order; nothing where they are no span (SURF-5).
    pub(crate) fn span(&self, start: u64, end: u64) -> Option<Vec<u64>> {
        let first = self.nodes.iter().position(|node| *node == start)?;
        let last = self.nodes.iter().position(|node| *node == end)?;
        // An inclusive range that ends one before its start is empty, not missing.
        (first <= last).then(|| self.nodes[first..=last].to_vec())
    }

    /// As `show --as surface` prints it.
    pub(crate) fn show(&self) -> String {
        let replacements = self.replacements.iter().map(|one| {
            let Replacement { seq, start, end, shadowed } = one;
            let shadowed = text::list(shadowed);
            format!("{{\"seq\":{seq},\"start\":{start},\"end\":{end},\"shadowedSeqs\":{shadowed}}}")
        });
        format!(
            "{{\"nodes\":{},\"replaceGeneration\":{},\"replacements\":{}}}",
            text::list(&self.nodes),
            self.replacements.len(),
            text::list(replacements)
        )
    }
}

/// PROJ-2: the model history.
pub(crate) fn messages(events: &[Event]) -> String {
    let nodes = Surface::fold(events).nodes;
    text::list(nodes.into_iter().filter_map(|seq| events[seq as usize].projected()))
}

/// PROJ-5: the human transcript.
pub(crate) fn transcript(events: &[Event]) -> String {
    let appended = events.iter().filter(|event| event.op() == Op::Append);
    text::list(appended.filter_map(Event::projected))
}
