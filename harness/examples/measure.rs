//! One measurement of the library in a process of its own, printed as a line of JSON: what
//! `harness/benches/compare` runs beside the same thing done with another implementation.
//!
//! `measure load FILE` loads a log, keeps it, and derives its messages. `measure append FILE` appends the events of a
//! log one by one to a live session, each given as JSON text; `measure append-tree FILE` gives them as trees.
//! `measure skip FILE` reads the lines into `IgnoredAny`: under an instruction counter it is the baseline of loading.

use foldproof::check::{Input, Options, load};
use foldproof::codec::rows::{Row, Tag};
use foldproof::dialect::{Reading, dsh_v0};
use foldproof::json::{Scanner, Value};
use foldproof::rule::Stage;
use foldproof::session::{Draft, Millis};
use foldproof::{History, Session};
use serde::de::IgnoredAny;
use serde_json::json;
use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::BufReader;
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(what), Some(path)) = (arguments.next(), arguments.next()) else {
        return Err("usage: measure load|skip|append|append-tree FILE".into());
    };
    let result = match &what[..] {
        "load" => loading(&path)?,
        "skip" => skipping(&path)?,
        "append" => appending(&path, false)?,
        "append-tree" => appending(&path, true)?,
        other => return Err(format!("there is no measurement {other:?}").into()),
    };
    println!("{result}");
    Ok(())
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The most memory that this process ever held, in KiB, where the system tells.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

fn loading(path: &str) -> Result<serde_json::Value, Box<dyn Error>> {
    let started = Instant::now();
    let file = File::open(path)?;
    let size = file.metadata()?.len() as usize;
    let compressed = path.ends_with(".zstd") || path.ends_with(".zst");
    let input = match compressed {
        true => Input::Compressed(Box::new(BufReader::new(file))),
        false => Input::Plain(Box::new(file)),
    };
    let options = Options { reading: Reading::Released(Stage::Provider), ..Options::default() };
    let loaded = load(input, &options, if compressed { 0 } else { size })?;
    let read = milliseconds(started);
    let history = History::new(&loaded.log, loaded.admission.surface());
    // Every message is looked at, as whoever sends them does.
    let bytes: usize = history.iter().map(<[u8]>::len).sum();
    Ok(json!({
        "ms": milliseconds(started),
        "loadMs": read,
        "events": loaded.log.len(),
        "verdict": loaded.report.verdict(),
        "messages": history.len(),
        "messageBytes": bytes,
        "fileBytes": size,
        "textBytes": loaded.report.bytes,
        "peakKiB": peak(),
    }))
}

fn skipping(path: &str) -> Result<serde_json::Value, Box<dyn Error>> {
    let text = fs::read(path)?;
    let started = Instant::now();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let read = lines.filter(|line| serde_json::from_slice::<IgnoredAny>(line).is_ok()).count();
    Ok(json!({ "ms": milliseconds(started), "lines": read, "fileBytes": text.len() }))
}

/// An event's parts, as a caller has them.
struct Parts {
    kind: String,
    time: Millis,
    data: Vec<u8>,
    tree: serde_json::Value,
    surface_op: Option<Vec<u8>>,
    sources: Option<Vec<u8>>,
}

fn parts(path: &str, trees: bool) -> Result<Vec<Parts>, Box<dyn Error>> {
    let text = fs::read(path)?;
    let mut scanner = Scanner::new(10_000);
    let mut list = vec![];
    for line in text.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty()) {
        let scan = scanner.scan(line).map_err(|syntax| format!("not JSON: {}", syntax.expected))?;
        let root = scan.root();
        let kind = root.get("type").and_then(Value::as_str).ok_or("an event has a type")?;
        if Tag::of(kind).is_some_and(|tag| Row::read(root, tag).is_ok()) {
            return Err("only logs without packed rows are appended".into());
        }
        let bytes = |name: &str| root.get(name).map(|value| value.bytes().to_vec());
        let data = bytes("data").unwrap_or_default();
        list.push(Parts {
            kind: kind.display(),
            time: root.get("time").and_then(Value::as_int).unwrap_or(0),
            tree: if trees { serde_json::from_slice(&data)? } else { serde_json::Value::Null },
            data,
            surface_op: bytes("surfaceOp"),
            sources: bytes("sourceEventSeqs"),
        });
    }
    Ok(list)
}

fn appending(path: &str, trees: bool) -> Result<serde_json::Value, Box<dyn Error>> {
    let parts = parts(path, trees)?;
    let mut session = Session::create(Arc::new(dsh_v0()), "measure", None, 0);
    let started = Instant::now();
    for part in &parts {
        let printed;
        let data = match trees {
            true => {
                printed = serde_json::to_vec(&part.tree)?;
                &printed
            }
            false => &part.data,
        };
        let draft = Draft {
            kind: &part.kind,
            data,
            surface_op: part.surface_op.as_deref(),
            sources: part.sources.as_deref(),
        };
        session.append(draft, part.time)?;
    }
    let ms = milliseconds(started);
    black_box(session.history());
    let events = parts.len() as f64;
    Ok(json!({ "ms": ms, "events": parts.len(), "nsPerEvent": ms * 1e6 / events, "peakKiB": peak() }))
}
