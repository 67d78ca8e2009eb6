//! The header line (STORE-1, STORE-2).

use crate::dialect::{Dialect, HeaderShape, HeaderSpec};
use crate::event::ill_typed;
use crate::finding::Violation;
use crate::json::{Kind, Value};
use crate::rule::Rule;

/// STORE-2: whether the version is ours. A header that has no numeric version is left to [`check`].
pub fn check_version(spec: &HeaderSpec, root: Value<'_>) -> Result<(), Violation> {
    let Some(version) = root.get("version") else { return Ok(()) };
    let Some(number) = version.as_double() else { return Ok(()) };
    if number == spec.version as f64 {
        return Ok(());
    }
    let found = crate::event::describe(version);
    let text = if number > spec.version as f64 {
        format!(
            "expected log version {}, found {found}: written by a newer harness, upgrade to read it",
            spec.version
        )
    } else {
        format!(
            "expected log version {}, found {found}: older than any release, there is no upgrade path",
            spec.version
        )
    };
    Err(Violation::new(Rule::Store2, version.at(), text))
}

/// STORE-1: members and their types. The line is an object and its version is ours, or not a number.
pub fn check(spec: &HeaderSpec, root: Value<'_>) -> Result<(), Violation> {
    for (name, shape) in &spec.required {
        let found = root.get(name);
        if !found.is_some_and(|value| fits(shape, value)) {
            return Err(ill_typed(Rule::Store1, found, root, name, &want(shape)));
        }
    }
    for (name, shape) in &spec.optional {
        let found = root.get(name);
        if found.is_some_and(|value| !fits(shape, value)) {
            return Err(ill_typed(Rule::Store1, found, root, name, &want(shape)));
        }
    }
    for name in &spec.retired {
        if let Some(value) = root.get(name) {
            let text = format!(
                "expected no member {name}, which was retired, found {}",
                crate::event::describe(value)
            );
            return Err(Violation::new(Rule::Store1, value.at(), text));
        }
    }
    if spec.exact
        && let Some((key, value)) = unknown(spec, root).next()
    {
        let text = format!("expected only members of the header, found \"{key}\"");
        return Err(Violation::new(Rule::Store1, value.at(), text));
    }
    Ok(())
}

/// Members that the dialect does not name: kept, and worth a note where they are tolerated.
pub fn unknown<'a>(spec: &HeaderSpec, root: Value<'a>) -> impl Iterator<Item = (String, Value<'a>)> {
    let known: Vec<&str> =
        spec.required.iter().chain(&spec.optional).map(|(name, _)| name.as_str()).collect();
    let known: Vec<String> =
        known.into_iter().chain(spec.retired.iter().map(String::as_str)).map(Into::into).collect();
    root.members()
        .filter(move |(key, _)| !known.iter().any(|name| key.is(name)))
        .map(|(key, value)| (key.display(), value))
}

/// The number of inherited events that the header claims, if it says.
pub fn inherited(dialect: &Dialect, root: Value<'_>) -> Option<u64> {
    root.get(dialect.seed.length.as_deref()?)?.as_uint()
}

/// Offset of that member's name in the header line.
pub(crate) fn inherited_at(dialect: &Dialect, root: Value<'_>, line: &[u8]) -> usize {
    let named = |(key, _): &(crate::json::Str<'_>, Value<'_>)| {
        dialect.seed.length.as_deref().is_some_and(|name| key.is(name))
    };
    let Some((key, value)) = root.members().find(named) else { return 0 };
    // Between the name's closing quote and the value stand only a colon and spaces.
    let quote = memchr::memrchr(b'"', &line[..value.at()]).unwrap_or(0);
    quote.saturating_sub(key.raw().len() + 1)
}

fn fits(shape: &HeaderShape, value: Value<'_>) -> bool {
    let text = value.as_str();
    match shape {
        HeaderShape::Number => value.kind() == Kind::Number,
        HeaderShape::Text => text.is_some(),
        HeaderShape::Name => text.is_some_and(|text| !text.is_empty()),
        HeaderShape::Count => value.as_uint().is_some(),
        HeaderShape::Flag => value.kind() == Kind::Bool,
        HeaderShape::OneOf(list) => text.is_some_and(|text| list.iter().any(|item| text.is(item))),
        HeaderShape::AbsolutePath => text.is_some_and(|text| is_absolute(&text.canonical())),
    }
}

fn want(shape: &HeaderShape) -> String {
    match shape {
        HeaderShape::Number => "a number".into(),
        HeaderShape::Text => "a string".into(),
        HeaderShape::Name => "a string that is not empty".into(),
        HeaderShape::Count => "a safe integer that is not negative".into(),
        HeaderShape::Flag => "true or false".into(),
        HeaderShape::OneOf(list) => {
            list.iter().map(|item| format!("\"{item}\"")).collect::<Vec<_>>().join(" or ")
        }
        HeaderShape::AbsolutePath => "an absolute path".into(),
    }
}

/// Starts with `/`, with a drive letter, colon and `/` or `\`, or with `\\`. Takes canonical inner text, in which a
/// backslash is spelled twice.
fn is_absolute(path: &[u8]) -> bool {
    match path {
        [b'/', ..] | [b'\\', b'\\', b'\\', b'\\', ..] => true,
        [drive, b':', b'/', ..] | [drive, b':', b'\\', b'\\', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}
