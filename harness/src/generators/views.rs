//! What asks and changes nothing: projections, dumps, the gate, observers, and callers that meddle.

use super::dice::Dice;
use crate::case::{Behaviour, Call, Encoding, Mutation, RequestSource, StepOf, Tampering, View};
use crate::resolve::Resolver;
use std::rc::Rc;

/// A projection, at the end, behind some event, or at a step's request.
pub fn view(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    const VIEWS: [View; 10] = [
        View::Messages,
        View::Messages,
        View::Messages,
        View::Surface,
        View::Request,
        View::Request,
        View::Transcript,
        View::Header,
        View::Events,
        View::Inbox,
    ];
    let view = dice.pick(&VIEWS);
    let track = &r.tracks[at];
    let past = dice.chance(40) && !track.is_empty();
    let behind = past.then(|| track.name(dice.below(track.events.len()) as u64));
    let step = match view {
        View::Request if behind.is_none() && dice.chance(96) && !track.past.is_empty() => {
            let (turn, step, attempts) = dice.pick(&track.past);
            let attempt = dice.within(1, attempts as usize) as u64;
            Some(StepOf { turn, step, attempt })
        }
        _ => None,
    };
    let handle = Rc::clone(&track.handle);
    r.op(&handle, Call::View { view, at: behind, step });
}

/// The log, written and not read.
pub fn dump(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    let handle = Rc::clone(&r.tracks[at].handle);
    let encoding = if dice.chance(16) { Encoding::Zstd } else { Encoding::Plain };
    r.op(&handle, Call::Dump { packed: dice.chance(128), encoding });
}

/// The request of this moment, and the gate over it as it is or with one change.
pub fn gate(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    let handle = Rc::clone(&r.tracks[at].handle);
    let op = r.op(&handle, Call::view(View::Request));
    let place = dice.below(16) as u64;
    let how = match dice.below(12) {
        0 | 1 => Tampering::None,
        2 => Tampering::ChangeMember(place),
        3 => Tampering::RemoveMember(place),
        4 => Tampering::AddMember(place),
        5 => Tampering::MoveMember(place),
        6 => Tampering::RenameMember(place),
        7 | 8 => Tampering::ChangeMessage(place, dice.below(64) as u64),
        9 => Tampering::DropMessage(place),
        10 => Tampering::DoubleMessage(place),
        _ => Tampering::SwapMessages(place),
    };
    r.op(&handle, Call::CheckRequest { request: RequestSource::Tampered { op, how } });
}

/// An observer, or what the observers saw.
pub fn observe(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    let handle = Rc::clone(&r.tracks[at].handle);
    if r.tracks[at].observers >= 3 || (r.tracks[at].observers > 0 && dice.chance(160)) {
        r.op(&handle, Call::Observed);
        return;
    }
    let behaviour = dice.pick(&[Behaviour::Record, Behaviour::Throw, Behaviour::Reenter]);
    r.tracks[at].observers += 1;
    r.op(&handle, Call::Observe { behaviour });
}

/// The caller changes what it handed over or was given.
pub fn mutate(r: &mut Resolver, at: usize, dice: &mut Dice<'_>) {
    let handle = Rc::clone(&r.tracks[at].handle);
    r.op(&handle, Call::Mutate { what: dice.pick(&[Mutation::Input, Mutation::Events, Mutation::Messages]) });
}
