//! Logs broken at random: nothing panics, and what opens survives a round trip.

use super::*;
use crate::model::{Session, check_zstd};

/// A small generator with a fixed start, so that every run is the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// A log in which every area of the contract has something to break.
fn rich() -> String {
    let splice = r#"agent/inbox/spliced "data":{"target":"next-turn","start":0,"inserted":[{"id":"a"}]}"#;
    let header = r#"request/header "data":{"header":{"config":{"provider":"p","model":"m"},"system":"s"},"reason":"initial"}"#;
    let chunk = |text: &str| {
        format!(
            r#"assistant/chunk "data":{{"turn":1,"step":1,"chunk":{{"type":"text-delta","index":0,"text":"{text}"}}}}"#
        )
    };
    log(&[
        splice,
        TURN,
        STEP,
        &user("u", APPEND),
        header,
        &chunk("x"),
        &chunk("y"),
        &chunk("\\ud800"),
        &assistant("a", &["c", "d"], APPEND),
        &call("c"),
        &result("rc", "c", "1", APPEND),
        &call("d"),
        &result("rd", "d", "1", APPEND),
        &result("rc", "c", "2", &replace(10, 10, "10")),
        r#"compaction/start "data":{"compactionId":"k","turn":1}"#,
        r#"compaction/summary "data":{"compactionId":"k","shadowedRange":{"start":3,"end":3},"shadowedSeqs":[3],"shadowedTokenCount":0}"#,
        &user("k", &replace(3, 3, "3"))
            .replace(r#"{"kind":"user"}"#, r#"{"kind":"plugin","compactionId":"k"}"#),
        r#"compaction/end "data":{"compactionId":"k","turn":1}"#,
        STEP_END,
        TURN_END,
    ])
}

/// Everything that can be asked of a log, in every dialect and mode.
pub(super) fn ask(bytes: &[u8]) {
    for mode in [Mode::Strict, Mode::Provider, Mode::Publish] {
        check(bytes, Dialect::Tutorial, mode);
        check_zstd(bytes, Dialect::DshV0, mode);
        let report = check(bytes, Dialect::DshV0, mode);
        let refused = report.findings.iter().any(|finding| finding.class >= Class::Reject);
        let opened = Session::open(Dialect::DshV0, mode, bytes, false);
        assert_eq!(opened.is_err(), refused);
        let Ok(session) = opened else { continue };
        assert_eq!(session.len(), report.events);
        if let Some(request) = session.request(None) {
            let desync = session.check_request(&request);
            assert_eq!(desync.unwrap_or("header".to_owned()), "header");
        }
        if mode != Mode::Strict {
            continue;
        }
        for packed in [false, true] {
            let dump = session.dump(packed);
            let again = Session::restore(Dialect::DshV0, &dump, false).expect("what was dumped loads");
            assert_eq!((again.events(), again.surface()), (session.events(), session.surface()));
        }
        let Ok(closers) = session.repair() else { continue };
        let mut repaired = session.dump(false);
        repaired.extend(closers.iter().flat_map(|closer| format!("{closer}\n").into_bytes()));
        let again = Session::restore(Dialect::DshV0, &repaired, false).expect("what was repaired loads");
        assert_eq!(again.repair(), Ok(Vec::new()));
        // REPAIR-6: where everything held, pairs still hold when the next message comes.
        let mut next = again.clone();
        let message = r#"{"id":"next","role":"user","source":{"kind":"user"},"content":[]}"#;
        assert_eq!(next.append("user/message", message, Some(APPEND), None, 0), Ok(again.len()));
        let relates = report.findings.iter().any(|finding| finding.class == Class::Relation);
        let pairs = check(&next.dump(false), Dialect::DshV0, mode);
        assert!(
            relates || pairs.findings.iter().all(|finding| finding.rule != "PAIR-2"),
            "{}",
            next.events()
        );
        assert_eq!(again.fork(None, "child", 0).map(|child| child.messages()), Ok(again.messages()));
    }
}

/// Breaks one thing: a byte, a line, or the end.
pub(super) fn break_one(log: &[u8], seed: u64) -> Vec<u8> {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    dice.below(1);
    let mut lines: Vec<Vec<u8>> = log.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=dice.below(3) {
        let (one, other) = (dice.below(lines.len()), dice.below(lines.len()));
        match dice.below(8) {
            0 => lines.swap(one, other),
            1 => {
                lines.remove(one);
            }
            2 => {
                let copy = lines[one].clone();
                lines.insert(other, copy);
            }
            3 => {
                let cut = dice.below(lines[one].len());
                lines[one].truncate(cut);
            }
            _ => {
                let place = dice.below(lines[one].len());
                let alphabet = b"0123456789-\",{}[]:eaucdkx\n\0\xff";
                lines[one][place..]
                    .iter_mut()
                    .take(1)
                    .for_each(|byte| *byte = alphabet[dice.below(alphabet.len())]);
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    // Seqs are put right again in half of the cases, so that more than the storage rules is reached.
    let text = lines.concat();
    if dice.below(2) == 0 { text } else { renumber(&text) }
}

fn renumber(log: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(log);
    let mut seq = 0;
    let mut out = Vec::new();
    for line in text.split_inclusive('\n') {
        match line.split_once("\"seq\":") {
            Some((before, after)) => {
                let after = after.trim_start_matches(|letter: char| letter.is_ascii_digit());
                out.extend_from_slice(format!("{before}\"seq\":{seq}{after}").as_bytes());
                seq += 1;
            }
            None => out.extend_from_slice(line.as_bytes()),
        }
    }
    out
}

#[test]
fn nothing_panics() {
    let log = rich();
    assert_eq!(found(&strict(&log)), [""; 0]);
    for seed in 0..1_000 {
        ask(&break_one(log.as_bytes(), seed));
    }
}
