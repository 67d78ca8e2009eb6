//! What a person sees who has a damaged log: `explain`, `check`, `repair` and `repair --salvage` on each, as it is
//! printed, frozen in `snapshots/damaged`. Beside the text stands what was written down by hand (`support/damaged.rs`),
//! so that accepting a wrong snapshot does not make it right.

#![cfg(feature = "cli")]

#[path = "support/damaged.rs"]
mod damaged;
#[path = "support/stored.rs"]
mod stored;
mod support;

use damaged::{Sample, damaged};
use serde_json::Value;
use std::path::Path;
use support::{Folder, Ran, finish, foldproof};

fn person(folder: &Folder, args: &[&str]) -> Ran {
    let mut command = foldproof(args);
    command.current_dir(&folder.0).env("COLUMNS", "100").env("NO_COLOR", "1");
    finish(command)
}

/// What is told, and what lies in the folder then.
fn transcript(folder: &Folder, sample: &Sample) -> String {
    let zstd = sample.name.ends_with(".zstd");
    let [repaired, salvaged] =
        ["repaired", "salvaged"].map(|name| format!("{name}.jsonl{}", if zstd { ".zstd" } else { "" }));
    let mut text = String::new();
    for args in [
        &["explain", sample.name][..],
        &["check", sample.name],
        &["repair", sample.name, "-o", &repaired],
        &["repair", sample.name, "--salvage", "-o", &salvaged],
    ] {
        let ran = person(folder, args);
        let code = ran.code.unwrap();
        text.push_str(&format!("$ foldproof {}\n{}", args.join(" "), ran.out));
        text.push_str(&ran.err.lines().map(|line| format!("2> {line}\n")).collect::<String>());
        text.push_str(&format!("exit {code}\n\n"));
    }
    let mut files: Vec<String> = std::fs::read_dir(&folder.0)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| format!("{} {}", entry.file_name().to_str().unwrap(), entry.metadata().unwrap().len()))
        .collect();
    files.sort();
    text + &files.join("\n") + "\n"
}

/// The name of a sample's snapshot.
fn snapshot(name: &str) -> String {
    name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-")
}

fn snapshots() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots/damaged")
}

#[test]
fn what_a_person_sees() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(snapshots());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for sample in damaged() {
        let folder = Folder::new();
        folder.write(sample.name, &sample.bytes);
        let text = transcript(&folder, &sample);
        assert!(
            !text.contains(folder.0.to_str().unwrap()),
            "{}: it names the folder of the test",
            sample.name
        );
        settings.bind(|| insta::assert_snapshot!(snapshot(sample.name), text));
    }
}

#[test]
fn what_was_written_down_is_what_is_found() {
    let mut broken = 0;
    for sample in damaged() {
        let folder = Folder::new();
        folder.write(sample.name, &sample.bytes);
        let json = |args: &[&str]| -> (i32, Value) {
            let ran = person(&folder, &[args, &["--format", "json"]].concat());
            (
                ran.code.unwrap(),
                serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}: {ran:?}", sample.name)),
            )
        };
        let (code, report) = json(&["check", sample.name]);
        let mut rules: Vec<&str> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|finding| finding["rule"].as_str())
            .collect();
        rules.sort_unstable();
        rules.dedup();
        assert_eq!(
            (report["verdict"].as_str(), &rules[..]),
            (Some(sample.verdict), sample.rules),
            "{}",
            sample.name
        );
        assert_eq!(code, i32::from(sample.verdict != "accept"), "{}", sample.name);
        for (more, wanted) in [(&[][..], sample.repair), (&["--salvage"], sample.salvage)] {
            let out = if sample.name.ends_with(".zstd") { "out.jsonl.zstd" } else { "out.jsonl" };
            let (code, shape) = json(&[&["repair", sample.name, "-o", out, "--force"], more].concat());
            let told = format!("{} {more:?}: {shape:#}", sample.name);
            assert_eq!(
                (shape["outcome"].as_str(), code),
                (Some(wanted), i32::from(wanted == "refused")),
                "{told}"
            );
        }
        broken += usize::from(sample.verdict != "accept");
    }
    assert!(broken >= 30, "{broken} damaged logs");
}

#[test]
fn every_snapshot_has_a_sample() {
    let names: Vec<String> =
        damaged().iter().map(|sample| format!("{}.snap", snapshot(sample.name))).collect();
    let files = std::fs::read_dir(snapshots()).unwrap();
    let orphans: Vec<String> = files
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|file| !names.contains(file))
        .collect();
    assert!(orphans.is_empty(), "without a source, or waiting for `cargo insta review`: {orphans:?}");
}
