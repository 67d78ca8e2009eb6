//! `foldproof rules`: the contract's rules as a table, or one of them explained.

use super::exit::{Exit, Failure};
use super::global::Global;
use super::paint::Paint;
use super::render::{Diagnostics, clean, width};
use super::select::{self, Selector};
use crate::properties::TABLE;
use foldproof::check::{Input, Options, check};
use foldproof::codec::frames::MAGIC;
use foldproof::codec::lines::Item;
use foldproof::dialect;
use foldproof::rule::{Breaker, Rule};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Cursor, IsTerminal, Write};

/// Arguments of `rules`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Ids or areas to explain: SURF-5, LIFE
    #[arg(value_name = "ID", value_parser = select::parse)]
    pub rules: Vec<Selector>,
}

const EXAMPLES: &str = "\
Examples:
  foldproof rules
  foldproof rules SURF-5
  foldproof rules PAIR --format json";

/// A file of `corpora/rules`, compiled in.
struct Example {
    rule: &'static str,
    accepts: bool,
    name: &'static str,
    bytes: &'static [u8],
}

const FILES: &[Example] = include!(concat!(env!("OUT_DIR"), "/examples.rs"));

impl Example {
    fn of(rule: Rule, accepts: bool) -> Option<&'static Example> {
        FILES.iter().find(|example| example.rule == rule.id() && example.accepts == accepts)
    }

    fn is_compressed(&self) -> bool {
        self.name.ends_with(".zstd")
    }

    fn input(&self) -> Input<'static> {
        let bytes = Cursor::new(self.bytes);
        if self.is_compressed() { Input::Compressed(Box::new(bytes)) } else { Input::Plain(Box::new(bytes)) }
    }
}

#[derive(Serialize)]
struct Shape {
    foldproof: u32,
    rules: Vec<RuleShape>,
}

#[derive(Serialize)]
struct RuleShape {
    id: &'static str,
    class: &'static str,
    kind: &'static str,
    law: &'static str,
    help: &'static str,
    /// Where the released reader of each dialect enforces the rule; a dialect in which it does not hold is absent.
    stages: BTreeMap<String, &'static str>,
    /// Files of `corpora/rules`.
    examples: ExampleShape,
    /// Properties of `foldproof test` that are about it.
    properties: Vec<&'static str>,
}

#[derive(Serialize)]
struct ExampleShape {
    accept: Option<&'static str>,
    violate: Option<&'static str>,
}

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let chosen = select::chosen(&args.rules, &[]);
    let mut out = io::stdout().lock();
    if global.json() {
        let rules = chosen.iter().map(RuleShape::new).collect();
        let text = serde_json::to_string(&Shape { foldproof: 1, rules })
            .map_err(|error| Failure::Told(error.to_string()))?;
        writeln!(out, "{text}")?;
    } else if args.rules.is_empty() {
        out.write_all(table(Paint::new(global.colored_stdout())).as_bytes())?;
    } else {
        for (place, rule) in chosen.iter().enumerate() {
            if place > 0 {
                writeln!(out)?;
            }
            out.write_all(explain(rule, Paint::new(global.colored_stdout())).as_bytes())?;
        }
    }
    out.flush()?;
    Ok(Exit::Clean)
}

fn kind(rule: Rule) -> &'static str {
    match rule.info().breaker {
        Breaker::Input => "input",
        Breaker::Behaviour => "behaviour",
    }
}

fn stages(rule: Rule) -> BTreeMap<String, &'static str> {
    let known = dialect::names().iter().filter_map(|name| dialect::by_name(name));
    known.filter_map(|dialect| Some((dialect.name.clone(), dialect.rules.get(&rule)?.name()))).collect()
}

/// Properties of `foldproof test` that are about a rule.
fn properties(rule: Rule) -> Vec<&'static str> {
    TABLE.iter().filter(|property| property.rules.contains(&rule.id())).map(|property| property.id).collect()
}

impl RuleShape {
    fn new(rule: Rule) -> Self {
        let info = rule.info();
        RuleShape {
            id: info.id,
            class: info.class.name(),
            kind: kind(rule),
            law: info.law,
            help: info.help,
            stages: stages(rule),
            examples: ExampleShape {
                accept: Example::of(rule, true).map(|example| example.name),
                violate: Example::of(rule, false).map(|example| example.name),
            },
            properties: properties(rule),
        }
    }
}

fn table(paint: Paint) -> String {
    // A pipe gets the laws whole, a terminal one line each.
    let most = if io::stdout().is_terminal() { width().saturating_sub(35).max(20) } else { usize::MAX };
    let mut out = format!("{:<10} {:<12} {:<10} law\n", "id", "class", "kind");
    for rule in Rule::ALL {
        let class = rule.info().class.name();
        let id = rule.id();
        out.push_str(&format!(
            "{}{} {}{} {:<10} {}\n",
            paint.bold(id),
            " ".repeat(10usize.saturating_sub(id.len())),
            paint.verdict(class),
            " ".repeat(12usize.saturating_sub(class.len())),
            kind(*rule),
            clean(rule.info().law, most)
        ));
    }
    out
}

