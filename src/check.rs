//! A whole log through all stages, streamed in bounded memory; returns findings, never stops with one.
//!
//! Storage comes first, then the vocabulary, then the folds; the findings of an earlier stage are the only ones.
//! Because a stream is read once, folding goes on beside the storage rules and its findings are dropped when the log
//! turns out to be corrupt or unsupported.

use crate::admit::{Admission, lossy};
use crate::codec::frames::FrameError;
use crate::codec::header;
use crate::codec::lines::{Item, Lines, ReadSeek};
use crate::codec::rows::{Row, Tag};
use crate::dialect::{self, Dialect, Reading, Role};
use crate::event::{Event, TypeId, UNLISTED, describe};
use crate::finding::{Excerpt, Finding, Findings, Violation};
use crate::json::{Scan, Scanner, Syntax, Value};
use crate::limits::{EXCERPT, EXCERPT_BEYOND, EXCERPTS, FINDINGS, Limit, LimitError, Limits, READ_DEPTH};
use crate::log::{Log, Recorder};
use crate::relation::{Folded, Place, Relations};
use crate::repair::Recovery;
use crate::rule::{Class, Rule, RuleSet};
use memchr::memchr;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::Arc;

/// How to check.
#[derive(Clone, Debug)]
pub struct Options {
    /// The dialect; nothing to choose it by the first line.
    pub dialect: Option<Arc<Dialect>>,
    /// Which rules count.
    pub reading: Reading,
    /// Whether notes (JSON-7, PAIR-5) are looked for.
    pub notes: bool,
    /// Goes on behind a rejected event, as if it were not there.
    pub keep_going: bool,
    /// Findings carry the line that they stand in.
    pub excerpts: bool,
    /// Rules that are not looked at.
    pub ignore: RuleSet,
    /// Bounds.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            dialect: None,
            reading: Reading::Strict,
            notes: false,
            keep_going: false,
            excerpts: false,
            ignore: RuleSet::EMPTY,
            limits: Limits::default(),
        }
    }
}

/// A stored log to read.
pub enum Input<'a> {
    /// Plain text that is in memory.
    Text(&'a [u8]),
    /// Plain text.
    Plain(Box<dyn Read + 'a>),
    /// Zstandard frames.
    Compressed(Box<dyn ReadSeek + 'a>),
}

impl<'a> Input<'a> {
    /// Its lines. `search`: whether damage that another frame follows is told from a torn end, see
    /// [`Frames::new`](crate::codec::frames::Frames::new).
    pub fn lines(self, limits: Limits, search: bool) -> io::Result<Lines<'a>> {
        match self {
            Input::Text(text) => Ok(Lines::text(text, limits)),
            Input::Plain(source) => Ok(Lines::plain(source, limits)),
            Input::Compressed(source) => Lines::compressed(source, limits, search),
        }
    }
}

/// What a check says of a log.
#[derive(Clone, Debug)]
pub struct Report {
    /// Name of the dialect that the log was read as.
    pub dialect: String,
    /// Events folded; 0 when the log is corrupt or unsupported.
    pub events: u64,
    /// What was found.
    pub findings: Findings,
    /// What the header claims, where it could be read.
    pub header: Option<HeaderFacts>,
    /// Nodes on the surface, replaces, and messages at the end.
    pub surface: SurfaceFacts,
    /// Decoded bytes read.
    pub bytes: u64,
}

/// What a header claims of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderFacts {
    /// `id`
    pub id: Option<String>,
    /// `parentSession`
    pub parent: Option<String>,
    /// `seedLength`
    pub inherited: Option<u64>,
    /// The header line.
    pub line: Vec<u8>,
}

/// The surface in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SurfaceFacts {
    /// Current nodes.
    pub nodes: u64,
    /// Replaces so far.
    pub replaces: u64,
    /// Current nodes that project to a message.
    pub messages: u64,
}

impl Report {
    /// The strongest class found, by name; `accept` when there is nothing above a note and `note` when notes were
    /// looked for and found.
    pub fn verdict(&self) -> &'static str {
        self.findings.strongest().map_or("accept", Class::name)
    }
}

/// Checks a stored log.
///
/// ```
/// use foldproof::check::{Input, Options, check};
/// let log = br#"{"type":"session","version":0,"id":"s","createdAt":0,"delegationDepth":0}
/// {"type":"turn/start","seq":0,"time":0,"data":{"turn":2}}
/// "#;
/// let report = check(Input::Plain(Box::new(&log[..])), &Options::default()).unwrap();
/// assert_eq!(report.verdict(), "relation");
/// let rules: Vec<&str> = report.findings.list.iter().map(|finding| finding.rule.id()).collect();
/// assert_eq!(rules, ["LIFE-1", "REPAIR-2"]);
/// ```
pub fn check(input: Input<'_>, options: &Options) -> Result<Report, FrameError> {
    Ok(run(input, options, None)?.report)
}

