//! Faults: each breaks exactly one named rule, at one append, construction or restore, and changes nothing else, because
//! what is refused leaves no trace. A case carries one fault at most, and its rule.

use super::damage;
use super::dice::Dice;
use crate::case::{Append, Call, Inherited, Payload, Ref, Sources, SurfaceOp, Template};
use crate::resolve::Resolver;
use crate::resolve::track::Node;
use std::rc::Rc;

/// The rules that faults break.
pub const RULES: [&str; 26] = [
    "JSON-1", "JSON-2", "JSON-3", "JSON-5", "JSON-6", "SHAPE-1", "SHAPE-2", "SHAPE-3", "SHAPE-4", "SHAPE-7",
    "SHAPE-8", "SURF-1", "SURF-2", "SURF-3", "SURF-5", "SURF-6", "SURF-7", "VOCAB-3", "ENV-1", "ENV-2",
    "ENV-3", "STORE-1", "STORE-2", "STORE-3", "STORE-4", "STORE-6",
];

/// Rules that only a log can break, beside those above.
pub const STORED: [&str; 5] = ["VOCAB-1", "CODEC-1", "CODEC-3", "VOCAB-3", "REPAIR-6"];

/// Breaks a rule, unless the case broke one already.
pub fn fault(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    if r.rule.is_some() || r.broken {
        return super::views::view(r, at, dice);
    }
    if dice.chance(12) {
        let data = dice.pick(&["{\"turn\":", "", "{} {}", "{'turn':1}", "NaN", "0,\"seq\":9", "\"\n\""]);
        let append = draft(r, "session/title", data);
        let handle = Rc::clone(&r.tracks[at].handle);
        r.op(&handle, Call::Append(append));
        r.broken = true;
        return;
    }
    let choice = dice.below(RULES.len() + STORED.len());
    let rule = match RULES.get(choice) {
        Some(rule) => *rule,
        None => return damage::stored(r, at, STORED[choice - RULES.len()], dice),
    };
    match rule {
        "ENV-1" | "ENV-2" | "ENV-3" => seeded(r, at, rule, dice),
        _ if rule.starts_with("STORE") => damage::stored(r, at, rule, dice),
        _ if rule.starts_with("JSON") => value(r, at, rule, dice),
        _ if rule.starts_with("SURF") => surface(r, at, rule, dice),
        _ => shape(r, at, rule, dice),
    }
}

/// An append that is refused. Nothing is told to the session, because nothing happens to it.
fn refused(r: &mut Resolver, at: usize, rule: &'static str, append: Append) {
    let handle = Rc::clone(&r.tracks[at].handle);
    r.op(&handle, Call::Append(append));
    r.rule = Some(rule);
}

fn draft(r: &mut Resolver, kind: &str, data: impl Into<Template>) -> Append {
    Append { kind: kind.to_owned(), data: data.into(), surface_op: None, sources: None, time: r.now() }
}

/// A value that no writer may log, anywhere in a payload.
fn value(r: &mut Resolver, at: usize, rule: &'static str, dice: &mut Dice<'_>) {
    let deep = format!("{}0{}", "[".repeat(10_000), "]".repeat(10_000));
    let bad: &str = match rule {
        "JSON-1" => dice.pick(&["1e400", "-1e400", "1e309"]),
        "JSON-2" => dice.pick(&["-0", "-0.0", "-0e5"]),
        "JSON-3" => dice.pick(&["9007199254740993", "0.1000000000000000055", "1e-400", "123456789012345678"]),
        "JSON-5" => &deep,
        _ => dice.pick(&["{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":2,\"\\u0061\":3}", "{\"\":0,\"\":0}"]),
    };
    let around = dice.pick(&["{\"x\":%}", "{\"a\":[0,%]}", "[{\"q\":{\"__proto__\":%}}]"]);
    let payload = around.replace('%', bad);
    if dice.chance(96) {
        let message =
            "{\"id\":\"f1\",\"role\":\"user\",\"content\":[],\"source\":{\"kind\":\"user\"},\"x\":%}";
        let mut append = draft(r, "user/message", message.replace('%', &payload));
        append.surface_op = Some(SurfaceOp::Append);
        return refused(r, at, rule, append);
    }
    let append = draft(r, dice.pick(&["session/title", "hook/result", "todo/write"]), payload);
    refused(r, at, rule, append);
}

