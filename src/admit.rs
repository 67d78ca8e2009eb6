//! Admission: the checks that an event passes before it enters a log, in the contract's order (SURF-8).
//!
//! Loading, checking, seeding and appending all go through [`Admission::admit`], so they cannot disagree (LIVE-7,
//! SEED-1).

use crate::dialect::{Dialect, Part, Reading, ResultShape, Role, SurfaceType, Types};
use crate::event::{Event, Seq, describe, ill_typed};
use crate::finding::Violation;
use crate::json::{Kind, Scan, Value, print};
use crate::rule::{Rule, RuleSet};
use crate::shape;
use crate::surface::{Ordinal, Span, SpanError, Surface};
use std::sync::Arc;

/// What identifies the part of a tool result that a rewrite must keep (SURF-7).
type Digest = [u8; 16];

/// Nodes of a replace's span beyond the number of its sources that are counted for the message of SURF-6.
const UNCITED: usize = 1024;

/// The state that admission checks against: the surface and the next seq.
#[derive(Clone, Debug)]
pub struct Admission {
    dialect: Arc<Dialect>,
    types: Arc<Types>,
    rules: RuleSet,
    surface: Surface,
    next: Seq,
    /// Of each result that was ever on the surface, by ordinal.
    results: Vec<(Ordinal, Digest)>,
    sources: Vec<u64>,
    sorted: Vec<u64>,
    shadowed: Vec<Ordinal>,
    scratch: Vec<u8>,
}

/// What an admitted event did.
#[derive(Clone, Copy, Debug)]
pub struct Admitted<'a> {
    /// Its seq.
    pub seq: Seq,
    /// The message that it projects to (PROJ-1).
    pub message: Option<Value<'a>>,
    /// What it did to the surface.
    pub change: Change,
}

/// What an event did to the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    None,
    /// A node at the tail.
    Append(Ordinal),
    /// A node in the place of the span whose nodes [`Admission::shadowed`] lists.
    Replace(Ordinal),
}

impl Admission {
    /// An empty log of a dialect.
    pub fn new(dialect: Arc<Dialect>, reading: Reading) -> Self {
        Admission {
            types: dialect.types(),
            rules: dialect.enforced(reading),
            dialect,
            surface: Surface::default(),
            next: 0,
            results: vec![],
            sources: vec![],
            sorted: vec![],
            shadowed: vec![],
            scratch: vec![],
        }
    }

    /// The dialect.
    pub fn dialect(&self) -> &Arc<Dialect> {
        &self.dialect
    }

    /// The dialect's types.
    pub fn types(&self) -> &Arc<Types> {
        &self.types
    }

    /// The rules that count.
    pub fn rules(&self) -> RuleSet {
        self.rules
    }

    /// The surface as it stands.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// The seq that comes next, as stored; rejected events that were passed over count.
    pub fn next(&self) -> Seq {
        self.next
    }

    /// The nodes that the last replace shadowed, in surface order.
    pub fn shadowed(&self) -> &[Ordinal] {
        &self.shadowed
    }

    /// The sources of the last event, as it named them.
    pub fn sources(&self) -> &[u64] {
        &self.sources
    }

    /// Leaves rules out: an event that breaks one of them is admitted.
    pub(crate) fn ignore(&mut self, rules: RuleSet) {
        self.rules = rules.iter().fold(self.rules, RuleSet::without);
    }

    /// The state behind the first `count` events of the log that this one stands behind, whose surface was folded
    /// again. All rules count.
    pub(crate) fn before(&self, surface: Surface, count: u64) -> Admission {
        // Ordinals count surface events in log order, so those of the prefix are the same.
        let kept = self.results.partition_point(|(ordinal, _)| (*ordinal as usize) < surface.ever());
        let results = self.results[..kept].to_vec();
        Admission {
            surface,
            next: count,
            results,
            ..Admission::new(Arc::clone(&self.dialect), Reading::Strict)
        }
    }

    /// Admits a run of events that are not on the surface and were checked by the codec (CODEC-1).
    pub fn admit_run(&mut self, count: u64) {
        self.next += count;
    }

    /// Passes over a stored event that was rejected.
    pub fn skip(&mut self) {
        self.next += 1;
    }

