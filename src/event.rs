//! The event envelope (contract, section 3): what a line says before anything is folded.

use crate::dialect::{Dialect, Role, Types, UnknownPolicy};
use crate::finding::Violation;
use crate::json::{Str, Value};
use crate::rule::{Rule, RuleSet};

/// The event's place in its log: the number of events before it.
pub type Seq = u64;

/// Place of a type in the dialect's table; [`UNLISTED`] for one that is not there.
pub type TypeId = u16;

/// The type of an event that the dialect does not list.
pub const UNLISTED: TypeId = u16::MAX;

/// An event line, taken apart. Members that are missing are `None`; nothing is checked yet.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The whole line.
    pub root: Value<'a>,
    /// `type`
    pub kind: Option<Value<'a>>,
    /// `seq`
    pub seq: Option<Value<'a>>,
    /// `time`
    pub time: Option<Value<'a>>,
    /// `data`
    pub data: Option<Value<'a>>,
    /// `surfaceOp`
    pub surface_op: Option<Value<'a>>,
    /// `sourceEventSeqs`
    pub sources: Option<Value<'a>>,
    /// `ignorable`
    pub ignorable: Option<Value<'a>>,
    /// The first member that an event does not have.
    pub extra: Option<(Str<'a>, usize)>,
    /// What the type means to the folds.
    pub role: Role,
    /// The type's place in the dialect's table.
    pub type_id: TypeId,
    /// Whether the type is in the vocabulary.
    pub known: bool,
    /// `seq`, where it is a safe integer that is not negative.
    pub number: Option<Seq>,
    /// `time`, where it is a safe integer.
    pub millis: Option<i64>,
}

impl<'a> Event<'a> {
    /// Takes an object apart. `last` is the type of an earlier event, tried first because types come in runs.
    #[inline]
    pub fn read(root: Value<'a>, types: &Types, last: TypeId) -> Event<'a> {
        let mut event = Event {
            root,
            kind: None,
            seq: None,
            time: None,
            data: None,
            surface_op: None,
            sources: None,
            ignorable: None,
            extra: None,
            role: Role::Other,
            type_id: UNLISTED,
            known: false,
            number: None,
            millis: None,
        };
        for (key, value) in root.members() {
            let place = match key.raw() {
                b"type" => &mut event.kind,
                b"seq" => &mut event.seq,
                b"time" => &mut event.time,
                b"data" => &mut event.data,
                b"surfaceOp" => &mut event.surface_op,
                b"sourceEventSeqs" => &mut event.sources,
                b"ignorable" => &mut event.ignorable,
                _ => {
                    event.other(key, value);
                    continue;
                }
            };
            *place = Some(value);
        }
        event.number = event.seq.and_then(Value::as_uint);
        event.millis = event.time.and_then(Value::as_int);
        event.classify(types, last);
        event
    }

    /// A member whose name is spelled with escapes, or that does not belong here.
    #[cold]
    fn other(&mut self, key: Str<'a>, value: Value<'a>) {
        let place = match &*key.canonical() {
            b"type" => &mut self.kind,
            b"seq" => &mut self.seq,
            b"time" => &mut self.time,
            b"data" => &mut self.data,
            b"surfaceOp" => &mut self.surface_op,
            b"sourceEventSeqs" => &mut self.sources,
            b"ignorable" => &mut self.ignorable,
            _ => {
                if self.extra.is_none() {
                    self.extra = Some((key, value.at()));
                }
                return;
            }
        };
        *place = Some(value);
    }

    #[inline]
    fn classify(&mut self, types: &Types, last: TypeId) {
        let Some(kind) = self.kind.and_then(Value::as_str) else { return };
        let listed = match types.get(last) {
            Some(entry) if *entry.name == *kind.raw() => Some((last, entry)),
            _ => types.find(&kind.canonical()),
        };
        if let Some((place, entry)) = listed {
            self.type_id = place;
            self.role = entry.role;
            self.known = entry.known;
        }
    }

    /// The type for a message to people.
    pub fn kind_name(&self) -> String {
        match self.kind.and_then(Value::as_str) {
            Some(kind) => kind.display(),
            None => "event without a type".into(),
        }
    }

    /// `ignorable: true`, exactly.
    pub fn is_ignorable(&self) -> bool {
        self.ignorable.is_some_and(Value::is_true)
    }

    /// A member of `data`.
    pub fn field(&self, name: &str) -> Option<Value<'a>> {
        self.data.and_then(|data| data.get(name))
    }

