//! Generators, systems, properties, runner and the `foldproof` program.

#[cfg(feature = "cli")]
pub mod cli;
pub mod model;
