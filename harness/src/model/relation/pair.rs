//! Tool calls and their results (PAIR-1 to PAIR-4).

use super::Breach;
use super::life::Place;
use crate::model::event::{Event, Op};
use crate::model::surface::Surface;
use crate::model::tree::Value;
use std::ops::Range;

/// The id of a call; nothing when it is not a string that is not empty, and then no result can answer it.
pub(crate) type Id = Option<Vec<u16>>;

/// The ids of the calls that an assistant message makes, as it names them.
pub(crate) fn calls(event: &Event) -> Vec<Id> {
    if !event.is("assistant/message") {
        return Vec::new();
    }
    let blocks = event.at("data.message.content").and_then(Value::items).unwrap_or_default();
    let is_call = |block: &Value<'_>| block.get("type").is_some_and(|kind| kind.is("tool-call"));
    let id = |block: Value<'_>| block.get("id").and_then(Value::name).map(<[u16]>::to_vec);
    blocks.into_iter().filter(is_call).map(id).collect()
}

/// The id of the call that a result answers.
fn answer(event: &Event) -> Id {
    if !event.is("tool/result") {
        return None;
    }
    event.at("data.message.source.callId").and_then(Value::name).map(<[u16]>::to_vec)
}

/// The calls without an answer among these, each id once, in order of first naming. A call without a usable id is
/// PAIR-4 alone: nothing can answer it, so that nothing is expected to.
fn without(calls: Vec<Id>, answers: &[Id]) -> Vec<Id> {
    let mut open: Vec<Id> = Vec::new();
    for call in calls.into_iter().filter(Option::is_some) {
        if !answers.contains(&call) && !open.contains(&call) {
            open.push(call);
        }
    }
    open
}

/// The unanswered calls of a step, given its events so far: those of every message appended in it count, replaced
/// ones included, and every result appended in it answers.
pub(crate) fn unanswered(step: &[Event]) -> Vec<Id> {
    let appended = || step.iter().filter(|event| event.op() == Op::Append);
    let answers: Vec<Id> = appended().map(answer).collect();
    without(appended().flat_map(calls).collect(), &answers)
}

/// Whether a step names a call that has no usable id.
pub(crate) fn has_nameless(step: &[Event]) -> bool {
    step.iter().filter(|event| event.op() == Op::Append).any(|event| calls(event).contains(&None))
}

/// PAIR-1: an appended result closes a call that a `tool/call` of this step opened.
pub(crate) fn answered(events: &[Event]) -> Vec<Breach<'_>> {
    let mut found = Vec::new();
    let mut open: Vec<Vec<u16>> = Vec::new();
    for event in events {
        match event.kind.as_str() {
            "turn/start" | "turn/end" | "step/start" | "step/end" => open.clear(),
            "tool/call" => {
                if let Some(id) = event.at("data.callId").and_then(Value::units) {
                    open.push(id.to_vec());
                }
            }
            "tool/result" if event.op() == Op::Append => {
                let id = answer(event).unwrap_or_default();
                let synthetic = event.at("data.error.code").is_some_and(|code| code.is("TOOL_NOT_STARTED"));
                if !open.contains(&id) && !synthetic {
                    found.push(("PAIR-1", event));
                }
                open.retain(|call| *call != id);
            }
            _ => {}
        }
    }
    found
}

/// PAIR-3: a step does not end while a call is unanswered.
pub(crate) fn complete(events: &[Event]) -> Vec<Breach<'_>> {
    let mut place = Place::start();
    let mut found = Vec::new();
    for (index, event) in events.iter().enumerate() {
        if let Some(step) = place.step
            && event.is("step/end")
            && !unanswered(&events[step.seq as usize..index]).is_empty()
        {
            found.push(("PAIR-3", event));
        }
        place.advance(event);
    }
    found
}

/// PAIR-4: the call ids of one message are strings, not empty, and distinct.
pub(crate) fn distinct(events: &[Event]) -> Vec<Breach<'_>> {
    let bad = |event: &&Event| {
        let calls = calls(event);
        calls.iter().enumerate().any(|(index, call)| call.is_none() || calls[..index].contains(call))
    };
    events.iter().filter(bad).map(|event| ("PAIR-4", event)).collect()
}

