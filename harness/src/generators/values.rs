//! Texts and payload values, as JSON text: plain mostly, sometimes hostile but legal.

use super::dice::Dice;

/// How values come out in one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    /// How often of 256 a value is hostile.
    pub hostile: u8,
    /// How often of 256 a value is spelled otherwise than canonically.
    pub respelled: u8,
}

const WORDS: [&str; 24] = [
    "yes",
    "no",
    "the log",
    "replay",
    "fold",
    "a span",
    "tea house",
    "list files",
    "done",
    "again",
    "why",
    "ok",
    "line 7",
    "茶館",
    "see below",
    "turn",
    "Überblick",
    "two words",
    "retry",
    "shorter",
    "x",
    "42",
    "nothing",
    "",
];

/// Insides of string literals that have broken somebody's JSON.
const HOSTILE: [&str; 26] = [
    "\\ud800",
    "\\udfff",
    "\\ud83d\\ude00",
    "\\ud83d",
    "\\ude00",
    "\u{2028}",
    "\u{2029}",
    "\\u0000",
    "__proto__",
    "constructor",
    "\\\\u0000",
    "\\n\\r\\t\\b\\f",
    "\u{7f}",
    "\u{feff}",
    "\u{fffd}",
    "\\\"",
    "</script>",
    "\u{10ffff}",
    "e\u{301}",
    "\u{e9}",
    "İ",
    "\\u001f",
    "{\\\"seq\\\":0}",
    "null",
    "\u{85}",
    "\u{1F469}\u{200D}\u{1F680}",
];

/// The same character spelled as a writer of another language would.
const RESPELLED: [&str; 6] = ["\\u0041", "\\/", "\\u00e9", "\\uD83D\\uDE00", "\\u002F", "\\u2028"];

const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "-1",
    "7",
    "0.1",
    "1e21",
    "1e-7",
    "5e-324",
    "9007199254740991",
    "-9007199254740991",
    "9007199254740992",
    "9007199254740994",
    "1.7976931348623157e308",
    "100000000000000000000",
    "12",
    "123456789012345680000",
    "0.000001",
    "1.5",
    "4294967295",
    "4294967296",
    "-0.5",
    "2.2250738585072014e-308",
    "1e100",
    "3.141592653589793",
];

const RESPELLED_NUMBERS: [&str; 7] = ["1.0", "1e3", "1E5", "10e-1", "1e+2", "0.10", "5.0e-324"];

const KEYS: [&str; 20] = [
    "note",
    "a",
    "b",
    "x",
    "__proto__",
    "constructor",
    "toString",
    "",
    "0",
    "1",
    "10",
    "01",
    "-1",
    "4294967294",
    "4294967295",
    "id",
    "type",
    "seq",
    "messages",
    "\\ud800",
];

impl Values {
    /// A string literal.
    pub fn text(&self, dice: &mut Dice<'_>) -> String {
        let mut text = String::from("\"");
        text.push_str(&self.inner(dice));
        text.push('"');
        text
    }

    /// The inside of a string literal.
    pub fn inner(&self, dice: &mut Dice<'_>) -> String {
        let mut inner = String::new();
        let words = 1 + dice.below(3);
        for place in 0..words {
            if place > 0 {
                inner.push(' ');
            }
            if dice.chance(self.hostile) {
                inner.push_str(dice.pick(&HOSTILE));
            } else if dice.chance(self.respelled) {
                inner.push_str(dice.pick(&RESPELLED));
            } else {
                inner.push_str(dice.pick(&WORDS));
            }
        }
        if dice.chance(self.hostile / 16) {
            let times = dice.within(1, 6) * 100;
            inner = inner.repeat(times / (inner.len() + 1) + 1);
        }
        inner
    }

    /// A legal number.
    pub fn number(&self, dice: &mut Dice<'_>) -> String {
        if dice.chance(self.respelled) {
            return (dice.pick(&RESPELLED_NUMBERS)).to_owned();
        }
        let limit = if dice.chance(self.hostile) { NUMBERS.len() } else { 4 };
        NUMBERS[dice.below(limit)].to_owned()
    }

    /// Any legal value.
    pub fn value(&self, dice: &mut Dice<'_>, depth: usize) -> String {
        match dice.below(if depth == 0 { 5 } else { 8 }) {
            0 | 1 => self.text(dice),
            2 => self.number(dice),
            3 => (dice.pick(&["true", "false"])).to_owned(),
            4 => "null".to_owned(),
            5 if dice.chance(self.hostile / 4) => {
                // Deep, but far from every limit; the depth limit has rule files of its own.
                let depth = dice.within(8, 64);
                format!("{}{}", "[".repeat(depth), "]".repeat(depth))
            }
            5 => {
                let items: Vec<String> = (0..dice.below(3)).map(|_| self.value(dice, depth - 1)).collect();
                self.joined(dice, '[', &items, ']')
            }
            _ => {
                let members = self.distinct(dice, depth - 1, &[]);
                self.joined(dice, '{', &members, '}')
            }
        }
    }

    /// Members, each `"key":value`, no key twice and none of those taken.
    fn distinct(&self, dice: &mut Dice<'_>, depth: usize, taken: &[&str]) -> Vec<String> {
        let mut keys: Vec<&str> = vec![];
        let limit = if dice.chance(self.hostile) { KEYS.len() } else { 4 };
        for _ in 0..dice.within(1, 3) {
            let key = KEYS[dice.below(limit)];
            if !keys.contains(&key) && !taken.contains(&key) {
                keys.push(key);
            }
        }
        keys.into_iter().map(|key| format!("\"{key}\":{}", self.value(dice, depth))).collect()
    }

    /// Further members behind those an object has, with their leading comma (SHAPE-5); mostly none.
    pub fn extra(&self, dice: &mut Dice<'_>, taken: &[&str]) -> String {
        if !dice.chance(self.hostile / 2) {
            return String::new();
        }
        self.distinct(dice, 2, taken).into_iter().map(|member| format!(",{member}")).collect()
    }

    fn joined(&self, dice: &mut Dice<'_>, open: char, parts: &[String], close: char) -> String {
        let space = if dice.chance(self.respelled) { " " } else { "" };
        format!("{open}{space}{}{space}{close}", parts.join(&format!("{space},{space}")))
    }
}
