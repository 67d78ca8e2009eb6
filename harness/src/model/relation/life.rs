//! Turns and steps (LIFE). Every mistake resynchronises, so that one mistake is one finding.

use super::Breach;
use crate::model::event::{Event, Op};
use crate::model::tree::{Value, safe_integer};

/// An open turn or step.
#[derive(Clone, Copy)]
pub(crate) struct Open {
    /// Its number; not-a-number when that is what was logged. That was reported, and any name fits it.
    number: f64,
    /// The event that opened it.
    pub(crate) seq: u64,
}

/// Where in the life of a session an event stands.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) turn: Option<Open>,
    pub(crate) step: Option<Open>,
    /// The turn that the open step lies in: the open one, or the one it named when none was open.
    step_turn: f64,
    next_turn: f64,
    next_step: f64,
}

/// Whether a logged number names what is open.
fn same(open: f64, named: f64) -> bool {
    open.is_nan() || open == named
}

/// A number in the data of an event, compared as a double.
fn number(event: &Event, key: &str) -> f64 {
    event.at("data").and_then(|data| data.get(key)).and_then(Value::number).unwrap_or(f64::NAN)
}

impl Place {
    /// Before the first event.
    pub(crate) fn start() -> Place {
        Place { turn: None, step: None, step_turn: f64::NAN, next_turn: 1.0, next_step: 1.0 }
    }

    /// Behind these events.
    pub(crate) fn behind(events: &[Event]) -> Place {
        let mut place = Place::start();
        for event in events {
            place.advance(event);
        }
        place
    }

    /// Whether an event names the open turn.
    pub(crate) fn names_turn(&self, event: &Event) -> bool {
        self.turn.is_some_and(|turn| same(turn.number, number(event, "turn")))
    }

    /// Whether an event names the open step and the turn that it lies in.
    fn names_step(&self, event: &Event) -> bool {
        same(self.step_turn, number(event, "turn"))
            && self.step.is_some_and(|step| same(step.number, number(event, "step")))
    }

    /// Goes past an event and says which rules it breaks.
    pub(crate) fn advance(&mut self, event: &Event) -> Vec<&'static str> {
        let mut broken = Vec::new();
        let mut law = |rule, holds: bool| {
            if !holds {
                broken.push(rule);
            }
        };
        match event.kind.as_str() {
            "turn/start" => {
                let turn = number(event, "turn");
                law("LIFE-1", self.turn.is_none() && turn == self.next_turn);
                self.turn = Some(Open { number: turn, seq: event.seq });
                self.step = None;
                self.next_step = 1.0;
                if safe_integer(turn).is_some() {
                    self.next_turn = turn + 1.0;
                }
            }
            "turn/end" => {
                law("LIFE-1", self.names_turn(event) && self.step.is_none());
                law("LIFE-5", is_known_end(event));
                self.turn = None;
                self.step = None;
            }
            "step/start" => {
                let step = number(event, "step");
                law("LIFE-2", self.names_turn(event) && self.step.is_none() && step == self.next_step);
                self.step = Some(Open { number: step, seq: event.seq });
                self.step_turn = self.turn.map_or(number(event, "turn"), |turn| turn.number);
                if safe_integer(step).is_some() {
                    self.next_step = step + 1.0;
                }
            }
            "step/end" => {
                law("LIFE-2", self.names_step(event));
                self.step = None;
            }
            "tool/result" if matches!(event.op(), Op::Replace(..)) => law("LIFE-4", self.turn.is_some()),
            "assistant/chunk" | "assistant/message" | "tool/call" | "tool/result" => {
                law("LIFE-3", self.names_step(event));
            }
            "todo/write" | "request/header" | "request/context" => law("LIFE-4", self.turn.is_some()),
            _ => {}
        }
        broken
    }
}

/// Whether a `turn/end` has this reason.
pub(crate) fn ends_as(event: &Event, kind: &str) -> bool {
    event.is("turn/end") && event.at("data.reason.kind").is_some_and(|value| value.is(kind))
}

/// LIFE-5.
fn is_known_end(event: &Event) -> bool {
    let text = |path: &str| event.at(path).is_some_and(|value| value.units().is_some());
    let plain = ["completed", "blocked", "max-tokens", "interrupted"];
    plain.iter().any(|kind| ends_as(event, kind))
        || (ends_as(event, "aborted") && text("data.reason.reason.kind"))
        || (ends_as(event, "error") && text("data.reason.error.message") && text("data.reason.error.code"))
}

/// LIFE-1 to LIFE-5 over a log.
pub(crate) fn breaches(events: &[Event]) -> Vec<Breach<'_>> {
    let mut place = Place::start();
    events.iter().flat_map(|event| place.advance(event).into_iter().map(move |rule| (rule, event))).collect()
}
