//! What other programs read: SARIF, JUnit, GitHub's workflow commands, shell completions, manual pages.
//!
//! `data/sarif-2.1.0.schema.json` is the schema that OASIS publishes for SARIF 2.1.0, as the crate serde-sarif 0.8.0 (MIT)
//! carries it.

#![cfg(feature = "cli")]

#[path = "support/stored.rs"]
mod stored;
mod support;

use junit_parser::TestStatus;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use stored::schema::fits;
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

/// Why a value is no SARIF 2.1.0.
fn sarif(value: &Value) -> Result<(), String> {
    let schema: Value = serde_json::from_str(include_str!("data/sarif-2.1.0.schema.json")).unwrap();
    fits(&schema, &schema, value)
}

/// A folder with a good log, one with a finding of each level, one whose name needs escapes, and one that is a limit.
fn folder_of_all() -> Folder {
    let folder = Folder::new();
    folder.write("logs/good.jsonl", good());
    folder.write("logs/50%, a:b <c> \u{e9}.jsonl", log(&[TURN, STEP, ASK, BAD_REPLACE]));
    folder.write("logs/open.jsonl", log(&[TURN]));
    folder.write("logs/relation.jsonl", good().replace("\"turn\":1", "\"turn\":2"));
    folder.write("logs/spelled.jsonl", good().replace("\"Hi\"", "\"\\u0048i\""));
    folder.write("logs/future.jsonl", good().replace("\"version\":0", "\"version\":4"));
    folder.write("logs/damaged.jsonl", good().replacen("\"Ho\"", "\"\0\"", 1));
    folder.write("logs/long.jsonl", log(&[&TURN.replace('1', &"1".repeat(4000))]));
    folder
}

