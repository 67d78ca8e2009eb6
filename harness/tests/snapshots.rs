//! What the corpora look like to a person, frozen in `snapshots/`: the diagnostics of the rule files, one file for each
//! family, and the verdict and every view of the whole sessions. What is frozen is also compared with what was written down by hand
//! (`expect.json`) and with the reference model, so that accepting a wrong snapshot does not make it right.
//!
//! `cargo insta review` shows a change and accepts it.

#![cfg(feature = "cli")]

mod support;

use foldproof_harness::model::{self, Dialect, Mode, Session};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use support::{Ran, finish, foldproof};

/// Every family of input rules.
const FAMILIES: [&str; 12] =
    ["JSON", "STORE", "CODEC", "VOCAB", "ENV", "SURF", "SHAPE", "LIFE", "PAIR", "INBOX", "COMP", "REPAIR"];

const VIEWS: [&str; 8] =
    ["messages", "transcript", "surface", "request", "header", "inbox", "events", "timeline"];

/// Views up to this size are frozen in full.
const WHOLE: usize = 4096;

/// Bytes of a larger view that are frozen from its start and from its end.
const ENDS: usize = 300;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs the program as a person would: from the top of the repository, 100 columns, without colour.
fn person(args: &[&str]) -> Ran {
    let mut command = foldproof(args);
    command.current_dir(root()).env("COLUMNS", "100").env("NO_COLOR", "1");
    finish(command)
}

