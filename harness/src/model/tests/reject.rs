//! ENV, VOCAB, SHAPE and SURF: the first failure of an event is its verdict.

use super::*;

/// The rule that the last of these events breaks.
fn refused(events: &[&str]) -> Option<String> {
    let report = strict(&log(events));
    let last = report.findings.iter().find(|finding| finding.class == Class::Reject)?;
    assert_eq!(last.seq, Some(events.len() as u64 - 1));
    assert_eq!(report.events, events.len() as u64 - 1);
    Some(last.rule.to_owned())
}

#[test]
fn envelope_and_vocabulary() {
    let pairs = [
        (r#"x "data":0,"ignorable":true"#, None),
        (r#"x "data":0,"ignorable":true,"y":1"#, Some("ENV-1")),
        (r#"todo/write "data":0,"ignorable":false"#, Some("ENV-2")),
        (r#"todo/write "ignorable":true"#, Some("ENV-2")),
        (r#"mode/set "data":0,"ignorable":true"#, Some("VOCAB-3")),
        (r#"request/header "data":{"reason":"fallback"}"#, Some("VOCAB-3")),
        (r#"x "data":0,"ignorable":true,"surfaceOp":"append""#, Some("SURF-1")),
        (r#"todo/write "data":0,"sourceEventSeqs":null"#, Some("SURF-1")),
        (r#"turn/start "data":1"#, Some("SHAPE-8")),
        (r#"turn/end "data":{"turn":1,"x":1}"#, Some("SHAPE-8")),
    ];
    for (event, rule) in pairs {
        assert_eq!(refused(&[event]).as_deref(), rule, "{event}");
    }
    let unknown = strict(&log(&[TURN, r#"x "data":0"#, r#"y "data":0"#]));
    assert_eq!((found(&unknown), unknown.events), (vec!["VOCAB-1 unsupported 3 1".to_owned()], 0));
}

#[test]
fn header_shapes() {
    let header =
        |members: &str| format!(r#"request/header "data":{{"header":{{{members}}},"reason":"initial"}}"#);
    let good = [
        r#""config":{"provider":"p","model":"m"}"#,
        r#""config":{"provider":"p","model":"m","maxTokens":1},"adapterDefaults":{"maxTokens":true}"#,
        r#""config":{"provider":"p","model":"m"},"adapterDefaults":{}"#,
    ];
    let bad = [
        r#""config":{"provider":"p","model":""}"#,
        r#""config":{"provider":"p"}"#,
        r#""config":{"provider":"p","model":"m","reasoningEffort":""}"#,
        r#""config":{"provider":"p","model":"m"},"adapterDefaults":{"maxTokens":true}"#,
        r#""config":{"provider":"p","model":"m","maxTokens":1},"adapterDefaults":{"maxTokens":false}"#,
        r#""config":{"provider":"p","model":"m","stop":1},"adapterDefaults":{"stop":true}"#,
    ];
    for members in good {
        assert_eq!(refused(&[&header(members)]), None, "{members}");
    }
    for members in bad {
        assert_eq!(refused(&[&header(members)]).as_deref(), Some("SHAPE-4"), "{members}");
    }
}

#[test]
fn message_shapes() {
    let user = user("u", APPEND);
    let said = assistant("a", &[], APPEND);
    let told = result("r", "c", "", APPEND);
    let cases = [
        (user.replace(r#""id":"u","#, ""), "SHAPE-1"),
        (user.replace(r#""id":"u","role":"user","#, ""), "SHAPE-7"),
        (user.replace(r#""role":"user""#, r#""role":"assistant""#), "SHAPE-1"),
        (user.replace(r#""content":[]"#, r#""content":"x""#), "SHAPE-1"),
        (user.replace(r#""kind":"user""#, r#""kind":"""#), "SHAPE-1"),
        (said.replace(r#""provider":"p""#, r#""provider":"""#), "SHAPE-2"),
        (said.replace(r#""kind":"model""#, r#""kind":"x""#), "SHAPE-2"),
        (told.replace(r#""toolCallId":"c""#, r#""toolCallId":"d""#), "SHAPE-3"),
        (told.replace(r#""content":[]"#, r#""content":"""#), "SHAPE-3"),
        (told.replace(r#""callId":"c""#, r#""callId":"""#), "SHAPE-3"),
        (r#"assistant/message "data":{},"surfaceOp":"append""#.to_owned(), "SHAPE-1"),
    ];
    for (event, rule) in cases {
        assert_eq!(refused(&[&event]).as_deref(), Some(rule), "{event}");
    }
    let old = log(&[&user.replace(r#""id":"u","role":"user","#, "")]);
    assert_eq!(check(old.as_bytes(), Dialect::DshV0, Mode::Provider).verdict, "accept");
}

#[test]
fn surface_operations() {
    let (a, b) = (user("a", APPEND), user("b", APPEND));
    let swapped = user("c", &replace(0, 0, "0"));
    // After the first replace the surface is [2, 1]: order is positional.
    let cases = [
        (user("d", &replace(2, 1, "2,1")), None),
        (user("d", &replace(1, 2, "2,1")), Some("SURF-5")),
        (user("d", &replace(0, 1, "0,1")), Some("SURF-5")),
        (user("d", &replace(1, 1, "0")), Some("SURF-6")),
        (user("d", &replace(1, 1, "0,2,1")), None),
        (user("d", &replace(1, 1, "1,1")), Some("SURF-3")),
        (user("d", &replace(1, 1, "1,3")), Some("SURF-3")),
        (user("d", &replace(1, 1, "")), Some("SURF-3")),
        (user("d", r#"{"op":"replace","start":1,"end":1}"#), Some("SURF-6")),
        (user("d", r#"{"op":"replace","start":1,"end":1,"x":1}"#), Some("SURF-2")),
        (user("d", r#"{"op":"replace","start":1,"end":-1}"#), Some("SURF-2")),
        (user("d", r#""prepend""#), Some("SURF-2")),
        (user("d", APPEND).replace(r#","surfaceOp":"append""#, ""), Some("SURF-1")),
        (user("d", r#""append","sourceEventSeqs":[]"#), Some("SURF-3")),
        (assistant("d", &[], r#""append","sourceEventSeqs":[]"#), None),
        (result("d", "c", "", &replace(1, 1, "1")), Some("SURF-7")),
    ];
    for (event, rule) in cases {
        assert_eq!(refused(&[&a, &b, &swapped, &event]).as_deref(), rule, "{event}");
    }
}

#[test]
fn result_replaces() {
    let first = result("r", "c", "1", APPEND);
    let second = result("s", "c", "1", APPEND);
    let op = replace(0, 0, "0");
    let cases = [
        (result("r", "c", "2", &op), None),
        (result("x", "c", "2", &op), Some("SURF-7")),
        (result("r", "c", "1", &replace(0, 1, "0,1")), Some("SURF-7")),
        // Member order does not count here.
        (result("r", "c", "2", &op).replace(r#""turn":1,"step":1"#, r#""step":1,"turn":1"#), None),
        (result("r", "c", "2", &op).replace(r#""turn":1,"#, r#""turn":1,"meta":{},"#), Some("SURF-7")),
    ];
    for (event, rule) in cases {
        assert_eq!(refused(&[&first, &second, &event]).as_deref(), rule, "{event}");
    }
}

#[test]
fn tutorial() {
    let check = |lines: &[&str]| {
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        found(&check(text.as_bytes(), Dialect::Tutorial, Mode::Provider))
    };
    let user =
        r#"{"type":"user/message","seq":0,"time":0,"data":{"role":"user","content":1},"surfaceOp":"append"}"#;
    let none: [&str; 0] = [];
    assert_eq!(check(&[user]), none);
    assert_eq!(check(&[]), none);
    assert_eq!(check(&[&user.replace("content", "x")]), ["SHAPE-1 reject 1 0"]);
    assert_eq!(check(&[&user.replace("user/message", "session/title")]), ["VOCAB-1 unsupported 1 0"]);
    assert_eq!(check(&[&user.replace(r#""time":0"#, r#""time":0.0"#)]), ["JSON-7 note 1 0"]);
    assert_eq!(
        check(&[r#"{"type":"turn/start","seq":0,"time":0,"data":{"turn":2}}"#]),
        ["LIFE-1 relation 1 0", "REPAIR-2 repairable 1 0"]
    );
}
