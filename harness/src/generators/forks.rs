//! Sessions made of sessions: forks, resumes, seeds, and logs that another harness wrote.

use super::dice::Dice;
use super::text::{self, Line};
use crate::case::{Call, Encoding, Inherited, LogSource, Payload, Ref, View};
use crate::resolve::Resolver;
use crate::resolve::track::{Made, Node, Track, What};
use std::rc::Rc;

/// Puts the marker behind what was inherited, as constructing does (SEED-2).
fn mark(track: &mut Track) {
    if !matches!(track.events.last(), Some(Made { what: What::EndSeed, .. })) {
        let by = Ref::Seq(track.len());
        track.push(Made { by, what: What::EndSeed });
    }
}

/// A fork, at the end or behind some event. Now and then it must be refused (FORK-2).
pub fn fork(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    if !r.has_room() {
        return super::views::view(r, at, dice);
    }
    let track = &r.tracks[at];
    let mut child = r.fresh();
    let refusable = !r.faulty && dice.chance(24);
    let anywhere = dice.below(track.events.len() + usize::from(refusable)) as u64;
    let boundary =
        (dice.chance(128) || track.turn.is_some()).then_some(anywhere).filter(|_| !track.is_empty());
    let count = boundary.map_or(track.len(), |boundary| boundary + 1);
    let (boundary, count) = match boundary {
        // Back to where no turn is open, unless the refusal is wanted.
        Some(_) if !refusable => match (1..=count).rev().find(|count| !track.is_open_at(*count)) {
            Some(count) => (Some(count - 1), count),
            None => return super::views::view(r, at, dice),
        },
        other => (other, count),
    };
    let refused = count > track.len() || track.is_open_at(count);
    let boundary = boundary.map(|boundary| track.name(boundary));
    let call = Call::Fork { boundary, child: child.handle.to_string() };
    let handle = Rc::clone(&track.handle);
    if !refused {
        child = track.again(child.handle, count, count);
        child.generation += 1;
        mark(&mut child);
    }
    r.op(&handle, call);
    if !refused {
        r.enter(child);
    }
}

/// Dump, restore under another name, and go on there, mostly behind the marker.
pub fn resume(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    if !r.has_room() {
        return super::views::view(r, at, dice);
    }
    let encoding = if dice.chance(24) { Encoding::Zstd } else { Encoding::Plain };
    let resumed = reload(r, at, dice.chance(96), encoding);
    let marked = matches!(r.tracks[resumed].events.last(), Some(Made { what: What::EndSeed, .. }));
    if dice.chance(200) && !marked {
        r.append(resumed, "session/end-seed", "{}", What::EndSeed);
    }
}

fn reload(r: &mut Resolver, at: usize, packed: bool, encoding: Encoding) -> usize {
    let handle = Rc::clone(&r.tracks[at].handle);
    let dump = r.op(&handle, Call::Dump { packed, encoding });
    let mut track = r.tracks[at].again(r.fresh().handle, r.tracks[at].len(), r.tracks[at].inherited);
    track.resumed = true;
    let handle = Rc::clone(&track.handle);
    r.op(&handle, Call::Restore { log: LogSource::Dump(dump), encoding });
    r.enter(track)
}

/// A session constructed from the events of another.
pub fn seed(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    if !r.has_room() {
        return super::views::view(r, at, dice);
    }
    if dice.chance(16) {
        let mut track = r.fresh();
        r.op(&track.handle, Call::Open { header: None, inherited: Some(Inherited::Events(vec![])) });
        mark(&mut track);
        r.enter(track);
        return;
    }
    reopen(r, at);
}

pub(super) fn reopen(r: &mut Resolver, at: usize) -> usize {
    let handle = Rc::clone(&r.tracks[at].handle);
    let events = r.op(&handle, Call::view(View::Events));
    let mut track = r.tracks[at].again(r.fresh().handle, r.tracks[at].len(), 0);
    mark(&mut track);
    let handle = Rc::clone(&track.handle);
    r.op(&handle, Call::Open { header: None, inherited: Some(Inherited::Op(events)) });
    r.enter(track)
}