const SHAPE_1: [(&str, &str); 11] = [
    ("user/message", "{\"id\":\"\",\"role\":\"user\",\"content\":[],\"source\":{\"kind\":\"user\"}}"),
    ("user/message", "{\"role\":\"user\",\"content\":[],\"source\":{\"kind\":\"user\"}}"),
    ("user/message", "{\"id\":7,\"role\":\"user\",\"content\":[],\"source\":{\"kind\":\"user\"}}"),
    ("user/message", "{\"id\":\"f\",\"role\":\"assistant\",\"content\":[],\"source\":{\"kind\":\"user\"}}"),
    ("user/message", "{\"id\":\"f\",\"role\":\"user\",\"content\":\"text\",\"source\":{\"kind\":\"user\"}}"),
    ("user/message", "{\"id\":\"f\",\"role\":\"user\",\"content\":[],\"source\":{\"kind\":\"\"}}"),
    ("user/message", "{\"id\":\"f\",\"role\":\"user\",\"content\":[]}"),
    ("user/message", "null"),
    ("assistant/message", "{\"turn\":1,\"step\":1}"),
    (
        "assistant/message",
        "{\"turn\":1,\"step\":1,\"message\":{\"id\":\"f\",\"role\":\"user\",\"content\":[],\
         \"source\":{\"kind\":\"model\",\"provider\":\"p\",\"model\":\"m\"}}}",
    ),
    ("tool/result", "{\"turn\":1,\"step\":1,\"message\":[]}"),
];

const SHAPE_2: [&str; 4] = [
    "{\"kind\":\"user\"}",
    "{\"kind\":\"model\",\"provider\":\"\",\"model\":\"m\"}",
    "{\"kind\":\"model\",\"provider\":\"p\"}",
    "{\"kind\":\"model\",\"provider\":1,\"model\":\"m\"}",
];

const SHAPE_3: [(&str, &str); 6] = [
    (
        "{\"kind\":\"tool\",\"callId\":\"c\"}",
        "[{\"type\":\"tool-result\",\"toolCallId\":\"d\",\"content\":[]}]",
    ),
    ("{\"kind\":\"tool\",\"callId\":\"c\"}", "[]"),
    ("{\"kind\":\"tool\",\"callId\":\"c\"}", "[{\"type\":\"text\",\"toolCallId\":\"c\",\"content\":[]}]"),
    (
        "{\"kind\":\"tool\",\"callId\":\"c\"}",
        "[{\"type\":\"tool-result\",\"toolCallId\":\"c\",\"content\":\"x\"}]",
    ),
    (
        "{\"kind\":\"tool\",\"callId\":\"\"}",
        "[{\"type\":\"tool-result\",\"toolCallId\":\"\",\"content\":[]}]",
    ),
    (
        "{\"kind\":\"user\",\"callId\":\"c\"}",
        "[{\"type\":\"tool-result\",\"toolCallId\":\"c\",\"content\":[]}]",
    ),
];

const SHAPE_4: [&str; 7] = [
    "{}",
    "{\"config\":{\"provider\":\"p\"}}",
    "{\"config\":{\"provider\":\"\",\"model\":\"m\"}}",
    "{\"config\":{\"provider\":\"p\",\"model\":\"m\",\"reasoningEffort\":\"\"}}",
    "{\"config\":{\"provider\":\"p\",\"model\":\"m\"},\"adapterDefaults\":{\"maxTokens\":true}}",
    "{\"config\":{\"provider\":\"p\",\"model\":\"m\",\"maxTokens\":1},\"adapterDefaults\":{\"maxTokens\":false}}",
    "{\"config\":{\"provider\":\"p\",\"model\":\"m\",\"temperature\":1},\"adapterDefaults\":{\"temperature\":true}}",
];

