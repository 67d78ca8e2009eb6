//! A line of a log said otherwise, token by token: white space, order, repeated keys and depth stay as they are.

use super::words::Words;
use foldproof::dialect::Dialect;
use foldproof::json::number::{self, Class};
use foldproof::json::{Scanner, text};
use foldproof::rule::Rule;
use std::collections::BTreeMap;
use std::string::String as Text;

/// What a value is to the contract.
#[derive(Clone, Debug)]
enum Zone {
    /// The value of the member of this name, or an element of it.
    Member(Text),
    /// Something that is kept and never looked into.
    Free,
}

struct Open {
    object: bool,
    /// What its values are: of an object, those of the member that was read last.
    zone: Zone,
    /// What the container is itself.
    own: Zone,
    key_next: bool,
}

/// Rewrites lines; the same text is always replaced by the same one.
pub(super) struct Rewriter {
    words: Words,
    scanner: Scanner,
    texts: BTreeMap<[u8; 16], u64>,
    numbers: BTreeMap<Vec<u8>, u64>,
    /// What stands for the line that was given last, without its newline.
    pub(super) out: Vec<u8>,
}

impl Rewriter {
    /// For the words of a dialect.
    pub(super) fn new(dialect: &Dialect) -> Self {
        Rewriter {
            words: Words::new(dialect),
            scanner: Scanner::new(u64::MAX),
            texts: BTreeMap::new(),
            numbers: BTreeMap::new(),
            out: vec![],
        }
    }

