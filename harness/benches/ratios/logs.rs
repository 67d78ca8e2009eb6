//! The logs that are measured, made in memory, and what is done with them more than once.

use foldproof::check::Options;
use foldproof::dialect::{Reading, dsh_v0};
use foldproof::json::{Scanner, Value};
use foldproof::rule::Stage;
use foldproof::session::Draft;
use foldproof::{Session, check};
use foldproof_harness::generators::shapes::{self, Shape};
use foldproof_harness::seed::Seed;
use foldproof_harness::tools::sink::frame;
use std::sync::Arc;

/// A number from the environment.
fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Events of a large log.
pub fn events() -> u64 {
    number("FOLDPROOF_BENCH_EVENTS", 100_000)
}

/// Messages of histories, small to large.
pub fn sizes() -> Vec<u64> {
    let most = number("FOLDPROOF_BENCH_NODES", 1_000_000);
    [1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|size| *size <= most).collect()
}

/// A log's text, and how many events it has.
pub fn log(shape: Shape, events: u64) -> (Vec<u8>, u64) {
    let mut text = Vec::new();
    let written = shapes::write(shape, events, Seed(1), &mut text).unwrap_or(0);
    assert!(written > 0, "writing into memory does not fail");
    (text, written)
}

/// A log's text as Zstandard frames: the header line, then 64 lines each.
pub fn framed(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let (header, events) = lines.split_at(1);
    for batch in std::iter::once(header).chain(events.chunks(64)) {
        frame(&batch.concat(), &mut out).unwrap_or_else(|error| panic!("compressing in memory: {error}"));
    }
    out
}

/// The reading of the released library: what its opening of a file checks.
pub fn released() -> Options {
    Options { reading: Reading::Released(Stage::Provider), ..Options::default() }
}

/// An event as a live session gets it.
pub struct Given {
    pub kind: String,
    pub data: Vec<u8>,
    pub surface_op: Option<Vec<u8>>,
    pub sources: Option<Vec<u8>>,
}

impl Given {
    pub fn draft(&self) -> Draft<'_> {
        Draft {
            kind: &self.kind,
            data: &self.data,
            surface_op: self.surface_op.as_deref(),
            sources: self.sources.as_deref(),
        }
    }
}

/// The events of a plain log as they would be appended.
pub fn given(text: &[u8]) -> Vec<Given> {
    let mut scanner = Scanner::new(1_000);
    let lines = text.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty());
    lines
        .filter_map(|line| {
            let root = scanner.scan(line).ok()?.root();
            let bytes = |name: &str| root.get(name).map(|value| value.bytes().to_vec());
            Some(Given {
                kind: root.get("type").and_then(Value::as_str)?.display(),
                data: bytes("data")?,
                surface_op: bytes("surfaceOp"),
                sources: bytes("sourceEventSeqs"),
            })
        })
        .collect()
}

/// An empty live session.
pub fn session() -> Session {
    Session::create(Arc::new(dsh_v0()), "bench", None, 0)
}

/// Appends one event; what the benchmarks append is always admitted.
pub fn append(session: &mut Session, draft: Draft<'_>) -> u64 {
    match session.append(draft, 1_787_000_000_000) {
        Ok(seq) => seq,
        Err(error) => panic!("{}: {error}", draft.kind),
    }
}

/// A user message's data. It has always the same length, so that what is compared differs in the session only.
pub fn message(number: u64) -> Vec<u8> {
    format!(
        "{{\"id\":\"u{number:08}\",\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"hello {number:08}\"}}],\
         \"source\":{{\"kind\":\"user\"}}}}"
    )
    .into_bytes()
}

/// Appends a user message.
pub fn say(session: &mut Session, data: &[u8]) -> u64 {
    append(session, Draft { kind: "user/message", data, surface_op: Some(b"\"append\""), sources: None })
}

/// A live session in an open step, with a request header, of so many messages; and the seq of the first.
pub fn talk(messages: u64) -> (Session, u64) {
    let mut session = session();
    let header = br#"{"header":{"config":{"provider":"orchid","model":"orchid-2"}},"reason":"initial"}"#;
    append(&mut session, Draft { kind: "turn/start", data: br#"{"turn":1}"#, ..Draft::default() });
    append(&mut session, Draft { kind: "request/header", data: header, ..Draft::default() });
    append(&mut session, Draft { kind: "step/start", data: br#"{"turn":1,"step":1}"#, ..Draft::default() });
    let first = session.log().len();
    for number in 0..messages {
        say(&mut session, &message(number));
    }
    (session, first)
}

/// Loads a plain log and looks at every message.
pub fn load(text: &[u8], options: &Options) -> usize {
    let loaded = check::load(check::Input::Plain(Box::new(text)), options, text.len());
    let Ok(loaded) = loaded else { panic!("reading from memory does not fail") };
    assert_eq!(loaded.report.verdict(), "accept");
    foldproof::History::new(&loaded.log, loaded.admission.surface()).iter().map(<[u8]>::len).sum()
}
