//! `foldproof check` over the logs of a folder that belong together: parents, children, ids. What a child's content shows
//! is a finding; what only other files show is a warning, and changes no verdict.

#![cfg(feature = "cli")]

mod support;

use serde_json::Value;
use support::*;

fn header(id: &str, more: &str) -> String {
    format!(r#"{{"type":"session","version":0,"id":"{id}","createdAt":0,{more}"delegationDepth":0}}"#)
}

/// A log of two events under a header.
fn short(id: &str, more: &str) -> String {
    log_with(&header(id, more), &[TURN, TURN_END])
}

/// Checks the folder; the warnings, and path and verdict of each log.
fn checked(folder: &Folder, more: &[&str]) -> (Option<i32>, Vec<String>, Vec<(String, String)>) {
    let mut command = foldproof(&[&["check", ".", "--format", "json"], more].concat());
    command.current_dir(&folder.0);
    let ran = finish(command);
    let told = |line: &str| {
        let report: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| report[name].as_str().unwrap().to_owned();
        (text("path"), text("verdict"))
    };
    (ran.code, ran.err.lines().map(str::to_owned).collect(), ran.out.lines().map(told).collect())
}

#[test]
fn one_id_in_two_logs_of_a_folder() {
    let folder = Folder::new();
    folder.write("a.jsonl", short("s", ""));
    folder.write("b.jsonl", short("s", ""));
    folder.write("c.jsonl", short("other", ""));
    // Another folder is another store, and the same name with another ending another encoding of the same log.
    folder.write("c.packed.jsonl", short("other", ""));
    folder.write("more/a.jsonl", short("other", ""));
    let (code, warnings, verdicts) = checked(&folder, &[]);
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(warning.starts_with("warning: a.jsonl and b.jsonl carry the same session id s:"), "{warning}");
    assert!(verdicts.iter().all(|(_, verdict)| verdict == "accept") && verdicts.len() == 5, "{verdicts:?}");
    assert_eq!(code, Some(0), "a warning is no finding");
    assert!(checked(&folder, &["--reader"]).1.is_empty(), "the released reader looks at one file");
}

#[test]
fn parents_in_a_circle() {
    let folder = Folder::new();
    let parent = |id: &str| format!(r#""parentSession":"{id}","#);
    folder.write("a.jsonl", short("a", &parent("b")));
    folder.write("b.jsonl", short("b", &parent("c")));
    folder.write("c.jsonl", short("c", &parent("a")));
    // It hangs on the circle and does not belong to it.
    folder.write("d.jsonl", short("d", &parent("a")));
    folder.write("e.jsonl", short("e", &parent("e")));
    let (code, warnings, _) = checked(&folder, &[]);
    let [circle, itself] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(circle.starts_with("warning: a.jsonl, b.jsonl, and 1 more descend from each other"), "{circle}");
    assert_eq!(itself, "warning: e.jsonl names itself as its parent");
    assert_eq!(code, Some(0));
}

#[test]
fn a_parent_that_is_not_there() {
    let folder = Folder::new();
    folder.write("a.jsonl", short("a", r#""parentSession":"gone","#));
    folder.write("b.jsonl", short("b", ""));
    assert!(checked(&folder, &[]).1.is_empty(), "worth a line only for those who ask");
    let (code, warnings, verdicts) = checked(&folder, &["--notes"]);
    assert_eq!(
        warnings,
        ["warning: a.jsonl: its parent gone is not among these logs, so it is not compared"]
    );
    assert!(verdicts.iter().all(|(_, verdict)| verdict == "accept"), "{verdicts:?}");
    assert_eq!(code, Some(0));
}

/// FORK-4: what a child says that it inherited has to be there.
#[test]
fn a_boundary_behind_the_parents_end() {
    let folder = Folder::new();
    folder.write("parent.jsonl", short("p", ""));
    let more = r#""parentSession":"p","seedLength":4,"#;
    let second = [TURN, TURN_END].map(|event| event.replace("\"turn\":1", "\"turn\":2"));
    let events = [TURN, TURN_END, &second[0], &second[1], r#"{"type":"session/end-seed","data":{}}"#];
    folder.write("child.jsonl", log_with(&header("c", more), &events));
    let (code, warnings, verdicts) = checked(&folder, &[]);
    let told: Vec<(&str, &str)> =
        verdicts.iter().map(|(path, verdict)| (path.as_str(), verdict.as_str())).collect();
    assert_eq!(told, [("child.jsonl", "relation"), ("parent.jsonl", "accept")]);
    assert_eq!((code, warnings.len()), (Some(1), 0));
}

#[test]
fn many_warnings_are_counted() {
    let folder = Folder::new();
    for number in 0..9 {
        folder.write(
            &format!("{number}.jsonl"),
            short(&number.to_string(), &format!(r#""parentSession":"{number}","#)),
        );
    }
    let (_, warnings, _) = checked(&folder, &[]);
    assert_eq!(warnings.len(), 6);
    assert_eq!(warnings[5], "warning: … and 4 more circles of parents");
}
