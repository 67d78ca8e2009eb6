//! Reading a case. Every error names the place, what was expected there and what was found.

use super::op::{
    Append, Behaviour, Call, Encoding, Inherited, LogSource, Mutation, Op, RequestSource, Sources, StepOf,
    SurfaceOp, Tampering, View,
};
use super::payload::Template;
use super::refs::Ref;
use super::spot::{CaseError, ROOT, Read, Spot};
use super::{CONTRACT, Case, FORMAT, Recorded, Status};
use foldproof::json::{Kind, Scanner};
use foldproof::limits::DEPTH;

pub(super) fn case(text: &[u8]) -> Read<Case> {
    let at = |place: String, expected: &str, found: &str| CaseError {
        place,
        expected: expected.to_owned(),
        found: found.to_owned(),
    };
    if let Err(error) = std::str::from_utf8(text) {
        return Err(at(format!("byte {}", error.valid_up_to()), "UTF-8", "other bytes"));
    }
    let mut scanner = Scanner::new(DEPTH);
    let scan = scanner
        .scan(text)
        .map_err(|syntax| at(format!("byte {}", syntax.at), syntax.expected, "something else"))?;
    if let Some(fault) = scan.fault {
        return Err(at(format!("byte {}", fault.at), "lossless JSON", fault.rule.id()));
    }
    let root = Spot { value: scan.root(), path: ROOT.to_owned() };
    if !root.value.is_object() {
        return Err(root.wrong("an object"));
    }
    // Versions first: what a newer one means is not guessed.
    for (name, known) in [("foldproof", FORMAT), ("contract", CONTRACT)] {
        let spot = root.need(name)?;
        let version = spot.number()?;
        if version == 0 || version > known {
            let text = format!("a number from 1 to {known} (a larger one is of a newer foldproof: upgrade)");
            return Err(spot.wrong(text));
        }
    }
    root.object(&[
        "foldproof",
        "contract",
        "dialect",
        "system",
        "property",
        "rule",
        "seed",
        "index",
        "ops",
        "schedule",
        "faults",
        "outcome",
    ])?;
    let text = |name: &str| root.maybe(name).map(|spot| spot.name()).transpose();
    let seed = match root.maybe("seed") {
        None => None,
        Some(spot) => {
            let text = spot.text()?;
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            let seed = u64::from_str_radix(&text, 16).ok().filter(|_| digits);
            Some(seed.ok_or_else(|| spot.wrong("1 to 16 hex digits"))?)
        }
    };
    let ops = root.need("ops")?.items()?;
    Ok(Case {
        dialect: root.need("dialect")?.name()?,
        system: root.need("system")?.name()?,
        property: text("property")?,
        rule: text("rule")?,
        seed,
        index: root.maybe("index").map(|spot| spot.number()).transpose()?,
        ops: ops.iter().enumerate().map(|(place, spot)| op(spot, place)).collect::<Read<_>>()?,
        schedule: root.get("schedule").map(|spot| spot.raw()),
        faults: root.get("faults").map(|spot| spot.raw()),
        outcome: root.maybe("outcome").map(|spot| recorded(&spot)).transpose()?,
    })
}

fn recorded(spot: &Spot<'_>) -> Read<Recorded> {
    spot.object(&["status", "property", "rule", "op", "message", "expected", "got"])?;
    let text = |name: &str| spot.maybe(name).map(|spot| spot.text()).transpose();
    Ok(Recorded {
        status: spot
            .need("status")?
            .one_of(Status::from_name, "a status such as \"passed\" or \"failed\"")?,
        property: text("property")?,
        rule: text("rule")?,
        op: spot.maybe("op").map(|spot| spot.number()).transpose()?,
        message: text("message")?,
        expected: text("expected")?,
        got: text("got")?,
    })
}

