//! Every file of the corpora gets what its `expect.json` says: the expectations are written by hand, the program reads
//! the files.

#![cfg(feature = "cli")]

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn corpora(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora").join(folder)
}

fn expectations(folder: &str) -> Value {
    let text = std::fs::read_to_string(corpora(folder).join("expect.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What `check` prints for a whole folder, by file name.
fn checked(folder: &str, options: &[&str]) -> std::collections::BTreeMap<String, Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foldproof"));
    command.args(["check", "--format", "json", "--jobs", "2"]).args(options).arg(corpora(folder));
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| {
            let log: Value = serde_json::from_str(line).unwrap();
            let path =
                Path::new(log["path"].as_str().unwrap()).file_name().unwrap().to_string_lossy().into_owned();
            (path, log)
        })
        .collect()
}

fn places(findings: &Value) -> BTreeSet<String> {
    let list = findings.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .map(|finding| {
            format!("{} {} {} {}", finding["rule"], finding["class"], finding["line"], finding["seq"])
        })
        .collect()
}

#[test]
fn rules() {
    let (plain, noted) = (checked("rules", &[]), checked("rules", &["--notes"]));
    let expectations = expectations("rules");
    let expectations = expectations.as_object().unwrap();
    assert_eq!(plain.len(), expectations.len());
    let mut wrong = vec![];
    for (name, expected) in expectations {
        let mut differ = |what: &str, want: String, got: String| {
            if want != got {
                wrong.push(format!("{name}: {what}\n  expected {want}\n  got      {got}"));
            }
        };
        let is_note = expected["verdict"] == "note";
        let log = if is_note { &noted[name] } else { &plain[name] };
        differ("verdict", expected["verdict"].to_string(), log["verdict"].to_string());
        differ("events", expected["events"].to_string(), log["events"].to_string());
        let want = places(&expected["findings"]);
        differ("findings", format!("{want:?}"), format!("{:?}", places(&log["findings"])));
        let with_notes: BTreeSet<String> = want.union(&places(&expected["notes"])).cloned().collect();
        differ("with notes", format!("{with_notes:?}"), format!("{:?}", places(&noted[name]["findings"])));
        if is_note {
            differ("without notes", "\"accept\"".into(), plain[name]["verdict"].to_string());
        }
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

fn whole_sessions(folder: &str) {
    let logs = checked(folder, &["--notes"]);
    let expectations = expectations(folder);
    for (name, expected) in expectations.as_object().unwrap() {
        let log = &logs[name];
        assert_eq!(log["verdict"], expected["verdict"], "{name}: {log}");
        assert_eq!(log["events"], expected["events"], "{name}: {log}");
        let accepted = expected["verdict"] == "accept";
        assert_eq!(log["findings"].as_array().unwrap().is_empty(), accepted, "{name}: {log}");
    }
    assert_eq!(logs.len(), expectations.as_object().unwrap().len());
}

#[test]
fn sessions() {
    whole_sessions("sessions");
}

#[test]
fn tutorial() {
    whole_sessions("tutorial");
}
