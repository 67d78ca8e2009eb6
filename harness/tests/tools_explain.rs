//! `foldproof explain`: every kind of damage has its own words, and the commands that it names do what they say.

#![cfg(feature = "cli")]

#[path = "support/damaged.rs"]
mod damaged;
#[path = "support/stored.rs"]
mod stored;
mod support;

use damaged::{Sample, damaged};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use stored::conforms;
use support::*;

#[test]
fn every_case_is_told_apart() {
    let folder = Folder::new();
    for Sample { name, bytes, case, code, safe, .. } in damaged() {
        let path = folder.write(name, bytes);
        let ran = run(&["explain", &path, "--format", "json"]);
        let shape: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{name}: {ran:?}"));
        conforms("explain", &shape);
        assert_eq!((&shape["case"], ran.code), (&case.into(), Some(code)), "{name}: {shape:#}");
        let events = shape["safe"].get("events").and_then(Value::as_u64);
        assert_eq!(events, safe, "{name}: {shape:#}");
        assert_eq!((ran.err.as_str(), ran.out.lines().count()), ("", 1), "{name}");
        let human = run(&["explain", &path]);
        assert_eq!((human.code, human.err.as_str()), (Some(code), ""), "{name}");
        let lines: Vec<&str> = human.out.lines().collect();
        assert!(lines.len() <= 40, "{name}: one screen\n{}", human.out);
        let command = |line: &&&str| line.starts_with("  foldproof") || line.contains("&&");
        let prose: Vec<_> = lines.iter().filter(|line| !command(line)).collect();
        assert!(prose.iter().all(|line| line.chars().count() <= 120), "{name}\n{}", human.out);
        assert!(!human.out.contains('\x1b'), "{name}: colours are for terminals");
        if case != "healthy" && case != "tutorial" {
            assert!(!shape["next"].as_array().unwrap().is_empty(), "{name}: there is a way out");
        }
    }
}

#[test]
fn the_commands_that_are_named_work() {
    let program = Path::new(env!("CARGO_BIN_EXE_foldproof")).parent().unwrap().to_owned();
    let known = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(std::iter::once(program).chain(std::env::split_paths(&known))).unwrap();
    let mut ran = 0;
    for Sample { name, bytes, case, .. } in damaged() {
        let folder = Folder::new();
        folder.write(name, bytes);
        let mut explain = foldproof(&["explain", name, "--format", "json"]);
        explain.current_dir(&folder.0);
        let shape: Value = serde_json::from_str(&finish(explain).out).unwrap();
        for step in shape["next"].as_array().unwrap() {
            let Some(command) = step["command"].as_str() else { continue };
            // Tools that a machine may lack are not needed to run the tests.
            if ["zstd ", "file ", "iconv "].iter().any(|tool| command.contains(tool)) {
                continue;
            }
            let output = Command::new("sh")
                .args(["-c", command])
                .current_dir(&folder.0)
                .env("PATH", &path)
                .output()
                .unwrap();
            // `check` and `show` may find something; what writes a file must have written it.
            let found = matches!(output.status.code(), Some(0 | 1));
            let writes = command.contains(" -o ") || command.contains("--in-place");
            let fine = if writes { output.status.success() } else { found };
            assert!(fine, "{name} ({case}): {command}\n{output:?}");
            ran += 1;
        }
    }
    assert!(ran > 40, "{ran} commands ran");
}

#[test]
fn who_opens_it_and_what_was_promised() {
    let folder = Folder::new();
    let told = |name: &str, text: String| -> Value {
        let path = folder.write(name, text);
        serde_json::from_str(&run(&["explain", &path, "--format", "json"]).out).unwrap()
    };
    // A turn that ended at event 6 was promised; what follows was not.
    let whole = good() + "{\"type\":\"turn/start\",\"seq\":7,\"time\":1,\"data\":{\"turn\":2}}\n";
    let torn = told("torn.jsonl", whole.clone() + "{");
    assert_eq!((&torn["safe"]["events"], &torn["safe"]["finishedTurnEnd"]), (&8.into(), &6.into()));
    assert_eq!(torn["safe"]["bytes"], whole.len());
    assert_eq!(torn["reader"]["provider"]["opens"], true);
    // JSON-3 is ours alone, LIFE-1 is the live session's, SURF-5 already the file's.
    let number =
        told("a.jsonl", log(&[r#"{"type":"session/title","data":{"title":1.0000000000000000001}}"#]));
    assert_eq!((&number["case"], &number["reader"]["publish"]["opens"]), (&"rejected".into(), &true.into()));
    let turn = told("b.jsonl", good().replace("\"turn\":1", "\"turn\":2"));
    let reader = &turn["reader"];
    assert_eq!((&reader["provider"]["opens"], &reader["publish"]["opens"]), (&true.into(), &false.into()));
    let replace = told("c.jsonl", log(&[TURN, STEP, ASK, BAD_REPLACE]));
    assert_eq!(replace["reader"]["provider"]["finding"]["rule"], "SURF-5");
    let stdin = pipe(&["explain", "-"], good().as_bytes());
    assert!(stdin.code == Some(0) && stdin.out.contains("<stdin>"), "{stdin:?}");
    assert_eq!(run(&["explain", &folder.path("none.jsonl")]).code, Some(2));
    assert_eq!(run(&["explain", folder.0.to_str().unwrap()]).code, Some(2));
}
