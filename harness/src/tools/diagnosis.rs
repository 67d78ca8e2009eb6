//! The kinds of matter that a log can have, and how they are told apart.

use super::artifact::Artifact;
use super::cut;
use super::explain::{Explanation, version};
use foldproof::check::Options;
use foldproof::codec::frames::{Extent, FrameError, MAGIC, Window};
use foldproof::finding::Finding;
use foldproof::rule::{Class, Rule};

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

/// Which case a log is, whose strict check is known; `head` are its first bytes.
pub(super) fn case(
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
