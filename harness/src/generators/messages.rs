//! Messages and headers as JSON text, in the members' usual order and sometimes in another.

use super::dice::Dice;
use crate::case::SurfaceOp;
use crate::resolve::Resolver;
use crate::resolve::track::{Block, Inner, Node, What};
use std::rc::Rc;

/// `turn` and `step` as members.
pub fn place(turn: Option<u64>, step: Option<u64>) -> String {
    format!("\"turn\":{},\"step\":{}", turn.unwrap_or(0), step.unwrap_or(0))
}

/// The data of a user message.
pub fn user(r: &mut Resolver, id: Option<Inner>, source: &str, dice: &mut Dice<'_>) -> String {
    let id = id.unwrap_or_else(|| r.id(dice));
    let content = if dice.chance(12) { String::new() } else { block("text", &r.values.inner(dice)) };
    let extra = r.values.extra(dice, &["id", "role", "content", "source"]);
    let identity = format!("\"id\":\"{id}\",\"role\":\"user\"");
    let rest = format!("\"content\":[{content}],\"source\":{source}");
    if dice.chance(r.values.respelled) {
        format!("{{{rest}, {identity}{extra}}}")
    } else {
        format!("{{{identity},{rest}{extra}}}")
    }
}

fn block(kind: &str, text: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"text\":\"{text}\"}}")
}

/// What an assistant message holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing.
    Empty,
    /// What was streamed, or text.
    Text,
    /// Calls, and what was streamed.
    Calls,
    /// What was shown before the stream was cancelled.
    Interrupted,
}

/// The blocks that a stream assembles to, and the calls among them (PAIR-5).
fn assemble(blocks: &std::collections::BTreeMap<usize, Block>) -> (Vec<String>, Vec<Inner>) {
    let mut calls = vec![];
    let mut content = vec![];
    for assembled in blocks.values() {
        match (&assembled.whole, &assembled.joined) {
            (Some(whole), _) => content.push(whole.to_string()),
            (None, Some((_, text))) if assembled.call.is_some() => {
                if let Some((id, name)) = &assembled.call {
                    content.push(call(id, name.as_deref(), text));
                    calls.push(Rc::clone(id));
                }
            }
            (None, Some((kind, text))) => content.push(block(kind, text)),
            (None, None) => {}
        }
    }
    (content, calls)
}

fn call(id: &str, name: Option<&str>, arguments: &str) -> String {
    let name = name.map(|name| format!(",\"name\":\"{name}\"")).unwrap_or_default();
    format!("{{\"type\":\"tool-call\",\"id\":\"{id}\"{name},\"arguments\":\"{arguments}\"}}")
}

/// The id of a call that is none of those taken. Ids come back in later steps: a call is known by its step.
pub fn call_id(r: &Resolver, taken: &[Inner], dice: &mut Dice<'_>) -> Inner {
    const IDS: [&str; 8] = ["c1", "c2", "c3", "call-4", "__proto__", "\\ud800", "0", "\u{2028}"];
    let limit = if dice.chance(r.values.hostile) { IDS.len() } else { 4 };
    let first = dice.below(limit);
    let id = (0..IDS.len())
        .map(|next| IDS[(first + next) % IDS.len()])
        .find(|id| !taken.iter().any(|other| &**other == *id));
    id.map_or_else(|| format!("c{}", 10 + taken.len()).into(), Into::into)
}

/// Appends an assistant message in the open step. Unless it is empty, no call may wait.
pub fn reply(r: &mut Resolver, at: usize, what: Reply, dice: &mut Dice<'_>) {
    let (mut content, mut calls) = assemble(&r.tracks[at].blocks);
    let stream: Vec<u64> = r.tracks[at].stream.clone();
    let mut cited = !stream.is_empty() && dice.chance(224);
    if what == Reply::Empty {
        cited &= content.is_empty();
        (content, calls) = (vec![], vec![]);
    } else if !cited {
        (content, calls) = (vec![block("text", &r.values.inner(dice))], vec![]);
    }
    if what == Reply::Calls && calls.is_empty() {
        cited = false;
        for _ in 0..dice.within(1, 3) {
            let taken: Vec<Inner> = r.tracks[at].used.iter().chain(&calls).cloned().collect();
            let id = call_id(r, &taken, dice);
            content.push(call(&id, Some(dice.pick(&["read", "bash"])), &r.values.inner(dice)));
            calls.push(id);
        }
    }
    let sources = match (cited, stream.is_empty()) {
        (true, _) => Some(r.names(at, stream)),
        // A known empty stream, or nothing known of it.
        (false, true) if content.is_empty() || dice.chance(24) => dice.chance(128).then(Vec::new),
        _ => None,
    };
    // Sources of an empty stream that assemble to something would be worth a note.
    let sources = sources.filter(|sources| !sources.is_empty() || content.is_empty());
    let data = assistant(r, at, &content, what == Reply::Interrupted, dice);
    let node = Node::Assistant { empty: content.is_empty(), calls: calls.into() };
    r.event(at, "assistant/message", data.into(), Some(SurfaceOp::Append), sources, What::Append(node));
}

