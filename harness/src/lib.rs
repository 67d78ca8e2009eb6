//! Generators, systems, properties, runner and the `foldproof` program.

pub mod case;
pub mod corpus;
pub mod generators;
pub mod import;
pub mod model;
pub mod properties;
pub mod resolve;
pub mod runner;
pub mod seed;
pub mod systems;
