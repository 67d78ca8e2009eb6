//! What resolving knows of one session: a fold of its own over the events that it made, and no cache behind it.
//!
//! It knows only what choosing needs: which nodes stand on the surface and which spans are whole, what is open, which
//! calls wait, what the stream so far assembles to. It never judges; the model and the core do that.

use crate::case::Ref;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Inside of a JSON string literal.
pub type Inner = Rc<str>;

/// A message that stands, or stood, on the surface.
#[derive(Clone, Debug)]
pub enum Node {
    /// A user message.
    User,
    /// An assistant message, with the ids of the calls that it makes.
    Assistant {
        /// Ids, in order.
        calls: Rc<[Inner]>,
        /// Whether its content is empty.
        empty: bool,
    },
    /// A tool result: the call that it answers, and its data before and behind the content that may differ (SURF-7).
    Result {
        /// The call.
        call: Inner,
        /// `data` up to the content.
        before: Rc<str>,
        /// `data` behind the content.
        behind: Rc<str>,
    },
}

/// The id of a call, and its name where it has one.
pub type Named = (Inner, Option<Inner>);

/// What a chunk adds to the stream.
#[derive(Clone, Debug)]
pub enum Chunk {
    /// A block begins.
    Begin(usize),
    /// Text, of the answer or of the reasoning, or arguments of a call.
    Delta {
        /// Which block.
        index: usize,
        /// `text`, `reasoning` or `tool-call`.
        kind: &'static str,
        /// What is added.
        text: Inner,
        /// The call's id and name, where it is one.
        call: Option<Named>,
    },
    /// A block ends and is this.
    End(usize, Rc<str>),
    /// The stream ends.
    Finish,
    /// Something that assembles to nothing.
    Other,
}

/// What an event does to a session.
#[derive(Clone, Debug)]
pub enum What {
    /// `turn/start`
    TurnStart,
    /// `turn/end`, with reason `interrupted` or another.
    TurnEnd(bool),
    /// `step/start`
    StepStart,
    /// `step/end`
    StepEnd,
    /// A message at the tail.
    Append(Node),
    /// A message in the place of a span, by the seqs of its ends.
    Replace(Node, u64, u64),
    /// `assistant/chunk`
    Chunk(Chunk),
    /// `tool/call`
    Call(Inner),
    /// `request/header`
    Header,
    /// `llm/retry-started`
    RetryStarted,
    /// `compaction/start`, with its id.
    Bracket(Rc<str>),
    /// `compaction/end`
    BracketEnd,
    /// `compaction/summary` or `compaction/prune`: the event behind it belongs to it.
    Announces,
    /// `agent/inbox/spliced`: list, start, removed, inserted ids.
    Inbox(usize, usize, usize, Rc<[Inner]>),
    /// `session/end-seed`
    EndSeed,
    /// Nothing that matters here.
    Other,
}

/// An event of a session.
#[derive(Clone, Debug)]
pub struct Made {
    /// How a later op names it.
    pub by: Ref,
    /// What it does.
    pub what: What,
}

/// A node on the surface.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Its seq.
    pub seq: u64,
    /// What it is.
    pub node: Node,
    /// Whether it got here by a replace.
    pub replacement: bool,
}

/// A call that the open step waits for.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Its id.
    pub id: Inner,
    /// Its `tool/call` events.
    pub starts: Vec<u64>,
}

/// An open compaction bracket.
#[derive(Clone, Debug)]
pub struct Bracket {
    /// Its id.
    pub id: Rc<str>,
    /// The turn that it lies in.
    pub turn: Option<u64>,
}

/// One block of a stream.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// What ended it.
    pub whole: Option<Rc<str>>,
    /// Its kind and what was streamed.
    pub joined: Option<(&'static str, String)>,
    /// The call that it is.
    pub call: Option<Named>,
}

/// A session as it stands.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// Its handle.
    pub handle: Rc<str>,
    /// Its events.
    pub events: Vec<Made>,
    /// How many of them belong to a parent.
    pub inherited: u64,
    /// Whether a reader would refuse it: it holds an event of an unknown type.
    pub poisoned: bool,
    /// How many forks lie between it and a session that was opened.
    pub generation: usize,
    /// Whether it was reloaded.
    pub resumed: bool,
    /// The open turn.
    pub turn: Option<u64>,
    /// The open step.
    pub step: Option<u64>,
    /// The last turn's number.
    pub turns: u64,
    /// The last step's number in the last turn.
    pub steps: u64,
    /// Attempts of the last step.
    pub attempts: u64,
    /// Steps so far, with their attempts.
    pub past: Vec<(u64, u64, u64)>,
    /// The surface.
    pub surface: Vec<Standing>,
    /// Replaces so far.
    pub replaces: u64,
    /// Calls without an answer in the open step.
    pub waiting: Vec<Waiting>,
    /// Call ids that the open step used.
    pub used: Vec<Inner>,
    /// The chunks of the running attempt.
    pub stream: Vec<u64>,
    /// What they assemble to.
    pub blocks: BTreeMap<usize, Block>,
    /// Whether the stream was finished.
    pub finished: bool,
    /// Whether there is a request header.
    pub header: bool,
    /// The open bracket.
    pub bracket: Option<Bracket>,
    /// The pending inbox messages, by list.
    pub inbox: [Vec<Inner>; 2],
    /// Ids that were claimed from the inbox and did not enter yet.
    pub claimed: Vec<Inner>,
    /// Observers registered on it.
    pub observers: usize,
}

impl Track {
    /// An empty session.
    pub fn new(handle: Rc<str>) -> Track {
        Track { handle, ..Track::default() }
    }

