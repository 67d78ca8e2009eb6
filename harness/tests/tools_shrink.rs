//! `foldproof shrink`: what comes out is small, and broken in the same way.

#![cfg(feature = "cli")]

mod support;

use serde_json::Value;
use std::fs;
use support::*;

fn rules_of(folder: &Folder, log: &str) -> Vec<String> {
    let mut command = foldproof(&["check", log, "--format", "json", "--notes"]);
    command.current_dir(&folder.0);
    let report: Value = serde_json::from_str(&finish(command).out).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let mut rules: Vec<String> =
        findings.iter().map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect();
    rules.sort();
    rules.dedup();
    rules
}

/// Every broken log of the corpora: the rule in its name stays broken, no other comes in, and nothing grows.
#[test]
fn the_corpora() {
    let folder = Folder::new();
    let mut seen = 0;
    let mut entries: Vec<_> =
        fs::read_dir(corpora("rules")).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for (place, path) in entries.iter().enumerate() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some((rule, _)) = name.split_once(".violate-") else { continue };
        // A process for every log would take minutes; one of each few still has all rules among them.
        if !name.ends_with(".jsonl") || place % 4 != 0 {
            continue;
        }
        let log = path.to_str().unwrap();
        let before = fs::metadata(path).unwrap().len();
        let ran = run(&["shrink", log, "--rule", rule, "-o", &folder.path("small.jsonl"), "--force"]);
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
        let small = fs::metadata(folder.path("small.jsonl")).unwrap().len();
        assert!(small <= before, "{name}");
        assert_eq!(rules_of(&folder, "small.jsonl"), [rule], "{name}");
        seen += 1;
    }
    assert!(seen > 50, "{seen}");
}

/// One reference that is gone, in the middle of four thousand events.
#[test]
fn one_fault_in_a_long_log() {
    let folder = Folder::new();
    let text = folder.plain("long.jsonl", 4_000);
    let lines: Vec<&str> = text.lines().collect();
    // Behind the end of a turn in the middle, a replace of what never was on the surface: its own turn start.
    let end = (2_000..).find(|place| lines[*place].contains("\"type\":\"turn/end\"")).unwrap();
    // Line 0 is the header, so the line behind line `end` has the seq `end`.
    let fault = format!(
        r#"{{"type":"user/message","seq":{end},"time":0,"data":{{"id":"r","role":"user","content":[],"source":{{"kind":"user"}}}},"sourceEventSeqs":[0],"surfaceOp":{{"op":"replace","start":0,"end":0}}}}"#
    );
    // What follows counts on, so that nothing but the replace is wrong.
    let behind = (end + 1..lines.len()).map(|place| {
        lines[place].replacen(&format!("\"seq\":{},", place - 1), &format!("\"seq\":{place},"), 1)
    });
    let broken: Vec<String> =
        lines[..=end].iter().map(|line| (*line).to_owned()).chain([fault]).chain(behind).collect();
    folder.write("broken.jsonl", broken.join("\n") + "\n");
    let ran = run(&[
        "shrink",
        &folder.path("broken.jsonl"),
        "--rule",
        "SURF-5",
        "-o",
        &folder.path("small.jsonl.zstd"),
        "--format",
        "json",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&result["finished"], &result["rule"]), (&true.into(), &"SURF-5".into()));
    // The header, and the event; perhaps one that it names.
    assert!(result["to"]["lines"].as_u64().unwrap() <= 3, "{result}");
    assert_eq!(rules_of(&folder, "small.jsonl.zstd"), ["SURF-5"]);
}

#[test]
fn what_cannot_be_shrunk() {
    let folder = Folder::new();
    let good = folder.write("good.jsonl", good());
    let out = folder.path("out.jsonl");
    let ran = run(&["shrink", &good, "--rule", "SURF-5", "-o", &out]);
    assert!(ran.code == Some(2) && ran.err.contains("does not break SURF-5"), "{ran:?}");
    let open = folder.write("open.jsonl", log(&[TURN]));
    let ran = run(&["shrink", &open, "--rule", "SURF-5", "-o", &out]);
    assert!(ran.code == Some(2) && ran.err.contains("it breaks REPAIR-2"), "{ran:?}");
    let ran = run(&["shrink", &open, "--rule", "SURF-99", "-o", &out]);
    assert!(ran.code == Some(2) && ran.err.contains("foldproof rules"), "{ran:?}");
    assert_eq!(run(&["shrink", &open, "-o", &out]).code, Some(2));
    assert!(!std::path::Path::new(&out).exists());
    assert_eq!(
        run(&["shrink", &open, "--rule", "REPAIR-2", "-o", &good]).code,
        Some(2),
        "never written over"
    );
}

/// What only the frames break cannot be seen in the text, which is what gets smaller.
#[test]
fn a_rule_that_only_the_frames_break() {
    let folder = Folder::new();
    let one = zstd::encode_all(good().as_bytes(), 1).unwrap();
    let path = folder.write("one.jsonl.zstd", one);
    assert_eq!(rules_of(&folder, "one.jsonl.zstd"), ["CODEC-3"]);
    let ran = run(&["shrink", &path, "--rule", "CODEC-3", "-o", &folder.path("out.jsonl.zstd")]);
    assert!(ran.code == Some(2) && ran.err.contains("broken by how it is compressed"), "{ran:?}");
    assert!(!folder.0.join("out.jsonl.zstd").exists());
}

/// Turns in front of what is wrong go although turns are numbered: what stays counts on.
#[test]
fn turns_in_front_go() {
    let folder = Folder::new();
    let turns = |events: &[&str], turn: u64| -> Vec<String> {
        events.iter().map(|event| event.replace("\"turn\":1", &format!("\"turn\":{turn}"))).collect()
    };
    let mut events = vec![];
    for turn in 1..40 {
        events.extend(turns(&[TURN, STEP, STEP_END, TURN_END], turn));
    }
    // The step of the last turn ends twice (LIFE-2), so that a turn has to stay around it.
    events.extend(turns(&[TURN, STEP, STEP_END, STEP_END, TURN_END], 40));
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let path = folder.write("long.jsonl", log(&events));
    let ran =
        run(&["shrink", &path, "--rule", "LIFE-2", "-o", &folder.path("small.jsonl"), "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    // A step's end without a step: the header and that line, or with its turn around it.
    assert!(result["to"]["lines"].as_u64().unwrap() <= 4, "{result}");
    assert!(result["runs"].as_u64().unwrap() < 100, "{result}");
    assert_eq!(rules_of(&folder, "small.jsonl"), ["LIFE-2"]);
}

/// An open turn in a log with a header: the header stays, because without it the log would be of another dialect.
#[test]
fn the_dialect_stays() {
    let folder = Folder::new();
    let open = folder.write("open.jsonl", log(&[TURN, STEP, ASK, ANSWER, STEP_END]));
    assert_eq!(
        run(&["shrink", &open, "--rule", "REPAIR-2", "-o", &folder.path("small.jsonl")]).code,
        Some(0)
    );
    assert_eq!(folder.read("small.jsonl"), log(&[TURN]));
}

/// A case that cannot fail any more has nothing to be shrunk; one that ends its process is not shrunk here.
#[test]
fn cases() {
    let folder = Folder::new();
    let passes = fs::read_dir(corpora("rules"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_str().unwrap().ends_with(".case.json"))
        .unwrap();
    let ran = run(&["shrink", "--case", passes.to_str().unwrap(), "-o", &folder.path("small.case.json")]);
    assert!(ran.code == Some(2) && ran.err.contains("does not fail"), "{ran:?}");
}
