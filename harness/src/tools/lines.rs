//! A log as lines that can be taken away: what stays keeps its meaning, because seqs and what names them move along.

use foldproof::codec::rows::Tag;
use foldproof::json::{Scanner, Value};
use foldproof::limits::READ_DEPTH;
use std::ops::Range;

/// Lines of a log, with what of them counts events.
#[derive(Clone, Debug)]
pub struct Script {
    lines: Vec<Line>,
}

/// One line and its newline, where it has one.
#[derive(Clone, Debug)]
struct Line {
    bytes: Vec<u8>,
    /// The seqs that it names, in the order of the text; none in a line that is no event.
    names: Vec<Name>,
    /// The number of events in front of it, and in it.
    first: u64,
    events: u64,
}

/// A number in a line that names an event.
#[derive(Clone, Debug)]
struct Name {
    at: Range<usize>,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// The line's own seq, and how far it is from the number of events in front of it.
    Own(i64),
    /// Another event, which a replace begins or ends at.
    End(u64),
    /// Another event, which is cited: an element of a list.
    Cited(u64),
    /// How many events a header says are inherited.
    Inherited(u64),
}

impl Script {
    /// Takes a text apart.
    pub fn new(text: &[u8]) -> Script {
        let mut scanner = Scanner::new(READ_DEPTH);
        let mut lines = vec![];
        let mut first = 0;
        for bytes in text.split_inclusive(|byte| *byte == b'\n') {
            let line = line(bytes, first, &mut scanner);
            first += line.events;
            lines.push(line);
        }
        Script { lines }
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The bytes of a line.
    pub fn line(&self, place: usize) -> &[u8] {
        &self.lines[place].bytes
    }

    /// The text.
    pub fn text(&self) -> Vec<u8> {
        self.lines.iter().flat_map(|line| line.bytes.iter().copied()).collect()
    }

    /// Without the lines of these ranges, which stand in order and apart.
    pub fn without(&self, gone: &[Range<usize>]) -> Script {
        // What was taken away in front of a seq: where it begins, and how many events went until behind it.
        let mut cuts: Vec<(u64, u64, u64)> = vec![];
        let mut total = 0;
        for range in gone {
            for line in self.lines[range.clone()].iter().filter(|line| line.events > 0) {
                total += line.events;
                cuts.push((line.first, line.first + line.events, total));
            }
        }
        // How many of the events in front of a seq went.
        let removed = |seq: u64| {
            let behind = cuts.partition_point(|(start, ..)| *start < seq);
            let last = behind.checked_sub(1).map(|last| cuts[last]);
            last.map_or(0, |(_, end, total)| total - (end - seq.min(end)))
        };
        // Where an event went to; nothing when it is gone.
        let moved = |seq: u64| {
            let before = removed(seq);
            (removed(seq.saturating_add(1)) == before).then(|| seq - before)
        };
        let mut first = 0;
        let mut lines = vec![];
        let mut gone = gone.iter().peekable();
        for (place, line) in self.lines.iter().enumerate() {
            while gone.next_if(|range| range.end <= place).is_some() {}
            if gone.peek().is_some_and(|range| range.contains(&place)) {
                continue;
            }
            let line = line.renumbered(first, &moved, &removed);
            first += line.events;
            lines.push(line);
        }
        Script { lines }
    }

    /// With another text for one line.
    pub fn with(&self, place: usize, bytes: &[u8]) -> Script {
        let mut lines = self.lines.clone();
        lines[place] = line(bytes, lines[place].first, &mut Scanner::new(READ_DEPTH));
        Script { lines }
    }

    /// The type of each line's event, where it has one.
    pub fn kinds(&self) -> Vec<Option<String>> {
        let mut scanner = Scanner::new(READ_DEPTH);
        let mut kind = |line: &Line| {
            let scan = scanner.scan(line.bytes.trim_ascii_end()).ok()?;
            scan.root().get("type").and_then(Value::as_str).map(|kind| kind.display())
        };
        self.lines.iter().map(&mut kind).collect()
    }
}

impl Line {
    fn renumbered(
        &self,
        first: u64,
        moved: &impl Fn(u64) -> Option<u64>,
        removed: &impl Fn(u64) -> u64,
    ) -> Line {
        let mut line = Line { bytes: vec![], names: vec![], first, events: self.events };
        let mut from = 0;
        for name in &self.names {
            line.bytes.extend_from_slice(&self.bytes[from..name.at.start]);
            from = name.at.end;
            let (number, what) = match name.what {
                What::Own(off) => (Some(first.saturating_add_signed(off)), What::Own(off)),
                What::End(seq) => {
                    let seq = moved(seq).unwrap_or(seq);
                    (Some(seq), What::End(seq))
                }
                What::Cited(seq) => (moved(seq), What::Cited(moved(seq).unwrap_or(seq))),
                What::Inherited(count) => {
                    let kept = count - removed(count);
                    (Some(kept), What::Inherited(kept))
                }
            };
            let Some(number) = number else {
                // An element of a list goes with its comma: the one behind it, or else the one in front.
                if self.bytes.get(from) == Some(&b',') {
                    from += 1;
                } else if line.bytes.last() == Some(&b',') {
                    line.bytes.pop();
                }
                continue;
            };
            let start = line.bytes.len();
            line.bytes.extend_from_slice(number.to_string().as_bytes());
            line.names.push(Name { at: start..line.bytes.len(), what });
        }
        line.bytes.extend_from_slice(&self.bytes[from..]);
        line
    }
}

fn line(bytes: &[u8], first: u64, scanner: &mut Scanner) -> Line {
    let mut line = Line { bytes: bytes.to_vec(), names: vec![], first, events: 0 };
    if std::str::from_utf8(bytes).is_err() {
        return line;
    }
    let Ok(scan) = scanner.scan(bytes.trim_ascii_end()) else { return line };
    let root = scan.root();
    let mut name = |value: Option<Value<'_>>, what: &dyn Fn(u64) -> What| {
        if let Some(value) = value
            && let Some(number) = value.as_uint()
        {
            line.names.push(Name { at: value.at()..value.end(), what: what(number) });
        }
    };
    let own = |seq: u64| What::Own(seq.cast_signed().saturating_sub(first.cast_signed()));
    let kind = root.get("type").and_then(Value::as_str);
    let row = kind.and_then(Tag::of).filter(|_| root.get("seq0").is_some());
    if row.is_some() {
        name(root.get("seq0"), &own);
        let texts = ["texts", "deltas"].iter().find_map(|key| root.path(&["data", key]));
        line.events = texts.map_or(1, |texts| texts.elements().count() as u64);
    } else if root.get("seq").is_some() {
        name(root.get("seq"), &own);
        for end in ["start", "end"] {
            name(root.path(&["surfaceOp", end]), &What::End);
        }
        for cited in root.get("sourceEventSeqs").into_iter().flat_map(Value::elements) {
            name(Some(cited), &What::Cited);
        }
        line.events = 1;
    } else if first == 0 {
        name(root.get("seedLength"), &What::Inherited);
    }
    line.names.sort_by_key(|name| name.at.start);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_names_what_stays() {
        let text = b"{\"type\":\"session\",\"seedLength\":2}\n{\"seq\":0}\n{\"seq\":1}\n{\"seq\":9}\n\
            {\"seq\":3,\"sourceEventSeqs\":[0,1,2],\"surfaceOp\":{\"op\":\"replace\",\"start\":1,\"end\":2}}\nno JSON";
        let script = Script::new(text);
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
    }
}
