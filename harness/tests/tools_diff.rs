//! `foldproof diff`: where two logs part, and what a request keeps of the prompt before it.

#![cfg(feature = "cli")]

mod support;

use serde_json::{Value, json};
use support::*;

const STEP_2: &str = r#"{"type":"step/start","data":{"turn":1,"step":2}}"#;
/// Takes the place of the question, which is event 2 of [`good`] and of every log here.
const SHORTER: &str = r#"{"type":"user/message","data":{"id":"r","role":"user","content":[],"source":{"kind":"user"}},"sourceEventSeqs":[2],"surfaceOp":{"op":"replace","start":2,"end":2}}"#;

/// The message that the question is, as the request has it.
fn asked() -> u64 {
    r#"{"id":"u","role":"user","content":[{"type":"text","text":"Hi"}],"source":{"kind":"user"}}"#.len()
        as u64
}

fn differ(a: &str, b: &str, more: &[&str]) -> (Option<i32>, Value) {
    let folder = Folder::new();
    let (a, b) = (folder.write("a.jsonl", a), folder.write("b.jsonl", b));
    let ran = run(&[&["diff", &a, &b, "--format", "json"], more].concat());
    (ran.code, serde_json::from_str(&ran.out).expect("JSON"))
}

#[test]
fn the_same_story() {
    let other_times = good().replace("\"time\":10,", "\"time\":11,");
    let (code, same) = differ(&good(), &other_times, &[]);
    assert_eq!((code, &same["same"]), (Some(0), &json!(true)));
    assert!(same["events"].is_null() && same["messages"].is_null() && same["requests"].is_null(), "{same}");
    // The question and the answer, which the next request would begin with.
    let answer = r#"{"id":"a","role":"assistant","content":[{"type":"text","text":"Ho"}],"source":{"kind":"model","provider":"p","model":"m"}}"#;
    let whole = json!({ "messages": 2, "bytes": asked() + answer.len() as u64 });
    assert_eq!((&same["reuse"]["kept"], &same["reuse"]["of"]), (&whole, &whole));
    assert_eq!(same["reuse"]["permille"], 1000);
    let (code, timed) = differ(&good(), &other_times, &["--times"]);
    assert_eq!((code, &timed["same"]), (Some(1), &json!(false)));
    assert_eq!((&timed["events"]["seq"], &timed["events"]["member"]), (&json!(1), &json!("time")));
    assert!(timed["messages"].is_null() && timed["requests"].is_null(), "times reach no model");
    // Compression is no difference.
    let sessions = ["sessions/compaction.jsonl", "sessions/compaction.jsonl.zstd"].map(corpora);
    assert_eq!(run(&["diff", &sessions[0], &sessions[1]]).code, Some(0));
}

#[test]
fn another_answer_and_another_question() {
    // The answer is event 4 and message 1; no request holds it, for the only one was sent before it came.
    let (code, answer) = differ(&good(), &good().replace("Ho", "He"), &[]);
    assert_eq!((code, &answer["events"]["seq"]), (Some(1), &json!(4)));
    assert_eq!(answer["events"]["member"], "data.message.content.0.text");
    assert_eq!((&answer["messages"]["index"], &answer["messages"]["seqs"]), (&json!(1), &json!([4, 4])));
    assert!(answer["requests"].is_null(), "{answer}");
    // The question is event 2, message 0, and the first message of request 0.
    let (code, question) = differ(&good(), &good().replace("Hi", "He"), &[]);
    assert_eq!((code, &question["events"]["seq"]), (Some(1), &json!(2)));
    assert_eq!((&question["messages"]["index"], &question["requests"]["index"]), (&json!(0), &json!(0)));
    assert_eq!(
        (&question["requests"]["member"], &question["requests"]["message"]),
        (&json!("messages"), &json!(0))
    );
    assert_eq!(question["reuse"]["kept"], json!({ "messages": 0, "bytes": 0 }));
    // A shorter log is a beginning of the longer one.
    let (code, shorter) = differ(&good(), &log(&[TURN, STEP, ASK, REQUEST_HEADER]), &[]);
    assert_eq!((code, &shorter["events"]["seq"]), (Some(1), &json!(4)));
}

/// The requests of a log, each with what broke it, kept and total messages, and kept bytes.
fn requests(log: &str) -> Vec<(Value, u64, u64, u64)> {
    let folder = Folder::new();
    let ran = run(&["diff", &folder.write("a.jsonl", log), "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let of = |request: &Value, what: &str, unit: &str| request["reuse"][what][unit].as_u64().unwrap_or(0);
    let list = report["requests"].as_array().unwrap();
    list.iter()
        .map(|request| {
            let kept = of(request, "kept", "messages");
            (request["broken"].clone(), kept, of(request, "of", "messages"), of(request, "kept", "bytes"))
        })
        .collect()
}

#[test]
fn what_a_request_keeps_of_the_one_before() {
    let whole = requests(&log(&[TURN, STEP, ASK, REQUEST_HEADER, ANSWER, STEP_END, STEP_2]));
    assert_eq!(whole, [(Value::Null, 0, 0, 0), (Value::Null, 1, 1, asked())]);
    // Event 6 replaces the question, so that nothing of the first prompt stands any more.
    let replaced = requests(&log(&[TURN, STEP, ASK, REQUEST_HEADER, ANSWER, STEP_END, SHORTER, STEP_2]));
    let broken = json!({ "cause": "replace", "seq": 6, "type": "user/message" });
    assert_eq!(replaced, [(Value::Null, 0, 0, 0), (broken, 0, 1, 0)]);
    // Another system prompt stands in front of all messages.
    let other = REQUEST_HEADER.replace("\"S\"", "\"T\"").replace("initial", "change");
    let header = requests(&log(&[TURN, STEP, ASK, REQUEST_HEADER, ANSWER, STEP_END, &other, STEP_2]));
    assert_eq!(header[1].0, json!({ "cause": "header", "seq": 6, "type": "request/header" }));
    assert_eq!((header[1].1, header[1].3), (0, 0));
}

#[test]
fn what_cannot_be_compared() {
    let folder = Folder::new();
    let good = folder.write("good.jsonl", good());
    let bad = folder.write("bad.jsonl", log(&[TURN, STEP, ASK, BAD_REPLACE]));
    let ran = run(&["diff", &good, &bad]);
    assert!(ran.code == Some(1) && ran.out.is_empty() && ran.err.contains("SURF-5"), "{ran:?}");
    assert_eq!(run(&["diff", &good, "no-such-log.jsonl"]).code, Some(2));
    assert_eq!(run(&["diff", "-", "-"]).code, Some(2));
    let human = run(&["diff", &good, &good, "--color", "never"]);
    assert!(human.code == Some(0) && !human.out.contains('\u{1b}'), "{human:?}");
}