/// A rule with what is known of it.
fn explain(rule: Rule, paint: Paint) -> String {
    let info = rule.info();
    let mut out = format!("{}: {}\n\n", paint.bold(info.id), info.law);
    let mut fact = |name: &str, text: &str| out.push_str(&format!("  {name:<13} {text}\n"));
    fact("class", &paint.verdict(info.class.name()));
    match info.breaker {
        Breaker::Input => fact("broken by", "a log or a call (an input rule)"),
        Breaker::Behaviour => fact("broken by", "an implementation only (a behaviour rule)"),
    }
    for (dialect, stage) in stages(rule) {
        let says = match stage {
            "provider" => "provider: opening and reading the stored file",
            "publish" => "publish: the live session and its invariant companion",
            "elsewhere" => "elsewhere: released, but not in what opens a log",
            _ => "ours only: no released reader checks it",
        };
        fact(&format!("in {dialect}"), says);
    }
    if !info.help.is_empty() {
        fact("help", info.help);
    }
    match info.breaker {
        Breaker::Behaviour => behaviour(rule, &mut out),
        Breaker::Input => {
            for accepts in [true, false] {
                match Example::of(rule, accepts) {
                    Some(example) => show(example, paint, &mut out),
                    // One sentence says it for both.
                    None if accepts && Example::of(rule, false).is_none() => {}
                    None => out.push_str(&format!("\n{}\n", absent(rule))),
                }
            }
        }
    }
    out
}

/// Why an input rule has no example of one kind.
fn absent(rule: Rule) -> &'static str {
    match rule {
        Rule::Json4 => "No violating example: raw invalid UTF-8 in a log is reported as STORE-4.",
        Rule::Env3 => {
            "No example: in a stored log a wrong seq is STORE-3; this rule speaks of append and of seeds."
        }
        _ => "No example.",
    }
}

fn behaviour(rule: Rule, out: &mut String) {
    if rule == Rule::Fork3 || rule == Rule::Fork4 {
        out.push_str("\nNo single file can show this rule; `foldproof check` compares a forked log with its parent when it gets both.\n");
    } else {
        out.push_str("\nNo file can show this rule.\n");
    }
    let names = properties(rule);
    match names.is_empty() {
        true => out.push_str("No property of this version checks it.\n"),
        false => {
            let asked: Vec<String> = names.iter().map(|name| format!("--property {name}")).collect();
            out.push_str(&format!("It is checked by `foldproof test {}`.\n", asked.join(" ")));
        }
    }
}

/// An example line by line, and what `check` says of it.
fn show(example: &Example, paint: Paint, out: &mut String) {
    let title = if example.accepts { "accepted" } else { "violates it" };
    out.push_str(&format!("\n{} {}\n\n", paint.bold(format!("{title}:")), example.name));
    let most = width().saturating_sub(6);
    if example.is_compressed() {
        let note = if example.bytes.starts_with(&MAGIC) { "Zstandard, decoded" } else { "not Zstandard" };
        out.push_str(&paint.dim(format!("      {} bytes, {note}", example.bytes.len())));
        out.push('\n');
    }
    let options = Options {
        excerpts: true,
        notes: example.rule == "JSON-7" || example.rule == "PAIR-5",
        ..Options::default()
    };
    let limits = options.limits;
    let lines = example.input().lines(limits, true);
    let Ok(mut lines) = lines else { return };
    loop {
        let mut mark = |text: &str| out.push_str(&format!("{}\n", paint.dim(format!("      {text}"))));
        match lines.read() {
            Ok(Item::Line { bytes, number, ended, .. }) => {
                let end = if ended { "" } else { " (no newline)" };
                // Far more than a line can show, and little beside what the longest examples hold.
                let text = String::from_utf8_lossy(&bytes[..bytes.len().min(most * 4)]);
                out.push_str(&format!(
                    "{number:>4}  {}{end}\n",
                    clean(&text, most.saturating_sub(end.len() + 1))
                ));
            }
            Ok(Item::FrameEnd) => mark("(the frame ends)"),
            Ok(Item::Torn) => mark("(the frame is incomplete)"),
            Ok(Item::Damage(what)) => {
                mark(&format!("(damage: {what})"));
                break;
            }
            Ok(Item::End) | Err(_) => break,
        }
    }
    let Ok(report) = check(example.input(), &options) else { return };
    if !report.findings.is_empty() {
        out.push('\n');
    }
    let diagnostics = Diagnostics::new(paint, width());
    for finding in
        report.findings.list.iter().filter(|finding| !example.accepts || finding.rule.id() == example.rule)
    {
        out.push_str(&diagnostics.render(example.name, finding, false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_rule_has_its_examples() {
        for rule in Rule::ALL.iter().filter(|rule| rule.info().breaker == Breaker::Input) {
            for accepts in [true, false] {
                let excused = absent(*rule) != "No example." && (!accepts || *rule == Rule::Env3);
                assert!(excused || Example::of(*rule, accepts).is_some(), "{rule} {accepts}");
            }
        }
    }
}
