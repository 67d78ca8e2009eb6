//! A live session: a log, its cached folds, and its observers (contract, sections 10 and 11).
//!
//! The session has no clock and mints no ids: times and ids are passed in.

use crate::admit::Admission;
use crate::check::Loaded;
use crate::codec::header;
use crate::codec::rows::Packer;
use crate::dialect::{Dialect, Reading, Role};
use crate::event::{Event, Seq, TypeId, UNLISTED};
use crate::finding::Violation;
use crate::json::{Scan, Scanner, Syntax, number, print, text};
use crate::limits::Limits;
use crate::log::Log;
use crate::projection::{self, History, Transcript};
use crate::relation::Folded;
use crate::repair::{Recovery, Unrepairable};
use crate::request::{self, Desync, Gate, Request, RequestHeader};
use crate::surface::Surface;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// The number that `createdAt`, `time` and their like hold: milliseconds since 1970, a safe integer.
pub type Millis = i64;

/// What a new event is made of. Texts are JSON texts and are copied; nothing that the caller does to them later can
/// reach the log (LIVE-1).
#[derive(Clone, Copy, Debug, Default)]
pub struct Draft<'a> {
    /// The event type.
    pub kind: &'a str,
    /// `data`, as JSON text.
    pub data: &'a [u8],
    /// `surfaceOp`, as JSON text.
    pub surface_op: Option<&'a [u8]>,
    /// `sourceEventSeqs`, as JSON text.
    pub sources: Option<&'a [u8]>,
}

/// Why an append changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// A part is not JSON text.
    #[error("{part} is not JSON: expected {} at byte {}", syntax.expected, syntax.at)]
    Syntax {
        /// `data`, `surfaceOp` or `sourceEventSeqs`.
        part: &'static str,
        /// Where and what.
        syntax: Syntax,
    },
    /// The contract does not admit the event.
    #[error("{}: {}", .0.rule, .0.message)]
    Violation(Violation),
    /// An observer of this session's append tried to append (LIVE-4).
    #[error("LIVE-4: an observer may not append to the session whose append it observes")]
    Reentrant,
}

/// Why a session could not be built from events: the first event that appending would refuse (SEED-1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {index} of the seed: {error}")]
pub struct SeedError {
    /// Its place in the seed.
    pub index: u64,
    /// Why.
    pub error: AppendError,
}

/// Why a fork was refused (FORK-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkError {
    /// `SESSION_NOT_FOUND`
    NotFound,
    /// `SESSION_NOT_LIVE`
    NotLive,
    /// `SESSION_ALREADY_EXISTS`
    AlreadyExists,
    /// `INVALID_BOUNDARY`
    InvalidBoundary,
    /// `OPEN_TURN`
    OpenTurn,
}

impl ForkError {
    /// The code.
    pub fn code(self) -> &'static str {
        match self {
            ForkError::NotFound => "SESSION_NOT_FOUND",
            ForkError::NotLive => "SESSION_NOT_LIVE",
            ForkError::AlreadyExists => "SESSION_ALREADY_EXISTS",
            ForkError::InvalidBoundary => "INVALID_BOUNDARY",
            ForkError::OpenTurn => "OPEN_TURN",
        }
    }
}

impl fmt::Display for ForkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl std::error::Error for ForkError {}

/// Sees events after they are committed (LIVE-3).
pub trait Observer {
    /// One event was committed. What the observer says of a failure is kept and stops nobody.
    fn committed(&mut self, session: &mut Session, seq: Seq) -> Result<(), String>;
}

/// An observer failed; the event stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObserverFailure {
    /// Place of the observer in registration order.
    pub observer: usize,
    /// The event.
    pub seq: Seq,
    /// What it said.
    pub message: String,
}

/// A live session.
pub struct Session {
    id: String,
    log: Log,
    admission: Admission,
    recovery: Recovery,
    /// Where the request header in force was logged, and what it says once somebody asks.
    header_at: Option<Seq>,
    header: OnceLock<Option<RequestHeader>>,
    inherited: u64,
    observers: Vec<Box<dyn Observer + Send>>,
    failures: Vec<ObserverFailure>,
    appending: bool,
    scanner: Scanner,
    /// The type of the last event.
    last: TypeId,
    /// The line that is being made; kept for its space.
    line: Vec<u8>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.id)
            .field("events", &self.log.len())
            .finish_non_exhaustive()
    }
}

