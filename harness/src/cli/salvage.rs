//! `foldproof repair --salvage`: the longest prefix that opens, and the rest beside it.

use super::exit::{Exit, Failure, say};
use super::global::Global;
use super::output::Output;
use super::paint::{bytes, count};
use super::recovered::{
    BranchShape, CutShape, KeptShape, RestShape, Shape, findings, say_refused, told_branches,
};
use super::render::clean;
use super::repair::Args;
use super::stored::{self, Stored};
use super::{shell, twice, walk};
use crate::tools::artifact::Artifact;
use crate::tools::salvage::{Outcome, Plan, dig, plan};
use foldproof::check::Options;
use foldproof::rule::Class;
use std::io;
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(args: &Args, global: &Global, stored: &Stored, options: &Options) -> Result<Exit, Failure> {
    let Some(out) = &args.output else {
        return Err(stored.failed("--salvage wants an OUT"));
    };
    let compressed = stored.artifact.is_compressed();
    if walk::is_compressed(out).is_some_and(|wanted| wanted != compressed) {
        let suffix = if compressed { ".jsonl.zstd" } else { ".jsonl" };
        return Err(Failure::Told(format!(
            "{}: salvage keeps the bytes of the log, which are {}: name a file that ends in {suffix}",
            clean(&out.to_string_lossy(), usize::MAX),
            if compressed { "compressed" } else { "plain text" }
        )));
    }
    let names = Names::new(out, compressed);
    for beside in &names.all {
        stored.refuse_over(beside)?;
        Output { path: beside.clone(), force: args.force }.check()?;
    }
    match plan(&stored.artifact, options).map_err(|error| stored.unread(error))? {
        Outcome::Refused(refusal, report) => {
            say_refused(stored, refusal.id(), refusal.text(), &report, global)
        }
        Outcome::Plan(plan) => {
            let artifact = &stored.artifact;
            let behind = artifact.size() - plan.copied(artifact);
            // The rest is written first: whoever finds OUT finds the rest too.
            let mut told = None;
            let file = |path: &Path| Output { path: path.to_owned(), force: args.force };
            if plan.cut.is_some() {
                file(&names.rest).write(|file| plan.write_rest(artifact, file))?;
                told = Some(RestShape { path: name(&names.rest), bytes: behind, text: None });
            }
            let dug = plan.dig && written_text(artifact, &plan, options, &file(&names.text))?;
            if dug {
                told = told.map(|rest| RestShape { text: Some(name(&names.text)), ..rest });
            }
            file(out).write(|file| plan.write(artifact, file))?;
            let written = [plan.cut.is_some().then_some(&names.rest), dug.then_some(&names.text)];
            names.remove_stale(&written)?;
            tell(global, stored, &plan, out, told)
        }
    }
}

/// Writes the text that can still be decoded of damaged frames; whether there was any. An empty file would promise some.
fn written_text(artifact: &Artifact, plan: &Plan, options: &Options, text: &Output) -> Result<bool, Failure> {
    let mut nothing = false;
    let written = text.write(|file| {
        nothing = dig(artifact, plan.copied(artifact), options.limits, file)? == 0;
        // What fails leaves no file behind.
        if nothing { Err(io::Error::other("there is no text")) } else { Ok(()) }
    });
    if nothing { Ok(false) } else { written.map(|()| true) }
}

/// Where the rest goes.
struct Names {
    rest: PathBuf,
    text: PathBuf,
    /// Every name that any salvage into the same OUT writes to.
    all: [PathBuf; 3],
}

