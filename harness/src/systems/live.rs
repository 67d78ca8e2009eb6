//! A live session of the core, and everything that a case may do with it.

use super::interpret::answer;
use super::{Outcome, frames};
use crate::case::{Append, Behaviour, Call, Encoding, Mutation, RequestSource, View};
use foldproof::check::{Loaded, Report};
use foldproof::event::Seq;
use foldproof::finding::Findings;
use foldproof::projection::{self, History};
use foldproof::repair::Recovery;
use foldproof::request::{self, Request, RequestHeader};
use foldproof::session::{AppendError, Draft, Observer, RepairError, Session};
use std::sync::{Arc, Mutex, PoisonError};

/// A session, and what was handed in and out.
pub(super) struct Live {
    pub(super) session: Session,
    seen: Arc<Mutex<Vec<u64>>>,
    /// The buffers of the last append.
    handed_in: [Vec<u8>; 3],
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
    pub(super) fn new(session: Session) -> Live {
        Live { session, seen: Arc::default(), handed_in: Default::default(), held: vec![] }
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

pub(super) fn append_error(error: &AppendError) -> Outcome {
    let rule = match error {
        AppendError::Violation(violation) => Some(violation.rule.id()),
        AppendError::Reentrant => Some("LIVE-4"),
        AppendError::Syntax { .. } => None,
    };
    Outcome::refused(rule, error.to_string())
}

impl Live {
    pub(super) fn call(&mut self, call: &Call, faults: &mut Vec<(&'static str, String, String)>) -> Outcome {
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
        let Some(data) = append.data.as_plain() else {
            return Outcome::refused(None, "an unresolved reference");
        };
        let [handed, surface_op, sources] = &mut self.handed_in;
        for buffer in [&mut *handed, &mut *surface_op, &mut *sources] {
            buffer.clear();
        }
        handed.extend_from_slice(data);
        let has = (append.print_surface_op(surface_op), append.print_sources(sources));
        let draft = Draft {
            kind: &append.kind,
            data: handed,
            surface_op: has.0.then_some(surface_op),
            sources: has.1.then_some(sources),
        };
        match self.session.append(draft, append.time) {
            Ok(seq) => answer::seq(seq),
            Err(error) => append_error(&error),
        }
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
            View::Messages => History::new(&prefix, &log.refold(count, |_, _, _, _| {})).to_bytes(),
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
                let admission = self.session.admission().clone();
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
