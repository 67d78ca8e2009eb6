//! Saved cases, replayed: what once failed, and the rules that only a live call can break.

use foldproof_harness::case::{Case, Recorded, Status};
use foldproof_harness::corpus::{self, Replayed, Saved};
use foldproof_harness::systems::{Core, Model, Outcome, System};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora").join(name)
}

fn saved(name: &str) -> Vec<Saved> {
    corpus::load_all(&folder(name)).expect("the cases can be read")
}

fn stem(saved: &Saved) -> String {
    let name = saved.path.file_name().expect("a file").to_string_lossy().into_owned();
    name.trim_end_matches(corpus::SUFFIX).to_owned()
}

fn all_the_same(name: &str) {
    for saved in saved(name) {
        let path = saved.path.display();
        let text = std::fs::read(&saved.path).expect("readable");
        assert_eq!(
            String::from_utf8_lossy(&text),
            String::from_utf8_lossy(&saved.case.to_bytes()),
            "{path} is written as cases are"
        );
        let (replayed, _) = corpus::replay(&saved.case, &mut Core);
        assert_eq!(replayed, Replayed::Same, "{path}");
    }
}

#[test]
fn regressions_do_what_was_recorded() {
    all_the_same("regressions");
    for saved in saved("regressions") {
        let bare = Case { property: saved.case.property.clone(), ..saved.case.clone() };
        assert_eq!(
            corpus::name(&bare),
            format!("{}{}", stem(&saved), corpus::SUFFIX),
            "named for what it is"
        );
    }
}

#[test]
fn rules_of_live_calls_do_what_was_recorded() {
    all_the_same("rules");
}

/// The refusals of a case: rule and message.
fn refusals(system: &mut dyn System, case: &Case) -> Vec<(String, String)> {
    let refused = |step: &foldproof_harness::systems::Step| match &step.outcome {
        Outcome::Err { rule, message } => Some((rule.clone().unwrap_or_default(), message.clone())),
        _ => None,
    };
    system.run(case).steps.iter().filter_map(refused).collect()
}

#[test]
fn a_rule_case_breaks_exactly_the_rule_in_its_name() {
    let cases = saved("rules");
    assert!(cases.len() >= 15);
    for saved in cases {
        let name = stem(&saved);
        let (rule, detail) = name.split_once('.').expect("RULE.detail");
        let violates = detail.starts_with("violate-");
        assert_eq!(saved.case.rule.as_deref(), violates.then_some(rule), "{name}");
        for system in [&mut Core as &mut dyn System, &mut Model] {
            let refused = refusals(system, &saved.case);
            match rule {
                // The refusal happens inside the observer, where no outcome shows it.
                "LIVE-4" => assert!(refused.is_empty(), "{name}: {refused:?}"),
                _ if violates => {
                    assert_eq!(refused.len(), 1, "{name} on the {}: {refused:?}", system.name());
                    assert_eq!(refused[0].0, rule, "{name}");
                }
                // An append in between may be refused for another reason, and counts nothing.
                _ => assert!(refused.iter().all(|(other, _)| other != rule), "{name}: {refused:?}"),
            }
            if rule == "FORK-2" && violates {
                let code = refused[0].1.to_ascii_lowercase().replace('_', "-");
                assert!(detail["violate-".len()..].starts_with(&code), "{name}: {code}");
            }
        }
    }
}

fn answers(name: &str) -> Vec<String> {
    let saved =
        corpus::load(&folder("rules").join(format!("{name}{}", corpus::SUFFIX))).expect("it is there");
    let steps = Core.run(&saved.case).steps;
    steps.iter().map(|step| step.outcome.ok().unwrap_or("refused").to_owned()).collect()
}

#[test]
fn an_append_from_inside_an_observer_is_refused_and_the_outer_one_stands() {
    let start = r#"{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}"#;
    let end = r#"{"type":"turn/end","seq":1,"time":0,"data":{"turn":1,"reason":{"kind":"completed"}}}"#;
    let expected = [
        "null".to_owned(),
        "null".to_owned(),
        r#"{"seq":0}"#.to_owned(),
        r#"{"seq":1}"#.to_owned(),
        "[0,1]".to_owned(),
        format!("[{start},{end}]"),
    ];
    assert_eq!(answers("LIVE-4.violate-an-observer-appends"), expected);
}

#[test]
fn a_failing_observer_stops_nobody() {
    // Both observers see the event, in registration order, and the event stands.
    let expected = ["null", "null", "null", r#"{"seq":0}"#, "[0,0]"];
    assert_eq!(answers("LIVE-3.accept-an-observer-fails")[..5], expected);
}

#[test]
fn append_numbers_events_itself() {
    // An empty list is a seed, so that its marker is event 0. A message without surfaceOp is refused and takes no seq.
    let expected = ["null", r#"{"seq":1}"#, "refused", r#"{"seq":2}"#];
    assert_eq!(answers("ENV-3.accept-append-counts-on")[..4], expected);
}

#[test]
fn a_case_that_does_another_thing_than_recorded_is_told() {
    let saved =
        corpus::load(&folder("rules").join("FORK-2.violate-open-turn.case.json")).expect("it is there");
    let mut case = saved.case;
    case.outcome = Some(Recorded { status: Status::Failed, ..Recorded::passed() });
    let (replayed, judged) = corpus::replay(&case, &mut Core);
    assert!(matches!(replayed, Replayed::Differs { .. }), "{replayed:?}");
    // Recorded as it is now, it is the same again, byte for byte.
    case.outcome = Some(judged.recorded());
    let case = Case::parse(&case.to_bytes()).expect("what is written can be read");
    assert_eq!(corpus::replay(&case, &mut Core).0, Replayed::Same);
}

#[test]
fn saving_never_overwrites_another_case() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = Case::new("dsh-v0", vec![]);
    let path = corpus::save(folder.path(), &case).expect("saved");
    assert_eq!(corpus::save(folder.path(), &case).expect("it is the same"), path);
    std::fs::write(&path, Case { rule: Some("SURF-5".into()), ..case.clone() }.to_bytes()).expect("written");
    assert!(matches!(corpus::save(folder.path(), &case), Err(corpus::CorpusError::Taken(_))));
    assert_eq!(corpus::load_all(folder.path()).expect("readable").len(), 1);
    assert!(corpus::load_all(&folder.path().join("none")).expect("none there").is_empty());
}
