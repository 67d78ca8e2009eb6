//! Tools for a person with a log: what repairs, salvages, forks, converts and explains one that is stored somewhere.
//!
//! Each is a library function over an [`Artifact`](artifact::Artifact), which reads a stored log as often as it is
//! needed without holding it; the commands parse, call and print.

pub mod artifact;
pub mod branches;
pub mod convert;
pub mod cut;
pub mod diagnosis;
pub mod diff;
pub mod explain;
pub mod fork;
mod headers;
pub mod lines;
mod path;
pub mod prompt;
pub mod redact;
pub mod reduce;
pub mod repair;
pub mod reuse;
mod rewrite;
pub mod salvage;
pub mod sink;
pub mod words;
