//! The embedded core as a system.

use super::interpret::{Backend, answer, interpret};
use super::{Outcome, System, Trace, frames};
use crate::case::{
    Append, Behaviour, Call, Case, Encoding, Inherited, LogSource, Mutation, Op, Ref, RequestSource,
};
use crate::case::{Payload, View};
use foldproof::check::{self, Input, Loaded, Options, Report};
use foldproof::dialect::{self, Dialect};
use foldproof::event::Seq;
use foldproof::finding::Findings;
use foldproof::json::canonicalize;
use foldproof::limits::DEPTH;
use foldproof::projection::{self, History};
use foldproof::repair::Recovery;
use foldproof::request::{self, Request, RequestHeader};
use foldproof::rule::{Class, Rule};
use foldproof::session::{AppendError, Draft, Observer, RepairError, Session};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

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
fn known(name: &str) -> Option<Arc<Dialect>> {
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
        Encoding::Plain => Input::Plain(Box::new(log)),
        Encoding::Zstd => Input::Compressed(Box::new(Cursor::new(log))),
    }
}

/// The sessions of one case.
struct World {
    dialect: Arc<Dialect>,
    sessions: BTreeMap<String, Live>,
    faults: Vec<(&'static str, String, String)>,
}

/// A session, and what was handed in and out.
struct Live {
    session: Session,
    seen: Arc<Mutex<Vec<u64>>>,
    /// The buffers of the last append.
    handed_in: Vec<Vec<u8>>,
    /// Histories and requests that are still held, with what they said when they were handed out.
    held: Vec<(Held, Vec<u8>)>,
}

enum Held {
    History(History),
    Request(Request),
    Events(foldproof::log::Log),
}

impl Held {
    fn print(&self) -> Vec<u8> {
        match self {
            Held::History(history) => history.to_bytes(),
            Held::Request(request) => request.to_bytes(),
            Held::Events(log) => events(log),
        }
    }

    fn rule(&self) -> &'static str {
        match self {
            Held::Events(_) => "LIVE-5",
            _ => "PROJ-4",
        }
    }
}

/// Most values that a session holds on to: each is printed again, so that this bounds the work.
const HELD: usize = 8;

impl Live {
    fn new(session: Session) -> Live {
        Live { session, seen: Arc::default(), handed_in: vec![], held: vec![] }
    }

    fn hold(&mut self, held: Held, said: &[u8]) {
        if self.held.len() == HELD {
            // The oldest stays: it has the longest time to change.
            self.held.remove(HELD / 2);
        }
        self.held.push((held, said.to_vec()));
    }
}

fn events(log: &foldproof::log::Log) -> Vec<u8> {
    let mut out = vec![b'['];
    for line in log.events() {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(&line);
    }
    out.push(b']');
    out
}

struct Watcher {
    seen: Arc<Mutex<Vec<u64>>>,
    behaviour: Behaviour,
}

impl Observer for Watcher {
    fn committed(&mut self, session: &mut Session, seq: Seq) -> Result<(), String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seq);
        match self.behaviour {
            Behaviour::Record => Ok(()),
            Behaviour::Throw => Err("an observer that fails".to_owned()),
            Behaviour::Reenter => {
                let draft = Draft { kind: "turn/start", data: br#"{"turn":1}"#, ..Draft::default() };
                // Whether it was refused shows in the log; what was said is kept by the session.
                session.append(draft, 0).map(drop).map_err(|error| error.to_string())
            }
        }
    }
}

