//! Packed rows: a run of chunk events stored as one line (CODEC-1, CODEC-2).

use crate::event::{Seq, describe};
use crate::finding::Violation;
use crate::json::{Kind, Str, Value, number, print};
use crate::rule::Rule;

/// A writer packs runs of at least this many events.
pub const THRESHOLD: usize = 3;

/// What a row holds a run of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// `text-chunks`
    Text,
    /// `reasoning-chunks`
    Reasoning,
    /// `tool-call-chunks`
    ToolCall,
}

impl Tag {
    /// The tag of a row, if a record of this type is one.
    pub fn of(kind: Str<'_>) -> Option<Tag> {
        [Tag::Text, Tag::Reasoning, Tag::ToolCall].into_iter().find(|tag| kind.is(tag.name()))
    }

    /// The record's `type`.
    pub fn name(self) -> &'static str {
        match self {
            Tag::Text => "text-chunks",
            Tag::Reasoning => "reasoning-chunks",
            Tag::ToolCall => "tool-call-chunks",
        }
    }

    /// The chunk's `type`.
    pub fn chunk(self) -> &'static str {
        match self {
            Tag::Text => "text-delta",
            Tag::Reasoning => "reasoning-delta",
            Tag::ToolCall => "tool-call-delta",
        }
    }

    /// The member of `data` that holds the run.
    fn list(self) -> &'static str {
        if self == Tag::ToolCall { "args" } else { "texts" }
    }

    /// The member of the chunk that holds one of the run.
    fn member(self) -> &'static str {
        if self == Tag::ToolCall { "argumentsDelta" } else { "text" }
    }
}

/// A well-formed row.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// What it holds.
    pub tag: Tag,
    /// Seq of its first event.
    pub first: Seq,
    /// Number of its events.
    pub count: u64,
    /// `turn` of all of them.
    pub turn: Value<'a>,
    /// `step` of all of them.
    pub step: Value<'a>,
    /// `index` of all of them.
    pub index: Value<'a>,
    /// `id` of a tool call.
    pub id: Option<Str<'a>>,
    /// `name` of a tool call.
    pub name: Option<Str<'a>>,
    /// `time` of the last of them.
    pub last_time: i64,
    time: i64,
    gaps: Value<'a>,
    list: Value<'a>,
}

/// One event of a row.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Its seq.
    pub seq: Seq,
    /// Its time.
    pub time: i64,
    /// Its text or arguments.
    pub text: Str<'a>,
}

