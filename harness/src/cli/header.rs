//! What the first line of a log says of its parent, read before the check so that forks can be compared.

use super::source;
use super::walk::Log;
use foldproof::codec::lines::{Item, Lines};
use foldproof::json::{Scanner, Value, print};
use foldproof::limits::Limits;
use std::sync::atomic::AtomicU64;

/// The members that a fork keeps (FORK-3).
pub const KEPT: [&str; 4] = ["cwd", "agentPreset", "origin", "delegationDepth"];

/// What a header says of its session.
#[derive(Clone, Debug, Default)]
pub struct Kin {
    /// Canonical inner text of `id`.
    pub id: Vec<u8>,
    /// Canonical inner text of `parentSession`.
    pub parent: Option<Vec<u8>>,
    /// `seedLength`
    pub inherited: Option<u64>,
    /// The members named in [`KEPT`]: canonical bytes, and where they stand in the line.
    pub kept: [Option<(Vec<u8>, usize)>; 4],
    /// The line.
    pub line: Vec<u8>,
}

/// Opens a log for reading its lines.
pub fn lines<'a>(log: &Log, limits: Limits, count: &'a AtomicU64) -> Option<Lines<'a>> {
    source::open(log, limits.held, count).ok()?.lines(limits, false).ok()
}

/// Reads the header of a log; nothing where it has none, or none that can be read.
pub fn read(log: &Log, limits: Limits) -> Option<Kin> {
    // A pipe can be read only once, and that is the check's turn.
    if log.is_stdin() || !log.path.metadata().is_ok_and(|data| data.is_file()) {
        return None;
    }
    let count = AtomicU64::new(0);
    let mut lines = lines(log, limits, &count)?;
    let Ok(Item::Line { bytes, .. }) = lines.read() else { return None };
    std::str::from_utf8(bytes).ok()?;
    let mut scanner = Scanner::new(limits.depth);
    let scan = scanner.scan(bytes).ok()?;
    // A header that is not lossless is corrupt, and one that nests too deep cannot be looked into.
    if scan.fault.is_some() {
        return None;
    }
    let root = scan.root();
    let text = |name: &str| Some(root.get(name)?.as_str()?.canonical().into_owned());
    if !root.get("type").and_then(Value::as_str).is_some_and(|kind| kind.is("session")) {
        return None;
    }
    let kept = KEPT.map(|name| {
        let value = root.get(name)?;
        let mut canonical = vec![];
        print::canonical(value, &mut canonical);
        Some((canonical, value.at()))
    });
    Some(Kin {
        id: text("id")?,
        parent: text("parentSession"),
        inherited: root.get("seedLength").and_then(Value::as_uint),
        kept,
        line: bytes.to_vec(),
    })
}
