//! A JSON value as an arena of nodes, so that no depth can overflow a stack, not even when it is dropped.
//!
//! Strings are UTF-16 units (a lone surrogate is legal, JSON-4), members are a list in order, numbers are text.

use super::{number, text};

/// One JSON value; children are named by their place in the arena.
#[derive(Debug)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    Number(String),
    Text(Vec<u16>),
    List(Vec<usize>),
    Object(Vec<(Vec<u16>, usize)>),
}

/// A whole JSON text.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: usize,
}

impl Tree {
    pub(crate) fn value(&self) -> Value<'_> {
        Value { tree: self, place: self.root }
    }
}

/// One value inside a tree.
#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) place: usize,
}

impl<'a> Value<'a> {
    pub(crate) fn node(self) -> &'a Node {
        &self.tree.nodes[self.place]
    }

    fn other(self, place: usize) -> Value<'a> {
        Value { tree: self.tree, place }
    }

    /// The value of a member of this object.
    pub(crate) fn get(self, key: &str) -> Option<Value<'a>> {
        self.members()?.into_iter().find(|(name, _)| same(name, key)).map(|(_, value)| value)
    }

    /// The value at the end of a dotted path. Only names of the contract are asked for; none has a dot.
    pub(crate) fn at(self, path: &str) -> Option<Value<'a>> {
        path.split('.').try_fold(self, |value, key| value.get(key))
    }

    pub(crate) fn members(self) -> Option<Vec<(&'a [u16], Value<'a>)>> {
        match self.node() {
            Node::Object(members) => {
                Some(members.iter().map(|(key, place)| (&key[..], self.other(*place))).collect())
            }
            _ => None,
        }
    }

    pub(crate) fn items(self) -> Option<Vec<Value<'a>>> {
        match self.node() {
            Node::List(places) => Some(places.iter().map(|place| self.other(*place)).collect()),
            _ => None,
        }
    }

    pub(crate) fn units(self) -> Option<&'a [u16]> {
        match self.node() {
            Node::Text(units) => Some(units),
            _ => None,
        }
    }

    /// A string that is not empty.
    pub(crate) fn name(self) -> Option<&'a [u16]> {
        self.units().filter(|units| !units.is_empty())
    }

    /// Whether this is the given string.
    pub(crate) fn is(self, text: &str) -> bool {
        self.units().is_some_and(|units| same(units, text))
    }

    pub(crate) fn is_true(self) -> bool {
        matches!(self.node(), Node::Bool(true))
    }

    pub(crate) fn is_null(self) -> bool {
        matches!(self.node(), Node::Null)
    }

    /// The nearest double of a number, infinite ones included.
    pub(crate) fn number(self) -> Option<f64> {
        match self.node() {
            Node::Number(token) => Some(number::double(token)),
            _ => None,
        }
    }

    /// What `Number.isSafeInteger` accepts.
    pub(crate) fn safe(self) -> Option<i64> {
        self.number().and_then(safe_integer)
    }

    /// A safe integer of at least zero.
    pub(crate) fn natural(self) -> Option<u64> {
        self.safe().and_then(|number| u64::try_from(number).ok())
    }

    /// An array of safe integers of at least zero.
    pub(crate) fn naturals(self) -> Option<Vec<u64>> {
        self.items()?.into_iter().map(Value::natural).collect()
    }

    /// Whether the members are exactly these, in any order.
    pub(crate) fn has_exactly(self, keys: &[&str]) -> bool {
        self.members().is_some_and(|members| {
            members.len() == keys.len() && keys.iter().all(|key| self.get(key).is_some())
        })
    }

    /// Whether every member is one of these.
    pub(crate) fn has_only(self, keys: &[&str]) -> bool {
        self.members()
            .is_some_and(|members| members.iter().all(|(name, _)| keys.iter().any(|key| same(name, key))))
    }

    /// The canonical bytes of section 1.
    pub(crate) fn canonical(self) -> String {
        text::print(self, text::Order::Ecma, None)
    }
}

/// Whether UTF-16 units spell this text.
pub(crate) fn same(units: &[u16], text: &str) -> bool {
    text.encode_utf16().eq(units.iter().copied())
}

/// The integer that a double is, if it is a safe one.
pub(crate) fn safe_integer(number: f64) -> Option<i64> {
    const LIMIT: f64 = 9_007_199_254_740_991.0;
    (number.fract() == 0.0 && number.abs() <= LIMIT).then_some(number as i64)
}
