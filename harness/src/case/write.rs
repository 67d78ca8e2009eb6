//! Writing a case: the same case always gives the same bytes, one operation on a line.

use super::op::{
    Append, Call, Inherited, LogSource, Op, RequestSource, Sources, StepOf, SurfaceOp, Tampering,
};
use super::payload::{Payload, Piece, Template};
use super::refs::Ref;
use super::{CONTRACT, Case, FORMAT, Recorded};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foldproof::json::text;

/// Members of an object that is being written.
struct Object<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

impl<'o> Object<'o> {
    fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Object { out, empty: true }
    }

    fn key(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.empty) {
            self.out.push(b',');
        }
        text::quote(name, self.out);
        self.out.push(b':');
        self.out
    }

    fn text(&mut self, name: &str, value: &str) {
        text::quote(value, self.key(name));
    }

    fn optional(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.text(name, value),
            None => self.raw(name, "null"),
        }
    }

    fn raw(&mut self, name: &str, json: &str) {
        self.key(name).extend_from_slice(json.as_bytes());
    }

    fn number(&mut self, name: &str, value: impl ToString) {
        self.raw(name, &value.to_string());
    }

    fn end(self) {
        self.out.push(b'}');
    }
}

pub(super) fn case(case: &Case) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = Object::new(&mut out);
    object.number("foldproof", FORMAT);
    object.number("contract", CONTRACT);
    object.text("dialect", &case.dialect);
    object.text("system", &case.system);
    object.optional("property", case.property.as_deref());
    object.optional("rule", case.rule.as_deref());
    object.optional("seed", case.seed.map(|seed| format!("{seed:x}")).as_deref());
    object.raw("index", &case.index.map_or_else(|| "null".to_owned(), |index| index.to_string()));
    list(object.key("ops"), b"[\n", b",\n", b"\n]", &case.ops, op);
    for (name, kept) in [("schedule", &case.schedule), ("faults", &case.faults)] {
        if let Some(kept) = kept {
            object.raw(name, kept);
        }
    }
    match &case.outcome {
        Some(outcome) => recorded(object.key("outcome"), outcome),
        None => object.raw("outcome", "null"),
    }
    object.end();
    out.push(b'\n');
    out
}

fn list<T>(
    out: &mut Vec<u8>,
    open: &[u8],
    comma: &[u8],
    close: &[u8],
    items: &[T],
    write: fn(&mut Vec<u8>, &T),
) {
    if items.is_empty() {
        out.extend_from_slice(b"[]");
        return;
    }
    out.extend_from_slice(open);
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.extend_from_slice(comma);
        }
        write(out, item);
    }
    out.extend_from_slice(close);
}

fn recorded(out: &mut Vec<u8>, outcome: &Recorded) {
    let mut object = Object::new(out);
    object.text("status", outcome.status.name());
    let texts = [("property", &outcome.property), ("rule", &outcome.rule)];
    let behind = [("message", &outcome.message), ("expected", &outcome.expected), ("got", &outcome.got)];
    for (name, value) in texts {
        if let Some(value) = value {
            object.text(name, value);
        }
    }
    if let Some(op) = outcome.op {
        object.number("op", op);
    }
    for (name, value) in behind {
        if let Some(value) = value {
            object.text(name, value);
        }
    }
    object.end();
}

