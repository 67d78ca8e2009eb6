//! `foldproof rules`.
use super::exit::{Exit, Failure};
use super::global::Global;

/// Arguments of `rules`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: &Args, _global: &Global) -> Result<Exit, Failure> {
    Ok(Exit::Clean)
}