    /// ENV-1 and ENV-2.
    #[inline]
    pub fn check_envelope(&self, rules: RuleSet) -> Result<(), Violation> {
        if let Some((key, at)) = self.extra
            && rules.has(Rule::Env1)
        {
            let message = format!("expected only members of the envelope, found \"{}\"", key.display());
            return Err(Violation::new(Rule::Env1, at, message));
        }
        if !rules.has(Rule::Env2) {
            return Ok(());
        }
        let typed = |found: Option<Value<'_>>, good: bool, name: &str, want: &str| {
            if good { Ok(()) } else { Err(self.ill_typed(found, name, want)) }
        };
        typed(self.kind, self.kind.is_some_and(Value::is_string), "type", "a string")?;
        typed(self.seq, self.number.is_some(), "seq", "a safe integer that is not negative")?;
        typed(self.time, self.millis.is_some(), "time", "a safe integer (epoch milliseconds)")?;
        typed(self.data, self.data.is_some(), "data", "a value")?;
        match self.ignorable {
            Some(value) if !value.is_true() => Err(self.ill_typed(Some(value), "ignorable", "exactly true")),
            _ => Ok(()),
        }
    }

    #[cold]
    fn ill_typed(&self, found: Option<Value<'_>>, name: &str, want: &str) -> Violation {
        ill_typed(Rule::Env2, found, self.root, name, want)
    }

    /// VOCAB-1: the type when reading must refuse the log for it. Retired types are never unknown.
    pub fn is_unknown(&self, dialect: &Dialect) -> bool {
        if self.known || self.kind.and_then(Value::as_str).is_none() {
            return false;
        }
        match dialect.unknown {
            UnknownPolicy::UnlessIgnorable => !self.is_ignorable(),
            UnknownPolicy::Refuse => true,
            UnknownPolicy::Keep => false,
        }
    }

    /// VOCAB-3.
    #[inline]
    pub fn check_retired(&self, dialect: &Dialect, types: &Types) -> Result<(), Violation> {
        if !types.get(self.type_id).is_some_and(|entry| entry.retired) {
            return Ok(());
        }
        let Some(kind) = self.kind.and_then(Value::as_str) else { return Ok(()) };
        for retired in dialect.retired.iter().filter(|retired| kind.is(&retired.kind)) {
            match &retired.when {
                None => {
                    let message = format!("{} is retired vocabulary", retired.kind);
                    return Err(Violation::new(Rule::Vocab3, self.kind.map_or(0, Value::at), message));
                }
                Some((member, text)) => {
                    let found = self.field(member);
                    if let Some(value) = found
                        && value.as_str().is_some_and(|found| found.is(text))
                    {
                        let message =
                            format!("{} with {member} {text:?} is retired vocabulary", retired.kind);
                        return Err(Violation::new(Rule::Vocab3, value.at(), message));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The violation of a member that is missing or not what it must be.
#[cold]
pub(crate) fn ill_typed(
    rule: Rule,
    found: Option<Value<'_>>,
    parent: Value<'_>,
    name: &str,
    want: &str,
) -> Violation {
    match found {
        None => Violation::new(rule, parent.at(), format!("expected {name} to be {want}, found no {name}")),
        Some(value) => Violation::new(
            rule,
            value.at(),
            format!("expected {name} to be {want}, found {}", describe(value)),
        ),
    }
}

/// A value for a message to people: short ones as they stand, others by kind.
pub(crate) fn describe(value: Value<'_>) -> String {
    let bytes = value.bytes();
    if bytes.len() <= 40 {
        String::from_utf8_lossy(bytes).into_owned()
    } else {
        value.kind().name().to_owned()
    }
}

/// Seqs for a message to people: the first of them, and how many there are.
pub(crate) fn few(seqs: impl ExactSizeIterator<Item = Seq>) -> String {
    let length = seqs.len();
    let mut shown: Vec<String> = seqs.take(12).map(|seq| seq.to_string()).collect();
    if length > 12 {
        shown.push(format!("… {length} in all"));
    }
    format!("[{}]", shown.join(", "))
}
