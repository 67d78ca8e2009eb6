//! What the tests of the program share: running it, folders of their own, logs written by hand.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// What a run of the program left.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// The program, with an environment that does not depend on who runs the tests.
pub fn foldproof(args: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foldproof"));
    command.args(args).stdin(Stdio::null()).env_remove("NO_COLOR").env_remove("COLUMNS");
    for limit in ["LINE", "DEPTH", "EVENTS", "DECODED", "FRAMES", "HELD"] {
        command.env_remove(format!("FOLDPROOF_LIMIT_{limit}"));
    }
    command
}

pub fn finish(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

pub fn run(args: &[&str]) -> Ran {
    finish(foldproof(args))
}

/// Runs with bytes on stdin.
pub fn pipe(args: &[&str], input: &[u8]) -> Ran {
    let mut child =
        foldproof(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // The program may end before it has read everything.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A folder that is gone when the test is through.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("foldproof-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        self.path(name)
    }

    /// Makes a long log of turns, and gives its text.
    pub fn plain(&self, name: &str, events: u32) -> String {
        let (path, events) = (self.path(name), events.to_string());
        let made = run(&["gen", "--shape", "plain", "--events", &events, "--seed", "1", "-o", &path]);
        assert_eq!(made.code, Some(0), "{made:?}");
        self.read(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file of the corpora.
pub fn corpora(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora").join(name);
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// A log: header, then event lines without their `seq` and `time`, which are put in behind the type.
pub fn log(events: &[&str]) -> String {
    log_with(HEADER, events)
}

pub const HEADER: &str = r#"{"type":"session","version":0,"id":"s","createdAt":0,"delegationDepth":0}"#;

pub fn log_with(header: &str, events: &[&str]) -> String {
    let mut text = format!("{header}\n");
    for (seq, event) in events.iter().enumerate() {
        let (kind, rest) = event.split_once(',').unwrap();
        text.push_str(&format!("{kind},\"seq\":{seq},\"time\":{},{rest}\n", seq * 10));
    }
    text
}

pub const TURN: &str = r#"{"type":"turn/start","data":{"turn":1}}"#;
pub const TURN_END: &str = r#"{"type":"turn/end","data":{"turn":1,"reason":{"kind":"completed"}}}"#;
pub const STEP: &str = r#"{"type":"step/start","data":{"turn":1,"step":1}}"#;
pub const STEP_END: &str = r#"{"type":"step/end","data":{"turn":1,"step":1}}"#;
pub const ASK: &str = r#"{"type":"user/message","data":{"id":"u","role":"user","content":[{"type":"text","text":"Hi"}],"source":{"kind":"user"}},"surfaceOp":"append"}"#;
pub const ANSWER: &str = r#"{"type":"assistant/message","data":{"turn":1,"step":1,"message":{"id":"a","role":"assistant","content":[{"type":"text","text":"Ho"}],"source":{"kind":"model","provider":"p","model":"m"}}},"surfaceOp":"append"}"#;
/// Replaces seqs that are not there (SURF-5).
pub const BAD_REPLACE: &str = r#"{"type":"user/message","data":{"id":"r","role":"user","content":[],"source":{"kind":"user"}},"sourceEventSeqs":[2],"surfaceOp":{"op":"replace","start":0,"end":2}}"#;
pub const REQUEST_HEADER: &str = r#"{"type":"request/header","data":{"header":{"config":{"provider":"p","model":"m"},"system":"S"},"reason":"initial"}}"#;

/// A log that nothing is wrong with: seven events.
pub fn good() -> String {
    log(&[TURN, STEP, ASK, REQUEST_HEADER, ANSWER, STEP_END, TURN_END])
}