impl<'a> Row<'a> {
    /// Reads a record whose type is a row's tag; anything not exactly a row is damage.
    pub fn read(root: Value<'a>, tag: Tag) -> Result<Row<'a>, Violation> {
        let broken = |at: Value<'_>, text: String| Violation::new(Rule::Codec1, at.at(), text);
        let name = tag.name();
        let [_, seq0, time0, data] = exact(root, ["type", "seq0", "time0", "data"], name)?;
        let first = seq0.as_uint();
        let Some(first) = first else {
            return Err(broken(
                seq0,
                format!("expected seq0 to be a safe integer that is not negative, found {}", describe(seq0)),
            ));
        };
        let Some(time) = time0.as_int() else {
            return Err(broken(
                time0,
                format!("expected time0 to be a safe integer, found {}", describe(time0)),
            ));
        };
        if !data.is_object() {
            return Err(broken(data, format!("expected data to be an object, found {}", describe(data))));
        }
        let (turn, step, index, gaps, list, id, call) = if tag == Tag::ToolCall {
            let call = data.get("name");
            let [turn, step, index, gaps, id, list] = match call {
                None => exact(data, ["turn", "step", "index", "dt", "id", "args"], name)?,
                Some(_) => {
                    let [turn, step, index, gaps, id, _, list] =
                        exact(data, ["turn", "step", "index", "dt", "id", "name", "args"], name)?;
                    [turn, step, index, gaps, id, list]
                }
            };
            (turn, step, index, gaps, list, Some(id), call)
        } else {
            let [turn, step, index, gaps, list] =
                exact(data, ["turn", "step", "index", "dt", "texts"], name)?;
            (turn, step, index, gaps, list, None, None)
        };
        for (value, name) in [(turn, "turn"), (step, "step"), (index, "index")] {
            if value.kind() != Kind::Number {
                return Err(broken(
                    value,
                    format!("expected {name} to be a number, found {}", describe(value)),
                ));
            }
        }
        let string = |value: Option<Value<'a>>, name: &str| match value {
            None => Ok(None),
            Some(value) => match value.as_str() {
                Some(text) => Ok(Some(text)),
                None => {
                    Err(broken(value, format!("expected {name} to be a string, found {}", describe(value))))
                }
            },
        };
        let id = string(id, "id")?;
        let call = string(call, "name")?;
        for (value, name) in [(list, tag.list()), (gaps, "dt")] {
            if value.kind() != Kind::Array {
                return Err(broken(
                    value,
                    format!("expected {name} to be an array, found {}", describe(value)),
                ));
            }
        }
        let mut count = 0u64;
        for item in list.elements() {
            if !item.is_string() {
                return Err(broken(
                    item,
                    format!("expected {} to hold strings, found {}", tag.list(), describe(item)),
                ));
            }
            count += 1;
        }
        if count == 0 {
            return Err(broken(
                list,
                format!("expected {} to hold at least one member, found none", tag.list()),
            ));
        }
        let mut running = time;
        let mut gap_count = 0u64;
        for gap in gaps.elements() {
            let moved = gap.as_int().and_then(|gap| running.checked_add(gap));
            match moved.filter(|moved| moved.abs() <= number::MAX_SAFE) {
                Some(moved) => running = moved,
                None => {
                    return Err(broken(
                        gap,
                        match gap.as_int() {
                            Some(gap) => {
                                format!("expected running times to be safe integers, found {running} + {gap}")
                            }
                            None => {
                                format!("expected every gap to be a safe integer, found {}", describe(gap))
                            }
                        },
                    ));
                }
            }
            gap_count += 1;
        }
        if gap_count + 1 != count {
            return Err(broken(
                gaps,
                format!("expected dt to be one shorter than its {count} members, found {gap_count}"),
            ));
        }
        if first + (count - 1) > number::MAX_SAFE as u64 {
            let text = format!("expected running seqs to be safe integers, found {first} + {}", count - 1);
            return Err(broken(seq0, text));
        }
        let last_time = running;
        Ok(Row { tag, first, count, turn, step, index, id, name: call, last_time, time, gaps, list })
    }

    /// The row's events in order.
    pub fn members(&self) -> impl Iterator<Item = Member<'a>> + use<'a> {
        let mut gaps = self.gaps.elements();
        let mut time = self.time;
        let first = self.first;
        self.list.elements().enumerate().filter_map(move |(place, text)| {
            if place > 0 {
                time += gaps.next().and_then(Value::as_int).unwrap_or(0);
            }
            Some(Member { seq: first + place as u64, time, text: text.as_str()? })
        })
    }

    /// Appends the canonical line of one of the row's events, without a newline.
    pub fn unpack(&self, member: &Member<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"type\":\"assistant/chunk\",\"seq\":");
        integer(member.seq as i64, out);
        out.extend_from_slice(b",\"time\":");
        integer(member.time, out);
        out.extend_from_slice(b",\"data\":{\"turn\":");
        print::canonical(self.turn, out);
        out.extend_from_slice(b",\"step\":");
        print::canonical(self.step, out);
        out.extend_from_slice(b",\"chunk\":{\"type\":\"");
        out.extend_from_slice(self.tag.chunk().as_bytes());
        out.extend_from_slice(b"\",\"index\":");
        print::canonical(self.index, out);
        for (name, value) in [("id", self.id), ("name", self.name)] {
            if let Some(value) = value {
                out.extend_from_slice(format!(",\"{name}\":").as_bytes());
                print::string(value, out);
            }
        }
        out.extend_from_slice(format!(",\"{}\":", self.tag.member()).as_bytes());
        print::string(member.text, out);
        out.extend_from_slice(b"}}}");
    }
}

