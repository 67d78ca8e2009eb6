//! `foldproof import`: a real log as a case.

use super::exit::{Exit, Failure};
use super::global::Global;
use crate::corpus;
use crate::import::import;
use crate::runner::{self, Asked};
use crate::systems::Core;
use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// Arguments of `import`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A log, whole or broken (.jsonl, .jsonl.zstd, .zst), or - for stdin
    #[arg(value_name = "LOG")]
    pub log: PathBuf,
    /// Where the case is written
    #[arg(short, long, value_name = "CASE")]
    pub out: PathBuf,
    /// Writes over a file that is there
    #[arg(long)]
    pub force: bool,
}

const EXAMPLES: &str = "\
Examples:
  foldproof import session.jsonl -o session.case.json
  foldproof import torn.jsonl -o torn.case.json";

/// Runs the command. The case records what all properties say of it on the core: exit 1 when one is falsified.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let told =
        |path: &PathBuf, error: &dyn std::fmt::Display| Failure::Told(format!("{}: {error}", path.display()));
    let held = global.limits().held;
    let mut log = vec![];
    let source: Box<dyn Read> = if args.log.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(fs::File::open(&args.log).map_err(|error| told(&args.log, &error))?)
    };
    source.take(held.saturating_add(1)).read_to_end(&mut log).map_err(|error| told(&args.log, &error))?;
    if log.len() as u64 > held {
        return Err(told(&args.log, &format_args!("more than {held} bytes (--limit-held raises this)")));
    }
    let mut case = import(&log, global.dialect.0.as_ref().map(|dialect| dialect.name.as_str()));
    let judged = runner::run(&case, &mut Core, Asked::All);
    case.property = judged.violation.as_ref().map(|(property, _)| property.id.to_owned());
    case.outcome = Some(judged.recorded());
    corpus::write(&args.out, &case, args.force).map_err(|error| Failure::Told(error.to_string()))?;
    let mut out = io::stdout().lock();
    if global.json() {
        let path = serde_json::to_string(&args.out.display().to_string());
        let path = path.map_err(|error| Failure::Told(error.to_string()))?;
        let status = judged.recorded().status.name();
        writeln!(
            out,
            "{{\"foldproof\":1,\"case\":{path},\"ops\":{},\"status\":\"{status}\"}}",
            case.ops.len()
        )?;
    } else {
        let status = judged.recorded().status.name();
        writeln!(out, "{}: {} operations, {status}", args.out.display(), case.ops.len())?;
    }
    Ok(if judged.violation.is_some() { Exit::Findings } else { Exit::Clean })
}
