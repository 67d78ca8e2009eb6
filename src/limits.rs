//! Every bound that untrusted input meets, in one place.
//!
//! A bound is never a verdict about a log: exceeding one is an [`LimitError`] with a stable id, and the text names
//! the setting that raises it. Depth is the exception, because the contract itself bounds it (JSON-5).

use std::fmt;

/// Longest line, in bytes of decoded text without its newline.
pub const LINE: u64 = 64 << 20;
/// Longest line that any setting allows: offsets in a line take 32 bits, also in its canonical form, which can be five
/// times as long (`1e20`).
pub const LINE_MOST: u64 = 512 << 20;
/// Deepest nesting of one line; the outermost value is depth 1 and exactly this depth passes (JSON-5).
pub const DEPTH: u64 = 10_000;
/// Deepest nesting of one line where JSON-5 does not count, as for the released reader, which has no such rule.
pub const READ_DEPTH: u64 = 1 << 22;
/// Most events of one log. Internally a seq takes 32 bits.
pub const EVENTS: u64 = u32::MAX as u64 - 1;
/// Most bytes that one compressed artifact may decode to.
pub const DECODED: u64 = 64 << 30;
/// Most frames of one compressed artifact.
pub const FRAMES: u64 = 100_000_000;
/// Largest log that is held in memory at once (the loader; the checker streams).
pub const HELD: u64 = 16 << 30;
/// Findings kept for one log; those beyond are counted.
pub const FINDINGS: usize = 10_000;
/// Longest excerpt of a line that a finding carries, in bytes.
pub const EXCERPT: usize = 256 << 10;
/// Bytes of excerpts that one log's findings carry before they get shorter.
pub const EXCERPTS: usize = 64 << 20;
/// Longest excerpt from then on.
pub const EXCERPT_BEYOND: usize = 4 << 10;
/// Walking steps that re-checking call groups (PAIR-2) may take, for each event folded so far.
pub const PAIR_STEPS: u64 = 256;
/// Times the size of what lies behind an incomplete frame that the search for a later frame may decode (CODEC-3).
pub const FRAME_SEARCH: u64 = 16;

/// The bounds in force for one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest line in bytes; see [`LINE`].
    pub line: u64,
    /// Deepest nesting; see [`DEPTH`].
    pub depth: u64,
    /// Most events; see [`EVENTS`].
    pub events: u64,
    /// Most decoded bytes; see [`DECODED`].
    pub decoded: u64,
    /// Most compressed frames; see [`FRAMES`].
    pub frames: u64,
    /// Most bytes held in memory by the loader; see [`HELD`].
    pub held: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { line: LINE, depth: DEPTH, events: EVENTS, decoded: DECODED, frames: FRAMES, held: HELD }
    }
}

/// Which bound was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `limit-line`
    Line,
    /// `limit-depth`
    Depth,
    /// `limit-events`
    Events,
    /// `limit-decoded`
    Decoded,
    /// `limit-frames`
    Frames,
    /// `limit-held`
    Held,
    /// `limit-work`
    Work,
}

impl Limit {
    /// The stable id.
    pub fn id(self) -> &'static str {
        match self {
            Limit::Line => "limit-line",
            Limit::Depth => "limit-depth",
            Limit::Events => "limit-events",
            Limit::Decoded => "limit-decoded",
            Limit::Frames => "limit-frames",
            Limit::Held => "limit-held",
            Limit::Work => "limit-work",
        }
    }

    /// The option of the program that raises the bound, where there is one; the environment variable is the same
    /// name in capitals behind `FOLDPROOF_`.
    pub fn option(self) -> Option<&'static str> {
        match self {
            Limit::Line => Some("limit-line"),
            Limit::Events => Some("limit-events"),
            Limit::Decoded => Some("limit-decoded"),
            Limit::Frames => Some("limit-frames"),
            Limit::Held => Some("limit-held"),
            Limit::Depth | Limit::Work => None,
        }
    }
}

/// Input went past a bound; nothing can be said about the rest of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitError {
    /// The bound.
    pub limit: Limit,
    /// Its value in force.
    pub bound: u64,
    /// File line at which it was met, counted from 1; 0 where no line applies.
    pub line: u64,
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = self.bound;
        match self.limit {
            Limit::Line => write!(f, "line {} is longer than {bound} bytes", self.line)?,
            Limit::Depth => write!(f, "line {} nests deeper than {bound} values", self.line)?,
            Limit::Events => write!(f, "the log holds more than {bound} events")?,
            Limit::Decoded => write!(f, "the artifact decodes to more than {bound} bytes")?,
            Limit::Frames => write!(f, "the artifact holds more than {bound} compressed frames")?,
            Limit::Held => {
                write!(f, "the log is larger than the {bound} bytes that are held in memory at once")?
            }
            Limit::Work => write!(f, "re-checking call groups took more than {bound} steps an event")?,
        }
        write!(f, " [{}]", self.limit.id())?;
        match self.limit.option() {
            Some(option) => write!(
                f,
                "; raise it with --{option} N or FOLDPROOF_{}=N",
                option.to_uppercase().replace('-', "_")
            ),
            None => Ok(()),
        }
    }
}

impl std::error::Error for LimitError {}
