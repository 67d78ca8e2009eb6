//! Projections: what a log says to a model, and to a person (contract, section 7).
//!
//! A projection is a value of its own: it shares the log's frozen text, and nothing that happens later changes it
//! (PROJ-4).

use crate::admit::{Admission, Admitted, Change};
use crate::dialect::{Reading, Role};
use crate::event::{Event, Seq, UNLISTED};
use crate::json::{Scanner, number};
use crate::log::Log;
use crate::relation::{Folded, Inbox};
use crate::rule::RuleSet;
use crate::surface::{Order, Surface};

/// The messages that the model is shown: the surface's messages in surface order (PROJ-2).
#[derive(Clone, Debug)]
pub struct History {
    log: Log,
    order: Order,
}

impl History {
    /// From a log and the order of its surface.
    pub fn new(log: &Log, surface: &Surface) -> Self {
        History { log: log.clone(), order: surface.order().clone() }
    }

    /// Number of messages, in O(1).
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// True when there is no message.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Canonical bytes of the `index`-th message, in O(log n).
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.log.message(u64::from(self.order.get(index)?))
    }

    /// Canonical bytes of the messages, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.order.iter().filter_map(|seq| self.log.message(u64::from(seq)))
    }

    /// Seqs of the messages' events, in order.
    pub fn seqs(&self) -> impl Iterator<Item = Seq> + '_ {
        self.order.iter().map(u64::from)
    }

    /// Whether another history is the same by construction: the same order over the same log. This is O(1); two
    /// histories that it does not know to be the same may still have the same bytes.
    pub fn is_same(&self, other: &History) -> bool {
        self.order.is_same(&other.order) && self.log.is_same(&other.log)
    }

    /// Appends the canonical array of the messages.
    pub fn print(&self, out: &mut Vec<u8>) {
        array(self.iter(), out);
    }

    /// The canonical array of the messages.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.print(&mut out);
        out
    }
}

/// What was said, for people: the messages of append-origin events in log order (PROJ-5).
#[derive(Clone, Debug)]
pub struct Transcript {
    log: Log,
}

impl Transcript {
    /// Of a log.
    pub fn new(log: &Log) -> Self {
        Transcript { log: log.clone() }
    }

    /// Canonical bytes of the messages, with the seq of each one's event.
    pub fn iter(&self) -> impl Iterator<Item = (Seq, &[u8])> {
        (0..self.log.len())
            .filter(|seq| !self.log.is_replace(*seq))
            .filter_map(|seq| self.log.message(seq).map(|message| (seq, message)))
    }

    /// The canonical array of the messages.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        array(self.iter().map(|(_, message)| message), &mut out);
        out
    }
}

fn array<'a>(items: impl Iterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
    out.push(b'[');
    for (place, item) in items.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.extend_from_slice(item);
    }
    out.push(b']');
}

/// A replace, and what it shadowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Seq of the replacing event.
    pub seq: Seq,
    /// First node of the span.
    pub start: Seq,
    /// Last node of the span.
    pub end: Seq,
    /// All nodes of the span, in surface order.
    pub shadowed: Vec<Seq>,
}

/// The replaces of a log's first `count` events, and the surface behind them.
pub fn replacements(log: &Log, count: u64) -> (Vec<Replacement>, Surface) {
    let mut list = vec![];
    let surface = log.refold(count, |surface, seq, change, shadowed| {
        if matches!(change, Change::Replace(_)) {
            let shadowed: Vec<Seq> = shadowed.iter().map(|ordinal| surface.seq(*ordinal)).collect();
            if let (Some(start), Some(end)) = (shadowed.first().copied(), shadowed.last().copied()) {
                list.push(Replacement { seq, start, end, shadowed });
            }
        }
    });
    (list, surface)
}

/// The canonical object that shows a surface: nodes, generation, and every replace with what it shadowed.
pub fn print_surface(log: &Log, count: u64) -> Vec<u8> {
    let (list, surface) = replacements(log, count);
    let mut out = b"{\"nodes\":[".to_vec();
    numbers(surface.iter(), &mut out);
    out.extend_from_slice(b"],\"replaceGeneration\":");
    number::print_int(surface.generation(), &mut out);
    out.extend_from_slice(b",\"replacements\":[");
    for (place, replace) in list.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        for (name, seq) in
            [(&b"{\"seq\":"[..], replace.seq), (b",\"start\":", replace.start), (b",\"end\":", replace.end)]
        {
            out.extend_from_slice(name);
            number::print_int(seq, &mut out);
        }
        out.extend_from_slice(b",\"shadowedSeqs\":[");
        numbers(replace.shadowed.iter().copied(), &mut out);
        out.extend_from_slice(b"]}");
    }
    out.extend_from_slice(b"]}");
    out
}

fn numbers(seqs: impl Iterator<Item = Seq>, out: &mut Vec<u8>) {
    for (place, seq) in seqs.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        number::print_int(seq, out);
    }
}

/// The inbox behind a log's first `count` events; the first `inherited` ones do not fill it (INBOX-3).
pub fn inbox(log: &Log, count: u64, inherited: u64) -> Inbox {
    let mut inbox = Inbox::new(inherited, RuleSet::EMPTY);
    let admission = Admission::new(log.dialect().clone(), Reading::Strict);
    let mut scanner = Scanner::new(u64::MAX);
    for seq in inherited..count.min(log.len()) {
        if !matches!(log.role(seq), Role::Inbox | Role::EndSeed) {
            continue;
        }
        let line = log.line(seq).unwrap_or_default();
        let Ok(scan) = scanner.scan(&line) else { continue };
        let event = Event::read(scan.root(), log.types(), UNLISTED);
        let admitted = Admitted { seq, message: None, change: Change::None };
        inbox.fold(&Folded { event: &event, admitted, admission: &admission, line: 0 }, &mut |_, _, _| {});
    }
    inbox
}
