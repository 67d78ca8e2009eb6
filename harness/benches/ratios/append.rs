//! Appending to a live session, at every length.

use super::cpu::{CpuTime, in_turn, now};
use super::logs::{given, log, message, say, session, sizes, talk};
use super::table::{Goal, Table, place};
use criterion::{Criterion, SamplingMode};
use foldproof::Session;
use foldproof::session::Draft;
use foldproof_harness::generators::shapes::Shape;
use serde::de::IgnoredAny;
use std::hint::black_box;
use std::time::Duration;

/// A session that is made anew when it has grown by half, so that its length stays what the benchmark says.
pub struct Kept {
    size: u64,
    held: Option<(Session, u64)>,
    grown: u64,
}

impl Kept {
    pub fn new(size: u64) -> Self {
        Kept { size, held: None, grown: 0 }
    }

    /// Runs an operation `times` times, and gives the time that it took. Each gets the session, the seq of the first
    /// message, and a number that no other operation on this session gets.
    pub fn run(&mut self, times: u64, mut each: impl FnMut(&mut Session, u64, u64)) -> Duration {
        let mut total = Duration::ZERO;
        let mut left = times;
        while left > 0 {
            let room = (self.size / 2).max(50) - self.grown;
            if room == 0 || self.held.is_none() {
                self.held = None;
                self.grown = 0;
            }
            let (session, first) = self.held.get_or_insert_with(|| talk(self.size));
            let count = left.min((self.size / 2).max(50) - self.grown);
            let started = now();
            for number in 0..count {
                each(session, *first, self.grown + number);
            }
            total += now() - started;
            self.grown += count;
            left -= count;
        }
        total
    }
}

pub fn bench(criterion: &mut Criterion<CpuTime>, table: &mut Table) {
    let mut group = criterion.benchmark_group("append");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(300));
    let data = message(7);
    group.bench_function("ignored-any", |b| {
        b.iter(|| serde_json::from_slice::<IgnoredAny>(black_box(&data)).is_ok())
    });
    for size in sizes() {
        let mut kept = Kept::new(size);
        group.bench_function(format!("text-{size}"), |b| {
            b.iter_custom(|times| {
                kept.run(times, |session, _, _| {
                    say(session, black_box(&data));
                })
            })
        });
        table.time(
            format!("append of text at {size} nodes"),
            place("append", format!("text-{size}")),
            1.0,
            "ns",
            Goal::Shown,
        );
    }
    if let (Some(first), Some(last)) = (sizes().first(), sizes().last())
        && first != last
    {
        table.growth(
            format!("append at {last} nodes over {first}"),
            place("append", format!("text-{first}")),
            place("append", format!("text-{last}")),
            Goal::AtMost(1.5),
        );
    }
    let tree: serde_json::Value = serde_json::from_slice(&data).unwrap_or_default();
    let mut kept = Kept::new(1_000);
    group.bench_function("tree-1000", |b| {
        b.iter_custom(|times| {
            kept.run(times, |session, _, _| {
                say(session, &serde_json::to_vec(black_box(&tree)).unwrap_or_default());
            })
        })
    });
    table.time("append of a tree at 1000 nodes", place("append", "tree-1000"), 1.0, "ns", Goal::Shown);
    group.finish();
    replay(criterion, table);
}

/// Every event of a plain log, one by one.
fn replay(criterion: &mut Criterion<CpuTime>, table: &mut Table) {
    let (text, _) = log(Shape::Plain, 20_000);
    let all = given(&text);
    let trees: Vec<serde_json::Value> =
        all.iter().map(|given| serde_json::from_slice(&given.data).unwrap_or_default()).collect();
    let mut group = criterion.benchmark_group("append-log");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(500));
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let ignored = || lines.iter().filter(|line| serde_json::from_slice::<IgnoredAny>(line).is_ok()).count();
    let appended = || {
        let mut session = session();
        for given in &all {
            super::logs::append(&mut session, given.draft());
        }
        session.log().len()
    };
    let mut ratios = vec![];
    group.bench_function("text", |b| b.iter_custom(|times| in_turn(times, &mut ratios, ignored, appended)));
    group.bench_function("tree", |b| {
        b.iter(|| {
            let mut session = session();
            for (given, tree) in all.iter().zip(&trees) {
                let data = serde_json::to_vec(tree).unwrap_or_default();
                super::logs::append(&mut session, Draft { data: &data, ..given.draft() });
            }
            session.log().len()
        })
    });
    group.finish();
    let at = |function: &str| place("append-log", function);
    table.time("append of a plain log's events as text", at("text"), all.len() as f64, "ns", Goal::Shown);
    table.time("append of a plain log's events as trees", at("tree"), all.len() as f64, "ns", Goal::Shown);
    table.paired("append of a plain log's events as text, of IgnoredAny", ratios, Goal::Shown);
}
