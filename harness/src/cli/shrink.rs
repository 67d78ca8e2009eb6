//! `foldproof shrink`: the smallest log that still breaks a rule, or the smallest case that still fails.

use super::exit::{Exit, Failure, say};
use super::global::Global;
use super::interrupt;
use super::output::Output;
use super::paint::{bytes, count};
use super::render::clean;
use super::twice::Source;
use crate::corpus;
use crate::runner::{self, Asked};
use crate::systems;
use crate::tools::reduce::{Bounds, Reached, Reduced, reduce};
use crate::tools::sink::Sink;
use foldproof::check::{Options, check};
use foldproof::codec::lines::Item;
use foldproof::dialect;
use foldproof::limits::{Limit, LimitError};
use foldproof::rule::{Class, Rule};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `shrink`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A log (.jsonl, .jsonl.zstd, .zst), or - for stdin
    #[arg(value_name = "LOG", required_unless_present = "case", requires = "rule")]
    pub log: Option<PathBuf>,
    /// The rule that the result breaks as well
    #[arg(long, value_name = "ID", value_parser = rule)]
    pub rule: Option<Rule>,
    /// A saved case, to be shrunk instead of a log with its property pinned
    #[arg(long, value_name = "FILE", conflicts_with_all = ["log", "rule"])]
    pub case: Option<PathBuf>,
    /// Where the result goes
    #[command(flatten)]
    pub out: Output,
    /// Logs to check, or cases to run, at most
    #[arg(long, value_name = "N", default_value_t = 4000)]
    pub max_shrinks: u64,
}

const EXAMPLES: &str = "\
Examples:
  foldproof shrink logs/b.jsonl --rule REPAIR-2 -o small.jsonl
  foldproof shrink - --rule REPAIR-2 -o smaller.jsonl < torn.jsonl
  foldproof shrink --case saved.case.json -o small.case.json

The result breaks the rule and none that the log did not break. Ctrl-C keeps what was reached.";

fn rule(text: &str) -> Result<Rule, String> {
    let known = Rule::from_id(&text.trim().to_ascii_uppercase());
    known.ok_or_else(|| "no such rule; `foldproof rules` lists them".to_owned())
}

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    args.out.check()?;
    interrupt::listen();
    match (&args.case, &args.log, args.rule) {
        (Some(case), ..) => of_case(case, args, global),
        (None, Some(log), Some(rule)) => of_log(log, rule, args, global),
        // The definitions of the arguments ask for one or the other.
        _ => Err(Failure::Told("expected a log and --rule, or --case".to_owned())),
    }
}

fn of_log(path: &Path, rule: Rule, args: &Args, global: &Global) -> Result<Exit, Failure> {
    let source = Source::new(path, global)?;
    let limits = global.limits();
    let text = source.read(|input, size| {
        let mut lines = input.lines(limits, true)?;
        let mut text = Vec::with_capacity(size);
        loop {
            match lines.read()? {
                Item::Line { bytes, ended, .. } => {
                    text.extend_from_slice(bytes);
                    text.extend(ended.then_some(b'\n'));
                }
                Item::FrameEnd => {}
                Item::Torn | Item::Damage(_) | Item::End => return Ok(text),
            }
            if text.len() as u64 > limits.held {
                return Err(LimitError { limit: Limit::Held, bound: limits.held, line: 0 }.into());
            }
        }
    })?;
    let notes = rule.info().class == Class::Note;
    let mut options = Options { dialect: global.dialect.0.clone(), notes, limits, ..Options::default() };
    if options.dialect.is_none() {
        // A log that loses its header would be taken for one of another dialect.
        let name = source.read(|input, _| check(input, &options))?.dialect;
        options.dialect = dialect::by_name(&name).map(Arc::new);
    }
    let bar = bar();
    let tell = |reached: Reached| {
        bar.set_message(format!("{} left, {} checked", count(reached.lines as u64, "line"), reached.runs));
        bar.tick();
    };
    let bounds = Bounds { runs: args.max_shrinks, stop: &interrupt::requested, tell: &tell };
    let lines =
        |text: &[u8]| memchr::memchr_iter(b'\n', text).count() as u64 + u64::from(!text.ends_with(b"\n"));
    let from = (lines(&text), text.len());
    let reduced = reduce(text, rule, &options, &bounds);
    bar.finish_and_clear();
    let Some(Reduced { text: small, runs, finished }) = reduced else {
        let broken = source.read(|input, _| check(input, &options))?;
        let mut ids: Vec<&str> = broken.findings.list.iter().map(|finding| finding.rule.id()).collect();
        ids.dedup();
        return Err(source.failed(&match ids.is_empty() {
            true => format!("it does not break {rule}, nor any other rule"),
            false if ids.contains(&rule.id()) => {
                format!(
                "{rule} is broken by how it is compressed: its text alone does not break it, and shrink works on the text; \
                 `foldproof explain` says which frame it is"
            )
            }
            false => format!("it does not break {rule}; it breaks {}", ids.join(", ")),
        }));
    };
    if !finished && interrupt::requested() && small.len() == from.1 {
        // The log itself under another name would look like a result.
        return Err(source.failed("interrupted before anything smaller was found"));
    }
    args.out.write(|out| {
        let mut sink = Sink::new(out, args.out.is_compressed(), true);
        small.split_inclusive(|byte| *byte == b'\n').try_for_each(|line| sink.put(line))?;
        sink.finish()
    })?;
    let place = args.out.path.display().to_string();
    let mut out = io::stdout().lock();
    if global.json() {
        let result = json!({
            "foldproof": 1,
            "path": path.to_string_lossy(),
            "out": place,
            "rule": rule.id(),
            "from": { "lines": from.0, "bytes": from.1 },
            "to": { "lines": lines(&small), "bytes": small.len() },
            "runs": runs,
            "finished": finished,
        });
        writeln!(out, "{result}")?;
    } else {
        writeln!(
            out,
            "{}: {}, {}, still breaks {rule} (from {}, {}; {} checked{})",
            clean(&place, usize::MAX),
            count(lines(&small), "line"),
            bytes(small.len() as u64),
            count(from.0, "line"),
            bytes(from.1 as u64),
            count(runs, "log"),
            if finished { "" } else { ", not finished" }
        )?;
    }
    Ok(stopped())
}

