//! `foldproof check`: every rule of the contract, on real logs.

use super::elsewhere::Elsewhere;
use super::exit::{Exit, Failure, say};
use super::families::{Families, Fork};
use super::global::Global;
use super::progress::Progress;
use super::report::Reporter;
use super::select::{self, Selector};
use super::walk::{self, Log};
use super::{fork, interrupt, source};
use clap::ValueEnum;
use foldproof::check::{Options, Report, check};
use foldproof::codec::frames::FrameError;
use foldproof::dialect::Reading;
use foldproof::rule::{Class, RuleSet, Stage};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Logs (.jsonl, .jsonl.zstd, .zst), folders, or - for stdin
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only findings of these rules or areas count: SURF-5, LIFE
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = select::parse)]
    pub select: Vec<Selector>,
    /// Findings of these rules or areas do not count
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = select::parse)]
    pub ignore: Vec<Selector>,
    /// Findings do not make the exit code 1
    #[arg(long)]
    pub exit_zero: bool,
    /// Findings of this class are shown, but do not count for the exit code
    #[arg(long, value_enum, value_name = "CLASS")]
    pub allow: Vec<Allowed>,
    /// Ask what the released reader would say, up to this stage
    #[arg(long, value_enum, value_name = "STAGE", num_args = 0..=1, require_equals = true,
          default_missing_value = "publish")]
    pub reader: Option<Released>,
    /// Look for what is legal but worth a line (JSON-7, PAIR-5)
    #[arg(long)]
    pub notes: bool,
    /// Go on behind a rejected event, as if it were not there
    #[arg(long)]
    pub keep_going: bool,
    /// Most findings printed for one log
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub max_findings: usize,
    /// Where findings go beside the terminal.
    #[command(flatten)]
    pub elsewhere: Elsewhere,
    /// Logs checked at the same time [default: as many as there are cores]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

const EXAMPLES: &str = "\
Examples:
  foldproof check session.jsonl
  foldproof check logs --allow repairable
  foldproof check logs --format json --jobs 2
  foldproof check - < session.jsonl
  foldproof check logs --select SURF,PAIR-2 --max-findings 5
  foldproof check session.jsonl --reader=provider
  foldproof check logs --github
  foldproof check logs --sarif findings.sarif --junit findings.xml --exit-zero";

/// Classes that may be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Allowed {
    /// Torn tails and open turns, which live logs have
    Repairable,
}

/// Stages of the released reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Released {
    /// Opening and reading the stored file
    Provider,
    /// Also the live session and its invariant companion
    Publish,
}

/// What became of one log.
pub enum Outcome {
    /// It was checked.
    Checked(Box<Report>),
    /// It could not be read on, and why.
    Unreadable(String),
    /// A person asked to stop before it was through.
    Interrupted,
}

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    interrupt::listen();
    let found = walk::find(&args.paths);
    args.elsewhere.refuse_overwriting(found.logs.iter().map(|log| log.path.as_path()))?;
    let mut reporter = Reporter::new(args, global, &found.logs);
    for unreadable in &found.unreadable {
        reporter.unreadable(&unreadable.path.to_string_lossy(), &unreadable.why);
    }
    let families = match args.reader {
        // The released reader looks at one file, and knows nothing of the others.
        Some(_) => Families::default(),
        None => Families::new(&found.logs, global.limits()),
    };
    for warning in families.warnings(&found.logs, args.notes) {
        say(format_args!("warning: {warning}"));
    }
    let checker = Checker {
        options: options(args, global),
        chosen: (!args.select.is_empty() || !args.ignore.is_empty())
            .then(|| select::chosen(&args.select, &args.ignore)),
        forks: families.forks(),
        logs: &found.logs,
        progress: &Progress::new(found.logs.iter().map(|log| log.size).sum()),
        shown: args.max_findings,
    };
    let outcome = checker
        .run(args.jobs, |place, outcome| reporter.outcome(&found.logs[place], outcome, checker.progress));
    checker.progress.finish();
    outcome?;
    reporter.finish()
}

fn options(args: &Args, global: &Global) -> Options {
    let reading = match args.reader {
        None => Reading::Strict,
        Some(Released::Provider) => Reading::Released(Stage::Provider),
        Some(Released::Publish) => Reading::Released(Stage::Publish),
    };
    Options {
        dialect: global.dialect.0.clone(),
        reading,
        notes: args.notes,
        keep_going: args.keep_going,
        // Lines are shown to people, and SARIF and GitHub want columns in characters.
        excerpts: !global.json() || args.elsewhere.wants_characters(),
        ignore: select::unneeded(select::chosen(&args.select, &args.ignore)),
        limits: global.limits(),
    }
}

/// Checks logs on several threads and hands on what it finds in their order.
struct Checker<'a> {
    options: Options,
    /// The rules that count, where not all of them do.
    chosen: Option<RuleSet>,
    forks: BTreeMap<usize, Fork>,
    logs: &'a [Log],
    progress: &'a Progress,
    /// Findings that keep their line.
    shown: usize,
}

impl Checker<'_> {
    fn run(
        &self,
        jobs: Option<NonZeroUsize>,
        mut sink: impl FnMut(usize, Outcome) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let jobs = jobs.map_or(cores, NonZeroUsize::get).clamp(1, self.logs.len().max(1));
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::sync_channel(jobs * 4);
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                let sender = sender.clone();
                let next = &next;
                scope.spawn(move || {
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        // A sink that failed has dropped its end, and nothing more needs to be checked.
                        if place >= self.logs.len() || sender.send((place, self.outcome(place))).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let receiver = receiver;
            let mut waiting = BTreeMap::new();
            let mut due = 0;
            for (place, outcome) in &receiver {
                waiting.insert(place, outcome);
                while let Some(outcome) = waiting.remove(&due) {
                    // When nobody reads the output any more, logs that are being checked are given up too.
                    sink(due, outcome).inspect_err(|_| interrupt::request())?;
                    due += 1;
                }
            }
            Ok(())
        })
    }

    /// One log. A panic is a bug of ours; it is told with the log's name and does not take the other logs along.
    fn outcome(&self, place: usize) -> Outcome {
        if interrupt::requested() {
            return Outcome::Interrupted;
        }
        match catch_unwind(AssertUnwindSafe(|| self.check(place))) {
            Ok(Ok(report)) => Outcome::Checked(Box::new(report)),
            Ok(Err(_)) if interrupt::requested() => Outcome::Interrupted,
            Ok(Err(error)) => Outcome::Unreadable(error.to_string()),
            Err(_) => Outcome::Unreadable(
                "the checker itself failed, which is a bug of foldproof; please report it".into(),
            ),
        }
    }

    fn check(&self, place: usize) -> Result<Report, FrameError> {
        let log = &self.logs[place];
        let input = source::open(log, self.options.limits.held, self.progress.read())?;
        let mut report = check(input, &self.options)?;
        let readable = report.findings.strongest().is_none_or(|class| class < Class::Corrupt);
        if let Some(fork) = self.forks.get(&place).filter(|_| readable) {
            for finding in fork::compare(fork, log, &self.logs[fork.parent], self.options.limits) {
                report.findings.push(finding);
            }
        }
        if let Some(chosen) = self.chosen {
            report.findings.retain(|rule| chosen.has(rule));
        }
        for finding in report.findings.list.iter_mut().skip(self.shown) {
            finding.excerpt = None;
        }
        Ok(report)
    }
}
