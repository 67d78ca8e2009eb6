//! One pass over a line: grammar, losslessness, canonical spelling, and a tape of its tokens.
//!
//! The grammar is checked to any depth without recursion. Every name, scalar and bracket becomes a token, on which
//! [`Value`] walks; what lies deeper than anybody looks costs one bit for each container.

use super::number::{self, Class};
use super::template::Templates;
use super::text;
use super::value::Value;
use crate::rule::{Rule, RuleSet};
use std::borrow::Cow;

/// A name, a scalar or a bracket of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Token {
    /// Offset of its first byte.
    pub(crate) at: u32,
    /// Of a name or scalar the offset behind it; of an opening bracket the place behind the token of its closing one.
    pub(crate) to: u32,
}

/// Not JSON: where, and what could have stood there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syntax {
    /// Offset in bytes.
    pub at: usize,
    /// What the grammar allows there.
    pub expected: &'static str,
}

/// JSON that is not lossless: the first such place in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// JSON-1, 2, 3, 5 or 6.
    pub rule: Rule,
    /// Offset in bytes.
    pub at: usize,
}

/// Reads lines; keeps its buffers from one line to the next.
#[derive(Debug)]
pub struct Scanner {
    depth: usize,
    /// How deep tokens go: at least as deep as nesting is allowed to.
    indexed: usize,
    tokens: Vec<Token>,
    frames: Vec<Frame>,
    keys: Vec<Key>,
    /// Kinds of the containers deeper than `indexed`, one bit each: set for an object.
    deep: Vec<u64>,
    deep_count: usize,
    templates: Templates,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The token of the opening bracket.
    open: u32,
    /// Where this object's keys begin in `keys`; `u32::MAX` for an array.
    keys: u32,
    /// Whether a key is spelled with an escape.
    escaped: bool,
    /// 1 + the last array-index key, while no other key was seen; `u64::MAX` after one.
    indices: u64,
}

#[derive(Clone, Copy, Debug)]
struct Key {
    /// The first bytes of the name and its length: names that differ here differ.
    print: u64,
    start: u32,
    end: u32,
}

const ARRAY: u32 = u32::MAX;
/// The index goes as deep as this at least, however little depth is allowed: what reads envelopes, rows and shapes looks
/// that far before anybody asks whether nesting is.
const INDEXED: usize = 64;
/// The rules that a line by itself can break, as [`Scan::faults`] counts them.
const FAULTS: [Rule; 5] = [Rule::Json1, Rule::Json2, Rule::Json3, Rule::Json5, Rule::Json6];
/// Objects with more keys than this are searched for repeated keys by sorting.
const FEW_KEYS: usize = 12;

/// What one line holds. Borrows the scanner until the next line.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
    /// The first place that is not lossless, if any.
    pub fault: Option<Fault>,
    /// The first place of each kind of fault, in the order of [`FAULTS`].
    faults: [Option<u32>; 5],
    /// The first place that is not spelled canonically (JSON-7), if any.
    pub spelling: Option<usize>,
    /// The first container that lies too deep for tokens. It looks empty.
    pub(crate) unindexed: Option<usize>,
    /// True when members would have to be reordered or dropped to make the text canonical.
    pub(crate) irregular: bool,
}

