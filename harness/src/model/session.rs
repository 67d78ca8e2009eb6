//! A session in memory: a list of events, and everything else recomputed on every call.

use super::event::Event;
use super::parse;
use super::relation::{inbox, life::Place, tail};
use super::rules::{Class, Mode, Refusal};
use super::surface::{self, Surface};
use super::text::{self, quote_str};
use super::tree::{Tree, Value};
use super::{Dialect, admit, check, request, rows};
use std::sync::Arc;

/// A session of the reference model.
#[derive(Clone, Debug)]
pub struct Session {
    dialect: Dialect,
    id: String,
    /// The first line of its log; the tutorial dialect has none.
    header: Option<Arc<Tree>>,
    events: Vec<Event>,
}

/// A header from its members in canonical bytes.
fn header_of(members: &[(&str, Option<String>)]) -> Option<Arc<Tree>> {
    let given = members.iter().filter_map(|(key, value)| Some(format!("\"{key}\":{}", value.as_ref()?)));
    let text = format!("{{{}}}", given.collect::<Vec<String>>().join(","));
    parse::parse(&text).map(|parsed| Arc::new(parsed.tree))
}

impl Session {
    /// An empty session. `createdAt` is 0, because the model has no clock.
    pub fn new(dialect: Dialect, id: &str) -> Session {
        let header = match dialect {
            Dialect::Tutorial => None,
            Dialect::DshV0 => header_of(&[
                ("type", Some(quote_str("session"))),
                ("version", Some("0".to_owned())),
                ("id", Some(quote_str(id))),
                ("createdAt", Some("0".to_owned())),
                ("delegationDepth", Some("0".to_owned())),
            ]),
        };
        Session { dialect, id: id.to_owned(), header, events: Vec::new() }
    }

    /// SEED-1 and SEED-2: a session constructed from events, checked as appending each of them in turn.
    pub fn from_seed(dialect: Dialect, id: &str, events: &[&str], time: i64) -> Result<Session, Refusal> {
        Session::new(dialect, id).seeded(events, time)
    }

    /// The same over a session that has nothing but its header.
    pub fn seeded(mut self, events: &[&str], time: i64) -> Result<Session, Refusal> {
        for event in events {
            self.admit(event)?;
        }
        self.mark_seed(time)?;
        Ok(self)
    }

    /// Takes a whole event, as repair writes it.
    pub fn admit_line(&mut self, event: &str) -> Result<u64, Refusal> {
        self.admit(event)
    }

    /// SEED-2: one `session/end-seed`, unless the seed already ends in one. The tutorial dialect has no such rule.
    fn mark_seed(&mut self, time: i64) -> Result<(), Refusal> {
        let marked = self.events.last().is_some_and(|event| event.is("session/end-seed"));
        if self.dialect == Dialect::DshV0 && !marked {
            self.append("session/end-seed", "{}", None, None, time)?;
        }
        Ok(())
    }

    /// Loads a log; a torn tail is dropped. Refuses with the first finding that load refuses.
    pub fn restore(dialect: Dialect, log: &[u8], zstd: bool) -> Result<Session, Refusal> {
        Session::open(dialect, Mode::Strict, log, zstd)
    }

    /// The same as `restore`, under the rules of a released reader.
    pub fn open(dialect: Dialect, mode: Mode, log: &[u8], zstd: bool) -> Result<Session, Refusal> {
        let folded = check::fold(log, zstd, dialect, mode);
        if let Some(finding) = folded.findings.iter().find(|finding| finding.class >= Class::Reject) {
            let place = format!("line {}: {} ({})", finding.line, finding.rule, finding.class.name());
            return Err(Refusal { rule: Some(finding.rule), message: place });
        }
        let id = folded.header.as_ref().and_then(|header| header.value().get("id")?.units());
        let id = id.map(String::from_utf16_lossy).unwrap_or_default();
        Ok(Session { dialect, id, header: folded.header, events: folded.events })
    }

    /// Appends an event (SURF-8), or fails and changes nothing (LIVE-2). Vocabulary is not checked (VOCAB-1).
    ///
    /// `data`, `surface_op` and `sources` are JSON texts.
    pub fn append(
        &mut self,
        kind: &str,
        data: &str,
        surface_op: Option<&str>,
        sources: Option<&str>,
        time: i64,
    ) -> Result<u64, Refusal> {
        // Each part is JSON by itself, so that no part can end another when they are put together.
        if [Some(data), sources, surface_op].into_iter().flatten().any(|part| parse::parse(part).is_none()) {
            return Err(Refusal { rule: None, message: "not JSON".to_owned() });
        }
        let member = |key: &str, value: Option<&str>| {
            value.map(|value| format!(",\"{key}\":{value}")).unwrap_or_default()
        };
        let (kind, seq) = (quote_str(kind), self.events.len());
        let sources = member("sourceEventSeqs", sources);
        let op = member("surfaceOp", surface_op);
        self.admit(&format!("{{\"type\":{kind},\"seq\":{seq},\"time\":{time},\"data\":{data}{sources}{op}}}"))
    }

