//! Requests: header fold, boundaries, rebuilding, and the gate (contract, section 8).

use crate::admit::Admission;
use crate::dialect::{Dialect, HeaderWhen, Role};
use crate::event::Seq;
use crate::json::{Kind, Scanner, Str, Value, print, text};
use crate::log::Log;
use crate::projection::History;
use std::fmt;

/// The request header in force: the latest snapshot, in canonical form (REQ-1, REQ-2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHeader {
    /// Seq of its event.
    pub seq: Seq,
    /// Members of the canonical header: name, canonical value, whether a request carries it behind `messages`.
    members: Vec<(String, Vec<u8>, bool)>,
    /// Members of `config`: canonical inner text of the name, canonical value.
    config: Vec<(Vec<u8>, Vec<u8>)>,
}

impl RequestHeader {
    /// The header of a log's first `count` events, if one was logged.
    pub fn fold(log: &Log, count: u64) -> Option<RequestHeader> {
        RequestHeader::read(log, RequestHeader::place(log, count)?)
    }

    /// Where the header of a log's first `count` events was logged.
    pub fn place(log: &Log, count: u64) -> Option<Seq> {
        (0..count.min(log.len())).rev().find(|seq| log.role(*seq) == Role::RequestHeader)
    }

    /// The header that one event carries.
    pub fn read(log: &Log, seq: Seq) -> Option<RequestHeader> {
        let line = log.line(seq)?;
        let mut scanner = Scanner::new(u64::MAX);
        let scan = scanner.scan(&line).ok()?;
        let header = scan.root().path(&["data", "header"]);
        Some(RequestHeader::from_value(log.dialect(), seq, header))
    }

    fn from_value(dialect: &Dialect, seq: Seq, header: Option<Value<'_>>) -> RequestHeader {
        let canonical = |value: Value<'_>| {
            let mut out = Vec::new();
            print::canonical(value, &mut out);
            out
        };
        let config = header.and_then(|header| header.get("config"));
        let mut members: Vec<(String, Vec<u8>, bool)> =
            config.map(|config| ("config".into(), canonical(config), false)).into_iter().collect();
        for member in &dialect.request.members {
            let value = header.and_then(|header| header.get(&member.name));
            if let Some(value) = value.filter(|value| counts(*value, member.when)) {
                members.push((member.name.clone(), canonical(value), member.in_request));
            }
        }
        let config = config.into_iter().flat_map(Value::members);
        let config = config.map(|(key, value)| (key.canonical().into_owned(), canonical(value))).collect();
        RequestHeader { seq, members, config }
    }

    /// The canonical object: `config`, then the dialect's members that count.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![b'{'];
        for (place, (name, value, _)) in self.members.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            text::quote(name, &mut out);
            out.push(b':');
            out.extend_from_slice(value);
        }
        out.push(b'}');
        out
    }
}

/// REQ-1: whether an optional member of a header is present.
fn counts(value: Value<'_>, when: HeaderWhen) -> bool {
    match (when, value.kind()) {
        (HeaderWhen::NotEmpty, Kind::String) => value.as_str().is_some_and(|text| !text.is_empty()),
        (HeaderWhen::NotEmpty, Kind::Array) => value.elements().next().is_some(),
        (HeaderWhen::Marks, Kind::Object) => value.members().next().is_some(),
        _ => false,
    }
}

/// A member of a request.
#[derive(Clone, Debug)]
enum Part {
    Text(Vec<u8>),
    Messages,
}

/// A rebuilt request (REQ-3). It cannot be changed; printing it gives its canonical bytes.
#[derive(Clone, Debug)]
pub struct Request {
    /// Canonical inner text of the name, and the value, in order.
    members: Vec<(Vec<u8>, Part)>,
    history: History,
}

impl Request {
    /// From a header and a history, as ECMAScript spread builds the object: a `config` member with the name of a
    /// later one keeps its place and takes the later value.
    pub fn new(header: &RequestHeader, history: History) -> Request {
        let mut members: Vec<(Vec<u8>, Part)> =
            header.config.iter().map(|(name, value)| (name.clone(), Part::Text(value.clone()))).collect();
        let mut put =
            |name: &str, part: Part| match members.iter_mut().find(|(known, _)| known == name.as_bytes()) {
                Some(member) => member.1 = part,
                None => members.push((name.into(), part)),
            };
        put("messages", Part::Messages);
        for (name, value, _) in header.members.iter().filter(|(_, _, in_request)| *in_request) {
            put(name, Part::Text(value.clone()));
        }
        Request { members, history }
    }

