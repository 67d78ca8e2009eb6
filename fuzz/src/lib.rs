//! What the targets share: one macro, and the checks that take bytes.
//!
//! Under `cfg(fuzzing)` a target is libFuzzer's; on stable it is a program that replays the files named on its command
//! line, so that every crash can be looked at without nightly.

use foldproof::check::{Input, Options, load};
use foldproof::json::{Scanner, canonicalize};
use foldproof::limits::Limits;
use foldproof::session::dump;
use std::io::Cursor;

#[cfg(fuzzing)]
#[doc(hidden)]
pub use libfuzzer_sys;

/// Makes a target of a function over bytes.
#[macro_export]
macro_rules! target {
    ($check:path) => {
        #[cfg(fuzzing)]
        $crate::libfuzzer_sys::fuzz_target!(|data: &[u8]| $check(data));

        #[cfg(not(fuzzing))]
        fn main() -> std::process::ExitCode {
            $crate::replay($check)
        }
    };
}

/// Runs a check over the files named on the command line.
pub fn replay(check: fn(&[u8])) -> std::process::ExitCode {
    let mut count = 0;
    for path in std::env::args().skip(1) {
        match std::fs::read(&path) {
            Ok(bytes) => check(&bytes),
            Err(error) => {
                eprintln!("{path}: {error}");
                return std::process::ExitCode::from(2);
            }
        }
        count += 1;
    }
    println!("{count} inputs replayed");
    std::process::ExitCode::SUCCESS
}

/// Canonical form: idempotent, and the value that `serde_json` reads where that can speak.
pub fn json_bytes(data: &[u8]) {
    let Ok(once) = canonicalize(data, 100) else { return };
    assert_eq!(canonicalize(&once, 100).as_ref(), Ok(&once), "canonical bytes are their own canonical form");
    if let (Ok(before), Ok(after)) = (
        serde_json::from_slice::<serde_json::Value>(data),
        serde_json::from_slice::<serde_json::Value>(&once),
    ) {
        assert_eq!(before, after, "printing keeps the value");
    }
}

/// Lines from which a scanner learns what most lines look like.
const TYPICAL: [&str; 4] = [
    r#"{"type":"assistant/chunk","seq":4,"time":17,"data":{"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"a"}}}"#,
    r#"{"type":"step/start","seq":3,"time":17,"data":{"turn":1,"step":1}}"#,
    r#"{"type":"user/message","seq":2,"time":17,"data":{"id":"u","role":"user","content":[{"type":"text","text":"a"}],"source":{"kind":"user"}},"surfaceOp":"append"}"#,
    r#"{"type":"turn/start","seq":0,"time":17,"data":{"turn":1}}"#,
];

/// A scanner that has learnt what lines look like reads every line as one does that has not.
pub fn templates(data: &[u8]) {
    let mut learnt = Scanner::new(100);
    for line in TYPICAL.iter().cycle().take(80) {
        assert!(learnt.scan(line.as_bytes()).is_ok(), "a typical line is JSON");
    }
    for line in data.split(|byte| *byte == b'\n').filter(|line| std::str::from_utf8(line).is_ok()) {
        let mut fresh = Scanner::new(100);
        let slow = fresh.scan(line).map(|scan| format!("{scan:?}"));
        assert_eq!(learnt.scan(line).map(|scan| format!("{scan:?}")), slow, "both ways of reading agree");
    }
}

/// Bounds that keep one input fast.
fn options() -> Options {
    let limits = Limits { line: 1 << 20, decoded: 4 << 20, ..Limits::default() };
    Options { notes: true, limits, ..Options::default() }
}

/// Any bytes as a plain log: what loads must dump, packed and plain, to a log that loads to the same events.
pub fn load_log(data: &[u8]) {
    templates(data);
    let Ok(loaded) = load(Input::Plain(Box::new(data)), &options(), data.len()) else { return };
    for packed in [false, true] {
        let text = dump(&loaded.log, packed);
        if loaded.log.is_empty() || text.is_empty() {
            continue;
        }
        let Ok(again) = load(Input::Plain(Box::new(&text[..])), &options(), text.len()) else { return };
        assert!(again.log.events().eq(loaded.log.events()), "the same events, packed or not");
        assert_eq!(again.report.surface, loaded.report.surface, "and the same surface");
    }
}

/// Any bytes as a compressed log.
pub fn load_zstd(data: &[u8]) {
    let _ = load(Input::Compressed(Box::new(Cursor::new(data))), &options(), data.len());
}
