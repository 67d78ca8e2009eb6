//! Logs as text: the events of a session that resolving made, rendered as another harness would write them.

use super::dice::Dice;
use super::values::Values;
use crate::case::{Call, Op, Piece, Ref, Sources, SurfaceOp, Template};
use crate::resolve::Resolver;
use crate::resolve::track::{Made, Track, What};
use std::collections::BTreeMap;

/// A line of a log, without its newline.
#[derive(Clone, Debug)]
pub struct Line(pub String);

impl Line {
    /// The header of a session.
    pub fn header(track: &Track, values: &Values, dice: &mut Dice<'_>) -> Line {
        let mut line =
            format!("{{\"type\":\"session\",\"version\":0,\"id\":\"{}\",\"createdAt\":7", track.handle);
        if dice.chance(64) {
            line.push_str(dice.pick(&[
                ",\"cwd\":\"/work\"",
                ",\"cwd\":\"C:\\\\work\"",
                ",\"agentPreset\":\"build\"",
            ]));
        }
        if track.inherited > 0 {
            line.push_str(&format!(",\"parentSession\":\"elsewhere\",\"seedLength\":{}", track.inherited));
        }
        line.push_str(&format!(",\"delegationDepth\":{}", dice.below(3)));
        if dice.chance(values.hostile / 4) {
            line.push_str(&format!(",\"x-other\":{}", values.value(dice, 2)));
        }
        line.push('}');
        Line(line)
    }
}

/// Where the seqs of a session are in the rendered log.
struct Places {
    by_op: BTreeMap<usize, u64>,
    by_seq: Vec<u64>,
}

impl Places {
    fn of(&self, name: &Ref) -> Option<u64> {
        match name {
            Ref::Op(op) => self.by_op.get(op).copied(),
            Ref::Seq(seq) => self.by_seq.get(*seq as usize).copied(),
            Ref::Text(_) => None,
        }
    }

    fn list(&self, names: &[Ref]) -> Option<String> {
        let seqs: Option<Vec<String>> =
            names.iter().map(|name| self.of(name).map(|seq| seq.to_string())).collect();
        seqs.map(|seqs| seqs.join(","))
    }

    fn data(&self, template: &Template) -> Option<String> {
        let mut text = String::new();
        for piece in template.pieces() {
            match piece {
                Piece::Text(part) => text.push_str(std::str::from_utf8(part.bytes()).ok()?),
                Piece::Seq(name) => text.push_str(&self.of(name)?.to_string()),
            }
        }
        Some(text)
    }
}

/// The events of a session as lines, with unknown events that a reader may ignore strewn in (VOCAB-2), and the session
/// that reads them. Nothing when not all of its events were made by appends.
pub fn render(r: &Resolver, at: usize, dice: &mut Dice<'_>) -> Option<(Vec<Line>, Track)> {
    let track = &r.tracks[at];
    let mut places = Places { by_op: BTreeMap::new(), by_seq: vec![] };
    // How many unknown events stand before each event.
    let mut strewn = vec![];
    let (mut next, mut inherited) = (0, 0);
    let often = dice.pick(&[0u8, 24, 24, 96]);
    let mut may = true;
    for (seq, made) in track.events.iter().enumerate() {
        let before = u64::from(may && dice.chance(often));
        strewn.push(before);
        next += before;
        if let Ref::Op(op) = made.by {
            places.by_op.insert(op, next);
        }
        places.by_seq.push(next);
        next += 1;
        if (seq as u64) < track.inherited {
            inherited = next;
        }
        may = !matches!(made.what, What::Announces);
    }
    let mut lines = vec![];
    let mut copy = Track { inherited, generation: track.generation, ..Track::new(r.fresh().handle) };
    for ((made, before), seq) in track.events.iter().zip(&strewn).zip(&places.by_seq) {
        if *before > 0 {
            let data = r.values.value(dice, 2);
            lines.push(Line(format!(
                "{{\"type\":\"x-later/thing\",\"seq\":{},\"time\":7,\"data\":{data},\"ignorable\":true}}",
                seq - 1
            )));
            copy.push(Made { by: Ref::Seq(seq - 1), what: What::Other });
        }
        let spaced = dice.chance(r.values.respelled);
        lines.push(event(&r.ops, made, *seq, &places, spaced)?);
        let what = match &made.what {
            What::Replace(node, start, end) => {
                let place = |of: &u64| places.by_seq.get(*of as usize).copied();
                What::Replace(node.clone(), place(start)?, place(end)?)
            }
            what => what.clone(),
        };
        copy.push(Made { by: Ref::Seq(*seq), what });
    }
    // Which of the claimed messages entered already is not part of the fold.
    copy.claimed.clear();
    Some((lines, copy))
}

fn event(ops: &[Op], made: &Made, seq: u64, places: &Places, spaced: bool) -> Option<Line> {
    let append = match made.by {
        Ref::Op(op) => match &ops.get(op)?.call {
            Call::Append(append) => append,
            _ => return None,
        },
        Ref::Seq(_) if matches!(made.what, What::EndSeed) => {
            return Some(Line(format!(
                "{{\"type\":\"session/end-seed\",\"seq\":{seq},\"time\":9,\"data\":{{}}}}"
            )));
        }
        _ => return None,
    };
    let mut members = vec![
        format!("\"type\":\"{}\"", append.kind),
        format!("\"seq\":{seq}"),
        format!("\"time\":{}", append.time),
        format!("\"data\":{}", places.data(&append.data)?),
    ];
    match &append.sources {
        Some(Sources::Seqs(names)) => members.push(format!("\"sourceEventSeqs\":[{}]", places.list(names)?)),
        Some(Sources::Text(_)) => return None,
        None => {}
    }
    match &append.surface_op {
        Some(SurfaceOp::Append) => members.push("\"surfaceOp\":\"append\"".to_owned()),
        Some(SurfaceOp::Replace { start, end }) => {
            let (start, end) = (places.of(start)?, places.of(end)?);
            members.push(format!("\"surfaceOp\":{{\"op\":\"replace\",\"start\":{start},\"end\":{end}}}"));
        }
        Some(SurfaceOp::Text(_)) => return None,
        None => {}
    }
    if spaced {
        members.reverse();
        return Some(Line(format!("{{ {} }}\r", members.join(" ,\t"))));
    }
    Some(Line(format!("{{{}}}", members.join(","))))
}

/// A log as frames (CODEC-3): the header alone, then batches.
pub fn frames(lines: &[Line], dice: &mut Dice<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut batches: Vec<String> = vec![];
    for (place, line) in lines.iter().enumerate() {
        if place < 2 || dice.chance(96) {
            batches.push(String::new());
        }
        if let Some(batch) = batches.last_mut() {
            batch.push_str(&line.0);
            batch.push('\n');
        }
    }
    let Ok(mut compressor) = zstd::bulk::Compressor::new(1) else { return out };
    let _ = compressor.include_checksum(dice.chance(200));
    for batch in batches {
        // Compressing into memory of its own size cannot fail.
        out.extend_from_slice(&compressor.compress(batch.as_bytes()).unwrap_or_default());
    }
    out
}