/// A log that was read into memory.
#[derive(Debug)]
pub struct Loaded {
    /// What the check of it said.
    pub report: Report,
    /// The events that were folded: all of them, or those before the first rejected one. Empty when the log is
    /// corrupt or unsupported.
    pub log: Log,
    /// The surface behind them.
    pub admission: Admission,
    /// What stands open behind them.
    pub recovery: Recovery,
}

/// Reads a stored log into memory, through the same checks as [`check`].
///
/// `size` is how many bytes of text to expect, as far as that is known.
pub fn load(input: Input<'_>, options: &Options, size: usize) -> Result<Loaded, FrameError> {
    run(input, options, Some(Recorder::with_capacity(size)))
}

/// Reads a plain log that is in memory, as [`load`] does, and keeps its text where it is.
pub fn load_text(text: Vec<u8>, options: &Options) -> Result<Loaded, FrameError> {
    let mut loaded = run(Input::Text(&text), options, Some(Recorder::in_place()))?;
    loaded.log.adopt(text);
    Ok(loaded)
}

/// Checks a stored log as [`check`] does, and says what stands open at its end: what a repair needs of a log that is not
/// held in memory.
pub fn inspect(input: Input<'_>, options: &Options) -> Result<(Report, Recovery), FrameError> {
    let Loaded { report, recovery, .. } = run(input, options, None)?;
    Ok((report, recovery))
}

fn run(input: Input<'_>, options: &Options, recorder: Option<Recorder>) -> Result<Loaded, FrameError> {
    let search = match options.reading {
        Reading::Strict => true,
        Reading::Released(_) => false,
    };
    let mut lines = input.lines(options.limits, search)?;
    let compressed = lines.is_compressed();
    let mut checker = Checker::new(options, compressed);
    checker.recorder = recorder;
    loop {
        match lines.read()? {
            Item::Line { bytes, number, at, ended, sealed } => {
                checker.at = at;
                if checker.line(bytes, number, ended).map_err(FrameError::Limit)? == Flow::Stop {
                    break;
                }
                // There is no torn tail inside a complete frame, so nothing behind the damage can change what it is.
                if sealed && checker.is_damaged() && checker.identified != Some(false) {
                    checker.frame_end();
                    break;
                }
            }
            Item::FrameEnd => checker.frame_end(),
            Item::Torn => checker.torn(),
            Item::Damage(what) => {
                checker.frame_damage(what);
                break;
            }
            Item::End => break,
        }
    }
    let bytes = lines.bytes_read();
    Ok(checker.finish(bytes))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    On,
    Stop,
}

/// Damage that was found, while it is not decided whether it is a torn tail.
struct Damage {
    finding: Finding,
    /// Whether a committed turn end follows, or the damage stands in a complete frame.
    committed: bool,
}

struct Checker<'o> {
    options: &'o Options,
    compressed: bool,
    scanner: Scanner,
    admission: Admission,
    rules: RuleSet,
    relations: Relations,
    recovery: Recovery,
    header: Option<HeaderFacts>,
    inherited: Option<u64>,
    /// Offset in the header of the member that says so.
    inherited_at: usize,
    findings: Findings,
    /// A finding that makes all others void.
    fatal: Option<Finding>,
    unsupported: Option<Finding>,
    damage: Option<Damage>,
    /// The first rejected event stops folding, but not the storage rules.
    folding: bool,
    first_line: bool,
    expected: u64,
    events: u64,
    last: TypeId,
    lines: u64,
    /// Where the line begins in the text, when that is in memory.
    at: usize,
    /// File line of the last line that a finished frame held.
    frame_lines: u64,
    /// The seq that the next frame begins with.
    frame_seq: u64,
    recorder: Option<Recorder>,
    /// The log has no header line and could be a tutorial: whether a message with an id was seen.
    identified: Option<bool>,
    /// The last turn/start and the last prune with their file lines, where excerpts were asked for.
    kept: [Option<(u64, Excerpt)>; 2],
    /// The last excerpt and its file line: findings in one line share it.
    shared: RefCell<Option<(u64, Excerpt)>>,
    /// Bytes that excerpts hold so far.
    excerpted: Cell<usize>,
}

/// What the relations found in one line. A line can hold millions of breaches; those beyond what is kept are counted.
#[derive(Default)]
struct Breaches {
    list: Vec<(Rule, Place, String)>,
    more: BTreeMap<Rule, u64>,
}

impl Breaches {
    fn add(&mut self, rule: Rule, place: Place, text: String) {
        if self.list.len() < FINDINGS || self.list.iter().all(|(known, ..)| *known != rule) {
            self.list.push((rule, place, text));
        } else {
            *self.more.entry(rule).or_default() += 1;
        }
    }
}