fn freeze(folder: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// The logs of a folder of the corpora with their expectations, by file name.
fn expectations(folder: &str) -> BTreeMap<String, Value> {
    let path = root().join("corpora").join(folder).join("expect.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What `check` says about the rule files of a family that keep a rule or break one.
fn checked(family: &str, what: &str, options: &[&str]) -> String {
    let prefix = format!("{family}-");
    let paths: Vec<String> = expectations("rules")
        .into_keys()
        .filter(|name| name.starts_with(&prefix) && name.contains(what))
        .map(|name| format!("corpora/rules/{name}"))
        .collect();
    assert!(!paths.is_empty(), "{family} has no file that is called {what}");
    let mut args = vec!["check", "--jobs", "2"];
    args.extend(options);
    args.extend(paths.iter().map(String::as_str));
    let ran = person(&args);
    // Some files are one session, damaged in several ways, and some are children whose parent is elsewhere.
    assert!(ran.err.lines().all(|line| line.starts_with("warning: ")), "{family}: {}", ran.err);
    assert!(matches!(ran.code, Some(0 | 1)), "{family}: {:?}", ran.code);
    ran.out
}

/// What the text says about one log: (rule, line) of each finding, verdict and events.
#[derive(Debug, Default, PartialEq)]
struct Told {
    findings: BTreeSet<(String, u64)>,
    verdict: String,
    events: u64,
}

/// Reads diagnostics as a person does: the rule in its brackets, the place behind the arrow, the line of the log.
fn read(text: &str) -> BTreeMap<String, Told> {
    let mut logs: BTreeMap<String, Told> = BTreeMap::new();
    let mut rule = None;
    for line in text.lines() {
        let titled = ["error[", "warning[", "note["].iter().find_map(|level| line.strip_prefix(level));
        if let Some((id, _)) = titled.and_then(|rest| rest.split_once("]: ")) {
            rule = Some(id.to_owned());
        } else if let Some(place) = line.trim_start().strip_prefix("--> corpora/rules/") {
            let mut parts = place.rsplitn(3, ':');
            let (_column, line) = (parts.next().unwrap(), parts.next().unwrap());
            let log = logs.entry(parts.next().unwrap().to_owned()).or_default();
            log.findings.insert((rule.take().unwrap(), line.parse().unwrap()));
        } else if let Some((name, rest)) =
            line.strip_prefix("corpora/rules/").and_then(|line| line.split_once(": "))
        {
            let log = logs.entry(name.to_owned()).or_default();
            let (verdict, inside) = rest.split_once(" (").unwrap();
            log.verdict = verdict.to_owned();
            log.events = inside.split(' ').next().unwrap().parse().unwrap();
        }
    }
    logs
}

/// What `expect.json` says about it.
fn expected(entry: &Value, notes: bool) -> Told {
    let places = |member: &str| {
        let list = entry[member].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter()
            .map(|finding| (finding["rule"].as_str().unwrap().to_owned(), finding["line"].as_u64().unwrap()))
            .collect::<BTreeSet<_>>()
    };
    let mut findings = places("findings");
    if notes {
        findings.extend(places("notes"));
    }
    Told {
        findings,
        verdict: entry["verdict"].as_str().unwrap().to_owned(),
        events: entry["events"].as_u64().unwrap(),
    }
}

#[test]
fn rules() {
    let expectations = expectations("rules");
    let mut seen = 0;
    for family in FAMILIES {
        let (broken, kept) = (checked(family, ".violate-", &["--notes"]), checked(family, ".accept-", &[]));
        for (text, notes) in [(&broken, true), (&kept, false)] {
            for (name, told) in read(text) {
                assert_eq!(told, expected(&expectations[&name], notes), "{name}");
                seen += 1;
            }
        }
        let text = format!(
            "$ foldproof check --notes corpora/rules/{family}-*.violate-*\n{broken}\n\
             $ foldproof check corpora/rules/{family}-*.accept-*\n{kept}"
        );
        freeze("rules", family, &text);
    }
    assert_eq!(seen, expectations.len(), "every rule file belongs to a family");
}

/// A whole log of the corpora: its path from the top of the repository, and what was written down for it.
struct Whole {
    path: String,
    dialect: Dialect,
    expected: Value,
}

impl Whole {
    fn view(&self, view: &str) -> String {
        let ran = person(&["show", &self.path, "--as", view]);
        assert_eq!(ran.code, Some(0), "{}: {ran:?}", self.path);
        ran.out
    }
}

/// Whole logs by what they are called, first the one that is frozen, then its packed and compressed twins.
fn stories() -> BTreeMap<String, Vec<Whole>> {
    let mut stories: BTreeMap<String, Vec<Whole>> = BTreeMap::new();
    for (folder, dialect) in [("sessions", Dialect::DshV0), ("tutorial", Dialect::Tutorial)] {
        for (file, expected) in expectations(folder) {
            let story = file.split('.').next().unwrap().to_owned();
            let path = format!("corpora/{folder}/{file}");
            stories.entry(story).or_default().push(Whole { path, dialect, expected });
        }
    }
    for twins in stories.values_mut() {
        twins.sort_by_key(|whole| whole.path.len());
        assert!(twins.iter().all(|whole| whole.dialect == twins[0].dialect), "{}", twins[0].path);
    }
    stories
}

/// The longest start and end of a text that fit.
fn ends(text: &str) -> (&str, &str) {
    let first = (0..=ENDS).rev().find(|place| text.is_char_boundary(*place)).unwrap();
    let last = (text.len() - ENDS..).find(|place| text.is_char_boundary(*place)).unwrap();
    (&text[..first], &text[last..])
}

/// A view as it is frozen: whole, or its size, its digest and its ends.
fn frozen(text: &str) -> String {
    if text.len() <= WHOLE {
        return text.to_owned();
    }
    let (first, last) = ends(text);
    format!("{} bytes, blake3 {}\n{first}\n…\n{last}", text.len(), blake3::hash(text.as_bytes()))
}

#[test]
fn sessions() {
    for (story, twins) in stories() {
        let (plain, twins) = twins.split_first().unwrap();
        let mut text =
            format!("$ foldproof check {0}\n{1}\n", plain.path, person(&["check", &plain.path]).out);
        for view in VIEWS {
            let shown = plain.view(view);
            for twin in twins {
                assert!(twin.view(view) == shown, "{} --as {view} differs from {}", twin.path, plain.path);
            }
            writeln!(text, "$ foldproof show {} --as {view}\n{}", plain.path, frozen(&shown)).unwrap();
        }
        freeze("sessions", &story, &text);
    }
}

/// How many elements an array holds, whatever they are: strings may hold what no Rust string can.
fn length(array: &str) -> usize {
    serde_json::from_str::<Vec<IgnoredAny>>(array).unwrap().len()
}

/// The event's type, and nothing else of it.
#[derive(serde::Deserialize)]
struct Kind {
    r#type: String,
}

#[derive(serde::Deserialize)]
struct Inbox {
    #[serde(rename = "next-turn")]
    turn: Vec<IgnoredAny>,
    #[serde(rename = "next-step")]
    step: Vec<IgnoredAny>,
}

/// What can be counted in the views is what was written down by hand.
#[test]
fn sessions_have_the_counts_that_were_written_down() {
    for whole in stories().into_values().flatten() {
        let count = |view| length(&whole.view(view));
        let surface: Value = serde_json::from_str(&whole.view("surface")).unwrap();
        let kinds: Vec<Kind> = serde_json::from_str(&whole.view("events")).unwrap();
        let kinds = |kind: &str| kinds.iter().filter(|event| event.r#type == kind).count();
        let inbox: Inbox = serde_json::from_str(&whole.view("inbox")).unwrap();
        let mut counted = serde_json::json!({
            "verdict": whole.expected["verdict"],
            "events": count("events"),
            "nodes": surface["nodes"].as_array().unwrap().len(),
            "replacements": surface["replacements"].as_array().unwrap().len(),
            "messages": count("messages"),
            "transcript": count("transcript"),
            "turns": kinds("turn/start"),
            "steps": kinds("step/start"),
            "surface": surface["nodes"],
        });
        if whole.dialect == Dialect::DshV0 {
            let waiting = serde_json::json!({"next-turn": inbox.turn.len(), "next-step": inbox.step.len()});
            counted["inbox"] = waiting;
        }
        assert_eq!(counted, whole.expected, "{}", whole.path);
    }
}

/// The model, which shares no code with the core, derives the same bytes.
#[test]
fn sessions_are_what_the_model_derives() {
    for whole in stories().into_values().flatten() {
        let log = std::fs::read(root().join(&whole.path)).unwrap();
        let zstd = whole.path.ends_with(".zstd");
        let report = if zstd { model::check_zstd } else { model::check }(&log, whole.dialect, Mode::Strict);
        assert_eq!(report.verdict, whole.expected["verdict"], "{}", whole.path);
        let session = Session::open(whole.dialect, Mode::Provider, &log, zstd).unwrap();
        let derived = [
            ("messages", session.messages()),
            ("transcript", session.transcript()),
            ("surface", session.surface()),
            ("request", session.request(None).unwrap()),
            ("header", session.header()),
            ("inbox", session.inbox()),
            ("events", session.events()),
        ];
        for (view, model) in derived {
            assert!(whole.view(view) == format!("{model}\n"), "{} --as {view}", whole.path);
        }
    }
}

/// A corpora entry without a snapshot fails where it is frozen; a snapshot without an entry fails here, and so does
/// a pending one.
#[test]
fn every_snapshot_has_a_source() {
    let mut sources: BTreeSet<String> =
        FAMILIES.iter().map(|family| format!("rules/{family}.snap")).collect();
    sources.extend(stories().into_keys().map(|story| format!("sessions/{story}.snap")));
    let mut files = BTreeSet::new();
    for folder in std::fs::read_dir(root().join("snapshots")).unwrap() {
        let folder = folder.unwrap();
        // Transcripts of damaged logs are looked after beside their source.
        if folder.file_name() == "damaged" {
            continue;
        }
        let inside = std::fs::read_dir(folder.path()).expect("snapshots/ holds folders only");
        for file in inside {
            let name =
                [folder.file_name(), file.unwrap().file_name()].map(|part| part.into_string().unwrap());
            files.insert(name.join("/"));
        }
    }
    let orphans: Vec<&String> = files.difference(&sources).collect();
    assert!(orphans.is_empty(), "without a source, or waiting for `cargo insta review`: {orphans:?}");
    let missing: Vec<&String> = sources.difference(&files).collect();
    assert!(missing.is_empty(), "not frozen yet: {missing:?}");
}
