//! The longest prefix of a log that opens, and the rest as it was: nothing invented, nothing dropped.
//!
//! Salvage only cuts. What stands open at the end of the prefix is left open, and `repair` closes it as in any log. Of a
//! compressed log the complete frames in front of the cut are copied as they are, the good lines of the frame that the
//! cut falls into become a frame of their own, and the rest begins with that frame as it was: so what is copied and
//! the rest together are always the original, byte for byte.

use super::artifact::{Artifact, Part};
use super::branches::{self, Branches};
use super::cut::{self, Cut};
use foldproof::check::{Options, Report, check};
use foldproof::codec::frames::{Extent, FrameError, Frames, MAGIC, Piece, Window};
use foldproof::finding::Finding;
use foldproof::limits::{FRAME_SEARCH, Limits};
use foldproof::rule::{Class, Rule};
use std::io::{self, Write};

/// How a log is salvaged.
#[derive(Debug)]
pub struct Plan {
    /// What the check of the log as it is said.
    pub report: Report,
    /// The findings that cut it shorter, the last one being where the prefix ends; none for a log that opens as it is.
    pub reasons: Vec<Finding>,
    /// Where the prefix ends.
    pub cut: Option<Cut>,
    /// What the check of the prefix says.
    pub prefix: Report,
    /// How the seqs of the log branch, where they go back.
    pub branches: Option<Branches>,
    /// Whether the rest holds a compressed frame that is damaged, so that its text has to be dug out.
    pub dig: bool,
}

/// Why nothing can be salvaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The header is for another version: the log is not broken.
    Unsupported,
    /// The header itself is damaged or missing, so that no prefix is a log.
    NoHeader,
    /// Nothing would be left of a log that has no header line.
    Nothing,
}

impl Refusal {
    /// The stable id.
    pub fn id(self) -> &'static str {
        match self {
            Refusal::Unsupported => "unsupported",
            Refusal::NoHeader => "no-header",
            Refusal::Nothing => "nothing-committed",
        }
    }

    /// Why, in one sentence.
    pub fn text(self) -> &'static str {
        match self {
            Refusal::Unsupported => {
                "the log is not broken but written for another version; read it with the program that wrote it"
            }
            Refusal::NoHeader => {
                "no header can be read from the file, so no prefix of it is a log, and a header is never invented; \
                 `foldproof explain` says what can be done"
            }
            Refusal::Nothing => "no event was ever committed, so nothing would be left",
        }
    }
}

/// What becomes of a log.
#[derive(Debug)]
pub enum Outcome {
    /// There is a prefix that opens.
    Plan(Box<Plan>),
    /// There is none, and what the check said.
    Refused(Refusal, Box<Report>),
}

/// Finds the longest prefix that opens. `options` are those of a strict check.
pub fn plan(artifact: &Artifact, options: &Options) -> Result<Outcome, FrameError> {
    let report = check(artifact.input()?, options)?;
    let mut plan =
        Plan { prefix: report.clone(), report, reasons: vec![], cut: None, branches: None, dig: false };
    // Each cut may show what the damage behind it had hidden; it always falls in front of the one before.
    while let Some(finding) = obstacle(&plan.prefix).cloned() {
        if finding.line <= 1 {
            let refusal = if finding.rule == Rule::Store2 {
                Refusal::Unsupported
            } else if !super::repair::headed(&plan.report, options) {
                Refusal::Nothing
            } else {
                Refusal::NoHeader
            };
            return Ok(Outcome::Refused(refusal, Box::new(plan.report)));
        }
        let known = plan.cut.as_ref().map_or(u64::MAX, |cut| cut.line);
        let cut = cut::before(artifact, finding.line.min(known.saturating_sub(1)), options.limits)?;
        plan.dig |= artifact.is_compressed() && finding.rule == Rule::Codec3;
        plan.reasons.push(finding);
        plan.prefix = check(artifact.wrap(prefix(artifact, &cut)?), options)?;
        plan.cut = Some(cut);
    }
    if plan.reasons.iter().any(|finding| finding.rule == Rule::Store3) {
        let headed = plan.report.header.is_some();
        plan.branches = Some(branches::follow(artifact, headed, options.limits)?).filter(Branches::forked);
    }
    Ok(Outcome::Plan(Box::new(plan)))
}