impl Session {
    /// An empty session, not built from a seed. `header` is its header line, or nothing for a plain one made of `id`
    /// and `created_at`.
    ///
    /// ```
    /// use foldproof::dialect::dsh_v0;
    /// use foldproof::session::{Draft, Session};
    /// use std::sync::Arc;
    /// let mut session = Session::create(Arc::new(dsh_v0()), "s", None, 0);
    /// let seq = session.append(Draft { kind: "turn/start", data: br#"{"turn":1}"#, ..Draft::default() }, 5).unwrap();
    /// assert_eq!(seq, 0);
    /// assert_eq!(session.log().line(0).unwrap(), &br#"{"type":"turn/start","seq":0,"time":5,"data":{"turn":1}}"#[..]);
    /// assert!(session.append(Draft { kind: "turn/end", data: b"null", ..Draft::default() }, 5).is_err());
    /// assert_eq!(session.log().len(), 1, "an append that fails changes nothing");
    /// ```
    pub fn create(dialect: Arc<Dialect>, id: &str, header: Option<&[u8]>, created_at: Millis) -> Session {
        let header = match (&dialect.header, header) {
            (None, _) => None,
            (Some(_), Some(line)) => Some(line.into()),
            (Some(spec), None) => {
                let mut line =
                    format!("{{\"type\":\"session\",\"version\":{},\"id\":", spec.version).into_bytes();
                text::quote(id, &mut line);
                line.extend_from_slice(
                    format!(",\"createdAt\":{created_at},\"delegationDepth\":0}}").as_bytes(),
                );
                Some(line.into())
            }
        };
        let admission = Admission::new(Arc::clone(&dialect), Reading::Strict);
        let recovery = Recovery::new(&dialect);
        let mut session = Session::with(id.to_owned(), Log::new(dialect, header), admission, recovery);
        session.inherited = session.claimed();
        session
    }

    /// How many events the header line says are inherited. Only that counts (INBOX-3): a session that is constructed
    /// from its own events keeps what was waiting for it.
    fn claimed(&self) -> u64 {
        let mut scanner = Scanner::new(u64::MAX);
        let scan = self.log.header().and_then(|line| scanner.scan(line).ok());
        scan.and_then(|scan| header::inherited(self.log.dialect(), scan.root())).unwrap_or(0)
    }

    fn with(id: String, log: Log, admission: Admission, recovery: Recovery) -> Session {
        // The order is kept from now on, so that a held history costs the same at every length.
        admission.surface().order();
        let header_at = RequestHeader::place(&log, log.len());
        Session {
            id,
            log,
            admission,
            recovery,
            header_at,
            header: OnceLock::new(),
            inherited: 0,
            observers: vec![],
            failures: vec![],
            appending: false,
            scanner: Scanner::new(Limits::default().depth),
            last: UNLISTED,
            line: vec![],
        }
    }

