//! Every property can fail: for each there is a small system that is wrong in one way, and the property catches it.
//! And every property holds on the core, on a case in which it had a chance.

use foldproof_harness::case::{
    Append, Behaviour, Call, Case, Encoding, LogSource, Mutation, Op, Ref, Sources, SurfaceOp, View,
};
use foldproof_harness::properties::{self, TABLE};
use foldproof_harness::runner::{self, Asked};
use foldproof_harness::systems::{Breakage, Core, Fault, Outcome, Step, System, Trace};

fn append(session: &str, kind: &str, data: &str) -> Op {
    let append = Append { kind: kind.into(), data: data.into(), surface_op: None, sources: None, time: 7 };
    Op::new(session, Call::Append(append))
}

fn node(session: &str, kind: &str, data: &str, op: SurfaceOp, sources: Option<Vec<Ref>>) -> Op {
    let sources = sources.map(Sources::Seqs);
    let append = Append { kind: kind.into(), data: data.into(), surface_op: Some(op), sources, time: 8 };
    Op::new(session, Call::Append(append))
}

fn user(session: &str, id: &str, text: &str, op: SurfaceOp, sources: Option<Vec<Ref>>) -> Op {
    let data = format!(
        r#"{{"id":"{id}","role":"user","content":[{{"type":"text","text":"{text}"}}],"source":{{"kind":"user"}}}}"#
    );
    node(session, "user/message", &data, op, sources)
}

fn assistant(id: &str, content: &str, sources: Vec<Ref>) -> Op {
    let data = format!(
        r#"{{"turn":1,"step":1,"message":{{"id":"{id}","role":"assistant","content":{content},"source":{{"kind":"model","provider":"p","model":"m"}}}}}}"#
    );
    node("a", "assistant/message", &data, SurfaceOp::Append, Some(sources))
}

fn view(session: &str, view: View) -> Op {
    Op::new(session, Call::view(view))
}

