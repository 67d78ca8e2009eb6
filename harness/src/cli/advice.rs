//! What is the matter with a log in plain words, and what can be done about it as commands to copy.

use super::shell::{quote, recoded, with, word};
use super::stored::Stored;
use crate::tools::diagnosis::Case;
use crate::tools::explain::{Explanation, version};
use foldproof::check::Report;
use foldproof::rule::{Class, Rule};
use serde::Serialize;

/// One thing that can be done.
#[derive(Debug, Serialize)]
pub struct Step {
    /// What it does, in one line.
    pub what: String,
    /// The command, where it is one.
    pub command: Option<String>,
}

/// The matter in one or two sentences.
pub fn summary(explained: &Explanation) -> String {
    let report = &explained.report;
    let opens = explained.readers.as_ref().is_some_and(|readers| opens(&readers.provider));
    match explained.case {
        Case::Empty => "The file is empty. Writers publish a log with its header in it, so the bytes were lost after that, \
                        by a full disk or a copy that was cut off; nothing can be read from it."
            .into(),
        Case::Binary => "This is no session log and no text, whatever its name says.".into(),
        Case::Marked => "There is a byte-order mark in front of the header, which no writer of logs puts there; an editor does.".into(),
        Case::Utf16 => "The text is UTF-16, and logs are UTF-8: some program converted it.".into(),
        Case::NotALog => "This is text, but no session log: the first line should be a session header or an event.".into(),
        Case::PlainNamedZstd => "The text was never compressed: only its name says so.".into(),
        Case::ZstdNamedPlain => "The log is compressed, and its name does not say so.".into(),
        Case::WholeFrame => "The log was compressed as a whole, as `zstd FILE` does. A compressed log begins with a frame that \
                             holds the header line alone, so readers refuse it; its text may be fine."
            .into(),
        Case::HeaderCutOff => "The file ends inside its first compressed frame, and the header was in it.".into(),
        Case::NoHeader => "The header line is missing: the file begins with an event. Without a header nobody can know the \
                           session's id, so none is invented."
            .into(),
        Case::BadHeader => "The header line is damaged, so nothing behind it is read.".into(),
        Case::FutureVersion => format!(
            "The log is not damaged: it was written by a newer harness, with log version {}. Do not repair it.",
            version(report).unwrap_or_default()
        ),
        Case::OlderVersion => "The log claims a version before the first release; nothing reads it.".into(),
        Case::UnknownEvent => "The log is not damaged: it holds an event of a type that this version does not know and may not \
                               skip, so it was likely written by a newer harness or with a plugin."
            .into(),
        Case::CorruptFrame => "A compressed frame is damaged where the log was committed: bytes were changed or lost inside the \
                               file, which no crash of a writer does."
            .into(),
        Case::TwoWriters => {
            "Seqs go back: two writers wrote to this log at the same time, or one wrote on from an old state.".into()
        }
        Case::Damaged if opens => "A line is damaged, and a finished turn ends behind it: committed events are affected. The \
                                   released reader does not see it and opens the log all the same."
            .into(),
        Case::Damaged => "A line is damaged, missing or in the wrong place, and a finished turn ends behind that: committed \
                          events are affected, so no reader goes on by itself."
            .into(),
        Case::Rejected if opens => "The log holds an event that the contract does not admit. The released reader opens it all \
                                    the same."
            .into(),
        Case::Rejected => "The log is stored well, but holds an event that the contract does not admit.".into(),
        Case::TornFrame => "The last compressed frame is cut off, as a crash leaves it. Nothing that was committed is lost.".into(),
        Case::TornTail => "The last lines were never committed, as a crash leaves them. Nothing that was committed is lost.".into(),
        Case::Unrepairable => "The log ends inside a turn that cannot be closed: a call in it has no id.".into(),
        Case::Relation => "The log opens, but some of its events do not fit each other.".into(),
        Case::OpenTurn => "The log ends inside a turn: its writer still runs, or was stopped. Nothing is lost.".into(),
        Case::Tutorial => "Nothing is the matter. The log has the teaching shape: no header, messages without ids.".into(),
        Case::Healthy => "Nothing is the matter with it.".into(),
    }
}

fn opens(report: &Report) -> bool {
    report.findings.strongest() < Some(Class::Reject)
}