/// The data of an assistant message.
pub fn assistant(
    r: &mut Resolver,
    at: usize,
    content: &[String],
    interrupted: bool,
    dice: &mut Dice<'_>,
) -> String {
    let id = r.id(dice);
    let place = place(r.tracks[at].turn, r.tracks[at].step);
    let extra = r.values.extra(dice, &["id", "role", "content", "source"]);
    let usage = if dice.chance(64) { ",\"usage\":{\"inputTokens\":9,\"outputTokens\":2}" } else { "" };
    let interrupted = if interrupted { ",\"interrupted\":true" } else { "" };
    format!(
        "{{{place},\"message\":{{\"id\":\"{id}\",\"role\":\"assistant\",\"content\":[{}],\
         \"source\":{{\"kind\":\"model\",\"provider\":\"orchid\",\"model\":\"orchid-2\"}}{extra}}}{usage}{interrupted}}}",
        content.join(",")
    )
}

/// A call that waits is recorded as started.
pub fn start(r: &mut Resolver, at: usize, which: usize, dice: &mut Dice<'_>) {
    let id = Rc::clone(&r.tracks[at].waiting[which].id);
    let place = place(r.tracks[at].turn, r.tracks[at].step);
    let arguments = r.values.text(dice);
    let data = format!("{{{place},\"callId\":\"{id}\",\"name\":\"read\",\"arguments\":{arguments}}}");
    r.append(at, "tool/call", data, What::Call(id));
}

/// A call that waits is answered. One that never started can only be answered as such (PAIR-1).
pub fn result(r: &mut Resolver, at: usize, which: usize, dice: &mut Dice<'_>) {
    let waiting = r.tracks[at].waiting[which].clone();
    let started = !waiting.starts.is_empty() || {
        let late = dice.chance(200);
        if late {
            start(r, at, which, dice);
        }
        late
    };
    let starts = r.tracks[at].waiting[which].starts.clone();
    let (id, place) = (r.id(dice), place(r.tracks[at].turn, r.tracks[at].step));
    let call = waiting.id;
    let tail = match started {
        false => ",\"error\":{\"name\":\"ToolNotStartedError\",\"code\":\"TOOL_NOT_STARTED\"}".to_owned(),
        true if dice.chance(24) => ",\"error\":{\"name\":\"ToolError\",\"code\":\"E_EXIT\"}".to_owned(),
        true if dice.chance(48) => format!(",\"meta\":{}", r.values.value(dice, 2)),
        true => String::new(),
    };
    let flag = if tail.contains("error") { "\"isError\":true," } else { "" };
    let before = format!(
        "{{{place},\"message\":{{\"id\":\"{id}\",\"role\":\"user\",\"source\":{{\"kind\":\"tool\",\"callId\":\"{call}\"}},\
         \"content\":[{{\"type\":\"tool-result\",\"toolCallId\":\"{call}\",{flag}\"content\":"
    );
    let behind = format!("}}]}}{tail}}}");
    let data = format!("{before}{}{behind}", result_content(r, dice));
    let cited = started && dice.chance(224);
    let sources = cited.then(|| r.names(at, starts.last().copied()));
    let node = Node::Result { call, before: before.into(), behind: behind.into() };
    r.event(at, "tool/result", data.into(), Some(SurfaceOp::Append), sources, What::Append(node));
}

/// The content of a result's block.
pub fn result_content(r: &Resolver, dice: &mut Dice<'_>) -> String {
    match dice.below(8) {
        7 => "[]".to_owned(),
        6 => format!("[{},{}]", block("text", &r.values.inner(dice)), r.values.value(dice, 2)),
        _ => format!("[{}]", block("text", &r.values.inner(dice))),
    }
}

/// The data of a request header.
pub fn header(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) -> String {
    let reason = match r.tracks[at].header {
        false => "initial",
        true => dice.pick(&["change", "resume"]),
    };
    let mut config = format!("\"provider\":\"orchid\",\"model\":\"orchid-{}\"", dice.below(3));
    let mut marks = vec![];
    if dice.chance(96) {
        config.push_str(",\"reasoningEffort\":\"high\"");
        marks.push("\"reasoningEffort\":true");
    }
    if dice.chance(96) {
        config.push_str(",\"maxTokens\":4096");
        marks.push("\"maxTokens\":true");
    }
    if dice.chance(64) {
        config.push_str(&format!(",\"temperature\":{}", r.values.number(dice)));
    }
    if dice.chance(r.values.hostile) {
        // A config may name what the request has of its own; then the place is the config's (REQ-3).
        config.push_str(dice.pick(&[
            ",\"messages\":0",
            ",\"system\":null",
            ",\"tools\":{}",
            ",\"7\":1",
            ",\"stop\":[]",
        ]));
    }
    config.push_str(&r.values.extra(dice, &["provider", "model", "messages", "system", "tools", "stop"]));
    let mut members = vec![format!("\"config\":{{{config}}}")];
    marks.truncate(dice.below(3));
    if !marks.is_empty() || dice.chance(32) {
        members.push(format!("\"adapterDefaults\":{{{}}}", marks.join(",")));
    }
    if dice.chance(128) {
        members.push(format!("\"system\":{}", r.values.text(dice)));
    }
    if dice.chance(96) {
        let tool = format!("{{\"name\":\"read\",\"description\":{}}}", r.values.text(dice));
        members.push(format!("\"tools\":[{}]", if dice.chance(192) { &tool } else { "" }));
    }
    if dice.chance(48) {
        members.reverse();
    }
    format!("{{\"header\":{{{}}},\"reason\":\"{reason}\"}}", members.join(","))
}
