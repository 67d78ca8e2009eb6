//! JSON as the contract wants it (section 1): nothing is lost between parsing and printing.
//!
//! There is no tree. A line stays the text it is; [`scan::Scanner`] reads it once, checks grammar, losslessness and
//! canonical spelling, and leaves a tape of its tokens, on which [`Value`] walks. Canonical bytes are printed only where the
//! text is not canonical already.

pub mod number;
pub mod print;
pub mod scan;
mod template;
pub mod text;
mod value;

pub use scan::{Fault, Scan, Scanner, Syntax};
pub use text::Str;
pub use value::{Elements, Kind, Members, Value};

/// The canonical bytes of one JSON text (contract, section 1).
///
/// Takes any JSON text, returns its canonical bytes, or what the text breaks: a grammar error or the first of the
/// rules JSON-1, 2, 3, 5, 6 by place.
///
/// ```
/// use foldproof::json::canonicalize;
/// assert_eq!(canonicalize(br#"{ "b": 1.0, "7": "\u0041\/" }"#, 100).unwrap(), br#"{"7":"A/","b":1}"#);
/// assert!(canonicalize(b"-0", 100).is_err());
/// ```
pub fn canonicalize(text: &[u8], depth: u64) -> Result<Vec<u8>, NotCanonical> {
    if let Err(error) = simdutf8::compat::from_utf8(text) {
        return Err(NotCanonical::Syntax(Syntax { at: error.valid_up_to(), expected: "UTF-8" }));
    }
    let mut scanner = Scanner::new(depth);
    let scan = scanner.scan(text).map_err(NotCanonical::Syntax)?;
    if let Some(fault) = scan.fault {
        return Err(NotCanonical::Fault(fault));
    }
    let mut out = Vec::with_capacity(text.len());
    print::canonical(scan.root(), &mut out);
    Ok(out)
}

/// Why a text has no canonical bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCanonical {
    /// It is not JSON.
    Syntax(Syntax),
    /// It is JSON that does not survive parsing and printing.
    Fault(Fault),
}
