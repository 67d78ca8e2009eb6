//! Generators, systems, properties, runner and the `foldproof` program.

pub mod case;
pub mod model;
pub mod systems;
