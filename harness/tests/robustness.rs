//! Rubbish never confuses the reader: corpora logs, flipped, cut, doubled, swapped and spliced.
//!
//! Each broken log is loaded under a random reading; nothing may panic, hang or grow, and what loads must survive
//! everything that can be asked of a log. A slice of the broken logs is also shown to the naive model, which must find
//! the same rules at the same lines and fold as many events.
//!
//! `cargo test` runs a slice; `FOLDPROOF_ROBUSTNESS=1000000 cargo test --release --test robustness` runs as many.

use foldproof::check::{Input, Loaded, Options, load};
use foldproof::dialect::{self, Dialect, Reading};
use foldproof::limits::Limits;
use foldproof::rule::Stage;
use foldproof::session::{Session, dump};
use foldproof::{projection, request};
use foldproof_harness::model;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

/// A log of the corpora.
struct Entry {
    name: String,
    bytes: Vec<u8>,
    compressed: bool,
    tutorial: bool,
}

fn corpora() -> Vec<Entry> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora");
    let mut entries = vec![];
    for folder in ["rules", "sessions", "tutorial"] {
        let mut paths: Vec<_> = std::fs::read_dir(root.join(folder))
            .expect("the corpora are part of the repository")
            .map(|entry| entry.expect("a readable folder").path())
            .collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let compressed = name.ends_with(".zstd");
            // Long and deep logs are slow to break one place at a time; they have tests of their own.
            if !(compressed || name.ends_with(".jsonl"))
                || name.contains("long-survey")
                || name.starts_with("JSON-5")
            {
                continue;
            }
            let bytes = std::fs::read(&path).expect("a readable file");
            entries.push(Entry { name, bytes, compressed, tutorial: folder == "tutorial" });
        }
    }
    assert!(entries.len() > 500, "the corpora were found");
    entries
}

/// A xorshift generator: the test must break the same logs on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

const BYTES: &[u8] = b"\"{}[],:0123456789-+eE.\\u\n nultrfasd\x00\xff\xef\xbb\xbf\r";
const TOKENS: &[&[u8]] = &[
    b"0",
    b"1",
    b"2",
    b"-0",
    b"1.0",
    b"1e400",
    b"9007199254740993",
    b"-1",
    b"null",
    b"\"x\"",
    b"{}",
    b"[1]",
    b"true",
];

fn break_once(log: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    let at = dice.below(log.len());
    match dice.below(13) {
        0 if !log.is_empty() => log[at] ^= 1 << dice.below(8),
        1 => log.truncate(at),
        2 => {
            let end = at + dice.below((log.len() - at).min(40));
            log.drain(at..end);
        }
        3 => log.insert(at, BYTES[dice.below(BYTES.len())]),
        4 => {
            let end = at + dice.below((log.len() - at).min(80));
            let piece = log[at..end].to_vec();
            let to = dice.below(log.len());
            log.splice(to..to, piece);
        }
        5 => {
            let digits: Vec<usize> = (0..log.len()).filter(|place| log[*place].is_ascii_digit()).collect();
            if let Some(place) = digits.get(dice.below(digits.len())) {
                log.splice(place..=place, TOKENS[dice.below(TOKENS.len())].iter().copied());
            }
        }
        kind => break_lines(kind, log, other, dice),
    }
}

fn break_lines(kind: usize, log: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    let mut lines: Vec<Vec<u8>> = log.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let (one, two) = (dice.below(lines.len()), dice.below(lines.len()));
    match kind {
        6 => lines.insert(two, lines[one].clone()),
        7 => drop(lines.remove(one)),
        8 => lines.swap(one, two),
        9 => drop(lines[one].pop()),
        10 => {
            let foreign: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
            if let Some(line) = foreign.get(dice.below(foreign.len())) {
                lines.insert(one, line.to_vec());
            }
        }
        11 if one > 0 => {
            lines.remove(one);
            renumber(&mut lines);
        }
        _ if one > 0 && two > 0 => {
            lines.swap(one, two);
            renumber(&mut lines);
        }
        _ => {}
    }
    *log = lines.concat();
}

/// Makes seqs contiguous again, so that what is broken lies behind the storage rules.
fn renumber(lines: &mut [Vec<u8>]) {
    let mut next = 0u64;
    for line in lines.iter_mut().skip(1) {
        let text = String::from_utf8_lossy(line).into_owned();
        let Some(at) = text.find("\"seq\":").map(|at| at + 6) else { continue };
        let end = text[at..].find(|char: char| !char.is_ascii_digit()).map_or(text.len(), |step| at + step);
        *line = format!("{}{next}{}", &text[..at], &text[end..]).into_bytes();
        next += 1;
    }
}