/// The members of an object that has exactly these, in any order.
fn exact<'a, const N: usize>(
    object: Value<'a>,
    names: [&str; N],
    record: &str,
) -> Result<[Value<'a>; N], Violation> {
    let mut found = [None; N];
    for (key, value) in object.members() {
        match names.iter().position(|name| key.is(name)) {
            Some(place) => found[place] = Some(value),
            None => {
                let text =
                    format!("expected only the members of a {record} row, found \"{}\"", key.display());
                return Err(Violation::new(Rule::Codec1, value.at(), text));
            }
        }
    }
    for (place, value) in found.iter().enumerate() {
        if value.is_none() {
            let text = format!("expected a {record} row to have the member \"{}\", found none", names[place]);
            return Err(Violation::new(Rule::Codec1, object.at(), text));
        }
    }
    Ok(found.map(|value| value.unwrap_or(object)))
}

fn integer(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    number::print_int(value.unsigned_abs(), out);
}

/// A chunk event in exactly the shape that unpacking writes, so that packing it loses nothing.
#[derive(Clone, Copy, Debug)]
struct Delta<'a> {
    tag: Tag,
    seq: i64,
    time: i64,
    turn: &'a [u8],
    step: &'a [u8],
    index: &'a [u8],
    id: Option<&'a [u8]>,
    name: Option<&'a [u8]>,
    text: &'a [u8],
}

impl<'a> Delta<'a> {
    /// Recognizes a canonical event line completely, or not at all.
    fn recognize(root: Value<'a>) -> Option<Delta<'a>> {
        let [kind, seq, time, data] = in_order(root, ["type", "seq", "time", "data"])?;
        if !kind.as_str()?.is("assistant/chunk") {
            return None;
        }
        let [turn, step, chunk] = in_order(data, ["turn", "step", "chunk"])?;
        let tag_text = chunk.get("type")?.as_str()?;
        let tag =
            [Tag::Text, Tag::Reasoning, Tag::ToolCall].into_iter().find(|tag| tag_text.is(tag.chunk()))?;
        let (index, id, name, text) = if tag == Tag::ToolCall {
            match in_order(chunk, ["type", "index", "id", "argumentsDelta"]) {
                Some([_, index, id, text]) => (index, Some(id), None, text),
                None => {
                    let [_, index, id, name, text] =
                        in_order(chunk, ["type", "index", "id", "name", "argumentsDelta"])?;
                    (index, Some(id), Some(name), text)
                }
            }
        } else {
            let [_, index, text] = in_order(chunk, ["type", "index", "text"])?;
            (index, None, None, text)
        };
        let number = |value: Value<'a>| (value.kind() == Kind::Number).then(|| value.bytes());
        let string = |value: Value<'a>| value.as_str().map(|_| value.bytes());
        let optional = |value: Option<Value<'a>>| match value {
            None => Some(None),
            Some(value) => string(value).map(Some),
        };
        Some(Delta {
            tag,
            seq: seq.as_int()?,
            time: time.as_int()?,
            turn: number(turn)?,
            step: number(step)?,
            index: number(index)?,
            id: optional(id)?,
            name: optional(name)?,
            text: string(text)?,
        })
    }
}

/// The values of an object that has exactly these members in this order.
fn in_order<'a, const N: usize>(object: Value<'a>, names: [&str; N]) -> Option<[Value<'a>; N]> {
    if !object.is_object() {
        return None;
    }
    let mut members = object.members();
    let mut found = [object; N];
    for (place, name) in names.iter().enumerate() {
        let (key, value) = members.next()?;
        if !key.is(name) {
            return None;
        }
        found[place] = value;
    }
    members.next().is_none().then_some(found)
}

/// Packs runs of recognized chunk events; everything else goes through as it is (CODEC-2).
///
/// Takes canonical event lines one after another, without newlines, and appends lines with newlines to a buffer.
#[derive(Debug, Default)]
pub struct Packer {
    /// Lines of the run that is open, each with its newline.
    held: Vec<u8>,
    run: Option<Run>,
}

#[derive(Debug)]
struct Run {
    tag: Tag,
    first: i64,
    time: i64,
    last_seq: i64,
    last_time: i64,
    count: usize,
    /// `"turn":…,"step":…,"index":…`
    head: Vec<u8>,
    /// `"id":…,"name":…,` where there are such.
    call: Vec<u8>,
    gaps: Vec<u8>,
    texts: Vec<u8>,
}

