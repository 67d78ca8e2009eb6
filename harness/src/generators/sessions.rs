//! What happens in a session: turns, steps, streams, calls and what stands between them.
//!
//! Each function first brings the session where its event is legal.

use super::dice::Dice;
use super::messages::{self, Reply};
use crate::case::SurfaceOp;
use crate::resolve::Resolver;
use crate::resolve::track::{Chunk, Named, Node, What};
use std::rc::Rc;

/// Opens a turn unless one is open.
pub fn ensure_turn(r: &mut Resolver, at: usize) {
    if r.tracks[at].turn.is_none() {
        end_bracket(r, at);
        let turn = r.tracks[at].turns + 1;
        r.append(at, "turn/start", format!("{{\"turn\":{turn}}}"), What::TurnStart);
    }
}

/// Opens a step unless one is open.
pub fn ensure_step(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    ensure_turn(r, at);
    if r.tracks[at].step.is_none() {
        let place = messages::place(r.tracks[at].turn, Some(r.tracks[at].steps + 1));
        r.append(at, "step/start", format!("{{{place}}}"), What::StepStart);
        if !r.tracks[at].header && dice.chance(240) {
            header(r, at, dice);
        }
    }
}

/// Answers every call that waits.
pub fn settle(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    while !r.tracks[at].waiting.is_empty() {
        let which = dice.below(r.tracks[at].waiting.len());
        messages::result(r, at, which, dice);
    }
}

/// Ends the open step, when one is open.
pub fn end_step(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    if r.tracks[at].step.is_some() {
        settle(r, at, dice);
        let place = messages::place(r.tracks[at].turn, r.tracks[at].step);
        r.append(at, "step/end", format!("{{{place}}}"), What::StepEnd);
    }
}

/// Ends the open bracket, when one is open, as a failed one.
pub fn end_bracket(r: &mut Resolver, at: usize) {
    if let Some(bracket) = r.tracks[at].bracket.clone() {
        let turn = bracket.turn.map_or("null".to_owned(), |turn| turn.to_string());
        let error = "{\"message\":\"the summary model timed out\",\"code\":\"TIMEOUT\"}";
        let data = format!("{{\"compactionId\":\"{}\",\"turn\":{turn},\"error\":{error}}}", bracket.id);
        r.append(at, "compaction/end", data, What::BracketEnd);
    }
}

const REASONS: [&str; 7] = [
    "{\"kind\":\"completed\"}",
    "{\"kind\":\"completed\"}",
    "{\"kind\":\"blocked\"}",
    "{\"kind\":\"max-tokens\"}",
    "{\"kind\":\"interrupted\"}",
    "{\"kind\":\"aborted\",\"reason\":{\"kind\":\"user\"}}",
    "{\"kind\":\"error\",\"error\":{\"message\":\"no route\",\"code\":\"E_NET\"}}",
];

/// Ends the open turn, when one is open.
pub fn end_turn(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    if let Some(turn) = r.tracks[at].turn {
        end_step(r, at, dice);
        let reason = dice.pick(&REASONS);
        let interrupted = reason.contains("interrupted");
        if !interrupted {
            end_bracket(r, at);
        }
        r.append(
            at,
            "turn/end",
            format!("{{\"turn\":{turn},\"reason\":{reason}}}"),
            What::TurnEnd(interrupted),
        );
    }
}

/// A user message at the tail: mostly in a step, sometimes between turns or steps.
pub fn user(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    if dice.chance(200) {
        ensure_step(r, at, dice);
    }
    settle(r, at, dice);
    let claimed = r.tracks[at].claimed.pop();
    let data = messages::user(r, claimed, "{\"kind\":\"user\"}", dice);
    r.event(at, "user/message", data.into(), Some(SurfaceOp::Append), None, What::Append(Node::User));
}

/// Some chunks.
pub fn chunks(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    ensure_step(r, at, dice);
    let kinds = [None, Some("text"), Some("reasoning"), Some("tool-call")];
    let mut kind = dice.pick(&kinds);
    let alike = dice.chance(160);
    for _ in 0..dice.within(1, r.burst) {
        chunk(r, at, kind, dice);
        if !alike {
            kind = dice.pick(&kinds);
        }
    }
}

