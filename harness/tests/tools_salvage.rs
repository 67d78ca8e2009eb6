//! `foldproof repair --salvage`: the prefix opens, and with the rest it is the log, byte for byte.

#![cfg(feature = "cli")]

#[path = "support/stored.rs"]
mod stored;
mod support;

use foldproof::check::Options;
use foldproof_harness::model;
use foldproof_harness::tools::artifact::Artifact;
use foldproof_harness::tools::salvage::{Outcome, plan};
use serde_json::Value;
use stored::{conforms, frame, framed, rank, unframe};
use support::*;

fn salvaged(folder: &Folder, path: &str, out: &str) -> Value {
    let out = folder.path(out);
    let ran = run(&["repair", path, "--salvage", "-o", &out, "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let shape = serde_json::from_str(&ran.out).unwrap();
    conforms("repair", &shape);
    shape
}

#[test]
fn the_rest_is_set_beside() {
    let folder = Folder::new();
    let text = log(&[TURN, STEP, ASK, BAD_REPLACE, STEP_END, TURN_END]);
    let path = folder.write("a.jsonl", &text);
    let shape = salvaged(&folder, &path, "out.jsonl");
    let kept = log(&[TURN, STEP, ASK]);
    assert_eq!(folder.read("out.jsonl"), kept);
    assert_eq!(folder.read("out.jsonl.rest"), text[kept.len()..]);
    assert_eq!((&shape["cut"]["line"], &shape["cut"]["rule"]), (&5.into(), &"SURF-5".into()));
    // Nothing is invented: the turn stays open, and a repair closes it.
    assert_eq!((&shape["verdict"], shape["appended"].as_array().unwrap().len()), (&"repairable".into(), 0));
    assert_eq!(run(&["repair", &folder.path("out.jsonl"), "--in-place"]).code, Some(0));
    assert_eq!(run(&["check", &folder.path("out.jsonl")]).code, Some(0));
    // The rest is not overwritten either.
    std::fs::remove_file(folder.path("out.jsonl")).unwrap();
    let ran = run(&["repair", &path, "--salvage", "-o", &folder.path("out.jsonl")]);
    assert!(ran.code == Some(2) && ran.err.contains("out.jsonl.rest"), "{ran:?}");
    assert!(!folder.0.join("out.jsonl").exists());
    let ran = run(&["repair", &path, "--salvage", "-o", &folder.path("out.jsonl.zstd")]);
    assert_eq!(ran.code, Some(2), "bytes are kept, so the encoding is");
}

#[test]
fn no_rest_of_another_log_stays_beside_a_forced_one() {
    let folder = Folder::new();
    let bad = folder.write("bad.jsonl", log(&[TURN, STEP, ASK, BAD_REPLACE, STEP_END, TURN_END]));
    let good = folder.write("good.jsonl", good());
    // OUT has no suffix, so plain and compressed logs may go there in turn.
    let mut flipped = framed(&log(&[TURN, TURN_END]), &[1, 1]);
    // The checksum of the first frame of events; the second one can still be read.
    let first = framed(&log(&[TURN, TURN_END]), &[1]).len();
    flipped[first - 1] ^= 1;
    let flipped = folder.write("flipped.jsonl.zstd", flipped);
    let out = folder.path("out");
    let beside = || {
        let there = |suffix: &&str| folder.0.join(format!("out{suffix}")).exists();
        ["", ".rest", ".rest.zst", ".rest.txt"].into_iter().filter(there).collect::<Vec<_>>()
    };
    for (log, files, removed) in [
        (&bad, &["", ".rest"][..], &[][..]),
        (&flipped, &["", ".rest.zst"], &["out.rest:"]),
        (&bad, &["", ".rest"], &["out.rest.zst:", "out.rest.txt:"]),
        (&good, &[""], &["out.rest:"]),
        (&bad, &["", ".rest"], &[]),
    ] {
        let ran = run(&["repair", log, "--salvage", "-o", &out, "--force"]);
        let told: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("removed ")).collect();
        let named = told.iter().zip(removed).all(|(line, name)| line.contains(name));
        assert!(ran.code == Some(0) && told.len() == removed.len() && named, "{ran:?}");
        // Text that could be dug out comes with a damaged frame only.
        let there: Vec<&str> = beside().into_iter().filter(|suffix| *suffix != ".rest.txt").collect();
        assert_eq!((&there[..], beside().contains(&".rest.txt")), (files, log == &flipped));
    }
    // Unforced, whatever any salvage into this OUT may have left is in the way.
    std::fs::remove_file(&out).unwrap();
    let ran = run(&["repair", &flipped, "--salvage", "-o", &out]);
    assert!(ran.code == Some(2) && ran.err.contains("out.rest "), "{ran:?}");
}

#[test]
fn what_opens_is_copied_and_what_has_no_header_is_refused() {
    let folder = Folder::new();
    let shape = salvaged(&folder, &folder.write("good.jsonl", good()), "copy.jsonl");
    assert_eq!((&shape["outcome"], folder.read("copy.jsonl")), (&"unchanged".into(), good()));
    assert!(!folder.0.join("copy.jsonl.rest").exists());
    for (text, id) in [
        (String::new(), "no-header"),
        (good().split_once('\n').unwrap().1.to_owned(), "no-header"),
        (good().replace("\"version\":0", "\"version\":1"), "unsupported"),
    ] {
        let path = folder.write("bad.jsonl", text);
        let ran = run(&["repair", &path, "--salvage", "-o", &folder.path("none.jsonl"), "--format", "json"]);
        let shape: Value = serde_json::from_str(&ran.out).unwrap();
        conforms("repair", &shape);
        assert_eq!((ran.code, &shape["refusal"]["id"]), (Some(1), &id.into()));
        assert!(!folder.0.join("none.jsonl").exists() && !folder.0.join("none.jsonl.rest").exists());
    }
}

#[test]
fn frames_stay_whole_and_good_lines_of_a_bad_one_are_framed_anew() {
    let folder = Folder::new();
    let text = log(&[TURN, STEP, ASK, BAD_REPLACE, STEP_END, TURN_END]);
    let whole = framed(&text, &[2, 3, 1]);
    let shape = salvaged(&folder, &folder.write("a.jsonl.zstd", &whole), "out.jsonl.zstd");
    let out = std::fs::read(folder.path("out.jsonl.zstd")).unwrap();
    let rest = std::fs::read(folder.path("out.jsonl.zstd.rest.zst")).unwrap();
    let copied = framed(&log(&[TURN, STEP]), &[2]).len();
    assert_eq!(shape["kept"]["bytes"], copied);
    assert_eq!([&out[..copied], &rest[..]].concat(), whole);
    assert_eq!(String::from_utf8(unframe(&out)).unwrap(), log(&[TURN, STEP, ASK]));
    assert!(shape["rest"].get("text").is_none());
}

#[test]
fn text_is_dug_out_of_damaged_frames() {
    let folder = Folder::new();
    let text = log(&[TURN, STEP, ASK, STEP_END, TURN_END]);
    let mut whole = framed(&text, &[2, 1, 2]);
    let start = framed(&log(&[TURN, STEP]), &[2]).len();
    let end = framed(&log(&[TURN, STEP, ASK]), &[2, 1]).len();
    // The checksum of the frame that holds the user's message.
    whole[end - 1] ^= 1;
    let shape = salvaged(&folder, &folder.write("a.jsonl.zstd", &whole), "out.jsonl.zstd");
    let out = std::fs::read(folder.path("out.jsonl.zstd")).unwrap();
    let rest = std::fs::read(folder.path("out.jsonl.zstd.rest.zst")).unwrap();
    assert_eq!((&out[..], [&out[..], &rest[..]].concat()), (&whole[..start], whole.clone()));
    assert_eq!(shape["rest"]["text"], folder.path("out.jsonl.zstd.rest.txt"));
    // The damaged frame's line and those of the good frame behind it, to be read by people.
    let dug = folder.read("out.jsonl.zstd.rest.txt");
    let lines: Vec<&str> = text.lines().collect();
    assert!(dug.ends_with(&format!("{}\n{}\n", lines[4], lines[5])), "{dug}");
}

#[test]
fn two_writers_are_two_branches() {
    let folder = Folder::new();
    let lines: Vec<String> = good().lines().map(|line| format!("{line}\n")).collect();
    // Both wrote events 3 to 6: one after the other, and by turns.
    let behind = lines.concat() + &lines[4..].concat();
    let turns: String =
        lines[..4].concat() + &lines[4..].iter().map(|line| line.repeat(2)).collect::<String>();
    for (name, text, line, events) in [("behind", behind, 9, 7), ("turns", turns, 6, 4)] {
        let shape =
            salvaged(&folder, &folder.write(&format!("{name}.jsonl"), &text), &format!("{name}.out.jsonl"));
        assert_eq!(
            (&shape["cut"]["line"], &shape["kept"]["events"]),
            (&line.into(), &events.into()),
            "{name}"
        );
        let branches = shape["branches"].as_array().unwrap();
        let told: Vec<(u64, u64)> = branches
            .iter()
            .map(|branch| (branch["from"].as_u64().unwrap(), branch["events"].as_u64().unwrap()))
            .collect();
        assert_eq!(told, [(0, 7), (3, 7)], "{name}");
        let both =
            folder.read(&format!("{name}.out.jsonl")) + &folder.read(&format!("{name}.out.jsonl.rest"));
        assert_eq!(both, text);
    }
}

#[test]
fn nothing_of_the_corpora_is_lost() {
    let mut salvaged = 0;
    for log in stored::corpora(&["rules", "sessions", "tutorial"]) {
        let artifact = Artifact::of(log.bytes.clone(), log.zstd);
        let plan = match plan(&artifact, &Options::default()).unwrap() {
            Outcome::Plan(plan) => plan,
            Outcome::Refused(refusal, _) => {
                // Only what has no header that can be read has no prefix.
                let line = plan_line(&log);
                assert!(line == 1, "{} is refused as {}", log.name, refusal.id());
                continue;
            }
        };
        let (mut out, mut rest) = (vec![], vec![]);
        plan.write(&artifact, &mut out).unwrap();
        plan.write_rest(&artifact, &mut rest).unwrap();
        let copied = plan.copied(&artifact) as usize;
        assert_eq!([&out[..copied], &rest[..]].concat(), log.bytes, "{}", log.name);
        if !log.zstd {
            assert_eq!(out.len(), copied, "{}", log.name);
        }
        let check = if log.zstd { model::check_zstd } else { model::check };
        let after = check(&out, log.dialect, model::Mode::Strict).verdict;
        // Broken relations fold, so they stay.
        let related = log.verdict == "relation" || log.name.contains("behind-a-broken-relation");
        let most = if related { "relation" } else { "repairable" };
        assert!(rank(after) <= rank(most), "{}: {}, its prefix {after}", log.name, log.verdict);
        salvaged += usize::from(rank(&log.verdict) >= rank("reject"));
    }
    assert!(salvaged > 250, "{salvaged} logs were salvaged");
}

/// The line of the finding that the model gives.
fn plan_line(log: &stored::Stored) -> u64 {
    let check = if log.zstd { model::check_zstd } else { model::check };
    check(&log.bytes, log.dialect, model::Mode::Strict).findings[0].line
}

#[test]
fn frames_are_found_behind_rubbish() {
    let folder = Folder::new();
    let text = good();
    let whole = [framed(&text, &[7]), b"rubbish".to_vec(), frame(b"{\"late\":true}\n")].concat();
    salvaged(&folder, &folder.write("a.jsonl.zstd", &whole), "out.jsonl.zstd");
    assert_eq!(folder.read("out.jsonl.zstd.rest.txt"), "{\"late\":true}\n");
    assert_eq!(unframe(&std::fs::read(folder.path("out.jsonl.zstd")).unwrap()), text.as_bytes());
}
