//! A value of a case file with the way to it, so that every error names its place.

use super::payload::Payload;
use super::refs::Ref;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use foldproof::json::{Kind, Value, print};
use std::fmt;

/// Why a text is no case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseError {
    /// Where: a path such as `ops[3].surfaceOp`, or a byte of the text.
    pub place: String,
    /// What was expected there.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.place, self.expected, self.found)
    }
}

impl std::error::Error for CaseError {}

pub(super) type Read<T> = Result<T, CaseError>;

/// A value and the way to it.
#[derive(Clone)]
pub(super) struct Spot<'a> {
    pub(super) value: Value<'a>,
    pub(super) path: String,
}

impl<'a> Spot<'a> {
    pub(super) fn wrong(&self, expected: impl Into<String>) -> CaseError {
        let bytes = self.value.bytes();
        let found = match (bytes.len() <= 40, self.value.kind()) {
            (true, _) => String::from_utf8_lossy(bytes).into_owned(),
            (false, kind) => format!("{} of {} bytes", kind.name(), bytes.len()),
        };
        CaseError { place: self.path.clone(), expected: expected.into(), found }
    }

    pub(super) fn object(&self, members: &[&str]) -> Read<()> {
        if !self.value.is_object() {
            return Err(self.wrong("an object"));
        }
        for (key, value) in self.value.members() {
            if !members.iter().any(|known| key.is(known)) {
                let spot = Spot { value, path: self.below(&key.display()) };
                return Err(CaseError {
                    found: format!("the member {:?}", key.display()),
                    ..spot.wrong(format!("one of {}", members.join(", ")))
                });
            }
        }
        Ok(())
    }

    pub(super) fn below(&self, name: &str) -> String {
        if self.path == ROOT { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    pub(super) fn get(&self, name: &str) -> Option<Spot<'a>> {
        self.value.get(name).map(|value| Spot { value, path: self.below(name) })
    }

    pub(super) fn need(&self, name: &str) -> Read<Spot<'a>> {
        self.get(name).ok_or_else(|| CaseError {
            place: self.path.clone(),
            expected: format!("a member {name:?}"),
            found: "none".to_owned(),
        })
    }

    /// A member that may be `null`.
    pub(super) fn maybe(&self, name: &str) -> Option<Spot<'a>> {
        self.get(name).filter(|spot| !spot.value.is_null())
    }

    pub(super) fn items(&self) -> Read<Vec<Spot<'a>>> {
        if self.value.kind() != Kind::Array {
            return Err(self.wrong("an array"));
        }
        let item = |(place, value)| Spot { value, path: format!("{}[{place}]", self.path) };
        Ok(self.value.elements().enumerate().map(item).collect())
    }

    pub(super) fn text(&self) -> Read<String> {
        let text = self.value.as_str().ok_or_else(|| self.wrong("a string"))?;
        let units: Vec<u16> = text.units().collect();
        // Text is UTF-8. A lone surrogate belongs into a payload, where it is written as the escape that JSON has.
        String::from_utf16(&units).map_err(|_| self.wrong("a string without lone surrogates"))
    }

    pub(super) fn name(&self) -> Read<String> {
        let text = self.text()?;
        if text.is_empty() { Err(self.wrong("a string that is not empty")) } else { Ok(text) }
    }

    pub(super) fn number(&self) -> Read<u64> {
        self.value.as_uint().ok_or_else(|| self.wrong("a safe integer that is not negative"))
    }

    pub(super) fn one_of<T>(&self, find: impl Fn(&str) -> Option<T>, expected: &str) -> Read<T> {
        find(&self.text()?).ok_or_else(|| self.wrong(expected))
    }

    pub(super) fn payload(&self) -> Read<Payload> {
        if self.value.kind() == Kind::String {
            return self.text().map(Payload::from);
        }
        self.object(&["b64"]).map_err(|_| self.wrong("a string or {\"b64\":…}"))?;
        let spot = self.need("b64")?;
        let text = spot.text()?;
        let bytes = URL_SAFE_NO_PAD.decode(&text).or_else(|_| STANDARD.decode(&text));
        bytes.map(Payload).map_err(|_| spot.wrong("base64"))
    }

    /// `{"op":n}`, where n is the place of an earlier operation.
    pub(super) fn answer(&self, user: usize) -> Read<usize> {
        let spot = self.need("op")?;
        let op = spot.number()?;
        usize::try_from(op).ok().filter(|op| *op < user).ok_or_else(|| {
            spot.wrong(format!("the place of an earlier operation, at most {}", user.saturating_sub(1)))
        })
    }

    pub(super) fn reference(&self, user: usize) -> Read<Ref> {
        match self.value.kind() {
            Kind::Number => self.number().map(Ref::Seq),
            Kind::Object if self.value.get("op").is_some() => {
                self.object(&["op"])?;
                self.answer(user).map(Ref::Op)
            }
            _ => self.payload().map(Ref::Text).map_err(|_| self.wrong("a seq, {\"op\":…}, or text")),
        }
    }

    pub(super) fn references(&self, user: usize) -> Read<Vec<Ref>> {
        self.items()?.iter().map(|item| item.reference(user)).collect()
    }

    pub(super) fn wrapped(&self) -> Read<Payload> {
        self.object(&["text"])?;
        self.need("text")?.payload()
    }

    pub(super) fn raw(&self) -> String {
        let mut out = Vec::new();
        print::canonical(self.value, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// The path of the whole case.
pub(super) const ROOT: &str = "the case";
