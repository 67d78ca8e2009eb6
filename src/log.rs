//! The log in memory: append-only, frozen text, free to copy.
//!
//! What was loaded stays in one immutable buffer, addressed by small records; what is appended goes into chunks that
//! held copies share. A copy is a snapshot: it never grows and never changes (LIVE-5, PROJ-4).

use crate::admit::{Admission, Admitted, Change};
use crate::codec::rows::{Row, Tag};
use crate::dialect::{Dialect, Role, Types};
use crate::event::{Event, Seq, TypeId, UNLISTED};
use crate::json::{Scan, Scanner, Value, print};
use crate::shape;
use crate::surface::{Ordinal, Surface};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Events in a chunk of appended ones.
const CHUNK: usize = 256;
/// Events that the first chunk of a log begins with: most forks and tests never have more.
const FIRST: usize = 16;
/// Records in a block of loaded ones, so that growing never moves many.
const BLOCK: usize = 8192;

/// Flags of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flags(u16);

impl Flags {
    /// Projects to a message.
    const MESSAGE: u16 = 1;
    /// On the surface by a replace.
    const REPLACE: u16 = 2;
    /// A member of a packed row; `message` is its place in the row.
    const MEMBER: u16 = 4;
    /// The text is not canonical; its canonical form is kept apart.
    const SPELLED: u16 = 8;

    fn has(self, flag: u16) -> bool {
        self.0 & flag != 0
    }
}

/// Where a loaded event is: 24 bytes an event beside the text.
#[derive(Clone, Copy, Debug)]
struct Record {
    at: u64,
    length: u32,
    message: u32,
    message_length: u32,
    kind: TypeId,
    flags: Flags,
}

/// What was loaded.
#[derive(Debug, Default)]
struct Base {
    text: Vec<u8>,
    blocks: Vec<Vec<Record>>,
    count: u64,
    /// Canonical lines of the events that were spelled otherwise, by seq.
    canonical: Vec<u8>,
    spelled: Vec<(u32, Record)>,
    /// Replacing events with the first and last node of their spans, by seq.
    replaces: Vec<(u32, Nodes)>,
}

/// The seqs of a span's first and last node.
type Nodes = (u32, u32);

impl Base {
    fn push(&mut self, record: Record) {
        match self.blocks.last_mut() {
            Some(block) if block.len() < BLOCK => block.push(record),
            _ => {
                let mut block = Vec::with_capacity(BLOCK);
                block.push(record);
                self.blocks.push(block);
            }
        }
        self.count += 1;
    }

    fn record(&self, seq: u64) -> Record {
        self.blocks[seq as usize / BLOCK][seq as usize % BLOCK]
    }

    /// The record and text of an event's canonical line.
    fn canonical(&self, seq: u64, record: Record) -> (Record, &[u8]) {
        if !record.flags.has(Flags::SPELLED) {
            return (record, slice(&self.text, record));
        }
        match self.spelled.binary_search_by_key(&(seq as u32), |(spelled, _)| *spelled) {
            Ok(place) => {
                let record = self.spelled[place].1;
                (record, slice(&self.canonical, record))
            }
            Err(_) => (record, slice(&self.text, record)),
        }
    }
}

fn slice(text: &[u8], record: Record) -> &[u8] {
    &text[record.at as usize..record.at as usize + record.length as usize]
}

/// An appended event.
#[derive(Clone, Debug)]
struct Own {
    line: Arc<[u8]>,
    message: u32,
    message_length: u32,
    kind: TypeId,
    flags: Flags,
    /// Of a replacing event.
    nodes: Nodes,
}

/// Slots that are filled once, in order; sharing a chunk while it grows is safe because what is filled never changes.
#[derive(Debug)]
struct Chunk {
    slots: Box<[OnceLock<Own>]>,
}

impl Chunk {
    fn new(size: usize) -> Arc<Self> {
        Arc::new(Chunk { slots: (0..size).map(|_| OnceLock::new()).collect() })
    }
}

/// A log of events. Copying it takes a snapshot in O(1).
#[derive(Clone, Debug)]
pub struct Log {
    dialect: Arc<Dialect>,
    types: Arc<Types>,
    header: Option<Arc<[u8]>>,
    base: Arc<Base>,
    /// How many of the loaded events belong to this log.
    base_count: u64,
    sealed: Arc<Vec<Arc<Chunk>>>,
    /// The chunk that grows; nothing before the first append.
    open: Option<Arc<Chunk>>,
    own_count: u64,
}

impl Log {
    /// An empty log; `header` is its header line without newline, where the dialect has one.
    pub fn new(dialect: Arc<Dialect>, header: Option<Arc<[u8]>>) -> Self {
        let types = dialect.types();
        Log::over(dialect, types, header, Arc::new(Base::default()))
    }

