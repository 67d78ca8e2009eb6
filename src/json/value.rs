//! A value as a place in a scanned line.

use super::number;
use super::scan::Token;
use super::text::Str;

/// What kind of value stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number.
    Number,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
}

impl Kind {
    /// With its article, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Object => "an object",
            Kind::Array => "an array",
            Kind::String => "a string",
            Kind::Number => "a number",
            Kind::Bool => "a boolean",
            Kind::Null => "null",
        }
    }
}

/// A value of a scanned line. Copying it costs nothing; looking into it walks the line's tokens.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
    /// The place of its first token.
    place: u32,
    at: u32,
    irregular: bool,
}

impl<'a> Value<'a> {
    #[inline]
    pub(super) fn new(text: &'a [u8], tokens: &'a [Token], place: u32, irregular: bool) -> Self {
        Value { text, tokens, place, at: tokens[place as usize].at, irregular }
    }

    /// Offset of its first byte in the line.
    #[inline]
    pub fn at(self) -> usize {
        self.at as usize
    }

    /// Offset behind its last byte.
    #[inline]
    pub fn end(self) -> usize {
        let to = self.tokens[self.place as usize].to;
        match self.first() {
            b'{' | b'[' => self.tokens[to as usize - 1].at as usize + 1,
            _ => to as usize,
        }
    }

    /// The place behind its last token.
    #[inline]
    fn behind(self) -> u32 {
        match self.first() {
            b'{' | b'[' => self.tokens[self.place as usize].to,
            _ => self.place + 1,
        }
    }

    /// Its bytes as spelled.
    pub fn bytes(self) -> &'a [u8] {
        &self.text[self.at()..self.end()]
    }

    /// True when members may have to be reordered or dropped to print it.
    pub(super) fn is_irregular(self) -> bool {
        self.irregular
    }

    #[inline]
    fn first(self) -> u8 {
        self.text[self.at()]
    }

    /// Its kind.
    #[inline]
    pub fn kind(self) -> Kind {
        match self.first() {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::String,
            b't' | b'f' => Kind::Bool,
            b'n' => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// True for an object.
    pub fn is_object(self) -> bool {
        self.first() == b'{'
    }

    /// True for a string.
    #[inline]
    pub fn is_string(self) -> bool {
        self.first() == b'"'
    }

    /// True for the literal `true`.
    pub fn is_true(self) -> bool {
        self.first() == b't'
    }

    /// True for `null`.
    pub fn is_null(self) -> bool {
        self.first() == b'n'
    }

    /// The string, if it is one.
    #[inline]
    pub fn as_str(self) -> Option<Str<'a>> {
        (self.first() == b'"').then(|| Str::new(&self.text[self.at() + 1..self.end() - 1]))
    }

    /// The nearest double, if it is a number.
    pub fn as_double(self) -> Option<f64> {
        (self.kind() == Kind::Number).then(|| number::to_double(self.bytes()))
    }

    /// The safe integer, if it is one in any spelling.
    #[inline]
    pub fn as_int(self) -> Option<i64> {
        if self.kind() != Kind::Number {
            return None;
        }
        // Almost every number of a log is a short run of digits.
        let end = self.tokens[self.place as usize].to as usize;
        match number::short_in(self.text, self.at(), end) {
            Some(value) => Some(value as i64),
            None => number::safe_integer(&self.text[self.at()..end]),
        }
    }

    /// The safe integer that is not negative, if it is one.
    #[inline]
    pub fn as_uint(self) -> Option<u64> {
        self.as_int().and_then(|value| u64::try_from(value).ok())
    }

    /// The members of an object, in the order of the text; nothing for other values.
    #[inline]
    pub fn members(self) -> Members<'a> {
        Members { value: self, next: self.place + 1, close: self.close(b'{') }
    }

    /// The elements of an array; nothing for other values.
    #[inline]
    pub fn elements(self) -> Elements<'a> {
        Elements { value: self, next: self.place + 1, close: self.close(b'[') }
    }

    /// The place of the closing bracket, where the value opens with this one; else where nothing is inside.
    #[inline]
    fn close(self, open: u8) -> u32 {
        if self.first() == open { self.tokens[self.place as usize].to - 1 } else { self.place + 1 }
    }

    /// The member called `key` of an object.
    #[inline]
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        self.members().find(|(name, _)| name.is(key)).map(|(_, value)| value)
    }

    /// The value at `path`, one member name a step.
    pub fn path(self, path: &[&str]) -> Option<Value<'a>> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }
}

/// Iterates over an object's members.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    value: Value<'a>,
    next: u32,
    close: u32,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Str<'a>, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.close {
            return None;
        }
        let Value { text, tokens, irregular, .. } = self.value;
        let name = tokens[self.next as usize];
        let key = Str::new(&text[name.at as usize + 1..name.to as usize - 1]);
        let value = Value::new(text, tokens, self.next + 1, irregular);
        self.next = value.behind();
        Some((key, value))
    }
}

/// Iterates over an array's elements.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    value: Value<'a>,
    next: u32,
    close: u32,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.close {
            return None;
        }
        let Value { text, tokens, irregular, .. } = self.value;
        let value = Value::new(text, tokens, self.next, irregular);
        self.next = value.behind();
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use crate::json::{Kind, Scanner};

    #[test]
    fn walking() {
        let text = br#" { "a" : [ {"x":[]}, 1 , "]}\"" , {} ] , "b\n":null , "c":{"d":-1.5e3} } "#;
        let mut scanner = Scanner::new(9);
        let root = scanner.scan(text).unwrap().root();
        let names: Vec<String> = root.members().map(|(key, _)| key.display()).collect();
        assert_eq!(names, ["a", "b\n", "c"]);
        let elements: Vec<Kind> = root.get("a").unwrap().elements().map(|value| value.kind()).collect();
        assert_eq!(elements, [Kind::Object, Kind::Number, Kind::String, Kind::Object]);
        assert_eq!(root.path(&["c", "d"]).unwrap().as_int(), Some(-1500));
        assert_eq!(root.members().nth(1).unwrap().1.kind(), Kind::Null);
        assert_eq!(root.get("a").unwrap().elements().next().unwrap().bytes(), br#"{"x":[]}"#);
        assert!(root.get("z").is_none());
        assert_eq!(root.members().count(), 3);
        assert_eq!(root.elements().count(), 0, "an object has no elements");
    }
}
