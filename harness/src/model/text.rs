//! Canonical bytes (section 1 of the contract). Nothing here recurses.

use super::number::{double, spelling};
use super::parse::parse;
use super::tree::{Node, Value};

/// The canonical bytes of a JSON text, or why it has none: a rule id, or `grammar`.
pub fn canonical(json: &[u8]) -> Result<String, &'static str> {
    let text = std::str::from_utf8(json).map_err(|_| "JSON-4")?;
    let parsed = parse(text).ok_or("grammar")?;
    match parsed.fault {
        Some(rule) => Err(rule),
        None => Ok(parsed.tree.value().canonical()),
    }
}

/// The order in which the members of an object are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// ECMAScript own-key order, for canonical bytes.
    Ecma,
    /// By key, for comparing where member order does not count (SURF-7).
    Sorted,
}

/// Prints a value; a child at `skip` is left out together with its key.
pub(crate) fn print(value: Value<'_>, order: Order, skip: Option<usize>) -> String {
    enum Task<'a> {
        Value(Value<'a>),
        Text(String),
    }
    let mut out = String::new();
    let mut tasks = vec![Task::Value(value)];
    while let Some(task) = tasks.pop() {
        let value = match task {
            Task::Text(text) => {
                out.push_str(&text);
                continue;
            }
            Task::Value(value) => value,
        };
        let child = |place: &usize| Task::Value(Value { tree: value.tree, place: *place });
        let mut parts = Vec::new();
        match value.node() {
            Node::Null => out.push_str("null"),
            Node::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Node::Number(token) => out.push_str(&spelling(double(token))),
            Node::Text(units) => out.push_str(&quote(units)),
            Node::List(places) => {
                parts.push(Task::Text("[".to_owned()));
                for (index, place) in places.iter().enumerate() {
                    if index > 0 {
                        parts.push(Task::Text(",".to_owned()));
                    }
                    parts.push(child(place));
                }
                parts.push(Task::Text("]".to_owned()));
            }
            Node::Object(members) => {
                parts.push(Task::Text("{".to_owned()));
                let keys: Vec<&[u16]> = members.iter().map(|(key, _)| &key[..]).collect();
                let mut indices = own_key_order(&keys);
                if order == Order::Sorted {
                    indices.sort_by_key(|index| keys[*index]);
                }
                indices.retain(|index| Some(members[*index].1) != skip);
                for (position, index) in indices.into_iter().enumerate() {
                    let comma = if position > 0 { "," } else { "" };
                    parts.push(Task::Text(format!("{comma}{}:", quote(keys[index]))));
                    parts.push(child(&members[index].1));
                }
                parts.push(Task::Text("}".to_owned()));
            }
        }
        tasks.extend(parts.into_iter().rev());
    }
    out
}

/// ECMAScript own-key order: array indices first, ascending, then the others in order of first appearance.
pub(crate) fn own_key_order(keys: &[&[u16]]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|index| array_index(keys[*index]).unwrap_or(u64::MAX));
    order
}

/// A key from `"0"` to `"4294967294"` in its only canonical spelling.
fn array_index(key: &[u16]) -> Option<u64> {
    // Names of members hardly ever are numbers.
    key.first().filter(|unit| (0x30..=0x39).contains(*unit))?;
    let text = String::from_utf16(key).ok()?;
    let number: u64 = text.parse().ok()?;
    (number <= 4_294_967_294 && number.to_string() == text).then_some(number)
}

/// A string in canonical bytes: only `"`, `\`, U+0000 to U+001F and lone surrogates are escaped.
pub(crate) fn quote(units: &[u16]) -> String {
    let mut out = String::from("\"");
    for letter in char::decode_utf16(units.iter().copied()) {
        match letter {
            Ok('"') => out.push_str("\\\""),
            Ok('\\') => out.push_str("\\\\"),
            Ok('\u{8}') => out.push_str("\\b"),
            Ok('\t') => out.push_str("\\t"),
            Ok('\n') => out.push_str("\\n"),
            Ok('\u{c}') => out.push_str("\\f"),
            Ok('\r') => out.push_str("\\r"),
            Ok(control @ '\0'..='\u{1f}') => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            Ok(letter) => out.push(letter),
            Err(lone) => out.push_str(&format!("\\u{:04x}", lone.unpaired_surrogate())),
        }
    }
    out.push('"');
    out
}

/// The canonical bytes of a string that holds no lone surrogate.
pub(crate) fn quote_str(text: &str) -> String {
    quote(&text.encode_utf16().collect::<Vec<u16>>())
}

/// An array of values that are canonical bytes already.
pub(crate) fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join(","))
}
