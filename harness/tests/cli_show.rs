//! `foldproof show` from outside. Expected lines are written by hand from the contract.

#![cfg(feature = "cli")]

mod support;

use support::*;

const ASKED: &str =
    r#"{"id":"u","role":"user","content":[{"type":"text","text":"Hi"}],"source":{"kind":"user"}}"#;
const SAID: &str = r#"{"id":"a","role":"assistant","content":[{"type":"text","text":"Ho"}],"source":{"kind":"model","provider":"p","model":"m"}}"#;

fn shown(path: &str, form: &str, more: &[&str]) -> String {
    let ran = run(&[&["show", path, "--as", form], more].concat());
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 1), "{ran:?}");
    ran.out.trim_end().to_owned()
}

#[test]
fn forms() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", good());
    assert_eq!(shown(&path, "messages", &[]), format!("[{ASKED},{SAID}]"));
    assert_eq!(shown(&path, "transcript", &[]), format!("[{ASKED},{SAID}]"));
    assert_eq!(shown(&path, "header", &[]), r#"{"config":{"provider":"p","model":"m"},"system":"S"}"#);
    let request =
        |messages: &str| format!(r#"{{"provider":"p","model":"m","messages":[{messages}],"system":"S"}}"#);
    assert_eq!(shown(&path, "request", &[]), request(&format!("{ASKED},{SAID}")));
    assert_eq!(shown(&path, "request", &["--turn", "1", "--step", "1"]), request(ASKED));
    assert_eq!(shown(&path, "inbox", &[]), r#"{"next-turn":[],"next-step":[]}"#);
    assert_eq!(shown(&path, "surface", &[]), r#"{"nodes":[2,4],"replaceGeneration":0,"replacements":[]}"#);
    let text = good();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(shown(&path, "events", &[]), format!("[{}]", lines.join(",")));
    assert_eq!(shown(&path, "events", &["--at", "1"]), format!("[{}]", lines[..2].join(",")));
    assert_eq!(shown(&path, "messages", &["--at", "1"]), "[]");
    assert_eq!(shown(&path, "messages", &["--at", "2"]), format!("[{ASKED}]"));
    assert_eq!(shown(&path, "header", &["--at", "2"]), "null");
    assert_eq!(shown(&path, "request", &["--at", "2"]), "null");
    let stdin = pipe(&["show", "-", "--as", "messages"], text.as_bytes());
    assert_eq!((stdin.code, stdin.out), (Some(0), format!("[{ASKED},{SAID}]\n")));
}

#[test]
fn replacements() {
    let folder = Folder::new();
    let short = r#"{"type":"user/message","data":{"id":"r","role":"user","content":[],"source":{"kind":"user"}},"sourceEventSeqs":[2,3],"surfaceOp":{"op":"replace","start":2,"end":3}}"#;
    let path = folder.write("a.jsonl", log(&[TURN, STEP, ASK, ANSWER, STEP_END, short, TURN_END]));
    assert_eq!(
        shown(&path, "surface", &[]),
        r#"{"nodes":[5],"replaceGeneration":1,"replacements":[{"seq":5,"start":2,"end":3,"shadowedSeqs":[2,3]}]}"#
    );
    assert_eq!(
        shown(&path, "messages", &[]),
        r#"[{"id":"r","role":"user","content":[],"source":{"kind":"user"}}]"#
    );
    assert_eq!(shown(&path, "transcript", &[]), format!("[{ASKED},{SAID}]"));
    assert_eq!(shown(&path, "messages", &["--at", "4"]), format!("[{ASKED},{SAID}]"));
}

#[test]
fn every_session_derives_to_what_is_expected_of_it() {
    for folder in ["sessions", "tutorial"] {
        let text = std::fs::read_to_string(corpora(&format!("{folder}/expect.json"))).unwrap();
        let expectations: serde_json::Value = serde_json::from_str(&text).unwrap();
        for (name, expected) in expectations.as_object().unwrap() {
            let path = corpora(&format!("{folder}/{name}"));
            let parse =
                |form: &str| -> serde_json::Value { serde_json::from_str(&shown(&path, form, &[])).unwrap() };
            let length = |value: &serde_json::Value| value.as_array().unwrap().len() as u64;
            let surface = parse("surface");
            assert_eq!(surface["nodes"], expected["surface"], "{name}");
            assert_eq!(length(&surface["nodes"]), expected["nodes"], "{name}");
            assert_eq!(surface["replaceGeneration"], expected["replacements"], "{name}");
            assert_eq!(length(&surface["replacements"]), expected["replacements"], "{name}");
            // Messages may hold lone surrogates, which this parser does not take; their number is what counts here.
            let count = |form: &str| match shown(&path, form, &[]).as_str() {
                "[]" => 0,
                text => 1 + top_level_commas(text),
            };
            assert_eq!(count("messages"), expected["messages"], "{name}");
            assert_eq!(count("transcript"), expected["transcript"], "{name}");
            assert_eq!(count("events"), expected["events"], "{name}");
            if let Some(inbox) = expected.get("inbox") {
                let shown = parse("inbox");
                assert_eq!(length(&shown["next-turn"]), inbox["next-turn"], "{name}");
                assert_eq!(length(&shown["next-step"]), inbox["next-step"], "{name}");
            }
        }
    }
}

/// Commas between the elements of an array.
fn top_level_commas(text: &str) -> u64 {
    let (mut depth, mut quoted, mut escaped, mut commas) = (0, false, false, 0);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ',' if depth == 1 => commas += 1,
            _ => {}
        }
    }
    commas
}

#[test]
fn packed_compressed_and_plain_show_the_same() {
    for (one, other) in
        [("retries.jsonl", "retries.packed.jsonl"), ("compaction.jsonl", "compaction.jsonl.zstd")]
    {
        let (one, other) = (corpora(&format!("sessions/{one}")), corpora(&format!("sessions/{other}")));
        for form in ["messages", "transcript", "surface", "request", "header", "inbox", "events"] {
            for more in [&[][..], &["--at", "15"], &["--turn", "1", "--step", "1"]] {
                assert_eq!(shown(&one, form, more), shown(&other, form, more));
            }
        }
    }
}

#[test]
fn attempts() {
    let path = corpora("sessions/retries.jsonl");
    // Two attempts failed before the third: each retry is dispatched with the same one message.
    let first = shown(&path, "request", &["--turn", "1", "--step", "1"]);
    assert_eq!(shown(&path, "request", &["--turn", "1", "--step", "1", "--attempt", "1"]), first);
    assert_eq!(shown(&path, "request", &["--turn", "1", "--step", "1", "--attempt", "3"]), first);
    let events = |attempt: &str| {
        top_level_commas(&shown(&path, "events", &["--turn", "1", "--step", "1", "--attempt", attempt]))
    };
    assert!(events("1") < events("2") && events("2") < events("3"));
    let fourth = run(&["show", &path, "--as", "request", "--turn", "1", "--step", "1", "--attempt", "4"]);
    assert_eq!((fourth.code, fourth.out.as_str()), (Some(2), ""));
    assert!(fourth.err.contains("attempts 1 to 3"), "{}", fourth.err);
}

#[test]
fn places_that_are_not_there() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", good());
    let refused = |more: &[&str]| {
        let ran = run(&[&["show", path.as_str(), "--as", "messages"], more].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{more:?}");
        ran.err
    };
    assert!(refused(&["--at", "7"]).contains("0 to 6"));
    assert!(refused(&["--turn", "2", "--step", "1"]).contains("turns 1"));
    assert!(refused(&["--turn", "1", "--step", "2"]).contains("steps 1"));
    refused(&["--turn", "1"]);
    refused(&["--at", "1", "--turn", "1", "--step", "1"]);
    refused(&["--at", "-1"]);
    assert_eq!(run(&["show", &folder.path("none.jsonl"), "--as", "messages"]).code, Some(2));
    assert_eq!(run(&["show", &folder.path(""), "--as", "messages"]).code, Some(2));
    assert_eq!(run(&["show", &path]).code, Some(2));
}

#[test]
fn what_the_released_reader_would_not_open_is_not_shown() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", log(&[TURN, STEP, ASK, BAD_REPLACE]));
    let ran = run(&["show", &path, "--as", "messages"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.contains("error[SURF-5]"), "{}", ran.err);
    // A number that is rounded is a fault of ours only; the released reader takes its double.
    let strict =
        folder.write("b.jsonl", log(&[r#"{"type":"session/title","data":{"title":1.0000000000000000001}}"#]));
    let ran = run(&["show", &strict, "--as", "events"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "[{\"type\":\"session/title\",\"seq\":0,\"time\":0,\"data\":{\"title\":1}}]\n")
    );
    assert!(ran.err.contains("error[JSON-3]"), "{}", ran.err);
}

#[test]
fn repaired() {
    let folder = Folder::new();
    let call = r#"{"type":"assistant/message","data":{"turn":1,"step":1,"message":{"id":"a","role":"assistant","content":[{"type":"tool-call","id":"c","name":"n","arguments":"{}"}],"source":{"kind":"model","provider":"p","model":"m"}}},"surfaceOp":"append"}"#;
    let torn = log(&[TURN, STEP, ASK, call]) + "{\"type\":\"tool/ca";
    let path = folder.write("a.jsonl", torn);
    let events = |more: &[&str]| -> Vec<String> {
        let list: serde_json::Value = serde_json::from_str(&shown(&path, "events", more)).unwrap();
        list.as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    };
    let kept = ["turn/start", "step/start", "user/message", "assistant/message"];
    assert_eq!(events(&[]), kept);
    assert_eq!(events(&["--repaired"]), [&kept[..], &["tool/result", "step/end", "turn/end"]].concat());
    assert_eq!(events(&["--repaired", "--at", "4"]).len(), 5);
    let nameless =
        folder.write("b.jsonl", log(&[TURN, STEP, ASK, &call.replace("\"id\":\"c\"", "\"id\":\"\"")]));
    let ran = run(&["show", &nameless, "--as", "events", "--repaired"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.contains("REPAIR-6"), "{}", ran.err);
}

#[test]
fn the_timeline_tells_requests_with_the_sizes_that_they_have() {
    for name in [
        "compaction-over-compaction.jsonl",
        "retries.jsonl",
        "scattered-replaces.jsonl",
        "header-change.jsonl",
    ] {
        let path = corpora(&format!("sessions/{name}"));
        let ran = run(&["show", &path, "--as", "timeline"]);
        assert_eq!(ran.code, Some(0));
        let mut seen = 0;
        for line in ran.out.lines() {
            let Some((_, request)) = line.split_once("request of turn ") else { continue };
            let numbers: Vec<&str> = request.split([',', ' ', ':']).filter(|word| !word.is_empty()).collect();
            // `1 step 2 [attempt 3] 5 messages 304 B`
            let attempt = if numbers[3] == "attempt" { numbers[4] } else { "1" };
            let more = ["--turn", numbers[0], "--step", numbers[2], "--attempt", attempt];
            let size = shown(&path, "request", &more).len();
            let messages = shown(&path, "messages", &more);
            let count = if messages == "[]" { 0 } else { 1 + top_level_commas(&messages) };
            assert!(request.contains(&format!("{count} message")), "{name}: {request}");
            let told = if size < 1000 {
                format!("{size} B")
            } else {
                format!("{}.{} kB", size / 1000, size / 100 % 10)
            };
            assert!(request.ends_with(&told), "{name}: {request}, {size} bytes");
            seen += 1;
        }
        assert!(seen > 2, "{name}");
    }
    let fork = run(&["show", &corpora("sessions/fork-child.jsonl"), "--as", "timeline"]);
    assert!(
        fork.out.contains("forked from session") && fork.out.contains("16 events are inherited"),
        "{}",
        fork.out
    );
    let open = run(&["show", &corpora("sessions/interrupted-in-a-tool.jsonl"), "--as", "timeline"]);
    assert!(open.out.contains("needs repair:"), "{}", open.out);
    assert_eq!(
        run(&["show", &corpora("sessions/inbox.jsonl"), "--as", "timeline", "--format", "json"]).code,
        Some(2)
    );
}
