//! Lines that look like one that was read before.
//!
//! A writer prints the events of one type with the same member names in the same order, so what differs between two
//! of their lines is the scalars. A template keeps the text between the scalars of a line that was read in full; a line
//! that has the same text there, and scalars of the same kinds, has the same grammar, the same names and the same tokens
//! at other offsets, and need not be read token by token. How its scalars are spelled is seen in reading them. Whatever
//! does not fit is read in full.

use super::scan::{Pass, Token};

/// Templates that are kept.
const TEMPLATES: usize = 32;
/// Templates that are tried on one line, so that a line that fits none of them costs little more.
const TRIES: usize = 16;
/// Longest line that is tried on templates, in bytes.
const LINE: usize = 64 << 10;
/// Tokens of a line that becomes a template.
const TOKENS: usize = 96;
/// Bytes between the scalars of a line that becomes a template.
const FIXED: usize = 2048;
/// A string of this length at most that says what its object is belongs to the template.
const DISCRIMINATOR: usize = 32;
/// Lines that a scanner reads before it begins to learn: what is read once needs no template.
const WARM: u32 = 24;
/// What a scanner may spend on learning without having gained by it.
const CREDIT: u32 = 64;

/// A token of the template's line.
#[derive(Clone, Copy, Debug)]
struct Slot {
    at: u32,
    to: u32,
    /// All ones where `to` is an offset, which moves with the text; zero where it is the place of a token.
    moves: u32,
}

/// Fixed text, and the scalar behind it.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Where the fixed text ends in `fixed`. Of a string the opening quote belongs to it.
    fixed_to: u32,
    /// Where the fixed text begins in the template's line.
    at: u32,
    /// The scalar's place among the tokens; behind the last stretch there is none.
    token: u32,
    string: bool,
}

#[derive(Clone, Debug)]
struct Template {
    fixed: Box<[u8]>,
    slots: Box<[Slot]>,
    stretches: Box<[Stretch]>,
    /// The templates that mostly come behind it: the usual one, and the last that was another.
    next: [usize; 2],
    /// Whether the last line behind it was the second.
    second: bool,
    /// When it fitted last; no two are equal.
    used: u64,
}

/// What a scanner learnt from the lines that it read.
#[derive(Clone, Debug, Default)]
pub(super) struct Templates {
    list: Vec<Template>,
    /// The template of the last line.
    last: usize,
    lines: u32,
    credit: u32,
    /// Lines that fitted or were learnt.
    clock: u64,
}

impl Templates {
    /// Tries to read the line of a fresh pass; on success its tokens are in `tokens`, and the pass knows how its scalars
    /// are spelled. Otherwise `tokens` is empty and the pass has to be begun again.
    #[inline]
    pub(super) fn fit(&mut self, pass: &mut Pass<'_>, tokens: &mut Vec<Token>) -> bool {
        if self.list.is_empty() || pass.text.len() > LINE {
            return false;
        }
        let likely = self.list[self.last].next;
        for place in likely {
            if self.try_one(place, pass, tokens) {
                return true;
            }
        }
        let mut tries = likely.len();
        for place in 0..self.list.len() {
            if likely.contains(&place) || !self.list[place].begins(pass.text) {
                continue;
            }
            if tries == TRIES {
                break;
            }
            tries += 1;
            if self.try_one(place, pass, tokens) {
                return true;
            }
        }
        false
    }