impl<'o> Checker<'o> {
    fn new(options: &'o Options, compressed: bool) -> Self {
        let dialect = options.dialect.clone().unwrap_or_else(|| Arc::new(dialect::dsh_v0()));
        let mut checker = Checker {
            options,
            compressed,
            scanner: Scanner::new(options.limits.depth),
            admission: Admission::new(Arc::clone(&dialect), options.reading),
            rules: RuleSet::EMPTY,
            relations: Relations::new(RuleSet::EMPTY, 0),
            recovery: Recovery::new(&dialect),
            header: None,
            inherited: None,
            inherited_at: 0,
            findings: Findings::default(),
            fatal: None,
            unsupported: None,
            damage: None,
            folding: true,
            first_line: true,
            expected: 0,
            events: 0,
            last: UNLISTED,
            lines: 0,
            at: 0,
            frame_lines: 0,
            frame_seq: 0,
            recorder: None,
            identified: None,
            kept: [None, None],
            shared: RefCell::new(None),
            excerpted: Cell::new(0),
        };
        checker.use_dialect(dialect);
        checker
    }

    fn use_dialect(&mut self, dialect: Arc<Dialect>) {
        self.admission = Admission::new(Arc::clone(&dialect), self.options.reading);
        self.admission.ignore(self.options.ignore);
        self.rules = self.admission.rules();
        if !self.options.notes {
            self.rules = self.rules.without(Rule::Json7).without(Rule::Pair5);
        }
        self.relations = Relations::new(self.rules, 0);
        self.recovery = Recovery::new(&dialect);
        self.scanner = self.new_scanner();
    }

    /// A scanner for the lines of the log. Where JSON-5 does not count, deeper values are looked into like any others.
    fn new_scanner(&self) -> Scanner {
        let indexed = if self.rules.has(Rule::Json5) { 0 } else { READ_DEPTH };
        Scanner::indexing(self.options.limits.depth, indexed)
    }

    /// A line that nobody could look into to its end: only where JSON-5 does not refuse it first.
    fn bound_depth(&self, scan: &Scan<'_>, line: u64) -> Result<(), LimitError> {
        if scan.unindexed.is_some() && !self.rules.has(Rule::Json5) {
            return Err(LimitError { limit: Limit::Depth, bound: READ_DEPTH, line });
        }
        Ok(())
    }

    fn is_damaged(&self) -> bool {
        self.damage.is_some()
    }

    fn dialect(&self) -> &Arc<Dialect> {
        self.admission.dialect()
    }

    fn line(&mut self, bytes: &[u8], number: u64, ended: bool) -> Result<Flow, LimitError> {
        self.lines = number;
        if self.first_line {
            self.first_line = false;
            if self.options.dialect.is_none() {
                self.choose_dialect(bytes);
            }
            if self.dialect().header.is_some() {
                return self.header(bytes, number, ended);
            }
        }
        // The scanner's buffers are lent out while the rest of the checker changes.
        let mut scanner = std::mem::replace(&mut self.scanner, Scanner::new(1));
        let flow = self.record(&mut scanner, bytes, number, ended);
        self.scanner = scanner;
        flow
    }

    /// The dialect by the first line: a header by its version, an event by whether messages have ids.
    fn choose_dialect(&mut self, bytes: &[u8]) {
        let depth = self.options.limits.depth;
        let mut scanner = Scanner::new(depth);
        if simdutf8::basic::from_utf8(bytes).is_err() {
            return;
        }
        let Ok(scan) = scanner.scan(bytes) else { return };
        let root = scan.root();
        let kind = root.get("type").and_then(Value::as_str);
        let version = root.get("version").and_then(Value::as_double);
        match (kind, version) {
            (_, Some(version)) => {
                let known = (version >= 0.0 && version.fract() == 0.0).then_some(version as u64);
                if let Some(dialect) = known.and_then(dialect::by_version) {
                    self.use_dialect(Arc::new(dialect));
                }
            }
            (Some(kind), None) if !kind.is("session") => {
                // Whether this is a tutorial is known at the end; until then it is read as one.
                self.use_dialect(Arc::new(dialect::tutorial()));
                self.identified = Some(false);
            }
            _ => {}
        }
    }

    fn header(&mut self, bytes: &[u8], number: u64, ended: bool) -> Result<Flow, LimitError> {
        let dialect = Arc::clone(self.dialect());
        let Some(spec) = &dialect.header else { return Ok(Flow::On) };
        let mut scanner = self.new_scanner();
        let outcome = match self.read_text(bytes) {
            Err(violation) => {
                // A future version is named as such even where the rest of its header cannot be read.
                let text = String::from_utf8_lossy(bytes);
                match scanner.scan(text.as_bytes()).ok().map(|scan| header::check_version(spec, scan.root()))
                {
                    Some(Err(version)) => Err(version),
                    _ => Err(Violation { rule: Rule::Store1, ..violation }),
                }
            }
            Ok(text) => match scanner.scan(&text) {
                Err(_) if let Some(nul) = nul(&text) => Err(Violation { rule: Rule::Store1, ..nul }),
                Err(syntax) => Err(Violation::new(Rule::Store1, syntax.at, {
                    if text.iter().all(u8::is_ascii_whitespace) {
                        "expected the session header, found a blank line".into()
                    } else if text.starts_with(b"\xef\xbb\xbf") {
                        "expected the session header, found a byte-order mark in front of it".into()
                    } else {
                        unparsable("the header", syntax)
                    }
                })),
                Ok(scan) => match self.as_released(&scan, number)? {
                    None => self.read_header(spec, &dialect, &scan, ended),
                    Some(kept) => {
                        let mut again = self.new_scanner();
                        match again.scan(&kept) {
                            Ok(scan) => self.read_header(spec, &dialect, &scan, ended),
                            Err(syntax) => {
                                Err(Violation::new(Rule::Store1, syntax.at, unparsable("the header", syntax)))
                            }
                        }
                    }
                },
            },
        };
        Ok(match outcome {
            Ok(()) => Flow::On,
            Err(violation) => {
                let class = if violation.rule == Rule::Store2 { Class::Unsupported } else { Class::Corrupt };
                self.fatal = Some(self.finding(violation, class, number, None, bytes));
                Flow::Stop
            }
        })
    }

