//! What the core and the campaign cost, each beside a baseline that was measured in the same run: absolute figures are a
//! machine's, ratios travel. The last lines printed are the table of them, with the goal of each.
//!
//! `cargo bench --profile dist -p foldproof-harness --bench ratios`. Logs have 100,000 events, or
//! `FOLDPROOF_BENCH_EVENTS`; histories go up to 1,000,000 messages, or `FOLDPROOF_BENCH_NODES`.

mod append;
mod campaign;
mod cpu;
mod history;
mod live;
mod load;
mod logs;
mod table;

use criterion::Criterion;
use std::path::PathBuf;

fn main() {
    let folder = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target")), PathBuf::from);
    let folder = folder.join("criterion");
    let mut criterion = Criterion::default()
        .with_measurement(cpu::CpuTime)
        .output_directory(&folder)
        .without_plots()
        .configure_from_args();
    let mut table = table::Table::new(folder);
    load::bench(&mut criterion, &mut table);
    append::bench(&mut criterion, &mut table);
    history::bench(&mut criterion, &mut table);
    live::bench(&mut criterion, &mut table);
    campaign::bench(&mut criterion, &mut table);
    criterion.final_summary();
    print!("{}", table.print());
}
