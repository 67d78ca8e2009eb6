//! What a check prints, and the exit code that follows from it.

use super::check::{Allowed, Args, Outcome};
use super::elsewhere::Collector;
use super::exit::{Exit, Failure, say};
use super::global::Global;
use super::json::LogShape;
use super::paint::{Paint, thousands};
use super::progress::Progress;
use super::render::{Diagnostics, clean, width};
use super::summary::{Summary, line};
use super::walk::Log;
use foldproof::check::Report;
use foldproof::rule::Class;
use std::io::{self, Write};

/// Prints outcomes in order and decides the exit code.
pub struct Reporter<'a> {
    args: &'a Args,
    json: bool,
    paint: Paint,
    diagnostics: Diagnostics,
    summary: Summary,
    elsewhere: Collector,
    exit: Exit,
    named: usize,
}

impl<'a> Reporter<'a> {
    /// For logs that were found.
    pub fn new(args: &'a Args, global: &Global, logs: &[Log]) -> Self {
        let paint = Paint::new(global.colored_stdout());
        Reporter {
            args,
            json: global.json(),
            paint,
            diagnostics: Diagnostics::new(paint, width()),
            summary: Summary::default(),
            elsewhere: args.elsewhere.collector(
                "check",
                global.json(),
                args.allow.contains(&Allowed::Repairable),
                args.max_findings,
            ),
            exit: Exit::Clean,
            named: logs.len(),
        }
    }

    /// Tells of something that could not be read.
    pub fn unreadable(&mut self, path: &str, why: &str) {
        say(format_args!("error: {}: {}", clean(path, usize::MAX), clean(why, usize::MAX)));
        self.exit = self.exit.and(Exit::Failed);
        self.elsewhere.unreadable(path, why);
    }

    /// Takes what became of the next log.
    pub fn outcome(&mut self, log: &Log, outcome: Outcome, progress: &Progress) -> Result<(), Failure> {
        let (name, title) = (log.name(), log.title());
        progress.show(&title);
        match outcome {
            Outcome::Checked(report) => {
                if self.counts(&report) {
                    self.exit = self.exit.and(Exit::Findings);
                }
                self.summary.add(&title, &report);
                self.elsewhere.add(&name, &report);
                let text =
                    if self.json { self.json(name.clone(), &report)? } else { self.human(&title, &report) };
                progress.aside(|| print(&text))?;
                progress.aside(|| self.elsewhere.annotate(&name, &report));
            }
            Outcome::Unreadable(why) => progress.aside(|| self.unreadable(&title, &why)),
            Outcome::Interrupted => self.exit = self.exit.and(Exit::Interrupted),
        }
        Ok(())
    }

    /// Whether a report has something stronger than a note that is not allowed.
    fn counts(&self, report: &Report) -> bool {
        let Some(strongest) = report.findings.strongest() else { return false };
        match strongest {
            Class::Note => false,
            Class::Repairable => !self.args.allow.contains(&Allowed::Repairable),
            _ => true,
        }
    }

    fn json(&self, name: String, report: &Report) -> Result<String, Failure> {
        let shape = LogShape::new(name, report, self.args.max_findings);
        let text = serde_json::to_string(&shape).map_err(|error| Failure::Told(error.to_string()))?;
        Ok(text + "\n")
    }

    fn human(&self, name: &str, report: &Report) -> String {
        let mut out = String::new();
        let list = &report.findings.list;
        for finding in list.iter().take(self.args.max_findings) {
            let allowed =
                finding.class == Class::Repairable && self.args.allow.contains(&Allowed::Repairable);
            out.push_str(&self.diagnostics.render(name, finding, allowed));
            out.push('\n');
        }
        let more = list.len().saturating_sub(self.args.max_findings) as u64 + report.findings.more;
        if more > 0 {
            out.push_str(&format!("… and {} more\n", thousands(more)));
        }
        out.push_str(&line(name, report, self.paint));
        out
    }

    /// Writes the report files and the summary.
    pub fn finish(mut self) -> Result<Exit, Failure> {
        self.elsewhere.finish()?;
        let checked = self.summary.logs();
        if self.named == 0 && self.exit == Exit::Clean {
            say(format_args!(
                "error: no log found: in a folder, logs are named *.jsonl, *.jsonl.zstd or *.zst"
            ));
        }
        if checked == 0 {
            self.exit = self.exit.and(Exit::Inconclusive);
        }
        if !self.json {
            print(&self.summary.text(self.paint))?;
        }
        if self.exit == Exit::Interrupted {
            let of = self.named;
            say(format_args!("interrupted: {checked} of {of} logs were checked"));
        }
        Ok(if self.args.exit_zero && self.exit == Exit::Findings { Exit::Clean } else { self.exit })
    }
}

/// Prints on stdout at once, so that a reader sees each log when it is done.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
