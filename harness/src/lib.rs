//! Generators, systems, properties, runner and the `foldproof` program.

pub mod campaign;
pub mod case;
#[cfg(feature = "cli")]
pub mod cli;
pub mod corpus;
pub mod generators;
pub mod import;
pub mod inflight;
pub mod merge;
pub mod model;
pub mod properties;
pub mod resolve;
pub mod result;
pub mod runner;
pub mod seed;
pub mod shrink;
pub mod systems;
pub mod tools;
