//! `foldproof redact`: nothing of what was said survives, and all that is wrong does.

#![cfg(feature = "cli")]

#[path = "support/stored.rs"]
mod stored;
mod support;

use foldproof::check::{Input, Options, check};
use foldproof::codec::frames::MAGIC;
use foldproof::dialect;
use foldproof_harness::tools::redact::redact;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use stored::conforms;
use support::*;

fn input(bytes: &[u8], compressed: bool) -> Input<'_> {
    match compressed {
        true => Input::Compressed(Box::new(Cursor::new(bytes))),
        false => Input::Plain(Box::new(bytes)),
    }
}

/// Dialect, verdict, and rule, class, line and seq of each finding.
fn findings(bytes: &[u8], compressed: bool) -> (String, String, Vec<String>) {
    let report = check(input(bytes, compressed), &Options::default()).unwrap();
    let place = |finding: &foldproof::finding::Finding| {
        format!("{} {:?} {} {:?}", finding.rule, finding.class, finding.line, finding.seq)
    };
    let list = report.findings.list.iter().map(place).collect();
    (report.dialect.clone(), report.verdict().to_owned(), list)
}

fn redacted(bytes: &[u8], compressed: bool, name: &str) -> Vec<u8> {
    let limits = Options::default().limits;
    let mut lines = input(bytes, compressed).lines(limits, true).unwrap();
    let mut out = vec![];
    redact(&mut lines, &dialect::by_name(name).unwrap(), &mut out).unwrap();
    out
}

fn logs(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            logs(&path, out);
        } else if name.ends_with(".jsonl") || name.ends_with(".zstd") {
            out.push(path);
        }
    }
}

#[test]
fn the_corpora_keep_what_is_wrong_with_them() {
    let mut list = vec![];
    logs(Path::new(&corpora("")), &mut list);
    assert!(list.len() > 400);
    let mut failures = vec![];
    for path in list {
        let bytes = std::fs::read(&path).unwrap();
        let compressed = path.extension().is_some_and(|suffix| suffix == "zstd");
        let before = findings(&bytes, compressed);
        let once = redacted(&bytes, compressed, &before.0);
        let after = findings(&once, compressed);
        if before != after {
            failures.push(format!("{}: {before:?} became {after:?}", path.display()));
        }
        let twice = redacted(&once, compressed, &before.0);
        if twice != once {
            failures.push(format!("{}: redacting twice is not redacting once", path.display()));
        }
        assert_eq!(bytes.starts_with(&MAGIC), bytes.starts_with(&MAGIC) && once.starts_with(&MAGIC[..3]));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// Puts a secret in the place of every text and key of every log that the corpora hold, also of words of the vocabulary.
#[test]
fn no_secret_survives() {
    const SECRET: &str = "hunter2-Zq";
    let mut list = vec![];
    logs(Path::new(&corpora("sessions")), &mut list);
    logs(Path::new(&corpora("tutorial")), &mut list);
    for path in list.into_iter().filter(|path| path.extension().is_some_and(|suffix| suffix == "jsonl")) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        // Every string of the log in turn gets the secret; each line by itself, so that the log is read again and again.
        for line in text.lines() {
            let mut at = 0;
            let mut parts = vec![];
            while let Some(step) = line[at..].find('"') {
                let start = at + step + 1;
                let mut end = start;
                while end < line.len() && line.as_bytes()[end] != b'"' {
                    end += if line.as_bytes()[end] == b'\\' { 2 } else { 1 };
                }
                if end >= line.len() {
                    break;
                }
                parts.push(start..end);
                at = end + 1;
            }
            let mut all = line.to_owned();
            for part in parts.iter().rev() {
                all.insert_str(part.end, SECRET);
            }
            let mut log = all.into_bytes();
            log.push(b'\n');
            for part in parts {
                log.extend_from_slice(&line.as_bytes()[..part.start]);
                log.extend_from_slice(SECRET.as_bytes());
                log.extend_from_slice(&line.as_bytes()[part.end..]);
                log.push(b'\n');
            }
            let out = redacted(&log, false, "dsh-v0");
            let out = String::from_utf8_lossy(&out).into_owned();
            assert!(!out.contains("hunter2"), "{}: {line}\n{out}", path.display());
        }
    }
}

#[test]
fn secrets_in_what_cannot_be_read_are_gone_too() {
    for line in [
        &b"hunter2\n"[..],
        b"{\"hunter2\n",
        b"{\"type\":\"hunter2\",\"seq\":0",
        b"{\"type\":\"turn/end\",\"x\":\"\xffhunter2\"}\n",
        b"hunter2\xff\n",
        b"\xef\xbb\xbf{\"hunter2\":1}\n",
        b"{\"a\":\"hunter2\0\"}\n",
        b"\"hunter2\"\n",
        b"{\"data\":{\"arguments\":\"{\\\"key\\\":\\\"hunter2\\\"}\"},\"hunter2\":{\"type\":\"hunter2\"}}\n",
        br#"{"data":{"hunter2":{"turn":4111111111111111,"type":"user"}},"type":"\u0068unter2"}"#,
    ] {
        let out = redacted(line, false, "dsh-v0");
        let text = String::from_utf8_lossy(&out);
        assert!(!text.contains("hunter2") && !text.contains("4111"), "{text}");
        assert_eq!(out.ends_with(b"\n"), line.ends_with(b"\n"));
    }
}

#[test]
fn equal_texts_stay_equal_and_sizes_keep_their_class() {
    let line = br#"{"type":"tool/call","seq":0,"time":5,"data":{"turn":1,"step":1,"callId":"call-1","name":"read","arguments":"call-1"}}"#;
    let out = String::from_utf8(redacted(line, false, "dsh-v0")).unwrap();
    // The first text is six letters long, so it reaches four; the second reaches four itself.
    assert_eq!(
        out,
        r#"{"type":"tool/call","seq":0,"time":5,"data":{"turn":1,"step":1,"callId":"t1..","name":"t2..","arguments":"t1.."}}"#
    );
}

#[test]
fn the_command() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", log(&[TURN, STEP, ASK, BAD_REPLACE]));
    let out = folder.path("b.jsonl");
    let ran = run(&["redact", &path, "-o", &out, "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    conforms("redact", &json);
    assert_eq!(json["out"], out);
    assert_eq!((json["foldproof"].as_u64(), json["kept"].as_bool()), (Some(1), Some(true)));
    assert_eq!((json["verdict"].as_str(), json["findings"].as_u64()), (Some("reject"), Some(1)));
    assert!(!folder.read("b.jsonl").contains("Hi"));
    assert_eq!(run(&["redact", &path, "-o", &out]).code, Some(2), "never written over");
    assert_eq!(run(&["redact", &path, "-o", &out, "--force"]).code, Some(0));
    let ran = run(&["redact", &path, "-o", &folder.path("b.jsonl.zstd")]);
    assert_eq!(ran.code, Some(2), "another encoding could not keep damage");
}
