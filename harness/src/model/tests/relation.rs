//! LIFE, PAIR, INBOX, COMP, SHAPE-6 and the ends of REPAIR.

use super::*;

const NONE: [&str; 0] = [];

/// The rules that these events break inside an open step of turn 1; their seqs begin at 2.
fn step(events: &[&str]) -> Vec<String> {
    rules(&[&[TURN, STEP], events].concat())
}

fn turn(number: u64) -> String {
    format!(r#"turn/start "data":{{"turn":{number}}}"#)
}

#[test]
fn life() {
    let end = |number: u64| TURN_END.replace("\"turn\":1", &format!("\"turn\":{number}"));
    assert_eq!(rules(&[TURN, STEP, STEP_END, TURN_END, &turn(2), &end(2)]), NONE);
    // A wrong number is one mistake: counting goes on from it.
    assert_eq!(rules(&[&turn(5), &end(5), &turn(6)]), ["LIFE-1 0"]);
    assert_eq!(rules(&[TURN, &turn(2), &end(2), &turn(3)]), ["LIFE-1 1"]);
    assert_eq!(rules(&[TURN, &end(2), &turn(2)]), ["LIFE-1 1"]);
    assert_eq!(rules(&[TURN, STEP, TURN_END, &turn(2)]), ["LIFE-1 2"]);
    // Any name fits a turn whose own number was no number, and a step outside of any turn.
    assert_eq!(rules(&[r#"turn/start "data":{"turn":"1"}"#, TURN_END, TURN]), ["LIFE-1 0"]);
    assert_eq!(rules(&[TURN, STEP, STEP, STEP_END, STEP_END]), ["LIFE-2 2", "LIFE-2 4"]);
    assert_eq!(rules(&[STEP, STEP_END]), ["LIFE-2 0"]);
    let said = assistant("a", &[], APPEND);
    assert_eq!(rules(&[TURN, &said, r#"todo/write "data":0"#]), ["LIFE-3 1"]);
    assert_eq!(rules(&[r#"todo/write "data":0"#]), ["LIFE-4 0"]);
    let reason = |reason: &str| rules(&[TURN, &format!(r#"turn/end "data":{{"turn":1,"reason":{reason}}}"#)]);
    for good in [
        r#"{"kind":"blocked"}"#,
        r#"{"kind":"aborted","reason":{"kind":"user"}}"#,
        r#"{"kind":"error","error":{"message":"","code":""}}"#,
        r#"{"kind":"max-tokens"}"#,
        r#"{"kind":"interrupted"}"#,
    ] {
        assert_eq!(reason(good), NONE, "{good}");
    }
    for bad in [r#"{"kind":"x"}"#, r#"{"kind":"aborted"}"#, r#"{"kind":"error","error":{"message":""}}"#, "1"]
    {
        assert_eq!(reason(bad), ["LIFE-5 1"], "{bad}");
    }
}

#[test]
fn calls_and_results() {
    let (asks, asked) = (assistant("a", &["c", "d"], APPEND), [call("c"), call("d")]);
    let (c, d) = (result("rc", "c", "", APPEND), result("rd", "d", "", APPEND));
    let [c_call, d_call] = &asked;
    assert_eq!(step(&[&asks, c_call, &c, d_call, &d, STEP_END]), NONE);
    // The empty message separates nothing.
    assert_eq!(step(&[&asks, c_call, d_call, &c, &assistant("e", &[], APPEND), &d, STEP_END]), NONE);
    assert_eq!(step(&[&asks, c_call, &c, STEP_END]), ["PAIR-3 5"]);
    assert_eq!(step(&[&asks, &c, d_call, &d]), ["PAIR-1 3"]);
    let synthetic =
        c.replace(r#""message":"#, r#""error":{"name":"x","code":"TOOL_NOT_STARTED"},"message":"#);
    assert_eq!(step(&[&asks, &synthetic]), NONE);
    assert_eq!(step(&[&asks, c_call, &c, d_call, &user("u", APPEND), &d]), ["PAIR-2 6", "PAIR-2 7"]);
    assert_eq!(step(&[c_call, &c]), ["PAIR-2 3"]);
    assert_eq!(step(&[&assistant("a", &["c", "c"], APPEND)]), ["PAIR-4 2"]);
    assert_eq!(step(&[&assistant("a", &[""], APPEND)]), ["REPAIR-6 0", "PAIR-4 2"]);
}

#[test]
fn replaces_keep_pairs() {
    let (asks, c_call, c) = (assistant("a", &["c"], APPEND), call("c"), result("rc", "c", "", APPEND));
    let first = user("u", APPEND);
    // Seqs: 2 user, 3 assistant, 4 call, 5 result.
    let head = [first.as_str(), &asks, &c_call, &c];
    let with = |event: &str| step(&[&head[..], &[event]].concat());
    assert_eq!(with(&user("s", &replace(2, 5, "2,3,5"))), NONE);
    assert_eq!(with(&user("s", &replace(3, 5, "3,5"))), NONE);
    assert_eq!(with(&user("s", &replace(2, 3, "2,3"))), ["PAIR-2 6"]);
    assert_eq!(with(&user("s", &replace(5, 5, "5"))), ["PAIR-2 6"]);
    assert_eq!(with(&result("rc", "c", "1", &replace(5, 5, "5"))), NONE);
    // A replace elsewhere leaves a call that is still unanswered at the tail alone; one that hides it does not.
    let open = |event: &str| step(&[&first, &asks, event]);
    assert_eq!(open(&user("s", &replace(2, 2, "2"))), NONE);
    assert_eq!(open(&user("s", &replace(2, 3, "2,3"))), ["PAIR-2 4"]);
    assert_eq!(open(&assistant("s", &["c"], &replace(2, 3, "2,3"))), NONE);
}

#[test]
fn identities() {
    assert_eq!(rules(&[&user("a", APPEND), &user("a", APPEND)]), ["SHAPE-6 1"]);
    assert_eq!(rules(&[&user("a", APPEND), &user("a", &replace(0, 0, "0"))]), NONE);
}

#[test]
fn chunks() {
    let chunk = |chunk: &str| format!(r#"assistant/chunk "data":{{"turn":1,"step":1,"chunk":{chunk}}}"#);
    let text = |text: &str| chunk(&format!(r#"{{"type":"text-delta","index":1,"text":"{text}"}}"#));
    let call = chunk(r#"{"type":"tool-call-delta","index":0,"id":"c","name":"n","argumentsDelta":"{}"}"#);
    let finish = chunk(r#"{"type":"finish","reason":{"kind":"stop"}}"#);
    let said = |content: &str, cited: &str| {
        assistant("a", &[], &format!(r#""append","sourceEventSeqs":[{cited}]"#))
            .replace(r#""content":[]"#, &format!(r#""content":[{content}]"#))
    };
    let noted = |events: &[&str]| {
        let report = strict(&log(&[&[TURN, STEP], events].concat()));
        report.findings.iter().filter(|finding| finding.rule == "PAIR-5").count()
    };
    let content = r#"{"type":"tool-call","id":"c","name":"n","arguments":"{}"},{"type":"text","text":"xy"}"#;
    let (x, y) = (text("x"), text("y"));
    assert_eq!(noted(&[&x, &call, &y, &finish, &said(content, "5,4,3,2")]), 0);
    assert_eq!(noted(&[&x, &call, &y, &finish, &said(content, "4,3,2")]), 1);
    assert_eq!(noted(&[&x, &call, &y, &finish, &said("", "2,3,4,5")]), 1);
    // A failed attempt ends with its finish; the next one starts behind it.
    assert_eq!(noted(&[&x, &finish, &call, &y, &finish, &said(&content.replace("xy", "y"), "4,5,6")]), 0);
    assert_eq!(noted(&[&said("", "")]), 0);
    let block = chunk(r#"{"type":"block-end","index":1,"block":{"type":"text","text":"z"}}"#);
    assert_eq!(noted(&[&x, &block, &said(r#"{"type":"text","text":"z"}"#, "2,3")]), 0);
}

#[test]
fn inbox() {
    let splice = |members: &str| format!(r#"agent/inbox/spliced "data":{{{members}}}"#);
    let add = |target: &str, id: &str| {
        splice(&format!(r#""target":"{target}","start":0,"inserted":[{{"id":"{id}"}}]"#))
    };
    let a = add("next-turn", "a");
    assert_eq!(rules(&[&a, &add("next-step", "b")]), NONE);
    assert_eq!(rules(&[&a, &add("next-step", "a")]), ["INBOX-2 1"]);
    let again = splice(r#""target":"next-turn","start":0,"removedCount":1,"inserted":[{"id":"a"}]"#);
    assert_eq!(rules(&[&a, &again]), NONE);
    for bad in [
        r#""target":"x","start":0,"inserted":[]"#,
        r#""target":"next-turn","start":2,"inserted":[]"#,
        r#""target":"next-turn","start":0,"removedCount":2,"inserted":[]"#,
        r#""target":"next-turn","start":0,"removedCount":null,"inserted":[]"#,
        r#""target":"next-turn","start":-1,"inserted":[]"#,
        r#""target":"next-turn","start":0"#,
    ] {
        assert_eq!(rules(&[&a, &splice(bad)]), ["INBOX-1 1"], "{bad}");
    }
}

fn start(turn: &str) -> String {
    format!(r#"compaction/start "data":{{"compactionId":"k","turn":{turn}}}"#)
}

fn end(turn: &str, error: &str) -> String {
    format!(r#"compaction/end "data":{{"compactionId":"k","turn":{turn}{error}}}"#)
}

fn summary(seqs: &str, first: u64, last: u64) -> String {
    format!(
        r#"compaction/summary "data":{{"compactionId":"k","shadowedRange":{{"start":{first},"end":{last}}},"shadowedSeqs":[{seqs}],"shadowedTokenCount":0}}"#
    )
}

#[test]
fn compaction() {
    let u = user("u", APPEND);
    let mark = user("k", &replace(0, 0, "0"))
        .replace(r#"{"kind":"user"}"#, r#"{"kind":"plugin","compactionId":"k"}"#);
    let (open, close, told) = (start("null"), end("null", ""), summary("0", 0, 0));
    let failed = end("null", r#","error":{}"#);
    assert_eq!(rules(&[&u, &open, &told, &mark, &close]), NONE);
    assert_eq!(rules(&[&u, &open, &failed]), NONE);
    assert_eq!(rules(&[&u, &open, &close]), ["COMP-2 2"]);
    assert_eq!(rules(&[&close]), ["COMP-1 0"]);
    assert_eq!(rules(&[&open, &open, &failed]), ["COMP-1 1"]);
    assert_eq!(rules(&[&start("1"), &end("1", r#","error":0"#)]), ["COMP-1 0"]);
    assert_eq!(rules(&[TURN, &open, &failed]), ["COMP-1 1"]);
    assert_eq!(rules(&[TURN, &start("1"), TURN_END]), ["COMP-1 2"]);
    assert_eq!(rules(&[&open, TURN]), ["COMP-1 1"]);
    assert_eq!(rules(&[&told]), ["COMP-2 0"]);
    assert_eq!(rules(&[&open, &told, &told, &close]), ["COMP-2 2"]);
    assert_eq!(rules(&[&open, &summary("0", 0, 1), &close]), ["COMP-2 1"]);
    assert_eq!(rules(&[&open, &summary("", 0, 0), &close]), ["COMP-2 1"]);
    assert_eq!(rules(&[&u, &mark]), ["COMP-3 1"]);
    let idle = r#"session/title "data":0"#;
    assert_eq!(rules(&[&u, &open, &told, idle, &mark, &close]), ["COMP-3 4"]);
    assert_eq!(rules(&[&u, &open, &summary("0,0", 0, 0), &mark, &close]), ["COMP-3 3"]);
    // A bracket whose process is gone is stale, not busy.
    let seed = r#"session/end-seed "data":{}"#;
    let interrupted = r#"turn/end "data":{"turn":1,"reason":{"kind":"interrupted"}}"#;
    assert_eq!(rules(&[&open, seed]), NONE);
    assert_eq!(rules(&[&open, seed, &failed]), ["COMP-4 2"]);
    assert_eq!(rules(&[&open, seed, &told]), ["COMP-4 2"]);
    assert_eq!(rules(&[TURN, &start("1"), interrupted]), NONE);
}

#[test]
fn prunes() {
    let prune = r#"compaction/prune "data":{"shadowedRange":{"start":0,"end":1},"shadowedSeqs":[0,1],"shadowedTokenCount":1}"#;
    let (a, b) = (user("a", APPEND), user("b", APPEND));
    let next = user("c", &replace(0, 1, "0,1"));
    assert_eq!(rules(&[&a, &b, prune, &next]), NONE);
    assert_eq!(rules(&[&a, &b, prune]), NONE);
    assert_eq!(rules(&[&a, &b, prune, &user("c", &replace(0, 0, "0"))]), ["COMP-5 2"]);
    assert_eq!(rules(&[&a, &b, prune, &user("c", APPEND), &user("d", APPEND)]), ["COMP-5 2"]);
    assert_eq!(rules(&[&a, &b, prune, r#"session/end-seed "data":{}"#, TURN]), NONE);
    let interrupted = r#"turn/end "data":{"turn":1,"reason":{"kind":"interrupted"}}"#;
    assert_eq!(step(&[&a, prune, STEP_END, interrupted]), NONE);
    assert_eq!(step(&[&a, prune, STEP_END, TURN_END]), ["COMP-5 3"]);
}

#[test]
fn stages() {
    let text = log(&[TURN, STEP, TURN_END, &user("a", APPEND), &user("a", APPEND)]);
    let verdict = |mode| check(text.as_bytes(), Dialect::DshV0, mode).verdict;
    assert_eq!(verdict(Mode::Provider), "accept");
    assert_eq!(verdict(Mode::Publish), "relation");
    let published = check(text.as_bytes(), Dialect::DshV0, Mode::Publish);
    assert_eq!(found(&published), ["LIFE-1 relation 4 2"]);
}