/// A stretch of the surface: a message that separates, and the results and empty messages behind it.
struct Group {
    /// Places on the surface.
    span: Range<usize>,
    /// The user message or non-empty assistant message; nothing before the first one.
    head: Option<u64>,
    /// The calls of the head.
    calls: Vec<Id>,
    /// The ids that the results behind the head answer.
    answers: Vec<Id>,
}

impl Group {
    fn unanswered(&self) -> Vec<Id> {
        without(self.calls.clone(), &self.answers)
    }

    /// Whether each call has exactly one result here and each result its call. `open` allows calls without one.
    fn is_balanced(&self, open: bool) -> bool {
        let answers = &self.answers;
        let strays = answers.iter().enumerate().any(|(index, answer)| {
            answer.is_none() || !self.calls.contains(answer) || answers[..index].contains(answer)
        });
        !strays && (open || self.unanswered().is_empty())
    }
}

fn is_head(event: &Event) -> bool {
    !event.is("tool/result") && !event.is_empty_assistant()
}

fn groups(events: &[Event], nodes: &[u64]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (place, node) in nodes.iter().enumerate() {
        let event = &events[*node as usize];
        if is_head(event) || groups.is_empty() {
            let head = is_head(event).then_some(*node);
            groups.push(Group { span: place..place, head, calls: calls(event), answers: Vec::new() });
        }
        let group = groups.last_mut().expect("there is one now");
        group.span.end = place + 1;
        if event.is("tool/result") {
            group.answers.push(answer(event));
        }
    }
    groups
}

/// PAIR-2: on the surface the results of a message's calls follow it directly, one per call, and none stands alone.
pub(crate) fn adjacent(events: &[Event]) -> Vec<Breach<'_>> {
    let mut found = Vec::new();
    let mut place = Place::start();
    let mut surface = Surface::default();
    for event in events {
        place.advance(event);
        let before = surface.nodes.clone();
        surface.apply(event);
        let broken = match event.op() {
            Op::None => false,
            Op::Append => breaks_by_append(event, &groups(events, &before)),
            // A result is only ever replaced by one that differs in content.
            Op::Replace(..) if event.is("tool/result") => false,
            Op::Replace(..) => {
                let shadowed = &surface.replacements.last().expect("this one").shadowed;
                breaks_by_replace(event, &groups(events, &surface.nodes), &surface.nodes, &place)
                    || hides_open_call(event, &groups(events, &before), shadowed, &place)
            }
        };
        if broken {
            found.push(("PAIR-2", event));
        }
    }
    found
}

/// A message stands between a call and its result, or a result stands without its call.
fn breaks_by_append(event: &Event, before: &[Group]) -> bool {
    let open = before.last().map(Group::unanswered).unwrap_or_default();
    if event.is("tool/result") {
        !answer(event).is_some_and(|id| open.contains(&Some(id)))
    } else {
        is_head(event) && !open.is_empty()
    }
}

/// Whether a message was written in the step that is open.
fn is_of_open_step(seq: u64, place: &Place) -> bool {
    place.step.is_some_and(|step| seq > step.seq)
}

/// A group that the replace touched is unbalanced: that of the node before, of the new node, of the node behind.
fn breaks_by_replace(event: &Event, groups: &[Group], nodes: &[u64], place: &Place) -> bool {
    let new = nodes.iter().position(|node| *node == event.seq).expect("the new node is on the surface");
    groups.iter().enumerate().any(|(index, group)| {
        let touched = group.span.start <= new + 1 && new < group.span.end + 1;
        let at_tail = index + 1 == groups.len();
        let open = at_tail && group.head.is_some_and(|head| is_of_open_step(head, place));
        touched && !group.is_balanced(open)
    })
}

/// A call that is unanswered in the open step leaves the surface, so that its result could only stand alone.
fn hides_open_call(event: &Event, before: &[Group], shadowed: &[u64], place: &Place) -> bool {
    before.iter().any(|group| {
        let hidden = group.head.is_some_and(|head| shadowed.contains(&head) && is_of_open_step(head, place));
        hidden && group.unanswered().iter().any(|call| !calls(event).contains(call))
    })
}
