//! Resolving the references of one operation by what earlier operations answered.

use super::op::{Append, Call, Inherited, LogSource, Op, RequestSource, Sources, SurfaceOp};
use super::payload::{Payload, Piece, Template};
use super::refs::Ref;
use super::tamper;
use crate::systems::Step;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use foldproof::json::number;
use foldproof::json::{Scanner, Value};
use memchr::memchr2;
use std::borrow::Cow;
use std::cell::RefCell;

/// The operation with every reference replaced by what it stands for. `steps` are the outcomes so far.
///
/// A reference to an append that was refused is the seq 0; a dump or list of events that is not there is empty, and a
/// request that is not there is `null`. So every list of operations can be run.
pub fn resolve<'o>(op: &'o Op, steps: &[Step]) -> Cow<'o, Op> {
    let answer = |op: usize| steps.get(op).and_then(|step| step.outcome.ok());
    let number = |reference: &Ref| match reference {
        Ref::Op(op) => Ref::Seq(answer(*op).and_then(seq_of).unwrap_or(0)),
        other => other.clone(),
    };
    let call = match &op.call {
        Call::Open { header, inherited: Some(Inherited::Op(op)) } => {
            let events = answer(*op).map(elements).unwrap_or_default();
            Call::Open { header: header.clone(), inherited: Some(Inherited::Events(events)) }
        }
        Call::Append(append) if refers(append) => {
            let surface_op = append.surface_op.as_ref().map(|op| match op {
                SurfaceOp::Replace { start, end } => {
                    SurfaceOp::Replace { start: number(start), end: number(end) }
                }
                other => other.clone(),
            });
            let sources = append.sources.as_ref().map(|sources| match sources {
                Sources::Seqs(seqs) => Sources::Seqs(seqs.iter().map(number).collect()),
                other => other.clone(),
            });
            let mut data = Template::default();
            for piece in append.data.pieces() {
                match piece {
                    Piece::Text(text) => data.push(text.clone()),
                    Piece::Seq(seq) => {
                        let mut text = vec![];
                        spell(&number(seq), &mut text);
                        data.push(Payload(text));
                    }
                }
            }
            Call::Append(Append { surface_op, sources, data, ..append.clone() })
        }
        Call::View { view, at: Some(at @ Ref::Op(_)), step } => {
            Call::View { view: *view, at: Some(number(at)), step: *step }
        }
        Call::Fork { boundary: Some(boundary @ Ref::Op(_)), child } => {
            Call::Fork { boundary: Some(number(boundary)), child: child.clone() }
        }
        Call::Restore { log: LogSource::Dump(op), encoding } => {
            let log = LogSource::Bytes(answer(*op).map(dumped).unwrap_or_default());
            Call::Restore { log, encoding: *encoding }
        }
        Call::CheckRequest { request: RequestSource::Tampered { op, how } } => {
            let request = tamper(answer(*op).unwrap_or("null").as_bytes(), *how);
            Call::CheckRequest { request: RequestSource::Text(Payload(request)) }
        }
        _ => return Cow::Borrowed(op),
    };
    Cow::Owned(Op { session: op.session.clone(), call })
}

/// Whether an append has anything to resolve.
fn refers(append: &Append) -> bool {
    let is_op = |reference: &Ref| matches!(reference, Ref::Op(_));
    append.data.pieces().iter().any(|piece| matches!(piece, Piece::Seq(_)))
        || matches!(&append.surface_op, Some(SurfaceOp::Replace { start, end }) if is_op(start) || is_op(end))
        || matches!(&append.sources, Some(Sources::Seqs(seqs)) if seqs.iter().any(is_op))
}

impl Append {
    /// `surfaceOp` as JSON text, when nothing is left to resolve.
    pub fn surface_op_text(&self) -> Option<Payload> {
        let mut text = vec![];
        self.print_surface_op(&mut text).then_some(Payload(text))
    }

    /// Appends `surfaceOp` as JSON text; says whether there is one.
    pub fn print_surface_op(&self, out: &mut Vec<u8>) -> bool {
        match &self.surface_op {
            None => return false,
            Some(SurfaceOp::Append) => out.extend_from_slice(b"\"append\""),
            Some(SurfaceOp::Replace { start, end }) => {
                out.extend_from_slice(b"{\"op\":\"replace\",\"start\":");
                spell(start, out);
                out.extend_from_slice(b",\"end\":");
                spell(end, out);
                out.push(b'}');
            }
            Some(SurfaceOp::Text(text)) => out.extend_from_slice(text.bytes()),
        }
        true
    }

