//! `foldproof gen`: generated logs, each with what it must derive to beside it; or one large log.

use super::exit::{Exit, Failure, say};
use super::global::Global;
use super::test::fresh_seed;
use crate::campaign::{MAX_SIZE, Plan};
use crate::case::{Call, Case, Encoding, LogSource, Op};
use crate::generators::bytes;
use crate::generators::shapes::{self, Shape};
use crate::generators::swarm::Bounds;
use crate::model::{self, Dialect, Mode};
use crate::seed::Seed;
use crate::systems::{Core, System};
use crate::tools::sink::frame;
use serde_json::value::RawValue;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Arguments of `gen`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where the logs go: a folder, or with --shape a file
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Logs to write
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "shape")]
    cases: u64,
    /// The seed, 1 to 16 hexadecimal digits; a fresh one otherwise
    #[arg(long, value_name = "HEX")]
    seed: Option<Seed>,
    /// Write logs that a reader must refuse
    #[arg(long, conflicts_with = "shape")]
    invalid: bool,
    /// One large log of this shape; a name in .zstd makes it Zstandard frames of 64 lines
    #[arg(long, value_enum, value_name = "SHAPE", requires = "events")]
    shape: Option<ShapeName>,
    /// Events of the large log, about
    #[arg(long, value_name = "N", requires = "shape")]
    events: Option<u64>,
    /// Overwrite what is there
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  foldproof gen -o logs --cases 500 --seed 2a
  foldproof gen -o broken --cases 500 --seed 2a --invalid
  foldproof gen --shape prune --events 1000000 --seed 1 -o prune-1m.jsonl
  foldproof gen --shape plain --events 100000 --seed 1 -o plain-100k.jsonl.zstd";

/// The shapes of large logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ShapeName {
    /// Turns
    Plain,
    /// Turns, with runs of chunks packed into rows
    Packed,
    /// Turns, each rewriting one earlier tool result
    Prune,
    /// Turns, with a compaction every fifty
    Compact,
    /// User messages, then replaces of one node at random
    Scatter,
    /// User messages, then one replace of nearly all
    Collapse,
}

impl ShapeName {
    fn shape(self) -> Shape {
        match self {
            ShapeName::Plain => Shape::Plain,
            ShapeName::Packed => Shape::Packed,
            ShapeName::Prune => Shape::Prune,
            ShapeName::Compact => Shape::Compact,
            ShapeName::Scatter => Shape::Scatter,
            ShapeName::Collapse => Shape::Collapse,
        }
    }
}

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let seed = args.seed.unwrap_or_else(fresh_seed);
    say(format_args!("seed {seed}"));
    if let (Some(shape), Some(events)) = (args.shape, args.events) {
        return large(args, shape.shape(), events, seed, global);
    }
    fs::create_dir_all(&args.output).map_err(|error| told(&args.output, &error))?;
    let (mut written, mut index) = (0, 0);
    // Not every case has a log of the wanted kind; the bound is far beyond what that ever takes.
    while written < args.cases && index < args.cases.saturating_mul(200).saturating_add(1_000) {
        let found = if args.invalid { broken(seed, index) } else { whole(seed, index) };
        if let Some((log, encoding)) = found {
            let suffix = if encoding == Encoding::Zstd { "jsonl.zstd" } else { "jsonl" };
            let name = format!("{seed}-{index:06}");
            put(&args.output.join(format!("{name}.{suffix}")), &log, args.force)?;
            let expected = expected(&log, encoding)?;
            put(&args.output.join(format!("{name}.expect.json")), expected.as_bytes(), args.force)?;
            written += 1;
        }
        index += 1;
    }
    if written < args.cases {
        say(format_args!("only {written} of {} logs came out", args.cases));
        return Ok(Exit::Inconclusive);
    }
    Ok(Exit::Clean)
}

fn told(path: &Path, error: &io::Error) -> Failure {
    Failure::Told(format!("cannot write {}: {error}", path.display()))
}

fn put(path: &Path, bytes: &[u8], force: bool) -> Result<(), Failure> {
    if path.exists() && !force {
        return Err(Failure::Told(format!("{} is there already; --force overwrites it", path.display())));
    }
    fs::write(path, bytes).map_err(|error| told(path, &error))
}

