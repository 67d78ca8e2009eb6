//! The entry for bytes that somebody else chose: a fuzzer's, or a seed's.

use super::dice::Dice;
use super::raw::RawCase;
use super::swarm::{self, Bounds};
use crate::case::Case;
use crate::resolve::resolve;
use crate::seed::Seed;

/// Resolved ops of a case from a fuzzer at most.
const FUZZ_SIZE: usize = 96;

/// Raw ops from any bytes.
pub fn raw(bytes: &[u8], bounds: Bounds) -> RawCase {
    swarm::draw(&mut Dice::new(bytes), bounds)
}

/// A case from any bytes, for fuzz targets.
pub fn case(bytes: &[u8]) -> Case {
    let size = (bytes.len() / (super::raw::CHOICES + 2)).clamp(1, FUZZ_SIZE);
    resolve(&raw(bytes, Bounds { size, faults: true }), FUZZ_SIZE)
}

/// The raw ops of a seed.
pub fn seeded(seed: Seed, bounds: Bounds) -> RawCase {
    let mut bytes = vec![0; swarm::bytes_for(bounds.size)];
    seed.stream().fill(&mut bytes);
    raw(&bytes, bounds)
}

/// The case of a seed: about `bounds.size` resolved ops at most.
pub fn from_seed(seed: Seed, bounds: Bounds) -> Case {
    resolve(&seeded(seed, bounds), bounds.size)
}
