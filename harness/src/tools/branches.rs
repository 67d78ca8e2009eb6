//! Two writers on one log: seqs that go back, followed to the branches that they make.
//!
//! Lines do not say who wrote them. A line continues the branch that waits for its seq, the last one written first; a
//! seq that was there before begins a branch of its own. So the number of branches and how far each reaches are known,
//! and where two writers took turns, which line is whose is not.

use super::artifact::Artifact;
use foldproof::codec::frames::FrameError;
use foldproof::codec::lines::Item;
use foldproof::codec::rows::{Row, Tag};
use foldproof::json::{Scanner, Value};
use foldproof::limits::Limits;

/// Branches that are told apart; what begins beyond them is only counted.
const MOST: usize = 64;

/// One way through the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Events that it shares with the branch that it leaves.
    pub from: u64,
    /// The seq behind its last event, which is its number of events.
    pub events: u64,
    /// Its own first line.
    pub first_line: u64,
    /// Its own last line.
    pub last_line: u64,
    /// Its own lines.
    pub lines: u64,
}

/// How the lines of a log branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branches {
    /// In the order of their first lines.
    pub list: Vec<Branch>,
    /// Lines that are no records with a seq, or that continue no branch.
    pub loose: u64,
}

impl Branches {
    /// Whether there is more than one.
    pub fn forked(&self) -> bool {
        self.list.len() > 1
    }

    fn take(&mut self, current: &mut usize, line: u64, first: u64, count: u64) {
        let waits = |branch: &Branch| branch.events == first;
        if !self.list.get(*current).is_some_and(waits) {
            if let Some(other) = self.list.iter().rposition(waits) {
                *current = other;
            } else if self.list.is_empty() && first == 0
                || self.list.iter().any(|branch| first < branch.events) && self.list.len() < MOST
            {
                *current = self.list.len();
                self.list.push(Branch {
                    from: first,
                    events: first,
                    first_line: line,
                    last_line: line,
                    lines: 0,
                });
            } else {
                self.loose += 1;
                return;
            }
        }
        if let Some(branch) = self.list.get_mut(*current) {
            branch.events = first + count;
            branch.last_line = line;
            branch.lines += 1;
        }
    }
}

/// Follows the seqs of a log from its start to its end, or to where it cannot be read on.
pub fn follow(artifact: &Artifact, headed: bool, limits: Limits) -> Result<Branches, FrameError> {
    let mut branches = Branches::default();
    let mut current = 0;
    let mut scanner = Scanner::new(limits.depth);
    let mut lines = artifact.lines(0, limits)?;
    loop {
        match lines.read()? {
            Item::Line { bytes, number, ended, .. } => {
                if headed && number == 1 {
                    continue;
                }
                match ended.then(|| seqs(&mut scanner, bytes)).flatten() {
                    Some((first, count)) => branches.take(&mut current, number, first, count),
                    None => branches.loose += 1,
                }
            }
            Item::FrameEnd => {}
            Item::Torn | Item::Damage(_) | Item::End => return Ok(branches),
        }
    }
}

/// The first seq of a record and how many it holds.
fn seqs(scanner: &mut Scanner, bytes: &[u8]) -> Option<(u64, u64)> {
    std::str::from_utf8(bytes).ok()?;
    let scan = scanner.scan(bytes).ok()?;
    let root = scan.root();
    let kind = root.get("type").and_then(Value::as_str)?;
    match Tag::of(kind) {
        Some(tag) => Row::read(root, tag).ok().map(|row| (row.first, row.count)),
        None => root.get("seq").and_then(Value::as_uint).map(|seq| (seq, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(seqs: &[u64]) -> Branches {
        let lines: String =
            seqs.iter().map(|seq| format!("{{\"type\":\"turn/start\",\"seq\":{seq}}}\n")).collect();
        let artifact = Artifact::held(lines.into_bytes());
        super::follow(&artifact, false, Limits::default()).expect("bytes in memory")
    }

    fn ways(branches: &Branches) -> Vec<(u64, u64)> {
        branches.list.iter().map(|branch| (branch.from, branch.events)).collect()
    }

    #[test]
    fn one_writer_is_one_branch() {
        let branches = follow(&[0, 1, 2, 3]);
        assert_eq!(ways(&branches), [(0, 4)]);
        assert!(!branches.forked());
    }

    #[test]
    fn one_behind_the_other() {
        let branches = follow(&[0, 1, 2, 3, 2, 3, 4]);
        assert_eq!(ways(&branches), [(0, 4), (2, 5)]);
        assert_eq!((branches.list[1].first_line, branches.list[1].lines), (5, 3));
    }

    #[test]
    fn by_turns() {
        assert_eq!(ways(&follow(&[0, 1, 1, 2, 2, 3, 3])), [(0, 4), (1, 4)]);
    }

    #[test]
    fn a_gap_is_no_branch() {
        let branches = follow(&[0, 1, 5, 6]);
        assert_eq!((ways(&branches), branches.loose), (vec![(0, 2)], 2));
    }
}