fn read(bytes: &[u8], entry: &Entry, dialect: &Arc<Dialect>, reading: Reading) -> Loaded {
    let input = || -> Input<'_> {
        let source = Cursor::new(bytes);
        if entry.compressed { Input::Compressed(Box::new(source)) } else { Input::Plain(Box::new(source)) }
    };
    let limits = Limits { line: 1 << 20, decoded: 8 << 20, ..Limits::default() };
    let options = Options {
        dialect: Some(Arc::clone(dialect)),
        reading,
        notes: true,
        excerpts: true,
        limits,
        ..Options::default()
    };
    load(input(), &options, 0).unwrap_or_else(|error| panic!("{}: {error}", entry.name))
}

/// Everything that can be asked of a log, asked.
fn use_all(loaded: Loaded) {
    let log = loaded.log.clone();
    for packed in [false, true] {
        std::hint::black_box(dump(&log, packed));
    }
    std::hint::black_box(projection::print_surface(&log, log.len() / 2));
    for boundary in request::boundaries(&log) {
        std::hint::black_box(request::rebuild(&log, boundary.count).map(|request| request.to_bytes()));
    }
    let mut session = Session::restore(loaded);
    std::hint::black_box((
        session.history().to_bytes(),
        session.transcript().to_bytes(),
        session.print_inbox(),
    ));
    let _ = session.repair();
}

/// What both readers say, in a form that compares: notes are left out, order within a line is free.
fn says(found: impl Iterator<Item = (String, &'static str, u64)>, events: u64) -> (Vec<String>, u64) {
    let mut list: Vec<String> = found
        .filter(|(_, class, _)| *class != "note")
        .map(|(rule, class, line)| format!("{line}: {rule} {class}"))
        .collect();
    list.sort();
    list.dedup();
    (list, events)
}

#[test]
fn broken_logs_get_an_answer() {
    let rounds: u64 =
        std::env::var("FOLDPROOF_ROBUSTNESS").ok().and_then(|text| text.parse().ok()).unwrap_or(12_000);
    let compare_every = 4;
    let entries = corpora();
    let dialects = [Arc::new(dialect::dsh_v0()), Arc::new(dialect::tutorial())];
    let readings = [
        Reading::Strict,
        Reading::Strict,
        Reading::Released(Stage::Provider),
        Reading::Released(Stage::Publish),
    ];
    let mut dice = Dice(0x5eed_f01d_9200_f001);
    let mut verdicts = std::collections::BTreeMap::new();
    for round in 0..rounds {
        let entry = &entries[dice.below(entries.len())];
        let other = &entries[dice.below(entries.len())];
        let mut log = entry.bytes.clone();
        for _ in 0..=dice.below(3) {
            if log.is_empty() {
                break;
            }
            break_once(&mut log, if other.compressed { b"{}\n" } else { &other.bytes }, &mut dice);
        }
        let reading = readings[dice.below(readings.len())];
        let loaded = read(&log, entry, &dialects[usize::from(entry.tutorial)], reading);
        *verdicts.entry(loaded.report.verdict()).or_insert(0u64) += 1;
        if round % compare_every == 0 {
            let report = &loaded.report;
            let core = says(
                report
                    .findings
                    .list
                    .iter()
                    .map(|finding| (finding.rule.id().into(), finding.class.name(), finding.line)),
                report.events,
            );
            let mode = match reading {
                Reading::Strict => model::Mode::Strict,
                Reading::Released(Stage::Provider) => model::Mode::Provider,
                Reading::Released(_) => model::Mode::Publish,
            };
            let dialect = if entry.tutorial { model::Dialect::Tutorial } else { model::Dialect::DshV0 };
            let check = if entry.compressed { model::check_zstd } else { model::check };
            let said = check(&log, dialect, mode);
            let model = says(
                said.findings
                    .iter()
                    .map(|finding| (finding.rule.to_owned(), finding.class.name(), finding.line)),
                said.events,
            );
            if core != model {
                let path = std::env::temp_dir().join(format!("foldproof-disagreement-{round}"));
                let _ = std::fs::write(&path, &log);
                panic!(
                    "round {round}, {} broken, {reading:?}: the core says {core:?}, the model {model:?}; the log is in {}",
                    entry.name,
                    path.display()
                );
            }
        }
        use_all(loaded);
    }
    // The breaks are of all sorts: a generator that only ever makes corrupt logs would test little.
    for class in ["accept", "repairable", "relation", "reject", "corrupt", "unsupported"] {
        assert!(
            verdicts.get(class).is_some_and(|count| *count > rounds / 200),
            "{class} is rare: {verdicts:?}"
        );
    }
}
