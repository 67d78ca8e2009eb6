//! Where two logs stop telling the same story, and how much of a prompt the next one can use again.
//!
//! A prompt, as a provider caches it, is the model, the system text, the tools and then the messages: what differs in
//! one of the first three leaves nothing to be used again, what differs in another setting leaves everything.

use super::prompt::{Passed, Prompt, Story, Stretch};
use foldproof::dialect::Role;
use foldproof::json::{Kind, Scanner, Value};
use foldproof::log::Log;
use foldproof::request::{Boundary, RequestHeader, boundaries};

/// Levels of a value that a path names; what lies deeper is within it.
const LEVELS: usize = 32;

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

/// How much of an earlier prompt a later one begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reuse {
    /// What both begin with.
    pub kept: Stretch,
    /// The earlier prompt.
    pub of: Stretch,
    /// The member in front of the messages that spoils it all.
    pub spoiled: Option<String>,
}

impl Reuse {
    /// Thousandths of the earlier prompt's bytes, rounded down; an empty one is kept whole.
    pub fn permille(&self) -> u64 {
        if self.of.bytes == 0 {
            return if self.spoiled.is_some() { 0 } else { 1000 };
        }
        self.kept.bytes * 1000 / self.of.bytes
    }
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

fn reuse(kept: Stretch, of: Stretch, spoiled: Option<String>) -> Reuse {
    Reuse { kept: if spoiled.is_some() { Stretch::default() } else { kept }, of, spoiled }
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

/// The path to the first value that differs between two events in canonical form.
fn path(a: Value<'_>, b: Value<'_>, times: bool) -> Option<String> {
    let (mut x, mut y) = (a, b);
    let mut path = String::new();
    for level in 0..LEVELS {
        if x.kind() != y.kind() {
            break;
        }
        // What both have at this level, up to the first that differs.
        let (name, next) = match x.kind() {
            Kind::Object => {
                let counts = |(name, _): &(foldproof::json::Str<'_>, Value<'_>)| {
                    level > 0 || times || !name.is("time")
                };
                let (mut ours, mut theirs) = (x.members().filter(counts), y.members().filter(counts));
                loop {
                    match (ours.next(), theirs.next()) {
                        (None, None) if level == 0 => return None,
                        (None, None) => return Some(path),
                        (Some((name, p)), Some((other, q))) if name.raw() == other.raw() => {
                            if p.bytes() != q.bytes() {
                                break (name.display(), Some((p, q)));
                            }
                        }
                        (our, their) => {
                            let name = our.or(their).map_or(String::new(), |(name, _)| name.display());
                            break (name, None);
                        }
                    }
                }
            }
            Kind::Array => {
                let (mut ours, mut theirs) = (x.elements(), y.elements());
                let mut place = 0;
                loop {
                    match (ours.next(), theirs.next()) {
                        (None, None) => return Some(path),
                        (Some(p), Some(q)) if p.bytes() == q.bytes() => place += 1,
                        (p, q) => break (place.to_string(), p.zip(q)),
                    }
                }
            }
            _ => break,
        };
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(&name);
        match next {
            Some((p, q)) => (x, y) = (p, q),
            None => break,
        }
    }
    Some(path)
}

/// The members of a request beside its messages, canonical, and whether a prompt begins with them.
type Members = Vec<(String, Vec<u8>, bool)>;

/// The headers of a log, each from its event on.
struct Headers(Vec<(u64, Members)>);

impl Headers {
    fn new(log: &Log) -> Self {
        let seqs = (0..log.len()).filter(|seq| log.role(*seq) == Role::RequestHeader);
        let read = |seq| Some((seq, members(&RequestHeader::read(log, seq)?.to_bytes())));
        Headers(seqs.filter_map(read).collect())
    }

    /// What is in force behind the first `count` events.
    fn at(&self, count: u64) -> Option<&(u64, Members)> {
        self.0.partition_point(|(seq, _)| *seq < count).checked_sub(1).and_then(|place| self.0.get(place))
    }
}

fn members(header: &[u8]) -> Members {
    let mut scanner = Scanner::new(u64::MAX);
    let Ok(scan) = scanner.scan(header) else { return vec![] };
    let mut out = vec![];
    for (name, value) in scan.root().members() {
        if name.is("config") {
            for (name, value) in value.members() {
                let cached = name.is("provider") || name.is("model");
                out.push((name.display(), value.bytes().to_vec(), cached));
            }
        } else if !name.is("adapterDefaults") {
            out.push((name.display(), value.bytes().to_vec(), true));
        }
    }
    out
}

/// The first member that differs, and whether a prompt begins with it.
fn differing(a: Option<&(u64, Members)>, b: Option<&(u64, Members)>) -> Option<(String, bool)> {
    let (a, b) = match (a, b) {
        (None, None) => return None,
        (Some((_, a)), Some((_, b))) => (a, b),
        _ => return Some(("header".into(), true)),
    };
    let place = (0..a.len().max(b.len())).find(|place| a.get(*place) != b.get(*place))?;
    let (name, _, cached) = a.get(place).or(b.get(place))?;
    Some((name.clone(), *cached))
}

/// The first member that differs of those that a prompt begins with.
fn spoiler(a: Option<&(u64, Members)>, b: Option<&(u64, Members)>) -> Option<String> {
    let (Some((_, a)), Some((_, b))) = (a, b) else { return differing(a, b).map(|(name, _)| name) };
    let cached =
        |list: &Members| -> Members { list.iter().filter(|(_, _, cached)| *cached).cloned().collect() };
    differing(Some(&(0, cached(a))), Some(&(0, cached(b)))).map(|(name, _)| name)
}

/// What broke a prompt's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Another `request/header`.
    Header,
    /// A checkpoint that a compaction wrote.
    Compaction,
    /// A replace that a `compaction/prune` priced.
    Prune,
    /// Another replace.
    Replace,
}

impl Cause {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Header => "header",
            Cause::Compaction => "compaction",
            Cause::Prune => "prune",
            Cause::Replace => "replace",
        }
    }
}

