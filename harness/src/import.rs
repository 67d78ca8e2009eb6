//! A real log as a case: once as it is stored, and once more event by event, so that it can be shortened.

use crate::case::{
    Append, Call, Case, Encoding, LogSource, Op, Payload, Ref, Sources, SurfaceOp, Template, View,
};
use foldproof::check::{Input, Loaded, Options, load};
use foldproof::dialect::{self, Dialect};
use foldproof::json::{Scanner, Value};
use foldproof::rule::Class;
use std::io::Cursor;
use std::sync::Arc;

/// The first bytes of a Zstandard frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Makes a case of a stored log, however broken it is. Without a dialect it is chosen by the log's first line.
///
/// The session `log` is restored from the bytes. When the log loads, the session `ops` is made by operations that
/// refer to each other: events that are ignorable can only be loaded, so that everything up to the last of them is.
pub fn import(log: &[u8], dialect: Option<&str>) -> Case {
    let encoding = if log.starts_with(&MAGIC) { Encoding::Zstd } else { Encoding::Plain };
    let input = match encoding {
        Encoding::Plain => Input::Plain(Box::new(log)),
        Encoding::Zstd => Input::Compressed(Box::new(Cursor::new(log))),
    };
    let options = Options { dialect: dialect.and_then(dialect::by_name).map(Arc::new), ..Options::default() };
    let loaded = load(input, &options, log.len()).ok();
    let name = match (dialect, &loaded) {
        (Some(name), _) => name.to_owned(),
        (None, Some(loaded)) => loaded.report.dialect.clone(),
        (None, None) => "dsh-v0".to_owned(),
    };
    let source = LogSource::Bytes(Payload(log.to_vec()));
    let mut case = Case::new(&name, vec![Op::new("log", Call::Restore { log: source, encoding })]);
    ask(&mut case, "log");
    if let Some(loaded) = loaded.filter(opens) {
        replay(&mut case, &loaded);
        ask(&mut case, "ops");
    }
    case
}

fn opens(loaded: &Loaded) -> bool {
    loaded.report.findings.list.iter().all(|finding| finding.class < Class::Reject)
}

fn ask(case: &mut Case, session: &str) {
    case.ops.extend(View::ALL.iter().map(|view| Op::new(session, Call::view(*view))));
    for packed in [false, true] {
        case.ops.push(Op::new(session, Call::Dump { packed, encoding: Encoding::Plain }));
    }
}

/// The session `ops`, event by event.
fn replay(case: &mut Case, loaded: &Loaded) {
    let lines: Vec<Vec<u8>> = loaded.log.events().map(|line| line.into_owned()).collect();
    let header = loaded.log.header().map(|header| Payload(header.to_vec()));
    let ignorable = |line: &Vec<u8>| with(line, |event| event.get("ignorable").is_some()).unwrap_or(false);
    let fixed = lines.iter().rposition(ignorable).map_or(0, |last| last + 1);
    if fixed == 0 {
        case.ops.push(Op::new("ops", Call::Open { header, inherited: None }));
    } else {
        let mut log = header.map(|header| [&header.0[..], b"\n"].concat()).unwrap_or_default();
        for line in &lines[..fixed] {
            log.extend_from_slice(line);
            log.push(b'\n');
        }
        let source = LogSource::Bytes(Payload(log));
        case.ops.push(Op::new("ops", Call::Restore { log: source, encoding: Encoding::Plain }));
    }
    let first = case.ops.len();
    let dialect = Arc::clone(loaded.log.dialect());
    for (seq, line) in lines.iter().enumerate().skip(fixed) {
        // Seqs of loaded events stay numbers; the others name the append that makes the event.
        let refer = |cited: u64| match usize::try_from(cited) {
            Ok(cited) if cited >= fixed && cited < seq => Ref::Op(first + cited - fixed),
            _ => Ref::Seq(cited),
        };
        if let Some(append) = with(line, |event| append(event, &dialect, &refer)) {
            case.ops.push(Op::new("ops", Call::Append(append)));
        }
    }
}

fn with<T>(line: &[u8], read: impl FnOnce(Value<'_>) -> T) -> Option<T> {
    let mut scanner = Scanner::new(u64::MAX);
    scanner.scan(line).ok().map(|scan| read(scan.root()))
}

fn append(event: Value<'_>, dialect: &Dialect, refer: &dyn Fn(u64) -> Ref) -> Append {
    let kind = event.get("type").and_then(Value::as_str).map(|kind| kind.display()).unwrap_or_default();
    let data = event.get("data");
    let text = |value: Value<'_>| Payload(value.bytes().to_vec());
    let number = |value: Value<'_>| match value.as_uint() {
        Some(seq) => refer(seq),
        None => Ref::Text(text(value)),
    };
    let surface_op = event.get("surfaceOp").map(|op| {
        let span = (op.get(&dialect.replace.start), op.get(&dialect.replace.end));
        match span {
            (Some(start), Some(end)) if spells_a_replace(dialect) => {
                SurfaceOp::Replace { start: number(start), end: number(end) }
            }
            _ if op.as_str().is_some_and(|op| op.is("append")) => SurfaceOp::Append,
            _ => SurfaceOp::Text(text(op)),
        }
    });
    let sources = event.get("sourceEventSeqs");
    Append {
        data: data.map(|data| template(&kind, data, refer)).unwrap_or_default(),
        surface_op,
        sources: sources.map(|list| Sources::Seqs(list.elements().map(number).collect())),
        time: event.get("time").and_then(Value::as_int).unwrap_or(0),
        kind,
    }
}

/// Whether a replace is spelled as a case spells it; another dialect's spelling is kept as text.
fn spells_a_replace(dialect: &Dialect) -> bool {
    dialect.replace.start == "start" && dialect.replace.end == "end"
}

/// The payload, in which a compaction's seqs are references.
fn template(kind: &str, data: Value<'_>, refer: &dyn Fn(u64) -> Ref) -> Template {
    let bytes = data.bytes();
    let mut seqs = vec![];
    if matches!(kind, "compaction/summary" | "compaction/prune") {
        seqs.extend(data.path(&["shadowedRange", "start"]));
        seqs.extend(data.path(&["shadowedRange", "end"]));
        seqs.extend(data.get("shadowedSeqs").into_iter().flat_map(|list| list.elements()));
    }
    let mut spans: Vec<(usize, usize, u64)> =
        seqs.into_iter().filter_map(|seq| Some((seq.at(), seq.end(), seq.as_uint()?))).collect();
    spans.sort_unstable();
    let (mut template, mut from) = (Template::default(), data.at());
    let cut = |start: usize, end: usize| Payload(bytes[start - data.at()..end - data.at()].to_vec());
    for (start, end, seq) in spans {
        template.push(cut(from, start));
        template.push_seq(refer(seq));
        from = end;
    }
    template.push(cut(from, data.end()));
    template
}