    fn read_header(
        &mut self,
        spec: &dialect::HeaderSpec,
        dialect: &Dialect,
        scan: &Scan<'_>,
        ended: bool,
    ) -> Result<(), Violation> {
        let root = scan.root();
        if !root.is_object() {
            let text = format!("expected the header to be an object, found {}", describe(root));
            return Err(Violation::new(Rule::Store1, root.at(), text));
        }
        let text = |name: &str| root.get(name).and_then(Value::as_str).map(|text| text.display());
        self.header = Some(HeaderFacts {
            id: text("id"),
            parent: text("parentSession"),
            inherited: header::inherited(dialect, root),
            line: scan.text().to_vec(),
        });
        header::check_version(spec, root)?;
        // Without a version that can be compared the line is no header, whatever else is wrong with it.
        if !ended {
            let text = "expected the header line to end in a newline, found none: a header is written whole";
            return Err(Violation::new(Rule::Store1, scan.text().len(), text));
        }
        if let Some(fault) = scan.fault_of(self.rules)
            && root.get("version").is_some_and(|version| version.as_double().is_some())
        {
            let text = format!("{}, in the header", lossy(scan, fault.rule, fault.at));
            return Err(Violation::new(fault.rule, fault.at, text));
        }
        header::check(spec, root)?;
        if let Some(recorder) = &mut self.recorder {
            recorder.header(scan.text());
        }
        self.inherited = header::inherited(dialect, root);
        self.inherited_at = header::inherited_at(dialect, root, scan.text());
        self.relations = Relations::new(self.rules, self.inherited.unwrap_or(0));
        if self.options.notes {
            for (name, value) in header::unknown(spec, root) {
                let violation = Violation::new(
                    Rule::Store1,
                    value.at(),
                    format!("the header field `{name}` is unknown, and kept"),
                );
                let finding = self.finding(violation, Class::Note, 1, None, scan.text());
                self.findings.push(finding);
            }
            self.spelling(scan, 1, None);
        }
        Ok(())
    }

    /// One line behind the header.
    fn record(
        &mut self,
        scanner: &mut Scanner,
        bytes: &[u8],
        number: u64,
        ended: bool,
    ) -> Result<Flow, LimitError> {
        if let Some(Damage { committed, .. }) = self.damage {
            // Whether the log is a tutorial is still open; a message with an id behind the damage decides it too.
            let undecided = self.identified == Some(false);
            if undecided && ended {
                self.identify_line(scanner, bytes);
            }
            if committed {
                return Ok(if undecided { Flow::On } else { Flow::Stop });
            }
            if ended
                && is_turn_end(scanner, bytes)
                && let Some(damage) = &mut self.damage
            {
                damage.committed = true;
            }
            return Ok(Flow::On);
        }
        if !ended {
            if self.compressed {
                let text = "expected the last line of a complete frame to end in a newline, found none: no line spans two frames";
                let violation = Violation::new(Rule::Codec3, bytes.len(), text);
                self.damaged(violation, number, bytes, true);
            } else {
                let text = "the last line has no newline, so it was never committed";
                self.damaged(Violation::new(Rule::Store5, bytes.len(), text), number, bytes, false);
            }
            return Ok(Flow::On);
        }
        let text = match self.read_text(bytes) {
            Ok(text) => text,
            Err(violation) => {
                let committed = is_turn_end(scanner, bytes);
                self.damaged(violation, number, bytes, committed);
                return Ok(Flow::On);
            }
        };
        let scan = match scanner.scan(&text) {
            Ok(scan) => scan,
            Err(syntax) => {
                self.damaged(not_json(&text, syntax), number, bytes, false);
                return Ok(Flow::On);
            }
        };
        if let Some(kept) = self.as_released(&scan, number)? {
            let mut again = self.new_scanner();
            if let Ok(scan) = again.scan(&kept) {
                return self.scanned(&scan, number, bytes);
            }
        }
        self.scanned(&scan, number, bytes)
    }

