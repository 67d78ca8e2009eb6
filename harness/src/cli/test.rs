//! `foldproof test`: a property campaign.

use super::exit::{Exit, Failure, say};
use super::global::Global;
use super::{alone, interrupt, outputs, tally};
use crate::campaign::{self, Budget, Kind, Plan, Watcher};
use crate::case::Case;
use crate::corpus;
use crate::import::import;
use crate::inflight::{self, Inflight};
use crate::properties::{LABELS, TABLE};
use crate::result::{self, Results};
use crate::seed::Seed;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Arguments of `test`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Run so many cases
    #[arg(long, value_name = "N", conflicts_with = "time")]
    cases: Option<u64>,
    /// Run so long: 30s, 5m, 1h (20s without --cases); it stops behind a block of 256 cases
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// The seed, 1 to 16 hexadecimal digits; a fresh one otherwise
    #[arg(long, value_name = "HEX")]
    seed: Option<Seed>,
    /// Ask only these properties; `*` stands for any text
    #[arg(long, value_name = "GLOB")]
    property: Vec<String>,
    /// The system under test
    #[arg(long, value_enum, default_value_t = SystemName::Core, value_name = "NAME")]
    system: SystemName,
    /// Jobs; as many as there are cores otherwise. The result does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// Run only part I of N, counted from 0
    #[arg(long, value_name = "I/N", value_parser = shard, default_value = "0/1", hide_default_value = true)]
    shard: (u64, u64),
    /// Where saved cases are, and failures go
    #[arg(long, value_name = "DIR", default_value = corpus::REGRESSIONS)]
    corpus: PathBuf,
    /// Real logs to begin with: each whole, cut short, and continued
    #[arg(long, value_name = "LOG", num_args = 1..)]
    from: Vec<PathBuf>,
    /// Ops of a case at most
    #[arg(long, value_name = "N", default_value_t = campaign::MAX_SIZE, value_parser = size)]
    max_size: usize,
    /// Stop behind so many distinct failures
    #[arg(long, value_name = "N", default_value_t = 8)]
    max_failures: u64,
    /// Executions of one shrinking at most
    #[arg(long, value_name = "N", default_value_t = 4000)]
    max_shrinks: u64,
    /// Do not replay saved cases first
    #[arg(long)]
    no_replay: bool,
    /// Fail when something was refused for another reason than it should
    #[arg(long)]
    strict: bool,
    /// List properties and labels instead
    #[arg(long)]
    list: bool,
    /// Tell in the JSON how long it took, which then differs from run to run
    #[arg(long)]
    timings: bool,
    #[command(flatten)]
    outputs: outputs::Files,
}

const EXAMPLES: &str = "\
Examples:
  foldproof test
  foldproof test --cases 100000 --seed 2a --json result.json
  foldproof test --time 5m --property 'request-*'
  foldproof test --cases 100000 --seed 2a --shard 0/2 --json half.json";

/// The systems that are built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SystemName {
    /// The embedded core
    Core,
    /// The model, against itself
    Model,
    /// The core in a process that ends at a fork: how a campaign survives that
    #[value(hide = true)]
    Abrupt,
}

impl SystemName {
    /// The system.
    pub fn kind(self) -> Kind {
        match self {
            SystemName::Core => Kind::Core,
            SystemName::Model => Kind::Model,
            SystemName::Abrupt => Kind::Abrupt,
        }
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => match text.chars().last() {
            Some('s') => (&text[..text.len() - 1], 1_000),
            Some('m') => (&text[..text.len() - 1], 60_000),
            Some('h') => (&text[..text.len() - 1], 3_600_000),
            _ => (text, 1_000),
        },
    };
    let number: Option<u64> = digits.parse().ok();
    let millis = number.and_then(|number| number.checked_mul(unit));
    millis.map(Duration::from_millis).ok_or_else(|| "expected a time, such as 30s, 5m or 1h".to_owned())
}

/// Ops of a case at most, within what a machine can hold.
pub fn size(text: &str) -> Result<usize, String> {
    let size = text.parse().ok().filter(|size| (1..=campaign::LARGEST).contains(size));
    size.ok_or_else(|| format!("expected a number from 1 to {}", campaign::LARGEST))
}

fn shard(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    parts
        .filter(|(part, of): &(u64, u64)| part < of)
        .ok_or_else(|| "expected I/N with I counted from 0, such as 0/4".to_owned())
}

