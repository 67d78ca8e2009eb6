//! `foldproof repair`: recovery of a log that was cut off, and with `--salvage` what can be read of a damaged one.

use super::exit::{Exit, Failure};
use super::global::Global;
use super::output::{self, Output};
use super::paint::{bytes, count};
use super::recovered::{
    BranchShape, CutShape, EventShape, KeptShape, Shape, findings, say_refused, told_branches,
};
use super::render::clean;
use super::stored::{self, Stored};
use super::{salvage, twice};
use crate::tools::branches::{self, Branches};
use crate::tools::explain::is_record;
use crate::tools::repair::{Outcome, Plan, plan};
use foldproof::check::Options;
use foldproof::json::{Scanner, Value};
use foldproof::rule::Rule;
use std::fs;
use std::io;
use std::path::PathBuf;

/// Arguments of `repair`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A log (.jsonl, .jsonl.zstd, .zst), or - for stdin
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Where to write; .zst and .jsonl.zstd compress
    #[arg(short, long = "output", value_name = "OUT", required_unless_present = "in_place")]
    pub output: Option<PathBuf>,
    /// Repair the file where it is, with a copy of it as it was beside it (PATH.before-repair)
    #[arg(long, conflicts_with = "output")]
    pub in_place: bool,
    /// Write the longest prefix that opens to OUT and everything behind it to OUT.rest; nothing is added
    #[arg(long, conflicts_with = "in_place")]
    pub salvage: bool,
    /// Overwrite what is there
    #[arg(long, conflicts_with = "in_place")]
    pub force: bool,
}

const EXAMPLES: &str = "\
Examples:
  foldproof repair torn.jsonl -o repaired.jsonl
  foldproof repair torn.jsonl --in-place
  foldproof repair - -o piped.jsonl < torn.jsonl
  foldproof repair damaged.jsonl --salvage -o salvaged.jsonl
  foldproof repair torn.jsonl -o repaired.jsonl --force --format json";

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let stored = Stored::open(&args.path, global)?;
    if let Some(out) = &args.output {
        stored.refuse_over(out)?;
        Output { path: out.clone(), force: args.force }.check()?;
    } else if stored.is_stdin() {
        return Err(stored.failed("stdin cannot be repaired in place; name a file with -o"));
    }
    let options = stored::strict(global);
    if args.salvage {
        return salvage::run(args, global, &stored, &options);
    }
    match plan(&stored.artifact, &options).map_err(|error| stored.unread(error))? {
        Outcome::Refused(refusal, report) => {
            say_refused(&stored, refusal.id(), refusal.text(), &report, global)
        }
        Outcome::Plan(plan) => written(args, global, &stored, &plan, &options),
    }
}

fn written(
    args: &Args,
    global: &Global,
    stored: &Stored,
    plan: &Plan,
    options: &Options,
) -> Result<Exit, Failure> {
    let artifact = &stored.artifact;
    // What is told of the log is read before the log may be replaced.
    let torn = crate::tools::repair::torn(&plan.report);
    let branches = match torn.filter(|finding| finding.rule == Rule::Store3) {
        Some(_) => branches::follow(artifact, plan.report.header.is_some(), options.limits)
            .map_err(|error| stored.unread(error))?,
        None => Branches::default(),
    };
    let unended = torn.is_some_and(|finding| finding.rule == Rule::Store5)
        && is_record(artifact, plan.copied(artifact), options).map_err(|error| stored.unread(error))?;
    let (mut out, mut backup) = (None, None);
    match &args.output {
        Some(path) => {
            let target = Output { path: path.clone(), force: args.force };
            // A name that says nothing of an encoding leaves the one that the log has.
            let compressed = super::walk::is_compressed(path).unwrap_or(artifact.is_compressed());
            target.write(|file| plan.write(artifact, compressed, options, file))?;
            out = Some(path.clone());
        }
        None if plan.needs_something() => {
            let kept = in_place(stored, plan, options)?;
            (out, backup) = (Some(stored.path.clone()), Some(kept));
        }
        None => {}
    }
    let outcome = if plan.needs_something() { "repaired" } else { "unchanged" };
    let cut = plan.cut.as_ref().zip(torn).map(|(cut, finding)| CutShape {
        line: cut.line,
        bytes: artifact.size() - cut.at,
        rule: finding.rule.id(),
        message: &finding.message,
    });
    let path = |path: Option<PathBuf>| path.map(|path| path.to_string_lossy().into_owned());
    let shape = Shape {
        out: path(out),
        backup: path(backup),
        kept: Some(KeptShape {
            events: plan.report.events,
            bytes: plan.copied(artifact),
            rewritten: plan.cut.as_ref().map_or(0, |cut| cut.rewritten.len() as u64),
        }),
        cut,
        appended: plan.closers.iter().map(|line| event(line)).collect(),
        branches: branches.list.iter().filter(|_| branches.forked()).map(BranchShape::from).collect(),
        verdict: plan.after.verdict(),
        findings: findings(&plan.after),
        ..Shape::new(stored, &plan.report, outcome)
    };
    if global.json() {
        stored::print(&shape)?;
    } else {
        let mut text = human(stored, &shape);
        if unended {
            text.push_str(
                "            the line that was cut is a whole record but for its newline; if an editor took that away,\n            \
                 `foldproof explain` says how to keep the line\n",
            );
        }
        stored::put(&text)?;
        twice::tell(shape.out.as_deref().unwrap_or(&stored.title()), &plan.after, global);
    }
    Ok(Exit::Clean)
}

