//! Coverage-guided targets.