fn op(spot: &Spot<'_>, place: usize) -> Read<Op> {
    if !spot.value.is_object() {
        return Err(spot.wrong("an object"));
    }
    let name = spot.need("op")?;
    let text = name.text()?;
    let session = spot.need("session")?.name()?;
    let members = |own: &[&str]| spot.object(&[&["op", "session"], own].concat());
    let call = match text.as_str() {
        "open" => {
            members(&["header", "inherited"])?;
            let inherited = spot.get("inherited").map(|spot| match spot.value.kind() {
                Kind::Object => spot.answer(place).map(Inherited::Op),
                _ => Ok(Inherited::Events(spot.items()?.iter().map(Spot::payload).collect::<Read<_>>()?)),
            });
            Call::Open {
                header: spot.get("header").map(|spot| spot.payload()).transpose()?,
                inherited: inherited.transpose()?,
            }
        }
        "append" => {
            members(&["type", "dataText", "surfaceOp", "sourceEventSeqs", "time"])?;
            Call::Append(append(spot, place)?)
        }
        "fork" => {
            members(&["boundary", "child"])?;
            Call::Fork {
                boundary: spot.get("boundary").map(|spot| spot.reference(place)).transpose()?,
                child: spot.need("child")?.name()?,
            }
        }
        "restore" => {
            members(&["log", "encoding"])?;
            let log = spot.need("log")?;
            let log = match log.value.get("op") {
                Some(_) => LogSource::Dump(log.answer(place)?),
                None => LogSource::Bytes(log.payload()?),
            };
            Call::Restore { log, encoding: encoding(spot)? }
        }
        "dump" => {
            members(&["packed", "encoding"])?;
            let packed = spot.need("packed")?;
            let packed = match packed.value.bytes() {
                b"true" => true,
                b"false" => false,
                _ => return Err(packed.wrong("true or false")),
            };
            Call::Dump { packed, encoding: encoding(spot)? }
        }
        "repair" => {
            members(&[])?;
            Call::Repair
        }
        "check_request" => {
            members(&["request"])?;
            let request = spot.need("request")?;
            let request = match request.value.get("op") {
                Some(_) => tampered(&request, place)?,
                None => RequestSource::Text(request.payload()?),
            };
            Call::CheckRequest { request }
        }
        "observe" => {
            members(&["behaviour"])?;
            let all = [Behaviour::Record, Behaviour::Throw, Behaviour::Reenter];
            let find = |name: &str| all.into_iter().find(|behaviour| behaviour.name() == name);
            Call::Observe { behaviour: spot.need("behaviour")?.one_of(find, "record, throw or reenter")? }
        }
        "observed" => {
            members(&[])?;
            Call::Observed
        }
        "mutate" => {
            members(&["what"])?;
            let all = [Mutation::Input, Mutation::Events, Mutation::Messages];
            let find = |name: &str| all.into_iter().find(|what| what.name() == name);
            Call::Mutate { what: spot.need("what")?.one_of(find, "input, events or messages")? }
        }
        other => {
            let view =
                View::from_name(other).ok_or_else(|| name.wrong("an operation of the adapter protocol"))?;
            members(if view == View::Request { &["at", "turn", "step", "attempt"] } else { &["at"] })?;
            let step = match spot.get("turn") {
                None => None,
                Some(turn) => Some(StepOf {
                    turn: turn.number()?,
                    step: spot.need("step")?.number()?,
                    attempt: spot.get("attempt").map_or(Ok(1), |spot| spot.number())?,
                }),
            };
            Call::View { view, at: spot.get("at").map(|spot| spot.reference(place)).transpose()?, step }
        }
    };
    Ok(Op { session, call })
}

fn encoding(spot: &Spot<'_>) -> Read<Encoding> {
    let all = [Encoding::Plain, Encoding::Zstd];
    let find = |name: &str| all.into_iter().find(|encoding| encoding.name() == name);
    spot.get("encoding").map_or(Ok(Encoding::Plain), |spot| spot.one_of(find, "plain or zstd"))
}

fn append(spot: &Spot<'_>, place: usize) -> Read<Append> {
    let time = spot.need("time")?;
    let surface_op = spot.get("surfaceOp").map(|spot| {
        if spot.value.as_str().is_some_and(|op| op.is("append")) {
            return Ok(SurfaceOp::Append);
        }
        if spot.value.get("text").is_some() {
            return spot.wrapped().map(SurfaceOp::Text);
        }
        spot.object(&["op", "start", "end"])?;
        spot.need("op")?.one_of(|op| (op == "replace").then_some(()), "\"replace\"")?;
        let (start, end) = (spot.need("start")?.reference(place)?, spot.need("end")?.reference(place)?);
        Ok(SurfaceOp::Replace { start, end })
    });
    let sources = spot.get("sourceEventSeqs").map(|spot| match spot.value.kind() {
        Kind::Object => spot.wrapped().map(Sources::Text),
        _ => spot.references(place).map(Sources::Seqs),
    });
    Ok(Append {
        kind: spot.need("type")?.text()?,
        data: template(&spot.need("dataText")?, place)?,
        surface_op: surface_op.transpose()?,
        sources: sources.transpose()?,
        time: time.value.as_int().ok_or_else(|| time.wrong("a safe integer"))?,
    })
}

fn template(spot: &Spot<'_>, place: usize) -> Read<Template> {
    if spot.value.kind() != Kind::Array {
        return spot.payload().map(Template::from);
    }
    let mut template = Template::default();
    for piece in spot.items()? {
        match piece.value.kind() {
            Kind::String => template.push(piece.payload()?),
            Kind::Object if piece.value.get("b64").is_some() => template.push(piece.payload()?),
            Kind::Object if piece.value.get("text").is_some() => {
                template.push_seq(Ref::Text(piece.wrapped()?))
            }
            _ => template.push_seq(piece.reference(place)?),
        }
    }
    Ok(template)
}

fn tampered(spot: &Spot<'_>, place: usize) -> Read<RequestSource> {
    spot.object(&["op", "tamper", "at", "byte"])?;
    let number = |name: &str| spot.get(name).map(|spot| spot.number()).transpose();
    let (at, byte) = (number("at")?, number("byte")?);
    let tamper = spot.need("tamper")?;
    let how = Tampering::from_parts(&tamper.text()?, at, byte);
    let how = how.ok_or_else(|| tamper.wrong("a tampering with the numbers that it takes"))?;
    Ok(RequestSource::Tampered { op: spot.answer(place)?, how })
}