impl Packer {
    /// Takes the next event's canonical line. `root` is its value.
    pub fn push(&mut self, root: Value<'_>, out: &mut Vec<u8>) {
        let delta = Delta::recognize(root);
        if let Some(run) = &mut self.run {
            if let Some(delta) = &delta
                && run.extend(delta)
            {
                self.hold(root.bytes());
                return;
            }
            self.finish(out);
        }
        match delta {
            Some(delta) => {
                self.run = Some(Run::new(&delta));
                self.hold(root.bytes());
            }
            None => {
                out.extend_from_slice(root.bytes());
                out.push(b'\n');
            }
        }
    }

    fn hold(&mut self, line: &[u8]) {
        // A run that is long enough to be packed needs its lines no more.
        if self.run.as_ref().is_some_and(|run| run.count < THRESHOLD) {
            self.held.extend_from_slice(line);
            self.held.push(b'\n');
        }
    }

    /// Ends the open run.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let Some(run) = self.run.take() else { return };
        if run.count < THRESHOLD {
            out.extend_from_slice(&self.held)
        } else {
            run.write(out)
        }
        self.held.clear();
    }
}

impl Run {
    fn new(delta: &Delta<'_>) -> Self {
        let mut call = Vec::new();
        for (name, value) in [("id", delta.id), ("name", delta.name)] {
            if let Some(value) = value {
                call.extend_from_slice(format!("\"{name}\":").as_bytes());
                call.extend_from_slice(value);
                call.push(b',');
            }
        }
        Run {
            tag: delta.tag,
            first: delta.seq,
            time: delta.time,
            last_seq: delta.seq,
            last_time: delta.time,
            count: 1,
            head: head(delta),
            call,
            gaps: vec![],
            texts: delta.text.to_vec(),
        }
    }

    fn extend(&mut self, delta: &Delta<'_>) -> bool {
        let gap = delta.time.checked_sub(self.last_time).filter(|gap| gap.abs() <= number::MAX_SAFE);
        let Some(gap) = gap else { return false };
        let fits = delta.tag == self.tag
            && delta.seq == self.last_seq + 1
            && head(delta) == self.head
            && Run::new(delta).call == self.call;
        if !fits {
            return false;
        }
        if self.count > 1 {
            self.gaps.push(b',');
        }
        integer(gap, &mut self.gaps);
        self.texts.push(b',');
        self.texts.extend_from_slice(delta.text);
        self.last_seq = delta.seq;
        self.last_time = delta.time;
        self.count += 1;
        true
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(
            format!("{{\"type\":\"{}\",\"seq0\":{},", self.tag.name(), self.first).as_bytes(),
        );
        out.extend_from_slice(format!("\"time0\":{},\"data\":{{", self.time).as_bytes());
        out.extend_from_slice(&self.head);
        out.extend_from_slice(b",\"dt\":[");
        out.extend_from_slice(&self.gaps);
        out.extend_from_slice(b"],");
        out.extend_from_slice(&self.call);
        out.extend_from_slice(format!("\"{}\":[", self.tag.list()).as_bytes());
        out.extend_from_slice(&self.texts);
        out.extend_from_slice(b"]}}\n");
    }
}

