//! Findings as SARIF 2.1.0, for tools that show them beside the code.

use super::exit::Failure;
use foldproof::check::Report;
use foldproof::finding::Finding;
use foldproof::rule::{Breaker, Class, Rule};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Collects the results of one run.
#[derive(Debug, Default)]
pub struct Builder {
    results: Vec<(Rule, Value)>,
    notifications: Vec<Value>,
}

impl Builder {
    /// Adds the findings of a log.
    pub fn add(&mut self, path: &str, report: &Report) {
        for finding in &report.findings.list {
            self.results.push((finding.rule, result(path, finding)));
        }
    }

    /// Adds a log that could not be read.
    pub fn unreadable(&mut self, path: &str, why: &str) {
        self.notifications.push(json!({
            "level": "error",
            "message": { "text": why },
            "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(path) } } }],
        }));
    }

    /// Writes the file.
    pub fn write(self, path: &Path) -> Result<(), Failure> {
        let used: BTreeSet<Rule> = self.results.iter().map(|(rule, _)| *rule).collect();
        let used: Vec<Rule> = used.into_iter().collect();
        let rules: Vec<Value> = used.iter().map(|rule| descriptor(*rule)).collect();
        let results: Vec<Value> = self
            .results
            .into_iter()
            .map(|(rule, mut result)| {
                result["ruleIndex"] = json!(used.binary_search(&rule).unwrap_or_default());
                result
            })
            .collect();
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "foldproof",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                } },
                "columnKind": "unicodeCodePoints",
                "invocations": [{
                    "executionSuccessful": self.notifications.is_empty(),
                    "toolExecutionNotifications": self.notifications,
                }],
                "results": results,
            }],
        });
        std::fs::write(path, format!("{log:#}\n"))
            .map_err(|error| Failure::Told(format!("cannot write {}: {error}", path.display())))
    }
}

fn descriptor(rule: Rule) -> Value {
    let info = rule.info();
    let mut descriptor = json!({
        "id": info.id,
        "shortDescription": { "text": info.law },
        "defaultConfiguration": { "level": level(info.class) },
        "properties": {
            "class": info.class.name(),
            "kind": match info.breaker { Breaker::Input => "input", Breaker::Behaviour => "behaviour" },
        },
    });
    if !info.help.is_empty() {
        descriptor["help"] = json!({ "text": info.help });
    }
    descriptor
}

fn level(class: Class) -> &'static str {
    match class {
        Class::Note => "note",
        Class::Repairable | Class::Relation => "warning",
        Class::Reject | Class::Corrupt | Class::Unsupported => "error",
    }
}

fn result(path: &str, finding: &Finding) -> Value {
    let mut region = json!({ "startLine": finding.line });
    // SARIF counts characters; where the bytes before the place are not at hand, no column is better than a wrong one.
    if let Some(column) = finding.character() {
        region["startColumn"] = json!(column);
    }
    let seq = finding.seq.map_or("none".to_owned(), |seq| seq.to_string());
    json!({
        "ruleId": finding.rule.id(),
        "level": level(finding.class),
        "message": { "text": finding.message },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(path) }, "region": region } }],
        "partialFingerprints": { "ruleAndSeq/v1": format!("{}:{seq}:{}", finding.rule.id(), finding.line) },
        "properties": { "class": finding.class.name(), "seq": finding.seq, "byteColumn": finding.column },
    })
}

/// A path as a relative URI reference, or a `file` URI where it is absolute.
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'~' | b'/' => {
                out.push(char::from(byte))
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
