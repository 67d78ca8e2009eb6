//! Loading, validating and deriving, beside what it costs `serde_json` to skip over the same lines.

use super::cpu::CpuTime;
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
        let options = released();
        group.bench_function("ignored-any", |b| b.iter(|| ignored(black_box(&text))));
        group.bench_function("load", |b| b.iter(|| load(black_box(&text), &options)));
        let streamed = |options: &Options| {
            let report = check::check(Input::Plain(Box::new(&text[..])), options);
            report.map(|report| assert_eq!(report.verdict(), "accept")).is_ok()
        };
        group.bench_function("check", |b| b.iter(|| streamed(&options)));
        let strict = Options::default();
        group.bench_function("relations", |b| b.iter(|| streamed(&strict)));
        let at = |function: &str| place(&group_name, function);
        table.speed(
            format!("load {name}, of IgnoredAny"),
            at("ignored-any"),
            at("load"),
            Goal::AtLeast(goal),
        );
        table.speed(
            format!("check {name} streamed, of IgnoredAny"),
            at("ignored-any"),
            at("check"),
            Goal::Shown,
        );
        table.speed(
            format!("check {name} with relations, of IgnoredAny"),
            at("ignored-any"),
            at("relations"),
            Goal::Shown,
        );
        table.rate(format!("load {name}, events"), at("load"), count as f64, Goal::Shown);
        if shape == Shape::Plain {
            let compressed = framed(&text);
            group.bench_function("load-zstd", |b| {
                b.iter(|| {
                    let input = Input::Compressed(Box::new(Cursor::new(&compressed[..])));
                    let loaded = check::load(input, &options, text.len());
                    let messages = loaded.map(|loaded| {
                        assert_eq!(loaded.report.verdict(), "accept");
                        History::new(&loaded.log, &loaded.admission).iter().map(<[u8]>::len).sum::<usize>()
                    });
                    messages.unwrap_or_default()
                })
            });
            table.speed(
                "load plain as zstd, of IgnoredAny of the text",
                at("ignored-any"),
                at("load-zstd"),
                Goal::AtLeast(0.35),
            );
        }
        group.finish();
    }
    scattered(criterion, table);
}

/// Scattered replaces cost the same an event, however long the surface is.
fn scattered(criterion: &mut Criterion<CpuTime>, table: &mut Table) {
    let mut group = criterion.benchmark_group("load-scatter-small");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(500));
    let (large, small) = (events() * 6 / 5, events() * 6 / 50);
    let (text, _) = log(Shape::Scatter, small);
    let options = released();
    let times = large / small.max(1);
    // As many events as the large log has, so that both medians stand for the same number.
    group.bench_function("load", |b| {
        b.iter(|| (0..times).map(|_| load(black_box(&text), &options)).sum::<usize>())
    });
    group.finish();
    table.growth(
        "load scatter: an event of 100k nodes over one of 10k",
        place("load-scatter-small", "load"),
        place("load-scatter", "load"),
        Goal::AtMost(1.2),
    );
}
