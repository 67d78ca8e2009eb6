//! Recovery of a stored log (REPAIR): what is cut, what is appended, and the bytes of the result.
//!
//! A plan is made by reading the log once in bounded memory. It holds only what is added; what is kept is copied from
//! the artifact byte for byte. The result is checked before anybody gets it.

use super::artifact::{Artifact, Part};
use super::cut::{self, Cut};
use super::sink::Sink;
use foldproof::check::{Options, Report, check, inspect};
use foldproof::codec::frames::FrameError;
use foldproof::codec::lines::Item;
use foldproof::dialect;
use foldproof::finding::Finding;
use foldproof::rule::{Class, Rule};
use std::io::{self, Write};

/// How a log is repaired.
#[derive(Debug)]
pub struct Plan {
    /// What the check of the log as it is said.
    pub report: Report,
    /// Where a torn tail begins, if there is one.
    pub cut: Option<Cut>,
    /// The events that close what stands open, as canonical lines without newlines.
    pub closers: Vec<Vec<u8>>,
    /// What the check of the result says.
    pub after: Report,
}

/// Why a log is not repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Storage damage in the committed region.
    Corrupt,
    /// The header is missing or damaged.
    NoHeader,
    /// Written for another version or vocabulary.
    Unsupported,
    /// It holds an event that the contract does not admit.
    Reject,
    /// REPAIR-6: no result could answer an open call.
    Unrepairable,
    /// Nothing of it was committed, so nothing would be left.
    Nothing,
    /// The result would not load; a bug of ours.
    Unsound,
}

impl Refusal {
    /// The stable id.
    pub fn id(self) -> &'static str {
        match self {
            Refusal::Corrupt => "corrupt",
            Refusal::NoHeader => "no-header",
            Refusal::Unsupported => "unsupported",
            Refusal::Reject => "reject",
            Refusal::Unrepairable => "unrepairable",
            Refusal::Nothing => "nothing-committed",
            Refusal::Unsound => "unsound",
        }
    }

    /// Why, and the way out, in one sentence.
    pub fn text(self) -> &'static str {
        match self {
            Refusal::Corrupt => {
                "the log is damaged where it was committed, and a repair never removes a committed event; --salvage \
                 keeps what stands before the damage and sets the rest beside it"
            }
            Refusal::NoHeader => {
                "no header can be read from the file, and one is never invented; `foldproof explain` says what can be done"
            }
            Refusal::Unsupported => {
                "the log is not broken but written for another version or vocabulary, so there is nothing to repair; \
                 read it with the program that wrote it"
            }
            Refusal::Reject => {
                "the log holds an event that the contract does not admit, and a repair never removes an event; --salvage keeps \
                 what stands before it and sets the rest beside it"
            }
            Refusal::Unrepairable => {
                "the open turn cannot be closed: a call in it has no id that a result could answer; --salvage copies \
                 the log as it is, without its torn tail"
            }
            Refusal::Nothing => {
                "no event was ever committed: without its torn line the log is empty, and there is nothing to repair"
            }
            Refusal::Unsound => {
                "the repaired log would not load, so it was not written; this is a bug of foldproof, please report it"
            }
        }
    }
}

/// What becomes of a log.
#[derive(Debug)]
pub enum Outcome {
    /// It can be repaired, or needs nothing.
    Plan(Box<Plan>),
    /// It cannot, and what the check said.
    Refused(Refusal, Box<Report>),
}

/// Plans the repair of a log. `options` are those of a strict check.
pub fn plan(artifact: &Artifact, options: &Options) -> Result<Outcome, FrameError> {
    let (report, recovery) = inspect(artifact.input()?, options)?;
    if let Some(refusal) = refusal(&report, options) {
        return Ok(Outcome::Refused(refusal, Box::new(report)));
    }
    let cut = match torn(&report) {
        Some(finding) => Some(cut::before(artifact, finding.line, options.limits)?),
        None => None,
    };
    let closers = match recovery.close() {
        Ok(closers) => closers,
        Err(_) => return Ok(Outcome::Refused(Refusal::Unrepairable, Box::new(report))),
    };
    if cut.is_some() && report.header.is_none() && report.events == 0 {
        return Ok(Outcome::Refused(Refusal::Nothing, Box::new(report)));
    }
    let mut plan = Plan { after: report.clone(), report, cut, closers };
    if plan.needs_something() {
        plan.after = check(artifact.wrap(plan.result(artifact)?), options)?;
        let unsound =
            |finding: &Finding| finding.class == Class::Repairable || finding.class >= Class::Reject;
        if plan.after.findings.list.iter().any(unsound) {
            return Ok(Outcome::Refused(Refusal::Unsound, Box::new(plan.after)));
        }
    }
    Ok(Outcome::Plan(Box::new(plan)))
}

