//! String tokens: what is between the quotes, without decoding it unless that is needed.

use super::scan::plain;
use memchr::memchr;
use std::borrow::Cow;

/// A string token's inner text as it is spelled in the line (without the quotes).
#[derive(Clone, Copy, Debug)]
pub struct Str<'a> {
    raw: &'a [u8],
}

impl<'a> Str<'a> {
    /// From the inner text of a token that passed the scanner.
    pub(crate) fn new(raw: &'a [u8]) -> Self {
        Str { raw }
    }

    /// The inner text as spelled.
    pub fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// True for `""`.
    pub fn is_empty(self) -> bool {
        self.raw.is_empty()
    }

    /// True when the spelling holds an escape.
    #[inline]
    pub fn is_escaped(self) -> bool {
        match self.raw.len() {
            // A few bytes cost less than a call.
            0..16 => self.raw.contains(&b'\\'),
            _ => memchr(b'\\', self.raw).is_some(),
        }
    }

    /// Compares with a text that needs no escaping in its canonical form.
    #[inline]
    pub fn is(self, text: &str) -> bool {
        // An escape is longer than what it stands for, unless that needs one.
        if self.raw.len() <= text.len() {
            return self.raw == text.as_bytes() && !self.is_escaped();
        }
        // Most names differ in their first byte already.
        let first = self.raw[0];
        if first != b'\\' && text.as_bytes().first() != Some(&first) {
            return false;
        }
        self.is_escaped() && *self.canonical() == *text.as_bytes()
    }

    /// The canonical inner text. Equal strings have equal canonical text, so this is also the identity used for
    /// ids and keys: lone surrogates stay apart, spellings fall together.
    pub fn canonical(self) -> Cow<'a, [u8]> {
        if is_canonical(self.raw) {
            return Cow::Borrowed(self.raw);
        }
        let mut out = Vec::with_capacity(self.raw.len());
        print(self.raw, &mut out);
        Cow::Owned(out)
    }

    /// For people: lone surrogates become U+FFFD.
    pub fn display(self) -> String {
        let units: Vec<u16> = Units::new(self.raw).collect();
        String::from_utf16_lossy(&units)
    }

    /// The UTF-16 units of the string.
    pub fn units(self) -> impl Iterator<Item = u16> + 'a {
        Units::new(self.raw)
    }
}

impl PartialEq for Str<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
            || ((self.is_escaped() || other.is_escaped()) && self.canonical() == other.canonical())
    }
}

/// One character of a string token: where it ends and what it is.
enum Piece<'a> {
    /// Raw bytes without any escape.
    Raw(&'a [u8]),
    /// One UTF-16 unit, written as an escape.
    Unit(u16),
}

/// Splits an inner text into raw stretches and escapes. The text passed the scanner, so every escape is whole.
struct Pieces<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        if self.rest[0] != b'\\' {
            let end = memchr(b'\\', self.rest).unwrap_or(self.rest.len());
            let (raw, rest) = self.rest.split_at(end);
            self.rest = rest;
            return Some(Piece::Raw(raw));
        }
        let (unit, length) = match self.rest[1] {
            b'u' => (hex(&self.rest[2..6]), 6),
            b'b' => (0x08, 2),
            b't' => (0x09, 2),
            b'n' => (0x0a, 2),
            b'f' => (0x0c, 2),
            b'r' => (0x0d, 2),
            other => (u16::from(other), 2),
        };
        self.rest = &self.rest[length..];
        Some(Piece::Unit(unit))
    }
}

fn hex(digits: &[u8]) -> u16 {
    digits.iter().fold(0, |value, digit| value << 4 | (*digit as char).to_digit(16).unwrap_or(0) as u16)
}

/// True when the spelling is the canonical one: raw unless it must be escaped, short escapes where they exist,
/// lower-case hex, lone surrogates escaped.
pub fn is_canonical(raw: &[u8]) -> bool {
    let mut at = 0;
    while let Some(step) = memchr(b'\\', &raw[at..]) {
        at += step;
        match raw[at + 1] {
            b'"' | b'\\' | b'b' | b't' | b'n' | b'f' | b'r' => at += 2,
            b'u' => {
                let digits = &raw[at + 2..at + 6];
                let unit = hex(digits);
                let lower = !digits.iter().any(u8::is_ascii_uppercase);
                let short = matches!(unit, 0x08 | 0x09 | 0x0a | 0x0c | 0x0d);
                let lone = match unit {
                    0xd800..=0xdbff => !follows_low(&raw[at + 6..]),
                    // A low one behind an escaped high one was passed over together with it, as a pair, and a pair
                    // is never canonical; so this one stands alone.
                    0xdc00..=0xdfff => true,
                    _ => false,
                };
                if !(lower && ((unit < 0x20 && !short) || lone)) {
                    return false;
                }
                at += 6;
            }
            _ => return false,
        }
    }
    true
}