    /// A text with repeated keys, where those are not refused, as the released parser takes it: first place and last
    /// value.
    fn as_released(&self, scan: &Scan<'_>, line: u64) -> Result<Option<Vec<u8>>, LimitError> {
        self.bound_depth(scan, line)?;
        if !scan.irregular || self.rules.has(Rule::Json6) {
            return Ok(None);
        }
        // A line that is refused for another reason stays as it is, so that the reason and its place are not lost.
        if scan.unindexed.is_some() || scan.fault_of(self.rules).is_some() {
            return Ok(None);
        }
        let mut kept = Vec::with_capacity(scan.text().len());
        crate::json::print::canonical(scan.root(), &mut kept);
        Ok(Some(kept))
    }

    fn scanned(&mut self, scan: &Scan<'_>, number: u64, bytes: &[u8]) -> Result<Flow, LimitError> {
        let root = scan.root();
        if !root.is_object() {
            let text = format!("expected a record to be an object, found {}", describe(root));
            self.damaged_or_committed(Violation::new(Rule::Store3, root.at(), text), number, bytes, root);
            return Ok(Flow::On);
        }
        let event = Event::read(root, self.admission.types(), self.last);
        if event.type_id == UNLISTED
            && self.dialect().packed_rows
            && let Some(tag) = event.kind.and_then(Value::as_str).and_then(Tag::of)
        {
            return self.row(scan, tag, number, bytes);
        }
        self.last = event.type_id;
        if event.number != Some(self.expected) {
            let found = event.seq.map_or("none".into(), describe);
            let text = format!("expected seq {}, found {found}", self.expected);
            let at = event.seq.unwrap_or(root).at();
            self.damaged_or_committed(Violation::new(Rule::Store3, at, text), number, bytes, root);
            return Ok(Flow::On);
        }
        self.expected += 1;
        self.bound_events()?;
        self.identify(&event);
        if self.rules.has(Rule::Vocab1) && self.unsupported.is_none() && event.is_unknown(self.dialect()) {
            let text = format!(
                "the type \"{}\" of seq {} is not in the vocabulary of {} and not ignorable: refusing to interpret the log, \
                 it was likely written by a newer harness",
                event.kind_name(),
                self.expected - 1,
                self.dialect().name
            );
            let violation = Violation::new(Rule::Vocab1, event.kind.map_or(0, Value::at), text);
            self.unsupported =
                Some(self.finding(violation, Class::Unsupported, number, Some(self.expected - 1), bytes));
        }
        if self.folding && self.unsupported.is_none() {
            self.fold(scan, &event, number, bytes)?;
        }
        Ok(Flow::On)
    }

    fn fold(
        &mut self,
        scan: &Scan<'_>,
        event: &Event<'_>,
        line: u64,
        bytes: &[u8],
    ) -> Result<(), LimitError> {
        match self.admission.admit(scan, event) {
            Err(violation) => {
                let seq = self.expected - 1;
                let finding = self.finding(violation, Class::Reject, line, Some(seq), bytes);
                self.findings.push(finding);
                self.admission.skip();
                self.folding = self.options.keep_going;
            }
            Ok(admitted) => {
                self.events += 1;
                if let Some(recorder) = &mut self.recorder {
                    recorder.event(bytes, self.at, scan, event, &admitted, &self.admission);
                    bound_held(recorder, &self.options.limits, line)?;
                }
                self.spelling(scan, line, Some(admitted.seq));
                let folded = Folded { event, admitted, admission: &self.admission, line };
                self.recovery.fold(&folded);
                let mut found = Breaches::default();
                self.relations
                    .fold(&folded, &mut |rule, place, text| found.add(rule, place, text))
                    .map_err(|error| LimitError { line, ..error })?;
                self.relate(found, bytes);
                self.keep(event, line, bytes);
            }
        }
        Ok(())
    }

    /// Keeps the lines in which later events can show a fault: an open turn's start, a prune.
    fn keep(&mut self, event: &Event<'_>, line: u64, bytes: &[u8]) {
        if !self.options.excerpts {
            return;
        }
        let at = event.kind.map_or(0, Value::at);
        match event.role {
            Role::TurnStart => self.kept[0] = Some((line, excerpt(bytes, at, EXCERPT))),
            Role::CompactionPrune => self.kept[1] = Some((line, excerpt(bytes, at, EXCERPT))),
            _ => {}
        }
    }

    /// The line of a finding that stands before the line that was read last.
    fn kept(&self, line: u64) -> Option<Excerpt> {
        self.kept.iter().flatten().find(|(kept, _)| *kept == line).map(|(_, excerpt)| excerpt.clone())
    }

    fn relate(&mut self, found: Breaches, bytes: &[u8]) {
        for (rule, place, text) in found.list {
            // A prune is reported where it stands, which is a line before.
            let text_of_line: &[u8] = if place.line == self.lines { bytes } else { &[] };
            let violation = Violation::new(rule, place.at, text);
            let mut finding =
                self.finding(violation, rule.info().class, place.line, Some(place.seq), text_of_line);
            finding.excerpt = finding.excerpt.or_else(|| self.kept(place.line));
            self.findings.push(finding);
        }
        for (rule, count) in found.more {
            self.findings.count(rule, rule.info().class, count);
        }
    }

