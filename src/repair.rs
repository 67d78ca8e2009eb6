//! Recovery of a log that ends inside a turn (REPAIR-2, REPAIR-3, REPAIR-6): events in, synthetic events out.

use crate::admit::{Admission, Admitted, Change};
use crate::codec::rows::Row;
use crate::dialect::{Dialect, Part, Reading, Role};
use crate::event::{Event, Seq, UNLISTED};
use crate::json::{Scanner, Value, print, text};
use crate::log::Log;
use crate::relation::calls;
use crate::relation::{Folded, Place};
use std::collections::{BTreeMap, BTreeSet};

/// The events that close a log, as canonical lines without newlines; none when nothing is open (REPAIR-1, REPAIR-2).
///
/// Pure: the log is not changed, and the same log gives the same events.
///
/// ```
/// use foldproof::{dialect, repair};
/// use foldproof::session::{Draft, Session};
/// let mut session = Session::create(std::sync::Arc::new(dialect::dsh_v0()), "s", None, 0);
/// session.append(Draft { kind: "turn/start", data: br#"{"turn":1}"#, ..Draft::default() }, 7).unwrap();
/// let lines = repair::repair(session.log()).unwrap();
/// assert_eq!(lines, [br#"{"type":"turn/end","seq":1,"time":7,"data":{"turn":1,"reason":{"kind":"interrupted"}}}"#]);
/// ```
pub fn repair(log: &Log) -> Result<Vec<Vec<u8>>, Unrepairable> {
    Recovery::of(log, log.len()).close()
}

/// What stands open at the end of a log. A left fold.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    results: bool,
    turn: Option<Open>,
    step: Option<Open>,
    /// Calls of the open step in the order of first naming: canonical inner text of the id.
    calls: Vec<Vec<u8>>,
    named: BTreeSet<Vec<u8>>,
    answered: BTreeSet<Vec<u8>>,
    started: BTreeMap<Vec<u8>, Seq>,
    /// A call of the open step that no result can answer, because it has no usable id.
    nameless: Option<Place>,
    time: Option<i64>,
    next: Seq,
}

#[derive(Clone, Debug)]
struct Open {
    /// Canonical bytes of the number as logged; empty where there was none.
    number: Vec<u8>,
    place: Place,
}

/// Why a log cannot be repaired although its end is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrepairable {
    /// The call without a usable id.
    pub place: Place,
}

impl Recovery {
    /// The empty log.
    pub fn new(dialect: &Dialect) -> Self {
        Recovery { results: dialect.repair.results, ..Recovery::default() }
    }

    /// A log of `count` events at whose end nothing is open.
    pub(crate) fn at(dialect: &Dialect, count: u64) -> Self {
        Recovery { next: count, ..Recovery::new(dialect) }
    }

    /// What stands open behind a log's first `count` events.
    pub fn of(log: &Log, count: u64) -> Self {
        let mut recovery = Recovery::new(log.dialect());
        let admission = Admission::new(log.dialect().clone(), Reading::Strict);
        let mut scanner = Scanner::new(u64::MAX);
        for (seq, line) in (0..count.min(log.len())).zip(log.events()) {
            let Ok(scan) = scanner.scan(&line) else { continue };
            let event = Event::read(scan.root(), log.types(), UNLISTED);
            let change = match event.role {
                Role::Surface(_) if log.is_replace(seq) => Change::Replace(0),
                Role::Surface(_) => Change::Append(0),
                _ => Change::None,
            };
            let admitted = Admitted { seq, message: None, change };
            recovery.fold(&Folded { event: &event, admitted, admission: &admission, line: seq + 1 });
        }
        recovery
    }

    /// Folds one admitted event.
    pub fn fold(&mut self, folded: &Folded<'_>) {
        let event = folded.event;
        self.time = event.millis.or(self.time);
        self.next = folded.admitted.seq + 1;
        let open = |name: &str| {
            let mut number = Vec::new();
            if let Some(value) = event.field(name) {
                print::canonical(value, &mut number);
            }
            Some(Open { number, place: folded.place(event.kind) })
        };
        match event.role {
            Role::TurnStart => {
                self.turn = open("turn");
                self.enter(None);
            }
            Role::TurnEnd => {
                self.turn = None;
                self.enter(None);
            }
            Role::StepStart => self.enter(open("step")),
            Role::StepEnd => self.enter(None),
            Role::Call if self.step.is_some() => {
                if let Some(id) = event.field("callId").and_then(Value::as_str) {
                    self.started.insert(id.canonical().into_owned(), folded.admitted.seq);
                }
            }
            Role::Surface(_) if self.step.is_some() => self.surface(folded),
            _ => {}
        }
    }

    fn surface(&mut self, folded: &Folded<'_>) {
        let Some(message) = folded.message() else { return };
        match folded.part() {
            // A message that replaces another says again what was called before, perhaps in a step long gone; a second
            // answer to that could only stand alone (REPAIR-6).
            Some(Part::Output) if !folded.is_replace() => {
                for block in calls::requested(message) {
                    match calls::id(block) {
                        Some(id) => {
                            let id = id.canonical().into_owned();
                            if self.named.insert(id.clone()) {
                                self.calls.push(id);
                            }
                        }
                        None => {
                            self.nameless.get_or_insert(folded.place(Some(block)));
                        }
                    }
                }
            }
            Some(Part::Result) if !folded.is_replace() => {
                if let Some(id) = calls::answered(message) {
                    self.answered.insert(id.canonical().into_owned());
                }
            }
            _ => {}
        }
    }

