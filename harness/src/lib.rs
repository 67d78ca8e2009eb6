//! Generators, systems, properties, runner and the `foldproof` program.

pub mod case;
#[cfg(feature = "cli")]
pub mod cli;
pub mod corpus;
pub mod import;
pub mod model;
pub mod properties;
pub mod runner;
pub mod systems;
