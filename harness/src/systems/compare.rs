//! Comparing outcomes: canonical bytes, after what may differ is made equal.
//!
//! `time` of events, `time0` and `dt` of rows and `createdAt` of headers become 0; a dump is compared as the events
//! that it decodes to; the text of a synthetic result is every implementation's own; of a refusal only the rule counts,
//! and for FORK-2 the code.

use super::Outcome;
use crate::case::{Call, Encoding, Op, View, dumped};
use foldproof::codec::rows::{Row, Tag};
use foldproof::json::{Scanner, Value};
use std::borrow::Cow;
use std::io::Read;

/// Parts of a text that something else is put for, in order.
type Splices = Vec<(usize, usize, &'static str)>;

/// What a synthetic result's message id starts with (REPAIR-3).
const SYNTHETIC: &str = "interrupted-tool-result-";

/// How two outcomes of one operation compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They are the same.
    Same,
    /// Both refuse, under different rules.
    RefusedOtherwise,
    /// They differ: what was expected and what was found, in the compared form.
    Different(String, String),
    /// The operation was not sent.
    NotSent,
}

/// Compares what was found with what was expected.
pub fn compare(op: &Op, expected: &Outcome, got: &Outcome) -> Comparison {
    match (expected, got) {
        (_, Outcome::NotSent { .. }) | (Outcome::NotSent { .. }, _) => Comparison::NotSent,
        (Outcome::Ok(a), Outcome::Ok(b)) if a == b => Comparison::Same,
        (Outcome::Ok(a), Outcome::Ok(b)) => {
            let (a, b) = (normal(op, a), normal(op, b));
            if a == b { Comparison::Same } else { Comparison::Different(a.into_owned(), b.into_owned()) }
        }
        (Outcome::Err { rule: a, message: said }, Outcome::Err { rule: b, message: says }) => match (a, b) {
            // A refusal that names no rule is compared as a refusal.
            (None, _) | (_, None) => Comparison::Same,
            (Some(a), Some(b)) if a != b => Comparison::RefusedOtherwise,
            (Some(a), _) if a == "FORK-2" && code(said) != code(says) => Comparison::RefusedOtherwise,
            _ => Comparison::Same,
        },
        _ => Comparison::Different(show(op, expected), show(op, got)),
    }
}

/// The first word of a message: the code of FORK-2.
fn code(message: &str) -> &str {
    message.split(|letter: char| !letter.is_ascii_uppercase() && letter != '_').next().unwrap_or_default()
}

/// An outcome for people, in the compared form.
pub fn show(op: &Op, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok(text) => normal(op, text).into_owned(),
        Outcome::Err { rule, message } => {
            format!(
                "refused{}: {message}",
                rule.as_ref().map(|rule| format!(" under {rule}")).unwrap_or_default()
            )
        }
        Outcome::Broken { kind, message } => format!("{}: {message}", kind.name()),
        Outcome::NotSent { message } => format!("not sent: {message}"),
    }
}

/// An answer with everything made equal that may differ.
pub fn normal<'t>(op: &Op, text: &'t str) -> Cow<'t, str> {
    let mut splices = Splices::new();
    let mut scanner = Scanner::new(u64::MAX);
    let Ok(scan) = scanner.scan(text.as_bytes()) else { return Cow::Borrowed(text) };
    let root = scan.root();
    match &op.call {
        Call::View { view: View::Events, .. } | Call::Repair => {
            root.elements().for_each(|item| event(item, &mut splices))
        }
        Call::View { view: View::Messages | View::Transcript, .. } if text.contains(SYNTHETIC) => {
            root.elements().for_each(|item| message(item, &mut splices));
        }
        Call::View { view: View::Request, .. } if text.contains(SYNTHETIC) => {
            let messages = root.get("messages");
            messages.iter().flat_map(|list| list.elements()).for_each(|item| message(item, &mut splices));
        }
        Call::Fork { .. } => header(root, &mut splices),
        Call::Dump { encoding, .. } => return Cow::Owned(decoded(dumped(text).bytes(), *encoding)),
        _ => {}
    }
    splice(text, splices)
}

