//! `foldproof convert` and `foldproof fork`: the same events, in another shape or under another header.

#![cfg(feature = "cli")]

#[path = "support/stored.rs"]
mod stored;
mod support;

use foldproof::check::{Options, check};
use foldproof::dialect::Reading;
use foldproof_harness::model;
use foldproof_harness::tools::artifact::Artifact;
use foldproof_harness::tools::convert::{Layout, write};
use foldproof_harness::tools::fork::{Outcome, fork};
use serde_json::Value;
use stored::{conforms, framed, rank, unframe};
use support::*;

fn chunk(seq: u64, text: &str) -> String {
    format!(
        r#"{{"type":"assistant/chunk","seq":{seq},"time":{},"data":{{"turn":1,"step":1,"chunk":{{"type":"text-delta","index":0,"text":"{text}"}}}}}}"#,
        seq * 10
    )
}

/// Two events, a run of three chunks, the end.
fn streamed() -> (String, String) {
    let rest = log(&[TURN, STEP, STEP_END, STEP_END, STEP_END, STEP_END, TURN_END]);
    let lines: Vec<&str> = rest.lines().collect();
    let end = [lines[6], lines[7], ""].join("\n");
    let start = [lines[0], lines[1], lines[2], ""].join("\n");
    let chunks = [chunk(2, "a"), chunk(3, "b"), chunk(4, "c"), String::new()].join("\n");
    let row = r#"{"type":"text-chunks","seq0":2,"time0":20,"data":{"turn":1,"step":1,"index":0,"dt":[10,10],"texts":["a","b","c"]}}"#;
    (format!("{start}{chunks}{end}"), format!("{start}{row}\n{end}"))
}

#[test]
fn rows_are_packed_unpacked_or_kept() {
    let folder = Folder::new();
    let (plain, packed) = streamed();
    let one = folder.write("plain.jsonl", &plain);
    let other = folder.write("packed.jsonl", &packed);
    for (path, more, expected) in [
        (&one, &["--packed"][..], &packed),
        (&other, &["--plain"], &plain),
        (&one, &[], &plain),
        (&other, &[], &packed),
    ] {
        let out = folder.path("out.jsonl");
        let ran = run(&[&["convert", path, "-o", &out, "--force"], more].concat());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
        assert_eq!(folder.read("out.jsonl"), *expected);
    }
    assert_eq!(run(&["convert", &one, "-o", &one, "--force"]).code, Some(2), "the log itself");
}

#[test]
fn lines_become_canonical_and_compression_follows_the_suffix() {
    let folder = Folder::new();
    let spelled =
        good().replace("{\"type\"", "{ \"type\"").replace("\"Hi\"", "\"\\u0048i\"").replace('\n', "\r\n");
    let path = folder.write("spelled.jsonl", spelled);
    let out = folder.path("out.jsonl.zstd");
    let ran = run(&["convert", &path, "-o", &out, "--format", "json"]);
    let shape: Value = serde_json::from_str(&ran.out).unwrap();
    conforms("convert", &shape);
    assert_eq!(
        (&shape["events"], &shape["lines"], &shape["encoding"]),
        (&7.into(), &8.into(), &"zstd".into())
    );
    let bytes = std::fs::read(&out).unwrap();
    assert_eq!(String::from_utf8(unframe(&bytes)).unwrap(), good());
    assert_eq!(shape["bytes"], bytes.len());
    assert_eq!(run(&["check", &out]).code, Some(0), "the header has a frame of its own");
    let back = folder.path("back.jsonl");
    assert_eq!(run(&["convert", &out, "-o", &back]).code, Some(0));
    assert_eq!(folder.read("back.jsonl"), good());
}

#[test]
fn a_torn_tail_is_left_out_aloud_and_a_broken_log_is_refused() {
    let folder = Folder::new();
    let path = folder.write("torn.jsonl", good() + "{\"ty");
    let ran = run(&["convert", &path, "-o", &folder.path("out.jsonl")]);
    assert!(
        ran.code == Some(0) && ran.err.contains("STORE-5") && ran.err.contains("was not converted"),
        "{ran:?}"
    );
    assert_eq!(folder.read("out.jsonl"), good());
    let path = folder.write("bad.jsonl", log(&[TURN, STEP, ASK, BAD_REPLACE]));
    let ran = run(&["convert", &path, "-o", &folder.path("none.jsonl"), "--format", "json"]);
    let shape: Value = serde_json::from_str(&ran.out).unwrap();
    conforms("convert", &shape);
    assert_eq!(
        (ran.code, &shape["outcome"], &shape["verdict"]),
        (Some(1), &"refused".into(), &"reject".into())
    );
    assert!(!folder.0.join("none.jsonl").exists());
}

