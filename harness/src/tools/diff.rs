//! Where two logs stop telling the same story, and how much of a prompt the next one can use again.

use super::headers::{Headers, differing, spoiler};
use super::path::path;
use super::prompt::{Prompt, Story};
use super::reuse::{Reuse, reuse};
use foldproof::json::Scanner;
use foldproof::log::Log;
use foldproof::request::{Boundary, boundaries};

/// The first event that two logs do not share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDifference {
    /// Its seq.
    pub seq: u64,
    /// Whether each log has such an event.
    pub there: [bool; 2],
    /// The first member that differs, as a path; nothing where one log ends.
    pub member: Option<String>,
}

/// The first message that two histories do not share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageDifference {
    /// Its index.
    pub index: u64,
    /// Seqs of its events, where there is such a message.
    pub seqs: [Option<u64>; 2],
    /// The first byte of it that differs, from 0, where both have it.
    pub byte: Option<u64>,
}

/// The first request that two logs do not share.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestDifference {
    /// Its place among the requests, from 0.
    pub index: u64,
    /// Which step and attempt it is of, where there is such a request.
    pub of: [Option<Boundary>; 2],
    /// The first member that differs; nothing where one log has no such request.
    pub member: Option<String>,
    /// Where the member is `messages`: the first message that differs.
    pub message: Option<u64>,
}

/// How two logs differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The first difference of events.
    pub events: Option<EventDifference>,
    /// The first difference of the histories at the end.
    pub messages: Option<MessageDifference>,
    /// The first difference of requests.
    pub requests: Option<RequestDifference>,
    /// Requests of each log.
    pub counts: [u64; 2],
    /// How much of the first log's prompt the second begins with, both at the end.
    pub reuse: Reuse,
}

impl Difference {
    /// Whether nothing differs.
    pub fn is_none(&self) -> bool {
        self.events.is_none() && self.messages.is_none() && self.requests.is_none()
    }
}

/// Compares two logs. Times count only where that is asked for.
pub fn compare(a: &Log, b: &Log, times: bool) -> Difference {
    let stories = [Story::new(a), Story::new(b)];
    let base = Story::base(&[&stories[0], &stories[1]]);
    let [mut left, mut right] = [Prompt::new(&stories[0], base), Prompt::new(&stories[1], base)];
    let (ours, theirs) = (boundaries(a), boundaries(b));
    let counts = [ours.len() as u64, theirs.len() as u64];
    let headers = [Headers::new(a), Headers::new(b)];
    let mut requests = None;
    for index in 0..ours.len().max(theirs.len()) {
        let of = [ours.get(index).copied(), theirs.get(index).copied()];
        let index = index as u64;
        let [Some(our), Some(their)] = of else {
            requests = Some(RequestDifference { index, of, member: None, message: None });
            break;
        };
        left.advance(our.count, |_| {});
        right.advance(their.count, |_| {});
        let member = differing(headers[0].at(our.count), headers[1].at(their.count)).map(|(name, _)| name);
        let message = (left.all() != right.all()).then(|| left.common(&right).messages);
        if member.is_some() || message.is_some() {
            let member = member.or(Some("messages".to_owned()));
            requests = Some(RequestDifference { index, of, member, message });
            break;
        }
    }
    left.advance(a.len(), |_| {});
    right.advance(b.len(), |_| {});
    let kept = left.common(&right);
    let messages = (left.all() != right.all()).then(|| {
        let seqs = [left.seq(kept.messages), right.seq(kept.messages)];
        let byte = match seqs {
            [Some(x), Some(y)] => Some(agree(a.message(x).unwrap_or(b""), b.message(y).unwrap_or(b""))),
            _ => None,
        };
        MessageDifference { index: kept.messages, seqs, byte }
    });
    let spoiled = spoiler(headers[0].at(a.len()), headers[1].at(b.len()));
    Difference {
        events: events(a, b, times),
        messages,
        requests,
        counts,
        reuse: reuse(kept, left.all(), spoiled),
    }
}

fn agree(a: &[u8], b: &[u8]) -> u64 {
    a.iter().zip(b).take_while(|(x, y)| x == y).count() as u64
}

fn events(a: &Log, b: &Log, times: bool) -> Option<EventDifference> {
    let (mut ours, mut theirs) = (a.events(), b.events());
    let mut scanners = (Scanner::new(u64::MAX), Scanner::new(u64::MAX));
    for seq in 0.. {
        match (ours.next(), theirs.next()) {
            (None, None) => break,
            (Some(our), Some(their)) => {
                if our == their {
                    continue;
                }
                let (Ok(x), Ok(y)) = (scanners.0.scan(&our), scanners.1.scan(&their)) else { continue };
                if let Some(path) = path(x.root(), y.root(), times) {
                    return Some(EventDifference { seq, there: [true, true], member: Some(path) });
                }
            }
            (our, their) => {
                let there = [our.is_some(), their.is_some()];
                return Some(EventDifference { seq, there, member: None });
            }
        }
    }
    None
}
