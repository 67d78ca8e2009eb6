//! Packed rows (CODEC-1, CODEC-2).

use super::event::Event;
use super::text::{self, quote, quote_str};
use super::tree::{Value, safe_integer};

/// CODEC-1: a writer packs runs of at least this many members.
const RUN: usize = 3;

/// What a row tag says: the tag, the chunk's type, the name of the chunk's text, and the row's name for the texts.
const KINDS: [(&str, &str, &str, &str); 3] = [
    ("text-chunks", "text-delta", "text", "texts"),
    ("reasoning-chunks", "reasoning-delta", "text", "texts"),
    ("tool-call-chunks", "tool-call-delta", "argumentsDelta", "args"),
];

/// One delta chunk, with its values in canonical bytes.
#[derive(Clone, PartialEq, Eq)]
struct Delta {
    kind: usize,
    turn: String,
    step: String,
    index: String,
    id: Option<String>,
    name: Option<String>,
    seq: i64,
    time: i64,
    text: String,
}

impl Delta {
    /// The event that unpacking writes: this member order and no other.
    fn event(&self) -> String {
        let Delta { turn, step, index, seq, time, text, .. } = self;
        let (_, chunk, text_key, _) = KINDS[self.kind];
        let id = self.id.as_ref().map(|id| format!(",\"id\":{id}")).unwrap_or_default();
        let name = self.name.as_ref().map(|name| format!(",\"name\":{name}")).unwrap_or_default();
        format!(
            "{{\"type\":\"assistant/chunk\",\"seq\":{seq},\"time\":{time},\"data\":{{\"turn\":{turn},\"step\":{step},\
             \"chunk\":{{\"type\":\"{chunk}\",\"index\":{index}{id}{name},\"{text_key}\":{text}}}}}}}"
        )
    }

    /// Whether `next` may follow in the same row; seqs are consecutive already.
    fn continues(&self, next: &Delta) -> bool {
        let gap = i128::from(next.time) - i128::from(self.time);
        let alike = Delta { seq: self.seq, time: self.time, text: self.text.clone(), ..next.clone() };
        alike == *self && gap.abs() < 1 << 53
    }
}

/// Whether a record is tagged as a packed row, well formed or not.
pub(crate) fn is_row(record: Value<'_>) -> bool {
    record.get("type").is_some_and(|tag| KINDS.iter().any(|kind| tag.is(kind.0)))
}

/// Unpacks a row into its events' texts; `None` when the row is malformed (CODEC-1).
pub(crate) fn unpack(row: Value<'_>) -> Option<Vec<String>> {
    let kind = KINDS.iter().position(|kind| row.get("type").is_some_and(|tag| tag.is(kind.0)))?;
    let texts_key = KINDS[kind].3;
    if !row.has_exactly(&["type", "seq0", "time0", "data"]) {
        return None;
    }
    let data = row.get("data")?;
    let tool = texts_key == "args";
    let name = data.get("name").filter(|_| tool);
    let mut keys = vec!["turn", "step", "index", "dt", texts_key];
    keys.extend(tool.then_some("id"));
    keys.extend(name.map(|_| "name"));
    if !data.has_exactly(&keys) {
        return None;
    }
    let number = |key: &str| {
        let value = data.get(key)?;
        value.number().map(|_| value.canonical())
    };
    let string = |value: Value<'_>| value.units().map(quote);
    let (turn, step, index) = (number("turn")?, number("step")?, number("index")?);
    let id = if tool { Some(string(data.get("id")?)?) } else { None };
    let name = match name {
        Some(name) => Some(string(name)?),
        None => None,
    };
    let texts: Vec<String> = data.get(texts_key)?.items()?.into_iter().map(string).collect::<Option<_>>()?;
    let gaps: Vec<f64> = data.get("dt")?.items()?.into_iter().map(Value::number).collect::<Option<_>>()?;
    if texts.is_empty() || gaps.len() + 1 != texts.len() || gaps.iter().any(|gap| gap.fract() != 0.0) {
        return None;
    }
    let seq0 = row.get("seq0")?.natural()? as f64;
    let mut time = row.get("time0")?.safe()? as f64;
    let mut events = Vec::new();
    for (member, text) in texts.into_iter().enumerate() {
        if member > 0 {
            time += gaps[member - 1];
        }
        let delta = Delta {
            kind,
            turn: turn.clone(),
            step: step.clone(),
            index: index.clone(),
            id: id.clone(),
            name: name.clone(),
            seq: safe_integer(seq0 + member as f64)?,
            time: safe_integer(time)?,
            text,
        };
        events.push(delta.event());
    }
    Some(events)
}

/// The delta that an event is. CODEC-2: only a shape that unpacking would write byte for byte is recognized.
fn delta(event: &Event) -> Option<Delta> {
    let chunk = event.at("data.chunk").filter(|_| event.is("assistant/chunk"))?;
    let kind = KINDS.iter().position(|kind| chunk.get("type").is_some_and(|name| name.is(kind.1)))?;
    let number =
        |value: Option<Value<'_>>| value.filter(|value| value.number().is_some()).map(Value::canonical);
    let string = |key: &str| chunk.get(key).and_then(Value::units).map(quote);
    let tool = KINDS[kind].3 == "args";
    let delta = Delta {
        kind,
        turn: number(event.at("data.turn"))?,
        step: number(event.at("data.step"))?,
        index: number(chunk.get("index"))?,
        id: if tool { Some(string("id")?) } else { None },
        name: string("name").filter(|_| tool),
        seq: event.at("seq")?.safe()?,
        time: event.at("time")?.safe()?,
        text: string(KINDS[kind].2)?,
    };
    (delta.event() == event.canonical()).then_some(delta)
}

/// The storage lines of events, with runs of like deltas packed into rows.
pub(crate) fn pack(events: &[Event]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = events;
    while let Some(event) = rest.first() {
        let mut run: Vec<Delta> = Vec::new();
        for next in rest.iter().map_while(delta) {
            if run.last().is_some_and(|last| !last.continues(&next)) {
                break;
            }
            run.push(next);
        }
        let taken = if run.len() >= RUN {
            lines.push(row(&run));
            run.len()
        } else {
            lines.push(event.canonical().to_owned());
            1
        };
        rest = &rest[taken..];
    }
    lines
}

/// The row that stands for a run.
fn row(run: &[Delta]) -> String {
    let Delta { kind, turn, step, index, id, name, seq, time, .. } = &run[0];
    let (tag, _, _, texts_key) = KINDS[*kind];
    let dt = text::list(run.windows(2).map(|pair| pair[1].time - pair[0].time));
    let texts = text::list(run.iter().map(|delta| &delta.text));
    let id = id.as_ref().map(|id| format!(",\"id\":{id}")).unwrap_or_default();
    let name = name.as_ref().map(|name| format!(",\"name\":{name}")).unwrap_or_default();
    format!(
        "{{\"type\":{},\"seq0\":{seq},\"time0\":{time},\"data\":{{\"turn\":{turn},\"step\":{step},\"index\":{index},\
         \"dt\":{dt}{id}{name},\"{texts_key}\":{texts}}}}}",
        quote_str(tag)
    )
}
