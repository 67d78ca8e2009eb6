//! The `foldproof` program.
fn main() {}
