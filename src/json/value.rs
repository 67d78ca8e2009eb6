//! A value as a place in a scanned line.

use super::number;
use super::scan::Node;
use super::text::Str;
use memchr::memchr2;

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

/// A value of a scanned line. Copying it costs nothing; looking into it walks the line's text.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    text: &'a [u8],
    nodes: &'a [Node],
    at: u32,
    /// The value's entry in the index when it is a container, else that of the next container behind it.
    node: u32,
    irregular: bool,
}

impl<'a> Value<'a> {
    pub(super) fn new(text: &'a [u8], nodes: &'a [Node], at: u32, node: u32, irregular: bool) -> Self {
        Value { text, nodes, at, node, irregular }
    }

    /// Offset of its first byte in the line.
    pub fn at(self) -> usize {
        self.at as usize
    }

    /// Offset behind its last byte.
    #[inline]
    pub fn end(self) -> usize {
        match self.first() {
            b'{' | b'[' => match self.nodes.get(self.node as usize) {
                Some(node) => node.end as usize,
                None => self.text.len(),
            },
            b'"' => string_end(self.text, self.at()),
            _ => scalar_end(self.text, self.at()),
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
        // Almost every number of a log is a short run of digits.
        let mut value = 0i64;
        let mut at = self.at();
        while let Some(digit @ b'0'..=b'9') = self.text.get(at) {
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            at += 1;
        }
        let length = at - self.at();
        let ends =
            matches!(self.text.get(at), None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'));
        if length > 0 && length <= 15 && ends {
            return Some(value);
        }
        if self.kind() == Kind::Number { number::safe_integer(self.bytes()) } else { None }
    }

    /// The safe integer that is not negative, if it is one.
    #[inline]
    pub fn as_uint(self) -> Option<u64> {
        self.as_int().and_then(|value| u64::try_from(value).ok())
    }

    /// The members of an object, in the order of the text; nothing for other values.
    #[inline]
    pub fn members(self) -> Members<'a> {
        let open = self.first() == b'{';
        Members { value: self, at: if open { self.at() + 1 } else { usize::MAX }, node: self.node + 1 }
    }

    /// The elements of an array; nothing for other values.
    #[inline]
    pub fn elements(self) -> Elements<'a> {
        let open = self.first() == b'[';
        Elements { value: self, at: if open { self.at() + 1 } else { usize::MAX }, node: self.node + 1 }
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

    /// The value that starts at `at`, and the index entry behind it.
    #[inline]
    fn child(self, at: usize, node: u32) -> (Value<'a>, u32) {
        let child = Value { at: at as u32, node, ..self };
        let next = match self.text[at] {
            b'{' | b'[' => self.nodes.get(node as usize).map_or(node, |entry| entry.next),
            _ => node,
        };
        (child, next)
    }
}

/// Iterates over an object's members.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    value: Value<'a>,
    at: usize,
    node: u32,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Str<'a>, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let text = self.value.text;
        let start = step(text, &mut self.at, b'}')?;
        let end = string_end(text, start);
        let key = Str::new(&text[start + 1..end - 1]);
        // Behind the name stand a colon and spaces around it.
        let mut at = end;
        while matches!(text[at], b':' | b' ' | b'\t' | b'\n' | b'\r') {
            at += 1;
        }
        let (value, next) = self.value.child(at, self.node);
        self.node = next;
        self.at = value.end();
        Some((key, value))
    }
}

/// Iterates over an array's elements.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    value: Value<'a>,
    at: usize,
    node: u32,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let start = step(self.value.text, &mut self.at, b']')?;
        let (value, next) = self.value.child(start, self.node);
        self.node = next;
        self.at = value.end();
        Some(value)
    }
}

/// Moves to the next item of a container, over the comma and spaces; ends at `close`.
#[inline]
fn step(text: &[u8], at: &mut usize, close: u8) -> Option<usize> {
    if *at == usize::MAX {
        return None;
    }
    while matches!(text[*at], b',' | b' ' | b'\t' | b'\n' | b'\r') {
        *at += 1;
    }
    if text[*at] == close {
        *at = usize::MAX;
        return None;
    }
    Some(*at)
}

/// Behind the closing quote of the string that opens at `at`.
#[inline]
fn string_end(text: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    // Most strings of a log are short; a few bytes cost less than a call.
    for _ in 0..8 {
        match text[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    loop {
        match memchr2(b'"', b'\\', &text[at..]) {
            Some(step) if text[at + step] == b'"' => return at + step + 1,
            Some(step) => at += step + 2,
            None => return text.len(),
        }
    }
}

#[inline]
fn scalar_end(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while end < text.len() && !matches!(text[end], b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r') {
        end += 1;
    }
    end
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
