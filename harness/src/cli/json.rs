//! The JSON shapes of `check`.

use foldproof::check::Report;
use foldproof::finding::Finding;
use serde::Serialize;

/// What `check` says of one log.
#[derive(Debug, Serialize)]
pub struct LogShape<'a> {
    path: String,
    dialect: &'a str,
    verdict: &'a str,
    events: u64,
    findings: Vec<FindingShape<'a>>,
    /// Findings that `--max-findings` left out.
    #[serde(skip_serializing_if = "is_none")]
    more: u64,
}

/// One finding.
#[derive(Debug, Serialize)]
pub struct FindingShape<'a> {
    rule: &'a str,
    class: &'a str,
    line: u64,
    column: u64,
    seq: Option<u64>,
    message: &'a str,
    help: &'a str,
    /// Only where the released reader was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<&'a str>,
}

fn is_none(number: &u64) -> bool {
    *number == 0
}

impl<'a> LogShape<'a> {
    /// Of a report, with at most `most` findings.
    pub fn new(path: String, report: &'a Report, most: usize) -> Self {
        let list = &report.findings.list;
        LogShape {
            path,
            dialect: &report.dialect,
            verdict: report.verdict(),
            events: report.events,
            findings: list.iter().take(most).map(FindingShape::new).collect(),
            more: list.len().saturating_sub(most) as u64 + report.findings.more,
        }
    }
}

impl<'a> FindingShape<'a> {
    /// Of a finding.
    pub fn new(finding: &'a Finding) -> Self {
        FindingShape {
            rule: finding.rule.id(),
            class: finding.class.name(),
            line: finding.line,
            column: finding.column,
            seq: finding.seq,
            message: &finding.message,
            help: &finding.help,
            stage: finding.stage.map(|stage| stage.name()),
        }
    }
}