impl<'a> Scan<'a> {
    /// The value of the line.
    pub fn root(&self) -> Value<'a> {
        Value::new(self.text, self.tokens, 0, self.irregular)
    }

    /// The text.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// The first place that breaks one of `rules`. Where a rule does not count, a fault behind it still does.
    #[inline]
    pub fn fault_of(&self, rules: RuleSet) -> Option<Fault> {
        let first = self.fault?;
        if rules.has(first.rule) {
            return Some(first);
        }
        let counts = |(rule, at): (Rule, &Option<u32>)| Some(Fault { rule, at: (*at)? as usize });
        FAULTS
            .into_iter()
            .zip(&self.faults)
            .filter(|(rule, _)| rules.has(*rule))
            .filter_map(counts)
            .min_by_key(|fault| fault.at)
    }

    /// The scalar token at an offset, shortened for messages to people.
    pub fn token(&self, at: usize) -> String {
        let end = match (self.text.get(at), self.tokens.binary_search_by_key(&(at as u32), |token| token.at))
        {
            (Some(b'{' | b'['), _) => at + 1,
            (_, Ok(place)) => self.tokens[place].to as usize,
            // It lies deeper than tokens go.
            (Some(b'"'), Err(_)) => string_end(self.text, at),
            (_, Err(_)) => scalar_end(self.text, at),
        };
        let token = &self.text[at..end];
        let mut text = String::from_utf8_lossy(token).into_owned();
        if text.chars().count() > 40 {
            text = text.chars().take(37).chain("...".chars()).collect();
        }
        text
    }

    /// True when the text is its own canonical form.
    pub fn is_canonical(&self) -> bool {
        self.spelling.is_none() && self.fault.is_none()
    }
}

impl Scanner {
    /// `depth` bounds nesting (JSON-5).
    pub fn new(depth: u64) -> Self {
        let depth = usize::try_from(depth).unwrap_or(usize::MAX).max(1);
        let indexed = depth.max(INDEXED);
        Scanner {
            depth,
            indexed,
            tokens: vec![],
            frames: vec![],
            keys: vec![],
            deep: vec![],
            deep_count: 0,
            templates: Templates::default(),
        }
    }

    /// A scanner whose lines may be looked into to the depth `indexed` although they nest deeper than `depth`.
    pub(crate) fn indexing(depth: u64, indexed: u64) -> Self {
        let scanner = Scanner::new(depth);
        let indexed = usize::try_from(indexed).unwrap_or(usize::MAX).max(scanner.indexed);
        Scanner { indexed, ..scanner }
    }

    /// Reads one JSON text. The caller has checked that it is UTF-8 and shorter than 4 GiB.
    pub fn scan<'a>(&'a mut self, text: &'a [u8]) -> Result<Scan<'a>, Syntax> {
        assert!(text.len() < u32::MAX as usize, "lines are bounded far below 4 GiB");
        self.tokens.clear();
        self.frames.clear();
        self.keys.clear();
        self.deep_count = 0;
        if self.tokens.capacity() == 0 {
            // One step instead of many, for scanners that read a line or two.
            self.tokens.reserve(16 + text.len().min(1 << 14) / 8);
            self.frames.reserve(8);
            self.keys.reserve(24);
        }
        let mut pass = Pass::new(text);
        if !self.templates.fit(&mut pass, &mut self.tokens) {
            self.run(&mut pass)?;
            if pass.is_canonical() && pass.unindexed.is_none() {
                self.templates.learn(text, &self.tokens);
            }
        }
        let Pass { fault, faults, spelling, unindexed, irregular, .. } = pass;
        Ok(Scan { text, tokens: &self.tokens, fault, faults, spelling, unindexed, irregular })
    }

    #[cfg(test)]
    pub(super) fn learnt(&self) -> usize {
        self.templates.len()
    }

    #[cfg(test)]
    pub(super) fn fits(&mut self, text: &[u8]) -> bool {
        self.tokens.clear();
        self.templates.fit(&mut Pass::new(text), &mut self.tokens)
    }

