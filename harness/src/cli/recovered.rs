//! What a repair or a salvage did: its JSON shape, and the parts of it that people are told in the same words.

use super::exit::{Exit, Failure, say};
use super::global::Global;
use super::json::FindingShape;
use super::paint::count;
use super::stored::{self, Stored};
use super::twice;
use crate::tools::branches::Branch;
use foldproof::check::Report;
use serde::Serialize;

/// What a repair or a salvage did, for programs.
#[derive(Debug, Serialize)]
pub(super) struct Shape<'a> {
    pub(super) foldproof: u32,
    pub(super) path: String,
    pub(super) outcome: &'a str,
    pub(super) refusal: Option<RefusalShape<'a>>,
    pub(super) dialect: &'a str,
    pub(super) encoding: &'a str,
    pub(super) out: Option<String>,
    pub(super) backup: Option<String>,
    pub(super) kept: Option<KeptShape>,
    pub(super) cut: Option<CutShape<'a>>,
    pub(super) appended: Vec<EventShape>,
    pub(super) rest: Option<RestShape>,
    pub(super) branches: Vec<BranchShape>,
    pub(super) verdict: &'a str,
    pub(super) findings: Vec<FindingShape<'a>>,
}

/// Why nothing was written.
#[derive(Debug, Serialize)]
pub(super) struct RefusalShape<'a> {
    pub(super) id: &'a str,
    pub(super) message: &'a str,
}

/// What was kept.
#[derive(Debug, Serialize)]
pub(super) struct KeptShape {
    /// Events that stand in OUT and stood in the log.
    pub(super) events: u64,
    /// Bytes of the log that OUT begins with.
    pub(super) bytes: u64,
    /// Bytes of text from a compressed frame that were written again.
    pub(super) rewritten: u64,
}

/// What was cut.
#[derive(Debug, Serialize)]
pub(super) struct CutShape<'a> {
    pub(super) line: u64,
    pub(super) bytes: u64,
    pub(super) rule: &'a str,
    pub(super) message: &'a str,
}

/// An event that was appended.
#[derive(Debug, Serialize)]
pub(super) struct EventShape {
    pub(super) seq: u64,
    #[serde(rename = "type")]
    pub(super) kind: String,
}

/// What was set beside.
#[derive(Debug, Serialize)]
pub(super) struct RestShape {
    pub(super) path: String,
    pub(super) bytes: u64,
    /// Text that could be decoded of damaged frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

/// One branch of a log that two writers wrote.
#[derive(Debug, Serialize)]
pub(super) struct BranchShape {
    pub(super) from: u64,
    pub(super) events: u64,
    pub(super) first_line: u64,
    pub(super) last_line: u64,
    pub(super) lines: u64,
}

impl From<&Branch> for BranchShape {
    fn from(branch: &Branch) -> Self {
        let &Branch { from, events, first_line, last_line, lines } = branch;
        BranchShape { from, events, first_line, last_line, lines }
    }
}

/// The findings of a log, for programs.
pub(super) fn findings(report: &Report) -> Vec<FindingShape<'_>> {
    report.findings.list.iter().take(100).map(FindingShape::new).collect()
}

impl<'a> Shape<'a> {
    /// With nothing written.
    pub(super) fn new(stored: &Stored, report: &'a Report, outcome: &'a str) -> Self {
        Shape {
            foldproof: 1,
            path: stored.name(),
            outcome,
            refusal: None,
            dialect: &report.dialect,
            encoding: stored.artifact.encoding(),
            out: None,
            backup: None,
            kept: None,
            cut: None,
            appended: vec![],
            rest: None,
            branches: vec![],
            verdict: report.verdict(),
            findings: vec![],
        }
    }
}

/// Tells why nothing was written: the findings, the reason and the way out.
pub(super) fn say_refused(
    stored: &Stored,
    id: &str,
    message: &str,
    report: &Report,
    global: &Global,
) -> Result<Exit, Failure> {
    if global.json() {
        stored::print(&Shape {
            refusal: Some(RefusalShape { id, message }),
            findings: findings(report),
            verdict: report.verdict(),
            ..Shape::new(stored, report, "refused")
        })?;
    } else {
        twice::tell(&stored.title(), report, global);
    }
    say(format_args!("error: {}: nothing was written: {message}", stored.title()));
    Ok(Exit::Findings)
}

/// The branches of a log that more than one writer wrote, for people.
pub(super) fn told_branches(branches: &[BranchShape]) -> String {
    let mut text = String::new();
    for (place, branch) in branches.iter().enumerate() {
        let from = match place {
            0 => "from the start".to_owned(),
            _ if branch.from == 0 => "from the start again".to_owned(),
            _ => format!("leaves the others behind event {}", branch.from.saturating_sub(1)),
        };
        text.push_str(&format!(
            "  branch {}  {} long, {from}: {}\n",
            place + 1,
            count(branch.events, "event"),
            match branch.lines {
                1 => format!("line {}", branch.first_line),
                lines => format!("{lines} lines, from {} to {}", branch.first_line, branch.last_line),
            }
        ));
    }
    if branches.len() > 1 {
        text.push_str(
            "            seqs go back, so more than one writer was at work; lines do not say which\n",
        );
    }
    text
}
