//! Generators: from bytes to cases. They are written once, over bytes; a seed's stream, a fuzzer and proptest only
//! bring the bytes.
//!
//! Promises: a valid case is valid by construction; a faulty one breaks one rule and says which; a small change of the
//! bytes is a small change of the case.

pub mod bytes;
pub mod damage;
pub mod dice;
pub mod faults;
pub mod forks;
pub mod messages;
pub mod prose;
pub mod raw;
pub mod sessions;
pub mod shapes;
#[cfg(feature = "proptest")]
pub mod strategies;
pub mod surface;
pub mod swarm;
pub mod text;
pub mod values;
pub mod views;