fn converted(artifact: &Artifact, layout: Layout, zstd: bool) -> Option<Artifact> {
    let options = Options::default();
    let report = check(artifact.input().unwrap(), &options).unwrap();
    if rank(report.verdict()) >= rank("reject") {
        return None;
    }
    let mut out = vec![];
    write(artifact, &report, layout, zstd, &options, &mut out).unwrap();
    Some(Artifact::of(out, zstd))
}

fn bytes(artifact: &Artifact) -> Vec<u8> {
    artifact.head(u64::MAX).unwrap()
}

#[test]
fn conversions_of_the_corpora_tell_the_same_events() {
    for log in stored::corpora(&["sessions", "tutorial", "rules"]) {
        let artifact = Artifact::of(log.bytes.clone(), log.zstd);
        let Some(packed) = converted(&artifact, Layout::Packed, !log.zstd) else {
            assert!(rank(&log.verdict) >= rank("reject"), "{}", log.name);
            continue;
        };
        let plain = converted(&packed, Layout::Plain, false).unwrap();
        let again = converted(&plain, Layout::Packed, !log.zstd).unwrap();
        assert_eq!(bytes(&packed), bytes(&again), "{}", log.name);
        let kept = converted(&plain, Layout::Kept, false).unwrap();
        assert_eq!(bytes(&plain), bytes(&kept), "{}", log.name);
        let before = model::Session::restore(log.dialect, &log.bytes, log.zstd).unwrap();
        for (form, zstd) in [(&packed, !log.zstd), (&plain, false)] {
            let bytes = bytes(form);
            let after = model::Session::restore(log.dialect, &bytes, zstd).unwrap();
            assert_eq!(after.events(), before.events(), "{}", log.name);
            assert_eq!(after.session_header(), before.session_header(), "{}", log.name);
            let check = if zstd { model::check_zstd } else { model::check };
            let verdict = check(&bytes, log.dialect, model::Mode::Strict).verdict;
            assert!(rank(verdict) <= rank(&log.verdict), "{}: {verdict}", log.name);
        }
        assert_eq!(
            String::from_utf8(bytes(&plain)).unwrap().into_bytes(),
            before.dump(false),
            "{}",
            log.name
        );
    }
}

