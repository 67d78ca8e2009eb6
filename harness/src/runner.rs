//! One case on one system, judged by properties.

use crate::case::{Case, Recorded};
use crate::properties::{Applied, Context, Cost, Property, TABLE, Violation};
use crate::systems::{System, Trace};

/// What became of a case.
#[derive(Clone, Debug)]
pub struct Judged {
    /// What the system did.
    pub trace: Trace,
    /// The first violation in table order.
    pub violation: Option<(&'static Property, Violation)>,
    /// How often each property that was asked had a chance, in table order.
    pub applied: Vec<(&'static Property, Applied)>,
}

impl Judged {
    /// What a case file records of it.
    pub fn recorded(&self) -> Recorded {
        match &self.violation {
            None => Recorded::passed(),
            Some((property, violation)) => violation.recorded(property),
        }
    }
}

/// Which properties to ask.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'p> {
    /// Every one, whatever it costs: for replaying and shrinking.
    All,
    /// As a campaign does it: a property that costs more is asked only for one case in so many.
    Campaign {
        /// The case's number.
        index: u64,
    },
    /// These, by id, whatever they cost.
    Only(&'p [String]),
}

impl Asked<'_> {
    fn includes(&self, property: &Property) -> bool {
        match self {
            Asked::All => true,
            Asked::Campaign { index } => match property.cost {
                Cost::EveryCase => true,
                Cost::Sampled(one_in) => index.is_multiple_of(one_in.max(1)),
            },
            Asked::Only(ids) => ids.iter().any(|id| id == property.id),
        }
    }
}

/// Runs a case on a system and asks properties in table order, up to the first violation.
pub fn run(case: &Case, system: &mut dyn System, asked: Asked<'_>) -> Judged {
    let trace = system.run(case);
    let mut applied = vec![];
    let mut violation = None;
    {
        let context = Context::new(case, &trace, system);
        for property in TABLE.iter().filter(|property| asked.includes(property)) {
            match (property.check)(&context) {
                Ok(times) => applied.push((property, times)),
                Err(found) => {
                    violation = Some((property, found));
                    break;
                }
            }
        }
    }
    Judged { trace, violation, applied }
}
