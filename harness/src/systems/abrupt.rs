//! A system that is always wrong in one way: its process ends. It shows that a campaign survives that.

use super::{Core, System, Trace};
use crate::case::{Call, Case};

/// The core, but for one thing: a fork ends the process.
#[derive(Debug, Default)]
pub struct Abrupt;

impl System for Abrupt {
    fn name(&self) -> String {
        "abrupt".to_owned()
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn run(&mut self, case: &Case) -> Trace {
        if case.ops.iter().any(|op| matches!(op.call, Call::Fork { .. })) {
            std::process::abort();
        }
        Core.run(case)
    }
}
