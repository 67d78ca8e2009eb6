//! The embedded core as a system.

use super::interpret::{Backend, answer, interpret};
use super::live::{Live, append_error};
use super::{Outcome, System, Trace};
use crate::case::{Call, Case, Encoding, Inherited, LogSource, Op, Payload, Ref};
use foldproof::check::{self, Input, Options, Report};
use foldproof::dialect::{self, Dialect};
use foldproof::json::canonicalize;
use foldproof::limits::DEPTH;
use foldproof::rule::{Class, Rule};
use foldproof::session::Session;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::{Arc, LazyLock};

/// The core.
#[derive(Debug, Default)]
pub struct Core;

impl System for Core {
    fn name(&self) -> String {
        "core".to_owned()
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn run(&mut self, case: &Case) -> Trace {
        match known(&case.dialect) {
            Some(dialect) => {
                let mut world = World { dialect, sessions: BTreeMap::new(), faults: vec![] };
                interpret(case, &mut world)
            }
            None => Trace::not_sent(case, &format!("the core has no dialect {:?}", case.dialect)),
        }
    }

    fn check(&mut self, dialect: &str, log: &[u8], encoding: Encoding) -> Option<Outcome> {
        let dialect = known(dialect)?;
        let options = Options { dialect: Some(dialect), notes: true, ..Options::default() };
        Some(match check::check(input(log, encoding), &options) {
            Ok(report) => Outcome::Ok(verdict(&report)),
            Err(error) => Outcome::refused(None, error.to_string()),
        })
    }
}

/// A dialect by name. The usual one is made once, because that costs more than most cases do.
pub(crate) fn known(name: &str) -> Option<Arc<Dialect>> {
    static USUAL: LazyLock<Arc<Dialect>> = LazyLock::new(|| Arc::new(dialect::dsh_v0()));
    if name == USUAL.name { Some(Arc::clone(&USUAL)) } else { dialect::by_name(name).map(Arc::new) }
}

/// What a check says, as canonical JSON text. Messages are for people and left out.
fn verdict(report: &Report) -> String {
    let finding = |finding: &foldproof::finding::Finding| {
        let seq = finding.seq.map_or_else(|| "null".to_owned(), |seq| seq.to_string());
        super::finding_text(finding.rule.id(), finding.class.name(), finding.line, &seq)
    };
    super::verdict_text(report.events, report.findings.list.iter().map(finding).collect())
}

fn input(log: &[u8], encoding: Encoding) -> Input<'_> {
    match encoding {
        Encoding::Plain => Input::Text(log),
        Encoding::Zstd => Input::Compressed(Box::new(Cursor::new(log))),
    }
}

/// The sessions of one case.
struct World {
    dialect: Arc<Dialect>,
    sessions: BTreeMap<String, Live>,
    faults: Vec<(&'static str, String, String)>,
}

impl Backend for World {
    fn call(&mut self, op: &Op) -> Outcome {
        match &op.call {
            Call::Open { header, inherited } => self.open(&op.session, header.as_ref(), inherited.as_ref()),
            Call::Restore { log: LogSource::Bytes(log), encoding } => {
                self.restore(&op.session, log.bytes(), *encoding)
            }
            Call::Fork { boundary, child } => self.fork(&op.session, boundary.as_ref(), child),
            call => {
                let Some(live) = self.sessions.get_mut(&op.session) else { return answer::no_session() };
                live.call(call, &mut self.faults)
            }
        }
    }

    fn faults(&mut self) -> Vec<(&'static str, String, String)> {
        std::mem::take(&mut self.faults)
    }
}

impl World {
    fn open(&mut self, handle: &str, header: Option<&Payload>, inherited: Option<&Inherited>) -> Outcome {
        if self.sessions.contains_key(handle) {
            return answer::session_exists();
        }
        let header = header.filter(|_| self.dialect.header.is_some()).map(Payload::bytes);
        let id = match header.map(|header| self.check_header(header)) {
            None => handle.to_owned(),
            Some(Ok(id)) => id,
            Some(Err(rule)) => return Outcome::refused(Some(rule.id()), "the header is not one"),
        };
        let dialect = Arc::clone(&self.dialect);
        let session = match inherited {
            None => Session::create(dialect, &id, header, 0),
            Some(Inherited::Events(events)) => {
                let events = events.iter().map(Payload::bytes);
                match Session::from_seed(dialect, &id, header, events, 0) {
                    Ok(session) => session,
                    Err(error) => return append_error(&error.error),
                }
            }
            Some(Inherited::Op(_)) => return Outcome::refused(None, "an unresolved reference"),
        };
        self.sessions.insert(handle.to_owned(), Live::new(session));
        answer::null()
    }

    /// The id in a header line, or the rule that a log of nothing but this line breaks.
    fn check_header(&self, header: &[u8]) -> Result<String, Rule> {
        if header.contains(&b'\n') {
            return Err(Rule::Store1);
        }
        let log = [header, b"\n"].concat();
        let options = Options { dialect: Some(Arc::clone(&self.dialect)), ..Options::default() };
        let report = check::check(input(&log, Encoding::Plain), &options).map_err(|_| Rule::Store1)?;
        match refusing(&report) {
            Some(rule) => Err(rule),
            None => Ok(report.header.and_then(|header| header.id).unwrap_or_default()),
        }
    }

    fn restore(&mut self, handle: &str, log: &[u8], encoding: Encoding) -> Outcome {
        if self.sessions.contains_key(handle) {
            return answer::session_exists();
        }
        let options = Options { dialect: Some(Arc::clone(&self.dialect)), ..Options::default() };
        let loaded = match check::load(input(log, encoding), &options, log.len()) {
            Ok(loaded) => loaded,
            Err(error) => return Outcome::refused(None, error.to_string()),
        };
        if let Some(rule) = refusing(&loaded.report) {
            return Outcome::refused(Some(rule.id()), "the log does not load");
        }
        let session = Session::restore(loaded);
        let count = session.log().len();
        self.sessions.insert(handle.to_owned(), Live::new(session));
        answer::events(count)
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
                let header =
                    session.log().header().map(|header| canonicalize(header, DEPTH).unwrap_or_default());
                self.sessions.insert(child.to_owned(), Live::new(session));
                answer::json(header.unwrap_or_else(|| b"null".to_vec()))
            }
            Err(error) => refused(error.code()),
        }
    }
}

/// The first rule for which a log is not opened.
fn refusing(report: &Report) -> Option<Rule> {
    report.findings.list.iter().find(|finding| finding.class >= Class::Reject).map(|finding| finding.rule)
}
