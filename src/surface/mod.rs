//! The surface: the ordered list of events that are model-visible now (contract, section 5).
//!
//! Surface order is positional, so after a replace the nodes' seqs are not sorted. Every appended node gets its own
//! ordinal as *anchor*, and a replacement the anchor of the first node it shadows; by anchor the surface is always
//! sorted. Membership and order are then lookups, and a replace costs what it shadows.

mod order;

pub use order::{Iter as OrderIter, Order};

use std::sync::OnceLock;

/// Place of a node in the list of all surface events, in log order; it never changes.
pub type Ordinal = u32;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    seq: u32,
    anchor: Ordinal,
    previous: Ordinal,
    next: Ordinal,
    live: bool,
    /// Whether it projects to a message.
    message: bool,
}

/// The surface of a log, with everything that was ever on it.
#[derive(Clone, Debug)]
pub struct Surface {
    nodes: Vec<Node>,
    first: Ordinal,
    last: Ordinal,
    length: u32,
    messages: u32,
    generation: u64,
    /// The history's order; made when first asked for, then kept up to date.
    order: OnceLock<Order>,
}

impl Default for Surface {
    fn default() -> Self {
        Surface {
            nodes: vec![],
            first: NONE,
            last: NONE,
            length: 0,
            messages: 0,
            generation: 0,
            order: OnceLock::new(),
        }
    }
}

/// Why a span is not one (SURF-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanError {
    /// `start` is not on the surface now.
    Start,
    /// `end` is not on the surface now.
    End,
    /// `start` stands behind `end` in surface order.
    Order,
}

/// A span of current nodes, first to last in surface order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    first: Ordinal,
    last: Ordinal,
}

impl Surface {
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// True when nothing is model-visible.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Number of nodes that were ever on it.
    pub fn ever(&self) -> usize {
        self.nodes.len()
    }

    /// Number of nodes that project to a message.
    pub fn messages(&self) -> usize {
        self.messages as usize
    }

