//! The `foldproof` program: parses the command line, calls the library, prints.
//!
//! A command is one module with a type `Args` and a function `run`; adding one is a variant of [`Command`] and an arm
//! of its `run`. Names, exit codes and JSON shapes are stable, because the CI of others depends on them.

mod advice;
pub mod alone;
pub mod check;
pub mod child;
pub mod completions;
pub mod convert;
pub mod diff;
pub mod elsewhere;
pub mod exit;
pub mod explain;
pub mod families;
pub mod fork;
pub mod generate;
pub mod github;
pub mod global;
pub mod header;
pub mod import;
pub mod interrupt;
pub mod json;
pub mod junit;
pub mod merge;
pub mod output;
pub mod outputs;
pub mod paint;
pub mod progress;
mod recovered;
pub mod redact;
pub mod render;
pub mod repair;
pub mod replay;
pub mod report;
pub mod rules;
pub mod salvage;
pub mod sarif;
pub mod select;
pub mod shell;
pub mod show;
pub mod shrink;
pub mod source;
pub mod stored;
pub mod summary;
pub mod tally;
pub mod test;
pub mod text;
pub mod timeline;
pub mod twice;
pub mod walk;

use clap::{Parser, Subcommand};
use exit::{Exit, Failure};
use global::Global;
use std::process::ExitCode;

/// Proves that an agent's log can retell every request.
#[derive(Debug, Parser)]
#[command(name = "foldproof", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = EXITS)]
pub struct Cli {
    /// Options that every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the exit codes mean, for the help.
const EXITS: &str = "\
Exit codes:
    0  nothing to report
    1  findings: a violated rule, a falsified property, a difference
    2  usage or input/output error
    3  inconclusive: nothing could be checked
  130  interrupted; what was found until then is reported";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Checks logs against every rule of the contract
    Check(check::Args),
    /// Prints what a log derives to, at any point of its history
    Show(show::Args),
    /// Says why a log does not open, and what can be done
    Explain(explain::Args),
    /// Recovers a log that was cut off; with --salvage takes what can be read of a damaged one
    Repair(repair::Args),
    /// Forks a log: its events up to a boundary, as a session of its own
    Fork(child::Args),
    /// Writes a log anew: canonical lines, packed or not, compressed or not
    Convert(convert::Args),
    /// Finds where two logs part, and what of the prompt can be used again
    Diff(diff::Args),
    /// Replaces all that a log says and keeps what is wrong with it
    Redact(redact::Args),
    /// Makes the smallest log that still breaks a rule, or the smallest case that still fails
    Shrink(shrink::Args),
    /// Runs a property campaign on a system: the main job
    Test(test::Args),
    /// Writes generated logs, each with what it must derive to, or one large log
    Gen(generate::Args),
    /// Adds up the results of shards
    Merge(merge::Args),
    /// Runs saved cases again, and says whether they do what they did
    Replay(replay::Args),
    /// Makes a case of a real log, whole or broken
    Import(import::Args),
    /// Lists the rules of the contract, or explains one
    Rules(rules::Args),
    /// Prints a completion script for a shell
    Completions(completions::Completions),
    /// Prints a manual page
    Man(completions::Page),
}

impl Command {
    fn run(&self, global: &Global) -> Result<Exit, Failure> {
        match self {
            Command::Check(args) => check::run(args, global),
            Command::Show(args) => show::run(args, global),
            Command::Explain(args) => stored::stoppable(explain::run(args, global)),
            Command::Repair(args) => stored::stoppable(repair::run(args, global)),
            Command::Fork(args) => stored::stoppable(child::run(args, global)),
            Command::Convert(args) => stored::stoppable(convert::run(args, global)),
            Command::Diff(args) => stored::stoppable(diff::run(args, global)),
            Command::Redact(args) => stored::stoppable(redact::run(args, global)),
            Command::Shrink(args) => stored::stoppable(shrink::run(args, global)),
            Command::Test(args) => test::run(args, global),
            Command::Gen(args) => generate::run(args, global),
            Command::Merge(args) => merge::run(args, global),
            Command::Replay(args) => replay::run(args, global),
            Command::Import(args) => import::run(args, global),
            Command::Rules(args) => rules::run(args, global),
            Command::Completions(args) => completions::completions(args, global),
            Command::Man(args) => completions::man(args, global),
        }
    }
}

/// Runs the program on the process's arguments.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers on stdout; a reader that went away does not make them an error.
            let _ = error.print();
            let code = if error.use_stderr() { Exit::Failed } else { Exit::Clean };
            return code.into();
        }
    };
    match cli.command.run(&cli.global) {
        Ok(exit) => exit.into(),
        Err(Failure::Closed) => Exit::Clean.into(),
        Err(failure) => {
            exit::say(format_args!("error: {failure}"));
            Exit::Failed.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }
}
