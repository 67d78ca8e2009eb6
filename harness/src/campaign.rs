//! A campaign: many cases on one system, in blocks that run on several cores and are counted in case order.
//!
//! What is counted depends on the seed, the options and the system, and on nothing else: not on the number of jobs,
//! not on the clock, not on the machine. The clock only decides behind which block a campaign with a time stops.

use crate::case::{Case, Status};
use crate::generators::bytes;
use crate::generators::swarm::Bounds;
use crate::properties::{self, TABLE, Violation};
use crate::result::{Failure, Outcome, Results, Stopped};
use crate::runner::{self, Asked};
use crate::seed::Seed;
use crate::shrink;
use crate::systems::{Abrupt, Core, Model, System};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Cases in a block.
pub const BLOCK: u64 = 256;

/// The largest bound of ops that a campaign takes.
pub const LARGEST: usize = 10_000;

/// Ops of a case at most, unless it is said otherwise.
pub const MAX_SIZE: usize = 60;

/// The system under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The embedded core.
    Core,
    /// The model, against itself: a check of the properties.
    Model,
    /// The core in a process that ends at a fork: a check of the campaign.
    Abrupt,
}

impl Kind {
    /// The kind whose system has this name.
    pub fn from_name(name: &str) -> Option<Kind> {
        [Kind::Core, Kind::Model, Kind::Abrupt].into_iter().find(|kind| kind.make().name() == name)
    }

    /// A fresh system.
    pub fn make(self) -> Box<dyn System> {
        match self {
            Kind::Core => Box::new(Core),
            Kind::Model => Box::new(Model),
            Kind::Abrupt => Box::new(Abrupt),
        }
    }
}

/// How long a campaign goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// So many cases, over all shards.
    Cases(u64),
    /// So long; it stops behind a block.
    Time(Duration),
}

/// What a campaign does.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seed from which everything follows.
    pub seed: Seed,
    /// The system.
    pub kind: Kind,
    /// Properties to ask, by id; all when empty.
    pub properties: Vec<String>,
    /// How long.
    pub budget: Budget,
    /// Ops of a case at most.
    pub max_size: usize,
    /// Distinct failures behind which it stops.
    pub max_failures: u64,
    /// Executions of one shrinking at most.
    pub max_shrinks: u64,
    /// Which of how many parts.
    pub shard: (u64, u64),
    /// Jobs; 0 for as many as there are cores.
    pub jobs: usize,
    /// Cases to begin with, from real logs.
    pub from: Vec<Case>,
}

impl Plan {
    /// The usual plan over this seed: a thousand cases on the core.
    pub fn new(seed: Seed) -> Plan {
        Plan {
            seed,
            kind: Kind::Core,
            properties: vec![],
            budget: Budget::Cases(1_000),
            max_size: MAX_SIZE,
            max_failures: 8,
            max_shrinks: 4_000,
            shard: (0, 1),
            jobs: 0,
            from: vec![],
        }
    }

    /// The bounds of a case: small cases first, then a mix.
    pub fn bounds(&self, index: u64) -> Bounds {
        let most = self.max_size.max(4) as u64;
        let size = match index {
            0..512 => 4 + index * (most - 4) / 1024,
            _ => 4 + self.seed.of_case(index ^ (1 << 63)).stream().below(most - 3),
        };
        Bounds { size: size as usize, faults: true }
    }

    /// The case with this number.
    pub fn case(&self, index: u64) -> Case {
        let mut case = match usize::try_from(index).ok().and_then(|index| self.from.get(index)) {
            Some(case) => case.clone(),
            None => bytes::from_seed(self.seed.of_case(index), self.bounds(index)),
        };
        case.seed = Some(self.seed.0);
        case.index = Some(index);
        case.system = self.kind.make().name();
        case
    }

    fn judge(&self, index: u64) -> Counted {
        let case = self.case(index);
        let mut system = self.kind.make();
        let asked = match self.properties.is_empty() {
            true => Asked::Campaign { index },
            false => Asked::Only(&self.properties),
        };
        let judged = runner::run(&case, &mut *system, asked);
        Counted {
            applied: judged
                .applied
                .iter()
                .filter(|(_, times)| times.0 > 0)
                .map(|(property, _)| property.id)
                .collect(),
            labels: properties::labels(&case, &judged.trace),
            rule: case.rule.clone(),
            violation: judged.violation.map(|(property, violation)| (property.id, violation, case)),
        }
    }
}

