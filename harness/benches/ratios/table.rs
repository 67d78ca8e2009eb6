//! The table of ratios, from the medians that criterion leaves behind.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// What a figure must reach.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    AtLeast(f64),
    AtMost(f64),
    /// Measured, without a goal of its own.
    Shown,
}

/// A place where a median lies: a group and a function in it.
pub type Place = (String, String);

/// How a figure follows from medians.
#[derive(Clone, Debug)]
enum Figure {
    /// The first median over the second.
    Ratio(Place, Place),
    /// The median of ratios that were measured in turn.
    Paired(Vec<f64>),
    /// The median, a count of it that makes one operation, and what to divide nanoseconds by.
    Time(Place, f64, &'static str),
    /// Operations a second.
    Rate(Place, f64),
}

/// Rows in the order in which they are measured.
pub struct Table {
    rows: Vec<(String, Figure, Goal)>,
    medians: Medians,
}

/// Where criterion leaves its medians, and when this run began: what an earlier one left says nothing about this one.
struct Medians {
    folder: PathBuf,
    started: SystemTime,
}

/// The name of a place.
pub fn place(group: &str, function: impl Into<String>) -> Place {
    (group.to_owned(), function.into())
}

impl Table {
    /// An empty table over criterion's folder.
    pub fn new(folder: PathBuf) -> Self {
        Table { rows: vec![], medians: Medians { folder, started: SystemTime::now() } }
    }

    /// How often ours fits into the baseline, measured in turn: higher is better.
    pub fn paired(&mut self, title: impl Into<String>, ratios: Vec<f64>, goal: Goal) {
        self.rows.push((title.into(), Figure::Paired(ratios), goal));
    }

    /// How much longer `late` takes than `early`: lower is better.
    pub fn growth(&mut self, title: impl Into<String>, early: Place, late: Place, goal: Goal) {
        self.rows.push((title.into(), Figure::Ratio(late, early), goal));
    }

    /// What one of `count` operations takes, in `unit` (`ns`, `us` or `ms`).
    pub fn time(
        &mut self,
        title: impl Into<String>,
        place: Place,
        count: f64,
        unit: &'static str,
        goal: Goal,
    ) {
        self.rows.push((title.into(), Figure::Time(place, count, unit), goal));
    }

    /// How many of `count` operations pass in a second.
    pub fn rate(&mut self, title: impl Into<String>, place: Place, count: f64, goal: Goal) {
        self.rows.push((title.into(), Figure::Rate(place, count), goal));
    }

    /// The table; rows whose benchmarks never ran are left out.
    pub fn print(&self) -> String {
        let mut rows = vec![];
        for (title, figure, goal) in &self.rows {
            let Some((value, shown)) = figure.value(&self.medians) else { continue };
            let (wanted, kept) = match *goal {
                Goal::AtLeast(bound) => (format!(">= {}", short(bound)), value >= bound),
                Goal::AtMost(bound) => (format!("<= {}", short(bound)), value <= bound),
                Goal::Shown => (String::new(), true),
            };
            rows.push((title, shown, wanted, if kept { "" } else { "missed" }));
        }
        if rows.is_empty() {
            return String::new();
        }
        let width = rows.iter().map(|(title, ..)| title.len()).max().unwrap_or(0);
        let mut out = format!("\n{:width$}  {:>14}  {:>10}\n", "medians of one run", "now", "goal");
        for (title, shown, wanted, verdict) in rows {
            let line = format!("{title:width$}  {shown:>14}  {wanted:>10}  {verdict}");
            let _ = writeln!(out, "{}", line.trim_end());
        }
        out
    }
}

impl Figure {
    fn value(&self, medians: &Medians) -> Option<(f64, String)> {
        match self {
            Figure::Ratio(above, below) => {
                let ratio = medians.of(above)? / medians.of(below)?;
                Some((ratio, format!("{} x", short(ratio))))
            }
            Figure::Paired(ratios) => {
                let mut ratios = ratios.clone();
                ratios.sort_by(f64::total_cmp);
                let ratio = *ratios.get(ratios.len() / 2)?;
                Some((ratio, format!("{} x", short(ratio))))
            }
            Figure::Time(place, count, unit) => {
                let scale = match *unit {
                    "ns" => 1.0,
                    "us" => 1e3,
                    _ => 1e6,
                };
                let time = medians.of(place)? / count / scale;
                Some((time, format!("{} {unit}", short(time))))
            }
            Figure::Rate(place, count) => {
                let rate = count / medians.of(place)? * 1e9;
                Some((rate, format!("{} /s", short(rate))))
            }
        }
    }
}

/// Three digits, or all in front of the point.
fn short(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

impl Medians {
    /// The median that criterion estimated in this run, in nanoseconds an iteration.
    fn of(&self, (group, function): &Place) -> Option<f64> {
        let path = self.folder.join(group).join(function).join("new/estimates.json");
        // Clocks of file systems are coarser than others.
        let written = fs::metadata(&path).ok()?.modified().ok()? + Duration::from_secs(1);
        if written < self.started {
            return None;
        }
        let estimates: serde_json::Value = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        estimates.get("median")?.get("point_estimate")?.as_f64()
    }
}