    /// The messages.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The canonical bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![b'{'];
        for (place, (name, part)) in self.members.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            out.push(b'"');
            out.extend_from_slice(name);
            out.extend_from_slice(b"\":");
            match part {
                Part::Text(value) => out.extend_from_slice(value),
                Part::Messages => self.history.print(&mut out),
            }
        }
        out.push(b'}');
        out
    }
}

/// Rebuilds the request of a log's first `count` events (REQ-3); nothing without a header to fold.
///
/// ```
/// # use foldproof::check::{Input, Options, load};
/// # use foldproof::request;
/// # let log = br#"{"type":"session","version":0,"id":"s","createdAt":0,"delegationDepth":0}
/// # {"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}
/// # {"type":"request/header","seq":1,"time":0,"data":{"header":{"config":{"provider":"p","model":"m"}},"reason":"initial"}}
/// # "#;
/// let loaded = load(Input::Plain(Box::new(&log[..])), &Options::default(), 0).unwrap();
/// let request = request::rebuild(&loaded.log, loaded.log.len()).unwrap();
/// assert_eq!(request.to_bytes(), br#"{"provider":"p","model":"m","messages":[]}"#);
/// ```
pub fn rebuild(log: &Log, count: u64) -> Option<Request> {
    let header = RequestHeader::fold(log, count)?;
    let log = log.prefix(count);
    let surface = log.refold(count, |_, _, _, _| {});
    Some(Request::new(&header, History::new(&log, &surface)))
}

/// A request of a log: which step and attempt it is of, and where its boundary is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boundary {
    /// The turn's number as logged.
    pub turn: f64,
    /// The step's number as logged.
    pub step: f64,
    /// 1 for the first try.
    pub attempt: u64,
    /// Number of events before the request was dispatched.
    pub count: u64,
}

/// The boundaries of all requests of a log, in order (REQ-3).
///
/// An attempt begins at its `step/start` or at the step's `llm/retry-started`; its boundary stands in front of the
/// first chunk or assistant message behind that, else of the next attempt or of the end of the step.
pub fn boundaries(log: &Log) -> Vec<Boundary> {
    let mut list: Vec<Boundary> = vec![];
    let mut open: Option<Boundary> = None;
    let mut step: Option<(f64, f64, u64)> = None;
    let mut scanner = Scanner::new(u64::MAX);
    let output = |place: u8| log.dialect().surface[usize::from(place)].part == crate::dialect::Part::Output;
    for seq in 0..log.len() {
        let here = Boundary { turn: 0.0, step: 0.0, attempt: 0, count: seq };
        let close = |open: &mut Option<Boundary>, list: &mut Vec<Boundary>| {
            if let Some(boundary) = open.take() {
                list.push(Boundary { count: here.count, ..boundary });
            }
        };
        match log.role(seq) {
            Role::StepStart => {
                close(&mut open, &mut list);
                let line = log.line(seq).unwrap_or_default();
                let number = |scan: &crate::json::Scan<'_>, name: &str| {
                    scan.root().path(&["data", name]).and_then(Value::as_double).unwrap_or(f64::NAN)
                };
                let Ok(scan) = scanner.scan(&line) else { continue };
                let (turn, number) = (number(&scan, "turn"), number(&scan, "step"));
                step = Some((turn, number, 1));
                open = Some(Boundary { turn, step: number, attempt: 1, count: seq });
            }
            Role::RetryStarted => {
                close(&mut open, &mut list);
                if let Some((turn, number, attempt)) = &mut step {
                    *attempt += 1;
                    open = Some(Boundary { turn: *turn, step: *number, attempt: *attempt, count: seq });
                }
            }
            Role::Chunk => close(&mut open, &mut list),
            Role::Surface(place) if output(place) => close(&mut open, &mut list),
            Role::StepEnd | Role::TurnEnd | Role::TurnStart => {
                close(&mut open, &mut list);
                step = None;
            }
            _ => {}
        }
    }
    if let Some(boundary) = open {
        list.push(Boundary { count: log.len(), ..boundary });
    }
    list
}

