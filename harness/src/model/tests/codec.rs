//! STORE and CODEC.

use super::*;
use crate::model::{Session, check_zstd};

/// What a log with this header line and nothing else gives.
fn header(line: &str) -> Vec<String> {
    found(&strict(line))
}

#[test]
fn headers() {
    let with = |members: &str| format!("{},{members}}}\n", HEADER.trim_end_matches('}'));
    let none: [&str; 0] = [];
    assert_eq!(header(&format!("{HEADER}\n")), none);
    for good in [
        r#""cwd":"/a""#,
        r#""cwd":"c:\\a""#,
        r#""cwd":"\\\\a""#,
        r#""origin":"subagent""#,
        r#""seedLength":0"#,
    ] {
        assert_eq!(header(&with(good)), none, "{good}");
    }
    let bad =
        [r#""cwd":"a""#, r#""cwd":"c:a""#, r#""origin":"x""#, r#""seedLength":-1"#, r#""sandboxMode":1"#];
    for bad in bad {
        assert_eq!(header(&with(bad)), ["STORE-1 corrupt 1 -"], "{bad}");
    }
    assert_eq!(header(&with(r#""x":1"#)), ["STORE-1 note 1 -"]);
    assert_eq!(header(&with(r#""x":-0"#)), ["JSON-2 corrupt 1 -"]);
    assert_eq!(header(&with(r#""id":"b""#)), ["JSON-6 corrupt 1 -"]);
    assert_eq!(header(&with(r#""seedLength":1"#)), ["STORE-8 relation 1 -"]);
    assert_eq!(header(&format!("{} \n", HEADER)), ["JSON-7 note 1 -"]);
    for broken in ["", "\n", "[]\n", "{}\n", "{\n", HEADER, "\u{feff}{}\n", "{\"version\":\"1\"}\n"] {
        assert_eq!(header(broken), ["STORE-1 corrupt 1 -"], "{broken}");
    }
    for other in ["{\"version\":1}\n", "{\"version\":-1,\"x\":1e400}", "{\"version\":1e400}\n"] {
        assert_eq!(header(other), ["STORE-2 unsupported 1 -"], "{other}");
    }
}

/// A log whose first event is turn/start, with a line behind it, closed or not by a good turn/end.
fn damage(line: &[u8], closed: bool) -> (Vec<String>, u64) {
    let mut bytes = log(&[TURN]).into_bytes();
    bytes.extend_from_slice(line);
    if closed {
        bytes.extend_from_slice(b"\n{\"type\":\"turn/end\"}\n");
    }
    let report = check(&bytes, Dialect::DshV0, Mode::Strict);
    (found(&report), report.events)
}

#[test]
fn damage_is_named_and_placed() {
    let todo = r#"{"type":"todo/write","seq":1,"time":1,"data":{}}"#;
    let row = r#"{"type":"text-chunks","seq0":1,"time0":1,"data":{"turn":1,"step":1,"index":0,"dt":[],"texts":["a","b"]}}"#;
    let lines: [(&[u8], &str); 11] = [
        (b"{\"a\":\"\xff\"}", "STORE-4"),
        (b"\xff\0", "STORE-4"),
        (b"{\"a\":\0}", "STORE-6"),
        (b"", "STORE-6"),
        (b" \t\r", "STORE-6"),
        (b"\xef\xbb\xbf{}", "STORE-6"),
        (b"{", "STORE-3"),
        (b"[]", "STORE-3"),
        (row.as_bytes(), "CODEC-1"),
        (b"{\"type\":\"todo/write\",\"seq\":2}", "STORE-3"),
        (b"{\"type\":\"todo/write\",\"seq\":\"1\"}", "STORE-3"),
    ];
    for (line, rule) in lines {
        let name = String::from_utf8_lossy(line);
        assert_eq!(damage(line, true), (vec![format!("{rule} corrupt 3 1")], 0), "{name}");
        let torn = [line, b"\n"].concat();
        let expect = vec!["REPAIR-2 repairable 2 0".to_owned(), format!("{rule} repairable 3 1")];
        assert_eq!(damage(&torn, false), (expect, 1), "{name}");
    }
    // A last line without its end was never committed, even if it parses and ends a turn.
    let (findings, events) = damage(todo.as_bytes(), false);
    assert_eq!((findings[1].as_str(), events), ("STORE-5 repairable 3 1", 1));
    let (findings, _) = damage(b"{\"type\":\"turn/end\",\"seq\":1,\"time\":1,\"data\":{}}", false);
    assert_eq!(findings[1], "STORE-5 repairable 3 1");
    // A carriage return before the end of the line is white space.
    let (findings, events) = damage(format!("{todo}\r\n").as_bytes(), false);
    assert_eq!((findings[1].as_str(), events), ("JSON-7 note 3 1", 2));
}

#[test]
fn a_json_fault_is_no_damage() {
    for (value, rule) in
        [("1e400", "JSON-1"), ("-0", "JSON-2"), ("1e-400", "JSON-3"), (r#"{"a":1,"a":1}"#, "JSON-6")]
    {
        let event = format!(r#"todo/write "data":{value}"#);
        let report = strict(&log(&[TURN, &event, "x \"data\":0,\"ignorable\":true"]));
        assert_eq!((found(&report), report.events), (vec![format!("{rule} reject 3 1")], 1));
        let provider = check(log(&[TURN, &event]).as_bytes(), Dialect::DshV0, Mode::Provider);
        assert_eq!((found(&provider), provider.events), (vec!["REPAIR-2 repairable 2 0".to_owned()], 2));
    }
    let deep = format!("x \"data\":{}{},\"ignorable\":true", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(found(&strict(&log(&[&deep]))), ["JSON-5 reject 2 0"]);
    let limit = format!("x \"data\":{}{},\"ignorable\":true", "[".repeat(9_999), "]".repeat(9_999));
    assert_eq!(strict(&log(&[&limit])).verdict, "accept");
}

#[test]
fn the_lenient_values() {
    let text = log(&[r#"x "data":{"a":1,"b":1e400,"a":-0,"c":9007199254740993},"ignorable":true"#]);
    let lenient = Session::open(Dialect::DshV0, Mode::Provider, text.as_bytes(), false).expect("it opens");
    let data = r#"{"a":0,"b":null,"c":9007199254740992}"#;
    assert_eq!(
        lenient.events(),
        format!(r#"[{{"type":"x","seq":0,"time":0,"data":{data},"ignorable":true}}]"#)
    );
    let refused = Session::restore(Dialect::DshV0, text.as_bytes(), false).expect_err("it is refused");
    assert_eq!(refused.rule, Some("JSON-1"));
}

fn unpacked(row: &str) -> Option<String> {
    let text = format!("{HEADER}\n{row}\n");
    let session = Session::restore(Dialect::DshV0, text.as_bytes(), false).expect("it opens");
    (!session.is_empty()).then(|| session.events())
}

#[test]
fn rows() {
    let row = r#"{"type":"tool-call-chunks","seq0":0,"time0":5,"data":{"turn":1,"step":2,"index":3,"dt":[-7],"id":"","name":"n","args":["","b"]}}"#;
    let event = |seq: u64, time: i64, text: &str| {
        format!(
            r#"{{"type":"assistant/chunk","seq":{seq},"time":{time},"data":{{"turn":1,"step":2,"chunk":{{"type":"tool-call-delta","index":3,"id":"","name":"n","argumentsDelta":"{text}"}}}}}}"#
        )
    };
    assert_eq!(unpacked(row), Some(format!("[{},{}]", event(0, 5, ""), event(1, -2, "b"))));
    let changes = [
        (r#""dt":[-7]"#, r#""dt":[0.5]"#),
        (r#""dt":[-7]"#, r#""dt":[9007199254740991]"#),
        (r#""dt":[-7]"#, r#""dt":[]"#),
        (r#","id":"""#, ""),
        (r#""name":"n""#, r#""name":1"#),
        (r#""seq0":0"#, r#""seq0":-1"#),
        (r#""time0":5"#, r#""time0":5,"x":1"#),
        (r#"["","b"]"#, r#"["",1]"#),
        (r#""index":3"#, r#""index":"3""#),
    ];
    for (from, to) in changes {
        let bad = row.replace(from, to);
        assert_ne!(bad, row);
        assert_eq!(unpacked(&bad), None, "{to}");
    }
}

#[test]
fn packing() {
    let delta = |index: u64, text: &str| {
        format!(
            r#"assistant/chunk "data":{{"turn":1,"step":1,"chunk":{{"type":"text-delta","index":{index},"text":"{text}"}}}}"#
        )
    };
    let odd =
        r#"assistant/chunk "data":{"step":1,"turn":1,"chunk":{"type":"text-delta","index":1,"text":"z"}}"#;
    let list =
        [delta(0, "a"), delta(0, "b"), delta(1, "c"), delta(1, "d"), delta(1, "\\ud800"), odd.to_owned()];
    let refs: Vec<&str> = list.iter().map(String::as_str).collect();
    let plain = log(&refs);
    let session = Session::restore(Dialect::DshV0, plain.as_bytes(), false).expect("it opens");
    assert_eq!(String::from_utf8(session.dump(false)).as_deref(), Ok(plain.as_str()));
    let packed = String::from_utf8(session.dump(true)).expect("text");
    let lines: Vec<&str> = packed.lines().collect();
    let plain_lines: Vec<&str> = plain.lines().collect();
    // Two are too few for a row, three are not, and another member order is never recognized.
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[1..3], plain_lines[1..3]);
    assert_eq!(
        lines[3],
        r#"{"type":"text-chunks","seq0":2,"time0":2,"data":{"turn":1,"step":1,"index":1,"dt":[1,1],"texts":["c","d","\ud800"]}}"#
    );
    assert_eq!(lines[4], plain_lines[6]);
    let again = Session::restore(Dialect::DshV0, packed.as_bytes(), false).expect("it opens");
    assert_eq!(again.events(), session.events());
}

fn frame(text: &str) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).expect("an encoder");
    encoder.include_checksum(true).expect("a checksum");
    encoder.write_all(text.as_bytes()).expect("text");
    encoder.finish().expect("a frame")
}

fn zstd_found(bytes: &[u8]) -> (Vec<String>, u64) {
    let report = check_zstd(bytes, Dialect::DshV0, Mode::Strict);
    (found(&report), report.events)
}

#[test]
fn frames() {
    let text = log(&[TURN, TURN_END]);
    let lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
    let (head, first, second) = (frame(&lines[0]), frame(&lines[1]), frame(&lines[2]));
    let whole = [&head[..], &first, &second].concat();
    let corrupt = |rule: &str, line: u64| (vec![format!("{rule} corrupt {line} -")], 0);
    // Behind the header, damage carries the seq that was expected there.
    let damaged = |line: u64| (vec![format!("CODEC-3 corrupt {line} {}", line - 2)], 0);
    assert_eq!(zstd_found(&whole), (vec![], 2));
    assert_eq!(zstd_found(&[&head[..], &frame(""), &first, &second].concat()), (vec![], 2));
    assert_eq!(zstd_found(b""), corrupt("STORE-1", 1));
    assert_eq!(zstd_found(&head[..head.len() - 1]), corrupt("STORE-1", 1));
    assert_eq!(zstd_found(b"abcd"), corrupt("CODEC-3", 1));
    assert_eq!(zstd_found(&frame(&text)), damaged(2));
    assert_eq!(zstd_found(&frame(lines[0].trim_end())), corrupt("STORE-1", 1));
    assert_eq!(zstd_found(&frame("{\"version\":1}\nx")).0, ["STORE-2 unsupported 1 -"]);
    // Every cut inside the last frame is a torn tail; what decodes is kept.
    let open = "REPAIR-2 repairable 2 0".to_owned();
    for cut in 1..second.len() {
        let (findings, events) = zstd_found(&whole[..whole.len() - cut]);
        if events == 2 {
            assert_eq!(findings, ["CODEC-3 repairable 4 2"], "{cut}");
        } else {
            assert_eq!(
                (findings, events),
                (vec![open.clone(), "CODEC-3 repairable 3 1".to_owned()], 1),
                "{cut}"
            );
        }
    }
    assert_eq!(zstd_found(&[&whole[..], b"abc"].concat()), (vec!["CODEC-3 repairable 4 2".to_owned()], 2));
    assert_eq!(zstd_found(&[&whole[..], b"abcd"].concat()), damaged(4));
    // The torn frame does not stand at the end: something behind it was committed.
    let gap = [&head[..], &first[..first.len() - 5], &second].concat();
    assert_eq!(zstd_found(&gap).0.len(), 1);
    assert!(zstd_found(&gap).0[0].starts_with("CODEC-3 corrupt"));
    let mut flipped = whole.clone();
    let last = flipped.len() - 1;
    flipped[last] ^= 1;
    assert_eq!(zstd_found(&flipped), damaged(3));
    // Lines may not span frames, and inside a complete frame there is no torn tail.
    let (left, right) = lines[1].split_at(9);
    assert_eq!(zstd_found(&[&head[..], &frame(left), &frame(right)].concat()), damaged(2));
    assert_eq!(zstd_found(&[&head[..], &frame("{\n")].concat()), (vec!["STORE-3 corrupt 2 0".to_owned()], 0));
}
