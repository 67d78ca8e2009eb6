//! A whole live run of the pruned log: every event appended, one derived history a request.

use super::cpu::CpuTime;
use super::logs::{append, events, given, log, session};
use super::table::{Goal, Table, place};
use criterion::{Criterion, SamplingMode};
use foldproof_harness::generators::shapes::Shape;
use std::time::{Duration, Instant};

pub fn bench(criterion: &mut Criterion<CpuTime>, table: &mut Table) {
    let (text, count) = log(Shape::Prune, events());
    let all = given(&text);
    drop(text);
    let requests = all.iter().filter(|given| given.kind == "step/start").count();
    let mut group = criterion.benchmark_group("live-prune");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(800));
    group.bench_function("derives", |b| {
        b.iter_custom(|times| {
            let mut total = Duration::ZERO;
            for _ in 0..times {
                let mut session = session();
                let mut held = None;
                for given in &all {
                    append(&mut session, given.draft());
                    if given.kind == "step/start" {
                        // A clock of the processor costs more than what is measured here.
                        let started = Instant::now();
                        let history = session.history();
                        total += started.elapsed();
                        held = Some(history);
                    }
                }
                assert!(held.is_some_and(|history| !history.is_empty()));
            }
            total
        })
    });
    group.finish();
    let at = || place("live-prune", "derives");
    table.time(
        format!("live run of prune, all {requests} derives of {count} events"),
        at(),
        1.0,
        "ms",
        Goal::AtMost(300.0 * count as f64 / 1e6),
    );
    table.time("live run of prune, a derive", at(), requests as f64, "us", Goal::Shown);
}
