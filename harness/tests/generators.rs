//! What the generators promise: valid cases are valid, faulty ones break one rule and say which.

use foldproof_harness::case::{Call, Case, Encoding, LogSource};
use foldproof_harness::generators::bytes;
use foldproof_harness::generators::swarm::Bounds;
use foldproof_harness::model;
use foldproof_harness::seed::Seed;
use foldproof_harness::systems::{Core, Model, Outcome, System, Trace};
use std::collections::BTreeMap;

const CASES: u64 = 400;

fn case(index: u64, faults: bool) -> Case {
    let size = 4 + (index % 60) as usize;
    bytes::from_seed(Seed(0xC0FFEE).of_case(index), Bounds { size, faults })
}

/// Asks for every session's log at the end, and says what the strict checker of each system finds in it.
fn checked(mut case: Case, system: &mut dyn System) -> (Case, Trace) {
    let mut handles: Vec<String> = vec![];
    for op in &case.ops {
        let made = match &op.call {
            Call::Open { .. } | Call::Restore { .. } => op.session.clone(),
            Call::Fork { child, .. } => child.clone(),
            _ => continue,
        };
        if !handles.contains(&made) {
            handles.push(made);
        }
    }
    for handle in handles {
        let dump = Call::Dump { packed: false, encoding: Encoding::Plain };
        case.ops.push(foldproof_harness::case::Op::new(handle, dump));
    }
    let trace = system.run(&case);
    (case, trace)
}

fn log_of(answer: &str) -> Vec<u8> {
    serde_free_unquote(answer)
}

/// The text in a canonical string literal.
fn serde_free_unquote(literal: &str) -> Vec<u8> {
    let mut scanner = foldproof::json::Scanner::new(8);
    let units: Vec<u16> = match scanner.scan(literal.as_bytes()) {
        Ok(scan) => scan.root().as_str().map(|text| text.units().collect()).unwrap_or_default(),
        Err(_) => vec![],
    };
    String::from_utf16_lossy(&units).into_bytes()
}

/// An open turn at the end is legal, and so is another field in a header; streams have to be cited as they are.
fn is_bad(finding: &model::Finding) -> bool {
    finding.rule != "REPAIR-2" && (finding.class != model::Class::Note || finding.rule == "PAIR-5")
}

#[test]
fn valid_cases_are_valid() {
    for index in 0..CASES {
        let original = case(index, false);
        for system in [&mut Core as &mut dyn System, &mut Model] {
            let name = system.name();
            let (case, trace) = checked(original.clone(), system);
            for (place, (op, step)) in case.ops.iter().zip(&trace.steps).enumerate() {
                let fine = match (&step.outcome, &op.call) {
                    (Outcome::Ok(_), _) => true,
                    // Some forks are meant to be refused, and then there is nothing to dump.
                    (Outcome::Err { rule, .. }, Call::Fork { .. }) => rule.as_deref() == Some("FORK-2"),
                    (Outcome::Err { message, .. }, Call::Dump { .. }) => message == "no such session",
                    _ => false,
                };
                assert!(fine, "case {index}, {name}, op {place}: {:?}\n{:#?}", step.outcome, op);
                if let (Call::Dump { encoding: Encoding::Plain, .. }, Outcome::Ok(answer)) =
                    (&op.call, &step.outcome)
                {
                    let log = log_of(answer);
                    let report = model::check(&log, model::Dialect::DshV0, model::Mode::Strict);
                    let bad: Vec<_> = report.findings.iter().filter(|finding| is_bad(finding)).collect();
                    assert!(
                        bad.is_empty(),
                        "case {index}, {name}: {bad:?}\n{}",
                        String::from_utf8_lossy(&log)
                    );
                    let report = foldproof::check::check(
                        foldproof::check::Input::Plain(Box::new(&log[..])),
                        &foldproof::check::Options::default(),
                    );
                    let findings = report.map(|report| report.findings.list).unwrap_or_default();
                    let bad: Vec<_> =
                        findings.iter().filter(|finding| finding.rule.id() != "REPAIR-2").collect();
                    assert!(
                        bad.is_empty(),
                        "case {index}, {name}: {bad:?}\n{}",
                        String::from_utf8_lossy(&log)
                    );
                }
            }
        }
    }
}

#[test]
fn faults_break_their_rule_and_no_other() {
    let mut hit: BTreeMap<String, u64> = BTreeMap::new();
    for index in 0..CASES * 8 {
        let case = case(index, true);
        let Some(rule) = case.rule.clone() else { continue };
        let systems: &mut [&mut dyn System] = &mut [&mut Core, &mut Model];
        let many = if index % 8 == 0 { 2 } else { 1 };
        for system in systems.iter_mut().take(many) {
            let trace = system.run(&case);
            let last = trace.steps.iter().zip(&case.ops).rev().find(|(step, _)| step.outcome.is_refused());
            let last = last.map(|(step, op)| (&step.outcome, op));
            match last {
                Some((Outcome::Err { rule: Some(said), .. }, _)) if *said == rule => {}
                other => panic!("case {index} on {}: expected {rule}: {other:#?}", system.name()),
            }
        }
        *hit.entry(rule).or_default() += 1;
    }
    use foldproof_harness::generators::faults::{RULES, STORED};
    for rule in RULES.iter().chain(&STORED) {
        assert!(hit.contains_key(*rule), "{rule} was never broken: {hit:?}");
    }
}

#[test]
fn small_changes_of_the_bytes_are_small_changes_of_the_case() {
    let bounds = Bounds { size: 40, faults: false };
    let raw = bytes::seeded(Seed(5), bounds);
    let whole = foldproof_harness::resolve::resolve(&raw, 400);
    let mut shorter = raw.clone();
    shorter.ops.truncate(20);
    let part = foldproof_harness::resolve::resolve(&shorter, 400);
    let same = whole.ops.iter().zip(&part.ops).take_while(|(one, other)| one == other).count();
    assert!(same + 40 > part.ops.len(), "{same} of {}", part.ops.len());
}

#[test]
fn any_bytes_make_a_case() {
    assert!(!bytes::case(&[]).ops.is_empty());
    let mut stream = Seed(9).stream();
    for length in 0..200 {
        let mut bytes = vec![0; length * 7];
        stream.fill(&mut bytes);
        let case = bytes::case(&bytes);
        let restores =
            case.ops.iter().filter(|op| matches!(&op.call, Call::Restore { log: LogSource::Bytes(_), .. }));
        assert!(restores.count() <= case.ops.len());
    }
}
