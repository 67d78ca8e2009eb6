//! Turns and steps (LIFE-1 to LIFE-5).

use super::{Folded, Place, Sink};
use crate::codec::rows::Row;
use crate::dialect::{Part, ReasonSpec, Role};
use crate::event::describe;
use crate::json::{Value, number};
use crate::rule::{Rule, RuleSet};

/// A number as logged, compared as a double; `None` for anything else.
type Number = Option<f64>;

/// What is open, and which numbers come next.
#[derive(Debug)]
pub(super) struct Life {
    rules: RuleSet,
    /// The open turn's number.
    turn: Option<Number>,
    last_turn: f64,
    /// The open step's turn and number.
    step: Option<(Number, Number)>,
    last_step: f64,
}

impl Life {
    pub(super) fn new(rules: RuleSet) -> Self {
        Life { rules, turn: None, last_turn: 0.0, step: None, last_step: 0.0 }
    }

    pub(super) fn fold(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        let event = folded.event;
        match event.role {
            Role::TurnStart => self.turn_start(folded, sink),
            Role::TurnEnd => self.turn_end(folded, sink),
            Role::StepStart => self.step_start(folded, sink),
            Role::StepEnd => self.step_end(folded, sink),
            Role::Chunk | Role::Call => self.named(folded, sink),
            Role::InTurn | Role::RequestHeader => self.in_turn(folded, sink),
            Role::Surface(_) => match folded.part() {
                Some(Part::Output) => self.named(folded, sink),
                Some(Part::Result) if folded.is_replace() => self.in_turn(folded, sink),
                Some(Part::Result) => self.named(folded, sink),
                _ => {}
            },
            _ => {}
        }
    }

    pub(super) fn fold_row(&mut self, row: &Row<'_>, line: u64, sink: &mut Sink<'_>) {
        let Some(text) = self.misnamed(Some(row.turn), Some(row.step)) else { return };
        if self.rules.has(Rule::Life3) {
            for member in row.members() {
                sink(Rule::Life3, Place { line, at: row.turn.at(), seq: member.seq }, text.clone());
            }
        }
    }

    fn report(
        &self,
        rule: Rule,
        folded: &Folded<'_>,
        at: Option<Value<'_>>,
        text: String,
        sink: &mut Sink<'_>,
    ) {
        if self.rules.has(rule) {
            sink(rule, folded.place(at), text);
        }
    }

    fn turn_start(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        let value = folded.event.field("turn");
        let found = value.and_then(Value::as_double);
        if let Some(open) = self.turn {
            let text = format!("{} starts while turn {} is open", numbered("turn", value), show(open));
            self.report(Rule::Life1, folded, value, text, sink);
        } else if found != Some(self.last_turn + 1.0) {
            let text = format!("expected turn {}, found {}", self.last_turn + 1.0, say(value));
            self.report(Rule::Life1, folded, value, text, sink);
        }
        self.turn = Some(found);
        self.step = None;
        self.last_step = 0.0;
        if let Some(number) = found.filter(|number| is_safe(*number)) {
            self.last_turn = number;
        }
    }

    fn turn_end(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        let value = folded.event.field("turn");
        match self.turn {
            None => {
                let text = format!("turn/end of {}, but no turn is open", numbered("turn", value));
                self.report(Rule::Life1, folded, value, text, sink);
            }
            Some(open) if !same(open, value) => {
                let text =
                    format!("turn/end names {}, but turn {} is open", numbered("turn", value), show(open));
                self.report(Rule::Life1, folded, value, text, sink);
            }
            Some(open) => {
                if let Some((_, step)) = self.step {
                    let text = format!("turn {} ends while step {} is open", show(open), show(step));
                    self.report(Rule::Life1, folded, value, text, sink);
                }
            }
        }
        self.turn = None;
        self.step = None;
        if self.rules.has(Rule::Life5) {
            self.reason(folded, sink);
        }
    }

