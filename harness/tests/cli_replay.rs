//! `foldproof replay` and `foldproof import`: exit codes and both forms of output.

#![cfg(feature = "cli")]

mod support;

use foldproof_harness::case::Case;
use support::*;

fn rule_case(name: &str) -> String {
    corpora(&format!("rules/{name}.case.json"))
}

#[test]
fn a_saved_case_does_what_was_recorded() {
    let path = rule_case("FORK-2.violate-open-turn");
    let ran = run(&["replay", &path]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.out.ends_with(": same outcome as recorded: passed\n"), "{ran:?}");
    let folder = run(&["replay", &corpora("rules")]);
    assert_eq!(folder.code, Some(0), "{folder:?}");
    assert!(folder.out.lines().count() >= 15);
}

#[test]
fn another_outcome_is_a_finding() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(rule_case("FORK-2.violate-open-turn")).unwrap();
    let other = r#""outcome":{"status":"failed","property":"refused-names-its-rule","rule":"SURF-8"}"#;
    let path = folder.write("other.case.json", text.replace(r#""outcome":{"status":"passed"}"#, other));
    let ran = run(&["replay", &path]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("another outcome than recorded: passed"), "{ran:?}");
    assert!(
        ran.out.contains("  recorded\n    status    failed\n    property  refused-names-its-rule"),
        "{ran:?}"
    );
    let json = run(&["replay", &path, "--format", "json"]);
    let line: serde_json::Value = serde_json::from_str(json.out.trim()).unwrap();
    assert_eq!((json.code, json.err.as_str()), (Some(1), ""));
    assert_eq!(line["foldproof"], 1);
    assert_eq!((&line["replayed"], &line["status"]), (&"differs".into(), &"passed".into()));
    assert!(line["property"].is_null() && line["expected"].is_null() && line["got"].is_null(), "{line}");
}

#[test]
fn the_trace_shows_operation_expected_and_got() {
    let ran = run(&["replay", "--trace", &rule_case("FORK-2.violate-open-turn")]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[0], r#"    0 {"op":"open","session":"a"}"#);
    assert_eq!(lines[1], "      expected null");
    assert_eq!(lines[7], "      expected refused under FORK-2: OPEN_TURN");
    assert_eq!(lines[8], "      got      refused under FORK-2: OPEN_TURN");
}

#[test]
fn an_inline_case_and_stdin() {
    let text = std::fs::read(rule_case("ENV-3.violate-a-seed-with-a-gap")).unwrap();
    let blob = Case::parse(&text).unwrap().to_inline();
    let ran = run(&["replay", "--inline", &blob]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.starts_with("the inline case: same"), "{ran:?}");
    let piped = pipe(&["replay", "-"], &text);
    assert_eq!(piped.code, Some(0), "{piped:?}");
    let broken = run(&["replay", "--inline", "fp1:AAAA"]);
    assert_eq!((broken.code, broken.out.as_str()), (Some(2), ""), "{broken:?}");
    let cut = run(&["replay", "--inline", &blob[..blob.len() - 8]]);
    assert_eq!(cut.code, Some(2), "{cut:?}");
}

#[test]
fn what_cannot_be_replayed() {
    let folder = Folder::new();
    // Nothing to run is inconclusive; a file that is no case is an error, named with its place.
    assert_eq!(run(&["replay", folder.0.to_str().unwrap()]).code, Some(3));
    let newer = folder.write("newer.case.json", r#"{"foldproof":2,"contract":1}"#);
    let ran = run(&["replay", &newer]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("newer.case.json: foldproof: expected a number from 1 to 1"), "{ran:?}");
    assert_eq!(run(&["replay", &folder.path("none.case.json")]).code, Some(2));
    assert_eq!(run(&["replay"]).code, Some(2));
    let path = rule_case("FORK-2.violate-open-turn");
    let elsewhere = run(&["replay", &path, "--system", "abacus"]);
    assert_eq!(elsewhere.code, Some(2), "{elsewhere:?}");
    assert_eq!(run(&["replay", &path, "--system", "model"]).code, Some(0));
}

#[test]
fn a_log_becomes_a_case() {
    let folder = Folder::new();
    let out = folder.path("a.case.json");
    for log in [
        "sessions/compaction.jsonl",
        "sessions/torn-frame.jsonl.zstd",
        "rules/STORE-4.violate-stray-byte-committed.jsonl",
    ] {
        let ran = run(&["import", &corpora(log), "-o", &out, "--force"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.out.contains("operations, passed"), "{ran:?}");
        let again = run(&["replay", &out]);
        assert_eq!(again.code, Some(0), "{again:?}");
    }
    let kept = folder.read("a.case.json");
    let refused = run(&["import", &corpora("sessions/inbox.jsonl"), "-o", &out]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert_eq!(folder.read("a.case.json"), kept, "never overwritten without --force");
    assert_eq!(run(&["import", &folder.path("none.jsonl"), "-o", &out]).code, Some(2));
}
