//! Against recorded outcomes of the released readers, where a developer's machine has them; never required.

use crate::model::{Class, Dialect, Mode, Session, check};
use std::path::{Path, PathBuf};

/// The folder with the recorded logs.
const SHARED: &str = "/work/shared";

/// A flat look at JSON that we know: the text behind `"key":` up to the next `,` or `}` at the same depth.
fn member<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    let (mut depth, mut text, mut start) = (0, false, None);
    let bytes = json.as_bytes();
    let mut place = 0;
    while place < bytes.len() {
        match bytes[place] {
            b'\\' => place += 1,
            b'"' => {
                text = !text;
                let here = json[place..].strip_prefix(&format!("\"{key}\":"));
                if text && depth == 1 && start.is_none() && here.is_some() {
                    text = false;
                    place += key.len() + 3;
                    start = Some(place);
                    continue;
                }
            }
            b'{' | b'[' if !text => depth += 1,
            b'}' | b']' | b',' if !text => {
                let closes = bytes[place] != b',';
                if depth == 1
                    && let Some(start) = start
                {
                    return Some(&json[start..place]);
                }
                depth -= i32::from(closes);
            }
            _ => {}
        }
        place += 1;
    }
    None
}

fn logs(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|suffix| suffix == "jsonl"));
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The recorded file in canonical bytes.
fn recorded(path: PathBuf) -> String {
    let text = std::fs::read(path).unwrap_or_default();
    crate::model::canonical(&text).unwrap_or_default()
}

#[test]
#[ignore = "needs the recorded logs"]
fn dialect_cases_agree() {
    let folder = Path::new(SHARED).join("dialects");
    let tables = ["cases.json", "cross.json"].map(|name| recorded(folder.join(name)));
    let mut seen = 0;
    for path in logs(&folder.join("v0-0.1.1")) {
        let name = stem(&path);
        let case = tables.iter().find_map(|table| member(member(table, "v0-0.1.1")?, &name)).expect("a case");
        let log = std::fs::read(&path).expect("a log");
        let publish = check(&log, Dialect::DshV0, Mode::Publish);
        let provider = check(&log, Dialect::DshV0, Mode::Provider);
        let strict = check(&log, Dialect::DshV0, Mode::Strict);
        println!(
            "{name}: publish {} provider {} strict {} {:?}",
            publish.verdict,
            provider.verdict,
            strict.verdict,
            super::found(&strict)
        );
        let accepts = |verdict: &str| ["accept", "note", "repairable"].contains(&verdict);
        assert_eq!(accepts(publish.verdict), member(case, "expect") == Some("\"accept\""), "{name} publish");
        let observed = member(case, "observed").and_then(|observed| member(observed, "0.1.1rc1"));
        if let Some(outcome) = observed.and_then(|observed| member(observed, "provider")) {
            assert_eq!(accepts(provider.verdict), outcome == "\"accept\"", "{name} provider");
        }
        if let Some(outcome) = observed.and_then(|observed| member(observed, "publish")) {
            assert_eq!(accepts(publish.verdict), outcome == "\"accept\"", "{name} publish as recorded");
        }
        seen += 1;
    }
    println!("{seen} logs");
}

#[test]
#[ignore = "needs the recorded logs"]
fn real_logs_agree() {
    let folder = Path::new(SHARED).join("real-logs");
    let table = recorded(folder.join("expect.json"));
    let mut seen = 0;
    for path in logs(&folder) {
        let name = format!("{}.jsonl", stem(&path));
        let expect = member(&table, &name).expect("an expectation");
        let log = std::fs::read(&path).expect("a log");
        let report = check(&log, Dialect::DshV0, Mode::Provider);
        let strict = check(&log, Dialect::DshV0, Mode::Strict);
        let firm: Vec<_> = strict.findings.iter().filter(|finding| finding.class > Class::Note).collect();
        println!("{name}: {} strict {} {firm:?}", report.verdict, strict.verdict);
        seen += 1;
        if member(expect, "verdict") == Some("\"reject\"") {
            assert_eq!(report.verdict, "reject", "{name}");
            continue;
        }
        assert!(["accept", "repairable"].contains(&report.verdict), "{name} {report:?}");
        let session = Session::open(Dialect::DshV0, Mode::Provider, &log, false).expect("it opens");
        let surface = session.surface();
        let count =
            |list: &str| crate::model::parse::parse(list).unwrap().tree.value().items().unwrap().len();
        let nodes = count(member(&surface, "nodes").expect("nodes"));
        let got = [
            ("events", report.events.to_string()),
            ("nodes", nodes.to_string()),
            ("replace", member(&surface, "replaceGeneration").unwrap_or_default().to_owned()),
            ("messages", count(&session.messages()).to_string()),
        ];
        for (key, value) in got {
            assert_eq!(member(expect, key), Some(value.as_str()), "{name} {key}");
        }
        // Packing, dumping and loading again tell the same story.
        let again =
            Session::open(Dialect::DshV0, Mode::Provider, &session.dump(true), false).expect("it reloads");
        assert_eq!(again.events(), session.events(), "{name}");
        assert_eq!(again.dump(false), session.dump(false), "{name}");
    }
    println!("{seen} logs");
}

#[test]
#[ignore = "needs the recorded logs"]
fn tutorial_sample_is_accepted() {
    let Ok(log) = std::fs::read(Path::new(SHARED).join("tutorial-sample.jsonl")) else { return };
    let report = check(&log, Dialect::Tutorial, Mode::Strict);
    println!("{report:?}");
    assert_eq!(report.verdict, "accept");
}

#[test]
#[ignore = "needs the recorded logs"]
fn broken_real_logs_do_not_panic() {
    for path in logs(&Path::new(SHARED).join("real-logs")) {
        let log = std::fs::read(&path).expect("a log");
        for seed in 0..20 {
            super::mutated::ask(&super::mutated::break_one(&log, seed));
        }
    }
}
