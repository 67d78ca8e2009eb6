//! How a log is stored: lines, packed rows, compressed frames (contract, section 2).

pub mod frames;
pub mod header;
pub mod lines;
pub mod rows;