/// The events of a session as another harness would have written them: with events that append does not know, in
/// other spellings, perhaps with a torn tail behind them.
pub fn foreign(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    let Some((mut lines, mut track)) = text::render(r, at, dice).filter(|_| r.has_room()) else {
        return resume(r, at, dice);
    };
    lines.insert(0, Line::header(&track, &r.values, dice));
    let compressed = dice.chance(32);
    let mut log = Vec::new();
    if compressed {
        log = text::frames(&lines, dice);
    } else {
        for line in &lines {
            log.extend_from_slice(line.0.as_bytes());
            log.push(b'\n');
        }
        if dice.chance(64) {
            // Never ended by a newline, so it was never committed.
            let torn =
                format!("{{\"type\":\"turn/start\",\"seq\":{},\"time\":1,\"data\":{{}}}}", track.len());
            log.extend_from_slice(&torn.as_bytes()[..dice.within(1, torn.len())]);
        }
    }
    track.resumed = true;
    let encoding = if compressed { Encoding::Zstd } else { Encoding::Plain };
    let handle = Rc::clone(&track.handle);
    r.op(&handle, Call::Restore { log: LogSource::Bytes(Payload(log)), encoding });
    r.enter(track);
}

/// Closes what stands open, with the events of REPAIR-3.
pub fn repair(r: &mut Resolver, at: usize) {
    let handle = Rc::clone(&r.tracks[at].handle);
    r.op(&handle, Call::Repair);
    let track = &mut r.tracks[at];
    let (Some(turn), step) = (track.turn, track.step) else { return };
    let push = |track: &mut Track, what| {
        let by = Ref::Seq(track.len());
        track.push(Made { by, what });
    };
    if let Some(step) = step {
        for waiting in track.waiting.clone() {
            let (call, seq) = (waiting.id, track.len());
            let before = format!(
                "{{\"turn\":{turn},\"step\":{step},\"message\":{{\"id\":\"interrupted-tool-result-{call}-{seq}\",\
                 \"role\":\"user\",\"source\":{{\"kind\":\"tool\",\"callId\":\"{call}\"}},\"content\":[{{\
                 \"type\":\"tool-result\",\"toolCallId\":\"{call}\",\"isError\":true,\"content\":"
            );
            let (name, code) = match waiting.starts.is_empty() {
                true => ("ToolNotStartedError", "TOOL_NOT_STARTED"),
                false => ("ToolOutcomeUnknownError", "TOOL_OUTCOME_UNKNOWN"),
            };
            let behind = format!("}}]}},\"error\":{{\"name\":\"{name}\",\"code\":\"{code}\"}}}}");
            push(track, What::Append(Node::Result { call, before: before.into(), behind: behind.into() }));
        }
        push(track, What::StepEnd);
    }
    push(track, What::TurnEnd(true));
}

/// The same session by every path, each asked the same questions (REQ-4, SEED-3, FORK-4).
pub fn every_path(r: &mut Resolver, dice: &mut Dice<'_>) {
    let sound: Vec<usize> = (0..r.tracks.len()).filter(|at| !r.tracks[*at].poisoned).collect();
    let at = dice.pick(&sound);
    ask(r, at);
    let encodings = [(false, Encoding::Plain), (true, Encoding::Plain), (true, Encoding::Zstd)];
    let ways = if dice.chance(64) { 3 } else { 2 };
    for (packed, encoding) in encodings.into_iter().take(ways) {
        let reloaded = reload(r, at, packed, encoding);
        ask(r, reloaded);
    }
    let reopened = reopen(r, at);
    ask(r, reopened);
    if r.tracks[at].turn.is_none() {
        let handle = Rc::clone(&r.tracks[at].handle);
        let count = r.tracks[at].len();
        let mut child = r.tracks[at].again(r.fresh().handle, count, count);
        child.generation += 1;
        mark(&mut child);
        r.op(&handle, Call::Fork { boundary: None, child: child.handle.to_string() });
        let forked = r.enter(child);
        ask(r, forked);
    }
}

fn ask(r: &mut Resolver, at: usize) {
    let handle = Rc::clone(&r.tracks[at].handle);
    for view in [View::Messages, View::Surface, View::Header, View::Request] {
        r.op(&handle, Call::view(view));
    }
}
