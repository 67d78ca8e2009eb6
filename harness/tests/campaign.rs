//! What a campaign promises: the same bytes for the same seed, whatever runs it; every label reached; failures shrunk.

use foldproof_harness::campaign::{self, Budget, Plan, Watcher};
use foldproof_harness::case::{Call, Case};
use foldproof_harness::generators::bytes;
use foldproof_harness::generators::swarm::Bounds;
use foldproof_harness::merge;
use foldproof_harness::properties::{self, TABLE};
use foldproof_harness::result::{Failure, Results};
use foldproof_harness::runner::{self, Asked};
use foldproof_harness::seed::Seed;
use foldproof_harness::shrink;
use foldproof_harness::systems::{Core, Outcome, System, Trace};
use std::collections::BTreeSet;

/// Keeps nothing and stops nothing.
struct Quiet;

impl Watcher for Quiet {
    fn block(&mut self, _: u64, _: u64) {}
    fn counted(&mut self, _: &Results) {}
    fn failed(&mut self, failure: &Failure, _: &Case) -> String {
        format!("case-{}", failure.index)
    }
    fn is_interrupted(&self) -> bool {
        false
    }
}

fn run(change: impl FnOnce(&mut Plan)) -> Results {
    let mut plan = Plan { budget: Budget::Cases(700), max_shrinks: 200, ..Plan::new(Seed(0xBEE)) };
    change(&mut plan);
    campaign::run(&plan, &mut Quiet)
}

#[test]
fn the_same_seed_gives_the_same_bytes_for_any_jobs_and_for_merged_shards() {
    let one = run(|plan| plan.jobs = 1);
    let two = run(|plan| plan.jobs = 2);
    assert_eq!(one.to_json(), two.to_json());
    let shards = (0..2).map(|shard| run(|plan| plan.shard = (shard, 2)).to_json());
    let read: Vec<Results> = shards.filter_map(|json| merge::read(&json).ok()).collect();
    let merged = merge::merge(read).map(|merged| merged.to_json());
    assert_eq!(merged, Ok(one.to_json()));
    assert_eq!(one.cases, 700);
}

#[test]
fn nothing_is_falsified_and_every_label_is_reached() {
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let plan = Plan::new(Seed(0xFEED));
    for index in 0..3_000 {
        let case = plan.case(600 + index);
        reached.extend(properties::labels(&case, &Core.run(&case)));
    }
    let missing: Vec<&&str> = properties::LABELS.iter().filter(|label| !reached.contains(**label)).collect();
    assert!(missing.is_empty(), "never reached: {missing:?}");
    let results = run(|_| ());
    let failures: Vec<(&str, &Failure)> = results.failures().collect();
    assert!(failures.is_empty(), "{failures:?}");
}

#[test]
fn every_property_has_a_chance_and_holds() {
    let mut chances = vec![0; TABLE.len()];
    for index in 0..60 {
        let bounds = Bounds { size: 6 + index as usize % 30, faults: true };
        let case = bytes::from_seed(Seed(0xAB1E).of_case(index), bounds);
        let judged = runner::run(&case, &mut Core, Asked::All);
        if let Some((property, violation)) = judged.violation {
            panic!("case {index}: {}: {violation:#?}\n{}", property.id, case.to_inline());
        }
        for (place, (_, applied)) in judged.applied.iter().enumerate() {
            chances[place] += applied.0;
        }
    }
    let idle: Vec<&str> = TABLE
        .iter()
        .zip(&chances)
        .filter(|(_, times)| **times == 0)
        .map(|(property, _)| property.id)
        .collect();
    assert!(idle.is_empty(), "never had a chance: {idle:?}");
}

/// The core, but for one planted bug: it forgets the header once a session was forked.
struct Forgetful;

impl System for Forgetful {
    fn name(&self) -> String {
        "forgetful".to_owned()
    }

    fn version(&self) -> String {
        "0".to_owned()
    }

    fn run(&mut self, case: &Case) -> Trace {
        let mut trace = Core.run(case);
        let mut forked = false;
        for (op, step) in case.ops.iter().zip(&mut trace.steps) {
            forked |= matches!(op.call, Call::Fork { .. });
            let asked =
                op.call.name() == "header" && step.outcome.ok().is_some_and(|answer| answer != "null");
            if forked && asked {
                step.outcome = Outcome::Ok("null".to_owned());
            }
        }
        trace
    }
}

#[test]
fn a_planted_bug_is_caught_and_shrunk() {
    let property = ["system-equals-model".to_owned()];
    let fails = |case: &Case| runner::run(case, &mut Forgetful, Asked::Only(&property)).violation.is_some();
    let plan = Plan::new(Seed(3));
    let Some(caught) = (0..4_000).map(|index| plan.case(index)).find(|case| fails(case)) else {
        panic!("the planted bug was not caught");
    };
    let shrunk = shrink::shrink(&caught, 3_000, &mut |case| fails(case), &|| false);
    assert!(shrunk.finished);
    // Open, the header, the fork, the question.
    assert!(shrunk.case.ops.len() <= 4, "{} ops: {:#?}", shrunk.case.ops.len(), shrunk.case.ops);
}

#[test]
fn merging_refuses_what_does_not_belong_together() {
    let results = run(|plan| plan.budget = Budget::Cases(1));
    let other = Results { seed: "other".to_owned(), shard: (1, 2), ..results.clone() };
    let first = Results { shard: (0, 2), ..results.clone() };
    assert!(merge::merge(vec![first.clone(), other]).is_err());
    assert!(merge::merge(vec![first.clone(), first]).is_err());
    assert!(merge::merge(vec![]).is_err());
    let newer = results.to_json().replacen("\"foldproof\":1", "\"foldproof\":2", 1);
    assert!(merge::read(&newer).is_err_and(|error| error.to_string().contains("foldproof is 2")));
}