    fn over(dialect: Arc<Dialect>, types: Arc<Types>, header: Option<Arc<[u8]>>, base: Arc<Base>) -> Self {
        let base_count = base.count;
        Log { dialect, types, header, base, base_count, sealed: Arc::default(), open: None, own_count: 0 }
    }

    /// Number of events.
    pub fn len(&self) -> u64 {
        self.base_count + self.own_count
    }

    /// True when there is no event.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The dialect.
    pub fn dialect(&self) -> &Arc<Dialect> {
        &self.dialect
    }

    /// The dialect's types.
    pub fn types(&self) -> &Arc<Types> {
        &self.types
    }

    /// The header line as it was read or made, without its newline.
    pub fn header(&self) -> Option<&[u8]> {
        self.header.as_deref()
    }

    /// Whether two logs are snapshots of the same one, so that equal seqs mean equal events as far as both reach.
    pub fn is_same(&self, other: &Log) -> bool {
        Arc::ptr_eq(&self.base, &other.base)
            && match (&self.open, &other.open) {
                (Some(open), Some(other)) => Arc::ptr_eq(open, other),
                _ => self.own_count == 0 && other.own_count == 0,
            }
    }

    fn own(&self, seq: u64) -> Option<&Own> {
        let place = usize::try_from(seq.checked_sub(self.base_count)?).ok()?;
        if place as u64 >= self.own_count {
            return None;
        }
        let chunk = self.sealed.get(place / CHUNK).or(self.open.as_ref())?;
        chunk.slots.get(place % CHUNK)?.get()
    }

    /// What the type of an event means to the folds.
    pub fn role(&self, seq: Seq) -> Role {
        self.types.get(self.kind(seq)).map_or(Role::Other, |entry| entry.role)
    }

    fn kind(&self, seq: Seq) -> TypeId {
        if seq < self.base_count {
            self.base.record(seq).kind
        } else {
            self.own(seq).map_or(UNLISTED, |own| own.kind)
        }
    }

    fn flags(&self, seq: Seq) -> Flags {
        if seq < self.base_count {
            self.base.record(seq).flags
        } else {
            self.own(seq).map_or(Flags::default(), |own| own.flags)
        }
    }

    /// Whether an event got on the surface by replacing a span.
    pub fn is_replace(&self, seq: Seq) -> bool {
        self.flags(seq).has(Flags::REPLACE)
    }

    /// The canonical bytes of the message that an event projects to (PROJ-1), if it does.
    #[inline]
    pub fn message(&self, seq: Seq) -> Option<&[u8]> {
        if seq < self.base_count {
            let record = self.base.record(seq);
            if !record.flags.has(Flags::MESSAGE) {
                return None;
            }
            let (record, line) = self.base.canonical(seq, record);
            return line.get(record.message as usize..(record.message + record.message_length) as usize);
        }
        let own = self.own(seq).filter(|own| own.flags.has(Flags::MESSAGE))?;
        own.line.get(own.message as usize..(own.message + own.message_length) as usize)
    }

