//! `foldproof convert`: a log written anew.

use super::exit::{Exit, Failure, say};
use super::global::Global;
use super::json::FindingShape;
use super::output::Output;
use super::paint::{bytes, count};
use super::recovered::findings;
use super::render::clean;
use super::stored::{self, Stored};
use super::twice;
use crate::tools::convert::{Layout, write};
use foldproof::check::check;
use foldproof::rule::Class;
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `convert`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A log (.jsonl, .jsonl.zstd, .zst), or - for stdin
    #[arg(value_name = "PATH")]
    pub log: PathBuf,
    /// Where the log goes
    #[command(flatten)]
    pub output: Output,
    /// Pack runs of chunks into rows; without --packed and --plain they stay as they are stored
    #[arg(long)]
    pub packed: bool,
    /// Write one line for each event
    #[arg(long, conflicts_with = "packed")]
    pub plain: bool,
}

const EXAMPLES: &str = "\
Examples:
  foldproof convert session.jsonl -o session.jsonl.zstd --packed
  foldproof convert session.jsonl -o lines.jsonl --plain
  foldproof convert - -o canonical.jsonl < session.jsonl";

#[derive(Debug, Serialize)]
struct Shape<'a> {
    foldproof: u32,
    path: String,
    outcome: &'static str,
    out: Option<String>,
    dialect: &'a str,
    layout: &'static str,
    encoding: &'static str,
    events: u64,
    lines: Option<u64>,
    bytes: Option<u64>,
    verdict: &'a str,
    findings: Vec<FindingShape<'a>>,
}

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let stored = Stored::open(&args.log, global)?;
    stored.refuse_over(&args.output.path)?;
    args.output.check()?;
    let options = stored::strict(global);
    let input = stored.artifact.input().map_err(|error| stored.failed(error))?;
    let report = check(input, &options).map_err(|error| stored.unread(error))?;
    let (layout, name) = match (args.packed, args.plain) {
        (true, _) => (Layout::Packed, "packed"),
        (_, true) => (Layout::Plain, "plain"),
        _ => (Layout::Kept, "kept"),
    };
    let compressed = args.output.is_compressed();
    let shape = Shape {
        foldproof: 1,
        path: stored.name(),
        outcome: "refused",
        out: None,
        dialect: &report.dialect,
        layout: name,
        encoding: if compressed { "zstd" } else { "plain" },
        events: report.events,
        lines: None,
        bytes: None,
        verdict: report.verdict(),
        findings: findings(&report),
    };
    if report.findings.strongest() >= Some(Class::Reject) {
        if global.json() {
            stored::print(&shape)?;
        } else {
            twice::tell(&stored.title(), &report, global);
        }
        say(format_args!(
            "error: {}: not converted: the log does not load ({}), and writing it anew could lose something; \
             `foldproof explain` says what can be done",
            stored.title(),
            report.verdict()
        ));
        return Ok(Exit::Findings);
    }
    let mut lines = 0;
    args.output.write(|file| {
        lines = write(&stored.artifact, &report, layout, compressed, &options, file)?;
        Ok(())
    })?;
    let size = args.output.path.metadata().map_or(0, |data| data.len());
    let out = args.output.path.to_string_lossy().into_owned();
    if global.json() {
        stored::print(&Shape {
            outcome: "converted",
            out: Some(out),
            lines: Some(lines),
            bytes: Some(size),
            ..shape
        })?;
    } else {
        stored::put(&format!(
            "{}: {} written to {}, in {}, {} to {}\n",
            stored.title(),
            count(report.events, "event"),
            clean(&out, usize::MAX),
            count(lines, "line"),
            bytes(stored.artifact.size()),
            bytes(size)
        ))?;
        twice::tell(&stored.title(), &report, global);
    }
    if let Some(finding) = crate::tools::repair::torn(&report) {
        say(format_args!(
            "warning: {}: the torn tail from line {} on was not converted; it stays in the log",
            stored.title(),
            finding.line
        ));
    }
    Ok(Exit::Clean)
}