/// What can be done, the best first.
pub fn next(stored: &Stored, explained: &Explanation) -> Vec<Step> {
    let mut steps = vec![];
    let mut step = |what: &str, command: Option<String>| {
        steps.push(Step { what: what.to_owned(), command });
    };
    let compressed = stored.artifact.is_compressed();
    let name = match stored.is_stdin() {
        true if compressed => "saved.jsonl.zstd".to_owned(),
        true => "saved.jsonl".to_owned(),
        false => stored.name(),
    };
    if stored.is_stdin() {
        step(&format!("what came through the pipe is not kept; save it as {name} first"), None);
    }
    let path = word(&name);
    let out = |tag: &str| word(&with(&name, tag));
    let text = if compressed { format!("zstd -dc {path}") } else { format!("cat {path}") };
    let first = if compressed { format!("zstd -dc {path} | head -n 1") } else { format!("head -n 1 {path}") };
    let show = format!("foldproof show {path} --as timeline");
    let prefix = explained.safe.map(|safe| safe.verdict);
    match explained.case {
        Case::Empty => step("look for a copy; there is nothing in this file that could be recovered", None),
        Case::Binary => step("ask what it is", Some(format!("file {path}"))),
        Case::Marked => {
            let new = word(&recoded(&name, "unmarked", compressed));
            step("take the mark out", Some(format!("tail -c +4 {path} > {new} && foldproof check {new}")));
        }
        Case::Utf16 => {
            let new = word(&recoded(&name, "utf-8", false));
            step(
                "convert it back",
                Some(format!("iconv -f UTF-16 -t UTF-8 {path} > {new} && foldproof check {new}")),
            );
        }
        Case::NotALog => step("look at its beginning", Some(format!("{first} | head -c 300"))),
        Case::PlainNamedZstd | Case::ZstdNamedPlain => {
            let plain = explained.case == Case::PlainNamedZstd;
            let new = word(&recoded(&name, "", !plain));
            step(
                "give it a name that says what it is",
                Some(format!("cp {path} {new} && foldproof check {new}")),
            );
        }
        Case::WholeFrame => {
            let plain = word(&recoded(&name, "text", false));
            let new = word(&recoded(&name, "framed", true));
            step("take the text out and write it anew, in frames of its own", None);
            step("", Some(format!("zstd -dc {path} > {plain} && foldproof convert {plain} -o {new}")));
        }
        Case::HeaderCutOff => {
            step("look for a copy; the first frame holds the header, and no event stands before it", None)
        }
        Case::NoHeader => {
            let header = format!(
                r#"{{"type":"session","version":0,"id":"ID","createdAt":{},"delegationDepth":0}}"#,
                explained.first_time.unwrap_or(0)
            );
            let new = word(&recoded(&name, "headed", false));
            step(
                "put a header in front, with the session's ID in it, if you know it; the time is that of the first event",
                None,
            );
            let header = quote(&header);
            step(
                "",
                Some(format!("{{ printf '%s\\n' {header}; {text}; }} > {new} && foldproof check {new}")),
            );
        }
        Case::BadHeader => {
            step("look at the header line, mend it by hand in a copy, and check that", Some(first));
            step("every rule of the header, with examples", Some("foldproof rules STORE-1".into()));
        }
        Case::FutureVersion => {
            step("read it with the program that wrote it; this is what it claims", Some(first));
        }
        Case::OlderVersion => step("this is what it claims", Some(first)),
        Case::UnknownEvent => {
            step("read it with the program that wrote it, or a newer foldproof", None);
            step(
                "take what stands before that event, to look into it; the rest is set beside it",
                Some(format!("foldproof repair {path} --salvage -o {}", out("salvaged"))),
            );
        }
        Case::CorruptFrame | Case::TwoWriters | Case::Damaged | Case::Rejected => {
            if explained.readers.as_ref().is_some_and(|readers| opens(&readers.provider)) {
                step("read it as the released reader does", Some(show));
            }
            if explained.report.findings.strongest() == Some(Class::Repairable) {
                step(
                    "cut what was never committed: every line behind the place where seqs go back",
                    Some(format!("foldproof repair {path} -o {}", out("repaired"))),
                );
            }
            if prefix.is_some() {
                let what = match explained.case {
                    Case::CorruptFrame => {
                        "keep what stands before the damage as a log; the rest is set beside it, with its text where that can be read"
                    }
                    Case::Rejected => {
                        "keep what stands before that event as a log; the rest is set beside it, byte for byte"
                    }
                    _ => {
                        "keep what stands before the damage as a log; the rest is set beside it, byte for byte"
                    }
                };
                step(what, Some(format!("foldproof repair {path} --salvage -o {}", out("salvaged"))));
            }
            if prefix == Some("repairable") {
                let salvaged = with(&name, "salvaged");
                step(
                    "then close the turn that is open at its end",
                    Some(format!(
                        "foldproof repair {} -o {}",
                        word(&salvaged),
                        word(&with(&salvaged, "repaired"))
                    )),
                );
            }
            step(
                "see the line that is wrong, with the rule that it breaks",
                Some(format!("foldproof check {path}")),
            );
            if let Some(finding) = explained.damage() {
                step("read the rule", Some(format!("foldproof rules {}", finding.rule.id())));
            }
        }
        Case::TornFrame | Case::TornTail | Case::OpenTurn => {
            if explained.unended {
                let new = out("ended");
                step(
                    "the last line is a whole record: if an editor took its newline away, put that back",
                    Some(format!("{{ cat {path}; echo; }} > {new} && foldproof check {new}")),
                );
            }
            step(
                "if no writer is at work on it: cut what was never committed and close what is open",
                Some(format!("foldproof repair {path} -o {}", out("repaired"))),
            );
            step(
                "the same in place, with a copy of the log as it is",
                Some(format!("foldproof repair {path} --in-place")),
            );
            step("read it without changing it", Some(show));
        }
        Case::Unrepairable | Case::Relation => {
            step("read it", Some(show));
            step("see what does not fit", Some(format!("foldproof check {path}")));
            step("ask what the released reader says", Some(format!("foldproof check {path} --reader")));
            if explained
                .report
                .findings
                .list
                .iter()
                .any(|finding| finding.class == Class::Repairable || finding.rule == Rule::Repair2)
                && explained.case == Case::Relation
            {
                step(
                    "close what is open; what does not fit stays as it is",
                    Some(format!("foldproof repair {path} -o {}", out("repaired"))),
                );
            }
        }
        Case::Tutorial => step("read it", Some(show)),
        Case::Healthy => {
            step("read it", Some(show));
            let new = recoded(&name, "", !compressed);
            let why = if compressed { "write it as plain text" } else { "write it compressed" };
            step(why, Some(format!("foldproof convert {path} -o {}", word(&new))));
        }
    }
    join(steps)
}

/// A step without words belongs to the one before it.
fn join(steps: Vec<Step>) -> Vec<Step> {
    let mut joined: Vec<Step> = vec![];
    for step in steps {
        match joined.last_mut() {
            Some(last) if step.what.is_empty() && last.command.is_none() => last.command = step.command,
            _ => joined.push(step),
        }
    }
    joined
}