    /// Checks an event in the order of SURF-8 and, when it passes, folds it. A failure changes nothing.
    #[inline]
    pub fn admit<'a>(&mut self, scan: &Scan<'a>, event: &Event<'a>) -> Result<Admitted<'a>, Violation> {
        if let Some(fault) = scan.fault_of(self.rules) {
            return Err(Violation::new(fault.rule, fault.at, lossy(scan, fault.rule, fault.at)));
        }
        event.check_envelope(self.rules)?;
        if self.rules.has(Rule::Vocab3) {
            event.check_retired(&self.dialect, &self.types)?;
        }
        let surface = match event.role {
            Role::Surface(place) => Some(usize::from(place)),
            _ => None,
        };
        let message = surface.and_then(|place| shape::message(&self.dialect.surface[place], event));
        shape::check(&self.dialect, self.rules, event, message)?;
        if let Some(seq) = event.seq
            && event.number != Some(self.next)
            && self.rules.has(Rule::Env3)
        {
            let text = format!("expected seq {}, found {}", self.next, describe(seq));
            return Err(Violation::new(Rule::Env3, seq.at(), text));
        }
        let seq = self.next;
        let Some(place) = surface else {
            if self.rules.has(Rule::Surf1)
                && let Some((name, value)) = event
                    .surface_op
                    .map(|op| ("surfaceOp", op))
                    .or(event.sources.map(|list| ("sourceEventSeqs", list)))
            {
                let text = format!("{} is not a surface event, but carries {name}", event.kind_name());
                return Err(Violation::new(Rule::Surf1, value.at(), text));
            }
            self.next += 1;
            return Ok(Admitted { seq, message: None, change: Change::None });
        };
        let dialect = Arc::clone(&self.dialect);
        self.admit_surface(&dialect.surface[place], event, message, seq)
    }

