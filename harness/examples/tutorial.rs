//! Replays a tutorial log: prints where turns, steps and tool calls begin and end, then the messages that a model
//! would be shown.
//!
//! `cargo run --example tutorial -- corpora/tutorial/kettle-price.jsonl`

use foldproof::check::{Input, Options, load};
use foldproof::dialect::{Role, tutorial};
use foldproof::projection::History;
use std::fs::File;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: tutorial LOG");
        return ExitCode::from(2);
    };
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    };
    let options = Options { dialect: Some(Arc::new(tutorial())), ..Options::default() };
    let loaded = match load(Input::Plain(Box::new(file)), &options, 0) {
        Ok(loaded) => loaded,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    };
    println!("{path}: {}, {} events", loaded.report.verdict(), loaded.report.events);
    for finding in &loaded.report.findings.list {
        println!("  line {}: {}: {}", finding.line, finding.rule, finding.message);
    }
    println!("execution:");
    let (mut turn, mut step) = (0, 0);
    for seq in 0..loaded.log.len() {
        match loaded.log.role(seq) {
            Role::TurnStart => {
                turn += 1;
                step = 0;
                println!("  {seq:4} turn {turn} starts");
            }
            Role::StepStart => {
                step += 1;
                println!("  {seq:4}   step {step} starts");
            }
            Role::Call => println!("  {seq:4}     a tool is called"),
            Role::StepEnd => println!("  {seq:4}   step {step} ends"),
            Role::TurnEnd => println!("  {seq:4} turn {turn} ends"),
            _ => {}
        }
    }
    println!("messages:");
    let history = History::new(&loaded.log, &loaded.admission);
    for (seq, message) in history.seqs().zip(history.iter()) {
        println!("  {seq:4} {}", String::from_utf8_lossy(message));
    }
    if loaded.report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