    /// A session from the lines of events, each checked as if it were appended (SEED-1); then the marker that ends
    /// what was inherited, unless the seed ends in one (SEED-2).
    pub fn from_seed<'e>(
        dialect: Arc<Dialect>,
        id: &str,
        header: Option<&[u8]>,
        events: impl IntoIterator<Item = &'e [u8]>,
        now: Millis,
    ) -> Result<Session, SeedError> {
        let mut session = Session::create(dialect, id, header, now);
        for (index, line) in events.into_iter().enumerate() {
            let seeded = session.push(line);
            seeded.map_err(|error| SeedError { index: index as u64, error })?;
        }
        session.mark(false, now);
        Ok(session)
    }

    /// A session over a log that was read, as it is: nothing is appended.
    pub fn restore(loaded: Loaded) -> Session {
        let Loaded { report, log, admission, recovery } = loaded;
        let facts = report.header.unwrap_or_default();
        let mut session = Session::with(facts.id.unwrap_or_default(), log, admission, recovery);
        session.inherited = facts.inherited.unwrap_or(0);
        session
    }

    /// A session over a log that was read, to be continued: the marker is appended unless the log ends in one, so
    /// that reopening twice does not grow it (SEED-2).
    pub fn resume(loaded: Loaded, now: Millis) -> Session {
        let mut session = Session::restore(loaded);
        session.mark(false, now);
        session
    }

    /// SEED-2. `forked` says whether the marker ends what was inherited from another session.
    fn mark(&mut self, forked: bool, now: Millis) {
        let last = self.log.len().checked_sub(1);
        if !self.log.dialect().seed.marker || last.is_some_and(|last| self.log.role(last) == Role::EndSeed) {
            return;
        }
        let kind = self.log.dialect().roles.iter().find(|(_, role)| **role == Role::EndSeed);
        if let Some(kind) = kind.map(|(kind, _)| kind.clone()) {
            let tag = self.log.dialect().seed.tag.clone().filter(|_| forked);
            let data = tag.map_or("{}".to_owned(), |tag| format!("{{\"{tag}\":true}}"));
            // The marker's shape is ours, so admission cannot refuse it.
            let _ = self.append(Draft { kind: &kind, data: data.as_bytes(), ..Draft::default() }, now);
        }
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its log. A clone is a snapshot (LIVE-5).
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Number of inherited events, as the header or the seed says.
    pub fn inherited(&self) -> u64 {
        self.inherited
    }

    /// The surface as it stands.
    pub fn surface(&self) -> &Surface {
        self.admission.surface()
    }

    /// The state that the next event is checked against.
    pub fn admission(&self) -> &Admission {
        &self.admission
    }

    /// The model history as it stands (PROJ-2).
    pub fn history(&self) -> History {
        History::new(&self.log, self.admission.surface())
    }

    /// The transcript as it stands (PROJ-5).
    pub fn transcript(&self) -> Transcript {
        Transcript::new(&self.log)
    }

    /// The request header in force (REQ-2).
    pub fn header(&self) -> Option<&RequestHeader> {
        let read = || self.header_at.and_then(|seq| RequestHeader::read(&self.log, seq));
        self.header.get_or_init(read).as_ref()
    }

    /// The request of the log as it stands (REQ-3); nothing without a header.
    pub fn request(&self) -> Option<Request> {
        self.header().map(|header| Request::new(header, self.history()))
    }

    /// The request of one step and attempt; nothing when there is no such step, or no header then.
    pub fn request_of(&self, turn: u64, step: u64, attempt: u64) -> Option<Request> {
        request::rebuild(&self.log, request::boundary(&self.log, turn, step, attempt)?)
    }

    /// Compares a request, given as JSON text, with the one that the log rebuilds now (REQ-5).
    pub fn check_request(&self, request: &[u8]) -> Result<(), Desync> {
        match self.request() {
            Some(rebuilt) => request::compare(request, &rebuilt),
            None => Err(Desync::NoHeader),
        }
    }

    /// The gate in front of a provider: passes a request only when this live session's log rebuilds it (REQ-5).
    pub fn gate(&self, session: &str, request: &Request) -> Result<(), Desync> {
        let state = Gate {
            session: &self.id,
            in_step: self.recovery.in_step(),
            log: &self.log,
            admission: &self.admission,
            header: self.header(),
        };
        request::gate(&state, session, request)
    }

    /// The canonical object that shows the surface.
    pub fn print_surface(&self) -> Vec<u8> {
        projection::print_surface(&self.log, self.log.len())
    }

    /// The canonical object that shows the inbox (INBOX-3: without what was inherited).
    pub fn print_inbox(&self) -> Vec<u8> {
        let mut out = Vec::new();
        projection::inbox(&self.log, self.log.len(), self.inherited).print(&mut out);
        out
    }

    /// Appends an event (LIVE-1, LIVE-2): it is admitted, committed and shown to the observers, or nothing changes.
    pub fn append(&mut self, draft: Draft<'_>, time: Millis) -> Result<Seq, AppendError> {
        let parts =
            [("data", Some(draft.data)), ("sourceEventSeqs", draft.sources), ("surfaceOp", draft.surface_op)];
        let mut line = std::mem::take(&mut self.line);
        let places = print_envelope(&mut line, draft.kind, self.admission.next(), time, parts);
        let mut scanner = std::mem::replace(&mut self.scanner, Scanner::new(1));
        let outcome = self.admit_parts(&mut scanner, &line, places, parts);
        self.scanner = scanner;
        self.line = line;
        let seq = outcome?;
        self.notify(seq);
        Ok(seq)
    }

    fn admit_parts(
        &mut self,
        scanner: &mut Scanner,
        line: &[u8],
        places: [usize; 3],
        parts: [(&'static str, Option<&[u8]>); 3],
    ) -> Result<Seq, AppendError> {
        if simdutf8::basic::from_utf8(line).is_ok()
            && let Ok(scan) = scanner.scan(line)
            && is_whole(&scan, places, parts)
        {
            return self.commit(&scan);
        }
        for (name, part) in parts {
            if let Some(part) = part {
                let syntax = |syntax| AppendError::Syntax { part: name, syntax };
                if let Err(error) = simdutf8::compat::from_utf8(part) {
                    return Err(syntax(Syntax { at: error.valid_up_to(), expected: "UTF-8" }));
                }
                scanner.scan(part).map_err(syntax)?;
            }
        }
        // Each part is JSON by itself, and so the whole is.
        self.commit(&scanner.scan(line).map_err(not_json)?)
    }

    /// Admits and commits an event line.
    fn push(&mut self, line: &[u8]) -> Result<Seq, AppendError> {
        if let Err(error) = simdutf8::compat::from_utf8(line) {
            let syntax = Syntax { at: error.valid_up_to(), expected: "UTF-8" };
            return Err(AppendError::Syntax { part: "event", syntax });
        }
        let mut scanner = std::mem::replace(&mut self.scanner, Scanner::new(1));
        let outcome = scanner.scan(line).map_err(not_json).and_then(|scan| self.commit(&scan));
        self.scanner = scanner;
        let seq = outcome?;
        self.notify(seq);
        Ok(seq)
    }

    fn commit(&mut self, scan: &Scan<'_>) -> Result<Seq, AppendError> {
        if self.appending {
            return Err(AppendError::Reentrant);
        }
        let root = scan.root();
        if !root.is_object() {
            let syntax = Syntax { at: root.at(), expected: "an object" };
            return Err(AppendError::Syntax { part: "event", syntax });
        }
        if scan.is_canonical() || scan.fault.is_some() {
            return self.commit_canonical(scan);
        }
        let mut canonical = Vec::with_capacity(scan.text().len());
        print::canonical(root, &mut canonical);
        let mut again = Scanner::new(Limits::default().depth);
        self.commit_canonical(&again.scan(&canonical).map_err(not_json)?)
    }

    fn commit_canonical(&mut self, scan: &Scan<'_>) -> Result<Seq, AppendError> {
        let event = Event::read(scan.root(), self.log.types(), self.last);
        let admitted = self.admission.admit(scan, &event).map_err(AppendError::Violation)?;
        self.last = event.type_id;
        self.log.push(scan.text().into(), event.type_id, &admitted, &self.admission);
        self.recovery.fold(&Folded {
            event: &event,
            admitted,
            admission: &self.admission,
            line: admitted.seq + 1,
        });
        if event.role == Role::RequestHeader {
            self.header_at = Some(admitted.seq);
            self.header = OnceLock::new();
        }
        Ok(admitted.seq)
    }

    /// LIVE-3: after commit, in registration order, each isolated.
    fn notify(&mut self, seq: Seq) {
        if self.observers.is_empty() {
            return;
        }
        self.appending = true;
        let mut observers = std::mem::take(&mut self.observers);
        for (place, observer) in observers.iter_mut().enumerate() {
            // An observer that panics is one that fails: the event stands, and the others are still to see it.
            let said = catch_unwind(AssertUnwindSafe(|| observer.committed(self, seq)));
            if let Err(message) = said.unwrap_or_else(|_| Err("the observer panicked".into())) {
                self.failures.push(ObserverFailure { observer: place, seq, message });
            }
        }
        // Observers that were registered meanwhile come behind the others.
        observers.append(&mut self.observers);
        self.observers = observers;
        self.appending = false;
    }

    /// Registers an observer behind those there are.
    pub fn observe(&mut self, observer: Box<dyn Observer + Send>) {
        self.observers.push(observer);
    }

    /// What observers reported so far.
    pub fn failures(&self) -> &[ObserverFailure] {
        &self.failures
    }

    /// A fork that inherits the events up to `boundary` (FORK-1: by default all), with the marker behind them.
    pub fn fork(&self, boundary: Option<u64>, child: &str, now: Millis) -> Result<Session, ForkError> {
        if child == self.id || child.is_empty() {
            return Err(ForkError::AlreadyExists);
        }
        let count = match boundary {
            None => self.log.len(),
            Some(boundary) if boundary < self.log.len() => boundary + 1,
            Some(_) => return Err(ForkError::InvalidBoundary),
        };
        let open = (0..count).rev().find_map(|seq| match self.log.role(seq) {
            Role::TurnStart => Some(true),
            Role::TurnEnd => Some(false),
            _ => None,
        });
        if open == Some(true) {
            return Err(ForkError::OpenTurn);
        }
        let log = self.log.prefix(count).with_header(self.child_header(child, count, now));
        let surface = log.refold(count, |_, _, _, _| {});
        let admission = self.admission.before(surface, count);
        let mut fork =
            Session::with(child.to_owned(), log, admission, Recovery::at(self.log.dialect(), count));
        fork.inherited = count;
        fork.mark(true, now);
        Ok(fork)
    }

    /// FORK-3.
    fn child_header(&self, child: &str, inherited: u64, now: Millis) -> Option<Arc<[u8]>> {
        let spec = self.log.dialect().header.as_ref()?;
        let mut scanner = Scanner::new(u64::MAX);
        let parent = scanner.scan(self.log.header().unwrap_or(b"{}")).ok().map(|scan| scan.root());
        let mut line = format!("{{\"type\":\"session\",\"version\":{},\"id\":", spec.version).into_bytes();
        text::quote(child, &mut line);
        line.extend_from_slice(format!(",\"createdAt\":{now}").as_bytes());
        let keep = |line: &mut Vec<u8>, name: &str| {
            let value = parent.and_then(|parent| parent.get(name));
            if let Some(value) = value {
                line.extend_from_slice(format!(",\"{name}\":").as_bytes());
                print::canonical(value, line);
            }
            value.is_some()
        };
        keep(&mut line, "cwd");
        line.extend_from_slice(b",\"parentSession\":");
        // As the parent's header spells it: an id may hold a lone surrogate, which no text here can.
        match parent.and_then(|parent| parent.get("id")) {
            Some(id) => print::canonical(id, &mut line),
            None => text::quote(&self.id, &mut line),
        }
        if let Some(name) = &self.log.dialect().seed.length {
            line.extend_from_slice(format!(",\"{name}\":{inherited}").as_bytes());
        }
        if !keep(&mut line, "delegationDepth") {
            line.extend_from_slice(b",\"delegationDepth\":0");
        }
        keep(&mut line, "origin");
        keep(&mut line, "agentPreset");
        line.push(b'}');
        Some(line.into())
    }

    /// Closes what stands open (REPAIR-2): appends the synthetic events and returns their seqs.
    pub fn repair(&mut self) -> Result<std::ops::Range<Seq>, RepairError> {
        let first = self.log.len();
        for line in self.recovery.close().map_err(RepairError::Unrepairable)? {
            self.push(&line).map_err(RepairError::Append)?;
        }
        Ok(first..self.log.len())
    }

    /// The log as text: header line, then canonical event lines, packed into rows or not (CODEC-2).
    pub fn dump(&self, packed: bool) -> Vec<u8> {
        dump(&self.log, packed)
    }
}

/// Prints an event line over what `line` held, in the order of the envelope; says where its parts begin.
fn print_envelope(
    line: &mut Vec<u8>,
    kind: &str,
    seq: Seq,
    time: Millis,
    parts: [(&'static str, Option<&[u8]>); 3],
) -> [usize; 3] {
    line.clear();
    line.extend_from_slice(b"{\"type\":");
    text::quote(kind, line);
    line.extend_from_slice(b",\"seq\":");
    number::print_int(seq, line);
    line.extend_from_slice(b",\"time\":");
    if time < 0 {
        line.push(b'-');
    }
    number::print_int(time.unsigned_abs(), line);
    let mut places = [0; 3];
    for ((name, part), place) in parts.into_iter().zip(&mut places) {
        if let Some(part) = part {
            line.extend_from_slice(b",\"");
            line.extend_from_slice(name.as_bytes());
            line.extend_from_slice(b"\":");
            *place = line.len();
            line.extend_from_slice(part);
        }
    }
    line.push(b'}');
    places
}

/// Whether each part is one JSON text by itself: otherwise it could close the envelope and open another.
fn is_whole(scan: &Scan<'_>, places: [usize; 3], parts: [(&'static str, Option<&[u8]>); 3]) -> bool {
    let mut members = scan.root().members().skip(3);
    for ((_, part), place) in parts.into_iter().zip(places) {
        let Some(part) = part else { continue };
        let Some((_, value)) = members.next() else { return false };
        // The members before are ours or whole, so this one begins with its part; it has to end with it, too.
        let rest = scan.text().get(value.end()..place + part.len());
        if !rest.is_some_and(|rest| rest.trim_ascii().is_empty()) {
            return false;
        }
    }
    true
}

fn not_json(syntax: Syntax) -> AppendError {
    AppendError::Syntax { part: "event", syntax }
}

/// Why a session could not be repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepairError {
    /// REPAIR-6.
    Unrepairable(Unrepairable),
    /// A synthetic event was refused.
    Append(AppendError),
}

/// A log as text: header line where there is one, then canonical event lines, packed into rows or not (CODEC-2).
pub fn dump(log: &Log, packed: bool) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(header) = log.header() {
        let mut scanner = Scanner::new(u64::MAX);
        match scanner.scan(header) {
            Ok(scan) => print::canonical(scan.root(), &mut out),
            Err(_) => out.extend_from_slice(header),
        }
        out.push(b'\n');
    }
    let mut packer = Packer::default();
    let mut scanner = Scanner::new(u64::MAX);
    for line in log.events() {
        if packed && let Ok(scan) = scanner.scan(&line) {
            packer.push(scan.root(), &mut out);
        } else {
            out.extend_from_slice(&line);
            out.push(b'\n');
        }
    }
    packer.finish(&mut out);
    out
}
