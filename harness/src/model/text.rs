//! JSON text: parsing, canonical bytes, numbers (section 1 of the contract). Nothing here recurses.

use super::tree::{Node, Tree, Value};
use std::collections::BTreeMap;

/// JSON-5: the outermost value is depth 1, and exactly the limit passes.
pub const DEPTH_LIMIT: usize = 10_000;

/// A text that is JSON grammar, and the first fault in it: JSON-1, 2, 3, 5 or 6 at the lowest byte position.
pub(crate) struct Parsed {
    pub(crate) tree: Tree,
    pub(crate) fault: Option<&'static str>,
}

/// Parses as `JSON.parse` does, at any depth: a repeated key keeps its first place and its last value.
pub(crate) fn parse(text: &str) -> Option<Parsed> {
    let mut parser = Parser { text, place: 0, nodes: Vec::new(), fault: None };
    let root = parser.document()?;
    Some(Parsed { tree: Tree { nodes: parser.nodes, root }, fault: parser.fault })
}

/// The canonical bytes of a JSON text, or why it has none: a rule id, or `grammar`.
pub fn canonical(json: &[u8]) -> Result<String, &'static str> {
    let text = std::str::from_utf8(json).map_err(|_| "JSON-4")?;
    let parsed = parse(text).ok_or("grammar")?;
    match parsed.fault {
        Some(rule) => Err(rule),
        None => Ok(parsed.tree.value().canonical()),
    }
}

/// A container whose end has not been seen yet.
enum Open {
    List(Vec<usize>),
    Object { members: Vec<(Vec<u16>, usize)>, places: BTreeMap<Vec<u16>, usize>, key: Vec<u16> },
}

struct Parser<'a> {
    text: &'a str,
    place: usize,
    nodes: Vec<Node>,
    fault: Option<&'static str>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.place).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.place += usize::from(found);
        found
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.place += 1;
        }
    }

    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Positions only grow, so the first fault met is the one at the lowest byte.
    fn note(&mut self, rule: &'static str) {
        self.fault.get_or_insert(rule);
    }

    fn document(&mut self) -> Option<usize> {
        let mut stack: Vec<Open> = Vec::new();
        loop {
            self.space();
            let mut value = match self.peek()? {
                opening @ (b'[' | b'{') => {
                    if stack.len() >= DEPTH_LIMIT {
                        self.note("JSON-5");
                    }
                    self.place += 1;
                    self.space();
                    if opening == b'[' {
                        if !self.eat(b']') {
                            stack.push(Open::List(Vec::new()));
                            continue;
                        }
                        self.add(Node::List(Vec::new()))
                    } else {
                        if !self.eat(b'}') {
                            let places = BTreeMap::new();
                            let key = self.key(&places)?;
                            stack.push(Open::Object { members: Vec::new(), places, key });
                            continue;
                        }
                        self.add(Node::Object(Vec::new()))
                    }
                }
                b'"' => {
                    let units = self.string()?;
                    self.add(Node::Text(units))
                }
                b't' => self.word("true", Node::Bool(true))?,
                b'f' => self.word("false", Node::Bool(false))?,
                b'n' => self.word("null", Node::Null)?,
                _ => self.number()?,
            };
            loop {
                self.space();
                match stack.pop() {
                    None => return (self.place == self.text.len()).then_some(value),
                    Some(Open::List(mut items)) => {
                        items.push(value);
                        if self.eat(b',') {
                            stack.push(Open::List(items));
                            break;
                        }
                        if !self.eat(b']') {
                            return None;
                        }
                        value = self.add(Node::List(items));
                    }
                    Some(Open::Object { mut members, mut places, key }) => {
                        match places.get(&key) {
                            Some(first) => members[*first].1 = value,
                            None => {
                                places.insert(key.clone(), members.len());
                                members.push((key, value));
                            }
                        }
                        if self.eat(b',') {
                            self.space();
                            let key = self.key(&places)?;
                            stack.push(Open::Object { members, places, key });
                            break;
                        }
                        if !self.eat(b'}') {
                            return None;
                        }
                        value = self.add(Node::Object(members));
                    }
                }
            }
        }
    }

    /// A key and its colon. JSON-6: a key that the object has already is a fault at its second place.
    fn key(&mut self, seen: &BTreeMap<Vec<u16>, usize>) -> Option<Vec<u16>> {
        let key = self.string()?;
        if seen.contains_key(&key) {
            self.note("JSON-6");
        }
        self.space();
        self.eat(b':').then_some(key)
    }

    fn word(&mut self, word: &str, node: Node) -> Option<usize> {
        if !self.text.as_bytes()[self.place..].starts_with(word.as_bytes()) {
            return None;
        }
        self.place += word.len();
        Some(self.add(node))
    }

    fn string(&mut self) -> Option<Vec<u16>> {
        if !self.eat(b'"') {
            return None;
        }
        let mut units = Vec::new();
        loop {
            match self.peek()? {
                b'"' => {
                    self.place += 1;
                    return Some(units);
                }
                b'\\' => {
                    self.place += 1;
                    units.push(self.escape()?);
                }
                0..=0x1f => return None,
                _ => {
                    let letter = self.text[self.place..].chars().next()?;
                    self.place += letter.len_utf8();
                    units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
                }
            }
        }
    }

    fn escape(&mut self) -> Option<u16> {
        let letter = self.peek()?;
        self.place += 1;
        Some(match letter {
            b'"' | b'\\' | b'/' => u16::from(letter),
            b'b' => 8,
            b't' => 9,
            b'n' => 10,
            b'f' => 12,
            b'r' => 13,
            b'u' => {
                let digits = self.text.get(self.place..self.place + 4)?;
                if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                    return None;
                }
                self.place += 4;
                u16::from_str_radix(digits, 16).ok()?
            }
            _ => return None,
        })
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.place;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.place += 1;
        }
        (self.place > start).then_some(())
    }

    fn number(&mut self) -> Option<usize> {
        let start = self.place;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            if !self.eat(b'+') {
                self.eat(b'-');
            }
            self.digits()?;
        }
        let token = self.text[start..self.place].to_owned();
        if let Some(rule) = number_fault(&token) {
            self.note(rule);
        }
        Some(self.add(Node::Number(token)))
    }
}

