//! SEED, FORK, REQ, PROJ, REPAIR and append.

use super::*;
use crate::model::Session;

fn session(events: &[&str]) -> Session {
    Session::restore(Dialect::DshV0, log(events).as_bytes(), false).expect("it opens")
}

#[test]
fn append_checks_and_changes_nothing_when_it_fails() {
    let mut session = Session::new(Dialect::DshV0, "s");
    assert_eq!(session.append("anything/else", "{}", None, None, 7), Ok(0));
    let before = session.events();
    let rule = |outcome: Result<u64, crate::model::Refusal>| outcome.expect_err("refused").rule;
    assert_eq!(rule(session.append("x", "-0", None, None, 0)), Some("JSON-2"));
    assert_eq!(rule(session.append("x", "0", None, None, i64::MAX)), Some("JSON-3"));
    assert_eq!(rule(session.append("x", "0", None, None, 1 << 53)), Some("ENV-2"));
    assert_eq!(rule(session.append("x", "0},{", None, None, 0)), None);
    assert_eq!(rule(session.append("mode/set", "0", None, None, 0)), Some("VOCAB-3"));
    assert_eq!(rule(session.append("x", "0", Some("\"append\""), None, 0)), Some("SURF-1"));
    assert_eq!(rule(session.append("user/message", "0", None, None, 0)), Some("SHAPE-1"));
    // The envelope is a level of its own.
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    assert_eq!(rule(session.append("x", &deep, None, None, 0)), Some("JSON-5"));
    assert_eq!(session.events(), before);
    assert_eq!(before, r#"[{"type":"anything/else","seq":0,"time":7,"data":{}}]"#);
    let message = r#"{"id":"u","role":"user","source":{"kind":"user"},"content":[]}"#;
    assert_eq!(session.append("user/message", message, Some("\"append\""), Some("[0]"), 8), Ok(1));
    assert_eq!(session.messages(), format!("[{message}]"));
    assert!(session.events().ends_with(r#""sourceEventSeqs":[0],"surfaceOp":"append"}]"#));
}

#[test]
fn projections() {
    let session = session(&[
        &user("a", APPEND),
        &user("b", APPEND),
        TURN,
        STEP,
        &assistant("e", &[], APPEND),
        &user("s", &replace(0, 1, "0,1")),
    ]);
    let message =
        |id: &str| format!(r#"{{"id":"{id}","role":"user","source":{{"kind":"user"}},"content":[]}}"#);
    assert_eq!(session.messages(), format!("[{}]", message("s")));
    assert_eq!(session.transcript(), format!("[{},{}]", message("a"), message("b")));
    assert_eq!(
        session.surface(),
        r#"{"nodes":[5,4],"replaceGeneration":1,"replacements":[{"seq":5,"start":0,"end":1,"shadowedSeqs":[0,1]}]}"#
    );
    assert_eq!(session.at(1).messages(), session.at(4).messages());
    assert_eq!(session.at(0).surface(), r#"{"nodes":[0],"replaceGeneration":0,"replacements":[]}"#);
}

#[test]
fn requests() {
    let header = r#"request/header "data":{"header":{"tools":[],"system":"s","config":{"model":"m","system":1,"provider":"p","messages":2,"7":0},"adapterDefaults":{},"x":1},"reason":"initial"}"#;
    let chunk = r#"assistant/chunk "data":{"turn":1,"step":1,"chunk":{"type":"finish"}}"#;
    let retry = r#"llm/retry-started "data":{}"#;
    // 0 turn, 1 step, 2 user, 3 header, 4 chunk, 5 retry, 6 user, 7 chunk, 8 step end.
    let session =
        session(&[TURN, STEP, &user("a", APPEND), header, chunk, retry, &user("b", APPEND), chunk, STEP_END]);
    assert_eq!(
        session.header(),
        r#"{"config":{"7":0,"model":"m","system":1,"provider":"p","messages":2},"system":"s"}"#
    );
    let request = |step| session.request(step);
    let expect = |seq: u64| {
        let messages = session.at(seq).messages();
        Some(format!(r#"{{"7":0,"model":"m","system":"s","provider":"p","messages":{messages}}}"#))
    };
    assert_eq!(request(Some((1, 1, 1))), expect(3));
    assert_eq!(request(Some((1, 1, 2))), expect(6));
    assert_eq!(request(None), expect(8));
    assert_eq!(request(Some((1, 1, 3))), None);
    assert_eq!(request(Some((1, 1, 0))), None);
    assert_eq!(request(Some((1, 2, 1))), None);
    assert_eq!(session.at(2).request(Some((1, 1, 1))).as_deref(), Some("null"));
    let rebuilt = request(None).expect("a request");
    assert_eq!(session.check_request(&rebuilt), None);
    assert_eq!(session.check_request(&rebuilt.replace("\"m\"", "\"n\"")).as_deref(), Some("model"));
    assert_eq!(session.check_request(&rebuilt.replace("\"7\":0,", "")).as_deref(), Some("7"));
    assert_eq!(session.check_request(&rebuilt.replace("\"7\":0,", "\"7\":0,\"z\":0,")).as_deref(), Some("z"));
    assert_eq!(
        session.check_request(&rebuilt.replace("\"id\":\"b\"", "\"id\":\"c\"")).as_deref(),
        Some("messages")
    );
}

#[test]
fn seeds_and_forks() {
    let seed = Session::from_seed(Dialect::DshV0, "s", &[], 3).expect("an empty list is a seed");
    assert_eq!(seed.events(), r#"[{"type":"session/end-seed","seq":0,"time":3,"data":{}}]"#);
    let again = Session::from_seed(Dialect::DshV0, "s", &[&seed.events()[1..seed.events().len() - 1]], 4);
    assert_eq!(again.expect("it is marked").events(), seed.events());
    let gap = Session::from_seed(Dialect::DshV0, "s", &[r#"{"type":"x","seq":1,"time":0,"data":0}"#], 0);
    assert_eq!(gap.expect_err("a gap").rule, Some("ENV-3"));

    let splice = r#"agent/inbox/spliced "data":{"target":"next-turn","start":0,"inserted":[{"id":"a"}]}"#;
    let parent = session(&[splice, &user("u", APPEND), TURN, TURN_END]);
    assert_eq!(parent.inbox(), r#"{"next-turn":[{"id":"a"}],"next-step":[]}"#);
    assert_eq!(parent.fork(Some(2), "b", 0).map(drop), Err("OPEN_TURN"));
    assert_eq!(parent.fork(Some(4), "b", 0).map(drop), Err("INVALID_BOUNDARY"));
    assert_eq!(parent.fork(None, "a", 0).map(drop), Err("SESSION_ALREADY_EXISTS"));
    let child = parent.fork(Some(1), "b", 5).expect("a child");
    assert_eq!(
        child.session_header(),
        r#"{"type":"session","version":0,"id":"b","createdAt":5,"parentSession":"a","seedLength":2,"delegationDepth":0}"#
    );
    assert_eq!((child.len(), child.messages()), (3, parent.at(1).messages()));
    assert_eq!(child.inbox(), r#"{"next-turn":[],"next-step":[]}"#);
    assert_eq!(strict(&String::from_utf8(child.dump(true)).expect("text")).verdict, "accept");
    let tutorial = Session::new(Dialect::Tutorial, "t").fork(None, "c", 0).expect("a child");
    assert_eq!((tutorial.dump(false), tutorial.request(None).as_deref()), (Vec::new(), Some("null")));
}

#[test]
fn repairs() {
    let asks = assistant("a", &["c", "d", "e"], APPEND);
    let open =
        session(&[TURN, STEP, &asks, &call("c"), &call("d"), &result("rd", "d", "", APPEND), &call("c")]);
    let closers = open.repair().expect("it can be repaired");
    let result = |id: &str, seq: u64, error: &str, code: &str, cited: &str| {
        format!(
            r#"{{"type":"tool/result","seq":{seq},"time":6,"data":{{"turn":1,"step":1,"message":{{"id":"interrupted-tool-result-{id}-{seq}","role":"user","source":{{"kind":"tool","callId":"{id}"}},"content":[{{"type":"tool-result","toolCallId":"{id}","isError":true,"content":[{{"type":"text","text":"The session was interrupted."}}]}}]}},"error":{{"name":"{error}","code":"{code}"}}}},"surfaceOp":"append"{cited}}}"#
        )
    };
    assert_eq!(
        closers,
        [
            result("c", 7, "ToolOutcomeUnknownError", "TOOL_OUTCOME_UNKNOWN", r#","sourceEventSeqs":[6]"#),
            result("e", 8, "ToolNotStartedError", "TOOL_NOT_STARTED", ""),
            r#"{"type":"step/end","seq":9,"time":6,"data":{"turn":1,"step":1}}"#.to_owned(),
            r#"{"type":"turn/end","seq":10,"time":6,"data":{"turn":1,"reason":{"kind":"interrupted"}}}"#
                .to_owned(),
        ]
    );
    // REPAIR-4 and REPAIR-6: the repaired log is accepted and needs nothing more.
    let repaired = String::from_utf8(open.dump(false)).expect("text") + &closers.join("\n") + "\n";
    assert_eq!(strict(&repaired).verdict, "accept");
    let again = Session::restore(Dialect::DshV0, repaired.as_bytes(), false).expect("it opens");
    assert_eq!(again.repair(), Ok(Vec::new()));
    let hopeless = session(&[TURN, STEP, &assistant("a", &[""], APPEND)]);
    assert_eq!(hopeless.repair().expect_err("no id").rule, Some("REPAIR-6"));
}