    fn admit_surface<'a>(
        &mut self,
        surface: &SurfaceType,
        event: &Event<'a>,
        message: Option<Value<'a>>,
        seq: Seq,
    ) -> Result<Admitted<'a>, Violation> {
        let span = match event.surface_op {
            None if self.rules.has(Rule::Surf1) => {
                let text = format!("{} is a surface event, but carries no surfaceOp", surface.kind);
                return Err(Violation::new(Rule::Surf1, event.root.at(), text));
            }
            None => None,
            Some(op) => self.read_op(op)?,
        };
        self.read_sources(surface, event, seq)?;
        self.shadowed.clear();
        if let Some(span) = span {
            // A span with more nodes than sources has one that is not cited among the first of them, however long it
            // is. An event that is refused must not cost what it would have shadowed.
            let most = if self.rules.has(Rule::Surf6) { self.sorted.len() + UNCITED } else { usize::MAX };
            self.shadowed.extend(self.surface.span_nodes(span).take(most));
            self.check_cover(event, self.shadowed.len() == most)?;
        }
        let digest = match surface.part {
            Part::Result => Some(self.digest(surface, event, message)),
            _ => None,
        };
        if let (Some(digest), Some(_)) = (digest, span) {
            self.check_rewrite(surface, event, digest)?;
        }
        let message = message.filter(|message| surface.part != Part::Output || !is_empty(*message));
        let change = match span {
            None => Change::Append(self.surface.append(seq, message.is_some())),
            Some(span) => Change::Replace(self.surface.replace(span, seq, message.is_some())),
        };
        if let (Some(digest), Change::Append(ordinal) | Change::Replace(ordinal)) = (digest, change) {
            self.results.push((ordinal, digest));
        }
        self.next += 1;
        Ok(Admitted { seq, message, change })
    }

    /// SURF-2 and SURF-5: no span for an append.
    fn read_op(&self, op: Value<'_>) -> Result<Option<Span>, Violation> {
        if op.as_str().is_some_and(|text| text.is("append")) {
            return Ok(None);
        }
        let spelling = &self.dialect.replace;
        let wrong = |value: Value<'_>, found: String| {
            let text = format!(
                "expected surfaceOp to be \"append\" or {{\"op\":\"replace\",\"{}\":S,\"{}\":E}}, found {found}",
                spelling.start, spelling.end
            );
            Violation::new(Rule::Surf2, value.at(), text)
        };
        if !op.is_object() {
            return Err(wrong(op, describe(op)));
        }
        let (mut named, mut start, mut end) = (None, None, None);
        for (key, value) in op.members() {
            if key.is("op") {
                named = Some(value);
            } else if key.is(&spelling.start) {
                start = Some(value);
            } else if key.is(&spelling.end) {
                end = Some(value);
            } else if spelling.exact {
                return Err(wrong(value, format!("a member `{}`", key.display())));
            }
        }
        if !named.and_then(Value::as_str).is_some_and(|text| text.is("replace")) {
            let found = named.map_or("no op".into(), |named| format!("{} as op", describe(named)));
            return Err(wrong(named.unwrap_or(op), found));
        }
        let mut ends = [(0, op); 2];
        for (end, (found, name)) in ends.iter_mut().zip([(start, &spelling.start), (end, &spelling.end)]) {
            let Some(value) = found else { return Err(wrong(op, format!("no {name}"))) };
            let Some(seq) = value.as_uint() else {
                return Err(wrong(value, format!("{} as {name}", describe(value))));
            };
            *end = (seq, value);
        }
        let [(start, start_at), (end, end_at)] = ends;
        self.surface.span(start, end).map(Some).map_err(|error| {
            let (at, text) = match error {
                SpanError::Start => (start_at, format!("{} {start} is not on the surface", spelling.start)),
                SpanError::End => (end_at, format!("{} {end} is not on the surface", spelling.end)),
                SpanError::Order => (
                    start_at,
                    format!(
                        "{} {start} stands behind {} {end} in surface order",
                        spelling.start, spelling.end
                    ),
                ),
            };
            Violation::new(Rule::Surf5, at.at(), format!("{text}; {}", self.describe_surface()))
        })
    }

    /// The surface in a few words, for the message of SURF-5.
    fn describe_surface(&self) -> String {
        let length = self.surface.len();
        let mut nodes: Vec<String> = self.surface.iter().take(12).map(|seq| seq.to_string()).collect();
        if length > 12 {
            nodes.push(format!("… {length} in all"));
        }
        format!("the surface is [{}]", nodes.join(", "))
    }

    /// SURF-3; leaves the list in `self.sources`, and sorted in `self.sorted`.
    fn read_sources(&mut self, surface: &SurfaceType, event: &Event<'_>, seq: Seq) -> Result<(), Violation> {
        self.sources.clear();
        self.sorted.clear();
        let Some(list) = event.sources else { return Ok(()) };
        let strict = self.rules.has(Rule::Surf3);
        if list.kind() != Kind::Array {
            return if strict {
                Err(ill_typed(Rule::Surf3, Some(list), event.root, "sourceEventSeqs", "an array"))
            } else {
                Ok(())
            };
        }
        let mut increasing = true;
        for item in list.elements() {
            let Some(source) = item.as_uint().filter(|source| *source < seq) else {
                if !strict {
                    continue;
                }
                let text = format!("expected sources to be seqs before {seq}, found {}", describe(item));
                return Err(Violation::new(Rule::Surf3, item.at(), text));
            };
            increasing &= self.sources.last().is_none_or(|last| *last < source);
            self.sources.push(source);
        }
        if self.sources.is_empty() && !surface.empty_sources && strict {
            let text =
                format!("sourceEventSeqs of {} is empty; leave it out when nothing is cited", surface.kind);
            return Err(Violation::new(Rule::Surf3, list.at(), text));
        }
        self.sorted.extend_from_slice(&self.sources);
        if !increasing {
            self.sorted.sort_unstable();
            if strict && let Some(pair) = self.sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                let text = format!("sourceEventSeqs names {} twice", pair[0]);
                return Err(Violation::new(Rule::Surf3, list.at(), text));
            }
        }
        Ok(())
    }

    /// SURF-6. `cut`: the span goes on behind the shadowed nodes that were collected.
    fn check_cover(&self, event: &Event<'_>, cut: bool) -> Result<(), Violation> {
        if !self.rules.has(Rule::Surf6) {
            return Ok(());
        }
        // The nodes of a span mostly stand in the order of their seqs, as the sources do, so the next is looked for
        // behind the last.
        let mut behind = 0;
        let mut missing = |ordinal: &&Ordinal| {
            let seq = self.surface.seq(**ordinal);
            if self.sorted.get(behind) != Some(&seq) {
                match self.sorted.binary_search(&seq) {
                    Ok(place) => behind = place,
                    Err(_) => return true,
                }
            }
            behind += 1;
            false
        };
        let Some(first) = self.shadowed.iter().find(&mut missing) else { return Ok(()) };
        let count = self.shadowed.iter().filter(missing).count();
        let least = if cut { "at least " } else { "" };
        let nodes = match self.shadowed.len() {
            1 => "1 node".to_owned(),
            more => format!("{least}{more} nodes"),
        };
        let text = format!(
            "the replace shadows {nodes}, but sourceEventSeqs does not cite {}{}",
            self.surface.seq(*first),
            if count > 1 { format!(" and {least}{} more of them", count - 1) } else { String::new() }
        );
        Err(Violation::new(Rule::Surf6, event.sources.or(event.surface_op).map_or(0, Value::at), text))
    }

    /// SURF-7.
    fn check_rewrite(
        &self,
        surface: &SurfaceType,
        event: &Event<'_>,
        digest: Digest,
    ) -> Result<(), Violation> {
        if !self.rules.has(Rule::Surf7) {
            return Ok(());
        }
        let at = event.surface_op.map_or(0, Value::at);
        let [target] = self.shadowed[..] else {
            let text = format!(
                "expected a {} replace to span exactly one node, found {}",
                surface.kind,
                self.shadowed.len()
            );
            return Err(Violation::new(Rule::Surf7, at, text));
        };
        let known = self.results.binary_search_by_key(&target, |(ordinal, _)| *ordinal);
        match known.map(|place| self.results[place].1) {
            Ok(old) if old == digest => Ok(()),
            Ok(_) => {
                let text = format!(
                    "expected the rewrite of {} {} to change only the content of the result, found another change in data",
                    surface.kind,
                    self.surface.seq(target)
                );
                Err(Violation::new(Rule::Surf7, event.data.map_or(at, Value::at), text))
            }
            Err(_) => {
                let text = format!(
                    "expected a {0} replace to span a {0}, found that node {1} is none",
                    surface.kind,
                    self.surface.seq(target)
                );
                Err(Violation::new(Rule::Surf7, at, text))
            }
        }
    }

    fn digest(&mut self, surface: &SurfaceType, event: &Event<'_>, message: Option<Value<'_>>) -> Digest {
        self.scratch.clear();
        let content = message.and_then(|message| message.get("content"));
        let rewritable = match surface.shape.result {
            ResultShape::Plain | ResultShape::Direct => content,
            ResultShape::Block => {
                content.and_then(|content| content.elements().next()).and_then(|block| block.get("content"))
            }
        };
        if let Some(data) = event.data {
            print::comparable(data, rewritable.map(Value::at), &mut self.scratch);
        }
        let mut digest = Digest::default();
        digest.copy_from_slice(&blake3::hash(&self.scratch).as_bytes()[..16]);
        digest
    }
}

/// PROJ-1: an assistant message with empty content only anchors usage.
fn is_empty(message: Value<'_>) -> bool {
    match message.get("content") {
        Some(content) => match content.kind() {
            Kind::Array => content.elements().next().is_none(),
            Kind::String => content.as_str().is_some_and(|text| text.is_empty()),
            _ => false,
        },
        None => true,
    }
}

/// What is wrong with a token that JSON-1 to JSON-6 refuse.
#[cold]
pub(crate) fn lossy(scan: &Scan<'_>, rule: Rule, at: usize) -> String {
    let token = scan.token(at);
    match rule {
        Rule::Json1 => format!("expected a finite number, found {token}"),
        Rule::Json2 => format!("expected no negative zero, found {token}"),
        Rule::Json3 => {
            let mut kept = Vec::new();
            crate::json::number::print(token.as_bytes(), &mut kept);
            format!(
                "expected a number that parsing keeps, found {token}, which becomes {}",
                String::from_utf8_lossy(&kept)
            )
        }
        Rule::Json5 => "expected nesting within the depth limit, found a value that lies deeper".into(),
        Rule::Json6 => format!("expected each key once in an object, found {token} again"),
        _ => rule.info().law.into(),
    }
}