    fn run(&mut self, pass: &mut Pass<'_>) -> Result<(), Syntax> {
        pass.space();
        'value: loop {
            // A value stands here.
            let start = pass.at;
            match pass.peek() {
                Some(b'"') => {
                    pass.at += 1;
                    pass.string()?;
                    self.token(start, pass.at);
                }
                Some(b'{') => {
                    self.open(pass, true);
                    pass.space();
                    match pass.peek() {
                        Some(b'}') => self.close(pass),
                        _ => {
                            self.key(pass)?;
                            continue 'value;
                        }
                    }
                }
                Some(b'[') => {
                    self.open(pass, false);
                    pass.space();
                    match pass.peek() {
                        Some(b']') => self.close(pass),
                        _ => continue 'value,
                    }
                }
                Some(b'-' | b'0'..=b'9') => {
                    pass.number()?;
                    self.token(start, pass.at);
                }
                Some(b't') => {
                    pass.word(b"true")?;
                    self.token(start, pass.at);
                }
                Some(b'f') => {
                    pass.word(b"false")?;
                    self.token(start, pass.at);
                }
                Some(b'n') => {
                    pass.word(b"null")?;
                    self.token(start, pass.at);
                }
                _ => return Err(pass.expected("a value")),
            }
            // A value ended here.
            loop {
                let Some(object) = self.innermost() else {
                    pass.space();
                    return if pass.at == pass.text.len() {
                        Ok(())
                    } else {
                        Err(pass.expected("the end of the line"))
                    };
                };
                pass.space();
                match (pass.peek(), object) {
                    (Some(b','), true) => {
                        pass.at += 1;
                        pass.space();
                        self.key(pass)?;
                        continue 'value;
                    }
                    (Some(b','), false) => {
                        pass.at += 1;
                        pass.space();
                        continue 'value;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => self.close(pass),
                    (_, true) => return Err(pass.expected("`,` or `}`")),
                    (_, false) => return Err(pass.expected("`,` or `]`")),
                }
            }
        }
    }

    /// A name or scalar, unless it lies too deep.
    #[inline]
    fn token(&mut self, at: usize, to: usize) {
        if self.deep_count == 0 {
            self.tokens.push(Token { at: at as u32, to: to as u32 });
        }
    }

    /// Whether the innermost open container is an object; nothing when none is open.
    #[inline]
    fn innermost(&self) -> Option<bool> {
        if self.deep_count > 0 {
            let last = self.deep_count - 1;
            return Some(self.deep[last / 64] >> (last % 64) & 1 == 1);
        }
        self.frames.last().map(|frame| frame.keys != ARRAY)
    }

    #[inline]
    fn open(&mut self, pass: &mut Pass<'_>, object: bool) {
        if self.frames.len() >= self.depth {
            pass.fault_at(Rule::Json5, pass.at);
        }
        if self.frames.len() >= self.indexed {
            pass.unindexed.get_or_insert(pass.at);
            if self.deep_count == 0 {
                let behind = self.tokens.len() as u32 + 2;
                self.tokens.push(Token { at: pass.at as u32, to: behind });
            }
            let (word, bit) = (self.deep_count / 64, self.deep_count % 64);
            if word == self.deep.len() {
                self.deep.push(0);
            }
            self.deep[word] = self.deep[word] & !(1 << bit) | u64::from(object) << bit;
            self.deep_count += 1;
        } else {
            let keys = if object { self.keys.len() as u32 } else { ARRAY };
            self.frames.push(Frame { open: self.tokens.len() as u32, keys, escaped: false, indices: 0 });
            self.tokens.push(Token { at: pass.at as u32, to: 0 });
        }
        pass.at += 1;
    }

    #[inline]
    fn close(&mut self, pass: &mut Pass<'_>) {
        let closing = Token { at: pass.at as u32, to: pass.at as u32 + 1 };
        pass.at += 1;
        if self.deep_count > 0 {
            self.deep_count -= 1;
            if self.deep_count == 0 {
                self.tokens.push(closing);
            }
            return;
        }
        let Some(frame) = self.frames.pop() else { return };
        self.tokens.push(closing);
        self.tokens[frame.open as usize].to = self.tokens.len() as u32;
        if frame.keys != ARRAY {
            let keys = &mut self.keys[frame.keys as usize..];
            if let Some(at) = repeated(keys, frame.escaped, pass.text) {
                pass.fault_at(Rule::Json6, at);
                pass.irregular = true;
            }
            self.keys.truncate(frame.keys as usize);
        }
    }