pub(super) fn op(out: &mut Vec<u8>, op: &Op) {
    let mut object = Object::new(out);
    object.text("op", op.call.name());
    object.text("session", &op.session);
    match &op.call {
        Call::Open { header, inherited } => {
            if let Some(header) = header {
                payload(object.key("header"), header);
            }
            match inherited {
                Some(Inherited::Events(events)) => {
                    list(object.key("inherited"), b"[", b",", b"]", events, payload)
                }
                Some(Inherited::Op(op)) => answer(object.key("inherited"), *op),
                None => {}
            }
        }
        Call::Append(append) => write_append(&mut object, append),
        Call::View { at, step, .. } => {
            if let Some(at) = at {
                reference(object.key("at"), at);
            }
            if let Some(StepOf { turn, step, attempt }) = step {
                object.number("turn", turn);
                object.number("step", step);
                object.number("attempt", attempt);
            }
        }
        Call::Fork { boundary, child } => {
            if let Some(boundary) = boundary {
                reference(object.key("boundary"), boundary);
            }
            object.text("child", child);
        }
        Call::Restore { log, encoding } => {
            match log {
                LogSource::Bytes(bytes) => payload(object.key("log"), bytes),
                LogSource::Dump(op) => answer(object.key("log"), *op),
            }
            object.text("encoding", encoding.name());
        }
        Call::Dump { packed, encoding } => {
            object.raw("packed", if *packed { "true" } else { "false" });
            object.text("encoding", encoding.name());
        }
        Call::CheckRequest { request } => match request {
            RequestSource::Text(text) => payload(object.key("request"), text),
            RequestSource::Tampered { op, how } => tampered(object.key("request"), *op, *how),
        },
        Call::Observe { behaviour } => object.text("behaviour", behaviour.name()),
        Call::Mutate { what } => object.text("what", what.name()),
        Call::Repair | Call::Observed => {}
    }
    object.end();
}

fn write_append(object: &mut Object<'_>, append: &Append) {
    object.text("type", &append.kind);
    template(object.key("dataText"), &append.data);
    match &append.surface_op {
        Some(SurfaceOp::Append) => object.text("surfaceOp", "append"),
        Some(SurfaceOp::Replace { start, end }) => {
            let mut inner = Object::new(object.key("surfaceOp"));
            inner.text("op", "replace");
            reference(inner.key("start"), start);
            reference(inner.key("end"), end);
            inner.end();
        }
        Some(SurfaceOp::Text(text)) => wrapped(object.key("surfaceOp"), text),
        None => {}
    }
    match &append.sources {
        Some(Sources::Seqs(seqs)) => list(object.key("sourceEventSeqs"), b"[", b",", b"]", seqs, reference),
        Some(Sources::Text(text)) => wrapped(object.key("sourceEventSeqs"), text),
        None => {}
    }
    object.number("time", append.time);
}

fn tampered(out: &mut Vec<u8>, op: usize, how: Tampering) {
    let mut object = Object::new(out);
    object.number("op", op);
    let (name, at, byte) = how.parts();
    object.text("tamper", name);
    if let Some(at) = at {
        object.number("at", at);
    }
    if let Some(byte) = byte {
        object.number("byte", byte);
    }
    object.end();
}

fn answer(out: &mut Vec<u8>, op: usize) {
    let mut object = Object::new(out);
    object.number("op", op);
    object.end();
}

fn wrapped(out: &mut Vec<u8>, text: &Payload) {
    let mut object = Object::new(out);
    payload(object.key("text"), text);
    object.end();
}

fn payload(out: &mut Vec<u8>, bytes: &Payload) {
    match std::str::from_utf8(bytes.bytes()) {
        Ok(text) => text::quote(text, out),
        Err(_) => {
            let mut object = Object::new(out);
            object.text("b64", &URL_SAFE_NO_PAD.encode(bytes.bytes()));
            object.end();
        }
    }
}

fn reference(out: &mut Vec<u8>, reference: &Ref) {
    match reference {
        Ref::Seq(seq) => out.extend_from_slice(seq.to_string().as_bytes()),
        Ref::Op(op) => answer(out, *op),
        Ref::Text(text) => payload(out, text),
    }
}

fn template(out: &mut Vec<u8>, template: &Template) {
    match template.pieces() {
        [] => out.extend_from_slice(b"\"\""),
        [Piece::Text(text)] => payload(out, text),
        pieces => list(out, b"[", b",", b"]", pieces, |out, piece| match piece {
            Piece::Text(text) => payload(out, text),
            // A text here is a payload, so a seq of hostile text is wrapped to be told apart.
            Piece::Seq(Ref::Text(text)) => wrapped(out, text),
            Piece::Seq(seq) => reference(out, seq),
        }),
    }
}