fn refusal(report: &Report, options: &Options) -> Option<Refusal> {
    match report.findings.strongest()? {
        Class::Unsupported => Some(Refusal::Unsupported),
        Class::Corrupt
            if headed(report, options) && report.findings.list.iter().any(|finding| finding.line == 1) =>
        {
            Some(Refusal::NoHeader)
        }
        Class::Corrupt => Some(Refusal::Corrupt),
        Class::Reject => Some(Refusal::Reject),
        Class::Relation | Class::Repairable | Class::Note => {
            let hopeless = report.findings.list.iter().any(|finding| finding.rule == Rule::Repair6);
            hopeless.then_some(Refusal::Unrepairable)
        }
    }
}

/// Whether logs of the dialect that a report names have a header line.
pub fn headed(report: &Report, options: &Options) -> bool {
    match &options.dialect {
        Some(dialect) => dialect.header.is_some(),
        None => dialect::by_name(&report.dialect).is_none_or(|dialect| dialect.header.is_some()),
    }
}

/// The finding that says where a torn tail begins.
pub fn torn(report: &Report) -> Option<&Finding> {
    report
        .findings
        .list
        .iter()
        .find(|finding| finding.class == Class::Repairable && finding.rule != Rule::Repair2)
}

impl Plan {
    /// Whether anything is cut or appended (REPAIR-1).
    pub fn needs_something(&self) -> bool {
        self.cut.is_some() || !self.closers.is_empty()
    }

    /// Bytes of the artifact that are copied as they are.
    pub fn copied(&self, artifact: &Artifact) -> u64 {
        self.cut.as_ref().map_or(artifact.size(), |cut| cut.at)
    }

    /// The closing events as lines.
    fn closing(&self) -> Vec<u8> {
        self.closers.iter().flat_map(|line| [&line[..], b"\n"].concat()).collect()
    }

    /// The repaired log, in the encoding that it had.
    pub fn result<'a>(&self, artifact: &'a Artifact) -> io::Result<Part<'a>> {
        let nothing = Cut { line: 0, at: artifact.size(), rewritten: vec![] };
        let cut = self.cut.as_ref().unwrap_or(&nothing);
        artifact.spliced(cut.at, cut.tail(artifact.is_compressed(), &self.closing())?)
    }

    /// Writes the repaired log. In the encoding that the log has, what is kept is copied; in the other one its lines are.
    pub fn write(
        &self,
        artifact: &Artifact,
        compressed: bool,
        options: &Options,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut result = self.result(artifact)?;
        if compressed == artifact.is_compressed() {
            io::copy(&mut result, out)?;
            return Ok(());
        }
        let mut lines = artifact.lines(0, options.limits).map_err(other)?;
        let mut sink = Sink::new(out, compressed, self.report.header.is_some());
        let end = self.cut.as_ref().map_or(u64::MAX, |cut| cut.line);
        loop {
            match lines.read().map_err(other)? {
                Item::Line { bytes, number, ended: true, .. } if number < end => {
                    sink.put(&[bytes, b"\n"].concat())?;
                }
                Item::FrameEnd => {}
                Item::Line { .. } | Item::Torn | Item::Damage(_) | Item::End => break,
            }
        }
        sink.put(&self.closing())?;
        sink.finish()
    }
}

/// An error while reading, among those of writing.
pub fn other(error: FrameError) -> io::Error {
    match error {
        FrameError::Io(error) => error,
        FrameError::Limit(error) => io::Error::other(error),
    }
}