    /// Folds a packed row.
    pub fn fold_row(&mut self, row: &Row<'_>) {
        self.time = Some(row.last_time);
        self.next = row.first + row.count;
    }

    fn enter(&mut self, step: Option<Open>) {
        self.step = step;
        self.calls.clear();
        self.named.clear();
        self.answered.clear();
        self.started.clear();
        self.nameless = None;
    }

    /// The place of the open turn's start, when a turn is open.
    pub fn open_turn(&self) -> Option<Place> {
        self.turn.as_ref().map(|turn| turn.place)
    }

    /// The open turn's number as logged.
    pub fn open_turn_number(&self) -> Option<String> {
        self.turn.as_ref().map(|turn| String::from_utf8_lossy(&turn.number).into_owned())
    }

    /// Whether a step is open.
    pub fn in_step(&self) -> bool {
        self.step.is_some()
    }

    /// REPAIR-6: the call that stands in the way, when the log is open and cannot be closed.
    pub fn obstacle(&self) -> Option<Unrepairable> {
        if !self.results || self.turn.is_none() || self.step.is_none() {
            return None;
        }
        self.nameless.map(|place| Unrepairable { place })
    }

    /// The events that close the log, as canonical lines without newlines; none when nothing is open (REPAIR-1).
    pub fn close(&self) -> Result<Vec<Vec<u8>>, Unrepairable> {
        let Some(turn) = &self.turn else { return Ok(vec![]) };
        if let Some(obstacle) = self.obstacle() {
            return Err(obstacle);
        }
        let mut lines = vec![];
        let time = self.time.unwrap_or(0);
        if let Some(step) = &self.step {
            if self.results {
                for id in self.calls.iter().filter(|id| !self.answered.contains(*id)) {
                    let seq = self.next + lines.len() as u64;
                    lines.push(self.result(id, seq, time, &turn.number, &step.number));
                }
            }
            let mut line = envelope("step/end", self.next + lines.len() as u64, time);
            numbers(&turn.number, Some(&step.number), &mut line);
            line.extend_from_slice(b"}}");
            lines.push(line);
        }
        let mut line = envelope("turn/end", self.next + lines.len() as u64, time);
        if numbers(&turn.number, None, &mut line) {
            line.push(b',');
        }
        line.extend_from_slice(b"\"reason\":{\"kind\":\"interrupted\"}}}");
        lines.push(line);
        Ok(lines)
    }

    /// REPAIR-3.
    fn result(&self, id: &[u8], seq: Seq, time: i64, turn: &[u8], step: &[u8]) -> Vec<u8> {
        let started = self.started.get(id);
        let (name, code, say) = match started {
            None => ("ToolNotStartedError", "TOOL_NOT_STARTED", NOT_STARTED),
            Some(_) => ("ToolOutcomeUnknownError", "TOOL_OUTCOME_UNKNOWN", OUTCOME_UNKNOWN),
        };
        let mut line = envelope("tool/result", seq, time);
        if numbers(turn, Some(step), &mut line) {
            line.push(b',');
        }
        let mut put = |part: &[u8]| line.extend_from_slice(part);
        put(b"\"message\":{\"id\":\"interrupted-tool-result-");
        put(id);
        put(format!("-{seq}\",\"role\":\"user\",\"source\":{{\"kind\":\"tool\",\"callId\":\"").as_bytes());
        put(id);
        put(b"\"},\"content\":[{\"type\":\"tool-result\",\"toolCallId\":\"");
        put(id);
        put(b"\",\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":");
        text::quote(say, &mut line);
        line.extend_from_slice(
            format!(
                "}}]}}]}},\"error\":{{\"name\":\"{name}\",\"code\":\"{code}\"}}}},\"surfaceOp\":\"append\""
            )
            .as_bytes(),
        );
        if let Some(call) = started {
            line.extend_from_slice(format!(",\"sourceEventSeqs\":[{call}]").as_bytes());
        }
        line.push(b'}');
        line
    }
}

const NOT_STARTED: &str = "The session stopped before this tool call was started, so nothing was done. \
                           Calling the tool again is safe.";
const OUTCOME_UNKNOWN: &str = "The session stopped after this tool call was started and before its result was recorded. \
                               It may have run in part or in full: look at its effects before calling the tool again.";

fn envelope(kind: &str, seq: Seq, time: i64) -> Vec<u8> {
    format!("{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{time},\"data\":{{").into_bytes()
}

/// Writes the members `turn` and `step` as they were logged; says whether anything was written.
fn numbers(turn: &[u8], step: Option<&[u8]>, line: &mut Vec<u8>) -> bool {
    let mut any = false;
    for (name, number) in [("turn", Some(turn)), ("step", step)] {
        let Some(number) = number.filter(|number| !number.is_empty()) else { continue };
        if any {
            line.push(b',');
        }
        line.extend_from_slice(format!("\"{name}\":").as_bytes());
        line.extend_from_slice(number);
        any = true;
    }
    any
}
