//! What is the matter with a log: what it claims to be, who opens it, what is damaged, and what stands safe before that.

use super::artifact::Artifact;
use super::branches::Branches;
use super::cut;
use super::diagnosis::{Case, case};
use super::repair::torn;
use super::salvage;
use foldproof::check::{Input, Options, Report, check};
use foldproof::codec::frames::FrameError;
use foldproof::codec::lines::Item;
use foldproof::dialect::Reading;
use foldproof::finding::Finding;
use foldproof::json::{Scanner, Value};
use foldproof::rule::{Class, Rule, Stage};

/// What the released reader says.
#[derive(Debug)]
pub struct Readers {
    /// Of opening and reading the file.
    pub provider: Report,
    /// Of the live session too.
    pub publish: Report,
}

/// What stands in front of the damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Safe {
    /// Whole events.
    pub events: u64,
    /// Lines of the log, the header included.
    pub lines: u64,
    /// Bytes of the file that no cut touches.
    pub bytes: u64,
    /// The last `turn/end`: its seq. Everything up to it was promised durable.
    pub finished: Option<u64>,
    /// What the check of it alone says.
    pub verdict: &'static str,
}

/// All that is known of a log.
#[derive(Debug)]
pub struct Explanation {
    /// The matter.
    pub case: Case,
    /// What a strict check says.
    pub report: Report,
    /// What the released reader says; nothing for a dialect that has none, or bytes that are no log.
    pub readers: Option<Readers>,
    /// What stands in front of the damage, or all of it.
    pub safe: Option<Safe>,
    /// How seqs branch, where they go back.
    pub branches: Option<Branches>,
    /// The time of the first event, where the header is missing.
    pub first_time: Option<i64>,
    /// Whether the last line is a whole record that only lacks its newline, as some editors leave it.
    pub unended: bool,
}

impl Explanation {
    /// The finding that matters most: the first of the strongest class, and a torn tail before an open turn.
    pub fn damage(&self) -> Option<&Finding> {
        let list = &self.report.findings.list;
        let strongest = self.report.findings.strongest()?;
        if strongest == Class::Repairable {
            return torn(&self.report).or_else(|| list.first());
        }
        list.iter().find(|finding| finding.class == strongest)
    }
}

/// Looks at a log from all sides.
pub fn explain(artifact: &Artifact, options: &Options) -> Result<Explanation, FrameError> {
    let report = check(artifact.input()?, options)?;
    let released = |stage| -> Result<Report, FrameError> {
        check(artifact.input()?, &Options { reading: Reading::Released(stage), ..options.clone() })
    };
    let head = artifact.head(1 << 14)?;
    let mut explanation = Explanation {
        case: Case::Healthy,
        readers: None,
        safe: None,
        branches: None,
        first_time: first_event_time(artifact, options),
        unended: false,
        report,
    };
    explanation.case = case(artifact, &explanation, &head, options)?;
    if explanation.report.dialect != "tutorial" && !matches!(explanation.case, Case::Empty | Case::Binary) {
        explanation.readers =
            Some(Readers { provider: released(Stage::Provider)?, publish: released(Stage::Publish)? });
    }
    if explanation.case.is_log()
        && let salvage::Outcome::Plan(plan) = salvage::plan(artifact, options)?
    {
        let bytes = plan.copied(artifact);
        let whole = cut::Cut { line: u64::MAX, at: artifact.size(), rewritten: vec![] };
        let cut = plan.cut.as_ref().unwrap_or(&whole);
        let prefix = artifact.wrap(artifact.spliced(cut.at, cut.tail(artifact.is_compressed(), b"")?)?);
        let (lines, finished) = walk(prefix, options)?;
        explanation.safe =
            Some(Safe { events: plan.prefix.events, lines, bytes, finished, verdict: plan.prefix.verdict() });
        explanation.branches = plan.branches;
        explanation.unended = explanation.damage().is_some_and(|finding| finding.rule == Rule::Store5)
            && is_record(artifact, bytes, options)?;
        if explanation.branches.is_some() && matches!(explanation.case, Case::Damaged | Case::TornTail) {
            explanation.case = Case::TwoWriters;
        }
    }
    Ok(explanation)
}

/// The time of the first line, where that is an event.
fn first_event_time(artifact: &Artifact, options: &Options) -> Option<i64> {
    let mut lines = artifact.lines(0, options.limits).ok()?;
    let Ok(Item::Line { bytes, .. }) = lines.read() else { return None };
    std::str::from_utf8(bytes).ok()?;
    let mut scanner = Scanner::new(options.limits.depth);
    let scan = scanner.scan(bytes).ok()?;
    let root = scan.root();
    let kind = root.get("type").and_then(Value::as_str)?;
    if kind.is("session") || root.get("version").is_some() {
        return None;
    }
    let packed = root.get("seq0").and_then(|_| root.get("time0"));
    root.get("seq").and_then(|_| root.get("time")).or(packed).map(|time| time.as_int().unwrap_or(0).max(0))
}

/// The version that a header claims, as it is spelled.
pub fn version(report: &Report) -> Option<String> {
    member(report, "version")
}

/// A member of the header as it is spelled.
pub fn member(report: &Report, name: &str) -> Option<String> {
    let line = &report.header.as_ref()?.line;
    let mut scanner = Scanner::new(u64::MAX);
    let scan = scanner.scan(line).ok()?;
    scan.root().get(name).map(|value| String::from_utf8_lossy(value.bytes()).into_owned())
}

/// Whether what stands behind an offset is a record but for its newline.
pub fn is_record(artifact: &Artifact, from: u64, options: &Options) -> Result<bool, FrameError> {
    let mut lines = artifact.lines(from, options.limits)?;
    let mut scanner = Scanner::new(options.limits.depth);
    Ok(match lines.read()? {
        Item::Line { bytes, ended: false, .. } => {
            std::str::from_utf8(bytes).is_ok()
                && scanner.scan(bytes).is_ok_and(|scan| scan.root().is_object())
        }
        _ => false,
    })
}

/// Lines of a log that opens, and the seq of its last `turn/end`.
fn walk(input: Input<'_>, options: &Options) -> Result<(u64, Option<u64>), FrameError> {
    let mut lines = input.lines(options.limits, true)?;
    let mut scanner = Scanner::new(u64::MAX);
    let (mut count, mut finished) = (0, None);
    loop {
        match lines.read()? {
            Item::Line { bytes, number, .. } => {
                count = number;
                if memchr::memmem::find(bytes, b"turn").is_some()
                    && let Ok(scan) = scanner.scan(bytes)
                    && scan.root().get("type").and_then(Value::as_str).is_some_and(|kind| kind.is("turn/end"))
                {
                    finished = scan.root().get("seq").and_then(Value::as_uint).or(finished);
                }
            }
            Item::FrameEnd => {}
            Item::Torn | Item::Damage(_) | Item::End => return Ok((count, finished)),
        }
    }
}