    /// Takes the text of a whole event, after every check of SURF-8.
    fn admit(&mut self, event: &str) -> Result<u64, Refusal> {
        let parsed = parse::parse(event);
        let parsed = parsed.ok_or_else(|| Refusal { rule: None, message: "not JSON".to_owned() })?;
        let seq = self.events.len() as u64;
        let event = Event::new(0, seq, parsed.tree, parsed.fault, false);
        if event.whole().members().is_none() {
            return Err(Refusal { rule: None, message: "not an object".to_owned() });
        }
        match admit::refuse(&event, &self.events, self.dialect, Mode::Strict) {
            Some(rule) => Err(Refusal::rule(rule)),
            None => {
                self.events.push(event);
                Ok(seq)
            }
        }
    }

    /// The number of events.
    pub fn len(&self) -> u64 {
        self.events.len() as u64
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The header line in canonical bytes; `null` in the tutorial dialect.
    pub fn session_header(&self) -> String {
        self.header.as_ref().map_or_else(|| "null".to_owned(), |header| header.value().canonical())
    }

    /// The array of events.
    pub fn events(&self) -> String {
        text::list(self.events.iter().map(|event| event.canonical()))
    }

    /// The surface with its replacements.
    pub fn surface(&self) -> String {
        Surface::fold(&self.events).show()
    }

    /// PROJ-2: the model history.
    pub fn messages(&self) -> String {
        surface::messages(&self.events)
    }

    /// PROJ-5: the human transcript.
    pub fn transcript(&self) -> String {
        surface::transcript(&self.events)
    }

    /// REQ-1: the canonical header in force, or `null`.
    pub fn header(&self) -> String {
        request::header(&self.events)
    }

    /// REQ-3: the rebuilt request at the end of the log, or of a (turn, step, attempt from 1); nothing where there is
    /// no such step or attempt.
    pub fn request(&self, step: Option<(u64, u64, u64)>) -> Option<String> {
        let boundary = match step {
            None => self.events.len(),
            Some((turn, step, attempt)) => request::boundary(&self.events, turn, step, attempt)?,
        };
        Some(request::at_end(&self.events[..boundary]))
    }

    /// The pending messages.
    pub fn inbox(&self) -> String {
        match self.dialect {
            Dialect::Tutorial => inbox::Inbox::default().show(),
            Dialect::DshV0 => inbox::replay(&self.events, check::inherited(self.header.as_deref())).0.show(),
        }
    }

    /// The session as it stood after the event with this seq.
    pub fn at(&self, seq: u64) -> Session {
        let events = self.events.iter().filter(|event| event.seq <= seq).cloned().collect();
        Session { events, ..self.clone() }
    }

    /// FORK-1 to FORK-4: a child of the inclusive prefix, or the code of FORK-2.
    pub fn fork(&self, boundary: Option<u64>, child: &str, time: i64) -> Result<Session, &'static str> {
        if child == self.id {
            return Err("SESSION_ALREADY_EXISTS");
        }
        let length = match boundary {
            None => self.events.len(),
            Some(seq) if seq < self.len() => seq as usize + 1,
            Some(_) => return Err("INVALID_BOUNDARY"),
        };
        let events = self.events[..length].to_vec();
        if Place::behind(&events).turn.is_some() {
            return Err("OPEN_TURN");
        }
        let kept =
            |key: &str| self.header.as_ref().and_then(|header| header.value().get(key).map(Value::canonical));
        let header = self.header.as_ref().and_then(|_| {
            header_of(&[
                ("type", Some(quote_str("session"))),
                ("version", Some("0".to_owned())),
                ("id", Some(quote_str(child))),
                ("createdAt", Some(time.max(0).to_string())),
                ("cwd", kept("cwd")),
                ("parentSession", kept("id")),
                ("seedLength", Some(length.to_string())),
                ("delegationDepth", kept("delegationDepth")),
                ("origin", kept("origin")),
                ("agentPreset", kept("agentPreset")),
            ])
        });
        let mut forked = Session { dialect: self.dialect, id: child.to_owned(), header, events };
        // Only a time that is no safe integer can be refused here, and that is the caller's mistake.
        forked.mark_seed(time).map_err(|_| "INVALID_TIME")?;
        Ok(forked)
    }

    /// The log as text: the header line, then the event lines in canonical bytes, packed where CODEC-2 allows.
    pub fn dump(&self, packed: bool) -> Vec<u8> {
        let mut lines: Vec<String> = self.header.iter().map(|header| header.value().canonical()).collect();
        if packed {
            lines.extend(rows::pack(&self.events));
        } else {
            lines.extend(self.events.iter().map(|event| event.canonical().to_owned()));
        }
        lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect()
    }

    /// The synthetic events that close an open turn; none where nothing is open (REPAIR-1).
    pub fn repair(&self) -> Result<Vec<String>, Refusal> {
        match tail::open(&self.events, self.dialect) {
            None => Ok(Vec::new()),
            Some(tail) if tail.is_hopeless() => Err(Refusal::rule("REPAIR-6")),
            Some(tail) => Ok(tail.close(&self.events)),
        }
    }

    /// REQ-5: the first member in which a request differs from the one that the log rebuilds at its end.
    pub fn check_request(&self, request: &str) -> Option<String> {
        request::desync(&self.events, request)
    }
}