fn append_error(error: &AppendError) -> Outcome {
    let rule = match error {
        AppendError::Violation(violation) => Some(violation.rule.id()),
        AppendError::Reentrant => Some("LIVE-4"),
        AppendError::Syntax { .. } => None,
    };
    Outcome::refused(rule, error.to_string())
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

impl Live {
    fn call(&mut self, call: &Call, faults: &mut Vec<(&'static str, String, String)>) -> Outcome {
        match call {
            Call::Append(append) => self.append(append),
            Call::View { view, at, step } => {
                let at = match at.as_ref().map(super::boundary) {
                    Some(None) => return Outcome::refused(None, "at is no seq"),
                    other => other.flatten(),
                };
                let step = step.map(|step| (step.turn, step.step, step.attempt));
                match at {
                    None => self.view(*view, step, faults),
                    Some(at) => self.view_at(*view, at, step),
                }
            }
            Call::Dump { packed, encoding } => {
                let log = self.session.dump(*packed);
                match encoding {
                    Encoding::Plain => answer::log(&log),
                    Encoding::Zstd => match frames::compress(&log, self.session.log().header().is_some()) {
                        Ok(log) => answer::log(&log),
                        Err(error) => Outcome::refused(None, error.to_string()),
                    },
                }
            }
            Call::Repair => match self.session.repair() {
                Ok(seqs) => {
                    let lines: Vec<Vec<u8>> = seqs
                        .map(|seq| {
                            self.session.log().line(seq).map(|line| line.into_owned()).unwrap_or_default()
                        })
                        .collect();
                    answer::json([b"[", &lines.join(&b',')[..], b"]"].concat())
                }
                Err(RepairError::Unrepairable(_)) => {
                    Outcome::refused(Some("REPAIR-6"), "a call without a usable id")
                }
                Err(RepairError::Append(error)) => append_error(&error),
            },
            Call::CheckRequest { request: RequestSource::Text(text) } => {
                let desync = self.session.check_request(text.bytes()).err();
                answer::desync(desync.as_ref().map(|desync| desync.member()))
            }
            Call::Observe { behaviour } => {
                let watcher = Watcher { seen: Arc::clone(&self.seen), behaviour: *behaviour };
                self.session.observe(Box::new(watcher));
                answer::null()
            }
            Call::Observed => answer::seqs(&self.seen.lock().unwrap_or_else(PoisonError::into_inner)),
            Call::Mutate { what } => {
                self.mutate(*what);
                self.look_again(faults);
                answer::null()
            }
            _ => Outcome::refused(None, "an unresolved reference"),
        }
    }

    fn append(&mut self, append: &Append) -> Outcome {
        let text = |payload: Option<Payload>| payload.map(|payload| payload.0);
        let Some(data) = append.data.as_plain() else {
            return Outcome::refused(None, "an unresolved reference");
        };
        self.handed_in = vec![data.to_vec()];
        let (surface_op, sources) = (text(append.surface_op_text()), text(append.sources_text()));
        let draft = Draft {
            kind: &append.kind,
            data: &self.handed_in[0],
            surface_op: surface_op.as_deref(),
            sources: sources.as_deref(),
        };
        let outcome = match self.session.append(draft, append.time) {
            Ok(seq) => answer::seq(seq),
            Err(error) => append_error(&error),
        };
        self.handed_in.extend([surface_op, sources].into_iter().flatten());
        outcome
    }

    /// The projection as the session has it, cached where it is.
    fn view(
        &mut self,
        view: View,
        step: Option<(u64, u64, u64)>,
        faults: &mut Vec<(&'static str, String, String)>,
    ) -> Outcome {
        let null = || b"null".to_vec();
        let bytes = match view {
            View::Events => {
                let said = events(self.session.log());
                self.hold(Held::Events(self.session.log().clone()), &said);
                said
            }
            View::Surface => {
                let said = self.session.print_surface();
                self.compare_surface(&said, faults);
                said
            }
            View::Messages => {
                let history = self.session.history();
                let said = history.to_bytes();
                self.hold(Held::History(history), &said);
                said
            }
            View::Transcript => self.session.transcript().to_bytes(),
            View::Header => self.session.header().map_or_else(null, RequestHeader::to_bytes),
            View::Request => {
                let request = match step {
                    None => self.session.request(),
                    Some((turn, step, attempt)) => self.session.request_of(turn, step, attempt),
                };
                match request {
                    None => null(),
                    Some(request) => {
                        let said = request.to_bytes();
                        self.hold(Held::Request(request), &said);
                        said
                    }
                }
            }
            View::Inbox => self.session.print_inbox(),
        };
        answer::json(bytes)
    }

    /// The printed surface is folded afresh; the one that the session keeps must be the same (PROJ-3).
    fn compare_surface(&self, printed: &[u8], faults: &mut Vec<(&'static str, String, String)>) {
        let surface = self.session.surface();
        let nodes: Vec<String> = surface.iter().map(|seq| seq.to_string()).collect();
        let kept =
            format!("{{\"nodes\":[{}],\"replaceGeneration\":{},", nodes.join(","), surface.generation());
        if !printed.starts_with(kept.as_bytes()) {
            faults.push(("PROJ-3", String::from_utf8_lossy(printed).into_owned(), kept));
        }
    }

    /// The projection as it stood after an event, folded afresh.
    fn view_at(&self, view: View, at: u64, step: Option<(u64, u64, u64)>) -> Outcome {
        let log = self.session.log();
        let count = at.saturating_add(1).min(log.len());
        let prefix = log.prefix(count);
        let null = || b"null".to_vec();
        let bytes = match view {
            View::Events => events(&prefix),
            View::Surface => projection::print_surface(log, count),
            View::Messages => History::new(&prefix, &log.refold(count, |_, _, _| {})).to_bytes(),
            View::Transcript => projection::Transcript::new(&prefix).to_bytes(),
            View::Header => RequestHeader::fold(log, count).map_or_else(null, |header| header.to_bytes()),
            View::Request => {
                let boundary = match step {
                    None => Some(count),
                    Some((turn, step, attempt)) => request::boundary(&prefix, turn, step, attempt),
                };
                let request = boundary.and_then(|boundary| request::rebuild(&prefix, boundary));
                request.map_or_else(null, |request| request.to_bytes())
            }
            View::Inbox => {
                let mut out = Vec::new();
                projection::inbox(log, count, self.session.inherited()).print(&mut out);
                out
            }
        };
        answer::json(bytes)
    }

    fn mutate(&mut self, what: Mutation) {
        match what {
            Mutation::Input => self.handed_in.iter_mut().for_each(|buffer| buffer.fill(b'!')),
            Mutation::Events => {
                // A list that was handed out grows on its own; the session must not see it.
                let log = self.session.log().clone();
                let admission = log.refold(log.len(), |_, _, _| {});
                let recovery = Recovery::new(log.dialect());
                let report = Report {
                    dialect: log.dialect().name.clone(),
                    events: log.len(),
                    findings: Findings::default(),
                    header: None,
                    surface: Default::default(),
                    bytes: 0,
                };
                let mut other = Session::restore(Loaded { report, log, admission, recovery });
                for turn in [1, 2] {
                    let data = format!("{{\"turn\":{turn},\"mutated\":true}}");
                    let _ = other
                        .append(Draft { kind: "turn/start", data: data.as_bytes(), ..Draft::default() }, 0);
                }
            }
            Mutation::Messages => {
                // Histories cannot be written to by their type; what was printed of them is the caller's to change.
                for (held, _) in &self.held {
                    held.print().fill(b'!');
                }
            }
        }
    }

    /// Prints again what is held (PROJ-4, LIVE-5).
    fn look_again(&self, faults: &mut Vec<(&'static str, String, String)>) {
        for (held, said) in &self.held {
            let says = held.print();
            if says != *said {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                faults.push((held.rule(), text(said), text(&says)));
            }
        }
    }
}
