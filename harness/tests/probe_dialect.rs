//! A dialect that no release ever wrote, loaded as data: the engine must serve it without change.
//!
//! It has its own replace spelling, a fourth surface type with a nested message, results with role `tool`, a tagged
//! marker, other request members, and keeps unknown types.

use foldproof::check::{Input, Loaded, Options, load};
use foldproof::dialect::{Dialect, from_json};
use foldproof::session::{Draft, Session};
use std::sync::Arc;

fn probe() -> Arc<Dialect> {
    let data = include_bytes!("data/probe-dialect.json");
    Arc::new(from_json(data).expect("the probe is well-formed"))
}

const HEADER: &str =
    r#"{"type":"session","version":77,"id":"p","createdAt":0,"delegationDepth":0,"isSeeded":false}"#;

/// Events in the probe's own shapes: a turn with a call, a notice, a rewrite and a compaction.
const EVENTS: &[&str] = &[
    r#"{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}"#,
    r#"{"type":"step/start","seq":1,"time":0,"data":{"turn":1,"step":1}}"#,
    r#"{"type":"user/message","seq":2,"time":0,"data":{"id":"u","role":"user","source":{"kind":"user"},"content":[]},"surfaceOp":"append"}"#,
    r#"{"type":"notice/message","seq":3,"time":0,"data":{"body":{"message":{"id":"n","role":"notice","source":{"kind":"clock"},"content":[]}}},"surfaceOp":"append"}"#,
    r#"{"type":"request/header","seq":4,"time":0,"data":{"header":{"config":{"provider":"p","model":"m"},"preamble":"hi","system":"not here"},"reason":"initial"}}"#,
    r#"{"type":"assistant/message","seq":5,"time":0,"data":{"turn":1,"step":1,"message":{"id":"a","role":"assistant","source":{"kind":"anything"},"content":[{"type":"tool-call","id":"c","name":"n","arguments":"{}"}]}},"surfaceOp":"append"}"#,
    r#"{"type":"tool/call","seq":6,"time":0,"data":{"turn":1,"step":1,"callId":"c","name":"n","arguments":"{}"}}"#,
    r#"{"type":"tool/result","seq":7,"time":0,"data":{"turn":1,"step":1,"message":{"id":"r","role":"tool","toolCallId":"c","source":{"kind":"tool","callId":"c"},"content":["long"]}},"surfaceOp":"append"}"#,
    r#"{"type":"tool/result","seq":8,"time":0,"data":{"turn":1,"step":1,"message":{"id":"r","role":"tool","toolCallId":"c","source":{"kind":"tool","callId":"c"},"content":["short"]}},"sourceEventSeqs":[7],"surfaceOp":{"op":"replace","from":7,"to":7}}"#,
    r#"{"type":"weather/report","seq":9,"time":0,"data":null}"#,
    r#"{"type":"step/end","seq":10,"time":0,"data":{"turn":1,"step":1}}"#,
    r#"{"type":"notice/message","seq":11,"time":0,"data":{"body":{"message":{"id":"k","role":"notice","source":{"kind":"clock"},"content":["done"]}}},"sourceEventSeqs":[2,3],"surfaceOp":{"op":"replace","from":2,"to":3}}"#,
    r#"{"type":"turn/end","seq":12,"time":0,"data":{"turn":1,"reason":{"kind":"completed"}}}"#,
];

fn read(events: &[&str]) -> Loaded {
    let text = std::iter::once(HEADER)
        .chain(events.iter().copied())
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    let options = Options { dialect: Some(probe()), ..Options::default() };
    load(Input::Plain(Box::new(text.as_bytes())), &options, text.len()).expect("no bound is met")
}

fn rules(events: &[&str]) -> Vec<&'static str> {
    read(events).report.findings.list.iter().map(|finding| finding.rule.id()).collect()
}

/// The events with one text replaced in one of them.
fn broken(seq: usize, from: &str, to: &str) -> Vec<String> {
    let mut events: Vec<String> = EVENTS.iter().map(|line| (*line).to_owned()).collect();
    assert!(events[seq].contains(from), "the test changes something");
    events[seq] = events[seq].replace(from, to);
    events
}

