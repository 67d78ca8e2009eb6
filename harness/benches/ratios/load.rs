//! Loading, validating and deriving, beside what it costs `serde_json` to skip over the same lines.

use super::cpu::{CpuTime, in_turn};
use super::logs::{events, framed, load, log, released};
use super::table::{Goal, Table, place};
use criterion::{Criterion, SamplingMode, Throughput};
use foldproof::History;
use foldproof::check::{self, Input, Options};
use foldproof_harness::generators::shapes::Shape;
use serde::de::IgnoredAny;
use std::hint::black_box;
use std::io::Cursor;
use std::time::Duration;

const SHAPES: [(&str, Shape, f64); 6] = [
    ("plain", Shape::Plain, 0.60),
    ("packed", Shape::Packed, 0.40),
    ("prune", Shape::Prune, 0.54),
    ("compact", Shape::Compact, 0.54),
    ("scatter", Shape::Scatter, 0.40),
    ("collapse", Shape::Collapse, 0.40),
];

/// Skips every line.
fn ignored(text: &[u8]) -> usize {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.filter(|line| serde_json::from_slice::<IgnoredAny>(line).is_ok()).count()
}

pub fn bench(criterion: &mut Criterion<CpuTime>, table: &mut Table) {
    for (name, shape, goal) in SHAPES {
        let size = if shape == Shape::Scatter { events() * 6 / 5 } else { events() };
        let (text, count) = log(shape, size);
        let group_name = format!("load-{name}");
        let mut group = criterion.benchmark_group(&group_name);
        group
            .sampling_mode(SamplingMode::Flat)
            .sample_size(10)
            .throughput(Throughput::Bytes(text.len() as u64));
        group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(900));
        let (options, strict) = (released(), Options::default());
        let streamed = |options: &Options| {
            let report = check::check(Input::Plain(Box::new(&text[..])), options);
            report.map(|report| assert_eq!(report.verdict(), "accept")).is_ok()
        };
        let compressed = if shape == Shape::Plain { framed(&text) } else { vec![] };
        let unpacked = || {
            let input = Input::Compressed(Box::new(Cursor::new(&compressed[..])));
            let Ok(loaded) = check::load(input, &options, text.len()) else { return 0 };
            assert_eq!(loaded.report.verdict(), "accept");
            History::new(&loaded.log, loaded.admission.surface()).iter().map(<[u8]>::len).sum()
        };
        let mut against = |function: &str, title: String, goal: Goal, ours: &dyn Fn() -> usize| {
            let mut ratios = vec![];
            group.bench_function(function, |b| {
                b.iter_custom(|times| in_turn(times, &mut ratios, || ignored(black_box(&text)), ours))
            });
            table.paired(title, ratios, goal);
        };
        against("load", format!("load {name}, of IgnoredAny"), Goal::AtLeast(goal), &|| {
            load(&text, &options)
        });
        against("check", format!("check {name} in bounded memory, of IgnoredAny"), Goal::Shown, &|| {
            usize::from(streamed(&options))
        });
        against("relations", format!("check {name} with relations, of IgnoredAny"), Goal::Shown, &|| {
            usize::from(streamed(&strict))
        });
        if shape == Shape::Plain {
            let title = "load plain from zstd, of IgnoredAny of the text".to_owned();
            against("load-zstd", title, Goal::AtLeast(0.35), &unpacked);
            group.bench_function("ignored-any", |b| b.iter(|| ignored(black_box(&text))));
            let count = text.len() as f64 / 1e6;
            table.rate("IgnoredAny alone, MB", place(&group_name, "ignored-any"), count, Goal::Shown);
        }
        table.rate(format!("load {name}, events"), place(&group_name, "load"), count as f64, Goal::Shown);
        group.finish();
    }
    scattered(criterion, table);
}

/// Scattered replaces cost the same an event, however long the surface is.
fn scattered(criterion: &mut Criterion<CpuTime>, table: &mut Table) {
    let mut group = criterion.benchmark_group("load-scatter-growth");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(900));
    let (large, _) = log(Shape::Scatter, events() * 6 / 5);
    let (small, _) = log(Shape::Scatter, events() * 6 / 50);
    let options = released();
    let mut ratios = vec![];
    group.bench_function("small", |b| {
        b.iter_custom(|times| {
            // Ten small logs have as many events as the large one.
            let ten = || (0..10).map(|_| load(black_box(&small), &options)).sum::<usize>();
            in_turn(times, &mut ratios, || load(black_box(&large), &options), ten)
        })
    });
    group.finish();
    table.paired("load scatter: an event at 100k nodes over one at 10k", ratios, Goal::AtMost(1.2));
}
