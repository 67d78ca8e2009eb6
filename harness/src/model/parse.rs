//! JSON grammar at any depth, without recursion, and its faults (JSON-1, 2, 3, 5, 6).

use super::number;
use super::tree::{Node, Tree};
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
        if let Some(rule) = number::fault(&token) {
            self.note(rule);
        }
        Some(self.add(Node::Number(token)))
    }
}