fn chunk(text: &str) -> Op {
    let data = format!(r#"{{"turn":1,"step":1,"chunk":{{"type":"text-delta","index":0,"text":"{text}"}}}}"#);
    append("a", "assistant/chunk", &data)
}

/// A session with a bit of everything: chunks, a call, a replace, a refused append, a fork, an open turn at the end.
fn story() -> Case {
    let header = r#"{"header":{"config":{"provider":"p","model":"m"},"system":"S","tools":[{"name":"t"}]},"reason":"initial"}"#;
    let call =
        r#"[{"type":"text","text":"Hello."},{"type":"tool-call","id":"c","name":"t","arguments":"{}"}]"#;
    let splice = r#"{"target":"next-turn","start":0,"inserted":[{"id":"w","role":"user","content":[],"source":{"kind":"user"}}]}"#;
    let result = r#"{"turn":1,"step":1,"message":{"id":"r","role":"user","source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","toolCallId":"c","content":[{"type":"text","text":"done"}]}]}}"#;
    let replace = |start, end| SurfaceOp::Replace { start: Ref::Op(start), end: Ref::Op(end) };
    let ops = vec![
        Op::new("a", Call::Open { header: None, inherited: None }),
        Op::new("a", Call::Observe { behaviour: Behaviour::Record }),
        append("a", "turn/start", r#"{"turn":1}"#),
        append("a", "step/start", r#"{"turn":1,"step":1}"#),
        user("a", "u1", "Hi", SurfaceOp::Append, None),
        append("a", "request/header", header),
        view("a", View::Request),
        chunk("Hel"),
        chunk("lo"),
        chunk("."),
        assistant("m1", call, vec![Ref::Op(7), Ref::Op(8), Ref::Op(9)]),
        append("a", "tool/call", r#"{"turn":1,"step":1,"callId":"c","name":"t","arguments":"{}"}"#),
        node("a", "tool/result", result, SurfaceOp::Append, Some(vec![Ref::Op(11)])),
        append("a", "agent/inbox/spliced", splice),
        append("a", "step/end", r#"{"turn":1,"step":1}"#),
        append("a", "turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#),
        user("a", "u2", "Go on", SurfaceOp::Append, None),
        user("a", "u3", "Summary", replace(4, 12), Some(vec![Ref::Op(4), Ref::Op(10), Ref::Op(12)])),
        // Refused: the span is gone from the surface.
        user("a", "u4", "No", replace(4, 12), Some(vec![Ref::Op(4)])),
        view("a", View::Messages),
        view("a", View::Surface),
        view("a", View::Transcript),
        Op::new("a", Call::Mutate { what: Mutation::Events }),
        Op::new("a", Call::Mutate { what: Mutation::Messages }),
        Op::new("a", Call::Fork { boundary: Some(Ref::Op(17)), child: "b".into() }),
        user("b", "u5", "Elsewhere", SurfaceOp::Append, None),
        view("b", View::Messages),
        append("a", "turn/start", r#"{"turn":2}"#),
        append("a", "step/start", r#"{"turn":2,"step":1}"#),
        user("a", "u6", "More", SurfaceOp::Append, None),
        append("a", "step/end", r#"{"turn":2,"step":1}"#),
        append("a", "step/start", r#"{"turn":2,"step":2}"#),
        view("a", View::Inbox),
        Op::new("a", Call::Observed),
    ];
    Case::new("dsh-v0", ops)
}

/// The core, told otherwise: what the function gives is put for the outcome.
struct Wrong {
    twist: fn(&Case, &Trace, usize) -> Option<Outcome>,
    faults: Vec<Fault>,
    verdict: Option<Outcome>,
}

impl System for Wrong {
    fn name(&self) -> String {
        "wrong".into()
    }

    fn version(&self) -> String {
        "0".into()
    }

    fn run(&mut self, case: &Case) -> Trace {
        let mut trace = Core.run(case);
        let twisted: Vec<Option<Outcome>> =
            (0..trace.steps.len()).map(|place| (self.twist)(case, &trace, place)).collect();
        for (step, twisted) in trace.steps.iter_mut().zip(twisted) {
            *step = Step { outcome: twisted.unwrap_or_else(|| step.outcome.clone()) };
        }
        trace.faults.extend(self.faults.clone());
        trace
    }

    fn check(&mut self, dialect: &str, log: &[u8], encoding: Encoding) -> Option<Outcome> {
        self.verdict.clone().or_else(|| Core.check(dialect, log, encoding))
    }
}

fn is_view(case: &Case, place: usize, wanted: View) -> bool {
    matches!(case.ops[place].call, Call::View { view, .. } if view == wanted)
}

fn before(case: &Case, place: usize, session: &str, fits: impl Fn(&Call) -> bool) -> bool {
    case.ops[..place].iter().any(|op| op.session == session && fits(&op.call))
}

fn is_replace(call: &Call) -> bool {
    matches!(call, Call::Append(Append { surface_op: Some(SurfaceOp::Replace { .. }), .. }))
}

fn forked(case: &Case, session: &str) -> bool {
    case.ops.iter().any(|op| matches!(&op.call, Call::Fork { child, .. } if child == session))
}

fn empty() -> Option<Outcome> {
    Some(Outcome::Ok("[]".into()))
}

fn swapped(trace: &Trace, place: usize, from: &str, to: &str) -> Option<Outcome> {
    trace.ok(place).map(|text| Outcome::Ok(text.replace(from, to)))
}

type Twist = fn(&Case, &Trace, usize) -> Option<Outcome>;

/// A way to be wrong for each property; the comparison with the model and the faults stand apart.
const WRONG: &[(&str, Twist)] = &[
    ("system-answers", |case, _, place| {
        let crash = Outcome::Broken { kind: Breakage::Crash, message: "boom".into() };
        (is_view(case, place, View::Surface)).then_some(crash)
    }),
    ("seq-contiguous", |case, trace, place| match &case.ops[place].call {
        Call::Append(append) if append.kind == "turn/end" => {
            trace.ok(place).map(|_| Outcome::Ok("{\"seq\":99}".into()))
        }
        _ => None,
    }),
    ("refused-changes-nothing", |case, trace, place| {
        let session = &case.ops[place].session;
        let refused =
            (0..place).any(|op| case.ops[op].session == *session && trace.steps[op].outcome.is_refused());
        (refused && is_view(case, place, View::Transcript)).then(empty).flatten()
    }),
    ("cached-equals-fresh", |case, _, place| {
        let session = &case.ops[place].session;
        let live = !session.starts_with('~');
        (live && is_view(case, place, View::Messages) && before(case, place, session, is_replace))
            .then(empty)
            .flatten()
    }),
    ("replay-from-events", |case, _, place| {
        let session = &case.ops[place].session;
        let restored = before(case, place, session, |call| matches!(call, Call::Restore { .. }));
        (restored && is_view(case, place, View::Inbox))
            .then(|| Outcome::Ok(r#"{"next-turn":[],"next-step":[]}"#.into()))
    }),
    ("fork-equals-prefix", |case, _, place| {
        (forked(case, &case.ops[place].session) && is_view(case, place, View::Messages)).then(empty).flatten()
    }),
    ("fork-is-apart", |case, _, place| {
        let session = &case.ops[place].session;
        let touched = case.ops[..place]
            .iter()
            .any(|op| forked(case, &op.session) && matches!(op.call, Call::Append(_)));
        (touched && !forked(case, session) && is_view(case, place, View::Transcript)).then(empty).flatten()
    }),
    ("request-path-independent", |case, trace, place| {
        let session = &case.ops[place].session;
        let zstd = |call: &Call| matches!(call, Call::Restore { encoding: Encoding::Zstd, .. });
        (before(case, place, session, zstd) && is_view(case, place, View::Request))
            .then(|| swapped(trace, place, r#""model":"m""#, r#""model":"M""#))
            .flatten()
    }),
    ("gate-catches-tamper", |case, _, place| {
        // The gate that looks at nothing but the number of members.
        matches!(case.ops[place].call, Call::CheckRequest { .. }).then(|| Outcome::Ok("null".into()))
    }),
    ("request-prefix-extends", |case, trace, place| match &case.ops[place].call {
        // The cache was keyed by the step, and a later step shows an older history.
        Call::View { view: View::Request, step: Some(step), .. } if (step.turn, step.step) == (2, 2) => {
            trace.ok(place).map(|_| Outcome::Ok(r#"{"messages":[]}"#.into()))
        }
        _ => None,
    }),
    ("transcript-ignores-replace", |case, trace, place| {
        let session = &case.ops[place].session;
        (is_view(case, place, View::Transcript) && before(case, place, session, is_replace))
            .then(|| swapped(trace, place, "Go on", "Summary"))
            .flatten()
    }),
    ("log-only-invisible", |case, _, place| {
        let hook = |call: &Call| matches!(call, Call::Append(append) if append.kind == "hook/invoked");
        (is_view(case, place, View::Messages) && before(case, place, &case.ops[place].session, hook))
            .then(empty)
            .flatten()
    }),
    ("unknown-required-refused", |_, trace, place| match &trace.steps[place].outcome {
        Outcome::Err { rule: Some(rule), .. } if rule == "VOCAB-1" => {
            Some(Outcome::Ok("{\"events\":1}".into()))
        }
        _ => None,
    }),
    ("ignorable-invisible", |case, _, place| {
        let marked = |call: &Call| match call {
            Call::Restore { log: LogSource::Bytes(log), .. } => {
                String::from_utf8_lossy(log.bytes()).contains("\"ignorable\"")
            }
            _ => false,
        };
        (is_view(case, place, View::Messages) && before(case, place, &case.ops[place].session, marked))
            .then(empty)
            .flatten()
    }),
    ("pack-roundtrip", |case, trace, place| {
        matches!(case.ops[place].call, Call::Dump { packed: true, .. })
            .then(|| swapped(trace, place, "Hel", "Hal"))
            .flatten()
    }),
    ("repair-balances", |case, _, place| matches!(case.ops[place].call, Call::Repair).then(empty).flatten()),
    ("repair-idempotent", |case, _, place| {
        let again = before(case, place, &case.ops[place].session, |call| matches!(call, Call::Repair));
        (again && matches!(case.ops[place].call, Call::Repair))
            .then(|| Outcome::Ok(r#"[{"type":"turn/end"}]"#.into()))
    }),
    ("system-equals-model", |case, trace, place| {
        is_view(case, place, View::Surface)
            .then(|| swapped(trace, place, "\"replaceGeneration\":1", "\"replaceGeneration\":2"))
            .flatten()
    }),
];

fn verdict_of(case: &Case, id: &str, system: &mut dyn System) -> Result<u64, properties::Violation> {
    let judged = runner::run(case, system, Asked::Only(&[id.to_owned()]));
    match judged.violation {
        Some((property, violation)) => {
            assert_eq!(property.id, id);
            Err(violation)
        }
        None => Ok(judged.applied.iter().map(|(_, applied)| applied.0).sum()),
    }
}

fn wrong(twist: Twist) -> Wrong {
    Wrong { twist, faults: vec![], verdict: None }
}

#[test]
fn each_property_catches_its_wrong_system_and_holds_on_the_core() {
    let case = story();
    for (id, twist) in WRONG {
        let chances = verdict_of(&case, id, &mut Core);
        assert!(matches!(chances, Ok(1..)), "{id} on the core: {chances:?}");
        let found = verdict_of(&case, id, &mut wrong(*twist));
        let found = found.expect_err(id);
        assert!(!found.refused_otherwise, "{id}: {found:?}");
        assert!(foldproof::rule::Rule::from_id(found.rule).is_some(), "{id}: {}", found.rule);
    }
}

#[test]
fn a_held_history_that_changes_is_caught() {
    let case = story();
    assert!(matches!(verdict_of(&case, "held-stays", &mut Core), Ok(1..)));
    let fault = Fault { op: 3, rule: "PROJ-4", expected: "[1]".into(), got: "[2]".into() };
    let mut system = Wrong { twist: |_, _, _| None, faults: vec![fault], verdict: None };
    let found = verdict_of(&case, "held-stays", &mut system).expect_err("the fault is there");
    assert_eq!((found.op, found.rule), (3, "PROJ-4"));
}

#[test]
fn a_checker_that_finds_nothing_is_caught() {
    // The story ends in an open turn, so that there is REPAIR-2 to be found.
    let case = story();
    assert!(matches!(verdict_of(&case, "verdict-equals-model", &mut Core), Ok(1..)));
    let verdict = Some(Outcome::Ok(r#"{"events":0,"findings":[]}"#.into()));
    let mut system = Wrong { twist: |_, _, _| None, faults: vec![], verdict };
    verdict_of(&case, "verdict-equals-model", &mut system).expect_err("it differs");
}

#[test]
fn a_checker_that_reads_more_than_the_contract_is_caught() {
    // What is said in a log is no rule's business. A checker that looks at it judges a redacted log otherwise.
    struct Nosy;
    impl System for Nosy {
        fn name(&self) -> String {
            "nosy".into()
        }
        fn version(&self) -> String {
            "0".into()
        }
        fn run(&mut self, case: &Case) -> Trace {
            Core.run(case)
        }
        fn check(&mut self, dialect: &str, log: &[u8], encoding: Encoding) -> Option<Outcome> {
            let asks = String::from_utf8_lossy(log).contains("Go on");
            let found = r#"{"events":0,"findings":[{"rule":"PAIR-2","class":"relation","line":1,"seq":0}]}"#;
            if asks { Some(Outcome::Ok(found.into())) } else { Core.check(dialect, log, encoding) }
        }
    }
    let case = story();
    assert!(matches!(verdict_of(&case, "redact-keeps-verdict", &mut Core), Ok(1..)));
    let found = verdict_of(&case, "redact-keeps-verdict", &mut Nosy).expect_err("it differs");
    assert!(found.expected.contains("\"PAIR-2\"") && !found.got.contains("\"PAIR-2\""), "{found:?}");
}

#[test]
fn a_faulty_case_is_refused_under_its_rule() {
    let id = "refused-names-its-rule";
    let case = Case { rule: Some("SURF-5".into()), ..story() };
    assert!(matches!(verdict_of(&case, id, &mut Core), Ok(1)));
    let otherwise: Twist = |_, trace, place| {
        trace.steps[place].outcome.is_refused().then(|| Outcome::refused(Some("SURF-6"), "another"))
    };
    assert!(verdict_of(&case, id, &mut wrong(otherwise)).expect_err("another rule").refused_otherwise);
    let accepted: Twist =
        |_, trace, place| trace.steps[place].outcome.is_refused().then(|| Outcome::Ok("{\"seq\":15}".into()));
    assert!(!verdict_of(&case, id, &mut wrong(accepted)).expect_err("accepted").refused_otherwise);
    // A refusal that names no rule is a refusal.
    let nameless: Twist =
        |_, trace, place| trace.steps[place].outcome.is_refused().then(|| Outcome::refused(None, "no"));
    assert!(verdict_of(&case, id, &mut wrong(nameless)).is_ok());
    // A relation is found by the checker, not refused: here a step that ends no turn of its own.
    let mut case = Case { rule: Some("LIFE-2".into()), ..story() };
    // As long as the case does not break its rule, nothing has to be found.
    assert!(matches!(verdict_of(&case, id, &mut Core), Ok(0)));
    case.ops.push(append("b", "step/end", r#"{"turn":1,"step":1}"#));
    assert!(matches!(verdict_of(&case, id, &mut Core), Ok(1)));
    let verdict = Some(Outcome::Ok(r#"{"events":0,"findings":[]}"#.into()));
    let mut blind = Wrong { twist: |_, _, _| None, faults: vec![], verdict };
    verdict_of(&case, id, &mut blind).expect_err("not found");
}

#[test]
fn every_property_has_a_wrong_system() {
    let apart = ["held-stays", "verdict-equals-model", "refused-names-its-rule", "redact-keeps-verdict"];
    for property in TABLE {
        let has = WRONG.iter().any(|(id, _)| *id == property.id) || apart.contains(&property.id);
        assert!(has, "{}", property.id);
        assert!(properties::by_id(property.id).is_some());
        for rule in property.rules {
            assert!(foldproof::rule::Rule::from_id(rule).is_some(), "{}: {rule}", property.id);
        }
    }
}

#[test]
fn the_whole_story_holds() {
    let judged = runner::run(&story(), &mut Core, Asked::All);
    assert!(judged.violation.is_none(), "{:#?}", judged.violation);
    assert_eq!(judged.applied.len(), TABLE.len());
}

#[test]
fn any_list_of_operations_runs_the_same_on_core_and_model() {
    // Taking operations out must never make a case that cannot be run, or on which the two differ.
    let story = story();
    for from in 0..story.ops.len() {
        for length in [1, 2, 5, 11] {
            let mut case = story.clone();
            case.without(from..from + length);
            let found = verdict_of(&case, "system-equals-model", &mut Core);
            assert!(found.is_ok(), "without {length} from {from}: {found:#?}");
            assert_eq!(Case::parse(&case.to_bytes()).as_ref(), Ok(&case));
        }
    }
}

#[test]
fn a_system_that_answers_nothing_has_nothing_held_against_it() {
    struct Asleep;
    impl System for Asleep {
        fn name(&self) -> String {
            "asleep".into()
        }
        fn version(&self) -> String {
            "0".into()
        }
        fn run(&mut self, case: &Case) -> Trace {
            Trace::not_sent(case, "it is asleep")
        }
    }
    let judged = runner::run(&story(), &mut Asleep, Asked::All);
    assert!(judged.violation.is_none(), "{:#?}", judged.violation);
}