#[test]
fn sarif_is_what_its_schema_says() {
    let folder = folder_of_all();
    let read = |name: &str| -> Value { serde_json::from_str(&folder.read(name)).unwrap() };
    let out = folder.path("check.sarif");
    let ran = run(&["check", &folder.path("logs"), "--notes", "--limit-line", "2000", "--sarif", &out]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let checked = read("check.sarif");
    assert_eq!(sarif(&checked), Ok(()));
    let results = checked["runs"][0]["results"].as_array().unwrap();
    let levels: std::collections::BTreeSet<&str> =
        results.iter().map(|result| result["level"].as_str().unwrap()).collect();
    assert_eq!(levels.into_iter().collect::<Vec<_>>(), ["error", "note", "warning"]);
    assert_eq!(
        checked["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().len(),
        1
    );
    // `explain` gives the findings of one log in the same shape.
    for name in ["50%, a:b <c> \u{e9}.jsonl", "good.jsonl", "damaged.jsonl"] {
        let ran =
            run(&["explain", &folder.path(&format!("logs/{name}")), "--sarif", &folder.path("one.sarif")]);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        let one = read("one.sarif");
        assert_eq!(sarif(&one), Ok(()));
        let of = |result: &&Value| {
            let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
            uri.ends_with(
                &name.replace('%', "%25").replace(", a:b <c> \u{e9}", "%2C%20a%3Ab%20%3Cc%3E%20%C3%A9"),
            )
        };
        let same: Vec<(&Value, &Value)> =
            results.iter().filter(of).map(|all| (&all["ruleId"], &all["locations"])).collect();
        let found = one["runs"][0]["results"].as_array().unwrap();
        assert_eq!(found.iter().map(|one| (&one["ruleId"], &one["locations"])).collect::<Vec<_>>(), same);
    }
    let unread = run(&["explain", &folder.path("logs/long.jsonl"), "--limit-line", "2000", "--sarif", &out]);
    assert_eq!(unread.code, Some(2), "{unread:?}");
    assert_eq!(sarif(&read("check.sarif")), Ok(()));
    assert_eq!(read("check.sarif")["runs"][0]["invocations"][0]["executionSuccessful"], false);
}

/// The validator sees what is wrong: one fault of each kind that the schema can name.
#[test]
fn what_is_no_sarif() {
    let folder = folder_of_all();
    let out = folder.path("out.sarif");
    run(&["check", &folder.path("logs"), "--sarif", &out]);
    let right: Value = serde_json::from_str(&folder.read("out.sarif")).unwrap();
    for (pointer, wrong) in [
        ("/version", json!("2.0.0")),
        ("/runs", json!({})),
        ("/runs/0/columnKind", json!("bytes")),
        ("/runs/0/results/0/level", json!("fatal")),
        ("/runs/0/results/0/ruleIndex", json!(-2)),
        ("/runs/0/results/0/message", json!({})),
        ("/runs/0/results/0/message", json!("text")),
        ("/runs/0/results/0/locations/0/physicalLocation/region/startLine", json!(0)),
        ("/runs/0/results/0/locations/0/physicalLocation/region/startLine", json!(1.5)),
        ("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", json!("a b.jsonl")),
        ("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", json!("a%2.jsonl")),
        ("/runs/0/results/0/partialFingerprints/ruleAndSeq~1v1", json!(7)),
        ("/runs/0/tool/driver", json!({ "version": "1" })),
        ("/runs/0/tool", json!({ "driver": { "name": "foldproof", "colour": "red" } })),
        ("/runs/0/invocations/0/toolExecutionNotifications", json!([{ "level": "error" }])),
        ("/runs/0/tool/driver/rules", json!([{ "id": "A-1" }, { "id": "A-1" }])),
    ] {
        let mut broken = right.clone();
        *broken.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is not there")) = wrong.clone();
        assert!(sarif(&broken).is_err(), "{pointer}: {wrong}");
    }
}

#[test]
fn junit_is_read_by_another_program() {
    let folder = folder_of_all();
    let read = |name: &str| junit_parser::from_reader(folder.read(name).as_bytes()).unwrap();
    let out = folder.path("check.xml");
    let ran = run(&["check", &folder.path("logs"), "--limit-line", "2000", "--junit", &out]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let [suite] = &read("check.xml").suites[..] else { panic!("one suite") };
    // Of eight logs two are fine, one could not be read, and the others fail.
    assert_eq!((suite.tests, suite.failures, suite.errors), (8, 5, 1));
    let case = |name: &str| {
        let path = folder.path(&format!("logs/{name}"));
        suite.cases.iter().find(|case| case.original_name == path).unwrap_or_else(|| panic!("{name}"))
    };
    assert!(case("good.jsonl").status.is_success() && case("spelled.jsonl").status.is_success());
    assert!(
        matches!(&case("long.jsonl").status, TestStatus::Error(error) if error.message.contains("--limit-line"))
    );
    let TestStatus::Failure(failure) = &case("50%, a:b <c> \u{e9}.jsonl").status else { panic!("it fails") };
    assert!(failure.failure_type == "reject" && failure.message.starts_with("[SURF-5]"), "{failure:?}");
    // This reader takes a text apart at its entities; the name, an attribute, came through whole.
    assert!(failure.text.contains(".jsonl:5:170: [SURF-5] "), "{failure:?}");
    for (name, passes) in [("good.jsonl", true), ("open.jsonl", false)] {
        run(&["explain", &folder.path(&format!("logs/{name}")), "--junit", &out]);
        let [suite] = &read("check.xml").suites[..] else { panic!("one suite") };
        assert_eq!((suite.name.as_str(), suite.tests), ("foldproof explain", 1));
        assert_eq!(suite.cases[0].status.is_success(), passes, "{name}");
    }
}

#[test]
fn explain_annotates_as_check_does() {
    let folder = folder_of_all();
    for name in ["50%, a:b <c> \u{e9}.jsonl", "open.jsonl", "relation.jsonl", "good.jsonl"] {
        let path = folder.path(&format!("logs/{name}"));
        let [checked, explained] = ["check", "explain"].map(|command| {
            let ran = run(&[command, &path, "--github"]);
            ran.out.lines().filter_map(self::command).collect::<Vec<_>>()
        });
        assert_eq!(checked, explained, "{name}");
        assert_eq!(explained.is_empty(), name == "good.jsonl");
    }
    // With JSON on stdout the commands are on stderr; a log is not written over by a slip of the command line.
    let open = folder.path("logs/open.jsonl");
    let both = run(&["explain", &open, "--github", "--format", "json"]);
    serde_json::from_str::<Value>(&both.out).expect("stdout is JSON");
    assert_eq!(both.err.lines().filter_map(command).count(), 1, "{both:?}");
    assert_eq!(run(&["explain", &open, "--junit", &open]).code, Some(2));
    assert_eq!(folder.read("logs/open.jsonl"), log(&[TURN]));
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
