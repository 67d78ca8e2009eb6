//! The reference model as a system.

use super::interpret::{Backend, answer, interpret};
use super::{Outcome, System, Trace, frames};
use crate::case::{
    Append, Call, Case, Encoding, Inherited, LogSource, Op, Payload, Ref, RequestSource, View,
};
use crate::model::{self, Dialect, Mode, Refusal, Session};
use std::collections::BTreeMap;

/// The reference model.
#[derive(Debug, Default)]
pub struct Model;

fn dialect_of(name: &str) -> Option<Dialect> {
    match name {
        "dsh-v0" => Some(Dialect::DshV0),
        "tutorial" => Some(Dialect::Tutorial),
        _ => None,
    }
}

impl System for Model {
    fn name(&self) -> String {
        "model".to_owned()
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn run(&mut self, case: &Case) -> Trace {
        match dialect_of(&case.dialect) {
            Some(dialect) => interpret(case, &mut World { dialect, sessions: BTreeMap::new() }),
            None => Trace::not_sent(case, &format!("the model has no dialect {:?}", case.dialect)),
        }
    }

    fn check(&mut self, dialect: &str, log: &[u8], encoding: Encoding) -> Option<Outcome> {
        let dialect = dialect_of(dialect)?;
        let report = match encoding {
            Encoding::Plain => model::check(log, dialect, Mode::Strict),
            Encoding::Zstd => model::check_zstd(log, dialect, Mode::Strict),
        };
        let finding = |finding: &model::Finding| {
            let seq = finding.seq.map_or_else(|| "null".to_owned(), |seq| seq.to_string());
            super::finding_text(finding.rule, finding.class.name(), finding.line, &seq)
        };
        Some(Outcome::Ok(super::verdict_text(report.events, report.findings.iter().map(finding).collect())))
    }
}

/// The sessions of one case.
struct World {
    dialect: Dialect,
    sessions: BTreeMap<String, Live>,
}

struct Live {
    session: Session,
    observers: usize,
    seen: Vec<u64>,
}

fn refused(refusal: Refusal) -> Outcome {
    Outcome::refused(refusal.rule, refusal.message)
}

fn text(payload: &Payload) -> Option<&str> {
    std::str::from_utf8(payload.bytes()).ok()
}

impl Backend for World {
    fn call(&mut self, op: &Op) -> Outcome {
        match &op.call {
            Call::Open { header, inherited } => self.open(&op.session, header.as_ref(), inherited.as_ref()),
            Call::Restore { log: LogSource::Bytes(log), encoding } => {
                if self.sessions.contains_key(&op.session) {
                    return answer::session_exists();
                }
                match Session::restore(self.dialect, log.bytes(), *encoding == Encoding::Zstd) {
                    Ok(session) => {
                        let count = session.len();
                        self.add(&op.session, session);
                        answer::events(count)
                    }
                    Err(refusal) => refused(refusal),
                }
            }
            Call::Fork { boundary, child } => self.fork(&op.session, boundary.as_ref(), child),
            call => match self.sessions.get_mut(&op.session) {
                Some(live) => live.call(call, self.dialect),
                None => answer::no_session(),
            },
        }
    }

    fn faults(&mut self) -> Vec<(&'static str, String, String)> {
        vec![]
    }
}

impl World {
    fn add(&mut self, handle: &str, session: Session) {
        self.sessions.insert(handle.to_owned(), Live { session, observers: 0, seen: vec![] });
    }

    fn open(&mut self, handle: &str, header: Option<&Payload>, inherited: Option<&Inherited>) -> Outcome {
        if self.sessions.contains_key(handle) {
            return answer::session_exists();
        }
        let session = match header.filter(|_| self.dialect == Dialect::DshV0) {
            None => Session::new(self.dialect, handle),
            Some(header) => {
                // A header is fine when a log of nothing but this line is.
                if header.bytes().contains(&b'\n') {
                    return Outcome::refused(Some("STORE-1"), "the header is more than one line");
                }
                let log = [header.bytes(), b"\n"].concat();
                match Session::restore(self.dialect, &log, false) {
                    Ok(session) => session,
                    Err(refusal) => return refused(refusal),
                }
            }
        };
        let session = match inherited {
            None => session,
            Some(Inherited::Op(_)) => return Outcome::refused(None, "an unresolved reference"),
            Some(Inherited::Events(events)) => {
                let Some(events) = events.iter().map(text).collect::<Option<Vec<&str>>>() else {
                    // Events before the one that is no text may be refused first.
                    return self.first_refusal(session, events);
                };
                match session.seeded(&events, 0) {
                    Ok(session) => session,
                    Err(refusal) => return refused(refusal),
                }
            }
        };
        self.add(handle, session);
        answer::null()
    }

