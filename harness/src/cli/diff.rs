//! `foldproof diff`: where two logs stop telling the same story, or what each request of one log keeps of the prompt
//! before it.

use super::exit::{Exit, Failure};
use super::global::Global;
use super::paint::{Paint, bytes, count, thousands};
use super::render::clean;
use super::twice::Source;
use crate::tools::diff::{self, Difference};
use crate::tools::prompt::Stretch;
use crate::tools::reuse::{self, Kept, Reuse};
use anstyle::AnsiColor;
use foldproof::check::{Options, load};
use foldproof::dialect::Reading;
use foldproof::json::{Scanner, Value};
use foldproof::log::Log;
use foldproof::request::Boundary;
use foldproof::rule::{Class, Stage};
use serde_json::json;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A log (.jsonl, .jsonl.zstd, .zst), or - for stdin
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// Another one; without it the requests of A are compared, each with the one before
    #[arg(value_name = "B")]
    pub second: Option<PathBuf>,
    /// The times of events count too
    #[arg(long, requires = "second")]
    pub times: bool,
}

const EXAMPLES: &str = "\
Examples:
  foldproof diff session.jsonl logs/a.jsonl
  foldproof diff session.jsonl logs/a.jsonl --times --format json
  foldproof diff session.jsonl

Exits with 1 when two logs differ. Headers of sessions, packing and compression are no difference.";

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let paint = Paint::new(global.colored_stdout());
    if args.first.as_os_str() == "-" && args.second.as_ref().is_some_and(|path| path.as_os_str() == "-") {
        return Err(Failure::Told("only one of the two logs can come from stdin".into()));
    }
    let Some(first) = open(&args.first, global)? else { return Ok(Exit::Findings) };
    let Some(path) = &args.second else {
        let list = reuse::requests(&first);
        return print(&match global.json() {
            true => one_json(&args.first, &first, &list),
            false => one_human(&list, paint),
        })
        .map(|()| Exit::Clean);
    };
    let Some(second) = open(path, global)? else { return Ok(Exit::Findings) };
    let difference = diff::compare(&first, &second, args.times);
    print(&match global.json() {
        true => two_json([&args.first, path], [&first, &second], &difference),
        false => two_human([&first, &second], &difference, paint),
    })?;
    Ok(if difference.is_none() { Exit::Clean } else { Exit::Findings })
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// A log that the released reader would open, as for `show`; nothing after telling why it would not.
fn open(path: &Path, global: &Global) -> Result<Option<Log>, Failure> {
    let source = Source::new(path, global)?;
    let options = Options {
        dialect: global.dialect.0.clone(),
        reading: Reading::Released(Stage::Provider),
        excerpts: true,
        limits: global.limits(),
        ..Options::default()
    };
    let loaded = source.read(|input, size| load(input, &options, size))?;
    if loaded.report.findings.strongest() >= Some(Class::Reject) {
        source.tell(&loaded.report, global);
        return Ok(None);
    }
    Ok(Some(loaded.log))
}

fn kind(log: &Log, seq: u64) -> Option<String> {
    let line = log.line(seq)?;
    let mut scanner = Scanner::new(u64::MAX);
    let scan = scanner.scan(&line).ok()?;
    scan.root().get("type").and_then(Value::as_str).map(|kind| kind.display())
}

fn stretch(stretch: Stretch) -> serde_json::Value {
    json!({ "messages": stretch.messages, "bytes": stretch.bytes })
}

fn reuse(reuse: &Reuse) -> serde_json::Value {
    json!({
        "kept": stretch(reuse.kept),
        "of": stretch(reuse.of),
        "permille": reuse.permille(),
        "spoiled": reuse.spoiled,
    })
}

/// A turn's or step's number, where it is one that can be counted.
fn number(value: f64) -> Option<u64> {
    (value.fract() == 0.0 && (0.0..9e15).contains(&value)).then_some(value as u64)
}

fn boundary(of: &Boundary) -> serde_json::Value {
    json!({ "turn": number(of.turn), "step": number(of.step), "attempt": of.attempt, "events": of.count })
}

fn one_json(path: &Path, log: &Log, list: &[Kept]) -> String {
    let requests: Vec<serde_json::Value> = list
        .iter()
        .map(|kept| {
            json!({
                "of": boundary(&kept.of),
                "prompt": stretch(kept.messages),
                "reuse": kept.reuse.as_ref().map(reuse),
                "broken": kept.broken.map(|(cause, seq)| {
                    json!({ "cause": cause.name(), "seq": seq, "type": kind(log, seq) })
                }),
            })
        })
        .collect();
    let dialect = &log.dialect().name;
    let path = path.to_string_lossy();
    format!("{}\n", json!({ "foldproof": 1, "path": path, "dialect": dialect, "requests": requests }))
}