fn splice(text: &str, mut splices: Splices) -> Cow<'_, str> {
    if splices.is_empty() {
        return Cow::Borrowed(text);
    }
    splices.sort_unstable();
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (start, end, put) in splices {
        out.push_str(&text[from..start]);
        out.push_str(put);
        from = end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

fn zero(value: Option<Value<'_>>, splices: &mut Splices) {
    splices.extend(value.map(|value| (value.at(), value.end(), "0")));
}

fn header(root: Value<'_>, splices: &mut Splices) {
    zero(root.get("createdAt"), splices);
}

fn event(root: Value<'_>, splices: &mut Splices) {
    zero(root.get("time"), splices);
    if let Some(inner) = root.path(&["data", "message"]) {
        message(inner, splices);
    }
}

/// The words of a synthetic result.
fn message(root: Value<'_>, splices: &mut Splices) {
    let synthetic =
        root.get("id").and_then(Value::as_str).is_some_and(|id| id.raw().starts_with(SYNTHETIC.as_bytes()));
    if !synthetic {
        return;
    }
    let text = root
        .get("content")
        .and_then(|content| content.elements().next())
        .and_then(|block| block.get("content"))
        .and_then(|content| content.elements().next())
        .and_then(|part| part.get("text"));
    splices.extend(text.map(|text| (text.at(), text.end(), "\"…\"")));
}

/// A stored log as its header and its events, one on a line. What cannot be decoded is kept as it is.
pub fn decoded(log: &[u8], encoding: Encoding) -> String {
    let plain = match encoding {
        Encoding::Plain => Some(log.to_vec()),
        Encoding::Zstd => unpack(log),
    };
    let Some(plain) = plain else { return format!("not decodable: {log:?}") };
    let mut out = String::with_capacity(plain.len());
    let mut scanner = Scanner::new(u64::MAX);
    for line in plain.split_inclusive(|byte| *byte == b'\n') {
        let Ok(text) = std::str::from_utf8(line) else { return format!("not decodable: {:?}", line) };
        let Ok(scan) = scanner.scan(text.trim_end_matches('\n').as_bytes()) else {
            out.push_str(text);
            continue;
        };
        let root = scan.root();
        let tag = root.get("type").and_then(Value::as_str).and_then(Tag::of);
        match tag.and_then(|tag| Row::read(root, tag).ok()) {
            Some(row) => {
                let mut bytes = Vec::new();
                for member in row.members() {
                    bytes.clear();
                    row.unpack(&foldproof::codec::rows::Member { time: 0, ..member }, &mut bytes);
                    out.push_str(&String::from_utf8_lossy(&bytes));
                    out.push('\n');
                }
            }
            None => {
                let mut splices = Splices::new();
                header(root, &mut splices);
                event(root, &mut splices);
                out.push_str(&splice(text, splices));
            }
        }
    }
    out
}

/// All frames of a compressed log, one after another.
fn unpack(log: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let decoder = zstd::stream::read::Decoder::new(log).ok()?;
    decoder.take(1 << 30).read_to_end(&mut out).ok()?;
    Some(out)
}

/// The first difference of two texts, each with what stands around it.
pub fn excerpt(expected: &str, got: &str) -> (String, String) {
    const BEFORE: usize = 40;
    const BEHIND: usize = 120;
    let same = expected.bytes().zip(got.bytes()).take_while(|(a, b)| a == b).count();
    let cut = |text: &str| {
        let mut from = same.saturating_sub(BEFORE).min(text.len());
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        let mut to = (same + BEHIND).min(text.len());
        while !text.is_char_boundary(to) {
            to += 1;
        }
        let (left, right) = (if from > 0 { "…" } else { "" }, if to < text.len() { "…" } else { "" });
        format!("{left}{}{right}", &text[from..to])
    };
    (cut(expected), cut(got))
}
