//! What the program's commands do, apart from reading arguments and printing.

pub mod diff;
pub mod prompt;
pub mod redact;
pub mod words;