/// The finding that keeps a log from opening, or a torn tail.
fn obstacle(report: &Report) -> Option<&Finding> {
    let list = &report.findings.list;
    let fatal = list.iter().filter(|finding| finding.class >= Class::Reject);
    fatal.min_by_key(|finding| finding.line).or_else(|| super::repair::torn(report))
}

fn prefix<'a>(artifact: &'a Artifact, cut: &Cut) -> io::Result<Part<'a>> {
    artifact.spliced(cut.at, cut.tail(artifact.is_compressed(), b"")?)
}

impl Plan {
    /// Bytes of the artifact that the prefix copies as they are.
    pub fn copied(&self, artifact: &Artifact) -> u64 {
        self.cut.as_ref().map_or(artifact.size(), |cut| cut.at)
    }

    /// The prefix, in the encoding of the log.
    pub fn write(&self, artifact: &Artifact, out: &mut dyn Write) -> io::Result<()> {
        let whole = Cut { line: 0, at: artifact.size(), rewritten: vec![] };
        io::copy(&mut prefix(artifact, self.cut.as_ref().unwrap_or(&whole))?, out)?;
        Ok(())
    }

    /// The rest as it was.
    pub fn write_rest(&self, artifact: &Artifact, out: &mut dyn Write) -> io::Result<()> {
        io::copy(&mut artifact.part(self.copied(artifact), artifact.size())?, out)?;
        Ok(())
    }
}

/// Writes all text that can still be decoded from an offset of a compressed log on, however damaged it is: of each frame
/// what comes before its damage, and every complete frame behind. Returns how many frames gave text.
///
/// Text of a frame whose checksum or blocks are damaged may be altered: it is for people, and no log.
pub fn dig(artifact: &Artifact, from: u64, limits: Limits, out: &mut dyn Write) -> io::Result<u64> {
    let mut window = Window::new(artifact.part(0, artifact.size())?)?;
    let size = artifact.size();
    // Frames behind damage are searched for by their magic; hostile bytes can hold many, so the work is bounded.
    let mut budget = (size - from.min(size)).saturating_mul(FRAME_SEARCH).max(1 << 20);
    let (mut at, mut found) = (from, 0);
    while at + MAGIC.len() as u64 <= size && budget > 0 {
        let extent = window.extent(at)?;
        let end = match extent {
            Extent::Complete(end) => end,
            Extent::Incomplete | Extent::Bad(_) => size,
        };
        let (text, whole) = decode(artifact, at, end, limits, &mut budget)?;
        if !text.is_empty() {
            out.write_all(&text)?;
            if !text.ends_with(b"\n") {
                out.write_all(b"\n")?;
            }
            found += 1;
        }
        at = match extent {
            Extent::Complete(end) if whole => end,
            _ => next_magic(&mut window, at + 1)?.unwrap_or(size),
        };
    }
    Ok(found)
}

fn decode(
    artifact: &Artifact,
    at: u64,
    end: u64,
    limits: Limits,
    budget: &mut u64,
) -> io::Result<(Vec<u8>, bool)> {
    let mut frames = Frames::new(artifact.part(at, end)?, limits, false)?;
    let mut text = vec![];
    loop {
        match frames.read(&mut text).map_err(super::repair::other)? {
            Piece::Bytes(count) => {
                *budget = budget.saturating_sub(count as u64 + 1);
                if *budget == 0 || text.len() as u64 > limits.held {
                    return Ok((text, false));
                }
            }
            Piece::FrameEnd | Piece::End => return Ok((text, true)),
            Piece::Torn | Piece::Damage(_) => return Ok((text, false)),
        }
    }
}

fn next_magic(window: &mut Window<Part<'_>>, mut from: u64) -> io::Result<Option<u64>> {
    let size = window.len();
    while from + MAGIC.len() as u64 <= size {
        let bytes = window.bytes(from, 1 << 16)?;
        if let Some(step) = memchr::memmem::find(bytes, &MAGIC) {
            return Ok(Some(from + step as u64));
        }
        from += (bytes.len() as u64).saturating_sub(3).max(1);
    }
    Ok(None)
}