/// A decimal number, exactly: 0.DIGITS times ten to the exponent; no digits mean zero.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i128,
}

fn decimal(token: &str) -> Decimal {
    let negative = token.starts_with('-');
    let token = token.trim_start_matches('-');
    let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    // An exponent of more than 38 digits is far outside of every double, whatever the mantissa is.
    let far = if exponent.starts_with('-') { -i128::from(u64::MAX) } else { i128::from(u64::MAX) };
    let exponent = exponent.parse::<i128>().map_or(far, |value| value.clamp(-far.abs(), far.abs()));
    let all = format!("{whole}{fraction}");
    let leading = all.len() - all.trim_start_matches('0').len();
    let digits = all.trim_matches('0').to_owned();
    let exponent = if digits.is_empty() { 0 } else { exponent + whole.len() as i128 - leading as i128 };
    Decimal { negative, digits, exponent }
}

/// The nearest double. The exponent is made small first, because the standard library stops counting long ones.
pub(crate) fn double(token: &str) -> f64 {
    let Decimal { negative, digits, exponent } = decimal(token);
    let size = match exponent {
        _ if digits.is_empty() => 0.0,
        400.. => f64::INFINITY,
        ..=-400 => 0.0,
        _ => {
            format!("0.{digits}e{exponent}").parse().expect("this is how the standard library spells numbers")
        }
    };
    if negative { -size } else { size }
}

/// ECMAScript Number-to-String, as `JSON.stringify` uses it: an infinite number prints as `null`.
pub(crate) fn spelling(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    if !number.is_finite() {
        return "null".to_owned();
    }
    ryu_js::Buffer::new().format(number).to_owned()
}

/// JSON-1, JSON-2, JSON-3: what a number token loses.
fn number_fault(token: &str) -> Option<&'static str> {
    let exact = decimal(token);
    let number = double(token);
    if exact.digits.is_empty() {
        return exact.negative.then_some("JSON-2");
    }
    if number.is_infinite() {
        return Some("JSON-1");
    }
    (number == 0.0 || decimal(&spelling(number)) != exact).then_some("JSON-3")
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
