//! A log as lines that can be taken away: what stays keeps its meaning, because seqs, what names them, and the numbers of
//! turns and steps move along.
//!
//! The text is held once, and what is left of it is a list of places: taking lines away copies nothing, and the numbers
//! are worked out when the text is asked for.

use foldproof::codec::rows::Tag;
use foldproof::json::{Scanner, Value};
use foldproof::limits::READ_DEPTH;
use std::ops::Range;
use std::rc::Rc;

/// Lines of a log, with what of them counts events.
#[derive(Clone, Debug)]
pub struct Script {
    whole: Rc<Whole>,
    /// Places of the lines that are left, ascending.
    kept: Vec<usize>,
}

/// A text taken apart.
#[derive(Debug)]
struct Whole {
    text: Vec<u8>,
    lines: Vec<Line>,
    names: Vec<Name>,
}

/// One line and its newline, where it has one.
#[derive(Clone, Debug)]
struct Line {
    start: usize,
    end: usize,
    /// The numbers in it that move, in the order of the text: a range of all names.
    names: Range<u32>,
    /// The number of events in front of it, and in it.
    first: u64,
    events: u64,
    bracket: Option<Bracket>,
}

/// What a line opens or closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bracket {
    /// `turn/start`
    TurnStart,
    /// `turn/end`
    TurnEnd,
    /// `step/start`
    StepStart,
    /// `step/end`
    StepEnd,
}

/// A number in a line that moves along: where it stands in the text, and what it says.
#[derive(Clone, Copy, Debug)]
struct Name {
    at: usize,
    length: u32,
    what: What,
    number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// The line's own seq, which may be off the number of events in front of it.
    Own,
    /// Another event, which a replace begins or ends at.
    End,
    /// Another event, which is cited: an element of a list.
    Cited,
    /// How many events a header says are inherited.
    Inherited,
    /// The number of a turn.
    Turn,
    /// The number of a step.
    Step,
}

impl Script {
    /// Takes a text apart.
    pub fn new(text: Vec<u8>) -> Script {
        let mut scanner = Scanner::new(READ_DEPTH);
        let (mut lines, mut names) = (vec![], vec![]);
        let (mut first, mut start) = (0, 0);
        for bytes in text.split_inclusive(|byte| *byte == b'\n') {
            let line = line(bytes, start, first, &mut scanner, &mut names);
            first += line.events;
            start = line.end;
            lines.push(line);
        }
        let kept = (0..lines.len()).collect();
        Script { whole: Rc::new(Whole { text, lines, names }), kept }
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The bytes of a line, with the numbers that it came with.
    pub fn line(&self, place: usize) -> &[u8] {
        let line = &self.whole.lines[self.kept[place]];
        &self.whole.text[line.start..line.end]
    }

    /// What a line opens or closes.
    pub fn bracket(&self, place: usize) -> Option<Bracket> {
        self.whole.lines[self.kept[place]].bracket
    }

    /// Without the lines of these ranges, which stand in order and apart.
    pub fn without(&self, gone: &[Range<usize>]) -> Script {
        let mut kept = Vec::with_capacity(self.kept.len());
        let mut from = 0;
        for range in gone {
            kept.extend_from_slice(&self.kept[from..range.start]);
            from = range.end;
        }
        kept.extend_from_slice(&self.kept[from..]);
        Script { whole: Rc::clone(&self.whole), kept }
    }

    /// Whether most of the lines that it came from are gone.
    pub fn is_sparse(&self) -> bool {
        self.len() * 2 < self.whole.lines.len()
    }

    /// Its text taken apart anew, so that what is gone costs nothing any more.
    #[must_use]
    pub fn settled(&self) -> Script {
        Script::new(self.text())
    }

    /// With another text for one line, which names the same events.
    pub fn with(&self, place: usize, bytes: &[u8]) -> Script {
        let lines = (0..self.len()).map(|other| if other == place { bytes } else { self.line(other) });
        Script::new(lines.flatten().copied().collect())
    }

    /// The text.
    pub fn text(&self) -> Vec<u8> {
        let Whole { text, lines, names } = &*self.whole;
        if self.len() == lines.len() {
            return text.clone();
        }
        let size = self.kept.iter().map(|place| lines[*place].end - lines[*place].start).sum();
        let mut out = Out { bytes: Vec::with_capacity(size), gone: Gone::new(lines, &self.kept) };
        let (mut first, mut turns, mut steps) = (0, 0, 0);
        let mut kept = self.kept.iter().peekable();
        for (place, line) in lines.iter().enumerate() {
            let stays = kept.next_if_eq(&&place).is_some();
            match line.bracket {
                Some(Bracket::TurnStart) => {
                    steps = 0;
                    turns += u64::from(!stays);
                }
                Some(Bracket::StepStart) => steps += u64::from(!stays),
                _ => {}
            }
            if stays {
                let names = &names[line.names.start as usize..line.names.end as usize];
                out.line(text, line, names, (first, turns, steps));
                first += line.events;
            }
        }
        out.bytes
    }
}

/// The events that were taken away.
struct Gone {
    /// Where each stretch of them begins and ends, and how many went until behind it.
    stretches: Vec<(u64, u64, u64)>,
}

impl Gone {
    fn new(lines: &[Line], kept: &[usize]) -> Gone {
        let mut stretches: Vec<(u64, u64, u64)> = vec![];
        let mut total = 0;
        let mut kept = kept.iter().peekable();
        for (place, line) in lines.iter().enumerate() {
            if kept.next_if_eq(&&place).is_some() || line.events == 0 {
                continue;
            }
            total += line.events;
            let end = line.first + line.events;
            match stretches.last_mut() {
                Some(last) if last.1 == line.first => (last.1, last.2) = (end, total),
                _ => stretches.push((line.first, end, total)),
            }
        }
        Gone { stretches }
    }

