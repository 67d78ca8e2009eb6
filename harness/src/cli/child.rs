//! `foldproof fork`: the events of a log up to a boundary, as a session of its own.

use super::exit::{Exit, Failure, say};
use super::global::Global;
use super::header;
use super::output::Output;
use super::paint::count;
use super::render::clean;
use super::stored::{self, Stored};
use super::twice;
use super::walk::{self, Log};
use crate::tools::fork::{Fork, Outcome, Parent, fork};
use crate::tools::sink::Sink;
use foldproof::json::number::MAX_SAFE;
use foldproof::session::ForkError;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Arguments of `fork`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The parent (.jsonl, .jsonl.zstd, .zst), or - for stdin
    #[arg(value_name = "PATH")]
    pub log: PathBuf,
    /// The last event that is inherited [default: the last one]
    #[arg(long, value_name = "SEQ", allow_hyphen_values = true)]
    pub at: Option<String>,
    /// The child's id
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub id: String,
    /// When the child was created, in milliseconds since 1970 [default: the time of the last inherited event]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(i64).range(0..=MAX_SAFE))]
    pub created_at: Option<i64>,
    /// Where the child goes
    #[command(flatten)]
    pub output: Output,
}

const EXAMPLES: &str = "\
Examples:
  foldproof fork session.jsonl --at 104 --id branch -o branch.jsonl
  foldproof fork session.jsonl --id copy -o copy.jsonl.zstd
  foldproof fork session.jsonl --at 104 --id dated --created-at 1767225600000 -o dated.jsonl
  foldproof fork - --id twin -o twin.jsonl < session.jsonl";

#[derive(Debug, Serialize)]
struct Shape {
    foldproof: u32,
    path: String,
    outcome: &'static str,
    refusal: Option<Refusal>,
    out: Option<String>,
    parent: Option<String>,
    child: String,
    inherited: Option<u64>,
    events: Option<u64>,
    #[serde(rename = "createdAt")]
    created_at: Option<i64>,
}

#[derive(Debug, Serialize)]
struct Refusal {
    rule: &'static str,
    code: String,
    message: String,
}

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let stored = Stored::open(&args.log, global)?;
    stored.refuse_over(&args.output.path)?;
    args.output.check()?;
    let outcome = fork(&stored.artifact, boundary(args), &args.id, args.created_at, &stored::strict(global));
    match outcome.map_err(|error| stored.unread(error))? {
        Outcome::Unreadable(report) => {
            if global.json() {
                let code = report.verdict().to_uppercase();
                let rule = report.findings.list.iter().max_by_key(|finding| finding.class);
                let refusal = rule.map(|finding| Refusal {
                    rule: finding.rule.id(),
                    code,
                    message: finding.message.clone(),
                });
                stored::print(&Shape { refusal, ..shape(args, &stored, "refused") })?;
            } else {
                twice::tell(&stored.title(), &report, global);
            }
            say(format_args!(
                "error: {}: not forked: the log does not load ({}); `foldproof explain` says what can be done",
                stored.title(),
                report.verdict()
            ));
            Ok(Exit::Findings)
        }
        Outcome::Refused(error, parent) => {
            let why = why(error, args, &parent);
            if global.json() {
                let refusal = Refusal { rule: "FORK-2", code: error.code().to_owned(), message: why.clone() };
                let parent = Some(parent.id.clone());
                stored::print(&Shape { refusal: Some(refusal), parent, ..shape(args, &stored, "refused") })?;
            }
            say(format_args!("error: {}: not forked: {why} [FORK-2 {}]", stored.title(), error.code()));
            Ok(Exit::Findings)
        }
        Outcome::Forked(fork) => {
            if let Some(other) = taken(args, global) {
                let code = ForkError::AlreadyExists.code();
                let why = format!(
                    "{} in the same folder carries the id {} already; choose another --id, or --force it",
                    clean(&other.to_string_lossy(), usize::MAX),
                    clean(&args.id, 60)
                );
                if global.json() {
                    let refusal = Refusal { rule: "FORK-2", code: code.to_owned(), message: why.clone() };
                    let parent = Some(fork.parent.id.clone());
                    stored::print(&Shape {
                        refusal: Some(refusal),
                        parent,
                        ..shape(args, &stored, "refused")
                    })?;
                }
                say(format_args!("error: {}: not forked: {why} [FORK-2 {code}]", stored.title()));
                return Ok(Exit::Findings);
            }
            args.output.write(|file| {
                let mut sink =
                    Sink::new(file, args.output.is_compressed(), fork.child.log().header().is_some());
                fork.child
                    .dump(false)
                    .split_inclusive(|byte| *byte == b'\n')
                    .try_for_each(|line| sink.put(line))?;
                sink.finish()
            })?;
            told(args, global, &stored, &fork)
        }
    }
}