const SHAPE_7: [(&str, &str); 3] = [
    ("user/message", "{\"content\":\"hello\"}"),
    ("user/message", "{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}],\"source\":{\"kind\":\"user\"}}"),
    ("assistant/message", "{\"turn\":1,\"step\":1,\"message\":{\"content\":[]}}"),
];

const SHAPE_8: [(&str, &str); 5] = [
    ("turn/start", "null"),
    ("turn/start", "[1]"),
    ("turn/end", "\"done\""),
    ("turn/end", "{\"turn\":1,\"reason\":{\"kind\":\"completed\"},\"usage\":{}}"),
    ("turn/end", "7"),
];

const RETIRED: [(&str, &str); 3] = [
    ("request/header-delta", "{}"),
    ("mode/set", "{\"mode\":\"plan\"}"),
    (
        "request/header",
        "{\"header\":{\"config\":{\"provider\":\"p\",\"model\":\"m\"}},\"reason\":\"fallback\"}",
    ),
];

/// A message, header or turn of a shape that the contract does not have.
fn shape(r: &mut Resolver, at: usize, rule: &'static str, dice: &mut Dice<'_>) {
    let (kind, data) = match rule {
        "SHAPE-1" => pair(dice.pick(&SHAPE_1)),
        "SHAPE-2" => {
            let source = dice.pick(&SHAPE_2);
            let message =
                format!("{{\"id\":\"f\",\"role\":\"assistant\",\"content\":[],\"source\":{source}}}");
            ("assistant/message", format!("{{\"turn\":1,\"step\":1,\"message\":{message}}}"))
        }
        "SHAPE-3" => {
            let (source, content) = dice.pick(&SHAPE_3);
            let message =
                format!("{{\"id\":\"f\",\"role\":\"user\",\"content\":{content},\"source\":{source}}}");
            ("tool/result", format!("{{\"turn\":1,\"step\":1,\"message\":{message}}}"))
        }
        "SHAPE-4" => {
            ("request/header", format!("{{\"header\":{},\"reason\":\"change\"}}", dice.pick(&SHAPE_4)))
        }
        "SHAPE-7" => pair(dice.pick(&SHAPE_7)),
        "SHAPE-8" => pair(dice.pick(&SHAPE_8)),
        _ => pair(dice.pick(&RETIRED)),
    };
    let mut append = draft(r, kind, data);
    append.surface_op = kind.ends_with("/message").then_some(SurfaceOp::Append);
    if kind == "tool/result" {
        append.surface_op = Some(SurfaceOp::Append);
    }
    refused(r, at, rule, append);
}

