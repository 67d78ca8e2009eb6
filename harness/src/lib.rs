//! Generators, systems, properties, runner and the `foldproof` program.

pub mod case;
pub mod generators;
pub mod model;
pub mod resolve;
pub mod seed;
pub mod systems;
