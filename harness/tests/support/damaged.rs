//! Logs that were damaged in different ways, and a few that are fine, each with what is to be said of it, by hand from
//! the contract.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use crate::stored::{frame, framed};
use crate::support::*;

/// A file, and what each tool has to say of it.
pub struct Sample {
    pub name: &'static str,
    pub bytes: Vec<u8>,
    /// What `explain` calls the matter.
    pub case: &'static str,
    /// The exit code of `explain`, which is that of `check` but for a wrong suffix.
    pub code: i32,
    /// Events that stand safe, where it is a log at all.
    pub safe: Option<u64>,
    /// What `check` says, and the rules that it names, in alphabetical order.
    pub verdict: &'static str,
    pub rules: &'static [&'static str],
    /// The outcome of `repair` and of `repair --salvage`.
    pub repair: &'static str,
    pub salvage: &'static str,
}

const NAMELESS: &str = r#"{"type":"assistant/message","data":{"turn":1,"step":1,"message":{"id":"a","role":"assistant","content":[{"type":"tool-call","id":"","name":"n","arguments":"{}"}],"source":{"kind":"model","provider":"p","model":"m"}}},"surfaceOp":"append"}"#;
/// A row of two chunks that has two gaps, where one would be right.
const BAD_ROW: &str = r#"{"type":"text-chunks","seq0":2,"time0":20,"data":{"turn":1,"step":1,"index":0,"dt":[1,1],"texts":["a","b"]}}"#;

