//! The configuration of one case: which kinds of op it uses, how often, and how large it gets.
//!
//! A case that uses everything a little shows fewer bugs than many cases that each use a few things a lot, because
//! some kinds undo what others need: a case full of compactions never has a long surface.

use super::dice::Dice;
use super::raw::{CHOICES, KINDS, Kind, Raw, RawCase};
use super::values::Values;

/// Kinds with their usual weight, and whether a case may do without.
const WEIGHTS: [(Kind, u16, bool); 31] = [
    (Kind::User, 24, false),
    (Kind::Chunks, 12, true),
    (Kind::Reply, 20, false),
    (Kind::Calls, 10, true),
    (Kind::Start, 6, true),
    (Kind::Answer, 8, true),
    (Kind::Step, 6, true),
    (Kind::Turn, 8, true),
    (Kind::Retry, 4, true),
    (Kind::Abort, 2, true),
    (Kind::Header, 5, true),
    (Kind::Context, 2, true),
    (Kind::Todo, 2, true),
    (Kind::Inbox, 5, true),
    (Kind::Extension, 4, true),
    (Kind::Replace, 10, true),
    (Kind::Reword, 5, true),
    (Kind::Rewrite, 7, true),
    (Kind::Compact, 6, true),
    (Kind::Bracket, 2, true),
    (Kind::Fork, 5, true),
    (Kind::Resume, 4, true),
    (Kind::Seed, 3, true),
    (Kind::Foreign, 3, true),
    (Kind::Repair, 3, true),
    (Kind::View, 16, false),
    (Kind::Dump, 3, true),
    (Kind::Gate, 4, true),
    (Kind::Observe, 2, true),
    (Kind::Mutate, 2, true),
    (Kind::Fault, 6, true),
];

/// Bounds of a case, and what it may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Raw ops at most.
    pub size: usize,
    /// Whether ops may break rules.
    pub faults: bool,
}

/// Draws the configuration of a case and its raw ops.
pub fn draw(dice: &mut Dice<'_>, bounds: Bounds) -> RawCase {
    let hostile = dice.pick(&[0, 0, 0, 8, 8, 24, 96]);
    let values = Values { hostile, respelled: dice.pick(&[0, 0, 0, 0, 12, 48]) };
    let burst = dice.pick(&[1, 2, 2, 4, 4, 9]);
    let paths = dice.chance(64);
    // Each optional kind is left out of half of the cases; what remains is made three times as frequent now and then.
    let mut weights = [0u16; KINDS.len()];
    for (weight, (kind, usual, optional)) in weights.iter_mut().zip(WEIGHTS) {
        let mood = dice.byte();
        let never = kind == Kind::Fault && !bounds.faults;
        *weight = match mood {
            _ if never => 0,
            0..128 if optional => 0,
            216..=255 => usual * 3,
            _ => usual,
        };
    }
    let size = dice.within(bounds.size / 2, bounds.size.max(1)).max(1);
    let ops = (0..size).map(|_| op(dice, &weights)).collect();
    RawCase { values, burst, paths, ops }
}

fn op(dice: &mut Dice<'_>, weights: &[u16; KINDS.len()]) -> Raw {
    let total: u16 = weights.iter().sum();
    let mut draw = dice.below(usize::from(total)) as u16;
    let mut kind = Kind::User;
    for (candidate, weight) in KINDS.into_iter().zip(weights) {
        if draw < *weight {
            kind = candidate;
            break;
        }
        draw -= weight;
    }
    let mut choices = [0; CHOICES];
    dice.fill(&mut choices);
    Raw { kind, choices }
}

/// How many bytes a case of this size draws; more would never be looked at.
pub fn bytes_for(size: usize) -> usize {
    64 + size * (CHOICES + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_tables_agree() {
        assert!(WEIGHTS.iter().zip(KINDS).all(|((kind, ..), other)| *kind == other));
    }
}
