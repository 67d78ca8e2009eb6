//! Derived cases: the operations of a case with others woven in.

use crate::case::{Call, Case, Encoding, Inherited, LogSource, Op, Payload, View};

/// A derived case that is being made. Operations of the original keep their order and their meaning; questions come
/// between or behind them. Sessions that the derivation makes have handles that start with `~`.
pub(crate) struct Weave<'c> {
    source: &'c Case,
    ops: Vec<Op>,
    /// Place in the derived case, by place in the original.
    map: Vec<usize>,
    handles: usize,
}

impl<'c> Weave<'c> {
    pub(crate) fn new(source: &'c Case) -> Weave<'c> {
        Weave { source, ops: vec![], map: vec![], handles: 0 }
    }

    /// The whole original, to put questions behind it.
    pub(crate) fn behind(source: &'c Case) -> Weave<'c> {
        let mut weave = Weave::new(source);
        while weave.next().is_some() {}
        weave
    }

    /// Takes over the next operation of the original; gives its place there.
    pub(crate) fn next(&mut self) -> Option<usize> {
        let place = self.map.len();
        let mut op = self.source.ops.get(place)?.clone();
        op.repoint(|from| self.map.get(from).copied().unwrap_or(from));
        self.map.push(self.ops.len());
        self.ops.push(op);
        Some(place)
    }

    /// The place that an operation of the original got.
    pub(crate) fn at(&self, original: usize) -> usize {
        self.map.get(original).copied().unwrap_or_default()
    }

    /// Puts an operation here; gives its place.
    pub(crate) fn push(&mut self, session: &str, call: Call) -> usize {
        self.ops.push(Op::new(session, call));
        self.ops.len() - 1
    }

    /// A handle that nothing else has.
    pub(crate) fn handle(&mut self) -> String {
        self.handles += 1;
        format!("~{}", self.handles)
    }

    pub(crate) fn view(&mut self, session: &str, view: View) -> usize {
        self.push(session, Call::view(view))
    }

    /// These views, in this order.
    pub(crate) fn views(&mut self, session: &str, views: &[View]) -> Vec<usize> {
        views.iter().map(|view| self.view(session, *view)).collect()
    }

    /// Dumps a session and loads the dump as another; gives the handle, and the places of dump and restore.
    pub(crate) fn reload(
        &mut self,
        session: &str,
        packed: bool,
        encoding: Encoding,
    ) -> (String, usize, usize) {
        let dump = self.push(session, Call::Dump { packed, encoding });
        let handle = self.handle();
        let restore = self.push(&handle, Call::Restore { log: LogSource::Dump(dump), encoding });
        (handle, dump, restore)
    }

    /// Loads a log; gives the handle and the place.
    pub(crate) fn load(&mut self, log: impl Into<Payload>) -> (String, usize) {
        let handle = self.handle();
        let log = LogSource::Bytes(log.into());
        let restore = self.push(&handle, Call::Restore { log, encoding: Encoding::Plain });
        (handle, restore)
    }

    /// Constructs a session from what an `events` operation answered; gives the handle and the place.
    pub(crate) fn construct(&mut self, events: usize) -> (String, usize) {
        let handle = self.handle();
        let open = Call::Open { header: None, inherited: Some(Inherited::Op(events)) };
        let place = self.push(&handle, open);
        (handle, place)
    }

    /// The derived case.
    pub(crate) fn case(self) -> (Case, Vec<usize>) {
        let case = Case {
            dialect: self.source.dialect.clone(),
            system: self.source.system.clone(),
            ..Case::new(&self.source.dialect, self.ops)
        };
        (case, self.map)
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Payload {
        Payload(bytes)
    }
}
