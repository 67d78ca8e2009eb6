//! `foldproof merge`: the results of shards as one.

use super::exit::{Exit, Failure};
use super::global::Global;
use super::outputs;
use super::test::verdict;
use crate::merge;
use std::io::Write as _;
use std::path::PathBuf;

/// Arguments of `merge`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Results that `test --json` wrote
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<PathBuf>,
    /// Where the sum goes
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Overwrite OUT
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  foldproof merge shard-0.json shard-1.json -o result.json";

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let mut results = vec![];
    for path in &args.results {
        let told = |what: String| Failure::Told(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| told(error.to_string()))?;
        results.push(merge::read(&text).map_err(|error| told(error.to_string()))?);
    }
    let sum = merge::merge(results).map_err(|error| Failure::Told(error.to_string()))?;
    if args.output.exists() && !args.force {
        return Err(Failure::Told(format!(
            "{} is there already; --force overwrites it",
            args.output.display()
        )));
    }
    outputs::put(&args.output, &format!("{}\n", sum.to_json()))?;
    let mut out = std::io::stdout().lock();
    if global.json() {
        writeln!(out, "{}", sum.to_json())?;
    } else {
        writeln!(
            out,
            "{} cases, {} failures, shard {}/{}",
            sum.cases,
            sum.failures().count(),
            sum.shard.0,
            sum.shard.1
        )?;
    }
    Ok(verdict(&sum, false))
}
