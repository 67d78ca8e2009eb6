//! Time as the thread spends it on a processor. On a machine that does other things too, wall time measures those.

use criterion::Throughput;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::time::Duration;

/// The measurement.
pub struct CpuTime;

/// How long this thread was on a processor.
pub fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// How long something took.
pub fn timed<T>(what: impl FnOnce() -> T) -> Duration {
    let started = now();
    black_box(what());
    now().saturating_sub(started)
}

/// Runs a baseline and ours in turn, and keeps how often ours fits into the baseline each time: what slows the machine
/// down for a while slows both down. Gives the time of ours, for criterion.
pub fn in_turn<A, B>(
    times: u64,
    ratios: &mut Vec<f64>,
    mut baseline: impl FnMut() -> A,
    mut ours: impl FnMut() -> B,
) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..times {
        let (one, two) = (timed(&mut baseline), timed(&mut ours));
        ratios.push(one.as_secs_f64() / two.as_secs_f64().max(1e-9));
        total += two;
    }
    total
}

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        now()
    }

    fn end(&self, started: Duration) -> Duration {
        now().saturating_sub(started)
    }

    fn add(&self, one: &Duration, two: &Duration) -> Duration {
        *one + *two
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &Nanoseconds
    }
}

/// Criterion's own words for nanoseconds.
struct Nanoseconds;

impl ValueFormatter for Nanoseconds {
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_values(typical, values)
    }

    fn scale_throughputs(&self, typical: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_throughputs(typical, throughput, values)
    }

    fn scale_for_machines(&self, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_for_machines(values)
    }
}
