//! What a campaign came to, for people; and how far it is.

use crate::case::{Call, Case, LogSource, Op, Ref, SurfaceOp};
use crate::properties;
use crate::result::{Outcome, Results};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

/// Cases per second and labels, on stderr, when someone looks.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
}

impl Progress {
    /// Nothing yet.
    pub fn new() -> Progress {
        let shown = std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        Progress { bar, started: Instant::now() }
    }

    /// Draws what was counted.
    pub fn show(&self, results: &Results) {
        if self.bar.is_hidden() {
            return;
        }
        let rate = results.cases as f64 / self.started.elapsed().as_secs_f64().max(0.001);
        let reached = results.labels.values().filter(|count| **count > 0).count();
        let failures = results.failures().count();
        self.bar.set_message(format!(
            "{} cases, {rate:.0}/s, {reached} of {} labels, {failures} failures",
            results.cases,
            results.labels.len()
        ));
        self.bar.tick();
    }
}

impl Default for Progress {
    fn default() -> Self {
        Progress::new()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The stable JSON, with how long it took when that is wanted.
pub fn json(results: &Results, took: Option<Duration>) -> String {
    let mut json = results.to_json();
    if let Some(took) = took {
        json.pop();
        let _ = write!(json, ",\"timings\":{{\"milliseconds\":{}}}}}", took.as_millis());
    }
    json
}

/// Rows of names and counts, several to a line.
fn columns(out: &mut String, counts: impl Iterator<Item = (String, u64)>) {
    let cells: Vec<String> = counts.map(|(name, count)| format!("{name} {count}")).collect();
    let mut line = String::from(" ");
    for cell in cells {
        if line.len() + cell.len() > 100 {
            let _ = writeln!(out, "{line}");
            line = String::from(" ");
        }
        line.push_str("  ");
        line.push_str(&cell);
    }
    if line.trim() != "" {
        let _ = writeln!(out, "{line}");
    }
}

/// The summary. Its last line is the command that replays the first failure, when there is one.
pub fn human(results: &Results, cases: &[Case], took: Duration, corpus: &Path) -> String {
    let mut out = String::new();
    let seconds = took.as_secs_f64();
    let rate = results.cases as f64 / seconds.max(0.001);
    let _ = writeln!(
        out,
        "{} cases on {} {} in {seconds:.1} s ({rate:.0}/s), stopped by {}; seed {}",
        results.cases,
        results.system.0,
        results.system.1,
        results.stopped.name(),
        results.seed
    );
    if results.replayed.0 > 0 {
        let _ = writeln!(out, "{} saved cases replayed, {} failed", results.replayed.0, results.replayed.1);
    }
    let _ = writeln!(out, "\nproperties (cases in which each had a chance)");
    for counted in &results.properties {
        let _ = writeln!(out, "  {:9} {:>9}  {}", counted.status.name(), counted.cases, counted.id);
    }
    let _ = writeln!(out, "\nlabels");
    columns(&mut out, results.labels.iter().map(|(name, count)| (name.clone(), *count)));
    let _ = writeln!(out, "\nrules broken on purpose");
    columns(&mut out, results.rules.iter().map(|(name, count)| (name.clone(), *count)));
    let missing: Vec<&str> =
        results.labels.iter().filter(|(_, count)| **count == 0).map(|(name, _)| name.as_str()).collect();
    if !missing.is_empty() && results.cases >= 3_000 {
        let _ = writeln!(out, "\nnever reached: {}", missing.join(", "));
    }
    for ((id, failure), case) in results.failures().zip(ordered(results, cases)) {
        let law = properties::by_id(id).map_or("", |property| property.law);
        let _ = writeln!(out, "\nFAILED {id} ({}): {}", failure.rule, failure.message);
        let _ = writeln!(out, "  law: {law}");
        let _ = writeln!(
            out,
            "  case {} shrunk to {} ops in {} runs{}",
            failure.index,
            failure.size,
            failure.shrinks,
            if failure.interrupted { ", interrupted" } else { "" }
        );
        if let Some(case) = case {
            for (place, op) in case.ops.iter().enumerate() {
                let _ = writeln!(out, "    {place:>3}  {}", words(op));
            }
            if let Some(outcome) = &case.outcome {
                for (name, text) in [("expected", &outcome.expected), ("got", &outcome.got)] {
                    if let Some(text) = text {
                        let _ = writeln!(out, "  {name:8} {}", cut(text));
                    }
                }
            }
            let inline = case.to_inline();
            if inline.len() <= 1_500 {
                let _ = writeln!(out, "  foldproof replay --inline {inline}");
            }
        }
        let _ = writeln!(out, "  foldproof replay {}", failure.case);
    }
    if results.failures().next().is_none()
        && results.properties.iter().any(|one| one.status == Outcome::Passed)
    {
        let _ = writeln!(out, "\nno property was falsified");
    }
    if let Some((_, first)) = results.failures().next() {
        let _ = writeln!(out, "\nfailures are saved in {}; the first again:", corpus.display());
        let _ = writeln!(out, "foldproof replay {}", first.case);
    }
    out
}

/// The cases in the order of the failures.
fn ordered<'c>(results: &'c Results, cases: &'c [Case]) -> impl Iterator<Item = Option<&'c Case>> {
    results.failures().map(move |(id, failure)| {
        cases.iter().find(|case| {
            case.property.as_deref() == Some(id)
                && case.index == Some(failure.index)
                && case.outcome.as_ref().and_then(|outcome| outcome.rule.as_deref()) == Some(&failure.rule)
        })
    })
}

fn cut(text: &str) -> String {
    text.chars().take(400).collect()
}

/// A seq as a person would name it: by the op whose event it is.
fn named(seq: &Ref) -> String {
    match seq {
        Ref::Seq(seq) => format!("seq {seq}"),
        Ref::Op(op) => format!("the event of op {op}"),
        Ref::Text(text) => String::from_utf8_lossy(text.bytes()).into_owned(),
    }
}

/// An op in words.
fn words(op: &Op) -> String {
    let session = &op.session;
    match &op.call {
        Call::Append(append) => {
            let data = append
                .data
                .as_plain()
                .map(|data| String::from_utf8_lossy(data).into_owned())
                .unwrap_or_default();
            let how = match &append.surface_op {
                Some(SurfaceOp::Replace { start, end }) => {
                    format!(" replacing {} to {}", named(start), named(end))
                }
                Some(SurfaceOp::Append) => " at the tail".to_owned(),
                Some(SurfaceOp::Text(text)) => {
                    format!(" with surfaceOp {}", String::from_utf8_lossy(text.bytes()))
                }
                None => String::new(),
            };
            format!(
                "{session}: append {}{how} {}",
                append.kind,
                cut(&data).chars().take(120).collect::<String>()
            )
        }
        Call::Fork { boundary, child } => match boundary {
            Some(boundary) => format!("{session}: fork as {child} up to {}", named(boundary)),
            None => format!("{session}: fork as {child}"),
        },
        Call::Restore { log, .. } => match log {
            LogSource::Dump(op) => format!("{session}: restore what op {op} dumped"),
            LogSource::Bytes(bytes) => format!("{session}: restore {} bytes", bytes.0.len()),
        },
        Call::View { view, at: Some(at), .. } => format!("{session}: {} at {}", view.name(), named(at)),
        call => format!("{session}: {}", call.name()),
    }
}