    /// A key and its colon; the value comes next.
    #[inline]
    fn key(&mut self, pass: &mut Pass<'_>) -> Result<(), Syntax> {
        if pass.peek() != Some(b'"') {
            return Err(pass.expected("a member name in quotes"));
        }
        pass.at += 1;
        let start = pass.at;
        let escaped = pass.string()?;
        let end = pass.at - 1;
        if self.deep_count == 0 {
            self.tokens.push(Token { at: start as u32 - 1, to: end as u32 + 1 });
            let print = print_of(pass.text, start, end);
            self.keys.push(Key { print, start: start as u32, end: end as u32 });
            if let Some(frame) = self.frames.last_mut() {
                frame.escaped |= escaped;
                let digit = escaped || pass.text[start].is_ascii_digit();
                let index = if digit { array_index(&pass.text[start..end]) } else { None };
                match index {
                    Some(index) if frame.indices <= u64::from(index) => frame.indices = u64::from(index) + 1,
                    Some(_) => {
                        pass.spelled(start - 1);
                        pass.irregular = true;
                    }
                    None => frame.indices = u64::MAX,
                }
            }
        }
        pass.space();
        if pass.peek() != Some(b':') {
            return Err(pass.expected("`:`"));
        }
        pass.at += 1;
        pass.space();
        Ok(())
    }
}

/// The canonical array index that a key spells (`"0"` to `"4294967294"`), which orders it before other keys.
pub(crate) fn array_index(raw: &[u8]) -> Option<u32> {
    let canonical = text::Str::new(raw).canonical();
    if canonical.is_empty() || canonical.len() > 10 || (canonical[0] == b'0' && canonical.len() > 1) {
        return None;
    }
    let mut value = 0u64;
    for &digit in canonical.iter() {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + u64::from(digit - b'0');
    }
    (value < u64::from(u32::MAX)).then_some(value as u32)
}