    /// `sourceEventSeqs` as JSON text, when nothing is left to resolve.
    pub fn sources_text(&self) -> Option<Payload> {
        let mut text = vec![];
        self.print_sources(&mut text).then_some(Payload(text))
    }

    /// Appends `sourceEventSeqs` as JSON text; says whether there are any.
    pub fn print_sources(&self, out: &mut Vec<u8>) -> bool {
        match &self.sources {
            None => return false,
            Some(Sources::Seqs(seqs)) => {
                out.push(b'[');
                for (place, seq) in seqs.iter().enumerate() {
                    if place > 0 {
                        out.push(b',');
                    }
                    spell(seq, out);
                }
                out.push(b']');
            }
            Some(Sources::Text(text)) => out.extend_from_slice(text.bytes()),
        }
        true
    }
}

/// Appends a seq as JSON text.
fn spell(reference: &Ref, out: &mut Vec<u8>) {
    match reference {
        Ref::Seq(seq) => number::print_int(*seq, out),
        Ref::Op(_) => out.push(b'0'),
        Ref::Text(text) => out.extend_from_slice(text.bytes()),
    }
}

thread_local! {
    /// Answers are read all the time, and a fresh scanner costs more than most of them.
    static SCANNER: RefCell<Scanner> = RefCell::new(Scanner::new(u64::MAX));
}

/// Reads a text as JSON; nothing when it is none.
pub(crate) fn with_value<T>(text: &str, read: impl FnOnce(Value<'_>) -> T) -> Option<T> {
    SCANNER.with(|scanner| match scanner.try_borrow_mut() {
        Ok(mut scanner) => scanner.scan(text.as_bytes()).ok().map(|scan| read(scan.root())),
        // Somebody reads one answer while reading another.
        Err(_) => Scanner::new(u64::MAX).scan(text.as_bytes()).ok().map(|scan| read(scan.root())),
    })
}

/// The seq in the answer of an append.
pub(crate) fn seq_of(answer: &str) -> Option<u64> {
    // Nearly every answer to an append is this and nothing else.
    let digits = answer.strip_prefix("{\"seq\":").and_then(|rest| rest.strip_suffix('}'));
    if let Some(seq) = digits.and_then(|digits| number::short(digits.as_bytes())) {
        return Some(seq);
    }
    with_value(answer, |root| root.get("seq").and_then(Value::as_uint)).flatten()
}

/// The elements of an array, as texts.
pub(crate) fn elements(answer: &str) -> Vec<Payload> {
    let list = |root: Value<'_>| root.elements().map(|item| Payload(item.bytes().to_vec())).collect();
    with_value(answer, list).unwrap_or_default()
}

/// The bytes of a dump: a string, or `{"b64":…}`.
pub(crate) fn dumped(answer: &str) -> Payload {
    // The answer is canonical, so what stands between the quotes of a string is its inside.
    let inside = answer.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    if let Some(bytes) = inside.and_then(|inside| short(inside.as_bytes())) {
        return Payload(bytes);
    }
    let bytes = with_value(answer, |root| {
        if let Some(encoded) = root.get("b64").and_then(Value::as_str) {
            let text = encoded.raw();
            return URL_SAFE_NO_PAD.decode(text).or_else(|_| STANDARD.decode(text)).unwrap_or_default();
        }
        let Some(text) = root.as_str() else { return vec![] };
        short(text.raw()).unwrap_or_else(|| {
            let units: Vec<u16> = text.units().collect();
            String::from_utf16_lossy(&units).into_bytes()
        })
    });
    Payload(bytes.unwrap_or_default())
}

/// A string without its escapes, as long as they are the short ones that a log of canonical lines has; nothing
/// otherwise. A case dumps and loads logs all the time, and by UTF-16 units that costs as much as loading them.
fn short(raw: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr2(b'\\', b'"', rest) {
        if rest[at] == b'"' {
            return None;
        }
        out.extend_from_slice(&rest[..at]);
        out.push(match rest.get(at + 1)? {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            same @ (b'"' | b'\\' | b'/') => *same,
            _ => return None,
        });
        rest = &rest[at + 2..];
    }
    out.extend_from_slice(rest);
    Some(out)
}
