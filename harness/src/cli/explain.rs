//! `foldproof explain`: one screen for a log that does not open.

use super::advice::{Step, next, summary};
use super::elsewhere::Elsewhere;
use super::exit::{Exit, Failure};
use super::global::Global;
use super::interrupt;
use super::json::FindingShape;
use super::paint::{Paint, bytes, count};
use super::recovered::BranchShape;
use super::render::{clean, width};
use super::stored::{self, Stored};
use super::text::date;
use crate::tools::diagnosis::Case;
use crate::tools::explain::{Explanation, explain, member, version};
use foldproof::check::Report;
use foldproof::finding::Finding;
use foldproof::rule::Class;
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Anything that should be a log (.jsonl, .jsonl.zstd, .zst), or - for stdin
    #[arg(value_name = "PATH")]
    pub log: PathBuf,
    /// Where findings go beside the terminal.
    #[command(flatten)]
    pub elsewhere: Elsewhere,
}

/// Findings that become annotations; GitHub shows fewer.
const MOST: usize = 100;

const EXAMPLES: &str = "\
Examples:
  foldproof explain damaged.jsonl
  foldproof explain torn.jsonl --format json
  foldproof explain torn.jsonl --github
  foldproof explain damaged.jsonl --sarif findings.sarif --junit findings.xml
  foldproof explain - < session.jsonl";

#[derive(Debug, Serialize)]
struct Shape<'a> {
    foldproof: u32,
    path: String,
    case: &'static str,
    summary: &'a str,
    dialect: &'a str,
    encoding: &'static str,
    bytes: u64,
    header: Option<HeaderShape>,
    verdict: &'a str,
    reader: Option<ReaderShape<'a>>,
    damage: Option<FindingShape<'a>>,
    safe: Option<SafeShape>,
    branches: Vec<BranchShape>,
    next: Vec<Step>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HeaderShape {
    /// As it is spelled.
    version: Option<String>,
    id: Option<String>,
    created_at: Option<String>,
    parent_session: Option<String>,
}

#[derive(Debug, Serialize)]
struct ReaderShape<'a> {
    provider: StageShape<'a>,
    publish: StageShape<'a>,
}

#[derive(Debug, Serialize)]
struct StageShape<'a> {
    opens: bool,
    verdict: &'a str,
    finding: Option<FindingShape<'a>>,
}

#[derive(Debug, Serialize)]
struct SafeShape {
    events: u64,
    lines: u64,
    bytes: u64,
    #[serde(rename = "finishedTurnEnd")]
    finished: Option<u64>,
    verdict: &'static str,
}

/// Runs the command.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let stored = Stored::open(&args.log, global)?;
    args.elsewhere.refuse_overwriting([args.log.as_path()].into_iter())?;
    let mut collector = args.elsewhere.collector("explain", global.json(), false, MOST);
    let mut options = stored::strict(global);
    options.excerpts |= args.elsewhere.wants_characters();
    let explained = match explain(&stored.artifact, &options) {
        Ok(explained) => explained,
        Err(error) => {
            // A person who stops it has not found the log unreadable.
            if !interrupt::requested() {
                collector.unreadable(&stored.name(), &error.to_string());
                collector.finish()?;
            }
            return Err(stored.unread(error));
        }
    };
    collector.add(&stored.name(), &explained.report);
    let summary = summary(&explained);
    let steps = next(&stored, &explained);
    if global.json() {
        stored::print(&shape(&stored, &explained, &summary, steps))?;
    } else {
        stored::put(&human(&stored, &explained, &summary, &steps, Paint::new(global.colored_stdout())))?;
    }
    collector.annotate(&stored.name(), &explained.report);
    collector.finish()?;
    let found = explained.report.findings.strongest() > Some(Class::Note) || !opens_as_named(explained.case);
    Ok(if found { Exit::Findings } else { Exit::Clean })
}

fn opens_as_named(case: Case) -> bool {
    !matches!(case, Case::PlainNamedZstd | Case::ZstdNamedPlain)
}

fn strongest(report: &Report) -> Option<&Finding> {
    let strongest = report.findings.strongest().filter(|class| *class > Class::Note)?;
    report.findings.list.iter().find(|finding| finding.class == strongest)
}