fn chunk(r: &mut Resolver, at: usize, kind: Option<&'static str>, dice: &mut Dice<'_>) {
    let place = messages::place(r.tracks[at].turn, r.tracks[at].step);
    let (text, chunk) = match kind {
        Some(kind @ "tool-call") => {
            let index = 4 + dice.below(2);
            let (id, mut name) = named(r, at, index, dice);
            if dice.chance(24) {
                name = None;
            }
            let text = r.values.inner(dice);
            let member = name.as_ref().map(|name| format!(",\"name\":\"{name}\"")).unwrap_or_default();
            let data = format!(
                "{{\"type\":\"tool-call-delta\",\"index\":{index},\"id\":\"{id}\"{member},\"argumentsDelta\":\"{text}\"}}"
            );
            (data, Chunk::Delta { index, kind, text: text.into(), call: Some((id, name)) })
        }
        Some(kind) => {
            let index = usize::from(kind == "text") * 2 + usize::from(dice.chance(32));
            let text = r.values.inner(dice);
            let data = format!("{{\"type\":\"{kind}-delta\",\"index\":{index},\"text\":\"{text}\"}}");
            (data, Chunk::Delta { index, kind, text: text.into(), call: None })
        }
        None => other_chunk(r, at, dice),
    };
    r.append(at, "assistant/chunk", format!("{{{place},\"chunk\":{text}}}"), What::Chunk(chunk));
}

/// The call of a block: the one that it has, or one with an id that the step did not use.
fn named(r: &mut Resolver, at: usize, index: usize, dice: &mut Dice<'_>) -> Named {
    let track = &r.tracks[at];
    if !track.finished
        && let Some(call) = track.blocks.get(&index).and_then(|block| block.call.clone())
    {
        return call;
    }
    let others = track.blocks.values().filter_map(|block| block.call.as_ref().map(|(id, _)| Rc::clone(id)));
    let taken: Vec<Rc<str>> = track.used.iter().cloned().chain(others).collect();
    (messages::call_id(r, &taken, dice), Some((dice.pick(&["read", "bash", "edit"])).into()))
}

fn other_chunk(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) -> (String, Chunk) {
    match dice.below(4) {
        0 => ("{\"type\":\"block-start\",\"index\":2,\"blockType\":\"text\"}".to_owned(), Chunk::Begin(2)),
        1 => {
            let joined = r.tracks[at].blocks.get(&2).and_then(|block| block.joined.clone());
            let text = joined.map_or_else(|| r.values.inner(dice), |(_, text)| text);
            let block = format!("{{\"type\":\"text\",\"text\":\"{text}\"}}");
            (format!("{{\"type\":\"block-end\",\"index\":2,\"block\":{block}}}"), Chunk::End(2, block.into()))
        }
        2 => {
            let usage = format!("{{\"inputTokens\":{},\"outputTokens\":3}}", r.values.number(dice));
            (format!("{{\"type\":\"usage\",\"usage\":{usage}}}"), Chunk::Other)
        }
        _ => {
            let kind = dice.pick(&["stop", "tool-calls", "max-tokens", "aborted", "error"]);
            (format!("{{\"type\":\"finish\",\"reason\":{{\"kind\":\"{kind}\"}}}}"), Chunk::Finish)
        }
    }
}

/// An assistant message over the stream, or of its own, sometimes empty.
pub fn reply(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    ensure_step(r, at, dice);
    if dice.chance(48) && r.tracks[at].stream.is_empty() {
        chunks(r, at, dice);
    }
    let empty = dice.chance(28);
    if !empty {
        settle(r, at, dice);
    }
    messages::reply(r, at, if empty { Reply::Empty } else { Reply::Text }, dice);
}

/// An assistant message with calls.
pub fn calls(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    ensure_step(r, at, dice);
    settle(r, at, dice);
    messages::reply(r, at, Reply::Calls, dice);
    // Most calls start at once, so that answers find something to answer.
    for which in 0..r.tracks[at].waiting.len() {
        if dice.chance(200) {
            messages::start(r, at, which, dice);
        }
    }
}

/// A tool starts; a tool that was started may start again.
pub fn start(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    if r.tracks[at].waiting.is_empty() {
        return calls(r, at, dice);
    }
    let which = dice.below(r.tracks[at].waiting.len());
    messages::start(r, at, which, dice);
}

