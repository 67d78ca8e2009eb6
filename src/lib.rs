//! The log contract of an event-sourced agent session: load, check, fold, project, rebuild, repair.
//!
//! An agent's history is one append-only log of events. What a model is shown, the transcript, requests, forks and
//! recovery are projections of it, and everything that reaches a request can be rebuilt from it byte for byte.
//!
//! * [`check()`](check::check) reads a stored log through all rules and returns findings; [`load`] keeps the log too.
//! * [`Log`] is the log in memory; a copy is a snapshot. [`Session`] is a live one, with append, observers and forks.
//! * [`Surface`] is what is model-visible now, [`History`] its messages, [`Transcript`] what people read.
//! * [`RequestHeader`], [`rebuild`] and [`gate`] are about requests; [`repair()`](repair::repair) closes an open log.
//! * [`dialect`] holds what differs between dialects, as data.
//!
//! ```
//! use foldproof::session::Draft;
//! use foldproof::{Session, dialect, rebuild};
//! use std::sync::Arc;
//!
//! let mut session = Session::create(Arc::new(dialect::dsh_v0()), "demo", None, 0);
//! let mut log = |kind: &str, data: &str, op: Option<&str>, sources: Option<&str>| {
//!     let draft = Draft {
//!         kind,
//!         data: data.as_bytes(),
//!         surface_op: op.map(str::as_bytes),
//!         sources: sources.map(str::as_bytes),
//!     };
//!     session.append(draft, 1_000)
//! };
//! log("turn/start", r#"{"turn":1}"#, None, None)?;
//! log("step/start", r#"{"turn":1,"step":1}"#, None, None)?;
//! let said = r#"{"id":"u1","role":"user","source":{"kind":"user"},"content":[{"type":"text","text":"Hello"}]}"#;
//! log("user/message", said, Some(r#""append""#), None)?;
//! log("request/header", r#"{"header":{"config":{"provider":"p","model":"m"}},"reason":"initial"}"#, None, None)?;
//!
//! // The request that the log tells, and the gate that lets only that one pass.
//! let request = session.request().expect("a header was logged");
//! assert!(request.to_bytes().starts_with(br#"{"provider":"p","model":"m","messages":[{"id":"u1""#));
//! assert_eq!(session.gate("demo", &request), Ok(()));
//! assert_eq!(rebuild(session.log(), session.log().len()).unwrap().to_bytes(), request.to_bytes());
//!
//! // A held history never changes; a replace shadows, it does not edit.
//! let held = session.history();
//! let short = said.replace("Hello", "Hi").replace("u1", "u2");
//! let draft = Draft {
//!     kind: "user/message",
//!     data: short.as_bytes(),
//!     surface_op: Some(br#"{"op":"replace","start":2,"end":2}"#),
//!     sources: Some(b"[2]"),
//! };
//! session.append(draft, 1_001)?;
//! assert!(held.get(0).unwrap().ends_with(br#""text":"Hello"}]}"#));
//! assert!(session.history().get(0).unwrap().ends_with(br#""text":"Hi"}]}"#));
//! assert_eq!(session.surface().iter().collect::<Vec<_>>(), [4]);
//! assert_eq!(session.transcript().iter().count(), 1, "the transcript keeps what was said, not what replaced it");
//!
//! // The old request is no longer what the log tells.
//! assert_eq!(session.gate("demo", &request).unwrap_err().member(), "messages");
//! # Ok::<(), foldproof::session::AppendError>(())
//! ```

pub mod admit;
pub mod check;
pub mod codec;
pub mod dialect;
pub mod event;
pub mod finding;
pub mod json;
pub mod limits;
pub mod log;
pub mod projection;
pub mod relation;
pub mod repair;
pub mod request;
pub mod rule;
pub mod session;
pub mod shape;
pub mod surface;

pub use check::load;
pub use log::Log;
pub use projection::{History, Transcript};
pub use request::{Request, RequestHeader, gate, rebuild};
pub use session::Session;
pub use surface::Surface;