fn shape<'a>(stored: &Stored, explained: &'a Explanation, summary: &'a str, next: Vec<Step>) -> Shape<'a> {
    let report = &explained.report;
    let stage = |report: &'a Report, least: Class| StageShape {
        opens: report.findings.strongest() < Some(least),
        verdict: report.verdict(),
        finding: strongest(report).map(FindingShape::new),
    };
    Shape {
        foldproof: 1,
        path: stored.name(),
        case: explained.case.id(),
        summary,
        dialect: &report.dialect,
        encoding: stored.artifact.encoding(),
        bytes: stored.artifact.size(),
        header: report.header.as_ref().map(|header| HeaderShape {
            version: version(report),
            id: header.id.clone(),
            created_at: member(report, "createdAt"),
            parent_session: header.parent.clone(),
        }),
        verdict: report.verdict(),
        reader: explained.readers.as_ref().map(|readers| ReaderShape {
            provider: stage(&readers.provider, Class::Reject),
            publish: stage(&readers.publish, Class::Relation),
        }),
        damage: explained.damage().map(FindingShape::new),
        safe: explained.safe.map(|safe| SafeShape {
            events: safe.events,
            lines: safe.lines,
            bytes: safe.bytes,
            finished: safe.finished,
            verdict: safe.verdict,
        }),
        branches: explained
            .branches
            .iter()
            .flat_map(|branches| &branches.list)
            .map(BranchShape::from)
            .collect(),
        next,
    }
}

fn human(stored: &Stored, explained: &Explanation, summary: &str, steps: &[Step], paint: Paint) -> String {
    let mut page = Page { text: String::new(), paint, width: width().clamp(60, 120) };
    page.text.push_str(&format!("{}\n\n", paint.bold(stored.title())));
    page.entry("in short", summary);
    page.entry("it is", &claims(stored, explained));
    if let Some(readers) = &explained.readers {
        page.entry("reader", &opens(&readers.provider, &readers.publish, explained.damage()));
    } else if explained.report.dialect == "tutorial" {
        page.entry("reader", "no release of the harness reads this teaching shape; `foldproof` does");
    }
    if let Some(finding) = explained.damage().filter(|_| explained.case != Case::Empty) {
        let seq = finding.seq.map_or(String::new(), |seq| format!(", seq {seq}"));
        let place = format!("line {}, byte {}{seq}", finding.line, finding.column);
        page.entry(
            "found",
            &format!(
                "{} at {place}: {} [{}]",
                finding.class.name(),
                clean(&finding.message, 300),
                finding.rule.id()
            ),
        );
    }
    if let Some(safe) = &explained.safe {
        page.entry("safe", &told_safe(stored, explained, safe));
    }
    for line in super::recovered::told_branches(
        &explained.branches.iter().flat_map(|all| &all.list).map(BranchShape::from).collect::<Vec<_>>(),
    )
    .lines()
    {
        page.text.push_str(line);
        page.text.push('\n');
    }
    if !steps.is_empty() {
        page.text.push_str(&format!("\n  {}\n", paint.bold("what can be done")));
    }
    for step in steps {
        page.text.push_str(&format!("  # {}\n", step.what));
        if let Some(command) = &step.command {
            // A command is never broken into lines: it is there to be copied.
            page.text.push_str(&format!("  {}\n", clean(command, usize::MAX)));
        }
    }
    page.text
}