/// A seed that nobody chose: the clock's, because a campaign itself may not look at one.
pub fn fresh_seed() -> Seed {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Seed(now.as_nanos() as u64).of_case(u64::from(std::process::id()))
}

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    if args.list {
        return list(global);
    }
    let plan = plan(args)?;
    args.outputs.check()?;
    interrupt::listen();
    say(format_args!("seed {}", plan.seed));
    let folder = Path::new(".foldproof");
    let recovered = recover(folder, &plan, &args.corpus)?;
    let replayed = if args.no_replay { (0, 0) } else { replay(args, &plan)? };
    let started = Instant::now();
    let mut watch = Watch {
        folder,
        corpus: &args.corpus,
        plan: &plan,
        progress: tally::Progress::new(),
        problems: vec![],
        cases: vec![],
    };
    let mut results = campaign::run(&plan, &mut watch);
    inflight::clear(folder, std::process::id());
    let (problems, cases) = (std::mem::take(&mut watch.problems), std::mem::take(&mut watch.cases));
    drop(watch);
    results.replayed = replayed;
    for path in &recovered {
        say(format_args!("a case that ended its process is saved: foldproof replay {}", path.display()));
    }
    args.outputs.write(&results)?;
    let took = started.elapsed();
    let mut out = io::stdout().lock();
    if global.json() {
        writeln!(out, "{}", tally::json(&results, args.timings.then_some(took)))?;
    } else {
        out.write_all(tally::human(&results, &cases, took, &args.corpus).as_bytes())?;
    }
    out.flush()?;
    for problem in &problems {
        say(format_args!("error: {problem}"));
    }
    let mut exit = verdict(&results, args.strict);
    if !recovered.is_empty() {
        exit = exit.and(Exit::Findings);
    }
    if !problems.is_empty() {
        exit = exit.and(Exit::Failed);
    }
    if results.stopped == result::Stopped::Interrupt {
        exit = exit.and(Exit::Interrupted);
    }
    Ok(exit)
}

/// What the results come to.
pub fn verdict(results: &Results, strict: bool) -> Exit {
    use result::Outcome;
    let any = |outcome: Outcome| results.properties.iter().any(|counted| counted.status == outcome);
    if results.replayed.1 > 0 || any(Outcome::Failed) || (strict && any(Outcome::RefusedOtherwise)) {
        return Exit::Findings;
    }
    if any(Outcome::Passed) || any(Outcome::RefusedOtherwise) || results.replayed.0 > 0 {
        Exit::Clean
    } else {
        Exit::Inconclusive
    }
}

fn plan(args: &Args) -> Result<Plan, Failure> {
    let mut properties: Vec<String> = vec![];
    for glob in &args.property {
        let found = campaign::matching(glob);
        if found.is_empty() {
            return Err(Failure::Told(format!(
                "no property is called {glob}; `foldproof test --list` shows them"
            )));
        }
        properties.extend(found);
    }
    properties.sort_by_key(|id| TABLE.iter().position(|property| property.id == id));
    properties.dedup();
    let budget = match (args.cases, args.time) {
        (Some(cases), _) => Budget::Cases(cases),
        (None, time) => Budget::Time(time.unwrap_or(Duration::from_secs(20))),
    };
    let mut from = vec![];
    for path in &args.from {
        from.extend(seeds(path)?);
    }
    Ok(Plan {
        seed: args.seed.unwrap_or_else(fresh_seed),
        kind: args.system.kind(),
        properties,
        budget,
        max_size: args.max_size,
        max_failures: args.max_failures.max(1),
        max_shrinks: args.max_shrinks,
        shard: args.shard,
        jobs: args.jobs,
        from,
    })
}

/// Cases from a real log: all of it, and what was there behind each eighth of it.
fn seeds(path: &Path) -> Result<Vec<Case>, Failure> {
    let failed = |error: io::Error| Failure::Told(format!("cannot read {}: {error}", path.display()));
    let log = std::fs::read(path).map_err(failed)?;
    let mut cases = vec![import(&log, None)];
    let ends: Vec<usize> =
        log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    // Only a plain log can be cut between lines.
    if log.first() == Some(&b'{') {
        for part in 1..8 {
            let end = ends.get(ends.len() * part / 8).copied().unwrap_or(log.len());
            // A log cut inside an unfinished line is one that its writer did not finish.
            cases.push(import(&log[..end.min(log.len())], None));
        }
    }
    Ok(cases)
}

