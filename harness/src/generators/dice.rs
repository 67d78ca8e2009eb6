//! Choices over bytes that somebody else chose: a fuzzer, or a seed's stream.
//!
//! Every choice has an answer when the bytes have run out, namely the first and plainest one.

use arbitrary::Unstructured;

/// Bytes, read as choices.
#[derive(Debug)]
pub struct Dice<'a>(Unstructured<'a>);

impl<'a> Dice<'a> {
    /// Choices over these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Dice(Unstructured::new(bytes))
    }

    /// A number below `bound`; 0 when the bound is 0 or 1.
    pub fn below(&mut self, bound: usize) -> usize {
        match bound {
            0 | 1 => 0,
            _ => self.0.int_in_range(0..=bound - 1).unwrap_or(0),
        }
    }

    /// A number of this range, both ends included.
    pub fn within(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True `of_256` times in 256; false when the bytes have run out.
    pub fn chance(&mut self, of_256: u8) -> bool {
        // Zero, which stands for "no bytes left", is the largest draw.
        255 - self.byte() < of_256
    }

    /// A byte; 0 when none is left.
    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// One of these; the first when the bytes have run out.
    pub fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    /// Fills what is there, and leaves zeros where it is not.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        let _ = self.0.fill_buffer(bytes);
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_bytes_every_choice_is_the_first() {
        let mut dice = Dice::new(&[]);
        assert_eq!(dice.below(9), 0);
        assert_eq!(dice.within(3, 5), 3);
        assert!(!dice.chance(254));
        assert_eq!(dice.pick(&["a", "b"]), "a");
    }

    #[test]
    fn a_chance_of_nothing_never_comes() {
        let all: Vec<u8> = (0..=255).collect();
        let mut dice = Dice::new(&all);
        assert!((0..256).all(|_| !dice.chance(0)));
        let mut dice = Dice::new(&all);
        assert_eq!((0..256).filter(|_| dice.chance(64)).count(), 64);
    }
}
