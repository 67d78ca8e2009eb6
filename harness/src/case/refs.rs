//! References: how operations name the events and answers of earlier ones, and what becomes of a reference when the
//! operation that it names is taken out.

use super::op::{Append, Call, Inherited, LogSource, Op, RequestSource, Sources, SurfaceOp, View};
use super::payload::Payload;
use super::{Case, Template};
use std::ops::Range;

/// A seq in a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ref {
    /// This number.
    Seq(u64),
    /// The seq that the append at this place of the case was given; 0 when it was refused.
    Op(usize),
    /// JSON text that is perhaps no seq.
    Text(Payload),
}

impl Op {
    /// Every seq that the operation names.
    pub fn refs_mut(&mut self) -> Vec<&mut Ref> {
        match &mut self.call {
            Call::Append(Append { data, surface_op, sources, .. }) => {
                let mut refs: Vec<&mut Ref> = data.seqs_mut().collect();
                if let Some(SurfaceOp::Replace { start, end }) = surface_op {
                    refs.extend([start, end]);
                }
                if let Some(Sources::Seqs(seqs)) = sources {
                    refs.extend(seqs);
                }
                refs
            }
            Call::View { at: Some(at), .. } => vec![at],
            Call::Fork { boundary: Some(boundary), .. } => vec![boundary],
            _ => vec![],
        }
    }

    /// The place of the operation whose whole answer this one takes, when it takes one.
    pub fn answer_mut(&mut self) -> Option<&mut usize> {
        match &mut self.call {
            Call::Open { inherited: Some(Inherited::Op(op)), .. } => Some(op),
            Call::Restore { log: LogSource::Dump(op), .. } => Some(op),
            Call::CheckRequest { request: RequestSource::Tampered { op, .. } } => Some(op),
            _ => None,
        }
    }

    /// Re-points every reference to an operation.
    pub fn repoint(&mut self, mut to: impl FnMut(usize) -> usize) {
        for reference in self.refs_mut() {
            if let Ref::Op(op) = reference {
                *op = to(*op);
            }
        }
        if let Some(op) = self.answer_mut() {
            *op = to(*op);
        }
    }

    /// Whether the operation may make a node of the surface.
    pub fn makes_node(&self) -> bool {
        matches!(&self.call, Call::Append(Append { surface_op: Some(_), .. }))
    }
}

impl Case {
    /// Takes operations out. A reference to one of them then names the nearest survivor before it that makes a node,
    /// else the nearest behind it, else the seq 0; a source that would stand twice is dropped, because a list of
    /// sources may not repeat itself. Where a whole answer is taken (a dump to restore, say), the nearest survivor of
    /// the same kind gives it, else it is empty.
    pub fn without(&mut self, range: Range<usize>) {
        let range = range.start.min(self.ops.len())..range.end.min(self.ops.len());
        if range.is_empty() {
            return;
        }
        let gone = range.len();
        let old = std::mem::take(&mut self.ops);
        let keeps = |op: usize| !range.contains(&op);
        let moved = |op: usize| if op >= range.end { op - gone } else { op };
        // Nearest first: before the place, then behind it, and never at or behind the operation that refers.
        let nearest = |from: usize, user: usize, fits: &dyn Fn(&Op) -> bool| {
            let before = (0..from.min(user)).rev();
            let behind = from + 1..user;
            before.chain(behind).find(|place| keeps(*place) && fits(&old[*place])).map(moved)
        };
        let mut ops = Vec::with_capacity(old.len() - gone);
        for (user, op) in old.iter().enumerate().filter(|(user, _)| keeps(*user)) {
            let mut op = op.clone();
            let find = |from: usize| {
                let session = old.get(from).map(|op| &op.session);
                nearest(from, user, &|op| op.makes_node() && Some(&op.session) == session)
                    .or_else(|| nearest(from, user, &Op::makes_node))
            };
            let survive = |reference: &mut Ref| {
                if let Ref::Op(from) = reference {
                    let place = if keeps(*from) { Some(moved(*from)) } else { find(*from) };
                    *reference = place.map_or(Ref::Seq(0), Ref::Op);
                }
            };
            drop_repeated_sources(&mut op, &keeps, &survive);
            op.refs_mut().into_iter().for_each(survive);
            take_answer(
                &mut op,
                |from, fits| {
                    if keeps(from) { Some(moved(from)) } else { nearest(from, user, fits) }
                },
            );
            ops.push(op);
        }
        self.ops = ops;
    }
}

