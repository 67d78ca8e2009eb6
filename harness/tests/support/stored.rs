//! Stored logs for the tests of the tools: frames written by hand, schemas, the corpora as bytes.

#![allow(dead_code, reason = "each test binary uses a part of it")]

#[path = "schema.rs"]
pub mod schema;

use foldproof_harness::model::Dialect;
use serde_json::Value;
use std::io::Write;
use std::path::Path;

/// One frame with a checksum.
pub fn frame(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(vec![], 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// The text of whole frames.
pub fn unframe(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::decode_all(bytes).unwrap()
}

/// A log in frames: the header, then as many lines in each frame as is said; what is left over is left out.
pub fn framed(log: &str, sizes: &[usize]) -> Vec<u8> {
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let mut out = frame(lines[0].as_bytes());
    let mut at = 1;
    for size in sizes {
        out.extend(frame(lines[at..at + size].concat().as_bytes()));
        at += size;
    }
    out
}

/// A log of the corpora.
pub struct Stored {
    pub name: String,
    pub bytes: Vec<u8>,
    pub zstd: bool,
    pub dialect: Dialect,
    pub verdict: String,
}

/// The logs of the corpora with what is expected of them.
pub fn corpora(folders: &[&str]) -> Vec<Stored> {
    let mut found = vec![];
    for folder in folders {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora").join(folder);
        let text = std::fs::read_to_string(path.join("expect.json")).unwrap();
        let expected: Value = serde_json::from_str(&text).unwrap();
        let dialect = if *folder == "tutorial" { Dialect::Tutorial } else { Dialect::DshV0 };
        for (name, expected) in expected.as_object().unwrap() {
            let verdict = expected["verdict"].as_str().unwrap();
            found.push(Stored {
                name: name.clone(),
                bytes: std::fs::read(path.join(name)).unwrap(),
                zstd: name.ends_with(".zstd"),
                dialect,
                // Notes are looked for only when asked.
                verdict: if verdict == "note" { "accept" } else { verdict }.to_owned(),
            });
        }
    }
    found
}

/// From the best to the worst.
pub fn rank(verdict: &str) -> usize {
    let verdicts = ["accept", "note", "repairable", "relation", "reject", "corrupt", "unsupported"];
    verdicts.iter().position(|name| *name == verdict).unwrap()
}

/// Panics unless a value is what a schema of `harness/schema` says.
pub fn conforms(schema: &str, value: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(format!("{schema}.schema.json"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    if let Err(why) = schema::fits(&schema, &schema, value) {
        panic!("{why}\n{value:#}");
    }
}
