//! Generators, systems, properties, runner and the `foldproof` program.

pub mod model;
