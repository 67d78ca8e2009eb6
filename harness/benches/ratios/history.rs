//! Held histories, replaces, compactions and the gate, at every length.

use super::append::Kept;
use super::cpu::{CpuTime, now};
use super::logs::{append, message, say, sizes, talk};
use super::table::{Goal, Table, place};
use criterion::{Criterion, SamplingMode};
use foldproof::Session;
use foldproof::session::Draft;
use std::hint::black_box;
use std::time::Duration;

/// Replaces the span from `start` to `end`; `sources` are its nodes.
fn replace(session: &mut Session, data: &[u8], start: u64, end: u64, sources: &str) -> u64 {
    let op = format!("{{\"op\":\"replace\",\"start\":{start},\"end\":{end}}}");
    let draft = Draft {
        kind: "user/message",
        data,
        surface_op: Some(op.as_bytes()),
        sources: Some(sources.as_bytes()),
    };
    append(session, draft)
}

/// A number below `bound` that looks like chance and follows from `number`.
fn scattered(number: u64, bound: u64) -> u64 {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % bound.max(1)
}

pub fn bench(criterion: &mut Criterion<CpuTime>, table: &mut Table) {
    let mut group = criterion.benchmark_group("history");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(300));
    let data = message(7);
    for size in sizes() {
        let mut kept = Kept::new(size);
        let mut held = None;
        group.bench_function(format!("append-{size}"), |b| {
            b.iter_custom(|times| {
                kept.run(times, |session, _, _| {
                    say(session, black_box(&data));
                    held = Some(session.history());
                })
            })
        });
        drop(held.take());
        let mut kept = Kept::new(size);
        group.bench_function(format!("replace-{size}"), |b| {
            b.iter_custom(|times| {
                kept.run(times, |session, first, number| {
                    // The prime scatters the places, and no node is asked for twice.
                    let seq = first + number * 7919 % size;
                    replace(session, &data, seq, seq, &format!("[{seq}]"));
                    held = Some(session.history());
                })
            })
        });
        drop(held.take());
        let (session, _) = talk(size);
        let history = session.history();
        let mut number = 0;
        group.bench_function(format!("get-{size}"), |b| {
            b.iter(|| {
                number += 1;
                history.get(scattered(number, size) as usize).map(<[u8]>::len)
            })
        });
        group.bench_function(format!("walk-{size}"), |b| {
            b.iter(|| history.iter().map(<[u8]>::len).sum::<usize>())
        });
        group.bench_function(format!("walk-seqs-{size}"), |b| b.iter(|| history.seqs().sum::<u64>()));
        group.bench_function(format!("gate-{size}"), |b| {
            b.iter(|| {
                let request = session.request();
                request.is_some_and(|request| session.gate("bench", &request).is_ok())
            })
        });
        let at = |what: &str| place("history", format!("{what}-{size}"));
        let shown = |bound: f64| if size == 1_000_000 { Goal::AtMost(bound) } else { Goal::Shown };
        table.time(format!("append and held history, {size}"), at("append"), 1.0, "us", shown(2.0));
        table.time(
            format!("replace of a node and held history, {size}"),
            at("replace"),
            1.0,
            "us",
            shown(3.0),
        );
        table.time(format!("message at a place, {size}"), at("get"), 1.0, "ns", Goal::Shown);
        table.time(
            format!("walk over the messages, a node, {size}"),
            at("walk"),
            size as f64,
            "ns",
            shown(10.0),
        );
        table.time(
            format!("walk over the seqs, a node, {size}"),
            at("walk-seqs"),
            size as f64,
            "ns",
            shown(10.0),
        );
        table.time(format!("request and gate, {size}"), at("gate"), 1.0, "us", Goal::Shown);
    }
    group.finish();
    if let (Some(first), Some(last)) = (sizes().first(), sizes().last())
        && first != last
    {
        for (what, title) in
            [("append", "append and history"), ("replace", "replace and history"), ("gate", "gate")]
        {
            let at = |size: &u64| place("history", format!("{what}-{size}"));
            table.growth(
                format!("{title} at {last} nodes over {first}"),
                at(first),
                at(last),
                Goal::AtMost(4.0),
            );
        }
    }
    compaction(criterion, table);
}

/// One replace of all but twenty nodes; reading what it cites is linear, and nothing else may be.
fn compaction(criterion: &mut Criterion<CpuTime>, table: &mut Table) {
    let mut group = criterion.benchmark_group("compaction");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(50)).measurement_time(Duration::from_millis(800));
    let data = message(7);
    for size in sizes().into_iter().filter(|size| *size <= 100_000) {
        group.bench_function(format!("all-but-20-{size}"), |b| {
            b.iter_custom(|times| {
                let mut total = Duration::ZERO;
                for _ in 0..times {
                    let (mut session, first) = talk(size);
                    let last = first + size - 21;
                    let cited: Vec<String> = (first..=last).map(|seq| seq.to_string()).collect();
                    let cited = format!("[{}]", cited.join(","));
                    let started = now();
                    replace(&mut session, &data, first, last, &cited);
                    total += now() - started;
                }
                total
            })
        });
        let goal = if size == 100_000 { Goal::AtMost(5.0) } else { Goal::Shown };
        table.time(
            format!("compaction of {size} - 20 nodes"),
            place("compaction", format!("all-but-20-{size}")),
            1.0,
            "ms",
            goal,
        );
    }
    group.finish();
}
