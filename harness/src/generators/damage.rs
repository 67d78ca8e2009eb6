//! Logs that a reader refuses: damage in the committed region, other versions and vocabularies, events that are none.

use super::dice::Dice;
use super::text::{self, Line};
use crate::case::{Call, Encoding, LogSource, Payload, SurfaceOp};
use crate::resolve::Resolver;
use crate::resolve::track::{Node, Track, What};
use std::rc::Rc;

/// An event line that breaks this rule and no other.
pub fn event(rule: &str, seq: u64, dice: &mut Dice<'_>) -> String {
    let head = format!("\"type\":\"session/title\",\"seq\":{seq}");
    match rule {
        "ENV-1" => {
            let more =
                dice.pick(&["\"id\":1", "\"kind\":\"x\"", "\"Data\":0", "\"\":0", "\"ignoreable\":true"]);
            format!("{{{head},\"time\":1,\"data\":{{}},{more}}}")
        }
        "ENV-2" => match dice.below(6) {
            0 => format!("{{{head},\"time\":1}}"),
            1 => format!("{{{head},\"time\":1.5,\"data\":0}}"),
            2 => format!("{{{head},\"data\":0}}"),
            3 => format!("{{{head},\"time\":1,\"data\":0,\"ignorable\":false}}"),
            4 => format!("{{\"type\":7,\"seq\":{seq},\"time\":1,\"data\":0}}"),
            _ => format!("{{{head},\"time\":9007199254740992,\"data\":0}}"),
        },
        "ENV-3" => {
            let wrong =
                if dice.chance(128) { seq + 1 } else { seq.saturating_sub(1).max(u64::from(seq == 0)) };
            format!("{{\"type\":\"session/title\",\"seq\":{wrong},\"time\":1,\"data\":0}}")
        }
        "VOCAB-3" => {
            let ignorable = if dice.chance(128) { ",\"ignorable\":true" } else { "" };
            let kind = dice.pick(&["mode/set", "request/header-delta"]);
            format!("{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":1,\"data\":{{}}{ignorable}}}")
        }
        "VOCAB-1" => {
            let kind = dice.pick(&["x-later/thing", "turn/pause", "user/messages", ""]);
            format!("{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":1,\"data\":{{}}}}")
        }
        "STORE-3" => match dice.below(5) {
            0 => format!("{{\"type\":\"session/title\",\"seq\":{},\"time\":1,\"data\":0}}", seq + 1),
            1 => format!("{{{head},\"time\":1,\"data\":"),
            2 => "[]".to_owned(),
            3 => "{\"type\":\"session/title\",\"time\":1,\"data\":0}".to_owned(),
            _ => format!("{{\"type\":\"session/title\",\"seq\":\"{seq}\",\"time\":1,\"data\":0}}"),
        },
        "STORE-6" => (dice.pick(&["", "\u{feff}{}", "{\"a\":\0}", "  "])).to_owned(),
        _ => {
            let tag = dice.pick(&["text-chunks", "reasoning-chunks"]);
            let data = dice.pick(&[
                "{\"turn\":1,\"step\":1,\"index\":0,\"dt\":[],\"texts\":[]}",
                "{\"turn\":1,\"step\":1,\"index\":0,\"dt\":[1],\"texts\":[\"a\"]}",
                "{\"turn\":1,\"step\":1,\"index\":0,\"dt\":[],\"texts\":[1]}",
                "{\"turn\":1,\"step\":1,\"index\":0,\"dt\":[],\"args\":[\"a\"]}",
                "{\"turn\":1,\"step\":1,\"dt\":[],\"texts\":[\"a\"]}",
                "{\"turn\":1,\"step\":1,\"index\":0,\"dt\":[],\"texts\":[\"a\"],\"id\":\"c\"}",
            ]);
            format!("{{\"type\":\"{tag}\",\"seq0\":{seq},\"time0\":1,\"data\":{data}}}")
        }
    }
}

