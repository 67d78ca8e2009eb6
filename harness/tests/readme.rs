//! What the README shows is what happens: every command of its console blocks runs from the top of the repository, and
//! output that is shown is compared. A line `…` stands for any number of lines.

#![cfg(feature = "cli")]

use std::path::Path;
use std::process::{Command, Stdio};

/// The commands that set everything up on a fresh machine. They are what CI starts with and are not run again here.
const SET_UP: [&str; 2] = ["cargo run --release -- test", "cargo test --workspace"];

/// A command of a console block, and what is shown below it.
struct Shown<'a> {
    command: &'a str,
    output: Vec<&'a str>,
}

fn shown(readme: &str) -> Vec<Shown<'_>> {
    let mut commands: Vec<Shown<'_>> = vec![];
    let mut inside = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            commands.push(Shown { command, output: vec![] });
        } else if inside {
            commands.last_mut().expect("a console block starts with a command").output.push(line);
        }
    }
    commands
}

/// Whether lines are those that are shown, where `…` is shown for what was left out.
fn matches(shown: &[&str], lines: &[&str]) -> bool {
    match shown {
        [] => lines.is_empty(),
        ["…", rest @ ..] => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        [first, rest @ ..] => lines.first() == Some(first) && matches(rest, &lines[1..]),
    }
}

fn run(command: &str) -> (Option<i32>, String) {
    let command = command.replace("cargo run --release -- ", "foldproof ");
    assert!(command.starts_with("foldproof "), "{command}: only the program is run here");
    let program = Path::new(env!("CARGO_BIN_EXE_foldproof"));
    let known = std::env::var_os("PATH").unwrap();
    let folders = std::iter::once(program.parent().unwrap().to_owned()).chain(std::env::split_paths(&known));
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .env("PATH", std::env::join_paths(folders).unwrap())
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn every_command_does_what_is_shown() {
    let readme = include_str!("../../README.md");
    let commands = shown(readme);
    for command in SET_UP {
        assert!(commands.iter().any(|shown| shown.command == command), "{command} sets everything up");
    }
    let mut ran = 0;
    for Shown { command, output } in commands {
        // Tools of the development cycle stand in blocks of their own.
        if SET_UP.contains(&command) || !(command.contains("foldproof ") || command.contains("cargo run ")) {
            continue;
        }
        let (code, text) = run(command);
        assert!(matches!(code, Some(0 | 1)), "{command}: exit {code:?}\n{text}");
        let lines: Vec<&str> = text.lines().collect();
        assert!(output.is_empty() || matches(&output, &lines), "{command} prints\n{text}");
        ran += 1;
    }
    assert!(ran >= 8, "{ran} commands ran");
}
