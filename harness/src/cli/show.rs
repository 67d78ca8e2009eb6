//! `foldproof show`: time travel. A projection as it stood behind an event, or when a request was dispatched.

use super::exit::{Exit, Failure, say};
use super::global::Global;
use super::paint::Paint;
use super::render::clean;
use super::timeline;
use super::twice::Source;
use clap::ValueEnum;
use foldproof::check::{Loaded, Options, check, load};
use foldproof::dialect::Reading;
use foldproof::log::Log;
use foldproof::projection::{self, History, Transcript};
use foldproof::request::{self, RequestHeader};
use foldproof::rule::{Class, Stage};
use foldproof::session::Session;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A log (.jsonl, .jsonl.zstd, .zst), or - for stdin
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// What to show
    #[arg(long = "as", value_enum, value_name = "FORM")]
    pub form: Form,
    /// As it stood behind this event
    #[arg(long, value_name = "SEQ", conflicts_with_all = ["turn", "step", "attempt"])]
    pub at: Option<u64>,
    /// As it stood when the request of this turn and step was dispatched
    #[arg(long, value_name = "T", requires = "step")]
    pub turn: Option<u64>,
    /// The step of the request
    #[arg(long, value_name = "S", requires = "turn")]
    pub step: Option<u64>,
    /// The attempt within the step, from 1
    #[arg(long, value_name = "N", requires = "step")]
    pub attempt: Option<u64>,
    /// With the events that recovery would append
    #[arg(long)]
    pub repaired: bool,
}

const EXAMPLES: &str = "\
Examples:
  foldproof show session.jsonl --as messages
  foldproof show session.jsonl --as surface --at 12
  foldproof show session.jsonl --as request --turn 1 --step 2
  foldproof show session.jsonl --as timeline
  foldproof show - --as transcript < session.jsonl
  foldproof show torn.jsonl --as events --repaired";

/// What to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// The messages that the model is shown
    Messages,
    /// What was said, for people: no replacement appears in it
    Transcript,
    /// The nodes of the surface, and every replace with what it shadowed
    Surface,
    /// The request that the log rebuilds
    Request,
    /// The request header in force
    Header,
    /// The messages that wait
    Inbox,
    /// The events, unpacked
    Events,
    /// The story, for people
    Timeline,
}

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    if args.form == Form::Timeline && global.json() {
        return Err(Failure::Told(
            "a timeline is text for people; --format json goes with the other forms".into(),
        ));
    }
    let source = Source::new(&args.path, global)?;
    let provider = Options {
        dialect: global.dialect.0.clone(),
        reading: Reading::Released(Stage::Provider),
        excerpts: true,
        limits: global.limits(),
        ..Options::default()
    };
    let loaded = source.read(|input, size| load(input, &provider, size))?;
    if loaded.report.findings.strongest() >= Some(Class::Reject) {
        source.tell(&loaded.report, global);
        return Ok(Exit::Findings);
    }
    let strict = Options { reading: Reading::Strict, ..provider.clone() };
    let report = source.read(|input, _| check(input, &strict))?;
    source.tell(&report, global);
    let view = match View::new(args, loaded) {
        Ok(view) => view,
        Err(Refused::Unrepairable(text)) => {
            say(format_args!("error: {}: {text}", clean(&source.name(), usize::MAX)));
            return Ok(Exit::Findings);
        }
        Err(Refused::NoSuchPlace(text)) => {
            return Err(Failure::Told(format!("{}: {text}", clean(&source.name(), usize::MAX))));
        }
    };
    let mut out = io::stdout().lock();
    if args.form == Form::Timeline {
        let paint = Paint::new(global.colored_stdout());
        out.write_all(timeline::print(&view, &report, paint).as_bytes())?;
    } else {
        out.write_all(&view.print(args.form))?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(Exit::Clean)
}

/// Why a view of a log that opens cannot be shown.
enum Refused {
    /// There is no such event or request.
    NoSuchPlace(String),
    /// REPAIR-6.
    Unrepairable(String),
}

/// A log as it stood behind its first events.
pub struct View {
    /// Those events.
    pub log: Log,
    /// All events, for what looks ahead.
    pub whole: Log,
    /// Events that are inherited.
    pub inherited: u64,
    /// The first event that recovery appended, if it did.
    pub synthetic: Option<u64>,
}