/// The first bytes of a name, mixed with its length.
#[inline]
fn print_of(text: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    let first = match text.get(start..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(word) => u64::from_le_bytes(*word),
        None => text[start..].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    let kept = if length < 8 { first & ((1 << (8 * length)) - 1) } else { first };
    kept ^ (length as u64) << 56
}

/// The place of the first key that stands a second time, if any.
#[inline]
fn repeated(keys: &mut [Key], any_escaped: bool, text: &[u8]) -> Option<usize> {
    if keys.len() <= FEW_KEYS && !any_escaped {
        for (count, key) in keys.iter().enumerate() {
            if keys[..count].iter().any(|earlier| earlier.print == key.print && same(earlier, key, text)) {
                return Some(key.start as usize - 1);
            }
        }
        return None;
    }
    repeated_of_many(keys, any_escaped, text)
}

fn same(a: &Key, b: &Key, text: &[u8]) -> bool {
    text[a.start as usize..a.end as usize] == text[b.start as usize..b.end as usize]
}

/// The same by sorting.
fn repeated_of_many(keys: &mut [Key], any_escaped: bool, text: &[u8]) -> Option<usize> {
    let raw = |key: &Key| &text[key.start as usize..key.end as usize];
    if any_escaped {
        // Each name is decoded once, and not again for every comparison.
        let mut names: Vec<(Cow<'_, [u8]>, u32)> =
            keys.iter().map(|key| (text::Str::new(raw(key)).canonical(), key.start)).collect();
        names.sort_unstable();
        let twice = |pair: &[(Cow<'_, [u8]>, u32)]| (pair[0].0 == pair[1].0).then(|| pair[1].1 as usize - 1);
        return names.windows(2).filter_map(twice).min();
    }
    keys.sort_unstable_by(|a, b| raw(a).cmp(raw(b)).then(a.start.cmp(&b.start)));
    keys.windows(2).filter(|pair| raw(&pair[0]) == raw(&pair[1])).map(|pair| pair[1].start as usize - 1).min()
}

/// One reading of a line.
pub(super) struct Pass<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    fault: Option<Fault>,
    faults: [Option<u32>; 5],
    spelling: Option<usize>,
    unindexed: Option<usize>,
    irregular: bool,
}

impl<'a> Pass<'a> {
    #[inline]
    pub(super) fn new(text: &'a [u8]) -> Self {
        Pass {
            text,
            at: 0,
            fault: None,
            faults: [None; 5],
            spelling: None,
            unindexed: None,
            irregular: false,
        }
    }

    /// Whether nothing so far was lossy or spelled otherwise than canonically.
    #[inline]
    pub(super) fn is_canonical(&self) -> bool {
        self.fault.is_none() && self.spelling.is_none()
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn expected(&self, expected: &'static str) -> Syntax {
        Syntax { at: self.at, expected }
    }

    /// Keeps the fault that stands first in the line, because repeated keys are found at the end of their object.
    #[cold]
    fn fault_at(&mut self, rule: Rule, at: usize) {
        if self.fault.is_none_or(|fault| at < fault.at) {
            self.fault = Some(Fault { rule, at });
        }
        for (known, first) in FAULTS.into_iter().zip(&mut self.faults) {
            if known == rule && first.is_none_or(|first| at < first as usize) {
                *first = Some(at as u32);
            }
        }
    }

    #[cold]
    fn spelled(&mut self, at: usize) {
        if self.spelling.is_none_or(|known| at < known) {
            self.spelling = Some(at);
        }
    }

    #[inline]
    fn space(&mut self) {
        if let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.spelled(self.at);
            while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
                self.at += 1;
            }
        }
    }

    fn word(&mut self, word: &'static [u8]) -> Result<(), Syntax> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        Err(self.expected("a value"))
    }

    /// From behind the opening quote to behind the closing one. Says whether there was an escape.
    #[inline]
    pub(super) fn string(&mut self) -> Result<bool, Syntax> {
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at += plain(&self.text[self.at..]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    if escaped && !text::is_canonical(&self.text[start..self.at - 1]) {
                        self.spelled(start - 1);
                    }
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(self.expected("no raw control character in a string")),
                None => return Err(self.expected("the closing quote of a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Syntax> {
        match self.text.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let digits = self.text.get(self.at + 2..self.at + 6).unwrap_or_default();
                if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(self.expected("four hex digits behind `\\u`"));
                }
                self.at += 6;
            }
            _ => return Err(self.expected("an escape that JSON knows")),
        }
        Ok(())
    }

    #[inline]
    pub(super) fn number(&mut self) -> Result<(), Syntax> {
        let start = self.at;
        // Almost every number of a log is a short run of digits.
        let count = number::digits(&self.text[start..]);
        if (count == 1 || (2..=15).contains(&count) && self.text[start] != b'0')
            && !matches!(self.text.get(start + count), Some(b'.' | b'e' | b'E'))
        {
            self.at += count;
            return Ok(());
        }
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let first = self.at;
        self.digits()?;
        let length = self.at - first;
        if length > 1 && self.text[first] == b'0' {
            self.at = first + 1;
            return Err(self.expected("no digit behind a leading zero"));
        }
        let mut plain = true;
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
            plain = false;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
            plain = false;
        }
        if !(plain && length <= 15 && (first == start || self.text[first] != b'0')) {
            match number::classify(&self.text[start..self.at]) {
                Class::Canonical => {}
                Class::Spelled => self.spelled(start),
                Class::Lossy(rule) => self.fault_at(rule, start),
            }
        }
        Ok(())
    }

    #[inline]
    fn digits(&mut self) -> Result<(), Syntax> {
        let start = self.at;
        self.at += number::digits(&self.text[start..]);
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }
}

/// How many bytes from the start need no attention: no quote, no backslash, no control character.
#[inline]
pub(super) fn plain(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some((word, _)) = text.get(at..).and_then(|rest| rest.split_first_chunk::<8>()) {
        let special = marks(*word);
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    at + text[at..].iter().position(special).unwrap_or(text.len() - at)
}

/// The top bit of every byte of a word that needs attention. Bytes behind the first such one may be marked wrongly,
/// because a borrow can run into them; the first one is exact.
#[inline]
fn marks(word: [u8; 8]) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(word);
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (control | zeros(word ^ (ONES * b'"' as u64)) | zeros(word ^ (ONES * b'\\' as u64))) & TOPS
}

/// Behind the closing quote of the string that opens at `at`.
fn string_end(text: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while at < text.len() {
        match text[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

fn scalar_end(text: &[u8], at: usize) -> usize {
    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
    text[at..].iter().position(ends).map_or(text.len(), |length| at + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Option<Fault> {
        Scanner::new(3).scan(text.as_bytes()).unwrap().fault
    }

    #[test]
    fn the_first_fault_by_place_wins() {
        assert_eq!(fault(r#"{"a":1,"a":-0}"#), Some(Fault { rule: Rule::Json6, at: 7 }));
        assert_eq!(fault(r#"{"a":-0,"a":1}"#), Some(Fault { rule: Rule::Json2, at: 5 }));
        assert_eq!(fault(r#"{"a":1,"\u0061":1}"#), Some(Fault { rule: Rule::Json6, at: 7 }));
        assert_eq!(fault("[[[1]]]"), None, "exactly the limit passes");
        assert_eq!(fault("[[[[1]]]]"), Some(Fault { rule: Rule::Json5, at: 3 }));
        assert_eq!(fault(r#"[{"a":1},{"a":2}]"#), None, "keys repeat only within one object");
    }

    #[test]
    fn many_keys_are_compared_too() {
        let mut text = String::from("{");
        for key in 0..40 {
            text += &format!("\"k{key}\":0,");
        }
        assert_eq!(fault(&format!("{text}\"z\":0}}")), None);
        assert_eq!(fault(&format!("{text}\"k7\":0,\"k3\":0}}")).unwrap().at, text.len());
    }

    #[test]
    fn spelling() {
        for text in
            [r#"{"a":[1,"x\n",null],"b":{}}"#, r#"{"1":0,"2":0,"a":0}"#, r#""\ud800""#, r#"{"a":0,"01":0}"#]
        {
            assert!(Scanner::new(9).scan(text.as_bytes()).unwrap().is_canonical(), "{text}");
        }
        for (text, at) in [
            (" 1", 0),
            ("1 ", 1),
            (r#"["\/"]"#, 1),
            ("[1.0]", 1),
            (r#"{"a":0,"1":0}"#, 7),
            (r#"{"2":0,"1":0}"#, 7),
        ] {
            assert_eq!(Scanner::new(9).scan(text.as_bytes()).unwrap().spelling, Some(at), "{text}");
        }
    }

    #[test]
    fn grammar_to_any_depth() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        assert_eq!(Scanner::new(10).scan(deep.as_bytes()).unwrap().fault.unwrap().rule, Rule::Json5);
        let mixed = "{\"a\":[".repeat(100) + "1" + &"]}".repeat(100);
        assert!(Scanner::new(10).scan(mixed.as_bytes()).is_ok());
        let crossed = "{\"a\":[".repeat(100) + "1" + &"}]".repeat(100);
        assert!(Scanner::new(10).scan(crossed.as_bytes()).is_err());
    }

    #[test]
    fn every_byte_at_every_place_is_seen_or_passed_over() {
        for length in 0..20 {
            for place in 0..length {
                for byte in 0..=255u8 {
                    for filler in [b'a', 0x7f, 0x80, 0xff, b'!', b'#', b'[', b']'] {
                        let mut text = vec![filler; length];
                        text[place] = byte;
                        let special = byte < 0x20 || byte == b'"' || byte == b'\\';
                        assert_eq!(
                            plain(&text),
                            if special { place } else { length },
                            "{byte:#x} at {place}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_not_json() {
        for (text, at) in [
            ("", 0),
            ("{", 1),
            ("[1,]", 3),
            ("{\"a\"}", 4),
            ("{a:1}", 1),
            ("01", 1),
            ("1.", 2),
            ("1e", 2),
            ("-", 1),
            ("tru", 0),
            ("\"a", 2),
            ("\"\\x\"", 1),
            ("\"\\u12g4\"", 1),
            ("\"\u{1}\"", 1),
            ("1 2", 2),
            ("]", 0),
            ("[1}", 2),
            ("\u{feff}1", 0),
        ] {
            assert_eq!(Scanner::new(9).scan(text.as_bytes()).map(|_| ()).unwrap_err().at, at, "{text:?}");
        }
    }
}
