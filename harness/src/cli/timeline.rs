//! The story of a log, one line for each thing that a person would tell.

use super::paint::{Paint, bytes, count, thousands};
use super::render::{clean, width};
use super::show::View;
use super::text::{QUOTED, date, elapsed, plain, quote};
use anstyle::AnsiColor;
use foldproof::admit::Change;
use foldproof::check::Report;
use foldproof::dialect::{Part, Role};
use foldproof::json::{Scanner, Value};
use foldproof::log::Log;
use foldproof::projection::History;
use foldproof::request::{self, Request, RequestHeader};
use foldproof::rule::Class;
use std::collections::BTreeMap;

/// The story as lines.
pub fn print(view: &View, report: &Report, paint: Paint) -> String {
    let mut story = Story {
        paint,
        width: width(),
        log: &view.log,
        out: String::new(),
        start: None,
        chunks: 0,
        surface: Surface::new(&view.log),
        around: None,
    };
    story.head(view);
    story.events(view);
    story.ending(report);
    story.out
}

/// What the surface holds after each event that changed it.
struct Surface {
    steps: Vec<(u64, Messages)>,
    shadowed: BTreeMap<u64, Vec<u64>>,
}

/// Messages of a history, and their bytes without commas.
#[derive(Clone, Copy, Debug, Default)]
struct Messages {
    count: u64,
    bytes: u64,
}

impl Surface {
    fn new(log: &Log) -> Self {
        let mut surface = Surface { steps: vec![], shadowed: BTreeMap::new() };
        let mut now = Messages::default();
        log.refold(log.len(), |folded, seq, change, shadowed| {
            let size = |seq: u64| log.message(seq).map(|message| message.len() as u64);
            if let Change::Replace(_) = change {
                let gone: Vec<u64> = shadowed.iter().map(|ordinal| folded.seq(*ordinal)).collect();
                for size in gone.iter().filter_map(|seq| size(*seq)) {
                    now = Messages { count: now.count - 1, bytes: now.bytes - size };
                }
                surface.shadowed.insert(seq, gone);
            }
            if let (Some(size), Change::Append(_) | Change::Replace(_)) = (size(seq), change) {
                now = Messages { count: now.count + 1, bytes: now.bytes + size };
            }
            surface.steps.push((seq, now));
        });
        surface
    }

    /// The messages in front of event `count`.
    fn before(&self, count: u64) -> Messages {
        let place = self.steps.partition_point(|(seq, _)| *seq < count);
        place.checked_sub(1).map_or(Messages::default(), |place| self.steps[place].1)
    }
}

struct Story<'a> {
    paint: Paint,
    width: usize,
    log: &'a Log,
    out: String,
    /// Time of the first event.
    start: Option<i64>,
    /// Chunks since the last line that told of them.
    chunks: u64,
    surface: Surface,
    /// Bytes of a request of the header in force without its messages.
    around: Option<u64>,
}

