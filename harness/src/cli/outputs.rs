//! Files with the result of a campaign: JSON, Markdown, JUnit, SARIF.

use super::exit::Failure;
use crate::properties;
use crate::result::{Outcome, Results};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Files to write.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Files {
    /// Write the result as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a summary in Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write a JUnit file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a SARIF file
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

impl Files {
    /// Says before a long run that a file cannot be written.
    pub fn check(&self) -> Result<(), Failure> {
        for path in [&self.json, &self.markdown, &self.junit, &self.sarif].into_iter().flatten() {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if folder.is_some_and(|folder| !folder.is_dir()) {
                return Err(Failure::Told(format!(
                    "cannot write {}: there is no such folder",
                    path.display()
                )));
            }
        }
        Ok(())
    }

    /// Writes what was asked for.
    pub fn write(&self, results: &Results) -> Result<(), Failure> {
        let put = |path: &Option<PathBuf>, text: &dyn Fn() -> String| match path {
            Some(path) => put(path, &text()),
            None => Ok(()),
        };
        put(&self.json, &|| format!("{}\n", results.to_json()))?;
        put(&self.markdown, &|| markdown(results))?;
        put(&self.junit, &|| junit(results))?;
        put(&self.sarif, &|| format!("{:#}\n", sarif(results)))
    }
}

/// Writes a file.
pub fn put(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Failure::Told(format!("cannot write {}: {error}", path.display())))
}

fn markdown(results: &Results) -> String {
    let mut out = format!(
        "# foldproof test\n\n{} cases on {} {}, seed `{}`, stopped by {}.\n\n| property | status | cases |\n|---|---|---|\n",
        results.cases,
        results.system.0,
        results.system.1,
        results.seed,
        results.stopped.name()
    );
    for counted in &results.properties {
        let _ = writeln!(out, "| {} | {} | {} |", counted.id, counted.status.name(), counted.cases);
    }
    for (id, failure) in results.failures() {
        let _ = writeln!(
            out,
            "\n- **{id}** ({}): {}. {} ops: `foldproof replay {}`",
            failure.rule, failure.message, failure.size, failure.case
        );
    }
    out
}

fn junit(results: &Results) -> String {
    let mut suite = TestSuite::new("foldproof test");
    for counted in &results.properties {
        let mut status = match counted.status {
            Outcome::Skipped => TestCaseStatus::skipped(),
            Outcome::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
            Outcome::Passed | Outcome::RefusedOtherwise => TestCaseStatus::success(),
        };
        if let Some(first) = counted.failures.first().filter(|_| counted.status == Outcome::Failed) {
            status.set_type(first.rule.clone());
            status.set_message(first.message.clone());
            let replays: Vec<String> =
                counted.failures.iter().map(|failure| format!("foldproof replay {}", failure.case)).collect();
            status.set_description(replays.join("\n"));
        }
        let mut case = TestCase::new(counted.id.clone(), status);
        case.set_classname("foldproof.test");
        suite.add_test_case(case);
    }
    let mut report = Report::new("foldproof");
    report.add_test_suite(suite);
    report.to_string().unwrap_or_default()
}

fn sarif(results: &Results) -> Value {
    let rules: Vec<Value> = results
        .properties
        .iter()
        .map(|counted| {
            let law = properties::by_id(&counted.id).map_or("", |property| property.law);
            json!({ "id": counted.id, "shortDescription": { "text": law } })
        })
        .collect();
    let found: Vec<Value> = results
        .failures()
        .map(|(id, failure)| {
            json!({
                "ruleId": id,
                "level": "error",
                "message": { "text": format!("{} ({})", failure.message, failure.rule) },
                "locations": [{ "physicalLocation": { "artifactLocation": { "uri": failure.case } } }],
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "foldproof", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": found,
        }],
    })
}