impl Names {
    fn new(out: &Path, compressed: bool) -> Names {
        let with = |suffix: &str| {
            let mut name = out.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        let all = [with(".rest"), with(".rest.zst"), with(".rest.txt")];
        Names { rest: all[usize::from(compressed)].clone(), text: all[2].clone(), all }
    }

    /// Takes away what an older salvage set beside OUT: it is the rest of another log. Only a forced one comes here with
    /// such files, and only once the new OUT stands.
    fn remove_stale(&self, written: &[Option<&PathBuf>]) -> Result<(), Failure> {
        for path in self.all.iter().filter(|path| !written.contains(&Some(*path))) {
            let told = clean(&name(path), usize::MAX);
            match std::fs::remove_file(path) {
                Ok(()) => say(format_args!("removed {told}: it was the rest of what stood in OUT before")),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(Failure::Told(format!(
                        "{told} is the rest of what stood in OUT before and cannot be removed: {error}"
                    )));
                }
            }
        }
        Ok(())
    }
}

fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn tell(
    global: &Global,
    stored: &Stored,
    plan: &Plan,
    out: &Path,
    rest: Option<RestShape>,
) -> Result<Exit, Failure> {
    let artifact = &stored.artifact;
    let branches =
        plan.branches.as_ref().map(|branches| branches.list.iter().map(BranchShape::from).collect());
    let outcome = if plan.cut.is_some() { "salvaged" } else { "unchanged" };
    let shape = Shape {
        out: Some(name(out)),
        kept: Some(KeptShape {
            events: plan.prefix.events,
            bytes: plan.copied(artifact),
            rewritten: plan.cut.as_ref().map_or(0, |cut| cut.rewritten.len() as u64),
        }),
        cut: plan.cut.as_ref().zip(plan.reasons.last()).map(|(cut, finding)| CutShape {
            line: cut.line,
            bytes: artifact.size() - cut.at,
            rule: finding.rule.id(),
            message: &finding.message,
        }),
        rest,
        branches: branches.unwrap_or_default(),
        verdict: plan.prefix.verdict(),
        findings: findings(&plan.report),
        ..Shape::new(stored, &plan.report, outcome)
    };
    if global.json() {
        stored::print(&shape)?;
    } else {
        stored::put(&human(stored, plan, &shape))?;
        if plan.prefix.findings.list.iter().any(|finding| finding.class == Class::Relation) {
            twice::tell(&name(out), &plan.prefix, global);
        }
    }
    Ok(Exit::Clean)
}

fn human(stored: &Stored, plan: &Plan, shape: &Shape<'_>) -> String {
    let out = shape.out.clone().unwrap_or_default();
    let told = clean(&out, usize::MAX);
    let Some(cut) = &shape.cut else {
        return format!("{}: all of it opens; copied as it is to {told}\n", stored.title());
    };
    let mut text = format!("{}: {} salvaged\n", stored.title(), count(plan.prefix.events, "event"));
    text.push_str(&format!(
        "  prefix    {told}: everything in front of line {}; its check says {}\n",
        cut.line,
        plan.prefix.verdict()
    ));
    text.push_str(&format!("  because   {}: {}\n", cut.rule, clean(cut.message, 300)));
    if let Some(rest) = &shape.rest {
        text.push_str(&format!(
            "  rest      {}: the last {} of the file as they were\n",
            clean(&rest.path, usize::MAX),
            bytes(rest.bytes)
        ));
        if let Some(path) = &rest.text {
            text.push_str(&format!(
                "  text      {}: what could still be decoded of the rest, to read; it may be altered\n",
                clean(path, usize::MAX)
            ));
        }
    }
    if let Some(rewritten) = shape.kept.as_ref().map(|kept| kept.rewritten).filter(|size| *size > 0) {
        text.push_str(&format!(
            "            {} of text from the frame that was cut stand in a new frame of the prefix\n",
            bytes(rewritten)
        ));
    }
    text.push_str(&told_branches(&shape.branches));
    if plan.prefix.findings.strongest() == Some(Class::Repairable) {
        text.push_str(&format!(
            "  next      foldproof repair {} -o {}\n",
            shell::word(&out),
            shell::word(&shell::with(&out, "repaired"))
        ));
    }
    if plan.prefix.events == 0 && !stored.is_stdin() {
        text.push_str(&format!("  next      foldproof explain {}\n", shell::word(&stored.name())));
    }
    text
}