#[test]
fn a_fork_inherits_up_to_its_boundary() {
    let folder = Folder::new();
    let header = r#"{"type":"session","version":0,"id":"p","createdAt":5,"cwd":"/w","delegationDepth":2,"agentPreset":"x"}"#;
    let text = log_with(header, &[TURN, TURN_END, r#"{"type":"turn/start","data":{"turn":2}}"#]);
    let path = folder.write("p.jsonl", &text);
    let out = folder.path("c.jsonl");
    let ran = run(&["fork", &path, "--at", "1", "--id", "c", "-o", &out]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let inherited: String = text.split_inclusive('\n').skip(1).take(2).collect();
    let child = |created: u64| {
        format!(
            "{{\"type\":\"session\",\"version\":0,\"id\":\"c\",\"createdAt\":{created},\"cwd\":\"/w\",\"parentSession\":\"p\",\
             \"seedLength\":2,\"delegationDepth\":2,\"agentPreset\":\"x\"}}\n{inherited}\
             {{\"type\":\"session/end-seed\",\"seq\":2,\"time\":{created},\"data\":{{}}}}\n"
        )
    };
    // The time is that of the last inherited event, so that the same fork is always the same bytes.
    assert_eq!(folder.read("c.jsonl"), child(10));
    assert_eq!(
        run(&["check", folder.0.to_str().unwrap(), "--allow", "repairable"]).code,
        Some(0),
        "FORK-3, FORK-4"
    );
    let ran = run(&[
        "fork",
        &path,
        "--at",
        "1",
        "--id",
        "c",
        "-o",
        &out,
        "--created-at",
        "99",
        "--force",
        "--format",
        "json",
    ]);
    let shape: Value = serde_json::from_str(&ran.out).unwrap();
    conforms("fork", &shape);
    assert_eq!(
        (&shape["inherited"], &shape["events"], &shape["createdAt"]),
        (&2.into(), &3.into(), &99.into())
    );
    assert_eq!(folder.read("c.jsonl"), child(99));
    // The child's suffix decides its encoding.
    let packed = folder.path("c.jsonl.zstd");
    let again = ["fork", &path, "--at", "1", "--id", "c", "-o", &packed];
    // A folder holds one log of a session: the id is taken by c.jsonl, whatever the file is called.
    let ran = run(&[&again[..], &["--format", "json"]].concat());
    let shape: Value = serde_json::from_str(&ran.out).unwrap();
    conforms("fork", &shape);
    assert_eq!((ran.code, &shape["refusal"]["code"]), (Some(1), &"SESSION_ALREADY_EXISTS".into()), "{ran:?}");
    assert!(ran.err.contains("c.jsonl in the same folder") && ran.err.contains("--force"), "{}", ran.err);
    assert!(!std::path::Path::new(&packed).exists());
    let elsewhere = folder.path("elsewhere/c.jsonl");
    folder.write("elsewhere/notes.txt", "");
    assert_eq!(run(&["fork", &path, "--at", "1", "--id", "c", "-o", &elsewhere]).code, Some(0));
    assert_eq!(run(&[&again[..], &["--force"]].concat()).code, Some(0));
    assert_eq!(unframe(&std::fs::read(packed).unwrap()), child(10).into_bytes());
}

#[test]
fn refused_forks_name_their_code() {
    let folder = Folder::new();
    let path = folder.write("p.jsonl", log(&[TURN, TURN_END, r#"{"type":"turn/start","data":{"turn":2}}"#]));
    let framed = folder.write("p.jsonl.zstd", framed(&log(&[TURN, TURN_END]), &[2]));
    for (path, at, id, code) in [
        (&path, "0", "c", "OPEN_TURN"),
        (&path, "2", "c", "OPEN_TURN"),
        (&path, "3", "c", "INVALID_BOUNDARY"),
        (&path, "-1", "c", "INVALID_BOUNDARY"),
        (&path, "1.5", "c", "INVALID_BOUNDARY"),
        (&path, "9007199254740992", "c", "INVALID_BOUNDARY"),
        (&path, "1", "s", "SESSION_ALREADY_EXISTS"),
        (&framed, "2", "c", "INVALID_BOUNDARY"),
    ] {
        let out = folder.path("none.jsonl");
        let ran = run(&["fork", path, "--at", at, "--id", id, "-o", &out, "--format", "json"]);
        let shape: Value = serde_json::from_str(&ran.out).unwrap();
        conforms("fork", &shape);
        assert_eq!((ran.code, &shape["refusal"]["code"]), (Some(1), &code.into()), "{at} {id}");
        assert!(ran.err.contains(&format!("FORK-2 {code}")), "{}", ran.err);
        assert!(!folder.0.join("none.jsonl").exists());
    }
    assert_eq!(run(&["fork", &path, "--id", "", "-o", &folder.path("none.jsonl")]).code, Some(2));
    let broken = folder.write("bad.jsonl", log(&[TURN, STEP, ASK, BAD_REPLACE]));
    assert_eq!(run(&["fork", &broken, "--id", "c", "-o", &folder.path("none.jsonl")]).code, Some(1));
}

#[test]
fn forks_of_the_corpora_load() {
    let mut forked = 0;
    for log in stored::corpora(&["sessions", "tutorial", "rules"]) {
        let artifact = Artifact::of(log.bytes.clone(), log.zstd);
        let options = Options { reading: Reading::Strict, ..Options::default() };
        match fork(&artifact, Ok(None), "kid", None, &options).unwrap() {
            Outcome::Forked(fork) => {
                let text = fork.child.dump(false);
                let after = model::check(&text, log.dialect, model::Mode::Strict).verdict;
                assert!(rank(after) <= rank(&log.verdict), "{}: {after}", log.name);
                let parent = model::Session::restore(log.dialect, &log.bytes, log.zstd).unwrap();
                let child = model::Session::restore(log.dialect, &text, false).unwrap();
                assert_eq!(child.messages(), parent.messages(), "{}: FORK-4", log.name);
                forked += 1;
            }
            Outcome::Refused(error, _) => assert_eq!(error.code(), "OPEN_TURN", "{}", log.name),
            Outcome::Unreadable(_) => assert!(rank(&log.verdict) >= rank("reject"), "{}", log.name),
        }
    }
    assert!(forked > 150, "{forked} logs were forked");
}