/// A call is answered, in any order.
pub fn answer(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    if r.tracks[at].waiting.is_empty() {
        return calls(r, at, dice);
    }
    let which = dice.below(r.tracks[at].waiting.len());
    messages::result(r, at, which, dice);
}

/// The open step ends, or one begins.
pub fn step(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    match r.tracks[at].step {
        Some(_) => end_step(r, at, dice),
        None => ensure_step(r, at, dice),
    }
}

/// The open turn ends; where none is open, one begins, and sometimes ends at once.
pub fn turn(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    if r.tracks[at].turn.is_some() {
        return end_turn(r, at, dice);
    }
    ensure_turn(r, at);
    if dice.chance(96) {
        end_turn(r, at, dice);
    }
}

/// A failed attempt: perhaps chunks, then the announcement and the start of the next.
pub fn retry(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    ensure_step(r, at, dice);
    if dice.chance(128) {
        chunks(r, at, dice);
    }
    let place = messages::place(r.tracks[at].turn, r.tracks[at].step);
    let attempt = r.tracks[at].attempts;
    let delay = r.values.number(dice);
    if dice.chance(220) {
        let data = format!("{{{place},\"attempt\":{attempt},\"delayMs\":{delay}}}");
        r.append(at, "llm/retry", data, What::Other);
    }
    r.append(at, "llm/retry-started", format!("{{{place},\"attempt\":{attempt}}}"), What::RetryStarted);
}

/// The stream or the tools are interrupted: perhaps a message marked so, then the turn ends.
pub fn abort(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    ensure_step(r, at, dice);
    chunks(r, at, dice);
    if dice.chance(128) {
        settle(r, at, dice);
        messages::reply(r, at, Reply::Interrupted, dice);
    }
    end_turn(r, at, dice);
}

/// A request header: the first, a change, or one written at a resume.
pub fn header(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    ensure_turn(r, at);
    let data = messages::header(r, at, dice);
    r.append(at, "request/header", data, What::Header);
}

/// A request context.
pub fn context(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    ensure_turn(r, at);
    let extra = r.values.extra(dice, &["provider", "model"]);
    let data = format!("{{\"provider\":\"orchid\",\"model\":\"orchid-2\"{extra},\"contextWindow\":64000}}");
    r.append(at, "request/context", data, What::Other);
}

/// A todo list.
pub fn todo(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    ensure_turn(r, at);
    let entry = |content: String| format!("{{\"content\":{content},\"status\":\"pending\"}}");
    let todos: Vec<String> = (0..dice.below(3)).map(|_| entry(r.values.text(dice))).collect();
    r.append(at, "todo/write", format!("{{\"todos\":[{}]}}", todos.join(",")), What::Other);
}

/// A splice of one of the two lists.
pub fn inbox(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    let list = dice.below(2);
    let length = r.tracks[at].inbox[list].len();
    let start = dice.below(length + 1);
    let removed = dice.below(length - start + 1);
    let count = if removed == 0 { dice.within(1, 2) } else { dice.below(2) };
    let mut ids = vec![];
    let mut inserted = vec![];
    for _ in 0..count {
        let id = r.id(dice);
        inserted.push(messages::user(r, Some(Rc::clone(&id)), "{\"kind\":\"user\"}", dice));
        ids.push(id);
    }
    let target = ["next-turn", "next-step"][list];
    let removal = match removed {
        0 if dice.chance(128) => String::new(),
        _ => format!(",\"removedCount\":{removed}"),
    };
    let outcome = if dice.chance(32) { ",\"outcome\":\"canceled\"" } else { "" };
    let data = format!(
        "{{\"target\":\"{target}\",\"start\":{start}{removal},\"inserted\":[{}]{outcome}}}",
        inserted.join(",")
    );
    r.append(at, "agent/inbox/spliced", data, What::Inbox(list, start, removed, ids.into()));
}

const EXTENSIONS: [&str; 12] = [
    "session/title",
    "hook/invoked",
    "hook/result",
    "command/run",
    "command/done",
    "goal/change",
    "plan/mode",
    "approval/asked",
    "subagent/descriptor",
    "tool/code-dispatch",
    "feedback/record",
    "team/task",
];

/// An event of an extension, with any payload: it is log-only, whatever it holds.
pub fn extension(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    let kind = dice.pick(&EXTENSIONS);
    let data = r.values.value(dice, 3);
    r.append(at, kind, data, What::Other);
}