impl Story<'_> {
    fn line(&mut self, seq: Option<u64>, time: Option<i64>, text: &str) {
        let seq = seq.map_or(String::new(), |seq| seq.to_string());
        let since = match (time, self.start) {
            (Some(time), Some(start)) => elapsed(time.saturating_sub(start)),
            _ => String::new(),
        };
        self.out.push_str(&self.paint.dim(format!("{seq:>7} {since:>10}")));
        self.out.push_str("  ");
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// What the header line says.
    fn head(&mut self, view: &View) {
        let mut scanner = Scanner::new(u64::MAX);
        let Some(scan) = self.log.header().and_then(|header| scanner.scan(header).ok()) else {
            let text = format!("a log of the dialect {}, which has no header", self.log.dialect().name);
            self.line(None, None, &text);
            return;
        };
        let root = scan.root();
        let text =
            |name: &str| root.get(name).and_then(Value::as_str).map(|text| clean(&text.display(), 200));
        let mut said = format!("session {}", self.paint.bold(text("id").unwrap_or_default()));
        if let Some(created) = root.get("createdAt").and_then(Value::as_int) {
            said.push_str(&format!(", created {}", date(created)));
        }
        if let Some(folder) = text("cwd") {
            said.push_str(&format!(", in {folder}"));
        }
        self.line(None, None, &said);
        match (text("parentSession"), root.get("seedLength").and_then(Value::as_uint)) {
            (Some(parent), Some(inherited)) => {
                let said = format!(
                    "forked from session {parent}: the first {} are inherited",
                    count(inherited, "event")
                );
                self.line(None, None, &self.paint.put(AnsiColor::Cyan.on_default(), said));
            }
            (Some(parent), None) => self.line(None, None, &format!("spawned by session {parent}")),
            (None, Some(inherited)) => {
                self.line(None, None, &format!("the first {} are inherited", count(inherited, "event")));
            }
            (None, None) => {}
        }
        if view.log.len() < view.whole.len() {
            let said = format!(
                "shown are the first {} of {}",
                thousands(view.log.len()),
                count(view.whole.len(), "event")
            );
            self.line(None, None, &said);
        }
    }

    fn events(&mut self, view: &View) {
        let boundaries = request::boundaries(self.log);
        let mut boundaries = boundaries.iter().peekable();
        let mut scanner = Scanner::new(u64::MAX);
        let mut time = None;
        for (seq, line) in self.log.events().enumerate() {
            let seq = seq as u64;
            while let Some(boundary) = boundaries.next_if(|boundary| boundary.count <= seq) {
                self.request(boundary, time);
            }
            if view.synthetic == Some(seq) {
                let said =
                    self.paint.put(AnsiColor::Yellow.on_default(), "what follows was appended by recovery");
                self.line(None, None, &said);
            }
            if view.inherited == seq && seq > 0 {
                let said = self.paint.put(AnsiColor::Cyan.on_default(), "what follows is this session's own");
                self.line(None, None, &said);
            }
            let role = self.log.role(seq);
            if role == Role::Chunk {
                self.chunks += 1;
                continue;
            }
            let Ok(scan) = scanner.scan(&line) else { continue };
            let root = scan.root();
            time = root.get("time").and_then(Value::as_int).or(time);
            self.start = self.start.or(time);
            if let Some(text) = self.tell(seq, role, root) {
                self.line(Some(seq), time, &text);
            }
        }
        for boundary in boundaries {
            self.request(boundary, time);
        }
    }

    /// A request at its boundary.
    fn request(&mut self, boundary: &request::Boundary, time: Option<i64>) {
        let messages = self.surface.before(boundary.count);
        let attempt =
            if boundary.attempt > 1 { format!(", attempt {}", boundary.attempt) } else { String::new() };
        let Some(around) = self.around else {
            let said = format!("request{attempt}: no header was logged, so it cannot be rebuilt");
            self.line(None, time, &self.paint.dim(said));
            return;
        };
        // The messages were added up; between two of them stands a comma.
        let size = around + messages.bytes + messages.count.saturating_sub(1);
        let said = format!(
            "request of turn {}, step {}{attempt}: {}, {}",
            boundary.turn,
            boundary.step,
            count(messages.count, "message"),
            bytes(size)
        );
        self.line(None, time, &self.paint.put(AnsiColor::Blue.on_default(), said));
    }

    fn around(&self, header: &RequestHeader) -> u64 {
        let empty = self.log.prefix(0);
        let history = History::new(&empty, &empty.refold(0, |_, _, _, _| {}));
        Request::new(header, history).to_bytes().len() as u64
    }

    fn tell(&mut self, seq: u64, role: Role, root: Value<'_>) -> Option<String> {
        let data = |name: &str| root.path(&["data", name]);
        let shown = |name: &str| data(name).map_or("?".to_owned(), |value| plain(value, QUOTED));
        let paint = self.paint;
        Some(match role {
            Role::TurnStart => paint.bold(format!("turn {}", shown("turn"))),
            Role::TurnEnd => {
                let reason = root
                    .path(&["data", "reason", "kind"])
                    .map_or("?".to_owned(), |value| plain(value, QUOTED));
                let why = [["error", "code"], ["reason", "kind"]]
                    .iter()
                    .find_map(|[kind, name]| root.path(&["data", "reason", kind, name]))
                    .map(|why| format!(" ({})", plain(why, QUOTED)));
                paint.bold(format!("turn {} ends: {reason}{}", shown("turn"), why.unwrap_or_default()))
            }
            Role::StepStart => {
                self.chunks = 0;
                format!("step {}", shown("step"))
            }
            Role::StepEnd => {
                let chunks = std::mem::take(&mut self.chunks);
                if chunks == 0 {
                    return None;
                }
                format!(
                    "step {} ends with {} and no message behind them",
                    shown("step"),
                    count(chunks, "chunk")
                )
            }
            Role::RetryStarted => {
                let chunks = std::mem::take(&mut self.chunks);
                paint.put(AnsiColor::Yellow.on_default(), format!("retry, after {}", count(chunks, "chunk")))
            }
            Role::Call => format!("call of {} ({})", shown("name"), shown("callId")),
            Role::RequestHeader => {
                self.around = RequestHeader::read(self.log, seq).map(|header| self.around(&header));
                let config = |name: &str| {
                    root.path(&["data", "header", "config", name])
                        .map_or("?".to_owned(), |value| plain(value, QUOTED))
                };
                format!("request header: {} of {} ({})", config("model"), config("provider"), shown("reason"))
            }
            Role::EndSeed => {
                paint.put(AnsiColor::Cyan.on_default(), "the session was opened again over what stands above")
            }
            Role::Inbox => {
                let inserted = data("inserted").map_or(0, |list| list.elements().count() as u64);
                let removed = data("removedCount").and_then(Value::as_uint).unwrap_or(0);
                format!("inbox {}: {} in, {removed} out", shown("target"), count(inserted, "message"))
            }
            Role::CompactionStart => paint
                .put(AnsiColor::Magenta.on_default(), format!("compaction {} begins", shown("compactionId"))),
            Role::CompactionSummary => {
                let nodes = data("shadowedSeqs").map_or(0, |list| list.elements().count() as u64);
                let said = format!(
                    "compaction summary of {}, {} tokens",
                    count(nodes, "node"),
                    shown("shadowedTokenCount")
                );
                paint.put(AnsiColor::Magenta.on_default(), said)
            }
            Role::CompactionEnd => {
                let how = if data("error").is_some() { "fails" } else { "ends" };
                paint.put(
                    AnsiColor::Magenta.on_default(),
                    format!("compaction {} {how}", shown("compactionId")),
                )
            }
            Role::CompactionPrune => {
                let said = format!("prune, {} tokens", shown("shadowedTokenCount"));
                paint.put(AnsiColor::Magenta.on_default(), said)
            }
            Role::Surface(place) => self.surface_event(seq, usize::from(place), root),
            Role::InTurn | Role::Other => {
                let kind = root.get("type").map_or("?".to_owned(), |value| plain(value, QUOTED));
                paint.dim(kind)
            }
            Role::Chunk => return None,
        })
    }

    fn surface_event(&mut self, seq: u64, place: usize, root: Value<'_>) -> String {
        let dialect = self.log.dialect();
        let Some(surface) = dialect.surface.get(place) else { return String::new() };
        let path: Vec<&str> =
            std::iter::once("data").chain(surface.message.iter().map(String::as_str)).collect();
        let message = root.path(&path);
        let content = message.and_then(|message| message.get("content"));
        let who = match surface.part {
            Part::Input => {
                let source = message.and_then(|message| message.path(&["source", "kind"]));
                source.map_or("user".to_owned(), |kind| plain(kind, 20))
            }
            Part::Output => "assistant".into(),
            Part::Result => "result".into(),
        };
        let mut said = format!("{}: ", self.paint.put(AnsiColor::Green.on_default(), who));
        let calls: Vec<String> = content
            .into_iter()
            .flat_map(Value::elements)
            .filter(|block| {
                block
                    .get("type")
                    .and_then(Value::as_str)
                    .is_some_and(|kind| kind.is("tool-call") || kind.is("tool_use"))
            })
            .map(|block| block.get("name").map_or("?".to_owned(), |name| plain(name, 30)))
            .collect();
        let blocks = content.into_iter().flat_map(Value::elements).count();
        if calls.is_empty() || calls.len() < blocks {
            said.push_str(&quote(content, self.width));
        }
        if !calls.is_empty() {
            let parted = if calls.len() < blocks { ", " } else { "" };
            said.push_str(&format!("{parted}calls {}", clean(&calls.join(", "), QUOTED)));
        }
        if surface.part == Part::Output {
            let chunks = std::mem::take(&mut self.chunks);
            if chunks > 0 {
                said.push_str(&self.paint.dim(format!(" ({})", count(chunks, "chunk"))));
            }
            if root.path(&["data", "interrupted"]).is_some_and(Value::is_true) {
                said.push_str(&self.paint.put(AnsiColor::Yellow.on_default(), " interrupted"));
            }
        }
        if let Some(code) = root.path(&["data", "error", "code"]) {
            said.push_str(
                &self.paint.put(AnsiColor::Red.on_default(), format!(" error {}", plain(code, QUOTED))),
            );
        }
        if let Some(shadowed) = self.surface.shadowed.get(&seq) {
            let ends = match (shadowed.first(), shadowed.last()) {
                (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
                (Some(only), _) => only.to_string(),
                _ => String::new(),
            };
            let nodes = count(shadowed.len() as u64, "node");
            let told = format!(" replaces {nodes} ({ends} in surface order)");
            said.push_str(&self.paint.put(AnsiColor::Magenta.on_default(), told));
        }
        said
    }

    /// What the log needs at its end.
    fn ending(&mut self, report: &Report) {
        for finding in report.findings.list.iter().filter(|finding| finding.class == Class::Repairable) {
            let said = format!("needs repair: {} [{}]", clean(&finding.message, 200), finding.rule);
            self.line(None, None, &self.paint.put(AnsiColor::Yellow.on_default(), said));
        }
    }
}