    fn row(&mut self, scan: &Scan<'_>, tag: Tag, line: u64, bytes: &[u8]) -> Result<Flow, LimitError> {
        let root = scan.root();
        let row = match Row::read(root, tag) {
            Ok(row) => row,
            Err(violation) => {
                self.damaged_or_committed(violation, line, bytes, root);
                return Ok(Flow::On);
            }
        };
        if row.first != self.expected {
            let text = format!("expected seq0 {}, found {}", self.expected, row.first);
            let at = root.get("seq0").unwrap_or(root).at();
            self.damaged_or_committed(Violation::new(Rule::Store3, at, text), line, bytes, root);
            return Ok(Flow::On);
        }
        self.expected += row.count;
        self.bound_events()?;
        if !self.folding || self.unsupported.is_some() {
            return Ok(Flow::On);
        }
        if let Some(fault) = scan.fault_of(self.rules) {
            let text = lossy(scan, fault.rule, fault.at);
            let violation = Violation::new(fault.rule, fault.at, text);
            let finding = self.finding(violation, Class::Reject, line, Some(row.first), bytes);
            self.findings.push(finding);
            self.admission.admit_run(row.count);
            self.folding = self.options.keep_going;
            return Ok(Flow::On);
        }
        self.admission.admit_run(row.count);
        self.events += row.count;
        if let Some(recorder) = &mut self.recorder {
            let chunk = self.admission.types().find(b"assistant/chunk").map_or(UNLISTED, |(place, _)| place);
            recorder.row(bytes, self.at, row.count, chunk);
            bound_held(recorder, &self.options.limits, line)?;
        }
        self.spelling(scan, line, Some(row.first));
        self.recovery.fold_row(&row);
        let mut found = Breaches::default();
        self.relations.fold_row(&row, line, &mut |rule, place, text| found.add(rule, place, text));
        self.relate(found, bytes);
        Ok(Flow::On)
    }

    fn bound_events(&self) -> Result<(), LimitError> {
        let bound = self.options.limits.events.min(crate::limits::EVENTS);
        if self.expected > bound {
            Err(LimitError { limit: Limit::Events, bound, line: self.lines })
        } else {
            Ok(())
        }
    }

    /// Remembers whether a surface message has an id, which a tutorial's never has.
    fn identify(&mut self, event: &Event<'_>) {
        if self.identified == Some(false)
            && let Role::Surface(place) = event.role
            && let Some(message) = crate::shape::message(&self.dialect().surface[usize::from(place)], event)
            && message.get("id").is_some()
        {
            self.identified = Some(true);
        }
    }

    /// The same for a line behind damage, which nothing else looks into.
    fn identify_line(&mut self, scanner: &mut Scanner, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        if let Ok(scan) = scanner.scan(text.as_bytes())
            && scan.root().is_object()
        {
            let event = Event::read(scan.root(), self.admission.types(), UNLISTED);
            self.identify(&event);
        }
    }

    /// JSON-7.
    fn spelling(&mut self, scan: &Scan<'_>, line: u64, seq: Option<u64>) {
        if let Some(at) = scan.spelling
            && self.rules.has(Rule::Json7)
        {
            let text = "expected canonical spelling, found another from here on".to_owned();
            let finding =
                self.finding(Violation::new(Rule::Json7, at, text), Class::Note, line, seq, scan.text());
            self.findings.push(finding);
        }
    }