fn of_case(path: &Path, args: &Args, global: &Global) -> Result<Exit, Failure> {
    let told = |why: &str| Failure::Told(format!("{}: {why}", path.display()));
    let case = corpus::load(path).map_err(|error| Failure::Told(error.to_string()))?.case;
    let mut system = systems::by_name(&case.system)
        .ok_or_else(|| told(&format!("there is no system {:?} here", case.system)))?;
    let asked = |case: &crate::case::Case, system: &mut dyn systems::System| {
        let pinned: Vec<String> = case.property.iter().cloned().collect();
        let asked = if pinned.is_empty() { Asked::All } else { Asked::Only(&pinned) };
        runner::run(case, system, asked).violation
    };
    let Some((property, violation)) = asked(&case, &mut *system) else {
        return Err(told("it does not fail, so there is nothing to shrink"));
    };
    let mut pinned = case.clone();
    pinned.property = Some(property.id.to_owned());
    let same = |found: &crate::properties::Violation| {
        found.rule == violation.rule && found.refused_otherwise == violation.refused_otherwise
    };
    let mut fails =
        |case: &crate::case::Case| asked(case, &mut *system).is_some_and(|(_, found)| same(&found));
    let small = crate::shrink::shrink(&pinned, args.max_shrinks, &mut fails, &interrupt::requested);
    let mut result = small.case;
    result.outcome = asked(&result, &mut *system).map(|(property, found)| found.recorded(property));
    corpus::write(&args.out.path, &result, args.out.force)
        .map_err(|error| Failure::Told(error.to_string()))?;
    let place = args.out.path.display().to_string();
    let mut out = io::stdout().lock();
    if global.json() {
        let result = json!({
            "foldproof": 1,
            "path": path.to_string_lossy(),
            "out": place,
            "property": property.id,
            "rule": violation.rule,
            "from": { "ops": case.ops.len() },
            "to": { "ops": result.ops.len() },
            "runs": small.tried,
            "finished": small.finished,
        });
        writeln!(out, "{result}")?;
    } else {
        writeln!(
            out,
            "{}: {}, still fails {} ({}; from {}, {} run{})",
            clean(&place, usize::MAX),
            count(result.ops.len() as u64, "op"),
            property.id,
            violation.rule,
            case.ops.len(),
            count(small.tried, "case"),
            if small.finished { "" } else { ", not finished" }
        )?;
    }
    Ok(stopped())
}

fn stopped() -> Exit {
    if interrupt::requested() {
        say(format_args!("interrupted; what was reached is written"));
        return Exit::Interrupted;
    }
    Exit::Clean
}

fn bar() -> ProgressBar {
    let shown = io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar
}
