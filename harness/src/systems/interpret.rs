//! Running a case on something that answers one operation after another.

use super::{Breakage, Fault, Outcome, Step, Trace};
use crate::case::{Case, Op, resolve};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Answers operations in which nothing is left to resolve.
pub(crate) trait Backend {
    /// Answers one operation.
    fn call(&mut self, op: &Op) -> Outcome;

    /// What has gone wrong unseen since the last question.
    fn faults(&mut self) -> Vec<(&'static str, String, String)>;
}

/// Runs a case. A panic ends the backend: the operation is a crash, and so is every one behind it.
pub(crate) fn interpret(case: &Case, backend: &mut dyn Backend) -> Trace {
    let mut trace = Trace::default();
    let mut crashed: Option<String> = None;
    for (place, op) in case.ops.iter().enumerate() {
        let outcome = match &crashed {
            Some(_) => Outcome::NotSent { message: "the system crashed before".to_owned() },
            None => {
                let op = resolve(op, &trace.steps);
                // The one boundary at which a panic of the system becomes data.
                let called = catch_unwind(AssertUnwindSafe(|| (backend.call(&op), backend.faults())));
                match called {
                    Ok((outcome, faults)) => {
                        let fault = |(rule, expected, got)| Fault { op: place, rule, expected, got };
                        trace.faults.extend(faults.into_iter().map(fault));
                        outcome
                    }
                    Err(panic) => {
                        let message = said(&*panic);
                        crashed = Some(message.clone());
                        Outcome::Broken { kind: Breakage::Crash, message }
                    }
                }
            }
        };
        trace.steps.push(Step { outcome });
    }
    trace
}

/// What a panic said.
fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

/// The texts of outcomes that all systems of this project share.
pub(crate) mod answer {
    use super::Outcome;
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use foldproof::json::{number, text};

    pub(crate) fn null() -> Outcome {
        Outcome::Ok("null".to_owned())
    }

    pub(crate) fn seq(seq: u64) -> Outcome {
        counted(b"{\"seq\":", seq)
    }

    pub(crate) fn events(count: u64) -> Outcome {
        counted(b"{\"events\":", count)
    }

    fn counted(member: &[u8], count: u64) -> Outcome {
        let mut out = Vec::with_capacity(member.len() + 8);
        out.extend_from_slice(member);
        number::print_int(count, &mut out);
        out.push(b'}');
        json(out)
    }

    pub(crate) fn no_session() -> Outcome {
        Outcome::refused(None, "no such session")
    }

    pub(crate) fn session_exists() -> Outcome {
        Outcome::refused(None, "there is such a session already")
    }

    pub(crate) fn json(bytes: Vec<u8>) -> Outcome {
        match String::from_utf8(bytes) {
            Ok(text) => Outcome::Ok(text),
            Err(error) => log(&error.into_bytes()),
        }
    }

    pub(crate) fn seqs(seqs: &[u64]) -> Outcome {
        let list: Vec<String> = seqs.iter().map(u64::to_string).collect();
        Outcome::Ok(format!("[{}]", list.join(",")))
    }

    pub(crate) fn desync(member: Option<&str>) -> Outcome {
        let Some(member) = member else { return null() };
        let mut out = b"{\"desync\":".to_vec();
        text::quote(member, &mut out);
        out.push(b'}');
        json(out)
    }

    /// A log: a string, or `{"b64":…}` when it is no text.
    pub(crate) fn log(bytes: &[u8]) -> Outcome {
        let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 4);
        match std::str::from_utf8(bytes) {
            Ok(log) => text::quote(log, &mut out),
            Err(_) => {
                out.extend_from_slice(format!("{{\"b64\":\"{}\"}}", URL_SAFE_NO_PAD.encode(bytes)).as_bytes())
            }
        }
        Outcome::Ok(String::from_utf8(out).unwrap_or_default())
    }
}
