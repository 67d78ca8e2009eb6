//! Canonical bytes of a value (contract, section 1), printed without recursion.

use super::scan::array_index;
use super::text;
use super::value::{Elements, Kind, Members, Value};
use super::{Str, number};
use std::vec;

/// Appends the canonical bytes of `value`.
///
/// A value that is not lossless prints as ECMAScript prints what its parser makes of it: a repeated key keeps its
/// first place and its last value, numbers are their nearest doubles.
pub fn canonical(value: Value<'_>, out: &mut Vec<u8>) {
    Printer { order: Order::AsParsed, omit: usize::MAX }.print(value, out);
}

/// Appends a form in which two values are equal exactly when they are equal as JSON values, whatever the order of
/// their members (SURF-7). The value that starts at offset `omit` of the line is left out of its object.
pub fn comparable(value: Value<'_>, omit: Option<usize>, out: &mut Vec<u8>) {
    Printer { order: Order::Sorted, omit: omit.unwrap_or(usize::MAX) }.print(value, out);
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    AsParsed,
    Sorted,
}

struct Printer {
    order: Order,
    omit: usize,
}

enum Open<'a> {
    Array(Elements<'a>),
    Object(Members<'a>),
    /// Members that had to be brought in order first.
    Ordered(vec::IntoIter<(Str<'a>, Value<'a>)>),
}

impl Printer {
    fn print<'a>(&self, value: Value<'a>, out: &mut Vec<u8>) {
        let mut open: Vec<Open<'a>> = Vec::new();
        self.value(value, &mut open, out);
        while let Some(innermost) = open.last_mut() {
            let (member, close) = match innermost {
                Open::Array(elements) => (elements.next().map(|value| (None, value)), b']'),
                Open::Object(members) => (members.next().map(|(key, value)| (Some(key), value)), b'}'),
                Open::Ordered(members) => (members.next().map(|(key, value)| (Some(key), value)), b'}'),
            };
            let Some((key, value)) = member else {
                out.push(close);
                open.pop();
                continue;
            };
            if key.is_some() && value.at() == self.omit {
                continue;
            }
            if !matches!(out.last(), Some(b'[' | b'{')) {
                out.push(b',');
            }
            if let Some(key) = key {
                string(key, out);
                out.push(b':');
            }
            self.value(value, &mut open, out);
        }
    }

    fn value<'a>(&self, value: Value<'a>, open: &mut Vec<Open<'a>>, out: &mut Vec<u8>) {
        match value.kind() {
            Kind::Object => {
                out.push(b'{');
                open.push(if self.order == Order::Sorted || value.is_irregular() {
                    Open::Ordered(self.ordered(value).into_iter())
                } else {
                    Open::Object(value.members())
                });
            }
            Kind::Array => {
                out.push(b'[');
                open.push(Open::Array(value.elements()));
            }
            Kind::String => {
                if let Some(inner) = value.as_str() {
                    string(inner, out);
                }
            }
            Kind::Number => number::print(value.bytes(), out),
            Kind::Bool | Kind::Null => out.extend_from_slice(value.bytes()),
        }
    }

    /// The members in the wanted order, each key once with its last value.
    fn ordered<'a>(&self, object: Value<'a>) -> Vec<(Str<'a>, Value<'a>)> {
        let mut members: Vec<_> = object
            .members()
            .enumerate()
            .map(|(place, (key, value))| (key.canonical(), place, key, value))
            .collect();
        members.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
        members.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.3 = later.3;
            }
            same
        });
        if self.order == Order::AsParsed {
            members.sort_by_key(|(_, place, key, _)| match array_index(key.raw()) {
                Some(index) => (0, index as usize),
                None => (1, *place),
            });
        }
        members.into_iter().map(|(_, _, key, value)| (key, value)).collect()
    }
}

/// Appends a string token in canonical spelling.
pub fn string(inner: Str<'_>, out: &mut Vec<u8>) {
    out.push(b'"');
    if text::is_canonical(inner.raw()) {
        out.extend_from_slice(inner.raw());
    } else {
        text::print(inner.raw(), out);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Scanner;

    fn print(text: &str) -> String {
        let mut scanner = Scanner::new(100);
        let mut out = Vec::new();
        canonical(scanner.scan(text.as_bytes()).unwrap().root(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn as_javascript_prints_it() {
        for (text, want) in [
            (
                r#"{"b":1,"a":2,"1":3,"0":4,"4294967295":5,"01":6}"#,
                r#"{"0":4,"1":3,"b":1,"a":2,"4294967295":5,"01":6}"#,
            ),
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#),
            (r#"[ 1.0 , -0 , 1e400 , "\u00e9\/" , [] , {} ]"#, "[1,0,null,\"é/\",[],{}]"),
            (r#"{"__proto__":1,"":2}"#, r#"{"__proto__":1,"":2}"#),
            (r#"{"\u0031":1,"0":2}"#, r#"{"0":2,"1":1}"#),
        ] {
            assert_eq!(print(text), want);
            assert_eq!(print(want), want, "printing again changes nothing");
        }
    }

    #[test]
    fn member_order_is_ignored_where_wanted() {
        let form = |text: &str, omit: Option<&str>| {
            let mut scanner = Scanner::new(100);
            let root = scanner.scan(text.as_bytes()).unwrap().root();
            let mut out = Vec::new();
            comparable(root, omit.and_then(|key| root.get(key)).map(|value| value.at()), &mut out);
            out
        };
        assert_eq!(form(r#"{"a":{"x":1,"y":2},"b":0}"#, None), form(r#"{"b":0.0,"a":{"y":2,"x":1}}"#, None));
        assert_ne!(form(r#"[1,2]"#, None), form(r#"[2,1]"#, None));
        assert_eq!(form(r#"{"a":1,"c":[9]}"#, Some("c")), form(r#"{"c":{},"a":1}"#, Some("c")));
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = "[".repeat(200_000) + &"]".repeat(200_000);
        let mut scanner = Scanner::new(1_000_000);
        let mut out = Vec::new();
        canonical(scanner.scan(deep.as_bytes()).unwrap().root(), &mut out);
        assert_eq!(out, deep.as_bytes());
    }
}