impl View {
    fn new(args: &Args, loaded: Loaded) -> Result<View, Refused> {
        let mut session = Session::restore(loaded);
        let mut synthetic = None;
        if args.repaired {
            let range = session.repair().map_err(|error| Refused::Unrepairable(unrepairable(&error)))?;
            synthetic = (!range.is_empty()).then_some(range.start);
        }
        let log = session.log().clone();
        let count = match (args.at, args.turn, args.step) {
            (Some(seq), ..) if seq < log.len() => seq + 1,
            (Some(seq), ..) => return Err(Refused::NoSuchPlace(no_event(&log, seq))),
            (None, Some(turn), Some(step)) => {
                let attempt = args.attempt.unwrap_or(1);
                let count = request::boundary(&log, turn, step, attempt);
                count.ok_or_else(|| Refused::NoSuchPlace(no_request(&log, turn, step, attempt)))?
            }
            _ => log.len(),
        };
        Ok(View { log: log.prefix(count), whole: log, inherited: session.inherited(), synthetic })
    }

    fn print(&self, form: Form) -> Vec<u8> {
        let log = &self.log;
        let count = log.len();
        let mut out = vec![];
        match form {
            Form::Messages => History::new(log, &log.refold(count, |_, _, _, _| {})).print(&mut out),
            Form::Transcript => out = Transcript::new(log).to_bytes(),
            Form::Surface => out = projection::print_surface(log, count),
            Form::Request => {
                out = request::rebuild(log, count).map_or(b"null".to_vec(), |request| request.to_bytes())
            }
            Form::Header => {
                out = RequestHeader::fold(log, count).map_or(b"null".to_vec(), |header| header.to_bytes());
            }
            Form::Inbox => projection::inbox(log, count, self.inherited).print(&mut out),
            Form::Events => {
                out.push(b'[');
                for (place, line) in log.events().enumerate() {
                    if place > 0 {
                        out.push(b',');
                    }
                    out.extend_from_slice(&line);
                }
                out.push(b']');
            }
            // The timeline is text and printed elsewhere.
            Form::Timeline => {}
        }
        out
    }
}

fn unrepairable(error: &foldproof::session::RepairError) -> String {
    match error {
        foldproof::session::RepairError::Unrepairable(why) => format!(
            "it cannot be repaired: the call in line {} has no id that a result could answer [REPAIR-6]",
            why.place.line
        ),
        foldproof::session::RepairError::Append(error) => format!("it cannot be repaired: {error}"),
    }
}

fn no_event(log: &Log, seq: u64) -> String {
    match log.len() {
        0 => format!("there is no event {seq}: the log has no events"),
        count => format!("there is no event {seq}: the log has the events 0 to {}", count - 1),
    }
}

/// Names the turns and steps that there are.
fn no_request(log: &Log, turn: u64, step: u64, attempt: u64) -> String {
    let mut turns: BTreeMap<u64, BTreeMap<u64, u64>> = BTreeMap::new();
    for boundary in request::boundaries(log) {
        let attempts =
            turns.entry(boundary.turn as u64).or_default().entry(boundary.step as u64).or_default();
        *attempts = (*attempts).max(boundary.attempt);
    }
    let wanted = format!("there is no request of turn {turn}, step {step}, attempt {attempt}");
    let list = |numbers: Vec<u64>| ranges(&numbers);
    match turns.get(&turn) {
        None if turns.is_empty() => format!("{wanted}: the log has no step"),
        None => format!("{wanted}: there are the turns {}", list(turns.keys().copied().collect())),
        Some(steps) => match steps.get(&step) {
            None => format!("{wanted}: turn {turn} has the steps {}", list(steps.keys().copied().collect())),
            Some(1) => format!("{wanted}: step {step} has one attempt"),
            Some(attempts) => format!("{wanted}: step {step} has the attempts 1 to {attempts}"),
        },
    }
}

/// Ascending numbers with runs drawn together: `1 to 4, 7`.
fn ranges(numbers: &[u64]) -> String {
    let mut runs: Vec<(u64, u64)> = vec![];
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let texts: Vec<String> = runs
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first} to {last}") })
        .collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn runs() {
        assert_eq!(ranges(&[1, 2, 3, 7]), "1 to 3, 7");
        assert_eq!(ranges(&[4]), "4");
    }
}
