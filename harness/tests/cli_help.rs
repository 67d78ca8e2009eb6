//! `foldproof rules`, and every example that a `--help` gives, really run.

#![cfg(feature = "cli")]

mod support;

use std::process::Command;
use support::*;

#[test]
fn examples_of_the_help_run() {
    let folder = Folder::new();
    folder.write("session.jsonl", std::fs::read(corpora("sessions/tool-steps.jsonl")).unwrap());
    folder.write("torn.jsonl", std::fs::read(corpora("sessions/torn-inside-a-turn.jsonl")).unwrap());
    folder.write("damaged.jsonl", log(&[TURN, STEP, ASK, BAD_REPLACE, STEP_END, TURN_END]));
    folder.write("logs/a.jsonl", good());
    folder.write("logs/b.jsonl", log(&[TURN]));
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_foldproof"));
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let help = run(&["--help"]);
    let commands: Vec<&str> = help
        .out
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.contains(&"check") && commands.contains(&"show") && commands.contains(&"rules"));
    // Other commands bring their examples, and files that those need, with tests of their own.
    for command in [
        "check",
        "show",
        "rules",
        "explain",
        "repair",
        "fork",
        "convert",
        "diff",
        "redact",
        "completions",
        "man",
    ] {
        let help = run(&[command, "--help"]);
        let examples: Vec<&str> = help
            .out
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .filter(|line| line.starts_with("foldproof "))
            .collect();
        assert!(examples.len() >= 3, "{command} has examples");
        for example in examples {
            let output = Command::new("sh")
                .args(["-c", example])
                .current_dir(&folder.0)
                .env("PATH", &path)
                .output()
                .unwrap();
            let code = output.status.code();
            assert!(code == Some(0) || code == Some(1), "{example}: {output:?}");
            // What is not shown went to a file.
            let file = example.split_once(" > ").map(|(_, name)| std::fs::read(folder.path(name)).unwrap());
            assert!(!file.unwrap_or(output.stdout).is_empty(), "{example}");
        }
    }
}

#[test]
fn all_rules() {
    let table = run(&["rules"]);
    assert_eq!(table.code, Some(0));
    let json: serde_json::Value = serde_json::from_str(&run(&["rules", "--format", "json"]).out).unwrap();
    assert_eq!(json["foldproof"], 1);
    let rules = json["rules"].as_array().unwrap();
    assert_eq!(table.out.lines().count(), rules.len() + 1);
    let by_id = |id: &str| rules.iter().find(|rule| rule["id"] == id).unwrap();
    assert_eq!(by_id("SURF-5")["class"], "reject");
    assert_eq!(by_id("SURF-5")["kind"], "input");
    assert_eq!(by_id("PROJ-1")["kind"], "behaviour");
    // Section 16 of the contract.
    assert_eq!(by_id("SURF-5")["stages"]["dsh-v0"], "provider");
    assert_eq!(by_id("LIFE-1")["stages"]["dsh-v0"], "publish");
    assert_eq!(by_id("COMP-1")["stages"]["dsh-v0"], "elsewhere");
    assert_eq!(by_id("JSON-3")["stages"]["dsh-v0"], "ours");
    assert!(by_id("PAIR-1")["stages"].get("tutorial").is_none(), "PAIR does not apply there");
}

#[test]
fn one_rule_explained() {
    let ran = run(&["rules", "surf-5"]);
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.out.contains("accepted: SURF-5.accept-") && ran.out.contains("violates it: SURF-5.violate-"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("error[SURF-5]"), "{}", ran.out);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 110), "{}", ran.out);
    assert!(run(&["rules", "PROJ-2"]).out.contains("No file can show this rule."));
    let area = run(&["rules", "COMP"]);
    assert!((1..=5).all(|number| area.out.contains(&format!("COMP-{number}: "))));
    let unknown = run(&["rules", "SURF-99"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("SURF-99"), "{unknown:?}");
    // Examples come with the program: it needs no checkout.
    let folder = Folder::new();
    let mut command = foldproof(&["rules", "STORE-4"]);
    command.current_dir(&folder.0);
    assert!(finish(command).out.contains("STORE-4.violate-"));
}
