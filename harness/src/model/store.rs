//! The stored log: header, lines, damage (section 2). Decides corrupt, unsupported by version, and torn tails.

use super::event::Event;
use super::frames::{self, End};
use super::parse::{self, Parsed};
use super::rules::{Class, Finding, Mode};
use super::tree::{Tree, Value};
use super::{Dialect, rows};
use std::borrow::Cow;

/// The format version that this contract describes.
const VERSION: f64 = 0.0;

/// One line of the decoded file.
struct Line<'a> {
    bytes: &'a [u8],
    number: u64,
    /// STORE-5: ended by `\n`.
    terminated: bool,
    /// Inside a structurally complete compressed frame, where there is no torn tail.
    sealed: bool,
}

/// What the storage rules leave.
pub(crate) struct Stored {
    pub(crate) header: Option<Tree>,
    /// The events before the torn tail, none of them admitted yet.
    pub(crate) events: Vec<Event>,
    /// Notes on the header, and the torn tail.
    pub(crate) findings: Vec<Finding>,
}

fn corrupt(rule: &'static str, line: u64) -> Finding {
    Finding { rule, class: Class::Corrupt, line, seq: None }
}

/// Reads a plain log.
pub(crate) fn plain(log: &[u8], dialect: Dialect, mode: Mode) -> Result<Stored, Finding> {
    let mut lines = lines_of(log, 1, false);
    let header = match dialect {
        Dialect::Tutorial => None,
        Dialect::DshV0 if lines.is_empty() => return Err(corrupt("STORE-1", 1)),
        Dialect::DshV0 => Some(header(&lines.remove(0), mode)?),
    };
    records(&lines, header, mode)
}

/// Reads a compressed log (CODEC-3). Defects are met in the order of the file.
pub(crate) fn zstd(log: &[u8], dialect: Dialect, mode: Mode) -> Result<Stored, Finding> {
    let frames = frames::decode(log, mode == Mode::Strict);
    let mut complete = frames.complete.iter();
    let mut number = 1;
    let header = match (dialect, complete.as_slice().first()) {
        (Dialect::Tutorial, _) => None,
        // A file whose first frame is incomplete has no header.
        (Dialect::DshV0, None) if frames.end == End::Corrupt => return Err(corrupt("CODEC-3", 1)),
        (Dialect::DshV0, None) => return Err(corrupt("STORE-1", 1)),
        (Dialect::DshV0, Some(text)) => {
            complete.next();
            let lines = lines_of(text, 1, true);
            let Some(first) = lines.first() else { return Err(corrupt("STORE-1", 1)) };
            let header = header(first, mode)?;
            if lines.len() > 1 {
                return Err(Finding { seq: Some(0), ..corrupt("CODEC-3", 2) });
            }
            number = 2;
            Some(header)
        }
    };
    let mut lines = Vec::new();
    let mut end = frames.end;
    for text in complete {
        lines.extend(lines_of(text, number, true));
        number = lines.last().map_or(number, |line| line.number + 1);
        if lines.last().is_some_and(|line| !line.terminated) {
            // In every complete frame the last line ends with `\n`.
            lines.pop();
            number -= 1;
            end = End::Corrupt;
            break;
        }
    }
    if end == End::Torn {
        lines.extend(lines_of(&frames.torn, number, false).into_iter().filter(|line| line.terminated));
    }
    let mut stored = records(&lines, header, mode)?;
    let behind = lines.last().map_or(number, |line| line.number + 1);
    // As with all damage, the seq is the one that was expected here.
    let expected = Some(stored.events.len() as u64);
    match end {
        End::Clean => {}
        End::Corrupt => return Err(Finding { seq: expected, ..corrupt("CODEC-3", behind) }),
        End::Torn => {
            // One torn frame is one finding, at the first line that is not kept.
            let torn = stored.findings.iter_mut().find(|finding| finding.class == Class::Repairable);
            match torn {
                Some(finding) => finding.rule = "CODEC-3",
                None => stored.findings.push(Finding {
                    rule: "CODEC-3",
                    class: Class::Repairable,
                    line: behind,
                    seq: expected,
                }),
            }
        }
    }
    Ok(stored)
}

/// Cuts a text at its `\n`s.
fn lines_of(text: &[u8], first: u64, sealed: bool) -> Vec<Line<'_>> {
    text.split_inclusive(|byte| *byte == b'\n')
        .zip(first..)
        .map(|(bytes, number)| match bytes.strip_suffix(b"\n") {
            Some(bytes) => Line { bytes, number, terminated: true, sealed },
            None => Line { bytes, number, terminated: false, sealed },
        })
        .collect()
}

/// The text of a line; where STORE-4 is not applied, invalid UTF-8 becomes U+FFFD.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn is_damaged_text(bytes: &[u8], mode: Mode) -> bool {
    mode.applies("STORE-4") && std::str::from_utf8(bytes).is_err()
}

/// The first fault of a line that the mode looks for.
fn fault(parsed: &Parsed, mode: Mode) -> Option<&'static str> {
    parsed.fault.filter(|rule| mode.applies(rule))
}