/// The boundary of one request; the last such step counts where numbers repeat.
pub fn boundary(log: &Log, turn: u64, step: u64, attempt: u64) -> Option<u64> {
    let same = |boundary: &&Boundary| {
        boundary.turn == turn as f64 && boundary.step == step as f64 && boundary.attempt == attempt
    };
    let list = boundaries(log);
    let last_start = list
        .iter()
        .rposition(|boundary| same(&&Boundary { attempt, ..*boundary }) && boundary.attempt == 1)?;
    list[last_start..].iter().find(same).map(|boundary| boundary.count)
}

/// A log-reconstruction desync: the log does not rebuild the request (REQ-5).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Desync {
    /// The session is not live, or the request names another one.
    #[error("log-reconstruction desync: the request names session {0:?}, which is not the live one")]
    NotLive(String),
    /// No step is open.
    #[error("log-reconstruction desync: the request does not follow a step/start")]
    NoStep,
    /// No header was logged.
    #[error("log-reconstruction desync: no request/header was logged")]
    NoHeader,
    /// The request is not a JSON object.
    #[error("log-reconstruction desync: the request is not a JSON object")]
    NotAnObject,
    /// A member differs from the folded header; absent is told apart from present.
    #[error("log-reconstruction desync in {name}: {difference}")]
    Member {
        /// The member.
        name: String,
        /// How it differs.
        difference: Difference,
    },
    /// The messages differ from the history.
    #[error("log-reconstruction desync in messages: message {index} differs from byte {byte} on")]
    Messages {
        /// First message that differs; the shorter list's length when one is a prefix of the other.
        index: usize,
        /// First byte of it that differs.
        byte: usize,
    },
}

/// How a member differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The log has it, the request does not.
    Missing,
    /// The request has it, the log does not.
    Added,
    /// Both have it, from this byte on with other values.
    Value(usize),
    /// It stands in another place.
    Order,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Missing => f.write_str("the log has it, the request does not"),
            Difference::Added => f.write_str("the request has it, the log does not"),
            Difference::Value(byte) => write!(f, "the values differ from byte {byte} on"),
            Difference::Order => f.write_str("it stands in another place"),
        }
    }
}

impl Desync {
    /// The member that differs, as the adapter protocol names it.
    pub fn member(&self) -> &str {
        match self {
            Desync::NotLive(_) => "session",
            Desync::NoStep => "step",
            Desync::NoHeader => "header",
            Desync::NotAnObject => "request",
            Desync::Member { name, .. } => name,
            Desync::Messages { .. } => "messages",
        }
    }
}

/// Compares a request, given as JSON text, with the one that the log rebuilds, member by member.
pub fn compare(text: &[u8], rebuilt: &Request) -> Result<(), Desync> {
    let mut scanner = Scanner::new(u64::MAX);
    let scan = match simdutf8::basic::from_utf8(text) {
        Ok(_) => scanner.scan(text).ok(),
        Err(_) => None,
    };
    let Some(root) = scan.map(|scan| scan.root()).filter(|root| root.is_object()) else {
        return Err(Desync::NotAnObject);
    };
    // A repeated key keeps its first place and takes its last value, as every parser reads it.
    let mut given: Vec<(Vec<u8>, Value<'_>)> = vec![];
    let mut places = std::collections::BTreeMap::new();
    for (key, value) in root.members() {
        let name = key.canonical().into_owned();
        match places.get(&name) {
            Some(place) => given[*place as usize].1 = value,
            None => {
                places.insert(name.clone(), given.len() as u64);
                given.push((name, value));
            }
        }
    }
    for (name, part) in &rebuilt.members {
        let member = || shown(name);
        let Some(place) = places.get(name) else {
            return Err(Desync::Member { name: member(), difference: Difference::Missing });
        };
        let value = given[*place as usize].1;
        match part {
            Part::Messages => compare_messages(value, &rebuilt.history)?,
            Part::Text(want) => {
                let mut found = Vec::new();
                print::canonical(value, &mut found);
                if found != *want {
                    let difference = Difference::Value(first_difference(&found, want));
                    return Err(Desync::Member { name: member(), difference });
                }
            }
        }
    }
    let known: std::collections::BTreeSet<&[u8]> =
        rebuilt.members.iter().map(|(name, _)| &name[..]).collect();
    if let Some((name, _)) = given.iter().find(|(name, _)| !known.contains(&name[..])) {
        let name = shown(name);
        return Err(Desync::Member { name, difference: Difference::Added });
    }
    // The bytes of a request include the order of its members, save for what ECMAScript itself reorders.
    let mut canonical = Vec::new();
    print::canonical(root, &mut canonical);
    if canonical != rebuilt.to_bytes() {
        let mut scanner = Scanner::new(u64::MAX);
        let name = scanner.scan(&canonical).ok().and_then(|scan| {
            let other = scan
                .root()
                .members()
                .zip(&rebuilt.members)
                .find(|((key, _), want)| *key.canonical() != *want.0);
            other.map(|((key, _), _)| key.display())
        });
        return Err(Desync::Member { name: name.unwrap_or_default(), difference: Difference::Order });
    }
    Ok(())
}

fn compare_messages(value: Value<'_>, history: &History) -> Result<(), Desync> {
    if value.kind() != Kind::Array {
        return Err(Desync::Messages { index: 0, byte: 0 });
    }
    let mut logged = history.iter();
    let mut found = Vec::new();
    let mut index = 0;
    for message in value.elements() {
        found.clear();
        print::canonical(message, &mut found);
        match logged.next() {
            Some(want) if want == found => index += 1,
            Some(want) => return Err(Desync::Messages { index, byte: first_difference(&found, want) }),
            None => return Err(Desync::Messages { index, byte: 0 }),
        }
    }
    if logged.next().is_some() { Err(Desync::Messages { index, byte: 0 }) } else { Ok(()) }
}

/// A name for people, from its canonical inner text.
fn shown(name: &[u8]) -> String {
    Str::new(name).display()
}

fn first_difference(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()))
}

