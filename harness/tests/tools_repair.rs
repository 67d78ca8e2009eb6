//! `foldproof repair`: exact cuts, exact closers, and what is refused. Expected bytes follow from REPAIR-2 and REPAIR-3.

#![cfg(feature = "cli")]

#[path = "support/stored.rs"]
mod stored;
mod support;

use foldproof::check::Options;
use foldproof_harness::model;
use foldproof_harness::tools::artifact::Artifact;
use foldproof_harness::tools::repair::{Outcome, plan};
use serde_json::Value;
use std::io::Read;
use stored::{conforms, frame, framed, rank, unframe};
use support::*;

const CALLS: &str = r#"{"type":"assistant/message","data":{"turn":1,"step":1,"message":{"id":"a","role":"assistant","content":[{"type":"tool-call","id":"c1","name":"n","arguments":"{}"},{"type":"tool-call","id":"c2","name":"n","arguments":"{}"}],"source":{"kind":"model","provider":"p","model":"m"}}},"surfaceOp":"append"}"#;
const CALL: &str =
    r#"{"type":"tool/call","data":{"turn":1,"step":1,"callId":"c2","name":"n","arguments":"{}"}}"#;

/// An open step with two calls, one of them started: five events, the last of them at time 40.
fn open() -> String {
    log(&[TURN, STEP, ASK, CALLS, CALL])
}

