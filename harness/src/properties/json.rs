//! Small questions about answers, which are canonical JSON texts.

use foldproof::json::Value;

pub(crate) use crate::case::with_value as with;

/// The elements of an array, as texts.
pub(crate) fn elements(text: &str) -> Vec<String> {
    with(text, |root| root.elements().map(own).collect()).unwrap_or_default()
}

/// A member as text.
pub(crate) fn member(text: &str, path: &[&str]) -> Option<String> {
    with(text, |root| root.path(path).map(own)).flatten()
}

/// A member as a number.
pub(crate) fn number(text: &str, path: &[&str]) -> Option<u64> {
    with(text, |root| root.path(path).and_then(Value::as_uint)).flatten()
}

/// A value as text.
pub(crate) fn own(value: Value<'_>) -> String {
    String::from_utf8_lossy(value.bytes()).into_owned()
}