fn rules_of(events: &[String]) -> Vec<&'static str> {
    rules(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn its_own_shapes_are_accepted_and_projected() {
    assert_eq!(rules(EVENTS), Vec::<&str>::new());
    let session = Session::restore(read(EVENTS));
    assert_eq!(session.surface().iter().collect::<Vec<_>>(), [11, 5, 8]);
    let messages = String::from_utf8(session.history().to_bytes()).expect("canonical text is UTF-8");
    assert!(
        messages.starts_with(r#"[{"id":"k","role":"notice""#),
        "the message lies two members deep: {messages}"
    );
    let request =
        String::from_utf8(session.request().expect("a header was logged").to_bytes()).expect("UTF-8");
    assert!(request.starts_with(r#"{"provider":"p","model":"m","messages":["#), "{request}");
    assert!(
        request.ends_with(r#","preamble":"hi"}"#),
        "system is no member of this dialect's request: {request}"
    );
    assert_eq!(session.transcript().iter().map(|(seq, _)| seq).collect::<Vec<_>>(), [2, 3, 5, 7]);
}

#[test]
fn what_it_does_not_admit_is_refused() {
    for (seq, from, to, rule) in [
        (8, "\"from\":7,\"to\":7", "\"start\":7,\"end\":7", "SURF-2"),
        (7, "\"role\":\"tool\"", "\"role\":\"user\"", "SHAPE-1"),
        (7, "\"toolCallId\":\"c\"", "\"toolCallId\":\"d\"", "SHAPE-3"),
        (3, "\"role\":\"notice\"", "\"role\":\"user\"", "SHAPE-1"),
        (3, ",\"surfaceOp\":\"append\"", "", "SURF-1"),
        (8, "\"id\":\"r\"", "\"id\":\"s\"", "SURF-7"),
        (11, "[2,3]", "[3]", "SURF-6"),
        (5, "\"surfaceOp\"", "\"sourceEventSeqs\":[],\"surfaceOp\"", "SURF-3"),
    ] {
        assert_eq!(rules_of(&broken(seq, from, to)), [rule], "{from} -> {to}");
    }
}

#[test]
fn what_its_table_does_not_name_is_not_enforced() {
    // SHAPE-2 is not in the table, so a source needs no provider; neither is LIFE-4.
    assert_eq!(rules(&EVENTS[..0]), Vec::<&str>::new());
    let header = r#"{"type":"request/header","seq":0,"time":0,"data":{"header":{"config":{"provider":"p","model":"m"}},"reason":"initial"}}"#;
    assert_eq!(rules(&[header]), Vec::<&str>::new());
    // Packed rows are not part of the dialect: their tag is one more unknown type, and a row is no event.
    let row = r#"{"type":"text-chunks","seq0":0,"time0":0,"data":{"turn":1,"step":1,"index":0,"dt":[],"texts":["a"]}}"#;
    assert_eq!(rules(&[row]), ["STORE-3"]);
}

#[test]
fn its_header_is_its_own() {
    let text = format!("{}\n", HEADER.replace("\"isSeeded\":false", "\"isSeeded\":false,\"more\":1"));
    let options = Options { dialect: Some(probe()), ..Options::default() };
    let report = load(Input::Plain(Box::new(text.as_bytes())), &options, 0).expect("no bound is met").report;
    assert_eq!(report.findings.list[0].rule.id(), "STORE-1", "unknown members are refused here");
    let text = format!("{}\n", HEADER.replace("77", "78"));
    let report = load(Input::Plain(Box::new(text.as_bytes())), &options, 0).expect("no bound is met").report;
    assert_eq!(report.findings.list[0].rule.id(), "STORE-2");
}

#[test]
fn the_tagged_marker_ends_what_was_inherited() {
    let splice = |seq: u64, id: &str| {
        format!(
            r#"{{"type":"agent/inbox/spliced","seq":{seq},"time":0,"data":{{"target":"next-turn","start":0,"inserted":[{{"id":"{id}"}}]}}}}"#
        )
    };
    let plain = r#"{"type":"session/end-seed","seq":1,"time":0,"data":{}}"#;
    let tagged = r#"{"type":"session/end-seed","seq":1,"time":0,"data":{"inherited":true}}"#;
    for (marker, inbox) in [
        (plain, r#"{"next-turn":[{"id":"y"},{"id":"x"}],"next-step":[]}"#),
        (tagged, r#"{"next-turn":[{"id":"y"}],"next-step":[]}"#),
    ] {
        let session = Session::restore(read(&[&splice(0, "x"), marker, &splice(2, "y")]));
        assert_eq!(String::from_utf8_lossy(&session.print_inbox()), inbox);
    }
    let parent = Session::restore(read(EVENTS));
    let child = parent.fork(None, "child", 9).expect("nothing is open");
    let last = child.log().line(child.log().len() - 1).expect("the marker");
    assert_eq!(
        String::from_utf8_lossy(&last),
        r#"{"type":"session/end-seed","seq":13,"time":9,"data":{"inherited":true}}"#
    );
}

#[test]
fn appending_follows_the_same_data() {
    let mut session = Session::create(probe(), "p", Some(HEADER.as_bytes()), 0);
    let data = br#"{"body":{"message":{"id":"n","role":"notice","source":{"kind":"clock"},"content":[]}}}"#;
    let draft = Draft { kind: "notice/message", data, surface_op: Some(b"\"append\""), sources: None };
    session.append(draft, 0).expect("the fourth surface type");
    let replace =
        Draft { surface_op: Some(br#"{"op":"replace","from":0,"to":0}"#), sources: Some(b"[0]"), ..draft };
    session.append(replace, 0).expect("its own spelling");
    assert_eq!(session.surface().iter().collect::<Vec<_>>(), [1]);
}