    /// Puts what stands for a line into `out`.
    pub(super) fn line(&mut self, line: &[u8]) {
        self.out.clear();
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            self.out.extend_from_slice(line);
            return;
        }
        if line.contains(&0) {
            self.out.push(0);
            return;
        }
        if let Some(rest) = line.strip_prefix(b"\xef\xbb\xbf") {
            self.json(rest, false);
            self.out.splice(..0, *b"\xef\xbb\xbf");
            return;
        }
        match std::str::from_utf8(line) {
            Ok(_) => self.json(line, false),
            Err(_) => {
                // What is no UTF-8 stands in a text, or the line is no JSON either.
                let lossy = Text::from_utf8_lossy(line).into_owned();
                self.json(lossy.as_bytes(), true);
                let mut bytes = vec![];
                let mut rest = &self.out[..];
                while let Some(at) = rest.windows(3).position(|bytes| bytes == "\u{fffd}".as_bytes()) {
                    bytes.extend_from_slice(&rest[..at]);
                    bytes.push(0xff);
                    rest = &rest[at + 3..];
                }
                bytes.extend_from_slice(rest);
                self.out = if bytes.contains(&0xff) { bytes } else { vec![0xff] };
            }
        }
    }

    /// Rewrites a JSON text; what is none becomes another one that is none. `lossy`: U+FFFD stands for bytes.
    fn json(&mut self, text: &[u8], lossy: bool) {
        let mut scanner = std::mem::replace(&mut self.scanner, Scanner::new(1));
        match scanner.scan(text) {
            Ok(_) => self.tokens(text, lossy),
            Err(_) => self.out.push(b'{'),
        }
        self.scanner = scanner;
    }

    fn tokens(&mut self, text: &[u8], lossy: bool) {
        let mut stack: Vec<Open> = vec![];
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            match byte {
                b'{' | b'[' => {
                    let own = stack.last().map_or(Zone::Member(Text::new()), |open| open.zone.clone());
                    let object = byte == b'{';
                    stack.push(Open { object, zone: own.clone(), own, key_next: object });
                    self.out.push(byte);
                    at += 1;
                }
                b'}' | b']' => {
                    stack.pop();
                    self.out.push(byte);
                    at += 1;
                }
                b',' => {
                    if let Some(open) = stack.last_mut() {
                        open.key_next = open.object;
                    }
                    self.out.push(byte);
                    at += 1;
                }
                b'"' => {
                    let end = behind(text, at);
                    let raw = &text[at + 1..end - 1];
                    match stack.last_mut() {
                        Some(open) if open.key_next => {
                            open.key_next = false;
                            open.zone = self.key(raw, &open.own, lossy);
                        }
                        Some(open) => {
                            let zone = open.zone.clone();
                            self.string(raw, &zone, lossy);
                        }
                        None => self.token(raw, "", lossy),
                    }
                    at = end;
                }
                b'-' | b'0'..=b'9' => {
                    let length = text[at..]
                        .iter()
                        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
                        .count();
                    let placed = stack.last().is_some_and(|open| match &open.zone {
                        Zone::Member(name) => self.words.is_placing(name),
                        Zone::Free => false,
                    });
                    let token = &text[at..at + length];
                    match placed {
                        true => self.out.extend_from_slice(token),
                        false => self.number(token),
                    }
                    at += length;
                }
                _ => {
                    self.out.push(byte);
                    at += 1;
                }
            }
        }
    }

    /// A key, and what its value is.
    fn key(&mut self, raw: &[u8], own: &Zone, lossy: bool) -> Zone {
        let name = canonical(raw);
        if let (Zone::Member(_), Some(name)) = (own, &name)
            && self.words.is_key(name)
        {
            self.quoted(raw);
            return if self.words.is_free(name) { Zone::Free } else { Zone::Member(name.clone()) };
        }
        self.token(raw, "", lossy);
        Zone::Free
    }

    fn string(&mut self, raw: &[u8], zone: &Zone, lossy: bool) {
        if let (Zone::Member(key), Some(text)) = (zone, canonical(raw)) {
            if self.words.is_word(key, &text) {
                self.quoted(raw);
                return;
            }
            if key == "cwd" {
                let drive = text.as_bytes().get(1..3).is_some_and(|next| next == b":\\" || next == b":/")
                    || text.as_bytes().get(1..4) == Some(b":\\\\");
                let prefix = match text.as_bytes().first() {
                    Some(b'/') => "/",
                    Some(b'\\') if text.starts_with("\\\\\\\\") => "\\\\\\\\",
                    Some(letter) if drive && letter.is_ascii_alphabetic() => "C:/",
                    _ => "",
                };
                self.token(raw, prefix, lossy);
                return;
            }
        }
        self.token(raw, "", lossy);
    }

    fn quoted(&mut self, raw: &[u8]) {
        self.out.push(b'"');
        self.out.extend_from_slice(raw);
        self.out.push(b'"');
    }

    /// What stands for a text.
    fn token(&mut self, raw: &[u8], prefix: &str, lossy: bool) {
        self.out.push(b'"');
        if !raw.is_empty() {
            let said = inner(raw);
            let mut digest = [0; 16];
            // A path keeps how it begins, so it is another text than the same letters elsewhere.
            let hash = blake3::Hasher::new().update(prefix.as_bytes()).update(&said).finalize();
            digest.copy_from_slice(&hash.as_bytes()[..16]);
            let next = self.texts.len() as u64 + 1;
            let number = *self.texts.entry(digest).or_insert(next);
            let size = 1usize << said.len().ilog2();
            let start = self.out.len();
            self.out.extend_from_slice(prefix.as_bytes());
            // A text that was spelled in another way than the canonical one is so again.
            let letter = if text::is_canonical(raw) { "t" } else { "\\u0074" };
            self.out.extend_from_slice(letter.as_bytes());
            self.out.extend_from_slice(number.to_string().as_bytes());
            let mark = if lossy && said.windows(3).any(|bytes| bytes == "\u{fffd}".as_bytes()) {
                "\u{fffd}"
            } else {
                ""
            };
            let spelled = letter.len() - 1;
            while self.out.len() - start - spelled + mark.len() < size {
                self.out.push(b'.');
            }
            self.out.extend_from_slice(mark.as_bytes());
        }
        self.out.push(b'"');
    }

    /// What stands for a number; one that is not lossless is one again, by the same rule.
    fn number(&mut self, token: &[u8]) {
        let class = number::classify(token);
        match class {
            Class::Lossy(Rule::Json1) => self.out.extend_from_slice(b"1e400"),
            Class::Lossy(Rule::Json2) => self.out.extend_from_slice(b"-0"),
            Class::Lossy(_) => self.out.extend_from_slice(b"9007199254740993"),
            Class::Canonical | Class::Spelled => {
                let mut canonical = vec![];
                number::print(token, &mut canonical);
                let next = self.numbers.len() as u64 + 1;
                let number = *self.numbers.entry(canonical).or_insert(next);
                self.out.extend_from_slice(number.to_string().as_bytes());
                if class == Class::Spelled {
                    self.out.extend_from_slice(b".0");
                }
            }
        }
    }
}

/// The canonical inner text of a string, where it is Unicode.
fn canonical(raw: &[u8]) -> Option<Text> {
    Text::from_utf8(inner(raw)).ok()
}

/// The canonical inner text of a string.
fn inner(raw: &[u8]) -> Vec<u8> {
    if !raw.contains(&b'\\') {
        return raw.to_vec();
    }
    let mut out = vec![];
    text::print(raw, &mut out);
    out
}

/// Behind the closing quote of the string that opens at `at`.
fn behind(text: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}
