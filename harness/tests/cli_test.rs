//! `foldproof test`, `gen` and `merge` as a person or a CI runs them.

#![cfg(feature = "cli")]

mod support;

use serde_json::Value;
use std::fs;
use support::*;

/// Runs in a folder, where in-flight files and the corpus go.
fn at(folder: &Folder, args: &[&str]) -> Ran {
    let mut command = foldproof(args);
    command.current_dir(&folder.0);
    finish(command)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_same_bytes_for_any_jobs_and_for_merged_shards() {
    let folder = Folder::new();
    let campaign = |more: &[&str], file: &str| {
        let args = [&["test", "--cases", "600", "--seed", "2a", "--json", file], more].concat();
        let ran = at(&folder, &args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.err.starts_with("seed 000000000000002a\n"), "the seed comes first: {}", ran.err);
        fs::read_to_string(folder.path(file)).unwrap()
    };
    let one = campaign(&["--jobs", "1"], "one.json");
    assert_eq!(one, campaign(&["--jobs", "2"], "two.json"));
    let halves = [campaign(&["--shard", "0/2"], "a.json"), campaign(&["--shard", "1/2"], "b.json")];
    assert!(halves.iter().all(|half| *half != one));
    let merged = at(&folder, &["merge", "b.json", "a.json", "-o", "merged.json"]);
    assert_eq!(merged.code, Some(0), "{merged:?}");
    assert_eq!(fs::read_to_string(folder.path("merged.json")).unwrap(), one);
    // The shape that others read.
    let result = json(&one);
    assert_eq!(
        (&result["foldproof"], &result["contract"], &result["seed"]),
        (&1.into(), &1.into(), &"000000000000002a".into())
    );
    assert_eq!(
        (&result["cases"], &result["stopped"], &result["dialect"]),
        (&600.into(), &"cases".into(), &"dsh-v0".into())
    );
    assert_eq!(result["system"]["name"], "core");
    assert_eq!(result["shard"], json("[0,1]"));
    // A property that is asked for one case in many may not have had a chance yet.
    let status = |property: &Value| property["status"] == "passed" || property["status"] == "skipped";
    assert!(result["properties"].as_array().unwrap().iter().all(status), "{one}");
    assert!(result["properties"][0]["status"] == "passed" && result["properties"][0]["cases"] == 600);
    assert!(result["labels"]["replace"].as_u64().unwrap() > 0);
}

#[test]
fn a_time_ends_behind_a_block_and_can_be_told_in_cases() {
    let folder = Folder::new();
    let timed = at(&folder, &["test", "--time", "100ms", "--seed", "7", "--format", "json"]);
    assert_eq!(timed.code, Some(0), "{timed:?}");
    let mut timed = json(&timed.out);
    let cases = timed["cases"].as_u64().unwrap();
    assert!(cases > 0 && cases.is_multiple_of(256));
    let again = at(&folder, &["test", "--cases", &cases.to_string(), "--seed", "7", "--format", "json"]);
    let mut again = json(&again.out);
    assert_eq!((&timed["stopped"], &again["stopped"]), (&"time".into(), &"cases".into()));
    for result in [&mut timed, &mut again] {
        result.as_object_mut().unwrap().retain(|name, _| name != "options" && name != "stopped");
    }
    assert_eq!(timed, again);
}

#[test]
fn what_is_asked_for_and_what_there_is() {
    let folder = Folder::new();
    let list = at(&folder, &["test", "--list"]);
    assert!(list.out.contains("cached-equals-fresh") && list.out.contains("labels: "), "{list:?}");
    let list = json(&at(&folder, &["test", "--list", "--format", "json"]).out);
    assert_eq!(list["properties"].as_array().unwrap().len(), foldproof_harness::properties::TABLE.len());
    let some =
        at(&folder, &["test", "--cases", "40", "--seed", "1", "--property", "repair-*", "--format", "json"]);
    let asked: Vec<String> = json(&some.out)["properties"]
        .as_array()
        .unwrap()
        .iter()
        .map(|property| property["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(asked, ["repair-balances", "repair-idempotent"]);
    for (args, says) in [
        (&["test", "--property", "nothing-like-it"][..], "--list"),
        (&["test", "--seed", "xyz"], "hexadecimal"),
        (&["test", "--shard", "2/2"], "counted from 0"),
        (&["test", "--time", "soon"], "30s"),
        (&["test", "--max-size", "999999999999"], "10000"),
        (&["test", "--cases", "1", "--json", "no/such/folder/r.json"], "no such folder"),
        (&["test", "--cases", "1", "--from", "missing.jsonl"], "missing.jsonl"),
    ] {
        let ran = at(&folder, args);
        assert!(ran.code == Some(2) && ran.err.contains(says), "{args:?}: {ran:?}");
    }
    // Nothing ran, so nothing is known.
    assert_eq!(at(&folder, &["test", "--cases", "0", "--seed", "1"]).code, Some(3));
}

#[test]
fn real_logs_are_where_a_campaign_begins() {
    let folder = Folder::new();
    let session = corpora("sessions/tool-steps.jsonl");
    let ran = at(&folder, &["test", "--from", &session, "--cases", "20", "--seed", "1", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(json(&ran.out)["options"].to_string().contains("from"), "{}", ran.out);
}

/// A process that ends without a word leaves a file; the next campaign finds the case that did it, makes it small and
/// saves it, and replays it from then on without ending itself.
#[cfg(unix)]
#[test]
fn a_campaign_survives_the_end_of_its_process() {
    let folder = Folder::new();
    let first =
        at(&folder, &["test", "--system", "abrupt", "--cases", "256", "--seed", "1", "--corpus", "saved"]);
    assert_eq!(first.code, None, "the process was ended: {first:?}");
    let left = || fs::read_dir(folder.path(".foldproof")).unwrap().count();
    assert_eq!(left(), 1);
    let second = at(&folder, &["test", "--cases", "16", "--seed", "2", "--corpus", "saved"]);
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(second.err.contains("ended inside cases 0..256 of seed 0000000000000001"), "{}", second.err);
    assert_eq!(left(), 0);
    let saved: Vec<String> = fs::read_dir(folder.path("saved"))
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .collect();
    let [saved] = &saved[..] else { panic!("{saved:?}") };
    // Every session is forked when all properties are asked, so one that is opened is enough.
    let case = json(&fs::read_to_string(saved).unwrap());
    assert_eq!(case["ops"].as_array().unwrap().len(), 1, "{case}");
    assert_eq!((&case["property"], &case["system"]), (&"system-answers".into(), &"abrupt".into()));
    let replayed = at(&folder, &["replay", saved]);
    assert!(replayed.code == Some(0) && replayed.out.contains("same outcome as recorded"), "{replayed:?}");
    // On a system that survives it, it is another outcome.
    assert_eq!(at(&folder, &["replay", saved, "--system", "core"]).code, Some(1));
}

#[test]
fn generated_logs_derive_to_what_is_written_beside_them() {
    let folder = Folder::new();
    assert_eq!(at(&folder, &["gen", "-o", "logs", "--cases", "12", "--seed", "2a"]).code, Some(0));
    assert_eq!(
        at(&folder, &["gen", "-o", "broken", "--cases", "12", "--seed", "2a", "--invalid"]).code,
        Some(0)
    );
    for (name, code) in [("logs", 0), ("broken", 1)] {
        let mut logs = 0;
        for entry in fs::read_dir(folder.path(name)).unwrap() {
            let path = entry.unwrap().path();
            let path = path.to_str().unwrap();
            let Some(stem) = path.strip_suffix(".jsonl").or_else(|| path.strip_suffix(".jsonl.zstd")) else {
                continue;
            };
            logs += 1;
            let expected = json(&fs::read_to_string(format!("{stem}.expect.json")).unwrap());
            let ran = at(&folder, &["check", path, "--format", "json", "--allow", "repairable"]);
            let report = json(&ran.out);
            assert_eq!(report["verdict"], expected["verdict"], "{path}: {}", ran.out);
            assert_eq!(report["events"], expected["events"], "{path}");
            if code == 0 {
                assert_eq!(ran.code, Some(0), "{ran:?}");
                let shown = at(&folder, &["show", path, "--as", "messages"]).out;
                assert_eq!(json(&shown), expected["messages"], "{path}");
            }
        }
        assert_eq!(logs, 12);
    }
    // The same seed writes the same files, and never over others.
    let again = at(&folder, &["gen", "-o", "logs", "--cases", "12", "--seed", "2a"]);
    assert!(again.code == Some(2) && again.err.contains("--force"), "{again:?}");
}

#[test]
fn one_large_log_of_each_shape() {
    let folder = Folder::new();
    for shape in ["plain", "packed", "prune", "compact", "scatter", "collapse"] {
        let out = format!("{shape}.jsonl");
        let ran = at(&folder, &["gen", "--shape", shape, "--events", "3000", "--seed", "1", "-o", &out]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let report = json(&at(&folder, &["check", &out, "--format", "json"]).out);
        let events = report["events"].as_u64().unwrap();
        assert!(report["verdict"] == "accept" && (2_500..=3_600).contains(&events), "{shape}: {report}");
    }
}
