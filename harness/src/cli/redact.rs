//! `foldproof redact`: a log that can be shown to others.

use super::exit::{Exit, Failure, say};
use super::global::Global;
use super::output::Output;
use super::render::clean;
use super::twice::Source;
use crate::tools::redact::{RedactError, redact};
use foldproof::check::{Options, Report, check};
use foldproof::codec::frames::FrameError;
use foldproof::dialect;
use foldproof::rule::{Class, Rule};
use serde_json::json;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of `redact`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A log (.jsonl, .jsonl.zstd, .zst), or - for stdin
    #[arg(value_name = "PATH")]
    pub log: PathBuf,
    /// Where the redacted log goes
    #[command(flatten)]
    pub out: Output,
}

const EXAMPLES: &str = "\
Examples:
  foldproof redact session.jsonl -o redacted.jsonl
  foldproof redact torn.jsonl -o redacted.jsonl --force --format json
  foldproof redact - -o hidden.jsonl < session.jsonl

Texts, names, unknown members and numbers that place nothing are replaced; what a rule looks at stays.";

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    args.out.check()?;
    let source = Source::new(&args.log, global)?;
    let options =
        Options { dialect: global.dialect.0.clone(), limits: global.limits(), ..Options::default() };
    let before = source.read(|input, _| check(input, &options))?;
    let dialect = match &global.dialect.0 {
        Some(dialect) => Arc::clone(dialect),
        None => Arc::new(dialect::by_name(&before.dialect).unwrap_or_else(dialect::dsh_v0)),
    };
    source.read(|input, _| {
        let mut lines = input.lines(options.limits, true)?;
        if lines.is_compressed() != args.out.is_compressed() {
            return Ok(Err(encoding(lines.is_compressed())));
        }
        let mut unreadable: Option<FrameError> = None;
        let written = args.out.write(|out| match redact(&mut lines, &dialect, out) {
            Ok(()) => Ok(()),
            Err(RedactError::Write(error)) => Err(error),
            Err(RedactError::Read(error)) => {
                unreadable = Some(error);
                Err(io::Error::other("the log could not be read"))
            }
        });
        match unreadable {
            Some(error) => Err(error),
            None => Ok(written),
        }
    })??;
    // Who shows the log to others must be able to rely on it: what was written is looked at like any other log.
    let written = Source::new(&args.out.path, global)?;
    let after =
        written.read(|input, _| check(input, &Options { dialect: Some(dialect), ..options.clone() }))?;
    let kept = places(&before) == places(&after);
    let findings = before.findings.list.len() as u64 + before.findings.more;
    let path = args.out.path.to_string_lossy();
    let mut out = io::stdout().lock();
    if global.json() {
        let text = json!({
            "foldproof": 1,
            "path": source_name(args),
            "out": path,
            "verdict": after.verdict(),
            "findings": findings,
            "kept": kept,
        });
        writeln!(out, "{text}")?;
    } else {
        writeln!(out, "{}: redacted, verdict {}", clean(&path, usize::MAX), after.verdict())?;
    }
    if kept {
        return Ok(Exit::Clean);
    }
    say(format_args!(
        "error: the findings of {} are not those of {}: {} became {}",
        clean(&path, usize::MAX),
        clean(&source.name(), usize::MAX),
        before.verdict(),
        after.verdict()
    ));
    Ok(Exit::Findings)
}

fn source_name(args: &Args) -> String {
    args.log.to_string_lossy().into_owned()
}

/// What must be the same: rule, class, line and seq of each finding.
fn places(report: &Report) -> Vec<(Rule, Class, u64, Option<u64>)> {
    let place =
        |finding: &foldproof::finding::Finding| (finding.rule, finding.class, finding.line, finding.seq);
    report.findings.list.iter().map(place).collect()
}

fn encoding(compressed: bool) -> Failure {
    Failure::Told(
        match compressed {
            true => "the log is compressed, and damage of frames can only be kept in frames: name OUT *.jsonl.zstd or *.zst",
            false => "the log is plain, and damage of lines can only be kept in a plain log: name OUT *.jsonl",
        }
        .into(),
    )
}
