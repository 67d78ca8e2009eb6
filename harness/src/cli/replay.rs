//! `foldproof replay`: runs saved cases again and says whether the outcome is the recorded one.

use super::alone::{self, Alone};
use super::exit::{Exit, Failure, say};
use super::global::Global;
use super::paint::Paint;
use super::render;
use crate::campaign::Plan;
use crate::case::{Case, Recorded};
use crate::corpus::{self, Replayed};
use crate::properties::{self, Property};
use crate::runner::{self, Asked, Judged};
use crate::systems::{self, System, compare};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Arguments of `replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Saved cases (.case.json), folders of them, or - for stdin
    #[arg(value_name = "CASE", required_unless_present_any = ["inline", "seed"])]
    pub cases: Vec<PathBuf>,
    /// A case in its inline form, as a failure prints it (fp1:…)
    #[arg(long, value_name = "BLOB", conflicts_with = "cases")]
    pub inline: Option<String>,
    /// The seed of a campaign, for one of its generated cases
    #[arg(long, value_name = "HEX", requires = "case", conflicts_with_all = ["cases", "inline"])]
    pub seed: Option<crate::seed::Seed>,
    /// Which case of that campaign
    #[arg(long, value_name = "K", requires = "seed")]
    pub case: Option<u64>,
    /// The --max-size of that campaign
    #[arg(long, value_name = "N", default_value_t = crate::campaign::MAX_SIZE, value_parser = super::test::size)]
    pub max_size: usize,
    /// The system to run on, instead of the one that the case names: core or model
    #[arg(long, value_name = "NAME")]
    pub system: Option<String>,
    /// Prints operation, expected and got for every operation
    #[arg(long)]
    pub trace: bool,
    /// Ask every property of a case in this process: what a child does for a case that may end it
    #[arg(long, hide = true)]
    pub alone: bool,
}

const EXAMPLES: &str = "\
Examples:
  foldproof replay corpora/regressions/cached-equals-fresh-0123456789.case.json
  foldproof replay --trace corpora/rules
  foldproof replay --inline fp1:KLUv_SBC…
  foldproof replay --seed 2a --case 77";

/// Most characters of one text that are printed; a case file and `--format json` hold all of it.
const WIDEST: usize = 2000;

fn clean(text: &str) -> String {
    render::clean(text, WIDEST)
}

/// One case, and where it came from.
struct Item {
    name: String,
    case: Case,
}

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let mut exit = Exit::Clean;
    let mut items = vec![];
    if let (Some(seed), Some(index)) = (args.seed, args.case) {
        let case = Plan { max_size: args.max_size, ..Plan::new(seed) }.case(index);
        items.push(Item { name: format!("case {index} of seed {seed}"), case });
    }
    match &args.inline {
        Some(blob) => match Case::from_inline(blob) {
            Ok(case) => items.push(Item { name: "the inline case".to_owned(), case }),
            Err(error) => return Err(Failure::Told(error.to_string())),
        },
        None => {
            for path in &args.cases {
                match read(path) {
                    Ok(found) => items.extend(found),
                    Err(error) => {
                        say(format_args!("error: {error}"));
                        exit = exit.and(Exit::Failed);
                    }
                }
            }
        }
    }
    if items.is_empty() {
        if exit == Exit::Clean {
            say(format_args!("no case found"));
        }
        return Ok(exit.and(Exit::Inconclusive));
    }
    for item in &items {
        exit = exit.and(one(item, args, global)?);
    }
    Ok(exit)
}

/// The cases of a path: a file, a folder, or stdin.
fn read(path: &Path) -> Result<Vec<Item>, String> {
    let item = |saved: corpus::Saved| Item { name: saved.path.display().to_string(), case: saved.case };
    if path.as_os_str() == "-" {
        let mut text = vec![];
        io::Read::read_to_end(&mut io::stdin().lock(), &mut text).map_err(|error| error.to_string())?;
        let case = Case::parse(&text).map_err(|error| format!("stdin: {error}"))?;
        return Ok(vec![Item { name: "stdin".to_owned(), case }]);
    }
    let found =
        if path.is_dir() { corpus::load_all(path) } else { corpus::load(path).map(|saved| vec![saved]) };
    Ok(found.map_err(|error| error.to_string())?.into_iter().map(item).collect())
}

fn one(item: &Item, args: &Args, global: &Global) -> Result<Exit, Failure> {
    let name = args.system.as_ref().unwrap_or(&item.case.system);
    let Some(mut system) = systems::by_name(name) else {
        say(format_args!("error: {}: there is no system {name:?} here; known are core and model", item.name));
        return Ok(Exit::Failed);
    };
    if args.alone {
        let judged = runner::run(&item.case, &mut *system, Asked::All);
        return Ok(if judged.violation.is_some() { Exit::Findings } else { Exit::Clean });
    }
    if alone::is_suspect(&item.case) {
        system = Box::new(Alone(system));
    }
    let (replayed, judged) = corpus::replay(&item.case, &mut *system);
    let mut out = io::stdout().lock();
    if global.json() {
        json(&mut out, item, &*system, &replayed, &judged)?;
    } else {
        let paint = Paint::new(global.colored_stdout());
        if args.trace {
            trace(&mut out, &item.case, &judged)?;
        }
        human(&mut out, item, &replayed, &judged, &paint)?;
    }
    Ok(match &replayed {
        Replayed::Same => Exit::Clean,
        Replayed::Differs { .. } => Exit::Findings,
        Replayed::Unrecorded(_) if judged.violation.is_some() => Exit::Findings,
        Replayed::Unrecorded(_) => Exit::Clean,
    })
}

/// Operation, expected and got.
fn trace(out: &mut impl Write, case: &Case, judged: &Judged) -> Result<(), Failure> {
    let model = systems::Model.run(case);
    for (place, op) in case.ops.iter().enumerate() {
        let (Some(want), Some(got)) = (model.steps.get(place), judged.trace.steps.get(place)) else {
            break;
        };
        let text = String::from_utf8_lossy(&op.to_bytes()).into_owned();
        let mark = match compare::compare(op, &want.outcome, &got.outcome) {
            compare::Comparison::Same => " ",
            compare::Comparison::NotSent => "-",
            compare::Comparison::RefusedOtherwise => "~",
            compare::Comparison::Different(..) => "!",
        };
        writeln!(out, "{mark} {place:>3} {}", clean(&text))?;
        writeln!(out, "      expected {}", clean(&compare::show(op, &want.outcome)))?;
        writeln!(out, "      got      {}", clean(&compare::show(op, &got.outcome)))?;
    }
    Ok(())
}

fn human(
    out: &mut impl Write,
    item: &Item,
    replayed: &Replayed,
    judged: &Judged,
    paint: &Paint,
) -> Result<(), Failure> {
    let said = match replayed {
        Replayed::Same => "same outcome as recorded".to_owned(),
        Replayed::Differs { .. } => paint.bold("another outcome than recorded"),
        Replayed::Unrecorded(_) => "nothing was recorded".to_owned(),
    };
    let now = judged.recorded();
    writeln!(out, "{}: {said}: {}", clean(&item.name), now.status.name())?;
    if let Replayed::Differs { recorded, .. } = replayed {
        writeln!(out, "  recorded")?;
        outcome(out, recorded)?;
        writeln!(out, "  now")?;
        outcome(out, &now)?;
    } else if judged.violation.is_some() {
        outcome(out, &now)?;
    }
    Ok(())
}

fn outcome(out: &mut impl Write, outcome: &Recorded) -> Result<(), Failure> {
    let property: Option<&Property> = outcome.property.as_deref().and_then(properties::by_id);
    let line = |out: &mut dyn Write, name: &str, text: Option<&str>| match text {
        Some(text) => writeln!(out, "    {name:<9} {}", clean(text)),
        None => Ok(()),
    };
    line(out, "status", Some(outcome.status.name()))?;
    line(out, "property", outcome.property.as_deref())?;
    line(out, "law", property.map(|property| property.law))?;
    line(out, "rule", outcome.rule.as_deref())?;
    line(out, "op", outcome.op.map(|op| op.to_string()).as_deref())?;
    line(out, "message", outcome.message.as_deref())?;
    line(out, "expected", outcome.expected.as_deref())?;
    line(out, "got", outcome.got.as_deref())?;
    Ok(())
}

/// What `--format json` prints: one line for each case.
#[derive(serde::Serialize)]
struct Line<'a> {
    foldproof: u64,
    case: &'a str,
    system: String,
    replayed: &'static str,
    status: &'static str,
    property: Option<String>,
    rule: Option<String>,
    op: Option<u64>,
    message: Option<String>,
    expected: Option<String>,
    got: Option<String>,
}

fn json(
    out: &mut impl Write,
    item: &Item,
    system: &dyn System,
    replayed: &Replayed,
    judged: &Judged,
) -> Result<(), Failure> {
    let now = judged.recorded();
    let line = Line {
        foldproof: crate::case::FORMAT,
        case: &item.name,
        system: system.name(),
        replayed: match replayed {
            Replayed::Same => "same",
            Replayed::Differs { .. } => "differs",
            Replayed::Unrecorded(_) => "unrecorded",
        },
        status: now.status.name(),
        property: now.property,
        rule: now.rule,
        op: now.op,
        message: now.message,
        expected: now.expected,
        got: now.got,
    };
    let text = serde_json::to_string(&line).map_err(|error| Failure::Told(error.to_string()))?;
    writeln!(out, "{text}")?;
    Ok(())
}
