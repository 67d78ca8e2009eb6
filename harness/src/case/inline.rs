//! The inline form of a case: one ASCII word, small enough for a command line.

use super::spot::CaseError;
use super::{Case, read, write};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// What an inline case starts with.
const PREFIX: &str = "fp1:";
/// Most bytes that an inline case may unfold to.
const LIMIT: usize = 64 << 20;
/// The first bytes of a Zstandard frame, which no JSON text starts with.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

pub(super) fn to_inline(case: &Case) -> String {
    let plain = write::case(case);
    // Compression of a text in memory does not fail; if it ever does, the text itself is as good.
    let packed = zstd::bulk::compress(&plain, 19).unwrap_or_default();
    let smaller = !packed.is_empty() && packed.len() < plain.len();
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(if smaller { &packed } else { &plain }))
}

pub(super) fn from_inline(text: &str) -> Result<Case, CaseError> {
    let wrong = |expected: &str, found: &str| CaseError {
        place: "the inline case".to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    };
    let body =
        text.trim().strip_prefix(PREFIX).ok_or_else(|| wrong("a word that starts with fp1:", "another"))?;
    let bytes =
        URL_SAFE_NO_PAD.decode(body).map_err(|_| wrong("base64url behind fp1:", "other characters"))?;
    if !bytes.starts_with(&MAGIC) {
        return read::case(&bytes);
    }
    let plain = zstd::bulk::decompress(&bytes, LIMIT);
    read::case(&plain.map_err(|error| wrong("a Zstandard frame of at most 64 MiB", &error.to_string()))?)
}