    /// The canonical line of an event. Members of packed rows are unpacked, which costs their place in the row: to
    /// walk many events use [`Log::events`].
    pub fn line(&self, seq: Seq) -> Option<Cow<'_, [u8]>> {
        if seq >= self.base_count {
            return self.own(seq).map(|own| Cow::Borrowed(&*own.line));
        }
        let record = self.base.record(seq);
        if record.flags.has(Flags::MEMBER) {
            let mut out = None;
            unpack(slice(&self.base.text, record), |place, line| {
                if place == record.message {
                    out = Some(line.to_vec());
                }
            });
            return out.map(Cow::Owned);
        }
        Some(Cow::Borrowed(self.base.canonical(seq, record).1))
    }

    /// The canonical lines of all events, in order.
    pub fn events(&self) -> Events<'_> {
        Events { log: self, next: 0, row: vec![].into_iter(), row_end: 0 }
    }

    /// The first `count` events as a log of its own; what either log gets later does not reach the other (FORK-4).
    pub fn prefix(&self, count: u64) -> Log {
        let mut log = Log::over(
            Arc::clone(&self.dialect),
            Arc::clone(&self.types),
            self.header.clone(),
            Arc::clone(&self.base),
        );
        log.base_count = self.base_count.min(count);
        for seq in self.base_count..count.min(self.len()) {
            if let Some(own) = self.own(seq) {
                log.push_own(own.clone());
            }
        }
        log
    }

    /// Takes the text that its events were recorded in place of.
    pub(crate) fn adopt(&mut self, text: Vec<u8>) {
        if self.base_count > 0
            && let Some(base) = Arc::get_mut(&mut self.base)
        {
            base.text = text;
        }
    }

    /// The same events under another header line.
    pub fn with_header(self, header: Option<Arc<[u8]>>) -> Log {
        Log { header, ..self }
    }

    /// The one place that pushes: an event that admission passed.
    pub(crate) fn push(
        &mut self,
        line: Arc<[u8]>,
        kind: TypeId,
        admitted: &Admitted<'_>,
        admission: &Admission,
    ) {
        let (message, message_length) = match admitted.message {
            Some(message) => (message.at() as u32, (message.end() - message.at()) as u32),
            None => (0, 0),
        };
        let nodes = span_of(admitted, admission).unwrap_or_default();
        self.push_own(Own { line, message, message_length, kind, flags: flags(admitted), nodes });
    }

    fn push_own(&mut self, own: Own) {
        let place = self.own_count as usize;
        let slot = place % CHUNK;
        let own = match &self.open {
            Some(open) => match open.slots.get(slot) {
                Some(free) => free.set(own).err(),
                None => Some(own),
            },
            None => Some(own),
        };
        // There is no chunk yet, or a small one that is full; or a snapshot of this log was continued on its own, so
        // that the slot is taken.
        if let Some(own) = own {
            let chunk = Chunk::new(if slot < FIRST && place < FIRST { FIRST } else { CHUNK });
            if let Some(open) = &self.open {
                for (slot, old) in chunk.slots.iter().zip(&open.slots[..slot]) {
                    if let Some(old) = old.get() {
                        let _ = slot.set(old.clone());
                    }
                }
            }
            let _ = chunk.slots[slot].set(own);
            self.open = Some(chunk);
        }
        self.own_count += 1;
        if self.own_count.is_multiple_of(CHUNK as u64)
            && let Some(full) = self.open.take()
        {
            Arc::make_mut(&mut self.sealed).push(full);
        }
    }

    /// The first and last node of a replacing event's span.
    fn nodes(&self, seq: Seq) -> Option<Nodes> {
        if seq >= self.base_count {
            return self.own(seq).map(|own| own.nodes);
        }
        let place = self.base.replaces.binary_search_by_key(&(seq as u32), |(replace, _)| *replace).ok()?;
        Some(self.base.replaces[place].1)
    }

    /// Folds the first `count` events again: the surface as it stood then.
    ///
    /// `each` sees every event that changed the surface, after it was folded, with the nodes that it shadowed. The
    /// events were admitted once, so that their places say everything and no text is read.
    pub fn refold(&self, count: u64, mut each: impl FnMut(&Surface, Seq, Change, &[Ordinal])) -> Surface {
        let mut surface = Surface::default();
        let mut shadowed = vec![];
        for seq in 0..count.min(self.len()) {
            if !matches!(self.role(seq), Role::Surface(_)) {
                continue;
            }
            let flags = self.flags(seq);
            let message = flags.has(Flags::MESSAGE);
            shadowed.clear();
            let change = if flags.has(Flags::REPLACE) {
                let nodes = self.nodes(seq).unwrap_or_default();
                let Ok(span) = surface.span(nodes.0.into(), nodes.1.into()) else { continue };
                shadowed.extend(surface.span_nodes(span));
                Change::Replace(surface.replace(span, seq, message))
            } else {
                Change::Append(surface.append(seq, message))
            };
            each(&surface, seq, change, &shadowed);
        }
        surface
    }
}

/// The span of a replace that was admitted last.
fn span_of(admitted: &Admitted<'_>, admission: &Admission) -> Option<Nodes> {
    let seq = |node: &Ordinal| admission.surface().seq(*node) as u32;
    match admitted.change {
        Change::Replace(_) => {
            Some((admission.shadowed().first().map(seq)?, admission.shadowed().last().map(seq)?))
        }
        _ => None,
    }
}

fn flags(admitted: &Admitted<'_>) -> Flags {
    let message = if admitted.message.is_some() { Flags::MESSAGE } else { 0 };
    let replace = if matches!(admitted.change, Change::Replace(_)) { Flags::REPLACE } else { 0 };
    Flags(message | replace)
}

/// Gives every event of a packed row as a canonical line.
fn unpack(line: &[u8], mut each: impl FnMut(u32, &[u8])) {
    let mut scanner = Scanner::new(u64::MAX);
    let Ok(scan) = scanner.scan(line) else { return };
    let root = scan.root();
    let tag = root.get("type").and_then(|kind| kind.as_str()).and_then(Tag::of);
    let Some(row) = tag.and_then(|tag| Row::read(root, tag).ok()) else { return };
    let mut out = Vec::new();
    for (place, member) in row.members().enumerate() {
        out.clear();
        row.unpack(&member, &mut out);
        each(place as u32, &out);
    }
}

/// Walks the canonical lines of a log.
pub struct Events<'a> {
    log: &'a Log,
    next: u64,
    row: std::vec::IntoIter<Vec<u8>>,
    row_end: u64,
}

