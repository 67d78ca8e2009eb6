//! The campaign: cases a second, generating included, at a median of 25 operations.

use super::cpu::CpuTime;
use super::table::{Goal, Table, place};
use criterion::{Criterion, SamplingMode};
use foldproof_harness::campaign::Plan;
use foldproof_harness::properties::{Cost, TABLE};
use foldproof_harness::runner::{self, Asked};
use foldproof_harness::seed::Seed;
use foldproof_harness::systems::Core;
use std::hint::black_box;
use std::time::Duration;

/// Cases that one iteration runs.
const CASES: u64 = 128;
/// The first one; earlier ones are small on purpose.
const FROM: u64 = 512;

fn median(plan: &Plan) -> usize {
    let mut sizes: Vec<usize> = (FROM..FROM + CASES).map(|index| plan.case(index).ops.len()).collect();
    sizes.sort_unstable();
    sizes[sizes.len() / 2]
}

/// The plan whose median case has 25 operations, or one more.
fn plan() -> Plan {
    let of = |max_size| Plan { max_size, ..Plan::new(Seed(5)) };
    (8..200).map(of).find(|plan| median(plan) >= 25).unwrap_or_else(|| of(60))
}

/// Generates and judges the cases.
fn judge<'p>(plan: &Plan, asked: impl Fn(u64) -> Asked<'p>) {
    for index in FROM..FROM + CASES {
        let judged = runner::run(&plan.case(index), &mut Core, asked(index));
        assert!(judged.violation.is_none(), "case {index}");
    }
}

pub fn bench(criterion: &mut Criterion<CpuTime>, table: &mut Table) {
    let plan = plan();
    let every: Vec<String> = TABLE
        .iter()
        .filter(|property| property.cost == Cost::EveryCase)
        .map(|property| property.id.to_owned())
        .collect();
    let replay = vec!["replay-from-events".to_owned()];
    let mut group = criterion.benchmark_group("campaign");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(1_500));
    group.bench_function("generate", |b| {
        b.iter(|| (FROM..FROM + CASES).map(|index| black_box(plan.case(index)).ops.len()).sum::<usize>())
    });
    group.bench_function("every-case", |b| b.iter(|| judge(&plan, |_| Asked::Only(&every))));
    group.bench_function("replay", |b| b.iter(|| judge(&plan, |_| Asked::Only(&replay))));
    group.bench_function("campaign", |b| b.iter(|| judge(&plan, |index| Asked::Campaign { index })));
    group.finish();
    let at = |function: &str| place("campaign", function);
    let cases = CASES as f64;
    table.rate("campaign, cases generated", at("generate"), cases, Goal::Shown);
    table.rate("campaign, every-case properties", at("every-case"), cases, Goal::AtLeast(10_000.0));
    table.rate("campaign, the replay property alone", at("replay"), cases, Goal::AtLeast(20_000.0));
    table.rate("campaign as it runs, with sampled properties", at("campaign"), cases, Goal::Shown);
}