    /// How many of the events in front of a seq went.
    fn before(&self, seq: u64) -> u64 {
        let behind = self.stretches.partition_point(|(start, ..)| *start < seq);
        let last = behind.checked_sub(1).map(|last| self.stretches[last]);
        last.map_or(0, |(_, end, total)| total - (end - seq.min(end)))
    }

    /// Where an event went to; nothing when it is gone.
    fn moved(&self, seq: u64) -> Option<u64> {
        let before = self.before(seq);
        (self.before(seq.saturating_add(1)) == before).then(|| seq - before)
    }
}

/// A text that is being written.
struct Out {
    bytes: Vec<u8>,
    gone: Gone,
}

impl Out {
    /// Writes a line. `first`, `turns` and `steps`: events in front of it that stayed, and turns and steps of its turn in
    /// front of it that went.
    fn line(&mut self, text: &[u8], line: &Line, names: &[Name], (first, turns, steps): (u64, u64, u64)) {
        let mut from = line.start;
        for name in names {
            let number = match name.what {
                // What was wrong by some number stays wrong by it.
                What::Own => Some((name.number + first).saturating_sub(line.first)),
                What::End => self.gone.moved(name.number).or(Some(name.number)),
                What::Cited => self.gone.moved(name.number),
                What::Inherited => Some(name.number - self.gone.before(name.number)),
                What::Turn => Some(name.number.saturating_sub(turns)),
                What::Step => Some(name.number.saturating_sub(steps)),
            };
            if number == Some(name.number) {
                continue;
            }
            self.bytes.extend_from_slice(&text[from..name.at]);
            from = name.at + name.length as usize;
            match number {
                Some(number) => self.bytes.extend_from_slice(number.to_string().as_bytes()),
                // An element of a list goes with its comma: the one behind it, or else the one in front.
                None if text.get(from) == Some(&b',') => from += 1,
                None if self.bytes.last() == Some(&b',') => {
                    self.bytes.pop();
                }
                None => {}
            }
        }
        self.bytes.extend_from_slice(&text[from..line.end]);
    }
}

fn line(bytes: &[u8], start: usize, first: u64, scanner: &mut Scanner, names: &mut Vec<Name>) -> Line {
    let known = names.len();
    let range = |names: &[Name]| {
        // A log that fits into memory has fewer numbers than that; beyond it lines are moved as they are.
        let place = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        place(known)..place(names.len())
    };
    let mut line =
        Line { start, end: start + bytes.len(), names: range(names), first, events: 0, bracket: None };
    if std::str::from_utf8(bytes).is_err() {
        return line;
    }
    let Ok(scan) = scanner.scan(bytes.trim_ascii_end()) else { return line };
    let root = scan.root();
    let mut name = |value: Option<Value<'_>>, what: What| {
        if let Some(value) = value
            && let Some(number) = value.as_uint()
        {
            let length = u32::try_from(value.end() - value.at()).unwrap_or(0);
            names.push(Name { at: start + value.at(), length, what, number });
        }
    };
    let kind = root.get("type").and_then(Value::as_str);
    let row = kind.and_then(Tag::of).filter(|_| root.get("seq0").is_some());
    if row.is_some() || root.get("seq").is_some() {
        name(root.path(&["data", "turn"]), What::Turn);
        name(root.path(&["data", "step"]), What::Step);
    }
    if row.is_some() {
        name(root.get("seq0"), What::Own);
        let texts = ["texts", "args"].iter().find_map(|key| root.path(&["data", key]));
        line.events = texts.map_or(1, |texts| texts.elements().count() as u64);
    } else if root.get("seq").is_some() {
        name(root.get("seq"), What::Own);
        for end in ["start", "end"] {
            name(root.path(&["surfaceOp", end]), What::End);
        }
        for cited in root.get("sourceEventSeqs").into_iter().flat_map(Value::elements) {
            name(Some(cited), What::Cited);
        }
        line.events = 1;
        let brackets = [
            ("turn/start", Bracket::TurnStart),
            ("turn/end", Bracket::TurnEnd),
            ("step/start", Bracket::StepStart),
            ("step/end", Bracket::StepEnd),
        ];
        line.bracket = brackets
            .into_iter()
            .find_map(|(name, bracket)| kind.is_some_and(|kind| kind.is(name)).then_some(bracket));
    } else if first == 0 {
        name(root.get("seedLength"), What::Inherited);
    }
    names[known..].sort_by_key(|name| name.at);
    line.names = range(names);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_names_what_stays() {
        let text = b"{\"type\":\"session\",\"seedLength\":2}\n{\"seq\":0}\n{\"seq\":1}\n{\"seq\":9}\n\
            {\"seq\":3,\"sourceEventSeqs\":[0,1,2],\"surfaceOp\":{\"op\":\"replace\",\"start\":1,\"end\":2}}\nno JSON";
        let script = Script::new(text.to_vec());
        assert_eq!(script.text(), text);
        // Event 0 is gone; a seq that was wrong by seven is wrong by seven still.
        let less = script.without(std::slice::from_ref(&(1..2)));
        let want = "{\"type\":\"session\",\"seedLength\":1}\n{\"seq\":0}\n{\"seq\":8}\n\
            {\"seq\":2,\"sourceEventSeqs\":[0,1],\"surfaceOp\":{\"op\":\"replace\",\"start\":0,\"end\":1}}\nno JSON";
        assert_eq!(String::from_utf8(less.text()).as_deref(), Ok(want));
        let least = script.without(&[1..3, 3..4, 5..6]);
        let want = "{\"type\":\"session\",\"seedLength\":0}\n\
            {\"seq\":0,\"sourceEventSeqs\":[],\"surfaceOp\":{\"op\":\"replace\",\"start\":1,\"end\":2}}\n";
        assert_eq!(String::from_utf8(least.text()).as_deref(), Ok(want));
        assert!(script.without(std::slice::from_ref(&(0..6))).is_empty());
        // What is taken away in two goes is what is taken away in one, and settling changes no byte.
        let twice = less.without(&[1..2, 2..3, 4..5]);
        assert_eq!(String::from_utf8(twice.text()).as_deref(), Ok(want));
        assert_eq!(twice.settled().text(), twice.text());
    }

