//! Logs as JUnit test cases, for CI that shows tests.

use super::exit::Failure;
use foldproof::check::Report as Checked;
use foldproof::rule::Class;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::path::Path;

/// Collects the logs of one run.
#[derive(Debug)]
pub struct Builder {
    suite: TestSuite,
    class: String,
}

impl Builder {
    /// For the logs that a command looks at.
    pub fn new(command: &str) -> Self {
        Builder {
            suite: TestSuite::new(format!("foldproof {command}")),
            class: format!("foldproof.{command}"),
        }
    }

    /// Adds a log: it fails when something stronger than a note was found in it that is not allowed.
    pub fn add(&mut self, path: &str, report: &Checked, allow_repairable: bool) {
        let passes = match report.findings.strongest() {
            None | Some(Class::Note) => true,
            Some(Class::Repairable) => allow_repairable,
            Some(_) => false,
        };
        let mut status = TestCaseStatus::success();
        if !passes {
            status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let lines: Vec<String> = report
                .findings
                .list
                .iter()
                .map(|finding| {
                    format!(
                        "{path}:{}:{}: [{}] {}",
                        finding.line, finding.column, finding.rule, finding.message
                    )
                })
                .collect();
            let first = report
                .findings
                .list
                .iter()
                .max_by_key(|finding| (finding.class, std::cmp::Reverse(finding.line)));
            status.set_type(report.verdict());
            status.set_message(
                first.map_or(String::new(), |first| format!("[{}] {}", first.rule, first.message)),
            );
            status.set_description(lines.join("\n"));
        }
        self.case(path, status);
    }

    /// Adds a log that could not be read.
    pub fn unreadable(&mut self, path: &str, why: &str) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("unreadable");
        status.set_message(why);
        self.case(path, status);
    }

    fn case(&mut self, path: &str, status: TestCaseStatus) {
        let mut case = TestCase::new(path, status);
        case.set_classname(self.class.clone());
        self.suite.add_test_case(case);
    }

    /// Writes the file.
    pub fn write(self, path: &Path) -> Result<(), Failure> {
        let mut report = Report::new("foldproof");
        report.add_test_suite(self.suite);
        let told = |error: String| Failure::Told(format!("cannot write {}: {error}", path.display()));
        let text = report.to_string().map_err(|error| told(error.to_string()))?;
        std::fs::write(path, text).map_err(|error| told(error.to_string()))
    }
}