    /// Remembers what came behind the last line.
    fn follow(&mut self, place: usize) {
        let last = &mut self.list[self.last];
        let usual = last.next[0] == place;
        // The second becomes the usual one when it comes twice in a row.
        if !usual && last.second && last.next[1] == place {
            last.next.swap(0, 1);
        } else if !usual {
            last.next[1] = place;
        }
        last.second = !usual;
        self.last = place;
        self.list[place].used = self.tick();
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    #[inline]
    fn try_one(&mut self, place: usize, pass: &mut Pass<'_>, tokens: &mut Vec<Token>) -> bool {
        if self.list[place].fit(pass, tokens) {
            self.follow(place);
            self.credit = (self.credit + 1).min(CREDIT);
            return true;
        }
        *pass = Pass::new(pass.text);
        tokens.clear();
        false
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Learns from a line that was read in full and is canonical in every way.
    pub(super) fn learn(&mut self, text: &[u8], tokens: &[Token]) {
        self.lines = self.lines.saturating_add(1);
        if self.lines == WARM {
            self.credit = CREDIT;
        }
        if self.lines < WARM || tokens.len() > TOKENS || text.len() > LINE {
            return;
        }
        // Where learning does not pay, it is tried again now and then.
        if self.credit < 4 && !self.lines.is_multiple_of(64) {
            return;
        }
        let Some(template) = Template::of(text, tokens) else { return };
        self.credit = self.credit.saturating_sub(4);
        let place = if self.list.len() < TEMPLATES {
            self.list.push(template);
            self.list.len() - 1
        } else {
            let oldest = self.list.iter().enumerate().min_by_key(|(_, template)| template.used);
            let place = oldest.map_or(0, |(place, _)| place);
            self.list[place] = template;
            place
        };
        self.list[place].next = [place; 2];
        self.last = self.last.min(self.list.len() - 1);
        self.follow(place);
    }
}

impl Template {
    fn of(text: &[u8], tokens: &[Token]) -> Option<Template> {
        let mut fixed = vec![];
        let mut stretches = vec![];
        let mut from = 0;
        let first = |token: Token| text[token.at as usize];
        for (place, token) in tokens.iter().enumerate() {
            let is_name = text.get(token.to as usize) == Some(&b':') && first(*token) == b'"';
            let string = match first(*token) {
                b'"' if is_name || says_what(text, tokens, place) => continue,
                b'"' => true,
                b'-' | b'0'..=b'9' => false,
                _ => continue,
            };
            fixed.extend_from_slice(&text[from..token.at as usize + usize::from(string)]);
            let fixed_to = fixed.len() as u32;
            stretches.push(Stretch { fixed_to, at: from as u32, token: place as u32, string });
            from = token.to as usize;
        }
        fixed.extend_from_slice(&text[from..]);
        let fixed_to = fixed.len() as u32;
        stretches.push(Stretch { fixed_to, at: from as u32, token: tokens.len() as u32, string: false });
        let slot = |token: &Token| {
            let moves = if matches!(first(*token), b'{' | b'[') { 0 } else { u32::MAX };
            Slot { at: token.at, to: token.to, moves }
        };
        let slots = tokens.iter().map(slot).collect();
        (fixed.len() <= FIXED).then(|| Template {
            fixed: fixed.into(),
            slots,
            stretches: stretches.into(),
            next: [0; 2],
            second: false,
            used: 0,
        })
    }

    /// Whether the text up to the first scalar is this one's.
    #[inline]
    fn begins(&self, text: &[u8]) -> bool {
        let to = self.stretches.first().map_or(0, |stretch| stretch.fixed_to as usize);
        begins_with(text, &self.fixed[..to])
    }

    #[inline]
    fn fit(&self, pass: &mut Pass<'_>, tokens: &mut Vec<Token>) -> bool {
        let text = pass.text;
        let (mut fixed_from, mut slot) = (0, 0);
        for stretch in &self.stretches {
            let fixed = &self.fixed[fixed_from..stretch.fixed_to as usize];
            if !text.get(pass.at..).is_some_and(|rest| begins_with(rest, fixed)) {
                return false;
            }
            let shift = (pass.at as u32).wrapping_sub(stretch.at);
            let move_on = |slot: &Slot| Token {
                at: slot.at.wrapping_add(shift),
                to: slot.to.wrapping_add(shift & slot.moves),
            };
            tokens.extend(self.slots[slot..stretch.token as usize].iter().map(move_on));
            pass.at += fixed.len();
            fixed_from = stretch.fixed_to as usize;
            slot = stretch.token as usize + 1;
            if stretch.token as usize == self.slots.len() {
                return pass.at == text.len();
            }
            let start = pass.at - usize::from(stretch.string);
            let read = if stretch.string { pass.string().is_ok() } else { pass.number().is_ok() };
            if !read {
                return false;
            }
            tokens.push(Token { at: start as u32, to: pass.at as u32 });
        }
        false
    }
}

/// Whether a text begins with another, eight bytes at a time: what stands between scalars is too short for a call.
#[inline]
fn begins_with(text: &[u8], with: &[u8]) -> bool {
    let Some(text) = text.get(..with.len()) else { return false };
    let word = |bytes: &[u8], at: usize| bytes[at..].first_chunk::<8>().map(|word| u64::from_le_bytes(*word));
    if with.len() < 8 {
        return text.iter().zip(with).all(|(one, other)| one == other);
    }
    let mut at = 0;
    while at + 8 < with.len() {
        if word(text, at) != word(with, at) {
            return false;
        }
        at += 8;
    }
    // The last eight overlap those before.
    word(text, with.len() - 8) == word(with, with.len() - 8)
}

/// Whether a string is a short one that tells objects of one kind from those of another.
fn says_what(text: &[u8], tokens: &[Token], place: usize) -> bool {
    let token = tokens[place];
    let name = place.checked_sub(1).map(|place| tokens[place]);
    let Some(name) = name.filter(|name| name.to + 1 == token.at && text[name.to as usize] == b':') else {
        return false;
    };
    let name = &text[name.at as usize..name.to as usize];
    token.to - token.at <= DISCRIMINATOR as u32
        && matches!(name, b"\"type\"" | b"\"kind\"" | b"\"role\"" | b"\"surfaceOp\"" | b"\"op\"")
}

#[cfg(test)]
mod tests {
    use crate::json::Scanner;

    /// What a scanner that has learnt says of a line is what one says that has not.
    fn alike(learnt: &mut Scanner, text: &str) {
        let mut fresh = Scanner::new(6);
        let slow = fresh.scan(text.as_bytes()).map(|scan| format!("{scan:?}"));
        let fast = learnt.scan(text.as_bytes()).map(|scan| format!("{scan:?}"));
        assert_eq!(fast, slow, "{text}");
    }

    #[test]
    fn a_beginning_is_compared_in_every_byte() {
        for length in 0..40u8 {
            let with: Vec<u8> = (0..length).map(|at: u8| at.wrapping_mul(7)).collect();
            let text = [&with[..], b"behind"].concat();
            assert!(super::begins_with(&text, &with) && super::begins_with(&with, &with));
            for at in 0..usize::from(length) {
                let mut other = text.clone();
                other[at] ^= 0x80;
                assert!(!super::begins_with(&other, &with), "{at} of {length}");
                assert!(!super::begins_with(&text[..at], &with), "{at} of {length}");
            }
        }
    }

    const LINES: [&str; 4] = [
        r#"{"type":"a/chunk","seq":1,"time":22,"data":{"chunk":{"type":"text","text":"hé\n","index":0}}}"#,
        r#"{"type":"b","seq":1,"data":[{"id":"x","n":-1.5},true,[],{}],"surfaceOp":"append"}"#,
        r#"{"type":"b","seq":1,"data":[{"id":"x","n":1},true,[],{}],"surfaceOp":"append"}"#,
        r#"[1,"two",{"a":{"b":{"c":"d"}}}]"#,
    ];

    #[test]
    fn every_change_of_a_line_is_read_as_if_nothing_was_learnt() {
        let mut scanner = Scanner::new(6);
        for _ in 0..40 {
            LINES.iter().for_each(|line| alike(&mut scanner, line));
        }
        for line in LINES {
            for place in 0..=line.len() {
                for with in [
                    "", "0", "9", "-", "\"", "\\", "{", "}", "[", "]", ",", ":", " ", "e", ".", "\\u0041",
                    "x",
                ] {
                    for skip in [0, 1, 2] {
                        let (Some(before), Some(behind)) =
                            (line.get(..place), line.get((place + skip).min(line.len())..))
                        else {
                            continue;
                        };
                        alike(&mut scanner, &format!("{before}{with}{behind}"));
                    }
                }
                alike(&mut scanner, line);
            }
        }
    }

    #[test]
    fn a_line_that_fits_is_not_read_in_full() {
        let mut scanner = Scanner::new(6);
        for _ in 0..40 {
            assert!(LINES.iter().all(|line| scanner.scan(line.as_bytes()).is_ok()));
        }
        assert!(scanner.learnt() >= 3, "the templates are there, or the test above shows nothing");
        for line in LINES {
            assert!(scanner.fits(line.as_bytes()), "{line}");
        }
        assert!(!scanner.fits(br#"{"type":"c","seq":1}"#));
    }
}