/// One case, counted.
struct Counted {
    applied: Vec<&'static str>,
    labels: Vec<&'static str>,
    rule: Option<String>,
    violation: Option<(&'static str, Violation, Case)>,
}

/// What a campaign tells while it runs.
pub trait Watcher {
    /// A block begins: cases `from..to`.
    fn block(&mut self, from: u64, to: u64);
    /// A block is done.
    fn counted(&mut self, results: &Results);
    /// A failure was found and shrunk; the watcher saves it and says where.
    fn failed(&mut self, failure: &Failure, case: &Case) -> String;
    /// Whether to stop.
    fn is_interrupted(&self) -> bool;
}

/// Runs a campaign.
pub fn run(plan: &Plan, watcher: &mut (dyn Watcher + Sync)) -> Results {
    let started = Instant::now();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(plan.jobs).build();
    let mut results = Results::new(plan);
    let (shard, shards) = plan.shard;
    let total = match plan.budget {
        Budget::Cases(cases) => cases,
        Budget::Time(_) => u64::MAX,
    };
    let mut seen: BTreeMap<(&'static str, &'static str), ()> = BTreeMap::new();
    let mut block = shard;
    loop {
        let from = block.saturating_mul(BLOCK);
        if from >= total {
            results.stopped = Stopped::Cases;
            break;
        }
        if watcher.is_interrupted() {
            results.stopped = Stopped::Interrupt;
            break;
        }
        if matches!(plan.budget, Budget::Time(time) if started.elapsed() >= time) {
            results.stopped = Stopped::Time;
            break;
        }
        let to = from.saturating_add(BLOCK).min(total);
        watcher.block(from, to);
        let judge = || (from..to).into_par_iter().map(|index| plan.judge(index)).collect::<Vec<Counted>>();
        let counted = match &pool {
            Ok(pool) => pool.install(judge),
            // Without threads the same is done on this one.
            Err(_) => (from..to).map(|index| plan.judge(index)).collect(),
        };
        for counted in counted {
            let new = count(&mut results, &mut seen, counted);
            if let Some((property, violation, case)) = new {
                let stop = || watcher.is_interrupted();
                let (failure, case) = shrunk(plan, property, violation, case, &stop);
                let path = watcher.failed(&failure, &case);
                results.failed(property, Failure { case: path, ..failure });
            }
        }
        watcher.counted(&results);
        if seen.len() as u64 >= plan.max_failures {
            results.stopped = Stopped::Failures;
            break;
        }
        block += shards;
    }
    results
}

/// Adds a case; gives its violation when the same was not seen yet.
fn count(
    results: &mut Results,
    seen: &mut BTreeMap<(&'static str, &'static str), ()>,
    counted: Counted,
) -> Option<(&'static str, Violation, Case)> {
    results.cases += 1;
    for id in counted.applied {
        results.property(id).cases += 1;
    }
    for label in counted.labels {
        *results.labels.entry(label.to_owned()).or_default() += 1;
    }
    if let Some(rule) = counted.rule {
        *results.rules.entry(rule).or_default() += 1;
    }
    let (property, violation, case) = counted.violation?;
    results.property(property).cases += 1;
    let status = if violation.refused_otherwise { Outcome::RefusedOtherwise } else { Outcome::Failed };
    results.property(property).status = results.property(property).status.and(status);
    seen.insert((property, violation.rule), ()).is_none().then_some((property, violation, case))
}

/// Shrinks a failure with property and rule pinned.
fn shrunk(
    plan: &Plan,
    property: &'static str,
    violation: Violation,
    case: Case,
    stop: &dyn Fn() -> bool,
) -> (Failure, Case) {
    let pinned = [property.to_owned()];
    let mut system = plan.kind.make();
    let mut again = |case: &Case| {
        let judged = runner::run(case, &mut *system, Asked::Only(&pinned));
        // A refusal for another reason is another failure, and so is the reverse.
        let same = |found: &Violation| {
            found.rule == violation.rule && found.refused_otherwise == violation.refused_otherwise
        };
        judged.violation.filter(|(_, found)| same(found))
    };
    let small = shrink::shrink(&case, plan.max_shrinks, &mut |case| again(case).is_some(), stop);
    let found = again(&small.case).map_or(violation.clone(), |(_, found)| found);
    let mut case = small.case;
    case.property = Some(property.to_owned());
    case.outcome = properties::by_id(property).map(|property| found.recorded(property));
    let failure = Failure {
        index: case.index.unwrap_or(0),
        rule: found.rule.to_owned(),
        case: String::new(),
        size: case.ops.len() as u64,
        shrinks: small.tried,
        interrupted: !small.finished && small.tried < plan.max_shrinks,
        message: found.message,
    };
    (failure, case)
}

/// The ids that a glob names, `*` standing for any text.
pub fn matching(glob: &str) -> Vec<String> {
    let ids = TABLE.iter().map(|property| property.id);
    ids.filter(|id| fits(glob.as_bytes(), id.as_bytes())).map(str::to_owned).collect()
}

fn fits(glob: &[u8], text: &[u8]) -> bool {
    match glob.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|at| fits(rest, &text[at..])),
        Some((b'?', rest)) => !text.is_empty() && fits(rest, &text[1..]),
        Some((byte, rest)) => text.first() == Some(byte) && fits(rest, &text[1..]),
    }
}

/// Whether a recorded outcome is one that fails a campaign.
pub fn is_failure(status: Status) -> bool {
    matches!(status, Status::Failed | Status::AdapterBroken | Status::Nondeterministic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        assert_eq!(matching("seq-contiguous"), ["seq-contiguous"]);
        assert!(matching("repair-*").len() >= 2);
        assert!(matching("nothing").is_empty());
        assert_eq!(matching("*").len(), TABLE.len());
    }
}