    fn reason(&self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        let reasons = &folded.admission.dialect().reasons;
        let reason = folded.event.field("reason");
        let kind = reason.and_then(|reason| reason.get("kind"));
        let known = |spec: &&ReasonSpec| kind.and_then(Value::as_str).is_some_and(|kind| kind.is(&spec.kind));
        let Some(spec) = reasons.iter().find(known) else {
            let names: Vec<&str> = reasons.iter().map(|spec| spec.kind.as_str()).collect();
            let text = format!("expected reason.kind to be one of {}, found {}", names.join(", "), say(kind));
            return self.report(Rule::Life5, folded, kind.or(reason), text, sink);
        };
        let Some((member, strings)) = &spec.needs else { return };
        let object = reason.and_then(|reason| reason.get(member));
        let Some(object) = object.filter(|object| object.is_object()) else {
            let text = format!(
                "expected reason.{member} of kind {} to be an object, found {}",
                spec.kind,
                say(object)
            );
            return self.report(Rule::Life5, folded, object.or(reason), text, sink);
        };
        for name in strings {
            let found = object.get(name);
            if found.and_then(Value::as_str).is_none() {
                let text = format!("expected reason.{member}.{name} to be a string, found {}", say(found));
                return self.report(Rule::Life5, folded, found.or(Some(object)), text, sink);
            }
        }
    }

    fn step_start(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        let (turn, step) = (folded.event.field("turn"), folded.event.field("step"));
        let problem = if let Some((_, open)) = self.step {
            Some((step, format!("{} starts while step {} is open", numbered("step", step), show(open))))
        } else {
            match self.turn {
                None => Some((turn, format!("{} starts, but no turn is open", numbered("step", step)))),
                Some(open) if !same(open, turn) => Some((
                    turn,
                    format!("the step names {}, but turn {} is open", numbered("turn", turn), show(open)),
                )),
                Some(_) if step.and_then(Value::as_double) != Some(self.last_step + 1.0) => {
                    Some((step, format!("expected step {}, found {}", self.last_step + 1.0, say(step))))
                }
                Some(_) => None,
            }
        };
        if let Some((at, text)) = problem {
            self.report(Rule::Life2, folded, at, text, sink);
        }
        let number = step.and_then(Value::as_double);
        // A step that names another turn still lies in the open one; outside of any turn its own name counts.
        self.step = Some((self.turn.unwrap_or(turn.and_then(Value::as_double)), number));
        if let Some(number) = number.filter(|number| is_safe(*number)) {
            self.last_step = number;
        }
    }

    fn step_end(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        let (turn, step) = (folded.event.field("turn"), folded.event.field("step"));
        match self.step {
            None => {
                let text = format!("step/end of {}, but no step is open", numbered("step", step));
                self.report(Rule::Life2, folded, step, text, sink);
            }
            Some((open_turn, open)) => {
                if !same(open_turn, turn) || !same(open, step) {
                    let text = format!(
                        "step/end names turn {} step {}, but turn {} step {} is open",
                        say(turn),
                        say(step),
                        show(open_turn),
                        show(open)
                    );
                    self.report(Rule::Life2, folded, step, text, sink);
                }
            }
        }
        self.step = None;
    }

    /// LIFE-3.
    fn named(&self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        if !self.rules.has(Rule::Life3) {
            return;
        }
        let (turn, step) = (folded.event.field("turn"), folded.event.field("step"));
        if let Some(text) = self.misnamed(turn, step) {
            self.report(Rule::Life3, folded, turn.or(step), text, sink);
        }
    }

    fn misnamed(&self, turn: Option<Value<'_>>, step: Option<Value<'_>>) -> Option<String> {
        match self.step {
            Some((open_turn, open)) if same(open_turn, turn) && same(open, step) => None,
            Some((open_turn, open)) => Some(format!(
                "expected the event to name turn {} step {}, found turn {} step {}",
                show(open_turn),
                show(open),
                say(turn),
                say(step)
            )),
            None => {
                Some(format!("the event names turn {} step {}, but no step is open", say(turn), say(step)))
            }
        }
    }

    /// LIFE-4.
    fn in_turn(&self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        if self.turn.is_none() {
            let text = format!("{} needs an open turn, found none", folded.event.kind_name());
            self.report(Rule::Life4, folded, folded.event.kind, text, sink);
        }
    }
}

/// Whether a logged number names what is open. What was opened under something that is not a number was reported
/// then, and any name fits it.
fn same(open: Number, value: Option<Value<'_>>) -> bool {
    match open {
        Some(open) => value.and_then(Value::as_double) == Some(open),
        None => true,
    }
}

fn is_safe(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() <= number::MAX_SAFE as f64
}

fn show(number: Number) -> String {
    number.map_or("without a number".into(), |number| number.to_string())
}

fn say(value: Option<Value<'_>>) -> String {
    value.map_or("none".into(), describe)
}

/// What an event calls its turn or step.
fn numbered(noun: &str, value: Option<Value<'_>>) -> String {
    value.map_or_else(|| format!("a {noun} without a number"), |value| format!("{noun} {}", describe(value)))
}