fn large(args: &Args, shape: Shape, events: u64, seed: Seed, global: &Global) -> Result<Exit, Failure> {
    let path = &args.output;
    let mut options = fs::OpenOptions::new();
    let file: Result<File, io::Error> = match args.force {
        true => File::create(path),
        false => options.write(true).create_new(true).open(path),
    };
    let file = file.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::Told(format!("{} is there already; --force overwrites it", path.display()))
        }
        _ => told(path, &error),
    })?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let written = match is_compressed(path) {
        false => shapes::write(shape, events, seed, &mut out),
        true => {
            let mut framed = Framed { out: &mut out, batch: vec![], lines: 0, header: true };
            let written = shapes::write(shape, events, seed, &mut framed);
            written.and_then(|events| framed.finish().map(|()| events))
        }
    };
    let events =
        written.and_then(|events| out.flush().map(|()| events)).map_err(|error| told(path, &error))?;
    if !global.json() {
        say(format_args!("{events} events in {}", path.display()));
    }
    Ok(Exit::Clean)
}

/// Lines that one frame of a large compressed log holds: what a session commits at once while it runs.
const FRAME: usize = 64;

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix == "zstd" || suffix == "zst")
}

/// Writes lines as frames: the header line alone, then so many lines each (CODEC-3).
struct Framed<'w> {
    out: &'w mut dyn Write,
    batch: Vec<u8>,
    lines: usize,
    /// The header line is to come.
    header: bool,
}

impl Framed<'_> {
    fn finish(&mut self) -> io::Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        (self.lines, self.header) = (0, false);
        frame(&self.batch, self.out)?;
        self.batch.clear();
        Ok(())
    }
}

impl Write for Framed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.batch.extend_from_slice(line);
            self.lines += usize::from(line.ends_with(b"\n"));
            if self.lines >= if self.header { 1 } else { FRAME } {
                self.finish()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // A frame ends between lines only; what is left is written at the end.
        Ok(())
    }
}

/// A valid log: the longest session of the case.
fn whole(seed: Seed, index: u64) -> Option<(Vec<u8>, Encoding)> {
    let bounds = Bounds { faults: false, ..Plan { max_size: MAX_SIZE, ..Plan::new(seed) }.bounds(index) };
    let mut case = bytes::from_seed(seed.of_case(index), bounds);
    let mut handles: Vec<String> = case.ops.iter().map(|op| op.session.clone()).collect();
    handles.sort();
    handles.dedup();
    let asked = case.ops.len();
    let packed = index.is_multiple_of(3);
    let dump = |handle: &String| Op::new(handle.clone(), Call::Dump { packed, encoding: Encoding::Plain });
    case.ops.extend(handles.iter().map(dump));
    let trace = Core.run(&case);
    let logs = trace.steps[asked..].iter().filter_map(|step| step.outcome.ok()).map(unquoted);
    logs.max_by_key(Vec::len).map(|log| (log, Encoding::Plain))
}

fn unquoted(answer: &str) -> Vec<u8> {
    serde_json::from_str::<String>(answer).map(String::into_bytes).unwrap_or_default()
}

/// A log that the case's fault makes a reader refuse.
fn broken(seed: Seed, index: u64) -> Option<(Vec<u8>, Encoding)> {
    let case: Case = Plan::new(seed).case(index);
    case.rule.as_ref()?;
    case.ops.iter().rev().find_map(|op| match &op.call {
        Call::Restore { log: LogSource::Bytes(log), encoding } if op.session == "refused" => {
            Some((log.0.clone(), *encoding))
        }
        _ => None,
    })
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Expected {
    foldproof: u32,
    contract: u32,
    verdict: &'static str,
    rules: Vec<&'static str>,
    events: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    surface: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<Box<RawValue>>,
}

/// What the model derives from a log.
fn expected(log: &[u8], encoding: Encoding) -> Result<String, Failure> {
    let zstd = encoding == Encoding::Zstd;
    let check = if zstd { model::check_zstd } else { model::check };
    let report = check(log, Dialect::DshV0, Mode::Strict);
    let session = model::Session::restore(Dialect::DshV0, log, zstd).ok();
    let raw = |text: Option<String>| text.and_then(|text| RawValue::from_string(text).ok());
    let expected = Expected {
        foldproof: 1,
        contract: 1,
        verdict: report.verdict,
        rules: report.findings.iter().map(|finding| finding.rule).collect(),
        events: report.events,
        surface: raw(session.as_ref().map(model::Session::surface)),
        messages: raw(session.as_ref().map(model::Session::messages)),
        header: raw(session.as_ref().map(model::Session::header)),
        request: raw(session.as_ref().and_then(|session| session.request(None))),
    };
    let text = serde_json::to_string(&expected).map_err(|error| Failure::Told(error.to_string()))?;
    Ok(format!("{text}\n"))
}
