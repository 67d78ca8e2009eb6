//! What is the matter with a log: what it claims to be, who opens it, what is damaged, and what stands safe before that.

use super::artifact::Artifact;
use super::branches::Branches;
use super::cut;
use super::repair::torn;
use super::salvage;
use foldproof::check::{Input, Options, Report, check};
use foldproof::codec::frames::{FrameError, MAGIC};
use foldproof::codec::lines::{Item, Lines};
use foldproof::dialect::Reading;
use foldproof::finding::Finding;
use foldproof::json::{Scanner, Value};
use foldproof::rule::{Class, Rule, Stage};

/// The matter in one word, from what is not a log at all to what needs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// No byte.
    Empty,
    /// Bytes that are no text and no Zstandard.
    Binary,
    /// Text with a byte-order mark in front.
    Marked,
    /// UTF-16, with its mark.
    Utf16,
    /// Text, but no log.
    NotALog,
    /// Plain text under a name that says Zstandard.
    PlainNamedZstd,
    /// Zstandard under a name that says plain text.
    ZstdNamedPlain,
    /// Compressed as a whole, and not by a writer of logs.
    WholeFrame,
    /// The first frame is cut off, and the header with it.
    HeaderCutOff,
    /// The first line is an event.
    NoHeader,
    /// The header line is there and broken.
    BadHeader,
    /// Written for a newer version.
    FutureVersion,
    /// Written for a version before the first.
    OlderVersion,
    /// An event of a type that is not in the vocabulary.
    UnknownEvent,
    /// A compressed frame is damaged.
    CorruptFrame,
    /// Seqs go back.
    TwoWriters,
    /// Committed lines are damaged.
    Damaged,
    /// An event that the contract does not admit.
    Rejected,
    /// The last compressed frame is cut off.
    TornFrame,
    /// The last lines were never committed.
    TornTail,
    /// An open turn that cannot be closed.
    Unrepairable,
    /// Events that do not fit each other.
    Relation,
    /// An open turn.
    OpenTurn,
    /// A tutorial log that needs nothing.
    Tutorial,
    /// Nothing is the matter.
    Healthy,
}

impl Case {
    /// The stable id.
    pub fn id(self) -> &'static str {
        match self {
            Case::Empty => "empty",
            Case::Binary => "binary",
            Case::Marked => "byte-order-mark",
            Case::Utf16 => "utf-16",
            Case::NotALog => "not-a-log",
            Case::PlainNamedZstd => "plain-named-zstd",
            Case::ZstdNamedPlain => "zstd-named-plain",
            Case::WholeFrame => "whole-frame",
            Case::HeaderCutOff => "header-cut-off",
            Case::NoHeader => "no-header",
            Case::BadHeader => "bad-header",
            Case::FutureVersion => "future-version",
            Case::OlderVersion => "older-version",
            Case::UnknownEvent => "unknown-event",
            Case::CorruptFrame => "corrupt-frame",
            Case::TwoWriters => "two-writers",
            Case::Damaged => "damaged",
            Case::Rejected => "rejected",
            Case::TornFrame => "torn-frame",
            Case::TornTail => "torn-tail",
            Case::Unrepairable => "unrepairable",
            Case::Relation => "relation",
            Case::OpenTurn => "open-turn",
            Case::Tutorial => "tutorial",
            Case::Healthy => "healthy",
        }
    }

    /// Whether a log of this case can be read in part, so that a prefix of it is worth something.
    pub fn is_log(self) -> bool {
        use Case::*;
        !matches!(
            self,
            Empty
                | Binary
                | NotALog
                | Marked
                | Utf16
                | PlainNamedZstd
                | ZstdNamedPlain
                | WholeFrame
                | HeaderCutOff
                | NoHeader
                | BadHeader
                | FutureVersion
                | OlderVersion
        )
    }
}

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