fn head(delta: &Delta<'_>) -> Vec<u8> {
    [b"\"turn\":", delta.turn, b",\"step\":", delta.step, b",\"index\":", delta.index].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Scanner;

    fn pack(lines: &[&str]) -> String {
        let mut packer = Packer::default();
        let mut out = Vec::new();
        for line in lines {
            let mut scanner = Scanner::new(100);
            packer.push(scanner.scan(line.as_bytes()).unwrap().root(), &mut out);
        }
        packer.finish(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn unpack(line: &str) -> Vec<String> {
        let mut scanner = Scanner::new(100);
        let root = scanner.scan(line.as_bytes()).unwrap().root();
        let tag = Tag::of(root.get("type").unwrap().as_str().unwrap()).unwrap();
        let row = Row::read(root, tag).unwrap();
        let line = |member: Member<'_>| {
            let mut out = Vec::new();
            row.unpack(&member, &mut out);
            String::from_utf8(out).unwrap()
        };
        row.members().map(line).collect()
    }

    fn text(seq: u64, time: i64, text: &str) -> String {
        format!(
            r#"{{"type":"assistant/chunk","seq":{seq},"time":{time},"data":{{"turn":1,"step":1,"chunk":{{"type":"text-delta","index":0,"text":"{text}"}}}}}}"#
        )
    }

    #[test]
    fn a_run_of_three_is_packed_and_comes_back() {
        let lines = [text(5, 100, "a"), text(6, 90, ""), text(7, 95, "\\ud800")];
        let packed = pack(&lines.each_ref().map(String::as_str));
        assert_eq!(
            packed,
            "{\"type\":\"text-chunks\",\"seq0\":5,\"time0\":100,\"data\":{\"turn\":1,\"step\":1,\"index\":0,\
             \"dt\":[-10,5],\"texts\":[\"a\",\"\",\"\\ud800\"]}}\n"
        );
        assert_eq!(unpack(packed.trim_end()), lines);
    }

    #[test]
    fn what_is_not_a_run_stays() {
        let two = [text(5, 0, "a"), text(6, 0, "b")];
        assert_eq!(pack(&two.each_ref().map(String::as_str)), format!("{}\n{}\n", two[0], two[1]));
        let gap = [text(5, 0, "a"), text(6, 0, "b"), text(8, 0, "c")];
        assert_eq!(pack(&gap.each_ref().map(String::as_str)).lines().count(), 3);
        let other = text(7, 0, "c").replace("\"step\":1,", "\"step\":1,\"x\":0,");
        assert_eq!(pack(&[&text(5, 0, "a"), &text(6, 0, "b"), &other]).lines().count(), 3);
    }

    #[test]
    fn calls_keep_id_and_name() {
        let call = |seq: u64, name: &str| {
            format!(
                r#"{{"type":"assistant/chunk","seq":{seq},"time":1,"data":{{"turn":1,"step":2,"chunk":{{"type":"tool-call-delta","index":3,"id":"c",{name}"argumentsDelta":"x"}}}}}}"#
            )
        };
        let named = [call(1, "\"name\":\"n\","), call(2, "\"name\":\"n\","), call(3, "\"name\":\"n\",")];
        let packed = pack(&named.each_ref().map(String::as_str));
        assert!(packed.contains(r#""dt":[0,0],"id":"c","name":"n","args":["x","x","x"]"#), "{packed}");
        assert_eq!(unpack(packed.trim_end()), named);
        let mixed = [call(1, "\"name\":\"n\","), call(2, ""), call(3, "")];
        assert_eq!(
            pack(&mixed.each_ref().map(String::as_str)).lines().count(),
            3,
            "presence of the name parts runs"
        );
    }

    #[test]
    fn malformed_rows_are_damage() {
        let good = r#"{"type":"text-chunks","seq0":0,"time0":0,"data":{"turn":1,"step":1,"index":0,"dt":[1],"texts":["a","b"]}}"#;
        assert_eq!(unpack(good).len(), 2);
        for (from, to) in [
            ("[1]", "[]"),
            ("[1]", "[1.5]"),
            ("[1]", "[9007199254740991,1]"),
            (r#"["a","b"]"#, "[]"),
            (r#"["a","b"]"#, r#"["a",1]"#),
            ("\"turn\":1", "\"turn\":\"1\""),
            ("\"seq0\":0", "\"seq0\":-1"),
            ("\"seq0\":0", "\"seq0\":9007199254740991"),
            ("\"index\":0,", ""),
            ("\"index\":0,", "\"index\":0,\"id\":\"x\","),
            ("\"time0\":0", "\"time0\":0,\"ignorable\":true"),
        ] {
            let line = good.replacen(from, to, 1);
            let mut scanner = Scanner::new(100);
            let root = scanner.scan(line.as_bytes()).unwrap().root();
            assert_eq!(Row::read(root, Tag::Text).unwrap_err().rule, Rule::Codec1, "{line}");
        }
    }
}
