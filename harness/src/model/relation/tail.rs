//! The end of a log (section 14): what repair would append, and whether it can.

use super::life::Place;
use super::pair::{self, Id};
use crate::model::Dialect;
use crate::model::event::Event;
use crate::model::text;
use crate::model::tree::Value;

/// What the end of a log needs.
pub(crate) struct Tail<'a> {
    /// REPAIR-2: the event that opened the turn that is still open.
    pub(crate) turn: &'a Event,
    /// The events of the open step.
    step: Option<&'a [Event]>,
    /// Its unanswered calls.
    calls: Vec<Id>,
    /// A call without a usable id, which nothing can answer.
    nameless: bool,
}

/// The open turn at the end; REPAIR-1: a balanced log needs nothing.
pub(crate) fn open(events: &[Event], dialect: Dialect) -> Option<Tail<'_>> {
    let place = Place::behind(events);
    let turn = &events[place.turn?.seq as usize];
    let step = place.step.map(|step| &events[step.seq as usize..]);
    let calls = match (dialect, step) {
        (Dialect::DshV0, Some(step)) => pair::unanswered(step),
        _ => Vec::new(),
    };
    let nameless = dialect == Dialect::DshV0 && step.is_some_and(pair::has_nameless);
    Some(Tail { turn, step, calls, nameless })
}

impl Tail<'_> {
    /// REPAIR-6: a call whose id is not a string, or empty, cannot be answered by anything that load admits.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.nameless
    }

    /// REPAIR-2, REPAIR-3: the synthetic events behind the last one.
    pub(crate) fn close(&self, events: &[Event]) -> Vec<String> {
        let number = |event: &Event, path: &str| event.at(path).map_or("null".to_owned(), Value::canonical);
        let turn = number(self.turn, "data.turn");
        let time = events.last().map_or("0".to_owned(), |event| number(event, "time"));
        let mut closers = Vec::new();
        let mut seq = events.len();
        if let Some(step) = self.step {
            let step_number = number(&step[0], "data.step");
            let place = format!("\"turn\":{turn},\"step\":{step_number}");
            for id in self.calls.iter().flatten() {
                closers.push(result(id, step, &place, seq, &time));
                seq += 1;
            }
            closers.push(format!(
                "{{\"type\":\"step/end\",\"seq\":{seq},\"time\":{time},\"data\":{{{place}}}}}"
            ));
            seq += 1;
        }
        closers.push(format!(
            "{{\"type\":\"turn/end\",\"seq\":{seq},\"time\":{time},\"data\":{{\"turn\":{turn},\
             \"reason\":{{\"kind\":\"interrupted\"}}}}}}"
        ));
        closers
    }
}

/// What the model is told; every implementation has its own words.
const TEXT: &str = "The session was interrupted.";

/// REPAIR-3: the error result for one call.
fn result(id: &[u16], step: &[Event], place: &str, seq: usize, time: &str) -> String {
    let is_its_call =
        |event: &&Event| event.is("tool/call") && event.at("data.callId").and_then(Value::units) == Some(id);
    let (error, sources) = match step.iter().rev().find(is_its_call) {
        None => ("{\"name\":\"ToolNotStartedError\",\"code\":\"TOOL_NOT_STARTED\"}", String::new()),
        Some(call) => (
            "{\"name\":\"ToolOutcomeUnknownError\",\"code\":\"TOOL_OUTCOME_UNKNOWN\"}",
            format!(",\"sourceEventSeqs\":[{}]", call.seq),
        ),
    };
    let own: Vec<u16> = "interrupted-tool-result-"
        .encode_utf16()
        .chain(id.iter().copied())
        .chain(format!("-{seq}").encode_utf16())
        .collect();
    let (own, id, text) = (text::quote(&own), text::quote(id), text::quote_str(TEXT));
    format!(
        "{{\"type\":\"tool/result\",\"seq\":{seq},\"time\":{time},\"data\":{{{place},\"message\":{{\"id\":{own},\
         \"role\":\"user\",\"source\":{{\"kind\":\"tool\",\"callId\":{id}}},\"content\":[{{\"type\":\"tool-result\",\
         \"toolCallId\":{id},\"isError\":true,\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}]}},\
         \"error\":{error}}},\"surfaceOp\":\"append\"{sources}}}"
    )
}