fn two_json(paths: [&Path; 2], logs: [&Log; 2], difference: &Difference) -> String {
    let log = |which: usize| {
        json!({
            "path": paths[which].to_string_lossy(),
            "dialect": logs[which].dialect().name,
            "events": logs[which].len(),
            "requests": difference.counts[which],
        })
    };
    let events = difference.events.as_ref().map(|event| {
        let types = [0, 1].map(|which| event.there[which].then(|| kind(logs[which], event.seq)).flatten());
        json!({ "seq": event.seq, "types": types, "member": event.member })
    });
    let messages = difference
        .messages
        .as_ref()
        .map(|message| json!({ "index": message.index, "seqs": message.seqs, "byte": message.byte }));
    let requests = difference.requests.as_ref().map(|request| {
        json!({
            "index": request.index,
            "of": request.of.map(|of| of.as_ref().map(boundary)),
            "member": request.member,
            "message": request.message,
        })
    });
    let text = json!({
        "foldproof": 1,
        "logs": [log(0), log(1)],
        "same": difference.is_none(),
        "events": events,
        "messages": messages,
        "requests": requests,
        "reuse": reuse(&difference.reuse),
    });
    format!("{text}\n")
}

fn percent(permille: u64) -> String {
    format!("{}.{} %", permille / 10, permille % 10)
}

fn kept(reuse: &Reuse) -> String {
    format!(
        "{} of {}, {} of {} ({})",
        thousands(reuse.kept.messages),
        count(reuse.of.messages, "message"),
        bytes(reuse.kept.bytes),
        bytes(reuse.of.bytes),
        percent(reuse.permille())
    )
}

fn name(of: &Boundary) -> String {
    let attempt = if of.attempt > 1 { format!(", attempt {}", of.attempt) } else { String::new() };
    format!("turn {}, step {}{attempt}", of.turn, of.step)
}

fn two_human(logs: [&Log; 2], difference: &Difference, paint: Paint) -> String {
    let same = || paint.put(AnsiColor::Green.on_default(), "the same");
    let mut lines = vec![];
    let told = |seq: Option<u64>, log: &Log| match seq {
        Some(seq) => format!("event {seq} ({})", clean(&kind(log, seq).unwrap_or_default(), 60)),
        None => "nothing".to_owned(),
    };
    let red = |text: String| paint.put(AnsiColor::Red.on_default(), text);
    let events = difference.events.as_ref().map(|event| {
        let [a, b] = [0, 1].map(|which| told(event.there[which].then_some(event.seq), logs[which]));
        match &event.member {
            Some(member) => format!(
                "differ in {} of event {}: A has {a}, B has {b}",
                if member.is_empty() { "all".into() } else { clean(member, 200) },
                event.seq
            ),
            None => format!("one log ends before event {}: A has {a}, B has {b}", event.seq),
        }
    });
    let messages = difference.messages.as_ref().map(|message| {
        let [a, b] = [0, 1].map(|which| told(message.seqs[which], logs[which]));
        let byte = message.byte.map_or(String::new(), |byte| format!(", from its byte {byte} on"));
        format!("differ from message {} on{byte}: in A of {a}, in B of {b}", message.index)
    });
    let requests = difference.requests.as_ref().map(|request| {
        let [a, b] = request.of.map(|of| of.map_or("none".to_owned(), |of| name(&of)));
        let member = match (&request.member, request.message) {
            (Some(member), Some(index)) if member == "messages" => {
                format!(" in messages, from message {index} on")
            }
            (Some(member), _) => format!(" in {}", clean(member, 60)),
            (None, _) => String::new(),
        };
        format!("differ from request {} on{member}: in A {a}, in B {b}", request.index + 1)
    });
    for (what, difference) in [("events", events), ("messages", messages), ("requests", requests)] {
        let text = difference.map_or_else(same, red);
        lines.push(format!("{:10}{text}\n", what));
    }
    let spoiled = difference.reuse.spoiled.as_ref();
    let spoiled = spoiled.map_or(String::new(), |member| format!(", because {} differs", clean(member, 60)));
    lines.push(format!("{:10}{} of A's prompt{spoiled}\n", "reusable", kept(&difference.reuse)));
    lines.concat()
}

fn one_human(list: &[Kept], paint: Paint) -> String {
    if list.is_empty() {
        return "the log has no request\n".to_owned();
    }
    let mut out = String::new();
    for request in list {
        let mut line = format!("{:28}", name(&request.of));
        match &request.reuse {
            None => line.push_str(&paint.dim(format!(
                "the first: {}, {}",
                count(request.messages.messages, "message"),
                bytes(request.messages.bytes)
            ))),
            Some(reuse) => {
                let color = if request.broken.is_some() { AnsiColor::Red } else { AnsiColor::Green };
                line.push_str(&paint.put(color.on_default(), format!("keeps {}", kept(reuse))));
            }
        }
        if let Some((cause, seq)) = request.broken {
            let spoiled = request.reuse.as_ref().and_then(|reuse| reuse.spoiled.as_ref());
            let member = spoiled.map_or(String::new(), |member| format!(" ({})", clean(member, 60)));
            line.push_str(&format!(", broken by the {}{member} of event {seq}", cause.name()));
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}