/// A request and what it keeps of the one before.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Which step and attempt.
    pub of: Boundary,
    /// Its messages.
    pub messages: Stretch,
    /// What it keeps; nothing for the first request.
    pub reuse: Option<Reuse>,
    /// The event that broke the prefix, if it was broken.
    pub broken: Option<(Cause, u64)>,
}

/// Each request of a log against the one before.
pub fn requests(log: &Log) -> Vec<Kept> {
    let story = Story::new(log);
    let base = Story::base(&[&story]);
    let [mut former, mut prompt] = [Prompt::new(&story, base), Prompt::new(&story, base)];
    let headers = Headers::new(log);
    let mut list: Vec<Kept> = vec![];
    for of in boundaries(log) {
        let mut passed: Vec<Passed> = vec![];
        prompt.advance(of.count, |replace| passed.push(replace));
        let (mut kept, mut broken) = (None, None);
        if let Some(last) = list.last() {
            let (before, now) = (headers.at(last.of.count), headers.at(of.count));
            let same = match passed.is_empty() {
                true => former.all(),
                false => former.common(&prompt),
            };
            let reuse = reuse(same, former.all(), spoiler(before, now));
            broken = if reuse.spoiled.is_some() {
                now.map(|(seq, _)| (Cause::Header, *seq))
            } else if same.messages < former.all().messages {
                culprit(log, &prompt, last.of.count, same.messages, &passed)
            } else {
                None
            };
            kept = Some(reuse);
        }
        former.advance(of.count, |_| {});
        list.push(Kept { of, messages: prompt.all(), reuse: kept, broken });
    }
    list
}

/// The replace that gave the first message which differs, else the one that stood furthest in front.
fn culprit(
    log: &Log,
    prompt: &Prompt<'_>,
    since: u64,
    index: u64,
    passed: &[Passed],
) -> Option<(Cause, u64)> {
    let given = prompt.seq(index).filter(|seq| *seq >= since && log.is_replace(*seq));
    let seq = given.or_else(|| {
        passed
            .iter()
            .filter(|replace| replace.index <= index)
            .min_by_key(|replace| replace.index)
            .map(|r| r.seq)
    })?;
    let line = log.line(seq)?;
    let mut scanner = Scanner::new(u64::MAX);
    let compacts =
        scanner.scan(&line).is_ok_and(|scan| scan.root().path(&["data", "source", "compactionId"]).is_some());
    let pruned = seq.checked_sub(1).is_some_and(|before| log.role(before) == Role::CompactionPrune);
    let cause = match (compacts, pruned) {
        (true, _) => Cause::Compaction,
        (_, true) => Cause::Prune,
        _ => Cause::Replace,
    };
    Some((cause, seq))
}
