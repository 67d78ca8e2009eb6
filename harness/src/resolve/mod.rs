//! Resolving: raw ops and the state so far become the ops of a case.
//!
//! Choices are taken modulo what exists, and what a raw op needs is put before it, so every list of raw ops resolves,
//! and what comes out is valid by construction: each event is admitted and no relation breaks. The stored and shrunk
//! form is what comes out here, because a modulus changes its meaning with every removal.

pub mod track;

use crate::case::{Append, Call, Case, Op, Ref, Sources, SurfaceOp, Template};
use crate::generators::dice::Dice;
use crate::generators::raw::{Kind, Raw, RawCase};
use crate::generators::values::Values;
use crate::generators::{faults, forks, sessions, surface, views};
use std::rc::Rc;
use track::{Inner, Made, Track, What};

/// Sessions of one case at most; more would only make each of them shorter.
pub const SESSIONS: usize = 8;

/// The state of resolving one case.
#[derive(Debug)]
pub struct Resolver {
    /// How values come out.
    pub values: Values,
    /// Chunks in one burst at most.
    pub burst: usize,
    /// The sessions.
    pub tracks: Vec<Track>,
    /// The ops so far.
    pub ops: Vec<Op>,
    /// The rule that the case breaks; it breaks one at most.
    pub rule: Option<&'static str>,
    /// Whether something was refused that breaks no rule of the contract, because it is not even JSON.
    pub broken: bool,
    /// Whether a fault is among the raw ops: then nothing else may be refused, so that the last refusal is the fault's.
    pub faulty: bool,
    current: usize,
    ids: usize,
    time: i64,
}

/// Makes a case from raw ops. It stops growing at about `size` ops.
pub fn resolve(raw: &RawCase, size: usize) -> Case {
    let mut resolver = Resolver::new(raw.values, raw.burst);
    resolver.faulty = raw.ops.iter().any(|op| op.kind == Kind::Fault);
    for op in &raw.ops {
        if resolver.ops.len() >= size {
            break;
        }
        resolver.take(op);
    }
    if raw.paths
        && let Some(last) = raw.ops.last()
    {
        forks::every_path(&mut resolver, &mut Dice::new(&last.choices));
    }
    let rule = resolver.rule.map(str::to_owned);
    Case { rule, ..Case::new("dsh-v0", resolver.ops) }
}

impl Resolver {
    /// Nothing yet but one session that is open.
    pub fn new(values: Values, burst: usize) -> Resolver {
        let mut resolver = Resolver {
            values,
            burst,
            tracks: vec![],
            ops: vec![],
            rule: None,
            broken: false,
            faulty: false,
            current: 0,
            ids: 0,
            time: 1_787_000_000_000,
        };
        let track = resolver.fresh();
        resolver.op(&track.handle, Call::Open { header: None, inherited: None });
        resolver.enter(track);
        resolver
    }

    /// Resolves one raw op.
    pub fn take(&mut self, raw: &Raw) {
        let dice = &mut Dice::new(&raw.choices);
        let at = self.choose(dice);
        match raw.kind {
            Kind::User => sessions::user(self, at, dice),
            Kind::Chunks => sessions::chunks(self, at, dice),
            Kind::Reply => sessions::reply(self, at, dice),
            Kind::Calls => sessions::calls(self, at, dice),
            Kind::Start => sessions::start(self, at, dice),
            Kind::Answer => sessions::answer(self, at, dice),
            Kind::Step => sessions::step(self, at, dice),
            Kind::Turn => sessions::turn(self, at, dice),
            Kind::Retry => sessions::retry(self, at, dice),
            Kind::Abort => sessions::abort(self, at, dice),
            Kind::Header => sessions::header(self, at, dice),
            Kind::Context => sessions::context(self, at, dice),
            Kind::Todo => sessions::todo(self, at, dice),
            Kind::Inbox => sessions::inbox(self, at, dice),
            Kind::Extension => sessions::extension(self, at, dice),
            Kind::Replace => surface::replace(self, at, dice),
            Kind::Reword => surface::reword(self, at, dice),
            Kind::Rewrite => surface::rewrite(self, at, dice),
            Kind::Compact => surface::compact(self, at, dice),
            Kind::Bracket => surface::bracket(self, at, dice),
            Kind::Fork => forks::fork(self, at, dice),
            Kind::Resume => forks::resume(self, at, dice),
            Kind::Seed => forks::seed(self, at, dice),
            Kind::Foreign => forks::foreign(self, at, dice),
            Kind::Repair => forks::repair(self, at),
            Kind::View => views::view(self, at, dice),
            Kind::Dump => views::dump(self, at, dice),
            Kind::Gate => views::gate(self, at, dice),
            Kind::Observe => views::observe(self, at, dice),
            Kind::Mutate => views::mutate(self, at, dice),
            Kind::Fault => faults::fault(self, at, dice),
        }
    }

    /// The session that an op speaks of: mostly the one before.
    fn choose(&mut self, dice: &mut Dice<'_>) -> usize {
        let sound: Vec<usize> = (0..self.tracks.len()).filter(|at| !self.tracks[*at].poisoned).collect();
        if dice.chance(48) || !sound.contains(&self.current) {
            self.current = dice.pick(&sound);
        }
        self.current
    }

    /// A session that is not open yet, under the next handle.
    pub fn fresh(&self) -> Track {
        Track::new(format!("s{}", self.tracks.len()).into())
    }

    /// Whether another session may be made.
    pub fn has_room(&self) -> bool {
        self.tracks.len() < SESSIONS
    }

    /// Keeps a session that was made, and goes on there.
    pub fn enter(&mut self, track: Track) -> usize {
        self.tracks.push(track);
        self.current = self.tracks.len() - 1;
        self.current
    }

    /// Adds an op and says its place.
    pub fn op(&mut self, handle: &str, call: Call) -> usize {
        self.ops.push(Op::new(handle, call));
        self.ops.len() - 1
    }

    /// The next moment; now and then a clock steps back.
    pub fn now(&mut self) -> i64 {
        self.ids += 1;
        self.time += if self.ids.is_multiple_of(37) { -40 } else { 7 };
        self.time
    }

    /// An id that no message of the case has, as the inside of a literal.
    pub fn id(&mut self, dice: &mut Dice<'_>) -> Inner {
        self.ids += 1;
        let strange = dice.chance(self.values.hostile);
        let word = if strange { self.values.inner(dice) } else { "m".to_owned() };
        format!("{word}-{}", self.ids).into()
    }

    /// Appends an event that is not on the surface.
    pub fn append(&mut self, at: usize, kind: &str, data: impl Into<Template>, what: What) -> u64 {
        self.event(at, kind, data.into(), None, None, what)
    }

    /// Appends an event.
    pub fn event(
        &mut self,
        at: usize,
        kind: &str,
        data: Template,
        surface_op: Option<SurfaceOp>,
        sources: Option<Vec<Ref>>,
        what: What,
    ) -> u64 {
        let sources = sources.map(Sources::Seqs);
        let append = Append { kind: kind.to_owned(), data, surface_op, sources, time: self.now() };
        let handle = Rc::clone(&self.tracks[at].handle);
        let op = self.op(&handle, Call::Append(append));
        self.tracks[at].push(Made { by: Ref::Op(op), what })
    }

    /// How ops name these events of a session.
    pub fn names(&self, at: usize, seqs: impl IntoIterator<Item = u64>) -> Vec<Ref> {
        seqs.into_iter().map(|seq| self.tracks[at].name(seq)).collect()
    }
}
