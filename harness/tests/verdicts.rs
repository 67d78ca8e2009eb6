//! The core's checker and the model find the same in logs that are made of a few events each, at random but always the
//! same: what goes wrong between events (LIFE, PAIR, COMP, SHAPE-6, REPAIR) is cheap to reach that way.

use foldproof_harness::case::Encoding;
use foldproof_harness::systems::{Core, Model, System};

/// A small generator of numbers; the same seed gives the same logs.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.roll(list.len() as u64) as usize]
    }
}

/// The surface as far as the log is admitted: seqs, with the id of the call that a result answers.
#[derive(Default)]
struct Surface(Vec<(u64, Option<String>)>);

fn event(dice: &mut Dice, seq: u64, surface: &mut Surface) -> String {
    let (turn, step) = (1 + dice.roll(8) / 7, 1 + dice.roll(8) / 7);
    let place = format!(r#""turn":{turn},"step":{step}"#);
    let id = dice.roll(12);
    let call = dice.pick(&["a", "a", "b"]).to_owned();
    let user = format!(r#"{{"id":"m{id}","role":"user","content":[],"source":{{"kind":"user"}}}}"#);
    let (kind, data) = match dice.roll(16) {
        0 => ("turn/start", format!(r#"{{"turn":{turn}}}"#)),
        1 => {
            let kind = dice.pick(&["completed", "interrupted", "interrupted", "odd"]);
            ("turn/end", format!(r#"{{"turn":{turn},"reason":{{"kind":"{kind}"}}}}"#))
        }
        2 => ("step/start", format!("{{{place}}}")),
        3 => ("step/end", format!("{{{place}}}")),
        4 | 5 => ("user/message", user),
        6 | 7 => {
            let calls: Vec<String> = (0..dice.roll(3))
                .map(|_| {
                    let id = dice.pick(&[r#""id":"a","#, r#""id":"a","#, r#""id":"b","#, r#""id":"","#, ""]);
                    format!(r#"{{"type":"tool-call",{id}"name":"t","arguments":""}}"#)
                })
                .collect();
            let text = if dice.roll(3) == 0 { r#"{"type":"text","text":"x"}"# } else { "" };
            let content: Vec<&str> = [text]
                .into_iter()
                .chain(calls.iter().map(String::as_str))
                .filter(|part| !part.is_empty())
                .collect();
            let content = content.join(",");
            let source = r#"{"kind":"model","provider":"p","model":"m"}"#;
            let message =
                format!(r#"{{"id":"m{id}","role":"assistant","content":[{content}],"source":{source}}}"#);
            ("assistant/message", format!(r#"{{{place},"message":{message}}}"#))
        }
        8 | 9 => ("tool/call", format!(r#"{{{place},"callId":"{call}","name":"t","arguments":""}}"#)),
        10 | 11 => {
            let error = dice.pick(&["", "", r#","error":{"name":"n","code":"TOOL_NOT_STARTED"}"#]);
            let source = format!(r#"{{"kind":"tool","callId":"{call}"}}"#);
            let block = format!(r#"{{"type":"tool-result","toolCallId":"{call}","content":[]}}"#);
            let message = format!(r#"{{"id":"m{id}","role":"user","source":{source},"content":[{block}]}}"#);
            ("tool/result", format!(r#"{{{place},"message":{message}{error}}}"#))
        }
        12 => ("compaction/start", format!(r#"{{"compactionId":"k","turn":{}}}"#, dice.pick(&["null", "1"]))),
        13 => {
            let error = dice.pick(&["", r#","error":"e""#]);
            (
                "compaction/end",
                format!(r#"{{"compactionId":"k","turn":{}{error}}}"#, dice.pick(&["null", "1"])),
            )
        }
        14 => {
            let kind = dice.pick(&["compaction/summary", "compaction/prune"]);
            let (from, nodes) = span(dice, surface);
            let seqs: Vec<String> = nodes.iter().map(u64::to_string).collect();
            let end = nodes.last().copied().unwrap_or(from);
            let range = format!(r#"{{"start":{from},"end":{end}}}"#);
            (
                kind,
                format!(
                    r#"{{"compactionId":"k","shadowedRange":{range},"shadowedSeqs":[{}],"shadowedTokenCount":1}}"#,
                    seqs.join(",")
                ),
            )
        }
        _ => (dice.pick(&["session/end-seed", "todo/write", "llm/retry-started"]), "{}".to_owned()),
    };
    let mut op = String::new();
    if ["user/message", "assistant/message", "tool/result"].contains(&kind) {
        op = on_surface(dice, seq, kind, &call, surface);
    }
    format!(r#"{{"type":"{kind}","seq":{seq},"time":0,"data":{data}{op}}}"#)
}

/// A span of the surface: its first seq, and all of them.
fn span(dice: &mut Dice, surface: &Surface) -> (u64, Vec<u64>) {
    let length = surface.0.len() as u64;
    if length == 0 {
        return (0, vec![]);
    }
    let first = dice.roll(length);
    let last = first + dice.roll(length - first);
    let nodes: Vec<u64> = surface.0[first as usize..=last as usize].iter().map(|node| node.0).collect();
    (nodes[0], nodes)
}

/// An append, or a replace that is admitted.
fn on_surface(dice: &mut Dice, seq: u64, kind: &str, call: &str, surface: &mut Surface) -> String {
    let answers = (kind == "tool/result").then(|| call.to_owned());
    let (start, nodes) = span(dice, surface);
    let replaces = dice.roll(3) == 0 && !nodes.is_empty() && answers.is_none();
    if !replaces {
        surface.0.push((seq, answers));
        return r#","surfaceOp":"append""#.to_owned();
    }
    let place = surface.0.iter().position(|node| node.0 == start).unwrap_or(0);
    surface.0.splice(place..place + nodes.len(), [(seq, answers)]);
    let cited: Vec<String> = nodes.iter().map(u64::to_string).collect();
    let end = nodes.last().copied().unwrap_or(start);
    let op = format!(r#"{{"op":"replace","start":{start},"end":{end}}}"#);
    format!(r#","sourceEventSeqs":[{}],"surfaceOp":{op}"#, cited.join(","))
}

fn log(dice: &mut Dice) -> String {
    let mut text =
        "{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":0,\"delegationDepth\":0}\n"
            .to_owned();
    let mut surface = Surface::default();
    // Most logs begin properly: otherwise hardly anything is ever open.
    let opening: u64 = if dice.roll(4) > 0 { 2 } else { 0 };
    for (seq, event) in ["turn/start", "step/start"].iter().enumerate().take(opening as usize) {
        text.push_str(&format!(
            "{{\"type\":\"{event}\",\"seq\":{seq},\"time\":0,\"data\":{{\"turn\":1{}}}}}\n",
            if seq == 1 { ",\"step\":1" } else { "" }
        ));
    }
    for seq in opening..opening + 1 + dice.roll(12) {
        text.push_str(&event(dice, seq, &mut surface));
        text.push('\n');
    }
    text
}

#[test]
fn core_and_model_find_the_same() {
    let logs =
        std::env::var("FOLDPROOF_VERDICT_LOGS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut found = std::collections::BTreeMap::<String, u64>::new();
    for number in 0..logs {
        let log = log(&mut dice);
        let core = Core.check("dsh-v0", log.as_bytes(), Encoding::Plain);
        let model = Model.check("dsh-v0", log.as_bytes(), Encoding::Plain);
        assert_eq!(core, model, "log {number}\n{log}");
        let text = core.and_then(|outcome| outcome.ok().map(str::to_owned)).unwrap_or_default();
        for part in text.split("\"rule\":\"").skip(1) {
            *found.entry(part.split('"').next().unwrap_or_default().to_owned()).or_default() += 1;
        }
    }
    // The logs are worth nothing when they do not reach the rules.
    for rule in [
        "LIFE-1", "LIFE-2", "LIFE-3", "LIFE-4", "LIFE-5", "PAIR-1", "PAIR-2", "PAIR-3", "PAIR-4", "SHAPE-6",
        "COMP-1", "COMP-2", "COMP-4", "COMP-5", "REPAIR-2", "REPAIR-6",
    ] {
        assert!(found.get(rule).is_some_and(|count| *count > 20), "{rule} in {found:?}");
    }
}
