//! What a request holds beside its messages, and which of that a prompt begins with.

use foldproof::dialect::Role;
use foldproof::json::Scanner;
use foldproof::log::Log;
use foldproof::request::RequestHeader;

/// The members of a request beside its messages, canonical, and whether a prompt begins with them.
pub(super) type Members = Vec<(String, Vec<u8>, bool)>;

/// The headers of a log, each from its event on.
pub(super) struct Headers(Vec<(u64, Members)>);

impl Headers {
    /// Those of a log.
    pub(super) fn new(log: &Log) -> Self {
        let seqs = (0..log.len()).filter(|seq| log.role(*seq) == Role::RequestHeader);
        let read = |seq| Some((seq, members(&RequestHeader::read(log, seq)?.to_bytes())));
        Headers(seqs.filter_map(read).collect())
    }

    /// What is in force behind the first `count` events.
    pub(super) fn at(&self, count: u64) -> Option<&(u64, Members)> {
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
pub(super) fn differing(a: Option<&(u64, Members)>, b: Option<&(u64, Members)>) -> Option<(String, bool)> {
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
pub(super) fn spoiler(a: Option<&(u64, Members)>, b: Option<&(u64, Members)>) -> Option<String> {
    let (Some((_, a)), Some((_, b))) = (a, b) else { return differing(a, b).map(|(name, _)| name) };
    let cached =
        |list: &Members| -> Members { list.iter().filter(|(_, _, cached)| *cached).cloned().collect() };
    differing(Some(&(0, cached(a))), Some(&(0, cached(b)))).map(|(name, _)| name)
}