/// The state that the gate judges a request against.
#[derive(Clone, Copy, Debug)]
pub struct Gate<'a> {
    /// Id of the live session.
    pub session: &'a str,
    /// Whether a step is open.
    pub in_step: bool,
    /// Its log.
    pub log: &'a Log,
    /// Its admission state.
    pub admission: &'a Admission,
    /// Its header.
    pub header: Option<&'a RequestHeader>,
}

/// The gate (REQ-5): passes a loop-built request only when the log rebuilds it.
///
/// `request` is immutable by its type. A history that is a snapshot of the same surface costs nothing to compare.
pub fn gate(state: &Gate<'_>, session: &str, request: &Request) -> Result<(), Desync> {
    if session != state.session {
        return Err(Desync::NotLive(session.into()));
    }
    if !state.in_step {
        return Err(Desync::NoStep);
    }
    let Some(header) = state.header else { return Err(Desync::NoHeader) };
    let history = History::new(state.log, state.admission.surface());
    let rebuilt = Request::new(header, history);
    for (place, (name, part)) in rebuilt.members.iter().enumerate() {
        let member = || shown(name);
        // A request that is as it should be has every member in its place.
        let in_place = request.members.get(place).is_some_and(|(known, _)| known == name);
        let found =
            if in_place { Some(place) } else { request.members.iter().position(|(known, _)| known == name) };
        let Some(found) = found else {
            return Err(Desync::Member { name: member(), difference: Difference::Missing });
        };
        match (part, &request.members[found].1) {
            (Part::Messages, Part::Messages) => rebuilt.history.compare(&request.history)?,
            (Part::Text(want), Part::Text(value)) if want == value => {}
            (Part::Text(want), Part::Text(value)) => {
                let difference = Difference::Value(first_difference(value, want));
                return Err(Desync::Member { name: member(), difference });
            }
            _ => return Err(Desync::Member { name: member(), difference: Difference::Value(0) }),
        }
        if found != place {
            return Err(Desync::Member { name: member(), difference: Difference::Order });
        }
    }
    match request.members.get(rebuilt.members.len()) {
        Some((name, _)) => Err(Desync::Member { name: shown(name), difference: Difference::Added }),
        None => Ok(()),
    }
}

impl History {
    /// Whether another history has the same bytes; the first difference otherwise.
    pub fn compare(&self, other: &History) -> Result<(), Desync> {
        if self.is_same(other) {
            return Ok(());
        }
        let mut theirs = other.iter();
        let mut index = 0;
        for want in self.iter() {
            match theirs.next() {
                Some(found) if found == want => index += 1,
                Some(found) => return Err(Desync::Messages { index, byte: first_difference(found, want) }),
                None => return Err(Desync::Messages { index, byte: 0 }),
            }
        }
        if theirs.next().is_some() { Err(Desync::Messages { index, byte: 0 }) } else { Ok(()) }
    }
}
