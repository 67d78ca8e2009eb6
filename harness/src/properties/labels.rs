//! Labels: what a case was about, for the health of a campaign.

/// Labels.
pub const LABELS: &[&str] = &[];
/// The labels of a case.
pub fn labels(_case: &crate::case::Case, _trace: &crate::systems::Trace) -> Vec<&'static str> { vec![] }