fn follows_low(rest: &[u8]) -> bool {
    rest.len() >= 6 && rest[0] == b'\\' && rest[1] == b'u' && (0xdc00..=0xdfff).contains(&hex(&rest[2..6]))
}

/// Prints the canonical inner text.
pub fn print(raw: &[u8], out: &mut Vec<u8>) {
    let mut pieces = Pieces { rest: raw };
    let mut held: Option<u16> = None;
    loop {
        let piece = pieces.next();
        if let (Some(high), Some(Piece::Unit(low @ 0xdc00..=0xdfff))) = (held, &piece) {
            let scalar = 0x10000 + ((u32::from(high) - 0xd800) << 10) + (u32::from(*low) - 0xdc00);
            push_char(char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER), out);
            held = None;
            continue;
        }
        if let Some(high) = held.take() {
            escape(high, out);
        }
        match piece {
            None => return,
            Some(Piece::Raw(raw)) => out.extend_from_slice(raw),
            Some(Piece::Unit(high @ 0xd800..=0xdbff)) => held = Some(high),
            Some(Piece::Unit(unit)) => print_unit(unit, out),
        }
    }
}

fn print_unit(unit: u16, out: &mut Vec<u8>) {
    match unit {
        0x22 => out.extend_from_slice(b"\\\""),
        0x5c => out.extend_from_slice(b"\\\\"),
        0x08 => out.extend_from_slice(b"\\b"),
        0x09 => out.extend_from_slice(b"\\t"),
        0x0a => out.extend_from_slice(b"\\n"),
        0x0c => out.extend_from_slice(b"\\f"),
        0x0d => out.extend_from_slice(b"\\r"),
        0..=0x1f | 0xd800..=0xdfff => escape(unit, out),
        _ => push_char(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER), out),
    }
}

fn escape(unit: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
}

fn push_char(char: char, out: &mut Vec<u8>) {
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Writes `text` as a canonical JSON string token, quotes included.
pub fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, special) = rest.split_at(plain(rest));
        out.extend_from_slice(plain);
        let Some((byte, behind)) = special.split_first() else { break };
        print_unit(u16::from(*byte), out);
        rest = behind;
    }
    out.push(b'"');
}

struct Units<'a> {
    pieces: Pieces<'a>,
    chars: std::str::Chars<'a>,
    low: Option<u16>,
}

impl<'a> Units<'a> {
    fn new(raw: &'a [u8]) -> Self {
        Units { pieces: Pieces { rest: raw }, chars: "".chars(), low: None }
    }
}

impl Iterator for Units<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        if let Some(low) = self.low.take() {
            return Some(low);
        }
        loop {
            if let Some(char) = self.chars.next() {
                let mut buffer = [0; 2];
                let units = char.encode_utf16(&mut buffer);
                self.low = units.get(1).copied();
                return units.first().copied();
            }
            match self.pieces.next()? {
                Piece::Unit(unit) => return Some(unit),
                Piece::Raw(raw) => self.chars = std::str::from_utf8(raw).unwrap_or("\u{fffd}").chars(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(raw: &str) -> String {
        String::from_utf8(Str::new(raw.as_bytes()).canonical().into_owned()).unwrap()
    }

    #[test]
    fn spellings_fall_together() {
        for (raw, want) in [
            (r"\u0041\/", "A/"),
            (r"\u000a\u0008\u0000\u001f\u007f", "\\n\\b\\u0000\\u001f\u{7f}"),
            (r"\uD83D\uDE00", "\u{1f600}"),
            (r"\uD800", r"\ud800"),
            (r"\ud800\ud800\udc00", "\\ud800\u{10000}"),
            (r"\udc00\ud800x", r"\udc00\ud800x"),
            (r"\u2028", "\u{2028}"),
            (r#"\u0022\u005c"#, r#"\"\\"#),
        ] {
            assert_eq!(canonical(raw), want, "{raw}");
            assert!(is_canonical(want.as_bytes()), "{want}");
            assert!(!is_canonical(raw.as_bytes()) || raw == want, "{raw}");
        }
    }

    #[test]
    fn units_and_comparison() {
        let units: Vec<u16> = Str::new("a\u{1f600}\\ud800".as_bytes()).units().collect();
        assert_eq!(units, [0x61, 0xd83d, 0xde00, 0xd800]);
        assert!(Str::new(br"\u0061").is("a"));
        assert!(Str::new(br"\u0061") == Str::new(b"a"));
        assert!(!Str::new(br"\ud800").is("\u{fffd}"));
        assert!(!Str::new(br"\n").is(r"\n"), "an escape is not the two characters that spell it");
    }
}
