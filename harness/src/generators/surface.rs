//! What changes the surface: replaces of every span, rewrites, compactions.

use super::dice::Dice;
use super::{messages, sessions};
use crate::case::{Ref, SurfaceOp, Template};
use crate::resolve::Resolver;
use crate::resolve::track::{Inner, Node, What};
use std::rc::Rc;

/// A span of the surface: the seqs of its nodes, in surface order.
type Span = Vec<u64>;

/// A span that parts no call from its result; nothing when the surface has none.
fn span(r: &Resolver, at: usize, dice: &mut Dice<'_>) -> Option<Span> {
    let track = &r.tracks[at];
    let cuts = track.cuts();
    if cuts.len() < 2 {
        return None;
    }
    let last = cuts.len() - 1;
    let (start, end) = match dice.below(8) {
        // Everything, the head, the tail, one stretch, what holds a replacement.
        0 => (0, last),
        1 => (0, dice.within(1, last)),
        2 => (dice.below(last), last),
        3..=4 => {
            let start = dice.below(last);
            (start, start + 1)
        }
        5 => match cuts
            .windows(2)
            .position(|cut| track.surface[cut[0]..cut[1]].iter().any(|node| node.replacement))
        {
            Some(place) => (dice.within(0, place), dice.within(place + 1, last)),
            None => (0, 1),
        },
        _ => {
            let start = dice.below(last);
            (start, dice.within(start + 1, last))
        }
    };
    Some(track.surface[cuts[start]..cuts[end]].iter().map(|standing| standing.seq).collect())
}

/// The op that replaces a span, and what it cites: every shadowed node, in some order, and perhaps more (SURF-6).
fn replacing(r: &Resolver, at: usize, span: &Span, dice: &mut Dice<'_>) -> (SurfaceOp, Vec<Ref>) {
    let (first, last) = (span.first().copied().unwrap_or(0), span.last().copied().unwrap_or(0));
    let mut cited = span.clone();
    if dice.chance(64) {
        cited.reverse();
    }
    if dice.chance(64) {
        let more = dice.below(r.tracks[at].events.len()) as u64;
        if !cited.contains(&more) {
            cited.insert(dice.below(cited.len() + 1), more);
        }
    }
    let op = SurfaceOp::Replace { start: r.tracks[at].name(first), end: r.tracks[at].name(last) };
    (op, r.names(at, cited))
}

fn whole(span: &Span, node: Node) -> What {
    What::Replace(node, span.first().copied().unwrap_or(0), span.last().copied().unwrap_or(0))
}

/// `shadowedRange`, `shadowedSeqs` and `shadowedTokenCount`, with the seqs left open.
fn shadowed(r: &Resolver, at: usize, span: &Span, into: &mut Template) {
    let names = r.names(at, span.iter().copied());
    let (Some(first), Some(last)) = (names.first().cloned(), names.last().cloned()) else { return };
    into.push("\"shadowedRange\":{\"start\":");
    into.push_seq(first);
    into.push(",\"end\":");
    into.push_seq(last);
    into.push("},\"shadowedSeqs\":[");
    for (place, name) in names.into_iter().enumerate() {
        into.push(if place == 0 { "" } else { "," });
        into.push_seq(name);
    }
    into.push(format!("],\"shadowedTokenCount\":{}", 17 * span.len()));
}

/// Prices the replace that follows (COMP-5); mostly not.
fn perhaps_prune(r: &mut Resolver, at: usize, span: &Span, of_256: u8, dice: &mut Dice<'_>) {
    if dice.chance(of_256) {
        let mut data = Template::from("{");
        shadowed(r, at, span, &mut data);
        data.push("}");
        r.append(at, "compaction/prune", data, What::Announces);
    }
}

/// A span gives way to a user message, or, in a step, to an assistant message without calls.
pub fn replace(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    let Some(span) = span(r, at, dice) else { return sessions::user(r, at, dice) };
    perhaps_prune(r, at, &span, 20, dice);
    let (op, sources) = replacing(r, at, &span, dice);
    if r.tracks[at].step.is_some() && dice.chance(64) {
        let empty = dice.chance(64);
        let text = format!("{{\"type\":\"text\",\"text\":{}}}", r.values.text(dice));
        let content = if empty { vec![] } else { vec![text] };
        let data = messages::assistant(r, at, &content, false, dice);
        let node = Node::Assistant { calls: Rc::new([]), empty };
        r.event(at, "assistant/message", data.into(), Some(op), Some(sources), whole(&span, node));
    } else {
        let source = dice.pick(&["{\"kind\":\"user\"}", "{\"kind\":\"plugin\",\"plugin\":\"notes\"}"]);
        let data = messages::user(r, None, source, dice);
        r.event(at, "user/message", data.into(), Some(op), Some(sources), whole(&span, Node::User));
    }
}