    /// The line as text: invalid UTF-8 is damage (STORE-4).
    fn read_text<'b>(&self, bytes: &'b [u8]) -> Result<Cow<'b, [u8]>, Violation> {
        match simdutf8::basic::from_utf8(bytes) {
            Ok(_) => Ok(Cow::Borrowed(bytes)),
            Err(_) if self.rules.has(Rule::Store4) => {
                let at = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
                let text = format!("expected UTF-8, found the byte 0x{:02x}", bytes[at]);
                Err(Violation::new(Rule::Store4, at, text))
            }
            Err(_) => Ok(Cow::Owned(String::from_utf8_lossy(bytes).into_owned().into_bytes())),
        }
    }

    fn damaged_or_committed(&mut self, violation: Violation, line: u64, bytes: &[u8], root: Value<'_>) {
        self.damaged(violation, line, bytes, false);
        if names_turn_end(root)
            && let Some(damage) = &mut self.damage
        {
            damage.committed = true;
        }
    }

    fn damaged(&mut self, violation: Violation, line: u64, bytes: &[u8], committed: bool) {
        let finding = self.finding(violation, Class::Repairable, line, Some(self.expected), bytes);
        self.damage = Some(Damage { finding, committed });
    }

    /// A structurally complete frame ended: there is no torn tail inside it.
    fn frame_end(&mut self) {
        if let Some(damage) = &mut self.damage {
            damage.committed = true;
        }
        if self.frame_lines == 0 && self.fatal.is_none() && self.damage.is_none() {
            let headed = self.dialect().header.is_some();
            if headed && self.lines != 1 {
                let text = format!(
                    "expected the first frame to hold exactly the header line, found {} lines",
                    self.lines
                );
                let line = self.lines.clamp(1, 2);
                let seq = (line > 1).then_some(0);
                let finding =
                    self.finding(Violation::new(Rule::Codec3, 0, text), Class::Corrupt, line, seq, &[]);
                self.fatal = Some(finding);
            }
        }
        self.frame_lines = self.lines;
        self.frame_seq = self.expected;
    }

    fn torn(&mut self) {
        if self.fatal.is_some() || self.damage.as_ref().is_some_and(|damage| damage.committed) {
            return;
        }
        if self.frame_lines == 0 && self.dialect().header.is_some() {
            let text = "the first frame is incomplete, so there is no header";
            self.fatal =
                Some(self.finding(Violation::new(Rule::Store1, 0, text), Class::Corrupt, 1, None, &[]));
            return;
        }
        if let Some(Damage { finding, .. }) = &mut self.damage {
            // One torn frame is one finding, at the first line that is not kept.
            finding.rule = Rule::Codec3;
            finding.help = Rule::Codec3.info().help.to_owned();
            finding.message =
                format!("the last frame is incomplete, and this line of it is damaged: {}", finding.message);
            return;
        }
        let text = "the last frame is incomplete: a torn write";
        let finding = self.finding(
            Violation::new(Rule::Codec3, 0, text),
            Class::Repairable,
            self.lines + 1,
            Some(self.expected),
            &[],
        );
        self.damage = Some(Damage { finding, committed: false });
    }

    fn frame_damage(&mut self, what: &str) {
        if self.fatal.is_some() {
            return;
        }
        if let Some(damage) = &mut self.damage {
            // The line stands before this place, in a frame that is complete.
            damage.committed = true;
            return;
        }
        let seq = (!self.first_line).then_some(self.frame_seq);
        let line = self.frame_lines + 1;
        self.fatal =
            Some(self.finding(Violation::new(Rule::Codec3, 0, what), Class::Corrupt, line, seq, &[]));
    }

    fn finding(
        &self,
        violation: Violation,
        class: Class,
        line: u64,
        seq: Option<u64>,
        bytes: &[u8],
    ) -> Finding {
        let Violation { rule, at, message } = violation;
        let stage = match self.options.reading {
            Reading::Strict => None,
            Reading::Released(_) => self.dialect().rules.get(&rule).copied(),
        };
        let excerpt = (self.options.excerpts && !bytes.is_empty()).then(|| self.excerpt(bytes, line, at));
        let help = rule.info().help.to_owned();
        Finding { rule, class, line, column: at as u64 + 1, seq, message, help, stage, excerpt }
    }

    /// The line around a place of it. Thousands of findings can stand in one line, and share its text.
    fn excerpt(&self, bytes: &[u8], line: u64, at: usize) -> Excerpt {
        let mut shared = self.shared.borrow_mut();
        if let Some((known, kept)) = &*shared
            && *known == line
            && at >= kept.from
            && at <= kept.from + kept.text.len()
            && (kept.from + kept.text.len() == bytes.len() || at < kept.from + kept.text.len() * 3 / 4)
            && (kept.from == 0 || at >= kept.from + kept.text.len() / 4)
        {
            return kept.clone();
        }
        let most = if self.excerpted.get() < EXCERPTS { EXCERPT } else { EXCERPT_BEYOND };
        let part = excerpt(bytes, at, most);
        self.excerpted.set(self.excerpted.get() + part.text.len());
        *shared = Some((line, part.clone()));
        part
    }

    fn finish(mut self, bytes: u64) -> Loaded {
        if self.first_line && self.fatal.is_none() && self.dialect().header.is_some() {
            let text = "the file is empty, so there is no header";
            self.fatal =
                Some(self.finding(Violation::new(Rule::Store1, 0, text), Class::Corrupt, 1, None, &[]));
        }
        if self.identified == Some(true) {
            // Messages with ids are not a tutorial's: the log is one of the harness's that lost its header.
            self.use_dialect(Arc::new(dialect::dsh_v0()));
            let text = "the first line is an event: the session header is missing";
            self.fatal =
                Some(self.finding(Violation::new(Rule::Store1, 0, text), Class::Corrupt, 1, None, &[]));
        }
        if let Some(damage) = self.damage.take() {
            let Damage { finding, committed } = damage;
            if committed {
                let finding = Finding { class: Class::Corrupt, ..finding };
                self.fatal.get_or_insert(finding);
            } else {
                self.damage = Some(Damage { finding, committed });
            }
        }
        if let Some(fatal) = self.fatal.take().or(self.unsupported.take()) {
            let mut findings = Findings::default();
            findings.push(fatal);
            return self.report(findings, 0, bytes);
        }
        if let Some(inherited) = self.inherited.filter(|inherited| *inherited > self.expected)
            && self.rules.has(Rule::Store8)
        {
            let text =
                format!("expected at least {inherited} events, as seedLength says, found {}", self.expected);
            let line = self.header.as_ref().map(|header| header.line.clone()).unwrap_or_default();
            let violation = Violation::new(Rule::Store8, self.inherited_at, text);
            let finding = self.finding(violation, Class::Relation, 1, None, &line);
            self.findings.push(finding);
        }
        if let Some(damage) = self.damage.take() {
            self.findings.push(damage.finding);
        }
        if self.folding {
            self.open_end();
        }
        let events = self.events;
        let findings = std::mem::take(&mut self.findings);
        self.report(findings, events, bytes)
    }

    /// REPAIR-2 and REPAIR-6.
    fn open_end(&mut self) {
        let Some(place) = self.recovery.open_turn() else { return };
        let number = self.recovery.open_turn_number().unwrap_or_default();
        let (rule, place, text) = match self.recovery.obstacle() {
            Some(obstacle) if self.rules.has(Rule::Repair6) => {
                let text = format!(
                    "turn {number} is open, but the call in line {} has no id that a result could answer",
                    obstacle.place.line
                );
                (Rule::Repair6, place, text)
            }
            _ => {
                let step = if self.recovery.in_step() { ", inside a step" } else { "" };
                (Rule::Repair2, place, format!("turn {number} is open at the end of the log{step}"))
            }
        };
        if self.rules.has(rule) {
            let violation = Violation::new(rule, place.at, text);
            let mut finding = self.finding(violation, rule.info().class, place.line, Some(place.seq), &[]);
            finding.excerpt = self.kept(place.line);
            self.findings.push(finding);
        }
    }

    fn report(self, findings: Findings, events: u64, bytes: u64) -> Loaded {
        let dialect = Arc::clone(self.dialect());
        let void = findings.strongest() >= Some(Class::Corrupt);
        let admission =
            if void { Admission::new(Arc::clone(&dialect), self.options.reading) } else { self.admission };
        let recorder = if void { None } else { self.recorder };
        let log = recorder.unwrap_or_default().finish(Arc::clone(&dialect), Arc::clone(admission.types()));
        let recovery = if void { Recovery::new(&dialect) } else { self.recovery };
        let surface = admission.surface();
        let surface = SurfaceFacts {
            nodes: surface.len() as u64,
            replaces: surface.generation(),
            messages: surface.messages() as u64,
        };
        let report =
            Report { dialect: dialect.name.clone(), events, findings, header: self.header, surface, bytes };
        Loaded { report, log, admission, recovery }
    }
}

