//! The reference model: the log contract once more, written from the contract and for obviousness.
//!
//! It shares nothing with the core that it is compared with. It keeps no caches: every answer is folded from the
//! whole list of events, so it may be quadratic, but no depth of input can overflow a stack, not even in a drop.
//! Rule ids in comments are those of the contract.

mod admit;
mod check;
mod event;
mod frames;
mod number;
mod parse;
mod relation;
mod request;
mod rows;
mod rules;
mod session;
mod shape;
mod store;
mod surface;
#[cfg(test)]
mod tests;
mod text;
mod tree;
mod vocabulary;

pub use check::{check, check_zstd};
pub use parse::DEPTH_LIMIT;
pub use rules::{Class, Finding, Mode, Refusal, Report};
pub use session::Session;
pub use text::canonical;

/// The shapes of a log that the model knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// The published 0.1.x format, version number 0.
    DshV0,
    /// The looser shape of teaching material, without a header line.
    Tutorial,
}
