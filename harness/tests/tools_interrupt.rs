//! Ctrl-C and limits in the tools: no half-written file stays, and the exit code says what happened.

#![cfg(all(feature = "cli", target_os = "linux"))]

mod support;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;
use support::*;

fn files(folder: &Folder) -> BTreeSet<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    std::fs::read_dir(&folder.0).unwrap().map(name).collect()
}

/// Whether a process has a handler for SIGINT, which is the second bit of the mask that it catches.
fn listens(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim().to_owned();
    u64::from_str_radix(&mask, 16).is_ok_and(|mask| mask & 2 != 0)
}

/// Runs until it listens, and then until `ready`; then comes a Ctrl-C.
fn interrupted(folder: &Folder, args: &[&str], ready: &dyn Fn() -> bool) -> Ran {
    let mut command = foldproof(args);
    command.current_dir(&folder.0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut ended = false;
    while !ended && (!listens(child.id()) || !ready()) {
        std::thread::sleep(Duration::from_millis(2));
        ended = child.try_wait().unwrap().is_some();
    }
    assert!(!ended, "{args:?}: it was through before it could be interrupted");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A log that takes a while, torn at its end.
fn large() -> Folder {
    let folder = Folder::new();
    let text = folder.plain("large.jsonl", 150_000);
    folder.write("torn.jsonl", text.clone() + "{\"ty");
    // The last event comes twice, so that it is damage in front of a finished turn.
    let last = text.lines().next_back().unwrap();
    folder.write("damaged.jsonl", format!("{text}{last}\n"));
    folder
}

#[test]
fn nothing_half_written_stays() {
    let folder = large();
    let before = files(&folder);
    let writing = || files(&folder).len() > before.len();
    let at_once = || true;
    for (args, ready) in [
        (&["convert", "large.jsonl", "-o", "out.jsonl.zstd"][..], &writing as &dyn Fn() -> bool),
        (&["convert", "torn.jsonl", "-o", "out.jsonl"], &at_once),
        (&["redact", "large.jsonl", "-o", "out.jsonl"], &writing),
        (&["redact", "large.jsonl", "-o", "out.jsonl"], &at_once),
        (&["repair", "torn.jsonl", "-o", "out.jsonl"], &at_once),
        (&["repair", "torn.jsonl", "--in-place"], &at_once),
        (&["repair", "damaged.jsonl", "--salvage", "-o", "out.jsonl"], &at_once),
        (&["fork", "large.jsonl", "--id", "kid", "-o", "out.jsonl"], &at_once),
        (&["shrink", "torn.jsonl", "--rule", "STORE-5", "-o", "out.jsonl"], &at_once),
        (&["explain", "damaged.jsonl", "--sarif", "out.sarif"], &at_once),
        (&["diff", "large.jsonl", "torn.jsonl"], &at_once),
    ] {
        let ran = interrupted(&folder, args, ready);
        assert_eq!((ran.code, ran.out.as_str()), (Some(130), ""), "{args:?}: {ran:?}");
        assert!(ran.err.contains("interrupted"), "{args:?}: {ran:?}");
        assert_eq!(files(&folder), before, "{args:?} left something behind");
    }
}

/// A limit is never a verdict: exit 2, the setting that raises it, and no OUT.
#[test]
fn a_limit_is_named_and_nothing_is_written() {
    let folder = Folder::new();
    folder.write("good.jsonl", good());
    folder.write("torn.jsonl", good() + "{\"ty");
    folder.write("open.jsonl", log(&[TURN, STEP, ASK]));
    let before = files(&folder);
    for args in [
        &["explain", "good.jsonl"][..],
        &["repair", "torn.jsonl", "-o", "out.jsonl"],
        &["repair", "torn.jsonl", "--in-place"],
        &["repair", "torn.jsonl", "--salvage", "-o", "out.jsonl"],
        &["fork", "good.jsonl", "--id", "kid", "-o", "out.jsonl"],
        &["convert", "good.jsonl", "-o", "out.jsonl"],
        &["redact", "good.jsonl", "-o", "out.jsonl"],
        &["shrink", "open.jsonl", "--rule", "REPAIR-2", "-o", "out.jsonl"],
        &["diff", "good.jsonl", "open.jsonl"],
    ] {
        for (limit, flag) in
            [(["--limit-line", "60"], "--limit-line"), (["--limit-events", "2"], "--limit-events")]
        {
            let mut command = foldproof(&[args, &limit].concat());
            command.current_dir(&folder.0);
            let ran = finish(command);
            assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?} {limit:?}: {ran:?}");
            assert!(ran.err.contains(flag), "{args:?} {limit:?}: {ran:?}");
            assert_eq!(files(&folder), before, "{args:?} {limit:?}");
        }
    }
}