fn pair((kind, data): (&'static str, &str)) -> (&'static str, String) {
    (kind, data.to_owned())
}

const USER: &str = "{\"id\":\"f\",\"role\":\"user\",\"content\":[],\"source\":{\"kind\":\"user\"}}";
const RESULT: &str = "{\"turn\":1,\"step\":1,\"message\":{\"id\":\"f\",\"role\":\"user\",\"source\":{\"kind\":\"tool\",\
                      \"callId\":\"c\"},\"content\":[{\"type\":\"tool-result\",\"toolCallId\":\"c\",\"content\":[]}]}}";

/// An op on the surface that the contract does not admit.
fn surface(r: &mut Resolver, at: usize, rule: &'static str, dice: &mut Dice<'_>) {
    let length = r.tracks[at].len();
    let nodes: Vec<u64> = r.tracks[at].surface.iter().map(|standing| standing.seq).collect();
    // The last three need nodes; where there are none, nothing can be replaced at all.
    let rule = if nodes.is_empty() && matches!(rule, "SURF-6" | "SURF-7") { "SURF-5" } else { rule };
    let mut append = draft(r, "user/message", USER);
    append.surface_op = Some(SurfaceOp::Append);
    let text = |text: &str| Payload::text(text);
    match rule {
        "SURF-1" => match dice.below(3) {
            0 => append.surface_op = None,
            1 => append = Append { kind: "turn/start".to_owned(), data: "{\"turn\":1}".into(), ..append },
            _ => {
                append = draft(r, "session/title", "{}");
                append.sources = Some(Sources::Seqs(vec![Ref::Seq(0)]));
            }
        },
        "SURF-2" => {
            let wrong = dice.pick(&[
                "\"prepend\"",
                "null",
                "{\"op\":\"replace\",\"start\":-1,\"end\":0}",
                "{\"op\":\"append\"}",
                "\"Append\"",
                "{\"op\":\"replace\",\"start\":0}",
                "{\"op\":\"replace\",\"start\":0,\"end\":0,\"note\":1}",
                "{\"op\":\"replace\",\"start\":0.5,\"end\":1}",
                "[\"replace\",0,0]",
            ]);
            append.surface_op = Some(SurfaceOp::Text(text(wrong)));
        }
        "SURF-3" => {
            let own = format!("[{length}]");
            let wrong = dice.pick(&[
                "[]",
                &own,
                "[-1]",
                "[0.5]",
                "null",
                "{}",
                "[null]",
                "[\"0\"]",
                "[9007199254740992]",
            ]);
            append.sources = Some(Sources::Text(text(wrong)));
            if length > 0 && dice.chance(48) {
                append.sources = Some(Sources::Text(text("[0,0]")));
            }
        }
        "SURF-5" => {
            let off: Vec<u64> = (0..length).filter(|seq| !nodes.contains(seq)).collect();
            let gone = if off.is_empty() || dice.chance(32) { length } else { dice.pick(&off) };
            let gone = r.tracks[at].name(gone);
            let stands = nodes.first().map_or(gone.clone(), |seq| r.tracks[at].name(*seq));
            let (start, end) = match dice.below(3) {
                0 if nodes.len() > 1 => {
                    let first = dice.below(nodes.len() - 1);
                    let second = dice.within(first + 1, nodes.len() - 1);
                    (r.tracks[at].name(nodes[second]), r.tracks[at].name(nodes[first]))
                }
                1 => (stands, gone),
                _ => (gone.clone(), gone),
            };
            append.surface_op = Some(SurfaceOp::Replace { start, end });
            append.sources =
                Some(Sources::Seqs(r.names(at, nodes.iter().copied()))).filter(|_| !nodes.is_empty());
        }
        "SURF-6" => {
            let start = dice.below(nodes.len());
            let end = dice.within(start, nodes.len() - 1);
            let mut cited: Vec<u64> = nodes[start..=end].to_vec();
            cited.remove(dice.below(cited.len()));
            let (start, end) = (r.tracks[at].name(nodes[start]), r.tracks[at].name(nodes[end]));
            append.surface_op = Some(SurfaceOp::Replace { start, end });
            append.sources =
                Some(Sources::Seqs(r.names(at, cited.iter().copied()))).filter(|_| !cited.is_empty());
        }
        _ => {
            let which = dice.below(r.tracks[at].surface.len());
            append.kind = "tool/result".to_owned();
            append.data = RESULT.into();
            if let Node::Result { before, behind, .. } = &r.tracks[at].surface[which].node {
                // The same result, but for one thing that is not its content.
                let changed = before.replacen("\"turn\":", "\"turn\":9", 1);
                append.data = format!("{changed}[]{behind}").into();
            }
            let name = r.tracks[at].name(nodes[which]);
            append.surface_op = Some(SurfaceOp::Replace { start: name.clone(), end: name.clone() });
            append.sources = Some(Sources::Seqs(vec![name]));
        }
    }
    refused(r, at, rule, append);
}

/// A session constructed from events of which the last one is no event (SEED-1).
fn seeded(r: &mut Resolver, at: usize, rule: &'static str, dice: &mut Dice<'_>) {
    if dice.chance(96) && rule != "ENV-3" {
        return damage::stored(r, at, rule, dice);
    }
    let lines = super::text::render(r, at, dice).map(|(lines, _)| lines).unwrap_or_default();
    let next = lines.len() as u64;
    let mut events: Vec<Payload> = lines.into_iter().map(|line| Payload::text(line.0)).collect();
    events.push(Payload::text(damage::event(rule, next, dice)));
    r.op("refused", Call::Open { header: None, inherited: Some(Inherited::Events(events)) });
    r.rule = Some(rule);
}
