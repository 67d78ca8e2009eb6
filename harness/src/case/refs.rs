//! References: how operations name the events and answers of earlier ones.

use super::payload::Payload;

/// A seq in a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ref {
    /// This number.
    Seq(u64),
    /// The seq that the append at this place of the case was given; 0 when it was refused.
    Op(usize),
    /// JSON text that is perhaps no seq.
    Text(Payload),
}
