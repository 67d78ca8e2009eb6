//! What a check says in the end: a line for each log, a table for several.

use super::paint::{Paint, bytes, count, thousands};
use super::render::clean;
use foldproof::check::Report;
use std::collections::BTreeMap;

/// Worst logs that the table names.
const WORST: usize = 10;

/// Tallies of a run.
#[derive(Debug, Default)]
pub struct Summary {
    logs: u64,
    events: u64,
    bytes: u64,
    verdicts: BTreeMap<&'static str, u64>,
    worst: Vec<(usize, u64, String, &'static str)>,
}

/// Verdicts from the best to the worst.
const VERDICTS: [&str; 7] = ["accept", "note", "repairable", "relation", "reject", "corrupt", "unsupported"];

impl Summary {
    /// Counts one log in.
    pub fn add(&mut self, path: &str, report: &Report) {
        let verdict = report.verdict();
        self.logs += 1;
        self.events += report.events;
        self.bytes += report.bytes;
        *self.verdicts.entry(verdict).or_default() += 1;
        let rank = VERDICTS.iter().position(|name| *name == verdict).unwrap_or_default();
        if rank > 1 {
            let found = report.findings.list.len() as u64 + report.findings.more;
            self.worst.push((rank, found, path.to_owned(), verdict));
        }
    }

    /// Logs counted.
    pub fn logs(&self) -> u64 {
        self.logs
    }

    /// The table of several logs, and the closing line.
    pub fn text(mut self, paint: Paint) -> String {
        let mut out = String::new();
        if self.logs < 2 {
            return out;
        }
        out.push('\n');
        if !self.worst.is_empty() {
            self.worst.sort_by(|a, b| (b.0, b.1, &a.2).cmp(&(a.0, a.1, &b.2)));
            let rest = self.worst.len().saturating_sub(WORST);
            for (_, found, path, verdict) in self.worst.iter().take(WORST) {
                let pad = " ".repeat(12 - verdict.len());
                out.push_str(&format!(
                    "  {}{pad}{:>6} {}  {}\n",
                    paint.verdict(verdict),
                    thousands(*found),
                    if *found == 1 { "finding " } else { "findings" },
                    clean(path, usize::MAX)
                ));
            }
            if rest > 0 {
                out.push_str(&format!("  … and {} more with findings\n", count(rest as u64, "log")));
            }
            out.push('\n');
        }
        let verdicts: Vec<String> = VERDICTS
            .iter()
            .filter_map(|name| {
                Some(format!("{} {}", thousands(*self.verdicts.get(name)?), paint.verdict(name)))
            })
            .collect();
        out.push_str(&format!(
            "checked {}, {}, {}: {}\n",
            count(self.logs, "log"),
            count(self.events, "event"),
            bytes(self.bytes),
            verdicts.join(", ")
        ));
        out
    }
}

/// The line for one log.
pub fn line(path: &str, report: &Report, paint: Paint) -> String {
    let found = report.findings.list.len() as u64 + report.findings.more;
    let mut inside = count(report.events, "event");
    if found > 0 {
        inside.push_str(&format!(", {}", count(found, "finding")));
    }
    format!("{}: {} ({inside})\n", paint.bold(clean(path, usize::MAX)), paint.verdict(report.verdict()))
}
