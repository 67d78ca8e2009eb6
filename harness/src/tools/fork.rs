//! A fork of a stored log (FORK): the inclusive prefix up to a boundary under a header of its own.

use super::artifact::Artifact;
use foldproof::check::{Options, Report, load};
use foldproof::codec::frames::FrameError;
use foldproof::json::{Scanner, Value};
use foldproof::rule::Class;
use foldproof::session::{ForkError, Millis, Session};

/// What becomes of a fork.
#[derive(Debug)]
pub enum Outcome {
    /// The child.
    Forked(Box<Fork>),
    /// FORK-2.
    Refused(ForkError, Box<Parent>),
    /// The parent does not load, and what the check said.
    Unreadable(Box<Report>),
}

/// What is known of the parent.
#[derive(Debug)]
pub struct Parent {
    /// What its check said.
    pub report: Report,
    /// Its id.
    pub id: String,
    /// Its events.
    pub events: u64,
}

/// A child, and where it comes from.
#[derive(Debug)]
pub struct Fork {
    /// The child.
    pub child: Session,
    /// Where it comes from.
    pub parent: Parent,
    /// Its `createdAt`, and the time of its marker.
    pub created: Millis,
}

/// Forks at `boundary`, or at the end; nothing when the boundary is no seq at all. Without `created` the time is that of
/// the last inherited event, or the parent's own when there is none: a fork of the same log is always the same.
pub fn fork(
    artifact: &Artifact,
    boundary: Result<Option<u64>, ForkError>,
    id: &str,
    created: Option<Millis>,
    options: &Options,
) -> Result<Outcome, FrameError> {
    let size = usize::try_from(artifact.size().min(options.limits.held)).unwrap_or(0);
    let loaded = load(artifact.input()?, options, size)?;
    let report = loaded.report.clone();
    if report.findings.strongest() >= Some(Class::Reject) {
        return Ok(Outcome::Unreadable(Box::new(report)));
    }
    let session = Session::restore(loaded);
    let parent = Parent { report, id: session.id().to_owned(), events: session.log().len() };
    let forked = boundary.and_then(|boundary| {
        let last = boundary.or(session.log().len().checked_sub(1));
        let created = created.unwrap_or_else(|| time(&session, last).max(0));
        session.fork(boundary, id, created).map(|child| (child, created))
    });
    Ok(match forked {
        Ok((child, created)) => Outcome::Forked(Box::new(Fork { child, parent, created })),
        Err(error) => Outcome::Refused(error, Box::new(parent)),
    })
}

/// The time of an event, or that of the log's start.
fn time(session: &Session, seq: Option<u64>) -> Millis {
    let number = |line: &[u8], name: &str| {
        let mut scanner = Scanner::new(u64::MAX);
        scanner.scan(line).ok().and_then(|scan| scan.root().get(name).and_then(Value::as_int))
    };
    let event = seq.and_then(|seq| session.log().line(seq)).and_then(|line| number(&line, "time"));
    event.or_else(|| session.log().header().and_then(|line| number(line, "createdAt"))).unwrap_or(0)
}