fn list(global: &Global) -> Result<Exit, Failure> {
    let mut out = io::stdout().lock();
    if global.json() {
        let properties: Vec<serde_json::Value> = TABLE
            .iter()
            .map(|property| serde_json::json!({ "id": property.id, "rules": property.rules, "law": property.law }))
            .collect();
        writeln!(
            out,
            "{}",
            serde_json::json!({ "foldproof": 1, "properties": properties, "labels": LABELS })
        )?;
    } else {
        for property in TABLE {
            let about = match property.rules {
                [] => "a law of the tools, and no rule of the contract".to_owned(),
                rules => rules.join(", "),
            };
            writeln!(out, "{:28} {}\n{:28} {about}", property.id, property.law, "")?;
        }
        writeln!(out, "\nlabels: {}", LABELS.join(", "))?;
    }
    Ok(Exit::Clean)
}

/// Saved cases, replayed before anything is generated.
fn replay(args: &Args, plan: &Plan) -> Result<(u64, u64), Failure> {
    let saved = corpus::load_all(&args.corpus).map_err(|error| Failure::Told(error.to_string()))?;
    let (mut run, mut failed) = (0, 0);
    for saved in saved {
        if interrupt::requested() {
            break;
        }
        let mut system = plan.kind.make();
        if alone::is_suspect(&saved.case) {
            system = Box::new(alone::Alone(system));
        }
        let pinned: Vec<String> = saved.case.property.iter().cloned().collect();
        let asked =
            if pinned.is_empty() { crate::runner::Asked::All } else { crate::runner::Asked::Only(&pinned) };
        let judged = crate::runner::run(&saved.case, &mut *system, asked);
        run += 1;
        if let Some((property, violation)) = judged.violation {
            failed += 1;
            say(format_args!(
                "saved case fails: {} ({}, {}): foldproof replay {}",
                violation.message,
                property.id,
                violation.rule,
                saved.path.display()
            ));
        }
    }
    Ok((run, failed))
}

/// Blocks whose process is gone: each is run again in children, case by case, and the case that ends its child is
/// shrunk and saved.
fn recover(folder: &Path, plan: &Plan, corpus: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut saved = vec![];
    for (file, block) in inflight::left_behind(folder) {
        say(format_args!(
            "process {} ended inside cases {}..{} of seed {}: running them again one by one",
            block.pid, block.from, block.to, block.seed
        ));
        let kind = Kind::from_name(&block.system).unwrap_or(Kind::Core);
        let max_size = usize::try_from(block.max_size).unwrap_or(campaign::MAX_SIZE).min(campaign::LARGEST);
        let old = Plan { seed: block.seed, max_size, kind, ..plan.clone() };
        for index in block.from..block.to {
            if interrupt::requested() {
                return Ok(saved);
            }
            let case = old.case(index);
            if alone::ends(&case, &block.system)? {
                let small = alone::shrunk(&case, kind.make(), &interrupt::requested);
                saved.push(corpus::save(corpus, &small).map_err(|error| Failure::Told(error.to_string()))?);
                break;
            }
        }
        let _ = std::fs::remove_file(file);
    }
    Ok(saved)
}

/// Saves failures and shows progress.
struct Watch<'a> {
    folder: &'a Path,
    corpus: &'a Path,
    plan: &'a Plan,
    progress: tally::Progress,
    problems: Vec<String>,
    cases: Vec<Case>,
}

impl Watcher for Watch<'_> {
    fn block(&mut self, from: u64, to: u64) {
        let block = Inflight {
            pid: std::process::id(),
            seed: self.plan.seed,
            from,
            to,
            max_size: self.plan.max_size as u64,
            system: self.plan.kind.make().name(),
        };
        if let Err(error) = block.write(self.folder)
            && self.problems.is_empty()
        {
            self.problems.push(format!("cannot write to {}: {error}", self.folder.display()));
        }
    }

    fn counted(&mut self, results: &Results) {
        self.progress.show(results);
    }

    fn failed(&mut self, failure: &result::Failure, case: &Case) -> String {
        let path = match corpus::save(self.corpus, case) {
            Ok(path) => path.display().to_string(),
            Err(error) => {
                self.problems.push(format!("failure of case {} not saved: {error}", failure.index));
                String::new()
            }
        };
        self.cases.push(case.clone());
        path
    }

    fn is_interrupted(&self) -> bool {
        interrupt::requested()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_shards() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert!(duration("soon").is_err());
        assert_eq!(shard("1/4"), Ok((1, 4)));
        assert!(shard("4/4").is_err());
    }
}