/// An assistant message on the surface is said again, with the calls that it made.
pub fn reword(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    let cuts = r.tracks[at].cuts();
    let standing = r.tracks[at].surface.iter().enumerate();
    let found: Vec<(u64, Rc<[Inner]>, bool)> = standing
        .filter_map(|(place, standing)| match &standing.node {
            // An empty message may stand between a call and its result; there it has to stay empty.
            Node::Assistant { calls, empty } => {
                Some((standing.seq, Rc::clone(calls), *empty && !cuts.contains(&place)))
            }
            _ => None,
        })
        .collect();
    if found.is_empty() {
        return sessions::reply(r, at, dice);
    }
    let (seq, calls, stays_empty) = dice.pick(&found);
    sessions::ensure_step(r, at, dice);
    // Opening the step may have changed nothing on the surface, so the node still stands.
    let empty = stays_empty || (calls.is_empty() && dice.chance(48));
    let mut content = vec![];
    if !empty {
        content.push(format!("{{\"type\":\"text\",\"text\":{}}}", r.values.text(dice)));
        for id in calls.iter() {
            let arguments = r.values.text(dice);
            content.push(format!(
                "{{\"type\":\"tool-call\",\"id\":\"{id}\",\"name\":\"read\",\"arguments\":{arguments}}}"
            ));
        }
    }
    let (op, sources) = replacing(r, at, &vec![seq], dice);
    let data = messages::assistant(r, at, &content, false, dice);
    let what = What::Replace(Node::Assistant { calls, empty }, seq, seq);
    r.event(at, "assistant/message", data.into(), Some(op), Some(sources), what);
}

/// A tool result on the surface gets another content (SURF-7), priced or not.
pub fn rewrite(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    let results: Vec<(u64, Inner, Rc<str>, Rc<str>)> = r.tracks[at]
        .surface
        .iter()
        .filter_map(|standing| match &standing.node {
            Node::Result { call, before, behind } => {
                Some((standing.seq, Rc::clone(call), Rc::clone(before), Rc::clone(behind)))
            }
            _ => None,
        })
        .collect();
    if results.is_empty() {
        return sessions::answer(r, at, dice);
    }
    let (seq, call, before, behind) = dice.pick(&results);
    sessions::ensure_turn(r, at);
    perhaps_prune(r, at, &vec![seq], 110, dice);
    let (op, sources) = replacing(r, at, &vec![seq], dice);
    let data = format!("{before}{}{behind}", messages::result_content(r, dice));
    let what = What::Replace(Node::Result { call, before, behind }, seq, seq);
    r.event(at, "tool/result", data.into(), Some(op), Some(sources), what);
}

/// A bracket is opened and left open.
pub fn bracket(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    if r.tracks[at].bracket.is_some() {
        return compact(r, at, dice);
    }
    let id: Rc<str> = format!("k{}", r.now() % 1_000_000).into();
    let turn = r.tracks[at].turn.map_or("null".to_owned(), |turn| turn.to_string());
    let command = if dice.chance(24) { ",\"sourceCommandId\":\"cmd\"" } else { "" };
    let data = format!("{{\"compactionId\":\"{id}\"{command},\"turn\":{turn}}}");
    r.append(at, "compaction/start", data, What::Bracket(id));
}

/// A compaction: a bracket, a summary of a span, the checkpoint that replaces it, the end; some fail on the way.
pub fn compact(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    if r.tracks[at].bracket.is_none() {
        bracket(r, at, dice);
    }
    let Some(bracket) = r.tracks[at].bracket.clone() else { return };
    let fails = dice.chance(40);
    let span = span(r, at, dice);
    let Some(span) = span.filter(|_| !fails || dice.chance(128)) else {
        return sessions::end_bracket(r, at);
    };
    let mut data =
        Template::from(format!("{{\"compactionId\":\"{}\",\"summary\":{},", bracket.id, r.values.text(dice)));
    shadowed(r, at, &span, &mut data);
    data.push(",\"provider\":\"orchid\",\"model\":\"orchid-2\"}");
    r.append(at, "compaction/summary", data, What::Announces);
    if fails {
        return sessions::end_bracket(r, at);
    }
    let (op, sources) = replacing(r, at, &span, dice);
    let source =
        format!("{{\"kind\":\"plugin\",\"plugin\":\"compaction\",\"compactionId\":\"{}\"}}", bracket.id);
    let data = messages::user(r, None, &source, dice);
    r.event(at, "user/message", data.into(), Some(op), Some(sources), whole(&span, Node::User));
    let turn = bracket.turn.map_or("null".to_owned(), |turn| turn.to_string());
    let data = format!("{{\"compactionId\":\"{}\",\"turn\":{turn}}}", bracket.id);
    r.append(at, "compaction/end", data, What::BracketEnd);
}
