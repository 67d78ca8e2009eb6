//! Every log of the corpora, as a case: the core agrees with the model and keeps all properties.

use foldproof_harness::corpus;
use foldproof_harness::import::import;
use foldproof_harness::runner::{self, Asked};
use foldproof_harness::systems::Core;
use std::path::{Path, PathBuf};

/// Longest log, in bytes.
const LONGEST: u64 = 70_000;

fn logs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora").join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the corpora are there")
        .map(|entry| entry.expect("readable").path())
        .collect();
    // The model is quadratic in events, and in depth: what is long is left to the program's own tests.
    paths.retain(|path| std::fs::metadata(path).is_ok_and(|data| data.len() < LONGEST));
    paths.retain(|path| {
        path.to_string_lossy().ends_with(".jsonl") || path.to_string_lossy().ends_with(".zstd")
    });
    paths.sort();
    paths
}

fn all_hold(folder: &str) {
    let mut wrong = vec![];
    for path in logs(folder) {
        let log = std::fs::read(&path).expect("readable");
        let case = import(&log, (folder == "tutorial").then_some("tutorial"));
        let judged = runner::run(&case, &mut Core, Asked::All);
        if let Some((property, violation)) = judged.violation {
            wrong.push(format!("{}: {}: {violation:#?}", path.display(), property.id));
        }
    }
    assert!(wrong.is_empty(), "{} of them\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn all_properties_hold_on_the_rule_files() {
    all_hold("rules");
}

#[test]
fn all_properties_hold_on_the_sessions() {
    all_hold("sessions");
}

#[test]
fn all_properties_hold_on_the_tutorial_logs() {
    all_hold("tutorial");
}

#[test]
fn a_log_is_a_case_that_reads_back() {
    for path in logs("sessions") {
        let case = import(&std::fs::read(&path).expect("readable"), None);
        let text = case.to_bytes();
        let again = foldproof_harness::case::Case::parse(&text).expect("what is written can be read");
        assert_eq!(again, case, "{}", path.display());
        assert_eq!(again.to_bytes(), text);
        assert!(corpus::name(&case).starts_with("case-"));
    }
}