    /// Number of replaces so far.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Seqs of the current nodes, in surface order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.walk(self.first, NONE).map(|ordinal| u64::from(self.nodes[ordinal as usize].seq))
    }

    /// The ordinal of the current node with this seq.
    #[inline]
    pub fn find(&self, seq: u64) -> Option<Ordinal> {
        let seq = u32::try_from(seq).ok()?;
        // Replaces mostly name recent nodes, or the seqs of a log with nothing but surface events.
        let place = match self.nodes.get(seq as usize) {
            Some(node) if node.seq == seq => seq as usize,
            _ => self.nodes.binary_search_by_key(&seq, |node| node.seq).ok()?,
        };
        self.nodes[place].live.then_some(place as Ordinal)
    }

    /// The span that a replace names.
    pub fn span(&self, start: u64, end: u64) -> Result<Span, SpanError> {
        let first = self.find(start).ok_or(SpanError::Start)?;
        let last = self.find(end).ok_or(SpanError::End)?;
        if self.nodes[first as usize].anchor > self.nodes[last as usize].anchor {
            return Err(SpanError::Order);
        }
        Ok(Span { first, last })
    }

    /// Ordinals of a span's nodes, in surface order.
    pub fn span_nodes(&self, span: Span) -> impl Iterator<Item = Ordinal> + '_ {
        self.walk(span.first, self.nodes[span.last as usize].next)
    }

    /// The seq of a node.
    pub fn seq(&self, ordinal: Ordinal) -> u64 {
        u64::from(self.nodes[ordinal as usize].seq)
    }

    /// Where a node stands in surface order: of two current nodes the one with the smaller anchor stands first. A
    /// replacement takes over the anchor of the first node that it shadows.
    pub fn anchor(&self, ordinal: Ordinal) -> Ordinal {
        self.nodes[ordinal as usize].anchor
    }

    /// The neighbour before a current node, in surface order.
    pub fn previous(&self, ordinal: Ordinal) -> Option<Ordinal> {
        Some(self.nodes[ordinal as usize].previous).filter(|previous| *previous != NONE)
    }

    /// The neighbour behind a current node, in surface order.
    pub fn next(&self, ordinal: Ordinal) -> Option<Ordinal> {
        Some(self.nodes[ordinal as usize].next).filter(|next| *next != NONE)
    }

    /// The last node in surface order.
    pub fn last(&self) -> Option<Ordinal> {
        Some(self.last).filter(|last| *last != NONE)
    }

    /// The first node in surface order.
    pub fn first(&self) -> Option<Ordinal> {
        Some(self.first).filter(|first| *first != NONE)
    }

    fn walk(&self, from: Ordinal, until: Ordinal) -> impl Iterator<Item = Ordinal> + '_ {
        let mut at = from;
        std::iter::from_fn(move || {
            if at == NONE || at == until {
                return None;
            }
            let here = at;
            at = self.nodes[here as usize].next;
            Some(here)
        })
    }

    /// Puts an event at the tail (SURF-4). Returns its ordinal.
    pub fn append(&mut self, seq: u64, message: bool) -> Ordinal {
        let ordinal = self.nodes.len() as Ordinal;
        let seq = seq as u32;
        self.nodes.push(Node { seq, anchor: ordinal, previous: self.last, next: NONE, live: true, message });
        match self.last {
            NONE => self.first = ordinal,
            last => self.nodes[last as usize].next = ordinal,
        }
        self.last = ordinal;
        self.length += 1;
        self.messages += u32::from(message);
        if message && let Some(order) = self.order.get_mut() {
            order.insert(ordinal, seq);
        }
        ordinal
    }

    /// Puts an event in the place of a whole span (SURF-5). Returns its ordinal.
    pub fn replace(&mut self, span: Span, seq: u64, message: bool) -> Ordinal {
        let ordinal = self.nodes.len() as Ordinal;
        let previous = self.nodes[span.first as usize].previous;
        let next = self.nodes[span.last as usize].next;
        let anchor = self.nodes[span.first as usize].anchor;
        let last = self.nodes[span.last as usize].anchor;
        if let Some(order) = self.order.get_mut() {
            // By anchor the surface is sorted, so nothing else stands between the ends.
            order.remove_range(anchor, last);
        }
        let mut at = span.first;
        while at != next {
            let node = &mut self.nodes[at as usize];
            node.live = false;
            self.length -= 1;
            self.messages -= u32::from(node.message);
            at = node.next;
        }
        let seq = seq as u32;
        self.nodes.push(Node { seq, anchor, previous, next, live: true, message });
        match previous {
            NONE => self.first = ordinal,
            previous => self.nodes[previous as usize].next = ordinal,
        }
        match next {
            NONE => self.last = ordinal,
            next => self.nodes[next as usize].previous = ordinal,
        }
        self.length += 1;
        self.messages += u32::from(message);
        self.generation += 1;
        if message && let Some(order) = self.order.get_mut() {
            order.insert(anchor, seq);
        }
        ordinal
    }

    /// The order of the history now: anchors to the seqs of the nodes that project to a message. Copying it is free,
    /// and the copy never changes (PROJ-4).
    pub fn order(&self) -> &Order {
        self.order.get_or_init(|| {
            let mut order = Order::default();
            for ordinal in self.walk(self.first, NONE) {
                let node = &self.nodes[ordinal as usize];
                if node.message {
                    order.insert(node.anchor, node.seq);
                }
            }
            order
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seqs(surface: &Surface) -> Vec<u64> {
        surface.iter().collect()
    }

    #[test]
    fn order_is_positional() {
        let mut surface = Surface::default();
        for seq in [0, 2, 4, 6] {
            surface.append(seq, true);
        }
        let span = surface.span(2, 4).unwrap();
        surface.replace(span, 7, true);
        assert_eq!(seqs(&surface), [0, 7, 6]);
        assert_eq!(surface.span(7, 6).unwrap(), Span { first: 4, last: 3 }, "7 stands before 6");
        assert_eq!(surface.span(6, 7), Err(SpanError::Order));
        assert_eq!(surface.span(2, 6), Err(SpanError::Start), "2 was shadowed");
        assert_eq!(surface.span(0, 9), Err(SpanError::End));
        let span = surface.span(0, 7).unwrap();
        surface.replace(span, 8, true);
        assert_eq!(seqs(&surface), [8, 6]);
        assert_eq!(surface.generation(), 2);
    }

    #[test]
    fn an_order_kept_equals_an_order_made_afresh() {
        let mut kept = Surface::default();
        kept.order();
        let mut state = 1u64;
        for seq in 0..3_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let message = !(state >> 20).is_multiple_of(7);
            if kept.len() > 3 && (state >> 40).is_multiple_of(3) {
                let nodes = seqs(&kept);
                let start = (state >> 32) as usize % nodes.len();
                let end = (start + (state >> 50) as usize % 4).min(nodes.len() - 1);
                let span = kept.span(nodes[start], nodes[end]).unwrap();
                kept.replace(span, seq, message);
            } else {
                kept.append(seq, message);
            }
        }
        let fresh = Surface { order: OnceLock::new(), ..kept.clone() };
        assert_eq!(kept.order().iter().collect::<Vec<_>>(), fresh.order().iter().collect::<Vec<_>>());
        assert_eq!(kept.order().len(), kept.messages());
    }
}