/// STORE-1 and STORE-2. The version is compared before anything else is interpreted.
fn header(line: &Line<'_>, mode: Mode) -> Result<(Tree, Vec<Finding>), Finding> {
    let text = lossy(line.bytes);
    let Some(parsed) = parse::parse(&text) else { return Err(corrupt("STORE-1", 1)) };
    let version = parsed.tree.value().get("version").and_then(Value::number);
    if version.is_some_and(|version| version != VERSION) {
        return Err(Finding { rule: "STORE-2", class: Class::Unsupported, line: 1, seq: None });
    }
    if is_damaged_text(line.bytes, mode) || !line.terminated {
        return Err(corrupt("STORE-1", 1));
    }
    if let Some(rule) = fault(&parsed, mode).filter(|_| version.is_some()) {
        return Err(corrupt(rule, 1));
    }
    if !header_members(parsed.tree.value()) {
        return Err(corrupt("STORE-1", 1));
    }
    let mut notes = Vec::new();
    let mut note = |rule| notes.push(Finding { rule, class: Class::Note, line: 1, seq: None });
    if mode.applies("JSON-7") && parsed.tree.value().canonical() != text {
        note("JSON-7");
    }
    if mode == Mode::Strict && !parsed.tree.value().has_only(&HEADER) {
        note("STORE-1");
    }
    Ok((parsed.tree, notes))
}

/// The header fields of the contract; others are kept and noted.
const HEADER: [&str; 10] = [
    "type",
    "version",
    "id",
    "createdAt",
    "delegationDepth",
    "cwd",
    "parentSession",
    "seedLength",
    "origin",
    "agentPreset",
];

/// STORE-1: the types of the header's members.
fn header_members(header: Value<'_>) -> bool {
    let optional = |key: &str, good: &dyn Fn(Value<'_>) -> bool| header.get(key).is_none_or(good);
    let required = |key: &str, good: &dyn Fn(Value<'_>) -> bool| header.get(key).is_some_and(good);
    required("type", &|value| value.is("session"))
        && required("version", &|value| value.number() == Some(VERSION))
        && required("id", &|value| value.name().is_some())
        && required("createdAt", &|value| value.natural().is_some())
        && required("delegationDepth", &|value| value.natural().is_some())
        && optional("cwd", &|value| value.units().is_some_and(is_absolute))
        && optional("parentSession", &|value| value.units().is_some())
        && optional("seedLength", &|value| value.natural().is_some())
        && optional("origin", &|value| value.is("subagent"))
        && optional("agentPreset", &|value| value.units().is_some())
        && header.get("sandboxMode").is_none()
        && header.get("approvalPolicy").is_none()
}

/// Starts with `/`, with a drive letter, colon and `/` or `\`, or with `\\`.
fn is_absolute(path: &[u16]) -> bool {
    let start: String = String::from_utf16_lossy(path).chars().take(3).collect();
    let mut letters = start.chars();
    let drive = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.next() == Some(':')
        && matches!(letters.next(), Some('/' | '\\'));
    start.starts_with('/') || start.starts_with("\\\\") || drive
}

/// STORE-3: walks the records until one is damaged, then decides whether the damage lies in the committed region.
fn records(lines: &[Line<'_>], header: Option<(Tree, Vec<Finding>)>, mode: Mode) -> Result<Stored, Finding> {
    let (header, findings) = match header {
        Some((tree, notes)) => (Some(tree), notes),
        None => (None, Vec::new()),
    };
    let mut stored = Stored { header, events: Vec::new(), findings };
    for (index, line) in lines.iter().enumerate() {
        match record(line, stored.events.len() as u64, mode) {
            Ok(events) => stored.events.extend(events),
            Err(rule) => {
                let committed = line.sealed || lines[index..].iter().any(ends_turn);
                let class = if committed { Class::Corrupt } else { Class::Repairable };
                // The seq is the one that was expected here.
                let finding =
                    Finding { rule, class, line: line.number, seq: Some(stored.events.len() as u64) };
                if committed {
                    return Err(finding);
                }
                stored.findings.push(finding);
                break;
            }
        }
    }
    Ok(stored)
}

/// Whether a line ended by `\n` parses to an object whose type is `turn/end`, whatever else is wrong with it.
fn ends_turn(line: &Line<'_>) -> bool {
    let parsed = parse::parse(&lossy(line.bytes));
    line.terminated
        && parsed
            .is_some_and(|parsed| parsed.tree.value().get("type").is_some_and(|kind| kind.is("turn/end")))
}

/// The events of one record, or the rule that names its damage, in the order of STORE-3.
fn record(line: &Line<'_>, expected: u64, mode: Mode) -> Result<Vec<Event>, &'static str> {
    if !line.terminated {
        return Err("STORE-5");
    }
    if is_damaged_text(line.bytes, mode) {
        return Err("STORE-4");
    }
    let text = lossy(line.bytes);
    let blank = text.chars().all(|letter| matches!(letter, ' ' | '\t' | '\r'));
    if text.contains('\0') || blank || text.starts_with('\u{feff}') {
        return Err("STORE-6");
    }
    let parsed = parse::parse(&text).ok_or("STORE-3")?;
    let fault = fault(&parsed, mode);
    let value = parsed.tree.value();
    let respelled = mode.applies("JSON-7") && value.canonical() != text;
    if value.members().is_none() {
        return Err("STORE-3");
    }
    let is_next = |value: Option<Value<'_>>| value.and_then(Value::natural) == Some(expected);
    if rows::is_row(value) {
        let members = rows::unpack(value).ok_or("CODEC-1")?;
        if !is_next(value.get("seq0")) {
            return Err("STORE-3");
        }
        let member = |(text, seq): (String, u64)| {
            let tree = parse::parse(&text).expect("unpacking writes JSON").tree;
            Event::new(line.number, seq, tree, fault, respelled && seq == expected)
        };
        return Ok(members.into_iter().zip(expected..).map(member).collect());
    }
    if !is_next(value.get("seq")) {
        return Err("STORE-3");
    }
    Ok(vec![Event::new(line.number, expected, parsed.tree, fault, respelled)])
}