fn bound_held(recorder: &Recorder, limits: &Limits, line: u64) -> Result<(), LimitError> {
    if recorder.size() > limits.held {
        return Err(LimitError { limit: Limit::Held, bound: limits.held, line });
    }
    Ok(())
}

/// The line, or the part of it around a place. Places near each other get the same part.
fn excerpt(bytes: &[u8], at: usize, most: usize) -> Excerpt {
    if bytes.len() <= most {
        return Excerpt { text: bytes.into(), from: 0 };
    }
    let from = at.saturating_sub(most / 2) / (most / 4) * (most / 4);
    let from = from.min(bytes.len() - most);
    Excerpt { text: bytes[from..from + most].into(), from }
}

/// STORE-6: a NUL byte, wherever it stands. No JSON text holds one, so it is looked for in what is none.
fn nul(text: &[u8]) -> Option<Violation> {
    memchr(0, text).map(|at| Violation::new(Rule::Store6, at, "expected text, found a NUL byte"))
}

/// A line that is no JSON: NUL bytes, blank lines and byte-order marks have their own rule.
fn not_json(text: &[u8], syntax: Syntax) -> Violation {
    if let Some(nul) = nul(text) {
        return nul;
    }
    if text.starts_with(b"\xef\xbb\xbf") {
        return Violation::new(Rule::Store6, 0, "expected a record, found a byte-order mark in front of it");
    }
    if text.iter().all(u8::is_ascii_whitespace) {
        return Violation::new(Rule::Store6, 0, "expected a record, found a blank line");
    }
    Violation::new(Rule::Store3, syntax.at, unparsable("the record", syntax))
}

fn unparsable(what: &str, syntax: Syntax) -> String {
    format!("{what} is not JSON: expected {}", syntax.expected)
}

/// Whether a committed line is a turn end, whatever else is wrong with it (STORE-3): also where its text is not UTF-8,
/// since a reader that replaces what it cannot decode would take it for one.
fn is_turn_end(scanner: &mut Scanner, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    scanner.scan(text.as_bytes()).is_ok_and(|scan| names_turn_end(scan.root()))
}

fn names_turn_end(root: Value<'_>) -> bool {
    // Of a repeated key a parser keeps the last.
    let kind = root.members().filter(|(key, _)| key.is("type")).last();
    kind.and_then(|(_, value)| value.as_str()).is_some_and(|kind| kind.is("turn/end"))
}