fn claims(stored: &Stored, explained: &Explanation) -> String {
    let artifact = &stored.artifact;
    let report = &explained.report;
    let size = bytes(artifact.size());
    let encoding = if artifact.is_compressed() { "Zstandard frames" } else { "plain text" };
    match (explained.case, &report.header) {
        (Case::Empty, _) => "a file without a byte".into(),
        (Case::Binary, _) => format!("{size} that are neither text nor Zstandard"),
        (Case::PlainNamedZstd, _) => format!("{size} of plain text under a name that says Zstandard"),
        (Case::ZstdNamedPlain, _) => format!("{size} of Zstandard under a name that says plain text"),
        (Case::HeaderCutOff, _) => format!("{size} of Zstandard, without one whole frame"),
        (Case::Marked, _) => format!("{size}, {encoding}, with a byte-order mark in front"),
        (Case::Utf16, _) => format!("{size} of UTF-16"),
        (Case::NotALog, _) => format!("{size}, {encoding}, whose first line is no session header"),
        (Case::NoHeader, _) => format!("{size}, {encoding}, that begins with an event"),
        (_, None) if report.dialect == "tutorial" => {
            format!("a log in the tutorial shape, {encoding}, {size}")
        }
        (_, None) => format!("{encoding}, {size}, whose header could not be read"),
        (_, Some(header)) => {
            let version = version(report)
                .map_or("no version".into(), |version| format!("version {}", clean(&version, 20)));
            let id = header.id.as_deref().map_or("without an id".into(), |id| clean(id, 60));
            let created = member(report, "createdAt").and_then(|text| text.parse().ok());
            let created = created.map_or(String::new(), |millis| format!(", created {}", date(millis)));
            let parent = header.parent.as_deref();
            let parent = parent.map_or(String::new(), |id| format!(", child of {}", clean(id, 60)));
            format!("a session log ({version}), {encoding}, {size}: session {id}{created}{parent}")
        }
    }
}

/// Whether the released reader opens the log; a reason that is told below is not told twice.
fn opens(provider: &Report, publish: &Report, told: Option<&Finding>) -> String {
    let why = |report: &Report| match strongest(report) {
        None => String::new(),
        Some(finding) if told.is_some_and(|told| (told.rule, told.line) == (finding.rule, finding.line)) => {
            format!("{} in line {}", finding.rule.id(), finding.line)
        }
        Some(finding) => {
            format!("{} in line {}, {}", finding.rule.id(), finding.line, clean(&finding.message, 200))
        }
    };
    if provider.findings.strongest() >= Some(Class::Reject) {
        return format!("release 0.1.1 does not open it (stage provider): {}", why(provider));
    }
    let repairs = match provider.findings.strongest() {
        Some(Class::Repairable) => " and repairs its end when it resumes it",
        _ => "",
    };
    if publish.findings.strongest() >= Some(Class::Relation) {
        return format!(
            "release 0.1.1 opens it{repairs}, but does not go on with it (stage publish): {}",
            why(publish)
        );
    }
    format!("release 0.1.1 opens it{repairs}")
}

fn told_safe(stored: &Stored, explained: &Explanation, safe: &crate::tools::explain::Safe) -> String {
    let size = stored.artifact.size();
    let whole = explained.damage().is_none() || safe.bytes == size;
    let events = count(safe.events, "event");
    let mut text = match (whole, safe.events) {
        (true, _) => format!("all of it: {events} in {}", count(safe.lines, "line")),
        (false, 0) => "only the header, and no event".to_owned(),
        (false, _) => format!("{events} in lines 1 to {}", safe.lines),
    };
    if !whole {
        text.push_str(&format!("; {} of the file are behind that", bytes(size - safe.bytes)));
    }
    match safe.finished {
        Some(seq) if safe.events > 0 && seq + 1 == safe.events => {
            text.push_str("; the last of them ends a turn, so nothing promised before it is missing");
        }
        Some(seq) => text.push_str(&format!(
            "; the last turn that ended there ends with event {seq}, and {} came after that",
            count(safe.events - (seq + 1).min(safe.events), "event")
        )),
        None if safe.events > 0 && explained.case != Case::Tutorial => {
            text.push_str("; no turn had ended by then");
        }
        None => {}
    }
    text
}

/// Text in two columns.
struct Page {
    text: String,
    paint: Paint,
    width: usize,
}

impl Page {
    /// A word and what there is to say, wrapped.
    fn entry(&mut self, word: &str, say: &str) {
        let room = self.width - 12;
        let mut lines = vec![String::new()];
        for part in say.split(' ') {
            let line = lines.last_mut().map_or(0, |line| line.chars().count());
            if line > 0 && line + 1 + part.chars().count() > room {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(part);
            }
        }
        for (place, line) in lines.iter().enumerate() {
            let word = if place == 0 { format!("{word:<10}") } else { " ".repeat(10) };
            self.text.push_str(&format!("  {}{line}\n", self.paint.dim(word)));
        }
    }
}