impl<'a> Iterator for Events<'a> {
    type Item = Cow<'a, [u8]>;

    fn next(&mut self) -> Option<Cow<'a, [u8]>> {
        let seq = self.next;
        if seq >= self.log.len() {
            return None;
        }
        self.next += 1;
        if seq < self.row_end {
            return self.row.next().map(Cow::Owned);
        }
        if seq < self.log.base_count {
            let record = self.log.base.record(seq);
            if record.flags.has(Flags::MEMBER) {
                let mut lines = vec![];
                unpack(slice(&self.log.base.text, record), |_, line| lines.push(line.to_vec()));
                self.row_end = seq + lines.len() as u64;
                self.row = lines.into_iter();
                return self.row.next().map(Cow::Owned);
            }
        }
        self.log.line(seq)
    }
}

/// Builds a log from lines that the checker passed.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    base: Base,
    /// The lines stay where they are, in a text that the log is given in the end.
    in_place: bool,
    /// Bytes of text kept so far.
    size: usize,
    header: Option<Arc<[u8]>>,
}

impl Recorder {
    /// `size` is how much text to expect.
    pub(crate) fn with_capacity(size: usize) -> Self {
        let base = Base { text: Vec::with_capacity(size), ..Base::default() };
        Recorder { base, ..Recorder::default() }
    }

    /// For lines of a text that [`Log::adopt`] is given behind them.
    pub(crate) fn in_place() -> Self {
        Recorder { in_place: true, ..Recorder::default() }
    }

    /// Bytes of text kept so far.
    pub(crate) fn size(&self) -> u64 {
        self.size as u64
    }

    /// Keeps a line; says where. `at` is where it stands in a text that stays.
    #[inline]
    fn keep(&mut self, bytes: &[u8], at: usize) -> u64 {
        self.size += bytes.len() + 1;
        if self.in_place {
            return at as u64;
        }
        let at = self.base.text.len();
        self.base.text.extend_from_slice(bytes);
        self.base.text.push(b'\n');
        at as u64
    }

    pub(crate) fn header(&mut self, line: &[u8]) {
        self.header = Some(line.into());
    }

    pub(crate) fn event(
        &mut self,
        bytes: &[u8],
        at: usize,
        scan: &Scan<'_>,
        event: &Event<'_>,
        admitted: &Admitted<'_>,
        admission: &Admission,
    ) {
        let span = |message: Value<'_>| (message.at() as u32, (message.end() - message.at()) as u32);
        let (message, message_length) = admitted.message.map_or((0, 0), span);
        let mut record = Record {
            at: self.keep(bytes, at),
            length: bytes.len() as u32,
            message,
            message_length,
            kind: event.type_id,
            flags: flags(admitted),
        };
        // A text that was read as another one (invalid UTF-8 under a looser reading) is not its own form either.
        if let Some(nodes) = span_of(admitted, admission) {
            self.base.replaces.push((self.base.count as u32, nodes));
        }
        let same = std::ptr::eq(scan.text(), bytes) || scan.text() == bytes;
        if !scan.is_canonical() || !same {
            record.flags.0 |= Flags::SPELLED;
            let spelled = self.spelled(scan, record, admission);
            self.base.spelled.push((self.base.count as u32, spelled));
        }
        self.base.push(record);
    }

    /// Keeps the canonical form of a line that was spelled otherwise.
    #[cold]
    fn spelled(&mut self, scan: &Scan<'_>, record: Record, admission: &Admission) -> Record {
        let at = self.base.canonical.len();
        print::canonical(scan.root(), &mut self.base.canonical);
        let line = &self.base.canonical[at..];
        let mut spelled = Record { at: at as u64, length: line.len() as u32, ..record };
        let mut scanner = Scanner::new(u64::MAX);
        if record.flags.has(Flags::MESSAGE)
            && let Ok(scan) = scanner.scan(line)
            && let event = Event::read(scan.root(), admission.types(), record.kind)
            && let Role::Surface(place) = event.role
            && let Some(message) = shape::message(&admission.dialect().surface[usize::from(place)], &event)
        {
            spelled.message = message.at() as u32;
            spelled.message_length = (message.end() - message.at()) as u32;
        }
        spelled
    }

    pub(crate) fn row(&mut self, bytes: &[u8], at: usize, count: u64, chunk: TypeId) {
        let at = self.keep(bytes, at);
        for place in 0..count {
            self.base.push(Record {
                at,
                length: bytes.len() as u32,
                message: place as u32,
                message_length: 0,
                kind: chunk,
                flags: Flags(Flags::MEMBER),
            });
        }
    }

    pub(crate) fn finish(self, dialect: Arc<Dialect>, types: Arc<Types>) -> Log {
        Log::over(dialect, types, self.header, Arc::new(self.base))
    }
}
