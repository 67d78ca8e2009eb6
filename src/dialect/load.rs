//! Dialects from data.

/// Why a dialect could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct DialectError {
    /// Where in the data.
    pub place: String,
    /// What was expected and found.
    pub message: String,
}
