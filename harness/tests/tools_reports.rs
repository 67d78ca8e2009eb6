//! What other programs read: GitHub's workflow commands, shell completions, manual pages.

#![cfg(feature = "cli")]

mod support;

use std::collections::BTreeMap;
use support::*;

/// A workflow command taken apart by GitHub's grammar: `::NAME KEY=VALUE,…::MESSAGE`, `%` with two digits for what
/// separates.
fn command(line: &str) -> Option<(String, BTreeMap<String, String>, String)> {
    let (head, message) = line.strip_prefix("::")?.split_once("::")?;
    let (name, properties) = head.split_once(' ')?;
    let plain = |text: &str| {
        text.replace("%0A", "\n")
            .replace("%0D", "\r")
            .replace("%3A", ":")
            .replace("%2C", ",")
            .replace("%25", "%")
    };
    let properties = properties
        .split(',')
        .map(|pair| pair.split_once('=').map(|(key, value)| (key.to_owned(), plain(value))))
        .collect::<Option<_>>()?;
    Some((name.to_owned(), properties, plain(message)))
}

#[test]
fn findings_as_workflow_commands() {
    let folder = Folder::new();
    let path = folder.write("50%, a:b.jsonl", log(&[TURN, STEP, ASK, BAD_REPLACE]));
    let ran = run(&["check", &path, "--github"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let commands: Vec<_> = ran.out.lines().filter_map(command).collect();
    let [(name, properties, message)] = &commands[..] else { panic!("{ran:?}") };
    assert_eq!((name.as_str(), properties["file"].as_str()), ("error", path.as_str()));
    assert_eq!((properties["line"].as_str(), properties["title"].as_str()), ("5", "SURF-5 (reject)"));
    assert!(!message.is_empty());
    // With JSON on stdout the commands are on stderr, where a runner reads them as well.
    let both = run(&["check", &path, "--github", "--format", "json"]);
    serde_json::from_str::<serde_json::Value>(&both.out).expect("stdout is JSON");
    assert_eq!(both.err.lines().filter_map(command).count(), 1, "{both:?}");
    // An open turn is a warning, and a notice where it is allowed.
    let open = folder.write("open.jsonl", log(&[TURN]));
    for (more, name) in [(&[][..], "warning"), (&["--allow", "repairable"], "notice")] {
        let ran = run(&[&["check", &open, "--github"], more].concat());
        assert_eq!(ran.out.lines().filter_map(command).map(|one| one.0).collect::<Vec<_>>(), [name]);
    }
}

#[test]
fn completions_and_pages_know_every_command() {
    let help = run(&["--help"]).out;
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.len() >= 10, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&["completions", shell]);
        assert_eq!(script.code, Some(0));
        let missing: Vec<&&str> = commands.iter().filter(|command| !script.out.contains(**command)).collect();
        assert!(missing.is_empty(), "{shell} does not know {missing:?}");
    }
    let page = run(&["man"]).out;
    assert!(page.contains(".TH foldproof 1") && page.contains(".SH SYNOPSIS"), "{page}");
    for command in commands {
        let page = run(&["man", command]);
        assert!(page.code == Some(0) && page.out.contains(".TH foldproof-"), "{command}: {page:?}");
    }
    let unknown = run(&["man", "nothing"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("nothing"), "{unknown:?}");
}
