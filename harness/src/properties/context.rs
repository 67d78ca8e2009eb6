//! What a property is given.

use super::weave::Weave;
use crate::case::{Call, Case, Encoding, LogSource, Op, Payload, View, dumped};
use crate::systems::{Model, Outcome, System, Trace};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;

/// A case, what was done with it, and the way to ask more.
pub struct Context<'a> {
    /// The case.
    pub case: &'a Case,
    /// What the system did with it.
    pub trace: &'a Trace,
    model: OnceCell<Trace>,
    system: RefCell<&'a mut dyn System>,
    sessions: OnceCell<Vec<Ended>>,
    epilogue: OnceCell<Epilogue>,
}

/// A session at the end of the case.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) handle: String,
    /// The last operation on it.
    pub(crate) last: usize,
}

/// What every property about the end of a case needs, asked in one derived case.
pub(crate) struct Epilogue {
    pub(crate) case: Case,
    pub(crate) trace: Trace,
    pub(crate) sessions: Vec<Finale>,
}

/// The questions about one session at the end: places in the epilogue.
pub(crate) struct Finale {
    pub(crate) ended: Ended,
    /// The views of the live session, in the order of [`View::ALL`].
    pub(crate) live: Vec<usize>,
    /// Dump, restore and views of the same session by other ways.
    pub(crate) plain: Reloaded,
    pub(crate) packed: Reloaded,
    pub(crate) zstd: Reloaded,
    /// Constructed again from its own events.
    pub(crate) resumed: Built,
    /// A fork of all of it.
    pub(crate) fork: Built,
}

pub(crate) struct Reloaded {
    pub(crate) dump: usize,
    pub(crate) restore: usize,
    pub(crate) views: Vec<usize>,
    /// A plain dump of what was loaded.
    pub(crate) again: usize,
}

pub(crate) struct Built {
    pub(crate) made: usize,
    pub(crate) views: Vec<usize>,
}

impl<'a> Context<'a> {
    /// From a case, its trace, and the system that made it.
    pub fn new(case: &'a Case, trace: &'a Trace, system: &'a mut dyn System) -> Context<'a> {
        let (sessions, epilogue) = (OnceCell::new(), OnceCell::new());
        Context { case, trace, model: OnceCell::new(), system: RefCell::new(system), sessions, epilogue }
    }

    /// What the model did with the case. The model is slow, so it runs only when someone asks.
    pub fn model(&self) -> &Trace {
        self.model.get_or_init(|| Model.run(self.case))
    }

    /// Runs a derived case on the system.
    pub fn run(&self, case: &Case) -> Trace {
        self.system.borrow_mut().run(case)
    }

    /// Runs a derived case on the model.
    pub fn run_model(&self, case: &Case) -> Trace {
        Model.run(case)
    }

    /// What the system's own checker says of a log, when it has one.
    pub fn check(&self, log: &[u8], encoding: Encoding) -> Option<Outcome> {
        self.system.borrow_mut().check(&self.case.dialect, log, encoding)
    }

    /// The logs that the case loads or leaves, each with the operation that it belongs to.
    pub(crate) fn logs(&self) -> Vec<(usize, Payload, Encoding)> {
        let mut logs: Vec<(usize, Payload, Encoding)> = vec![];
        for (place, op) in self.case.ops.iter().enumerate() {
            match &op.call {
                Call::Restore { log: LogSource::Bytes(log), encoding } => {
                    logs.push((place, log.clone(), *encoding))
                }
                Call::Dump { encoding, .. } => {
                    logs.extend(self.trace.ok(place).map(|log| (place, dumped(log), *encoding)));
                }
                _ => {}
            }
        }
        let epilogue = self.epilogue();
        for finale in &epilogue.sessions {
            for (dump, encoding) in [(finale.plain.dump, Encoding::Plain), (finale.zstd.dump, Encoding::Zstd)]
            {
                logs.extend(epilogue.ok(dump).map(|log| (finale.ended.last, dumped(log), encoding)));
            }
        }
        logs
    }

    /// The sessions that there are at the end, by handle.
    pub(crate) fn sessions(&self) -> &[Ended] {
        self.sessions.get_or_init(|| sessions(self.case, self.trace))
    }

    /// The questions about the end.
    pub(crate) fn epilogue(&self) -> &Epilogue {
        self.epilogue.get_or_init(|| {
            let mut weave = Weave::behind(self.case);
            let sessions: Vec<Finale> =
                self.sessions().iter().map(|ended| finale(&mut weave, ended)).collect();
            let (case, _) = weave.case();
            let trace = self.run(&case);
            Epilogue { case, trace, sessions }
        })
    }
}

/// Most sessions that are asked at the end of a case.
const SESSIONS: usize = 6;

fn sessions(case: &Case, trace: &Trace) -> Vec<Ended> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for (op, step) in case.ops.iter().zip(&trace.steps) {
        if step.outcome.ok().is_some() {
            found.extend(made(op));
        }
    }
    let ended = |handle: &str| {
        let last =
            case.ops.iter().rposition(|op| op.session == handle || made(op) == Some(handle)).unwrap_or(0);
        Ended { handle: handle.to_owned(), last }
    };
    found.into_iter().map(ended).take(SESSIONS).collect()
}

/// The handle of the session that an operation makes.
pub(crate) fn made(op: &Op) -> Option<&str> {
    match &op.call {
        Call::Open { .. } | Call::Restore { .. } => Some(&op.session),
        Call::Fork { child, .. } => Some(child),
        _ => None,
    }
}

fn finale(weave: &mut Weave<'_>, ended: &Ended) -> Finale {
    let session = ended.handle.as_str();
    let live = weave.views(session, &View::ALL);
    let mut reloaded = |packed, encoding| {
        let (handle, dump, restore) = weave.reload(session, packed, encoding);
        let views = weave.views(&handle, &View::ALL);
        let again = weave.push(&handle, Call::Dump { packed: false, encoding: Encoding::Plain });
        Reloaded { dump, restore, views, again }
    };
    let plain = reloaded(false, Encoding::Plain);
    let packed = reloaded(true, Encoding::Plain);
    let zstd = reloaded(true, Encoding::Zstd);
    let (handle, made) = weave.construct(live[0]);
    let resumed = Built { made, views: weave.views(&handle, &View::ALL) };
    let child = weave.handle();
    let made = weave.push(session, Call::Fork { boundary: None, child: child.clone() });
    let fork = Built { made, views: weave.views(&child, &View::ALL) };
    Finale { ended: ended.clone(), live, plain, packed, zstd, resumed, fork }
}

impl Epilogue {
    /// The answer at a place of the epilogue.
    pub(crate) fn ok(&self, place: usize) -> Option<&str> {
        self.trace.ok(place)
    }

    /// One view of a list in the order of [`View::ALL`].
    pub(crate) fn view(&self, views: &[usize], view: View) -> Option<&str> {
        let place = View::ALL.iter().position(|known| *known == view)?;
        self.ok(*views.get(place)?)
    }

    /// The op at a place.
    pub(crate) fn op(&self, place: usize) -> &Op {
        &self.case.ops[place]
    }
}
