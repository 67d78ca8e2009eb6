//! Shrinking: the smallest resolved case that still fails in the same way.
//!
//! Ops go first, in halves, then in smaller stretches, then one by one; then payloads become plain; then sizes and
//! times. All of it is repeated until nothing more goes or the executions are spent. Nothing here is random, so a case
//! shrinks to the same case everywhere.

use crate::case::{Append, Call, Case, Payload, Piece, Sources, Template};

/// What shrinking came to.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The case.
    pub case: Case,
    /// Cases that were run.
    pub tried: u64,
    /// Whether it ended by itself, and not by its bound or a person.
    pub finished: bool,
}

struct Search<'f> {
    best: Case,
    tried: u64,
    most: u64,
    fails: &'f mut dyn FnMut(&Case) -> bool,
    stop: &'f dyn Fn() -> bool,
}

/// Shrinks a case that fails. `fails` says whether a case still fails in the same way; at most `most` cases are run.
pub fn shrink(
    case: &Case,
    most: u64,
    fails: &mut dyn FnMut(&Case) -> bool,
    stop: &dyn Fn() -> bool,
) -> Shrunk {
    let mut search = Search { best: case.clone(), tried: 0, most, fails, stop };
    let mut finished = false;
    while !search.is_over() {
        let before = search.best.clone();
        search.ops();
        search.payloads();
        search.details();
        if search.best == before {
            finished = !search.is_over();
            break;
        }
    }
    Shrunk { case: search.best, tried: search.tried, finished }
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.tried >= self.most || (self.stop)()
    }

    /// Keeps a smaller case when it fails too.
    fn offer(&mut self, case: Case) -> bool {
        if self.is_over() || case == self.best {
            return false;
        }
        self.tried += 1;
        let fails = (self.fails)(&case);
        if fails {
            self.best = case;
        }
        fails
    }

    fn ops(&mut self) {
        let mut width = self.best.ops.len() / 2;
        while width > 0 {
            // From behind, because what comes later depends on what came before and not the other way round.
            let mut end = self.best.ops.len();
            let mut went = false;
            while end > 0 && !self.is_over() {
                let start = end.saturating_sub(width);
                let mut case = self.best.clone();
                case.without(start..end);
                went |= self.offer(case);
                end = start;
            }
            if !went || width > 1 {
                width /= 2;
            }
        }
    }

    fn payloads(&mut self) {
        for place in 0..self.best.ops.len() {
            let Some(texts) = texts(&self.best, place) else { continue };
            // All texts of the op at once, and only where that is too much one by one.
            let mut case = self.best.clone();
            set(&mut case, place, texts.iter().map(|text| plain(text, None)).collect());
            if self.offer(case) {
                continue;
            }
            for (which, text) in texts.iter().enumerate() {
                for literal in 0..literals(text).len() {
                    let mut changed = texts.clone();
                    changed[which] = plain(text, Some(literal));
                    let mut case = self.best.clone();
                    set(&mut case, place, changed);
                    self.offer(case);
                }
            }
        }
    }

    fn details(&mut self) {
        for place in 0..self.best.ops.len() {
            let Some(op) = self.best.ops.get(place) else { break };
            match &op.call {
                Call::Append(append) => {
                    let zero = Append { time: 0, ..append.clone() };
                    let uncited = Append { sources: None, ..append.clone() };
                    let mut offers = vec![zero, uncited];
                    if let Some(Sources::Seqs(seqs)) = &append.sources {
                        offers.extend((0..seqs.len()).map(|which| {
                            let mut fewer = seqs.clone();
                            fewer.remove(which);
                            Append { sources: Some(Sources::Seqs(fewer)), ..append.clone() }
                        }));
                    }
                    for append in offers {
                        let mut case = self.best.clone();
                        case.ops[place].call = Call::Append(append);
                        self.offer(case);
                    }
                }
                Call::View { view, .. } => {
                    let mut case = self.best.clone();
                    case.ops[place].call = Call::view(*view);
                    self.offer(case);
                }
                _ => {}
            }
        }
    }
}

/// The texts in the data of an append.
fn texts(case: &Case, place: usize) -> Option<Vec<String>> {
    let Call::Append(append) = &case.ops.get(place)?.call else { return None };
    let text = |piece: &Piece| match piece {
        Piece::Text(text) => String::from_utf8(text.0.clone()).ok(),
        Piece::Seq(_) => Some(String::new()),
    };
    append.data.pieces().iter().map(text).collect()
}

fn set(case: &mut Case, place: usize, texts: Vec<String>) {
    if let Call::Append(append) = &mut case.ops[place].call {
        let mut data = Template::default();
        for (piece, text) in append.data.pieces().iter().zip(texts) {
            match piece {
                Piece::Text(_) => data.push(Payload::text(text)),
                Piece::Seq(seq) => data.push_seq(seq.clone()),
            }
        }
        append.data = data;
    }
}

/// Members whose text means something to the contract.
const MEANT: [&str; 14] = [
    "id",
    "role",
    "kind",
    "type",
    "toolCallId",
    "callId",
    "provider",
    "model",
    "code",
    "compactionId",
    "target",
    "status",
    "reason",
    "op",
];

/// The spans of string literals that are payload: values of members that mean nothing to the contract.
fn literals(text: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let (mut found, mut at, mut key) = (vec![], 0, String::new());
    while at < bytes.len() {
        if bytes[at] != b'"' {
            at += 1;
            continue;
        }
        let start = at + 1;
        at = start;
        while at < bytes.len() && bytes[at] != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        let end = at.min(bytes.len());
        at += 1;
        if bytes.get(at) == Some(&b':') {
            key = text.get(start..end).unwrap_or_default().to_owned();
        } else if !MEANT.contains(&&*key) && end - start > 1 {
            found.push(start..end);
        }
    }
    found
}

/// The text with one payload literal, or all of them, said as plainly as can be.
fn plain(text: &str, which: Option<usize>) -> String {
    let mut out = text.to_owned();
    for (place, span) in literals(text).into_iter().enumerate().rev() {
        if which.is_none_or(|which| which == place)
            && out.is_char_boundary(span.start)
            && out.is_char_boundary(span.end)
        {
            out.replace_range(span, "a");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Op;

    #[test]
    fn payload_literals_are_found_and_others_are_not() {
        let text = r#"{"id":"m-1","content":[{"type":"text","text":"two \" words"}],"x":"long"}"#;
        assert_eq!(plain(text, None), r#"{"id":"m-1","content":[{"type":"text","text":"a"}],"x":"a"}"#);
        assert_eq!(
            plain(text, Some(1)),
            r#"{"id":"m-1","content":[{"type":"text","text":"two \" words"}],"x":"a"}"#
        );
    }

    #[test]
    fn ops_go_until_none_can() {
        let ops: Vec<Op> = (0..40).map(|_| Op::new("a", Call::Repair)).collect();
        let mut case = Case::new("dsh-v0", ops);
        case.ops[7].call = Call::Observed;
        case.ops[31].call = Call::Observed;
        let mut fails = |case: &Case| case.ops.iter().filter(|op| op.call == Call::Observed).count() == 2;
        let shrunk = shrink(&case, 1_000, &mut fails, &|| false);
        assert_eq!(shrunk.case.ops.len(), 2);
        assert!(shrunk.finished);
        let bounded = shrink(&case, 3, &mut fails, &|| false);
        assert_eq!(bounded.tried, 3);
        assert!(!bounded.finished);
    }
}