/// The samples.
pub fn damaged() -> Vec<Sample> {
    let good = good();
    let whole = framed(&good, &[3, 4]);
    let (header, events) = good.split_once('\n').unwrap();
    let mut flipped = whole.clone();
    let last = flipped.len() - 1;
    flipped[last] ^= 1;
    let lines: Vec<&str> = good.split_inclusive('\n').collect();
    let text = |text: &str| text.as_bytes().to_vec();
    let utf16: Vec<u8> =
        "\u{feff}".encode_utf16().chain(good.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let torn = frame(b"{\"type\":\"turn/start\",\"seq\":7,\"time\":9,\"data\":{\"turn\":2}}\n");
    let mut hole = text(&good);
    hole[header.len() + 70..header.len() + 90].fill(0);
    let mut latin = text(&good);
    let at = good.find("Ho").unwrap();
    latin[at] = 0xe9;
    let tutorial = std::fs::read(corpora("tutorial/weather-book.jsonl")).unwrap();
    let row = log(&[TURN, STEP]) + BAD_ROW + "\n" + &lines[6..].concat();
    let swapped = [&lines[..3], &[lines[4], lines[3]], &lines[5..]].concat().concat();
    let blank = [&lines[..3], &["\n"], &lines[3..]].concat().concat();
    let rubbish = [&framed(&good, &[3])[..], b"rubbish", &frame(lines[4..].concat().as_bytes())].concat();
    let title = r#"{"type":"session/title","data":{"title":"t","at":9007199254740993}}"#;
    let mut samples = vec![];
    let mut add = |name, bytes, case, safe, (verdict, rules), (repair, salvage)| {
        let code = i32::from(!matches!(case, "healthy" | "tutorial"));
        samples.push(Sample { name, bytes, case, code, safe, verdict, rules, repair, salvage });
    };
    let refused = ("refused", "refused");
    let cut = ("refused", "salvaged");
    let torn_off = ("repaired", "salvaged");
    let fine = ("unchanged", "unchanged");
    let no_header: (&str, &[&str]) = ("corrupt", &["STORE-1"]);
    let frames: (&str, &[&str]) = ("corrupt", &["CODEC-3"]);
    let seqs: (&str, &[&str]) = ("corrupt", &["STORE-3"]);
    let accepted: (&str, &[&str]) = ("accept", &[]);

    // No log at all, or one that pretends to be something else.
    add("empty.jsonl", vec![], "empty", None, no_header, refused);
    add("binary.jsonl", (0..=255).collect(), "binary", None, no_header, refused);
    add("gzip.jsonl.zstd", vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff], "binary", None, frames, refused);
    add("prose.jsonl", text("dear diary\nnothing happened\n"), "not-a-log", None, no_header, refused);
    add("marked.jsonl", text(&format!("\u{feff}{good}")), "byte-order-mark", None, no_header, refused);
    add("wide.jsonl", utf16, "utf-16", None, no_header, refused);
    add("plain.jsonl.zstd", text(&good), "plain-named-zstd", None, frames, refused);
    add("zstd.jsonl", whole.clone(), "zstd-named-plain", None, no_header, refused);
    // Its header is whole, so the longest prefix that opens is the header alone.
    add("one.jsonl.zstd", frame(good.as_bytes()), "whole-frame", None, frames, cut);

    // The header is lost, damaged or of another time.
    add("first.jsonl.zstd", whole[..30].to_vec(), "header-cut-off", None, no_header, refused);
    add("beheaded.jsonl", text(events), "no-header", None, no_header, refused);
    let mangled = good.replace("\"createdAt\":0", "\"createdAt\":\"now\"");
    add("mangled.jsonl", text(&mangled), "bad-header", None, no_header, refused);
    let future = good.replace("\"version\":0", "\"version\":4");
    add("future.jsonl", text(&future), "future-version", None, ("unsupported", &["STORE-2"]), refused);
    let past = good.replace("\"version\":0", "\"version\":-1");
    add("past.jsonl", text(&past), "older-version", None, ("unsupported", &["STORE-2"]), refused);
    let later = good.replace("request/header", "request/later");
    add("later.jsonl", text(&later), "unknown-event", Some(3), ("unsupported", &["VOCAB-1"]), cut);

    // Bytes were changed or lost in what was committed.
    add("flipped.jsonl.zstd", flipped, "corrupt-frame", Some(3), frames, cut);
    add("rubbish.jsonl.zstd", rubbish, "corrupt-frame", Some(3), frames, cut);
    add("writers.jsonl", text(&(lines.concat() + &lines[3..].concat())), "two-writers", Some(7), seqs, cut);
    add(
        "live-writers.jsonl",
        text(&(lines.concat() + lines[7] + lines[6])),
        "two-writers",
        Some(7),
        seqs,
        cut,
    );
    add("hole.jsonl", hole, "damaged", Some(1), ("corrupt", &["STORE-6"]), cut);
    add("latin.jsonl", latin, "damaged", Some(4), ("corrupt", &["STORE-4"]), cut);
    add("blank.jsonl", text(&blank), "damaged", Some(2), ("corrupt", &["STORE-6"]), cut);
    add("row.jsonl", text(&row), "damaged", Some(2), ("corrupt", &["CODEC-1"]), cut);
    add("dropped.jsonl", text(&lines.concat().replace(lines[4], "")), "damaged", Some(3), seqs, cut);
    add("swapped.jsonl", text(&swapped), "damaged", Some(2), seqs, cut);
    add("two-headers.jsonl", text(&(lines[0].to_owned() + &good)), "damaged", Some(0), seqs, cut);

    // Stored well, and not admitted.
    let refuse = log(&[TURN, STEP, ASK, BAD_REPLACE]);
    add("refused.jsonl", text(&refuse), "rejected", Some(3), ("reject", &["SURF-5"]), cut);
    let twice = good.replace("\"seq\":2,", "\"seq\":2,\"seq\":2,");
    add("twice.jsonl", text(&twice), "rejected", Some(2), ("reject", &["JSON-6"]), cut);
    add("number.jsonl", text(&log(&[title])), "rejected", Some(0), ("reject", &["JSON-3"]), cut);
    let member = good.replace("\"seq\":3,", "\"seq\":3,\"note\":\"mine\",");
    add("member.jsonl", text(&member), "rejected", Some(3), ("reject", &["ENV-1"]), cut);
    let retired = log(&[TURN, TURN_END, r#"{"type":"mode/set","data":{"mode":"plan"}}"#]);
    add("retired.jsonl", text(&retired), "rejected", Some(2), ("reject", &["VOCAB-3"]), cut);

    // Cut off.
    let frame_torn = [&whole[..], &torn[..torn.len() - 3]].concat();
    let open_frame: (&str, &[&str]) = ("repairable", &["CODEC-3", "REPAIR-2"]);
    add("torn.jsonl.zstd", frame_torn, "torn-frame", Some(8), open_frame, torn_off);
    let stray = [&whole[..], b"ab"].concat();
    add("stray.jsonl.zstd", stray, "torn-frame", Some(7), ("repairable", &["CODEC-3"]), torn_off);
    let tail: (&str, &[&str]) = ("repairable", &["STORE-5"]);
    add("torn.jsonl", text(&(good.clone() + "{\"ty")), "torn-tail", Some(7), tail, torn_off);
    let tail: (&str, &[&str]) = ("repairable", &["REPAIR-2", "STORE-5"]);
    add("edited.jsonl", text(good.trim_end()), "torn-tail", Some(6), tail, torn_off);
    add("half.jsonl", text(&good[..at]), "torn-tail", Some(4), tail, torn_off);
    let open = log(&[TURN, STEP, ASK]);
    let closed = ("repaired", "unchanged");
    add("open.jsonl", text(&open), "open-turn", Some(3), ("repairable", &["REPAIR-2"]), closed);

    // Events that do not fit each other.
    let nameless = log(&[TURN, STEP, ASK, NAMELESS]);
    let unrepairable: (&str, &[&str]) = ("relation", &["PAIR-4", "REPAIR-6"]);
    add("nameless.jsonl", text(&nameless), "unrepairable", Some(4), unrepairable, ("refused", "unchanged"));
    let numbered = good.replace("\"turn\":1", "\"turn\":2");
    add("numbered.jsonl", text(&numbered), "relation", Some(7), ("relation", &["LIFE-1"]), fine);

    // Nothing is the matter.
    add("lesson.jsonl", tutorial, "tutorial", Some(31), accepted, fine);
    add("good.jsonl", text(&good), "healthy", Some(7), accepted, fine);
    add("good.jsonl.zstd", whole, "healthy", Some(7), accepted, fine);
    add("it's a good one.jsonl", text(&good), "healthy", Some(7), accepted, fine);
    samples
}