/// A log beside OUT that carries the child's id; what OUT itself was does not count, and nothing does when it is forced.
fn taken(args: &Args, global: &Global) -> Option<PathBuf> {
    if args.output.force {
        return None;
    }
    let folder = args.output.path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let inside = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    // Ids are compared as they are spelled in a header.
    let id = serde_json::to_string(&args.id).ok()?;
    let mut logs: Vec<PathBuf> =
        inside.flatten().map(|entry| entry.path()).filter(|path| walk::is_log(path)).collect();
    logs.sort();
    logs.into_iter().find(|path| {
        let log = Log { path: path.clone(), size: 0 };
        header::read(&log, global.limits()).is_some_and(|kin| kin.id == id.as_bytes()[1..id.len() - 1])
    })
}

/// The boundary, or that it is no seq at all (FORK-2).
fn boundary(args: &Args) -> Result<Option<u64>, ForkError> {
    let Some(text) = &args.at else { return Ok(None) };
    let seq = text.parse::<u64>().ok().filter(|seq| *seq <= MAX_SAFE as u64);
    seq.map(Some).ok_or(ForkError::InvalidBoundary)
}

fn shape(args: &Args, stored: &Stored, outcome: &'static str) -> Shape {
    Shape {
        foldproof: 1,
        path: stored.name(),
        outcome,
        refusal: None,
        out: None,
        parent: None,
        child: args.id.clone(),
        inherited: None,
        events: None,
        created_at: None,
    }
}

fn why(error: ForkError, args: &Args, parent: &Parent) -> String {
    let at = clean(args.at.as_deref().unwrap_or("the end"), 60);
    match error {
        ForkError::InvalidBoundary => match parent.events {
            0 => format!("there is no event {at}: the log has no events"),
            count => format!("there is no event {at}: the log has the events 0 to {}", count - 1),
        },
        ForkError::OpenTurn => match args.at {
            Some(_) => format!("event {at} lies inside a turn; fork at the end of one"),
            None => {
                "the log ends inside a turn; name the end of a finished one with --at, or repair it first"
                    .into()
            }
        },
        ForkError::AlreadyExists => format!("the session is called {} itself", clean(&args.id, 60)),
        ForkError::NotFound | ForkError::NotLive => "the session cannot be forked".into(),
    }
}

fn told(args: &Args, global: &Global, stored: &Stored, fork: &Fork) -> Result<Exit, Failure> {
    let child = &fork.child;
    if global.json() {
        stored::print(&Shape {
            out: Some(args.output.path.to_string_lossy().into_owned()),
            parent: Some(fork.parent.id.clone()),
            inherited: Some(child.inherited()),
            events: Some(child.log().len()),
            created_at: Some(fork.created),
            ..shape(args, stored, "forked")
        })?;
    } else {
        stored::put(&format!(
            "{}: forked as {} in {}, with {} inherited\n",
            stored.title(),
            clean(&args.id, 60),
            clean(&args.output.path.to_string_lossy(), usize::MAX),
            count(child.inherited(), "event")
        ))?;
        twice::tell(&stored.title(), &fork.parent.report, global);
    }
    Ok(Exit::Clean)
}
