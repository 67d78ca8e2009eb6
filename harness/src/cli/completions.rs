//! `foldproof completions` and `foldproof man`: what shells and `man` want to know, made of the command definitions.

use super::Cli;
use super::exit::{Exit, Failure};
use super::global::Global;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::{self, Write};

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS)]
pub struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

const COMPLETIONS: &str = "\
Examples:
  foldproof completions bash > foldproof.bash
  foldproof completions zsh > _foldproof
  foldproof completions fish > foldproof.fish";

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
#[command(after_help = MAN)]
pub struct Page {
    /// A command, for its page instead of that of the program
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

const MAN: &str = "\
Examples:
  foldproof man > foldproof.1
  foldproof man check > foldproof-check.1
  foldproof man show | head -n 20";

/// Prints a completion script.
pub fn completions(args: &Completions, global: &Global) -> Result<Exit, Failure> {
    text_only(global, "a completion script is text for a shell")?;
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "foldproof", &mut script);
    print(&script)
}

/// Prints a manual page.
pub fn man(args: &Page, global: &Global) -> Result<Exit, Failure> {
    text_only(global, "a manual page is text for man")?;
    let mut program = Cli::command();
    // Options that every command takes get into its page only once the definitions are put together.
    program.build();
    let command = match &args.command {
        None => program,
        Some(name) => page_of(&program, name)?,
    };
    let mut page = vec![];
    Man::new(command).render(&mut page)?;
    print(&page)
}

fn page_of(program: &Command, name: &str) -> Result<Command, Failure> {
    let found = program.find_subcommand(name).cloned();
    found.ok_or_else(|| {
        let names: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        Failure::Told(format!("there is no command {name:?}; there are {}", names.join(", ")))
    })
}

fn text_only(global: &Global, what: &str) -> Result<(), Failure> {
    match global.json() {
        true => Err(Failure::Told(format!("{what}; there is no JSON form of it"))),
        false => Ok(()),
    }
}

fn print(bytes: &[u8]) -> Result<Exit, Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(Exit::Clean)
}