/// The closers of [`open`], by hand; the texts are the program's own.
fn closers(out: &str) -> String {
    let texts: Vec<&str> = out
        .match_indices(r#""content":[{"type":"text","text":""#)
        .filter(|(at, _)| out[..*at].ends_with(r#""isError":true,"#))
        .map(|(at, start)| out[at + start.len()..].split('"').next().unwrap())
        .collect();
    let [first, second] = texts[..] else { panic!("two results: {out}") };
    let result = |call: &str, seq: u64, text: &str, error: &str, more: &str| {
        format!(
            r#"{{"type":"tool/result","seq":{seq},"time":40,"data":{{"turn":1,"step":1,"message":{{"id":"interrupted-tool-result-{call}-{seq}","role":"user","source":{{"kind":"tool","callId":"{call}"}},"content":[{{"type":"tool-result","toolCallId":"{call}","isError":true,"content":[{{"type":"text","text":"{text}"}}]}}]}},"error":{error}}},"surfaceOp":"append"{more}}}"#
        ) + "\n"
    };
    let not_started = r#"{"name":"ToolNotStartedError","code":"TOOL_NOT_STARTED"}"#;
    let unknown = r#"{"name":"ToolOutcomeUnknownError","code":"TOOL_OUTCOME_UNKNOWN"}"#;
    result("c1", 5, first, not_started, "")
        + &result("c2", 6, second, unknown, r#","sourceEventSeqs":[4]"#)
        + "{\"type\":\"step/end\",\"seq\":7,\"time\":40,\"data\":{\"turn\":1,\"step\":1}}\n"
        + "{\"type\":\"turn/end\",\"seq\":8,\"time\":40,\"data\":{\"turn\":1,\"reason\":{\"kind\":\"interrupted\"}}}\n"
}

#[test]
fn a_torn_tail_is_cut_and_the_turn_is_closed() {
    let folder = Folder::new();
    let torn = folder.write("torn.jsonl", open() + "{\"type\":\"tool/res");
    let out = folder.path("out.jsonl");
    let ran = run(&["repair", &torn, "-o", &out]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let text = folder.read("out.jsonl");
    assert_eq!(text, open() + &closers(&text));
    assert_eq!(run(&["check", &out]).out.trim_end(), format!("{out}: accept (9 events)"));
    // Through a pipe it is the same, and OUT is not overwritten unless that is forced.
    let piped = folder.path("piped.jsonl");
    let input = folder.read("torn.jsonl");
    assert_eq!(pipe(&["repair", "-", "-o", &piped], input.as_bytes()).code, Some(0));
    assert_eq!(folder.read("piped.jsonl"), text);
    assert_eq!(run(&["repair", &torn, "-o", &piped]).code, Some(2));
    assert_eq!(run(&["repair", &torn, "-o", &piped, "--force"]).code, Some(0));
    assert_eq!(run(&["repair", &torn, "-o", &torn, "--force"]).code, Some(2), "the log itself");
}

#[test]
fn json_names_what_was_done() {
    let folder = Folder::new();
    let torn = folder.write("torn.jsonl", open() + "{\"ty");
    let ran = run(&["repair", &torn, "-o", &folder.path("out.jsonl"), "--format", "json"]);
    let shape: Value = serde_json::from_str(&ran.out).unwrap();
    conforms("repair", &shape);
    assert_eq!(shape["outcome"], "repaired");
    assert_eq!(shape["kept"]["bytes"], open().len());
    assert_eq!(
        (&shape["cut"]["line"], &shape["cut"]["bytes"], &shape["cut"]["rule"]),
        (&7.into(), &4.into(), &"STORE-5".into())
    );
    let appended: Vec<&str> =
        shape["appended"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(appended, ["tool/result", "tool/result", "step/end", "turn/end"]);
    assert_eq!(shape["verdict"], "accept");
}

#[test]
fn a_compressed_log_keeps_its_frames_and_gets_one_more() {
    let folder = Folder::new();
    // The last frame holds two lines and is cut inside its checksum.
    let whole = framed(&open(), &[2, 1]);
    let last = frame(open().split_inclusive('\n').skip(4).collect::<String>().as_bytes());
    let torn = [&whole[..], &last[..last.len() - 3]].concat();
    let path = folder.write("torn.jsonl.zstd", torn);
    let out = folder.path("out.jsonl.zstd");
    assert_eq!(run(&["repair", &path, "-o", &out]).code, Some(0));
    let repaired = std::fs::read(&out).unwrap();
    assert_eq!(repaired[..whole.len()], whole[..], "complete frames stay as they are");
    assert!(repaired[whole.len()..].starts_with(&[0x28, 0xb5, 0x2f, 0xfd]));
    let text = String::from_utf8(unframe(&repaired)).unwrap();
    assert!(text.starts_with(&open()), "every line that decodes is kept");
    assert_eq!(text, open() + &closers(&text));
    // An untorn one: the closers are one more frame behind untouched bytes.
    let path = folder.write("open.jsonl.zstd", framed(&open(), &[5]));
    let out = folder.path("closed.jsonl.zstd");
    assert_eq!(run(&["repair", &path, "-o", &out]).code, Some(0));
    let repaired = std::fs::read(&out).unwrap();
    let whole = framed(&open(), &[5]);
    assert_eq!(repaired[..whole.len()], whole[..]);
    let more = String::from_utf8(unframe(&repaired[whole.len()..])).unwrap();
    assert_eq!(more, closers(&more));
    // Another suffix is another encoding of the same lines.
    let plain = folder.path("closed.jsonl");
    assert_eq!(run(&["repair", &path, "-o", &plain]).code, Some(0));
    assert_eq!(folder.read("closed.jsonl"), open() + &more);
}

#[test]
fn in_place_keeps_every_backup() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", open());
    let ran = run(&["repair", &path, "--in-place", "--format", "json"]);
    let shape: Value = serde_json::from_str(&ran.out).unwrap();
    conforms("repair", &shape);
    assert_eq!((ran.code, folder.read("a.jsonl.before-repair")), (Some(0), open()));
    let repaired = folder.read("a.jsonl");
    assert_eq!(repaired, open() + &closers(&repaired));
    // A log that needs nothing is not touched and leaves no copy.
    let ran = run(&["repair", &path, "--in-place"]);
    assert!(ran.code == Some(0) && ran.out.contains("nothing to repair"), "{ran:?}");
    assert_eq!(folder.read("a.jsonl"), repaired);
    assert!(!folder.0.join("a.jsonl.before-repair-2").exists());
    // A second repair of it does not overwrite the first copy.
    folder.write("a.jsonl", good() + "x");
    assert_eq!(run(&["repair", &path, "--in-place"]).code, Some(0));
    assert_eq!((folder.read("a.jsonl"), folder.read("a.jsonl.before-repair-2")), (good(), good() + "x"));
    assert_eq!(folder.read("a.jsonl.before-repair"), open());
    assert_eq!(pipe(&["repair", "-", "--in-place"], b"").code, Some(2));
}

#[test]
fn what_cannot_be_repaired_is_refused_with_a_way_out() {
    let folder = Folder::new();
    let gap = log(&[TURN, TURN_END]).replace("\"seq\":1", "\"seq\":2");
    let nameless = log(&[TURN, STEP, ASK, &CALLS.replace("\"c1\"", "\"\"")]);
    let unknown = log(&[r#"{"type":"later/thing","data":{}}"#]);
    let tutorial = r#"{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}"#.to_owned();
    let (_, beheaded) =
        good().split_once('\n').map(|(header, rest)| (header.to_owned(), rest.to_owned())).unwrap();
    for (name, text, id, way) in [
        ("beheaded", beheaded, "no-header", "foldproof explain"),
        ("gap", gap, "corrupt", "--salvage"),
        ("reject", log(&[TURN, STEP, ASK, BAD_REPLACE]), "reject", "--salvage"),
        ("unknown", unknown, "unsupported", "the program that wrote it"),
        ("nameless", nameless, "unrepairable", "--salvage"),
        ("torn", tutorial, "nothing-committed", "empty"),
    ] {
        let path = folder.write(&format!("{name}.jsonl"), text);
        let out = folder.path("none.jsonl");
        let ran = run(&["repair", &path, "-o", &out, "--format", "json"]);
        let shape: Value = serde_json::from_str(&ran.out).unwrap();
        conforms("repair", &shape);
        assert_eq!((ran.code, &shape["refusal"]["id"]), (Some(1), &id.into()), "{name}");
        assert!(ran.err.contains(way), "{name}: {}", ran.err);
        assert!(!folder.0.join("none.jsonl").exists(), "{name}");
    }
}

/// The repaired bytes, the repaired text, and the plan.
fn repaired(bytes: &[u8], zstd: bool) -> Option<(Vec<u8>, usize)> {
    let artifact = Artifact::of(bytes.to_vec(), zstd);
    let Outcome::Plan(plan) = plan(&artifact, &Options::default()).unwrap() else { return None };
    let mut out = vec![];
    plan.result(&artifact).unwrap().read_to_end(&mut out).unwrap();
    Some((out, plan.closers.len()))
}

#[test]
fn every_log_of_the_corpora_gets_what_the_model_says() {
    for log in stored::corpora(&["sessions", "tutorial", "rules"]) {
        let Some((out, closers)) = repaired(&log.bytes, log.zstd) else {
            let nameless = log.name.starts_with("REPAIR-6.violate");
            assert!(rank(&log.verdict) >= rank("reject") || nameless, "{} is refused", log.name);
            continue;
        };
        let text = if log.zstd { unframe(&out) } else { out.clone() };
        let session = model::Session::restore(log.dialect, &log.bytes, log.zstd).unwrap();
        let expected = session.repair().unwrap();
        assert_eq!(closers, expected.len(), "{}", log.name);
        // The texts of results are each implementation's own.
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let appended = &lines[lines.len() - closers..];
        for (line, expected) in appended.iter().zip(&expected) {
            assert_eq!(textless(std::str::from_utf8(line).unwrap()), textless(expected), "{}", log.name);
        }
        let check = if log.zstd { model::check_zstd } else { model::check };
        let after = check(&out, log.dialect, model::Mode::Strict).verdict;
        match log.verdict.as_str() {
            "repairable" => assert_eq!(after, "accept", "{}", log.name),
            before => assert!(rank(after) <= rank(before), "{}: {before}, then {after}", log.name),
        }
        if !log.zstd {
            let kept = text.len() - appended.iter().map(|line| line.len()).sum::<usize>();
            assert_eq!(text[..kept], log.bytes[..kept], "{}", log.name);
        }
        assert_eq!(repaired(&out, log.zstd).unwrap(), (out, 0), "{}: a fixed point", log.name);
    }
}

fn textless(line: &str) -> Value {
    let mut event: Value = serde_json::from_str(line).unwrap();
    if let Some(text) = event.pointer_mut("/data/message/content/0/content/0/text") {
        *text = Value::Null;
    }
    event
}
