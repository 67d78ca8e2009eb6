//! Expected values are derived by hand from the contract.

mod codec;
mod json;
mod mutated;
mod reject;
mod relation;
mod session;

use super::{Class, Dialect, Mode, Report, check};

/// A header line that is good.
const HEADER: &str = r#"{"type":"session","version":0,"id":"a","createdAt":0,"delegationDepth":0}"#;

/// A log from event bodies: everything but `seq` and `time`, which are put in by position.
fn log(events: &[&str]) -> String {
    let mut lines = vec![HEADER.to_owned()];
    for (seq, event) in events.iter().enumerate() {
        let (kind, rest) = event.split_once(' ').expect("a type, a space, the other members");
        lines.push(format!("{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{seq},{rest}}}"));
    }
    lines.join("\n") + "\n"
}

fn strict(log: &str) -> Report {
    check(log.as_bytes(), Dialect::DshV0, Mode::Strict)
}

/// The findings as `RULE class line seq`, notes included.
fn found(report: &Report) -> Vec<String> {
    let seq = |seq: Option<u64>| seq.map_or("-".to_owned(), |seq| seq.to_string());
    report
        .findings
        .iter()
        .map(|finding| {
            format!("{} {} {} {}", finding.rule, finding.class.name(), finding.line, seq(finding.seq))
        })
        .collect()
}

/// The rules that a log of these events breaks, without notes and without the open turn at its end.
fn rules(events: &[&str]) -> Vec<String> {
    strict(&log(events))
        .findings
        .iter()
        .filter(|finding| finding.class != Class::Note && finding.rule != "REPAIR-2")
        .map(|finding| {
            format!("{} {}", finding.rule, finding.seq.map_or("-".to_owned(), |seq| seq.to_string()))
        })
        .collect()
}

const TURN: &str = r#"turn/start "data":{"turn":1}"#;
const STEP: &str = r#"step/start "data":{"turn":1,"step":1}"#;
const STEP_END: &str = r#"step/end "data":{"turn":1,"step":1}"#;
const TURN_END: &str = r#"turn/end "data":{"turn":1,"reason":{"kind":"completed"}}"#;

/// A user message with its surface members.
fn user(id: &str, op: &str) -> String {
    format!(
        r#"user/message "data":{{"id":"{id}","role":"user","source":{{"kind":"user"}},"content":[]}},"surfaceOp":{op}"#
    )
}

/// An assistant message of turn 1, step 1 that makes these calls.
fn assistant(id: &str, calls: &[&str], op: &str) -> String {
    let blocks: Vec<String> = calls
        .iter()
        .map(|call| format!(r#"{{"type":"tool-call","id":"{call}","name":"n","arguments":""}}"#))
        .collect();
    format!(
        r#"assistant/message "data":{{"turn":1,"step":1,"message":{{"id":"{id}","role":"assistant","source":{{"kind":"model","provider":"p","model":"m"}},"content":[{}]}}}},"surfaceOp":{op}"#,
        blocks.join(",")
    )
}

fn call(id: &str) -> String {
    format!(r#"tool/call "data":{{"turn":1,"step":1,"callId":"{id}","name":"n","arguments":""}}"#)
}

/// A tool result of turn 1, step 1; `text` is its whole content.
fn result(id: &str, call: &str, text: &str, op: &str) -> String {
    format!(
        r#"tool/result "data":{{"turn":1,"step":1,"message":{{"id":"{id}","role":"user","source":{{"kind":"tool","callId":"{call}"}},"content":[{{"type":"tool-result","toolCallId":"{call}","content":[{text}]}}]}}}},"surfaceOp":{op}"#
    )
}

const APPEND: &str = r#""append""#;

/// A replace of a span that cites these seqs.
fn replace(start: u64, end: u64, cited: &str) -> String {
    format!(r#"{{"op":"replace","start":{start},"end":{end}}},"sourceEventSeqs":[{cited}]"#)
}