    /// What is wrong with a seed in which one event is not even text.
    fn first_refusal(&self, session: Session, events: &[Payload]) -> Outcome {
        let texts: Vec<&str> = events.iter().map_while(text).collect();
        match session.seeded(&texts, 0) {
            Err(refusal) => refused(refusal),
            Ok(_) => Outcome::refused(None, "not UTF-8"),
        }
    }

    fn fork(&mut self, handle: &str, boundary: Option<&Ref>, child: &str) -> Outcome {
        let refused = |code: &str| Outcome::refused(Some("FORK-2"), code);
        let Some(parent) = self.sessions.get(handle) else { return refused("SESSION_NOT_FOUND") };
        if self.sessions.contains_key(child) {
            return refused("SESSION_ALREADY_EXISTS");
        }
        let boundary = match boundary.map(super::boundary) {
            Some(None) => return refused("INVALID_BOUNDARY"),
            other => other.flatten(),
        };
        match parent.session.fork(boundary, child, 0) {
            Ok(session) => {
                let header = session.session_header();
                self.add(child, session);
                Outcome::Ok(header)
            }
            Err(code) => refused(code),
        }
    }
}

impl Live {
    fn call(&mut self, call: &Call, dialect: Dialect) -> Outcome {
        match call {
            Call::Append(append) => self.append(append),
            Call::View { view, at, step } => {
                let session = match at.as_ref().map(super::boundary) {
                    Some(None) => return Outcome::refused(None, "at is no seq"),
                    Some(Some(at)) => &self.session.at(at),
                    None => &self.session,
                };
                let step = step.map(|step| (step.turn, step.step, step.attempt));
                Outcome::Ok(match view {
                    View::Events => session.events(),
                    View::Surface => session.surface(),
                    View::Messages => session.messages(),
                    View::Transcript => session.transcript(),
                    View::Header => session.header(),
                    View::Request => session.request(step).unwrap_or_else(|| "null".to_owned()),
                    View::Inbox => session.inbox(),
                })
            }
            Call::Dump { packed, encoding } => {
                let log = self.session.dump(*packed);
                match encoding {
                    Encoding::Plain => answer::log(&log),
                    Encoding::Zstd => match frames::compress(&log, dialect == Dialect::DshV0) {
                        Ok(log) => answer::log(&log),
                        Err(error) => Outcome::refused(None, error.to_string()),
                    },
                }
            }
            Call::Repair => self.repair(),
            Call::CheckRequest { request: RequestSource::Text(request) } => match text(request) {
                Some(request) => answer::desync(self.session.check_request(request).as_deref()),
                // What is no text is no request; but without a header there is nothing to compare.
                None => answer::desync(self.session.check_request("").as_deref()),
            },
            Call::Observe { .. } => {
                self.observers += 1;
                answer::null()
            }
            Call::Observed => answer::seqs(&self.seen),
            Call::Mutate { .. } => answer::null(),
            _ => Outcome::refused(None, "an unresolved reference"),
        }
    }

    fn append(&mut self, append: &Append) -> Outcome {
        let Some(data) = append.data.as_plain() else {
            return Outcome::refused(None, "an unresolved reference");
        };
        let (op, sources) = (append.surface_op_text(), append.sources_text());
        let part = |payload: Option<&Payload>| match payload.map(text) {
            Some(None) => Err(()),
            other => Ok(other.flatten().map(str::to_owned)),
        };
        let (Ok(data), Ok(op), Ok(sources)) =
            (std::str::from_utf8(data), part(op.as_ref()), part(sources.as_ref()))
        else {
            return Outcome::refused(None, "not UTF-8");
        };
        match self.session.append(&append.kind, data, op.as_deref(), sources.as_deref(), append.time) {
            Ok(seq) => {
                self.committed(seq);
                answer::seq(seq)
            }
            Err(refusal) => refused(refusal),
        }
    }

    /// LIVE-3: every observer sees the event, in registration order.
    fn committed(&mut self, seq: u64) {
        self.seen.extend(std::iter::repeat_n(seq, self.observers));
    }

    fn repair(&mut self) -> Outcome {
        let events = match self.session.repair() {
            Ok(events) => events,
            Err(refusal) => return refused(refusal),
        };
        for event in &events {
            match self.session.admit_line(event) {
                Ok(seq) => self.committed(seq),
                Err(refusal) => return refused(refusal),
            }
        }
        Outcome::Ok(format!("[{}]", events.join(",")))
    }
}
