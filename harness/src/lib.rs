//! Generators, systems, properties, runner and the `foldproof` program.