    /// The number of events.
    pub fn len(&self) -> u64 {
        self.events.len() as u64
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// How an op names the event with this seq.
    pub fn name(&self, seq: u64) -> Ref {
        self.events.get(seq as usize).map_or(Ref::Seq(seq), |made| made.by.clone())
    }

    /// The session as another one under a handle: the first `count` of its events, of which `inherited` belong to a
    /// parent.
    pub fn again(&self, handle: Rc<str>, count: u64, inherited: u64) -> Track {
        let mut track = Track { inherited, generation: self.generation, ..Track::new(handle) };
        for made in self.events.iter().take(count as usize) {
            track.push(made.clone());
        }
        track.poisoned = self.poisoned;
        // Which of the claimed messages entered already is not part of the fold.
        track.claimed.clear();
        track
    }

    /// Whether a turn is open behind the first `count` events.
    pub fn is_open_at(&self, count: u64) -> bool {
        let ends = self.events[..count as usize].iter().rev().find_map(|made| match made.what {
            What::TurnStart => Some(true),
            What::TurnEnd(_) => Some(false),
            _ => None,
        });
        ends == Some(true)
    }

    /// Places on the surface between which a span may be taken out without parting a call from its result.
    pub fn cuts(&self) -> Vec<usize> {
        let mut cuts = vec![0];
        let mut pending: Vec<&Inner> = vec![];
        for (place, standing) in self.surface.iter().enumerate() {
            match &standing.node {
                Node::User => pending.clear(),
                Node::Assistant { empty: true, .. } => {}
                Node::Assistant { calls, .. } => pending = calls.iter().collect(),
                Node::Result { call, .. } => pending.retain(|id| *id != call),
            }
            if pending.is_empty() {
                cuts.push(place + 1);
            }
        }
        cuts
    }

    /// Takes an event.
    pub fn push(&mut self, made: Made) -> u64 {
        let seq = self.len();
        match &made.what {
            What::TurnStart => {
                self.turns += 1;
                self.turn = Some(self.turns);
                self.steps = 0;
                self.close_step();
            }
            What::TurnEnd(interrupted) => {
                self.turn = None;
                self.close_step();
                if *interrupted {
                    self.bracket = None;
                }
            }
            What::StepStart => {
                self.steps += 1;
                self.close_step();
                self.step = Some(self.steps);
                self.attempts = 1;
                self.past.push((self.turns, self.steps, 1));
            }
            What::StepEnd => self.close_step(),
            What::Append(node) => self.append(seq, node.clone()),
            What::Replace(node, start, end) => self.replace(seq, node.clone(), *start, *end),
            What::Chunk(chunk) => self.chunk(seq, chunk),
            What::Call(id) => {
                if let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.id == *id) {
                    waiting.starts.push(seq);
                }
            }
            What::Header => self.header = true,
            What::RetryStarted => {
                self.end_attempt();
                if self.step.is_some() {
                    self.attempts += 1;
                    if let Some(last) = self.past.last_mut() {
                        last.2 = self.attempts;
                    }
                }
            }
            What::Bracket(id) => self.bracket = Some(Bracket { id: Rc::clone(id), turn: self.turn }),
            What::BracketEnd => self.bracket = None,
            What::Inbox(list, start, removed, inserted) => {
                if seq >= self.inherited {
                    let inserted = inserted.iter().cloned();
                    let gone: Vec<Inner> =
                        self.inbox[*list].splice(*start..start + removed, inserted).collect();
                    self.claimed.extend(gone);
                }
            }
            What::EndSeed => self.bracket = None,
            What::Announces | What::Other => {}
        }
        self.events.push(made);
        seq
    }

    fn close_step(&mut self) {
        self.step = None;
        self.waiting.clear();
        self.used.clear();
        self.end_attempt();
    }

    fn end_attempt(&mut self) {
        self.stream.clear();
        self.blocks.clear();
        self.finished = false;
    }

    fn append(&mut self, seq: u64, node: Node) {
        match &node {
            Node::Assistant { calls, .. } => {
                let waiting = calls.iter().map(|id| Waiting { id: Rc::clone(id), starts: vec![] });
                self.waiting.extend(waiting);
                self.used.extend(calls.iter().cloned());
                self.end_attempt();
            }
            Node::Result { call, .. } => self.waiting.retain(|waiting| waiting.id != *call),
            Node::User => {}
        }
        self.surface.push(Standing { seq, node, replacement: false });
    }

    fn replace(&mut self, seq: u64, node: Node, start: u64, end: u64) {
        let place = |of: u64| self.surface.iter().position(|standing| standing.seq == of);
        if let (Some(start), Some(end)) = (place(start), place(end))
            && start <= end
        {
            if matches!(node, Node::Assistant { .. }) {
                self.end_attempt();
            }
            self.surface.splice(start..=end, [Standing { seq, node, replacement: true }]);
            self.replaces += 1;
        }
    }

    fn chunk(&mut self, seq: u64, chunk: &Chunk) {
        if self.finished {
            self.end_attempt();
        }
        self.stream.push(seq);
        match chunk {
            Chunk::Delta { index, kind, text, call } => {
                let block = self.blocks.entry(*index).or_default();
                block.call = block.call.take().or_else(|| call.clone());
                block.joined.get_or_insert_with(|| (kind, String::new())).1.push_str(text);
            }
            Chunk::End(index, whole) => self.blocks.entry(*index).or_default().whole = Some(Rc::clone(whole)),
            Chunk::Finish => self.finished = true,
            Chunk::Begin(_) | Chunk::Other => {}
        }
    }
}
