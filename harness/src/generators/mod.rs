//! Generators: from bytes to cases. They are written once, over bytes; a seed's stream, a fuzzer and proptest only
//! bring the bytes.
//!
//! Promises: a valid case is valid by construction; a faulty one breaks one rule and says which; a small change of the
//! bytes is a small change of the case.

pub mod dice;
pub mod raw;
pub mod swarm;
pub mod values;