    #[test]
    fn turns_and_steps_count_on() {
        let event = |seq: u64, kind: &str, data: &str| {
            format!("{{\"type\":\"{kind}\",\"seq\":{seq},\"data\":{{{data}}}}}\n")
        };
        let step = |turn: u64, step: u64| format!("\"turn\":{turn},\"step\":{step}");
        let text = [
            event(0, "turn/start", "\"turn\":1"),
            event(1, "turn/end", "\"turn\":1"),
            event(2, "turn/start", "\"turn\":2"),
            event(3, "step/start", &step(2, 1)),
            event(4, "step/end", &step(2, 1)),
            event(5, "step/start", &step(2, 2)),
            event(6, "step/end", &step(9, 2)),
            event(7, "compaction/start", "\"turn\":null"),
            event(8, "turn/start", "\"turn\":3"),
            event(9, "step/start", &step(3, 1)),
        ];
        let script = Script::new(text.concat().into_bytes());
        // The first turn and the second one's first step are gone; a wrong number stays wrong by as much.
        let want = [
            event(0, "turn/start", "\"turn\":1"),
            event(1, "step/start", &step(1, 1)),
            event(2, "step/end", &step(8, 1)),
            event(3, "compaction/start", "\"turn\":null"),
            event(4, "turn/start", "\"turn\":2"),
            event(5, "step/start", &step(2, 1)),
        ];
        assert_eq!(String::from_utf8(script.without(&[0..2, 3..5]).text()), Ok(want.concat()));
    }
}
