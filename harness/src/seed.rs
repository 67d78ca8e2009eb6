//! Seeds: one number from which a campaign, each of its cases and every byte of them follow.
//!
//! The mixing is fixed: a stored seed means the same for ever, as far as the generators stay the same.

use std::fmt;

/// The seed of a campaign or of one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seed(pub u64);

/// Text that is no seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a seed is 1 to 16 hexadecimal digits, with or without 0x: {0:?}")]
pub struct NotASeed(String);

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl std::str::FromStr for Seed {
    type Err = NotASeed;

    fn from_str(text: &str) -> Result<Seed, NotASeed> {
        let wrong = || NotASeed(text.to_owned());
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
        if digits.is_empty() || digits.len() > 16 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        u64::from_str_radix(digits, 16).map(Seed).map_err(|_| wrong())
    }
}

/// The finalizer of SplitMix64: every bit of the input reaches every bit of the output.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Seed {
    /// The seed of case `index` of this campaign. It depends on nothing else, so that shards and jobs agree.
    pub fn of_case(self, index: u64) -> Seed {
        Seed(mix(self.0 ^ mix(index.wrapping_add(1).wrapping_mul(STEP))))
    }

    /// An endless stream of numbers (SplitMix64).
    pub fn stream(self) -> Stream {
        Stream(self.0)
    }
}

/// Numbers that follow from a seed.
#[derive(Clone, Debug)]
pub struct Stream(u64);

impl Stream {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// The next number below `bound`; 0 when there is none.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product: no modulus, and a bias far below what a test can see.
        ((u128::from(self.number()) * u128::from(bound)) >> 64) as u64
    }

    /// Bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.number().to_le_bytes()[..part.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_hexadecimal_and_print_in_full() {
        assert_eq!("0x2A".parse(), Ok(Seed(42)));
        assert_eq!("ffffffffffffffff".parse(), Ok(Seed(u64::MAX)));
        assert_eq!(Seed(42).to_string(), "000000000000002a");
        for wrong in ["", "0x", "12345678901234567", "xyz", "-1", "+1"] {
            assert!(wrong.parse::<Seed>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_mixing_is_fixed() {
        assert_eq!(Seed(0).of_case(0), Seed(mix(mix(STEP))));
        let seeds: std::collections::BTreeSet<Seed> =
            (0..10_000).map(|index| Seed(7).of_case(index)).collect();
        assert_eq!(seeds.len(), 10_000);
    }
}