/// A log of this session's events that is refused under this rule.
pub fn stored(r: &mut Resolver, at: usize, rule: &'static str, dice: &mut Dice<'_>) {
    match rule {
        "VOCAB-1" if dice.chance(128) && r.has_room() => return unknown(r, at, dice),
        "REPAIR-6" if r.has_room() => return hopeless(r, at, dice),
        "REPAIR-6" => return super::views::view(r, at, dice),
        _ => {}
    }
    let rendered = text::render(r, at, dice);
    let (mut lines, track) = rendered.unwrap_or_else(|| (vec![], Track::new(r.fresh().handle)));
    let next = lines.len() as u64;
    let header = Line::header(&track, &r.values, dice).0;
    let header = match rule {
        "STORE-1" => broken_header(&header, dice),
        "STORE-2" => header.replacen(
            "\"version\":0",
            dice.pick(&["\"version\":1", "\"version\":-1", "\"version\":0.5"]),
            1,
        ),
        _ => header,
    };
    // What is damaged is damaged for good only in front of a turn's end.
    let end = format!("{{\"type\":\"turn/end\",\"seq\":{},\"time\":1,\"data\":{{}}}}", next + 1);
    match rule {
        "ENV-1" | "ENV-2" | "VOCAB-1" | "VOCAB-3" => lines.push(Line(event(rule, next, dice))),
        "STORE-3" | "STORE-6" | "CODEC-1" => {
            let bad = Line(event(rule, next, dice));
            lines.extend([bad, Line(end)]);
        }
        "STORE-4" => {
            let bad =
                format!("{{\"type\":\"session/title\",\"seq\":{next},\"time\":1,\"data\":\"\u{fffd}\"}}");
            lines.extend([Line(bad), Line(end)]);
        }
        _ => {}
    }
    lines.insert(0, Line(header));
    let (log, encoding) = if rule == "CODEC-3" {
        (broken_frames(&lines, dice), Encoding::Zstd)
    } else if dice.chance(16) && !matches!(rule, "STORE-4") {
        (text::frames(&lines, dice), Encoding::Zstd)
    } else {
        let mut log: Vec<u8> = lines.iter().flat_map(|line| format!("{}\n", line.0).into_bytes()).collect();
        if rule == "STORE-4" {
            damage_text(&mut log);
        }
        (log, Encoding::Plain)
    };
    r.op("refused", Call::Restore { log: LogSource::Bytes(Payload(log)), encoding });
    r.rule = Some(rule);
}

/// The last replacement character becomes a byte that is not UTF-8.
fn damage_text(log: &mut Vec<u8>) {
    if let Some(at) = log.windows(3).rposition(|bytes| bytes == "\u{fffd}".as_bytes()) {
        log.splice(at..at + 3, [0xff]);
    }
}

fn broken_header(header: &str, dice: &mut Dice<'_>) -> String {
    let without = |member: &str| {
        let rest = header.find(member).map(|at| (&header[..at], &header[at..]));
        rest.map_or_else(String::new, |(front, rest)| {
            let end = rest[1..].find([',', '}']).map_or(rest.len(), |end| end + 1);
            format!("{front}{}", &rest[end..])
        })
    };
    match dice.below(8) {
        0 => String::new(),
        1 => "{}".to_owned(),
        2 => header.replacen("\"session\"", "\"sessions\"", 1).replacen(
            "\"version\":0",
            "\"version\":\"0\"",
            1,
        ),
        3 => without(",\"createdAt\""),
        4 => without(",\"delegationDepth\""),
        5 => header.replacen('{', "{\"approvalPolicy\":\"never\",", 1),
        6 => header.replacen("\"createdAt\":7", "\"createdAt\":-7", 1),
        _ => header.replacen('{', "[", 1),
    }
}

fn broken_frames(lines: &[Line], dice: &mut Dice<'_>) -> Vec<u8> {
    let mut log = text::frames(lines, dice);
    match dice.below(3) {
        // Text behind the frames is a bad magic.
        0 => log.extend_from_slice(b"{\"type\":\"turn/end\"}\n"),
        // A skippable frame counts as one too.
        1 => log.extend_from_slice(&[0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]),
        // The whole log in one frame.
        _ => {
            let text: String = lines.iter().map(|line| format!("{}\n", line.0)).collect();
            let seq = lines.len() - 1;
            let more = format!("{{\"type\":\"session/title\",\"seq\":{seq},\"time\":1,\"data\":0}}");
            log = text::frames(&[Line(format!("{text}{more}"))], dice);
        }
    }
    log
}

/// A call without a usable id is admitted, and repair refuses to guess its answer (REPAIR-6).
fn hopeless(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    let session = super::forks::reopen(r, at);
    super::sessions::ensure_step(r, session, dice);
    super::sessions::settle(r, session, dice);
    let call = dice.pick(&["\"id\":\"\",", "", "\"id\":7,", "\"id\":null,"]);
    let content = format!("{{\"type\":\"tool-call\",{call}\"name\":\"read\",\"arguments\":\"{{}}\"}}");
    let data = super::messages::assistant(r, session, &[content], false, dice);
    let node = Node::Assistant { calls: Rc::new([]), empty: false };
    r.event(session, "assistant/message", data.into(), Some(SurfaceOp::Append), None, What::Append(node));
    let handle = Rc::clone(&r.tracks[session].handle);
    r.op(&handle, Call::Repair);
    r.tracks[session].poisoned = true;
    r.rule = Some("REPAIR-6");
}

/// An event of an unknown type gets into a live session, since append asks nothing of types, and no reader opens the
/// log after that (VOCAB-1, LIVE-7).
fn unknown(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    let session = super::forks::reopen(r, at);
    let kind = dice.pick(&["x-later/thing", "turn/pause", "request/headers"]);
    let data = r.values.value(dice, 2);
    r.append(session, kind, data, What::Other);
    let handle = Rc::clone(&r.tracks[session].handle);
    let dump = r.op(&handle, Call::Dump { packed: dice.chance(128), encoding: Encoding::Plain });
    r.op("refused", Call::Restore { log: LogSource::Dump(dump), encoding: Encoding::Plain });
    r.tracks[session].poisoned = true;
    r.rule = Some("VOCAB-1");
}
