//! A fixed slice of every property, through proptest: the same cases each time. What is found is reported as a case
//! that `foldproof replay` takes, shrunk to the end.

use foldproof_harness::case::Case;
use foldproof_harness::generators::strategies::Cases;
use foldproof_harness::generators::swarm::Bounds;
use foldproof_harness::properties::{self, Cost, TABLE};
use foldproof_harness::runner::{self, Asked};
use foldproof_harness::shrink::shrink;
use foldproof_harness::systems::{Core, System};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// What a property says of a case; nothing when it holds.
fn violation(property: &str, case: &Case, system: &mut dyn System) -> Option<String> {
    let only = [property.to_owned()];
    let judged = runner::run(case, system, Asked::Only(&only));
    judged.violation.map(|(_, found)| format!("{}: {}", found.rule, found.message))
}

/// Asks one property of a fixed list of cases; gives the smallest case that breaks it.
fn slice(property: &str, system: &mut dyn System) -> Result<(), Box<(String, Case)>> {
    let cases = match properties::by_id(property).expect("a property of the table").cost {
        Cost::EveryCase => 192,
        Cost::Sampled(_) => 48,
    };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let system = std::cell::RefCell::new(system);
    let found = runner.run(&Cases(Bounds { size: 32, faults: true }), |case| {
        match violation(property, &case, &mut **system.borrow_mut()) {
            None => Ok(()),
            Some(message) => Err(TestCaseError::fail(message)),
        }
    });
    match found {
        Ok(()) => Ok(()),
        Err(TestError::Abort(reason)) => panic!("proptest gave up: {reason}"),
        Err(TestError::Fail(reason, case)) => {
            let system = &mut **system.borrow_mut();
            let mut fails = |case: &Case| violation(property, case, system).is_some();
            Err(Box::new((reason.to_string(), shrink(&case, 2_000, &mut fails, &|| false).case)))
        }
    }
}

macro_rules! slices {
    ($($name:ident $id:literal)*) => {
        $(#[test]
        fn $name() {
            if let Err(found) = slice($id, &mut Core) {
                let (reason, case) = *found;
                panic!("{}: {reason}\nfoldproof replay --inline {}", $id, case.to_inline());
            }
        })*

        const SLICED: &[&str] = &[$($id),*];
    };
}

slices! {
    system_answers "system-answers"
    held_stays "held-stays"
    seq_contiguous "seq-contiguous"
    refused_names_its_rule "refused-names-its-rule"
    refused_changes_nothing "refused-changes-nothing"
    cached_equals_fresh "cached-equals-fresh"
    replay_from_events "replay-from-events"
    fork_equals_prefix "fork-equals-prefix"
    fork_is_apart "fork-is-apart"
    request_path_independent "request-path-independent"
    gate_catches_tamper "gate-catches-tamper"
    request_prefix_extends "request-prefix-extends"
    transcript_ignores_replace "transcript-ignores-replace"
    log_only_invisible "log-only-invisible"
    unknown_required_refused "unknown-required-refused"
    ignorable_invisible "ignorable-invisible"
    pack_roundtrip "pack-roundtrip"
    repair_balances "repair-balances"
    repair_idempotent "repair-idempotent"
    verdict_equals_model "verdict-equals-model"
    redact_keeps_verdict "redact-keeps-verdict"
    system_equals_model "system-equals-model"
}

#[test]
fn every_property_has_its_slice() {
    let ids: Vec<&str> = TABLE.iter().map(|property| property.id).collect();
    assert_eq!(SLICED, ids);
}

/// The core, but for one bug: it says that a forked session has no messages.
struct Forgetful;

impl System for Forgetful {
    fn name(&self) -> String {
        "forgetful".into()
    }

    fn version(&self) -> String {
        "0".into()
    }

    fn run(&mut self, case: &Case) -> foldproof_harness::systems::Trace {
        use foldproof_harness::case::{Call, View};
        use foldproof_harness::systems::Outcome;
        let mut trace = Core.run(case);
        let mut children = std::collections::BTreeSet::new();
        for (op, step) in case.ops.iter().zip(&mut trace.steps) {
            match &op.call {
                Call::Fork { child, .. } => {
                    children.insert(child.clone());
                }
                Call::View { view: View::Messages, .. } if children.contains(&op.session) => {
                    step.outcome = Outcome::Ok("[]".into());
                }
                _ => {}
            }
        }
        trace
    }
}

#[test]
fn a_slice_can_fail_and_its_case_is_small() {
    let Err(found) = slice("fork-equals-prefix", &mut Forgetful) else { panic!("not caught") };
    let case = found.1;
    // Open, a message, a fork; and where the message was written in a child, the fork that made that.
    assert!(case.ops.len() <= 4, "{:#?}", case.ops);
}
