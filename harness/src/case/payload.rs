//! Payloads: texts that are kept as they are, because a parser would hide how they are spelled.

use super::refs::Ref;
use std::fmt;

/// Bytes that are meant to be JSON text, or a log, and may be neither.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Payload(pub Vec<u8>);

impl Payload {
    /// From text.
    pub fn text(text: impl Into<String>) -> Payload {
        Payload(text.into().into_bytes())
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for Payload {
    fn from(text: &str) -> Payload {
        Payload::text(text)
    }
}

impl From<String> for Payload {
    fn from(text: String) -> Payload {
        Payload(text.into_bytes())
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text that stands as it is.
    Text(Payload),
    /// The seq of an event, written as a number.
    Seq(Ref),
}

/// Text in which seqs may be left open: a `compaction/summary` names the seqs that it shadows in its payload.
///
/// Two neighbouring texts are one text, so that equal templates are equal values: build templates with
/// [`Template::push`] and [`Template::push_seq`].
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Template(Vec<Piece>);

impl Template {
    /// Its pieces.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// Its pieces, to re-point them.
    pub(super) fn seqs_mut(&mut self) -> impl Iterator<Item = &mut Ref> {
        self.0.iter_mut().filter_map(|piece| match piece {
            Piece::Seq(seq) => Some(seq),
            Piece::Text(_) => None,
        })
    }

    /// Adds text.
    pub fn push(&mut self, text: impl Into<Payload>) {
        let text = text.into();
        match self.0.last_mut() {
            _ if text.0.is_empty() => {}
            Some(Piece::Text(last)) => last.0.extend_from_slice(&text.0),
            _ => self.0.push(Piece::Text(text)),
        }
    }

    /// Adds a seq.
    pub fn push_seq(&mut self, seq: Ref) {
        self.0.push(Piece::Seq(seq));
    }

    /// The text when no seq is left open.
    pub fn as_plain(&self) -> Option<&[u8]> {
        match self.0.as_slice() {
            [] => Some(b""),
            [Piece::Text(text)] => Some(text.bytes()),
            _ => None,
        }
    }
}

impl<T: Into<Payload>> From<T> for Template {
    fn from(text: T) -> Template {
        let mut template = Template::default();
        template.push(text);
        template
    }
}