/// Drops the sources that are gone and whose stand-in is cited anyway. What is left is not pointed anew yet.
fn drop_repeated_sources(op: &mut Op, keeps: &dyn Fn(usize) -> bool, survive: &dyn Fn(&mut Ref)) {
    let Call::Append(Append { sources: Some(Sources::Seqs(seqs)), .. }) = &mut op.call else { return };
    let gone = |reference: &Ref| matches!(reference, Ref::Op(op) if !keeps(*op));
    let settled = |reference: &Ref| {
        let mut reference = reference.clone();
        survive(&mut reference);
        reference
    };
    let mut cited: Vec<Ref> = seqs.iter().filter(|source| !gone(source)).map(settled).collect();
    seqs.retain(|source| {
        if !gone(source) {
            return true;
        }
        let stand_in = settled(source);
        let new = !cited.contains(&stand_in);
        if new {
            cited.push(stand_in);
        }
        new
    });
}

/// Points the operation to another answer of the same kind.
fn take_answer(op: &mut Op, find: impl Fn(usize, &dyn Fn(&Op) -> bool) -> Option<usize>) {
    let is_view = |op: &Op, wanted: View| matches!(op.call, Call::View { view, .. } if view == wanted);
    match &mut op.call {
        Call::Open { inherited: Some(inherited), .. } => {
            if let Inherited::Op(from) = *inherited {
                let place = find(from, &|op| is_view(op, View::Events));
                *inherited = place.map_or(Inherited::Events(vec![]), Inherited::Op);
            }
        }
        Call::Restore { log, .. } => {
            if let LogSource::Dump(from) = *log {
                let place = find(from, &|op| matches!(op.call, Call::Dump { .. }));
                *log = place.map_or(LogSource::Bytes(Payload::default()), LogSource::Dump);
            }
        }
        Call::CheckRequest { request } => {
            if let RequestSource::Tampered { op: from, how } = *request {
                let place = find(from, &|op| is_view(op, View::Request));
                *request = match place {
                    Some(op) => RequestSource::Tampered { op, how },
                    None => RequestSource::Text("null".into()),
                };
            }
        }
        _ => {}
    }
}

impl Template {
    /// A template of one seq between two texts.
    pub fn around(before: &str, seq: Ref, behind: &str) -> Template {
        let mut template = Template::from(before);
        template.push_seq(seq);
        template.push(behind);
        template
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(sources: Option<Vec<Ref>>, surface_op: SurfaceOp) -> Op {
        let sources = sources.map(Sources::Seqs);
        let append = Append {
            kind: "user/message".into(),
            data: "{}".into(),
            surface_op: Some(surface_op),
            sources,
            time: 0,
        };
        Op::new("a", Call::Append(append))
    }

    fn replace(start: usize, end: usize, sources: &[usize]) -> Op {
        let sources = sources.iter().copied().map(Ref::Op).collect();
        node(Some(sources), SurfaceOp::Replace { start: Ref::Op(start), end: Ref::Op(end) })
    }

    fn plain() -> Op {
        node(None, SurfaceOp::Append)
    }

    fn open() -> Op {
        Op::new("a", Call::Open { header: None, inherited: None })
    }

    #[test]
    fn a_reference_goes_to_the_nearest_survivor_before_it() {
        let mut case = Case::new("dsh-v0", vec![open(), plain(), plain(), plain(), replace(2, 3, &[2, 3])]);
        case.without(2..3);
        assert_eq!(case.ops, [open(), plain(), plain(), replace(1, 2, &[1, 2])]);
        // The source that would be cited twice is dropped.
        case.without(2..3);
        assert_eq!(case.ops, [open(), plain(), replace(1, 1, &[1])]);
        // Nothing makes a node any more: the number 0 is left.
        case.without(1..2);
        let zero = SurfaceOp::Replace { start: Ref::Seq(0), end: Ref::Seq(0) };
        assert_eq!(case.ops, [open(), node(Some(vec![Ref::Seq(0)]), zero)]);
    }

    #[test]
    fn a_reference_goes_behind_when_nothing_is_before_it() {
        let mut case = Case::new("dsh-v0", vec![open(), plain(), plain(), replace(1, 2, &[1, 2])]);
        case.without(0..2);
        assert_eq!(case.ops, [plain(), replace(0, 0, &[0])]);
    }

    #[test]
    fn a_dump_that_is_gone_is_an_empty_log() {
        let dump = Op::new("a", Call::Dump { packed: false, encoding: super::super::Encoding::Plain });
        let restore = |log| Op::new("b", Call::Restore { log, encoding: super::super::Encoding::Plain });
        let mut case =
            Case::new("dsh-v0", vec![open(), dump.clone(), dump.clone(), restore(LogSource::Dump(2))]);
        case.without(2..3);
        assert_eq!(case.ops, [open(), dump, restore(LogSource::Dump(1))]);
        case.without(1..2);
        assert_eq!(case.ops, [open(), restore(LogSource::Bytes(Payload::default()))]);
    }
}