fn event(line: &[u8]) -> EventShape {
    let mut scanner = Scanner::new(u64::MAX);
    let read = scanner.scan(line).ok().map(|scan| {
        let root = scan.root();
        let kind = root.get("type").and_then(Value::as_str).map(|kind| kind.display());
        (root.get("seq").and_then(Value::as_uint).unwrap_or_default(), kind.unwrap_or_default())
    });
    let (seq, kind) = read.unwrap_or_default();
    EventShape { seq, kind }
}

fn human(stored: &Stored, shape: &Shape<'_>) -> String {
    let mut text = format!("{}: ", stored.title());
    let kept = shape.kept.as_ref().map_or(0, |kept| kept.events);
    match (shape.outcome, &shape.out) {
        ("unchanged", None) => text.push_str("nothing to repair; the file was not touched\n"),
        ("unchanged", Some(out)) => {
            text.push_str(&format!("nothing to repair; copied as it is to {}\n", clean(out, usize::MAX)));
        }
        (_, Some(out)) if shape.backup.is_none() => {
            text.push_str(&format!("repaired, in {}\n", clean(out, usize::MAX)));
        }
        _ => text.push_str("repaired in place\n"),
    }
    if let Some(backup) = &shape.backup {
        text.push_str(&format!("  backup    {}, the log as it was\n", clean(backup, usize::MAX)));
    }
    if shape.outcome == "unchanged" {
        return text;
    }
    let rewritten = shape.kept.as_ref().map_or(0, |kept| kept.rewritten);
    let how = if rewritten > 0 { "line for line" } else { "byte for byte" };
    text.push_str(&format!("  kept      {}, {how}\n", count(kept, "event")));
    if let Some(cut) = &shape.cut {
        text.push_str(&format!(
            "  cut       {} from line {} on, where no finished turn follows [{}: {}]\n",
            bytes(cut.bytes),
            cut.line,
            cut.rule,
            clean(cut.message, 200)
        ));
    }
    if rewritten > 0 {
        text.push_str(&format!("  rewritten {} of text that the torn frame still held\n", bytes(rewritten)));
    }
    for event in &shape.appended {
        text.push_str(&format!("  appended  {} (seq {})\n", event.kind, event.seq));
    }
    text.push_str(&told_branches(&shape.branches));
    text
}

/// Repairs a file where it is. The copy comes first, and the file is replaced only when nobody wrote to it meanwhile.
fn in_place(stored: &Stored, plan: &Plan, options: &Options) -> Result<PathBuf, Failure> {
    let failed = |error: io::Error| stored.failed(error);
    let path = stored.path.canonicalize().map_err(failed)?;
    let before = fs::metadata(&path).map_err(failed)?;
    let backup = backup(stored)?;
    output::write(&path, true, |file| {
        plan.write(&stored.artifact, stored.artifact.is_compressed(), options, file)?;
        let now = fs::metadata(&path)?;
        let same = now.len() == stored.artifact.size() && now.modified().ok() == before.modified().ok();
        if same { Ok(()) } else { Err(io::Error::other("it was written to meanwhile; a writer is at work")) }
    })?;
    // The file keeps who may read it; a file system that has no such thing is no reason to fail.
    let _ = fs::set_permissions(&path, before.permissions());
    Ok(backup)
}

/// Copies the log as it is to a name that is free.
fn backup(stored: &Stored) -> Result<PathBuf, Failure> {
    let mut number = 1;
    loop {
        let mut name = stored.path.clone().into_os_string();
        name.push(if number == 1 { ".before-repair".to_owned() } else { format!(".before-repair-{number}") });
        let path = PathBuf::from(name);
        if path.symlink_metadata().is_err() {
            output::write(&path, false, |file| {
                let mut whole = stored.artifact.part(0, stored.artifact.size())?;
                io::copy(&mut whole, file).map(drop)
            })?;
            return Ok(path);
        }
        number += 1;
    }
}