fn case(
    artifact: &Artifact,
    explanation: &Explanation,
    head: &[u8],
    options: &Options,
) -> Result<Case, FrameError> {
    let report = &explanation.report;
    if artifact.size() == 0 {
        return Ok(Case::Empty);
    }
    let text = is_text(head);
    match (artifact.is_compressed(), head.starts_with(&MAGIC)) {
        (true, false) if head.len() >= MAGIC.len() => {
            return Ok(if text { Case::PlainNamedZstd } else { Case::Binary });
        }
        (false, true) => return Ok(Case::ZstdNamedPlain),
        _ => {}
    }
    let Some(finding) = explanation.damage() else {
        return Ok(if report.dialect == "tutorial" { Case::Tutorial } else { Case::Healthy });
    };
    if finding.class == Class::Corrupt && finding.line == 1 {
        return Ok(header_case(artifact, explanation, finding, head, text));
    }
    Ok(match (finding.class, finding.rule) {
        (Class::Unsupported, Rule::Store2) => {
            let version = version(report).and_then(|version| version.parse::<f64>().ok());
            if version.is_some_and(|version| version < 0.0) {
                Case::OlderVersion
            } else {
                Case::FutureVersion
            }
        }
        (Class::Unsupported, _) => Case::UnknownEvent,
        (Class::Corrupt, Rule::Codec3) => {
            // The header frame holds more than the header: the cut in front of the second line falls into it.
            let cut = cut::before(artifact, 2, options.limits)?;
            let whole = finding.line == 2 && cut.at == 0 && !cut.rewritten.is_empty();
            if whole { Case::WholeFrame } else { Case::CorruptFrame }
        }
        (Class::Corrupt, _) => Case::Damaged,
        (Class::Reject, _) => Case::Rejected,
        (Class::Relation, _) if report.findings.list.iter().any(|other| other.rule == Rule::Repair6) => {
            Case::Unrepairable
        }
        (Class::Relation, _) => Case::Relation,
        (Class::Repairable, Rule::Codec3) => Case::TornFrame,
        (Class::Repairable, Rule::Repair2) => Case::OpenTurn,
        (Class::Repairable, _) => Case::TornTail,
        (Class::Note, _) => Case::Healthy,
    })
}

fn header_case(
    artifact: &Artifact,
    explanation: &Explanation,
    finding: &Finding,
    head: &[u8],
    text: bool,
) -> Case {
    if artifact.is_compressed() {
        return match finding.rule {
            Rule::Codec3 => Case::CorruptFrame,
            _ if explanation.first_time.is_some() => Case::NoHeader,
            _ if explanation.report.bytes == 0 || first_frame_is_torn(artifact) => Case::HeaderCutOff,
            _ if explanation.report.header.is_some() => Case::BadHeader,
            _ => Case::NotALog,
        };
    }
    if head.starts_with(b"\xef\xbb\xbf") {
        Case::Marked
    } else if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        Case::Utf16
    } else if explanation.first_time.is_some() {
        Case::NoHeader
    } else if explanation.report.header.is_some()
        || head.trim_ascii_start().starts_with(b"{\"type\":\"session\"")
    {
        Case::BadHeader
    } else if text {
        Case::NotALog
    } else {
        Case::Binary
    }
}

fn first_frame_is_torn(artifact: &Artifact) -> bool {
    use foldproof::codec::frames::{Extent, Window};
    let window = artifact.part(0, artifact.size()).and_then(Window::new);
    window.and_then(|mut window| window.extent(0)).is_ok_and(|extent| extent == Extent::Incomplete)
}

/// Whether bytes look like text: UTF-8 but for a character cut at the end, and without NUL.
fn is_text(head: &[u8]) -> bool {
    let broken = std::str::from_utf8(head).err();
    let valid =
        broken.is_none_or(|error| error.error_len().is_none() && head.len() - error.valid_up_to() < 4);
    valid && !head.contains(&0)
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
fn is_record(artifact: &Artifact, from: u64, options: &Options) -> Result<bool, FrameError> {
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
    let mut lines = match input {
        Input::Plain(source) => Lines::plain(source, options.limits),
        Input::Compressed(source) => Lines::compressed(source, options.limits, true)?,
    };
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
