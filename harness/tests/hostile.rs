//! Logs and callers that mean harm: what the contract says of them holds, in memory that does not depend on how often
//! something is wrong, and in time that grows with the log. Expected values follow from the contract.

use foldproof::check::{Input, Loaded, Options, Report, check, load};
use foldproof::dialect::{Reading, dsh_v0};
use foldproof::finding::Finding;
use foldproof::json::Scanner;
use foldproof::limits::{self, Limits};
use foldproof::log::Log;
use foldproof::rule::{Class, Rule, RuleSet, Stage};
use foldproof::session::{AppendError, Draft, Observer, Session};
use std::fmt::Write;
use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const HEADER: &str =
    "{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":0,\"delegationDepth\":0}\n";

/// A log under construction, with seqs counted.
struct Text {
    text: String,
    next: u64,
}

impl Text {
    fn new() -> Self {
        Text { text: HEADER.into(), next: 0 }
    }

    /// An event; `rest` is what stands behind `data`.
    fn event(&mut self, kind: &str, data: &str, rest: &str) -> u64 {
        let seq = self.next;
        writeln!(self.text, "{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":0,\"data\":{data}{rest}}}")
            .unwrap();
        self.next += 1;
        seq
    }

    fn turn_and_step(&mut self) {
        self.event("turn/start", "{\"turn\":1}", "");
        self.event("step/start", "{\"turn\":1,\"step\":1}", "");
    }

    /// A user message; with `place`, it replaces that node and cites `sources`.
    fn user(&mut self, place: Option<(u64, u64, &str)>) -> u64 {
        let data = format!(
            "{{\"id\":\"u{}\",\"role\":\"user\",\"source\":{{\"kind\":\"user\"}},\"content\":[]}}",
            self.next
        );
        let rest = match place {
            None => ",\"surfaceOp\":\"append\"".to_owned(),
            Some((start, end, sources)) => format!(
                ",\"surfaceOp\":{{\"op\":\"replace\",\"start\":{start},\"end\":{end}}},\"sourceEventSeqs\":[{sources}]"
            ),
        };
        self.event("user/message", &data, &rest)
    }

    fn assistant(&mut self, content: &str) -> u64 {
        let data = format!(
            "{{\"turn\":1,\"step\":1,\"message\":{{\"id\":\"a{}\",\"role\":\"assistant\",\"source\":{{\"kind\":\"model\",\
             \"provider\":\"p\",\"model\":\"m\"}},\"content\":[{content}]}}}}",
            self.next
        );
        self.event("assistant/message", &data, ",\"surfaceOp\":\"append\"")
    }

    /// An assistant message with so many calls.
    fn calls(&mut self, count: usize) -> u64 {
        let call = |id: usize| {
            format!("{{\"type\":\"tool-call\",\"id\":\"c{id}\",\"name\":\"n\",\"arguments\":\"{{}}\"}}")
        };
        let calls: Vec<String> = (0..count).map(call).collect();
        self.assistant(&calls.join(","))
    }

    fn call_and_result(&mut self, id: usize) {
        self.event(
            "tool/call",
            &format!("{{\"turn\":1,\"step\":1,\"callId\":\"c{id}\",\"name\":\"n\",\"arguments\":\"{{}}\"}}"),
            "",
        );
        let data = format!(
            "{{\"turn\":1,\"step\":1,\"message\":{{\"id\":\"r{id}\",\"role\":\"user\",\"source\":{{\"kind\":\"tool\",\
             \"callId\":\"c{id}\"}},\"content\":[{{\"type\":\"tool-result\",\"toolCallId\":\"c{id}\",\"content\":[]}}]}}}}"
        );
        self.event("tool/result", &data, ",\"surfaceOp\":\"append\"");
    }

    /// Replaces a node over and over.
    fn chain(&mut self, mut node: u64, length: usize) {
        for _ in 0..length {
            node = self.user(Some((node, node, &node.to_string())));
        }
    }
}

fn plain(text: &str) -> Input<'_> {
    Input::Plain(Box::new(text.as_bytes()))
}

fn checked(text: &str, options: &Options) -> Report {
    check(plain(text), options).unwrap()
}

fn strict(text: &str) -> Report {
    checked(text, &Options::default())
}

fn found(report: &Report) -> Vec<Rule> {
    report.findings.list.iter().map(|finding| finding.rule).collect()
}

fn released() -> Options {
    Options { reading: Reading::Released(Stage::Provider), ..Options::default() }
}

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

/// JSON-5 is ours only: the released reader takes a value of any depth, and it is shown as it is.
#[test]
fn what_lies_deeper_than_our_limit_is_shown_as_the_released_reader_takes_it() {
    for depth in [9_999, 10_000, 300_000] {
        let mut text = Text::new();
        text.event("session/title", &nested(depth), "");
        let Loaded { report, log, .. } = load(plain(&text.text), &released(), 0).unwrap();
        assert_eq!((report.verdict(), report.events), ("accept", 1), "{depth}");
        let line = text.text.lines().nth(1).unwrap();
        assert_eq!(log.line(0).as_deref(), Some(line.as_bytes()));
        let ours = if depth < 10_000 { "accept" } else { "reject" };
        assert_eq!(strict(&text.text).verdict(), ours);
    }
    // A key that repeats and a number in another spelling, below the limit of depth.
    let mut text = Text::new();
    let inner = format!("{}{{\"a\":1,\"b\":-0,\"a\":1.50}}{}", "[".repeat(20_000), "]".repeat(20_000));
    text.event("session/title", &inner, "");
    let log = load(plain(&text.text), &released(), 0).unwrap().log;
    let want = text.text.lines().nth(1).unwrap().replace("\"a\":1,\"b\":-0,\"a\":1.50", "\"a\":1.5,\"b\":0");
    assert_eq!(log.line(0).as_deref(), Some(want.as_bytes()));
}

#[test]
fn a_small_limit_of_depth_is_a_finding_and_nothing_else() {
    let mut text = Text::new();
    text.event("turn/start", "{\"turn\":1}", "");
    text.text += "{\"type\":\"text-chunks\",\"seq0\":1,\"time0\":0,\"data\":{\"turn\":1,\"step\":1,\"index\":0,\"dt\":[],\"texts\":[\"a\"]}}\n";
    for depth in 1..4 {
        let options = Options { limits: Limits { depth, ..Limits::default() }, ..Options::default() };
        let report = checked(&text.text, &options);
        assert_eq!(found(&report)[0], if depth < 3 { Rule::Json5 } else { Rule::Life3 }, "{depth}");
        assert_eq!(report.events, [0, 1, 2][depth as usize - 1]);
    }
}

/// A reader that migrates the shape from before messages had identities meets results that name no call: such a result
/// closes none (PAIR-1, which the released reader checks when it publishes).
#[test]
fn a_result_that_names_no_call() {
    for (error, want) in [("", vec![Rule::Pair1]), (",\"error\":{\"code\":\"TOOL_NOT_STARTED\"}", vec![])] {
        let mut text = Text::new();
        text.turn_and_step();
        let data = format!(
            "{{\"turn\":1,\"step\":1,\"message\":{{\"content\":[{{\"type\":\"tool-result\",\"toolCallId\":\"c\",\
             \"content\":[]}}]}}{error}}}"
        );
        text.event("tool/result", &data, ",\"surfaceOp\":\"append\"");
        text.event("step/end", "{\"turn\":1,\"step\":1}", "");
        text.event("turn/end", "{\"turn\":1,\"reason\":{\"kind\":\"completed\"}}", "");
        let publish = Options { reading: Reading::Released(Stage::Publish), ..Options::default() };
        assert_eq!(found(&checked(&text.text, &publish)), want);
        assert_eq!(found(&checked(&text.text, &released())), []);
        assert_eq!(found(&strict(&text.text)), [Rule::Shape7]);
    }
}

/// A rule that is left out hides no other one in the same line.
#[test]
fn a_fault_behind_one_that_does_not_count_still_counts() {
    for (data, ignored, counts) in [
        ("[-0,9007199254740993]", Rule::Json2, Rule::Json3),
        ("[{\"a\":1,\"a\":2},-0]", Rule::Json6, Rule::Json2),
        ("[1e400,{\"a\":1,\"a\":2}]", Rule::Json1, Rule::Json6),
    ] {
        let mut text = Text::new();
        text.event("session/title", data, "");
        let first = strict(&text.text);
        assert_eq!(found(&first), [ignored], "one event has one verdict");
        let options = Options { ignore: RuleSet::EMPTY.with(ignored), ..Options::default() };
        assert_eq!(found(&checked(&text.text, &options)), [counts], "{data}");
    }
}

/// The verdict is the strongest class found, however many weaker findings stand before it.
#[test]
fn the_verdict_does_not_depend_on_how_much_is_kept() {
    let mut text = Text::new();
    for _ in 0..limits::FINDINGS + 10 {
        text.event("todo/write", "{\"todos\":[]}", "");
    }
    text.user(Some((3, 3, "0")));
    let mut report = strict(&text.text);
    assert_eq!((report.verdict(), report.findings.more), ("reject", 10));
    assert_eq!(found(&report).last(), Some(&Rule::Surf5));
    report.findings.retain(|rule| rule != Rule::Json7);
    assert_eq!((report.verdict(), report.findings.more), ("reject", 10));
    report.findings.retain(|rule| rule == Rule::Surf5);
    assert_eq!((report.verdict(), found(&report), report.findings.more), ("reject", vec![Rule::Surf5], 0));
}

/// A line can break a rule a million times. The findings share its text, and what is not kept is counted.
#[test]
fn one_line_with_a_million_breaches() {
    let members = 1_000_000;
    let mut text = Text::new();
    writeln!(
        text.text,
        "{{\"type\":\"text-chunks\",\"seq0\":0,\"time0\":0,\"data\":{{\"turn\":1,\"step\":1,\"index\":0,\"dt\":[{}],\"texts\":[{}]}}}}",
        vec!["0"; members - 1].join(","),
        vec!["\"\""; members].join(",")
    )
    .unwrap();
    let report = checked(&text.text, &Options { excerpts: true, ..Options::default() });
    assert_eq!(report.events, members as u64);
    assert_eq!(report.findings.list.len() as u64 + report.findings.more, members as u64);
    let excerpts: Vec<_> =
        report.findings.list.iter().filter_map(|finding| finding.excerpt.as_ref()).collect();
    assert_eq!(excerpts.len(), limits::FINDINGS);
    assert!(excerpts.iter().all(|excerpt| Arc::ptr_eq(&excerpt.text, &excerpts[0].text)));
}

/// Findings far apart in one long line: each one's excerpt holds its place, and all of them stay near the line's size.
#[test]
fn excerpts_of_a_long_line() {
    let mut text = Text::new();
    let filler = "x".repeat(150);
    let inserted = vec![format!("{{\"id\":\"m\",\"f\":\"{filler}\"}}"); 10_000].join(",");
    let data = format!("{{\"target\":\"next-turn\",\"start\":0,\"inserted\":[{inserted}]}}");
    text.event("agent/inbox/spliced", &data, "");
    let report = checked(&text.text, &Options { excerpts: true, ..Options::default() });
    assert_eq!(report.findings.list.len(), 9_999);
    let line = text.text.lines().nth(1).unwrap().as_bytes();
    let mut held: Vec<*const u8> = vec![];
    for Finding { column, excerpt, .. } in &report.findings.list {
        let excerpt = excerpt.as_ref().unwrap();
        assert_eq!(&line[excerpt.from..excerpt.from + excerpt.text.len()], &excerpt.text[..]);
        let at = *column as usize - 1;
        assert!(at >= excerpt.from && at < excerpt.from + excerpt.text.len());
        assert!(excerpt.from == 0 || at - excerpt.from > 1_000, "what stands in front of the place is there");
        held.push(excerpt.text.as_ptr());
    }
    held.dedup();
    assert!(held.len() * limits::EXCERPT < 8 * line.len(), "{} excerpts", held.len());
}

/// A replace is judged by what it shadows and says, not by how much stands beside it (PAIR-2).
#[test]
fn a_chain_of_replaces_beside_a_wide_group() {
    let width = 3_000;
    // Behind the group.
    let mut text = Text::new();
    text.turn_and_step();
    text.calls(width);
    (0..width).for_each(|id| text.call_and_result(id));
    text.event("step/end", "{\"turn\":1,\"step\":1}", "");
    text.event("turn/end", "{\"turn\":1,\"reason\":{\"kind\":\"completed\"}}", "");
    let node = text.user(None);
    text.chain(node, width);
    assert_eq!(strict(&text.text).verdict(), "accept");
    // In front of one that still waits.
    let mut text = Text::new();
    text.turn_and_step();
    let node = text.user(None);
    text.calls(width);
    text.chain(node, width);
    assert_eq!(found(&strict(&text.text)), [Rule::Repair2]);
    // Behind messages that are empty and separate nothing.
    let mut text = Text::new();
    text.turn_and_step();
    (0..width).for_each(|_| {
        text.assistant("");
    });
    let node = text.user(None);
    text.chain(node, width);
    assert_eq!(found(&strict(&text.text)), [Rule::Repair2]);
}

/// What a replace did to a group is remembered, not only found once (PAIR-2).
#[test]
fn a_group_that_was_broken_stays_broken() {
    let mut text = Text::new();
    text.turn_and_step();
    let asked = text.calls(2);
    text.call_and_result(0);
    text.call_and_result(1);
    text.event("step/end", "{\"turn\":1,\"step\":1}", "");
    text.event("turn/end", "{\"turn\":1,\"reason\":{\"kind\":\"completed\"}}", "");
    let behind = text.user(None);
    let result = asked + 2;
    let broken = text.user(Some((result, result, &result.to_string())));
    let again = text.user(Some((broken, broken, &broken.to_string())));
    let all: Vec<String> = [asked, again, result + 2, behind].iter().map(u64::to_string).collect();
    let whole = text.user(Some((asked, result + 2, &all[..3].join(","))));
    text.user(Some((whole, behind, &format!("{whole},{behind}"))));
    let report = strict(&text.text);
    let lines: Vec<(Rule, Option<u64>)> =
        report.findings.list.iter().map(|finding| (finding.rule, finding.seq)).collect();
    assert_eq!(lines, [(Rule::Pair2, Some(broken)), (Rule::Pair2, Some(again))]);
}

/// A replace that is refused costs nothing of what it would have shadowed (SURF-6).
#[test]
fn a_refused_replace_of_everything() {
    let mut text = Text::new();
    let count = 20_000;
    (0..count).for_each(|_| {
        text.user(None);
    });
    for _ in 0..count {
        text.user(Some((0, count - 1, "0")));
    }
    let report = checked(&text.text, &Options { keep_going: true, ..Options::default() });
    assert_eq!((report.events, found(&report)[0]), (count, Rule::Surf6));
    assert_eq!(report.findings.list.len() as u64 + report.findings.more, count);
    assert!(
        report.findings.list[0].message.contains("does not cite 1"),
        "{}",
        report.findings.list[0].message
    );
}

/// Repeated keys are found by their value, however many there are and however they are spelled (JSON-6).
#[test]
fn many_keys_in_another_spelling() {
    let mut text = String::from("{");
    for key in 0..50_000 {
        write!(text, "\"\\u006b{key}\":0,").unwrap();
    }
    let scan = |end: &str| {
        let whole = format!("{text}{end}}}");
        let mut scanner = Scanner::new(10);
        scanner.scan(whole.as_bytes()).unwrap().fault.map(|fault| (fault.rule, fault.at))
    };
    assert_eq!(scan("\"z\":0"), None);
    assert_eq!(scan("\"k7\":0"), Some((Rule::Json6, text.len())));
}

/// Inside a complete frame any damage is corrupt at once, whatever else the frame decodes to (CODEC-3).
#[test]
fn a_bomb_of_damage_is_not_read_to_its_end() {
    let frame = |text: &[u8]| zstd::bulk::compress(text, 3).unwrap();
    let mut file = frame(HEADER.as_bytes());
    file.extend(frame(&vec![b'\n'; 64 << 20]));
    let report = check(Input::Compressed(Box::new(Cursor::new(file))), &Options::default()).unwrap();
    assert_eq!((report.verdict(), found(&report)), ("corrupt", vec![Rule::Store6]));
    assert!(report.bytes < 1 << 20, "{} bytes were decoded", report.bytes);
}

#[test]
fn a_first_frame_without_a_line_has_a_place() {
    let file = zstd::bulk::compress(b"", 3).unwrap();
    let report = check(Input::Compressed(Box::new(Cursor::new(file))), &Options::default()).unwrap();
    assert_eq!(report.verdict(), "corrupt");
    assert_eq!((report.findings.list[0].line, report.findings.list[0].column), (1, 1), "both count from 1");
}

/// Whether a log without a header is a tutorial is asked of the whole log, damage or not.
#[test]
fn a_message_with_an_id_behind_damage_is_no_tutorial() {
    let named = "{\"type\":\"user/message\",\"seq\":2,\"time\":0,\"data\":{\"id\":\"u\",\"content\":\"x\"},\"surfaceOp\":\"append\"}\n";
    let turn = "{\"type\":\"turn/start\",\"seq\":0,\"time\":0,\"data\":{\"turn\":1}}\n";
    let end = "{\"type\":\"turn/end\",\"seq\":1,\"time\":0,\"data\":{\"turn\":1,\"reason\":{\"kind\":\"completed\"}}}\n";
    for between in ["rubbish\n".to_owned(), format!("rubbish\n{end}")] {
        let report = strict(&format!("{turn}{between}{named}"));
        assert_eq!((report.dialect.as_str(), found(&report)), ("dsh-v0", vec![Rule::Store1]));
        let report = strict(&format!("{turn}{between}{}", named.replace("\"id\":\"u\",", "")));
        assert_eq!((report.dialect.as_str(), found(&report)[0]), ("tutorial", Rule::Store3));
    }
}

#[test]
fn a_seed_that_is_too_long_is_shown_where_the_header_says_so() {
    let header = HEADER.replace("\"s\"", "\"seedLength\"").replace('}', ",\"seedLength\":3}");
    let report = strict(&header);
    assert_eq!(found(&report), [Rule::Store8]);
    assert_eq!(report.findings.list[0].column as usize - 1, header.rfind("\"seedLength\"").unwrap());
    assert_eq!(report.findings.list[0].class, Class::Relation);
}

/// No setting lets a line grow so long that offsets in it would not fit.
#[test]
fn the_length_of_a_line_is_bounded_whatever_is_asked_for() {
    struct Endless;
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(b' ');
            Ok(buffer.len())
        }
    }
    let options = Options { limits: Limits { line: u64::MAX, ..Limits::default() }, ..Options::default() };
    let error = check(Input::Plain(Box::new(Endless)), &options).unwrap_err();
    assert!(error.to_string().contains("limit-line"), "{error}");
}

struct Counting(Arc<AtomicUsize>);

impl Observer for Counting {
    fn committed(&mut self, _: &mut Session, _: u64) -> Result<(), String> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

struct Panicking;

impl Observer for Panicking {
    fn committed(&mut self, _: &mut Session, _: u64) -> Result<(), String> {
        std::panic::resume_unwind(Box::new("an observer of somebody else"))
    }
}

/// LIVE-3: a failing observer is reported, does not stop the others, and does not change the result, however it fails.
#[test]
fn an_observer_that_panics_is_isolated() {
    let seen = Arc::new(AtomicUsize::new(0));
    let mut session = Session::create(Arc::new(dsh_v0()), "s", None, 0);
    session.observe(Box::new(Counting(Arc::clone(&seen))));
    session.observe(Box::new(Panicking));
    session.observe(Box::new(Counting(Arc::clone(&seen))));
    for seq in 0..3 {
        let title = Draft { kind: "session/title", data: b"{}", ..Draft::default() };
        assert_eq!(session.append(title, 0), Ok(seq));
    }
    let log: &Log = session.log();
    assert_eq!((log.len(), seen.load(Ordering::Relaxed)), (3, 6));
    let failures: Vec<(usize, u64)> =
        session.failures().iter().map(|failure| (failure.observer, failure.seq)).collect();
    assert_eq!(failures, [(1, 0), (1, 1), (1, 2)]);
}

#[test]
fn a_part_that_closes_the_envelope_is_refused() {
    let mut session = Session::create(Arc::new(dsh_v0()), "s", None, 0);
    let message = br#"{"id":"u","role":"user","content":[],"source":{"kind":"user"}}"#;
    let smuggled = br#"{"id":"u","role":"user","content":[],"source":{"kind":"user"}},"surfaceOp":"append""#;
    let with = |data, surface_op, sources| Draft { kind: "user/message", data, surface_op, sources };
    let append = Some(&br#""append""#[..]);
    let drafts = [
        // Each of these makes a line that is JSON, and more than an event of these parts.
        ("data", with(&br#"{},"ignorable":true"#[..], append, None)),
        ("data", with(&smuggled[..], None, None)),
        ("data", with(br#"{},"data":{}"#, append, None)),
        ("sourceEventSeqs", with(message, append, Some(br#"[],"ignorable":true"#))),
        ("surfaceOp", with(message, Some(br#""append","ignorable":true"#), None)),
        // And these make none.
        ("data", with(b"", append, None)),
        ("data", with(b"  ", append, None)),
        ("data", with(b"{}} {", append, None)),
        ("data", with(b"\xff", append, None)),
        ("surfaceOp", with(message, Some(b"append"), None)),
    ];
    for (wanted, draft) in drafts {
        let shown = format!("{draft:?}");
        match session.append(draft, 1) {
            Err(AppendError::Syntax { part, .. }) => assert_eq!(part, wanted, "{shown}"),
            other => panic!("{other:?}: {shown}"),
        }
        assert_eq!(session.log().len(), 0, "{shown}");
    }
    // Spaces around a part are spelling, and nothing else.
    let spaced = [&b" \n"[..], message, b"\t "].concat();
    session.append(with(&spaced, Some(b" \"append\" "), None), 1).unwrap();
    let line = session.log().line(0).unwrap().into_owned();
    let want = r#"{"type":"user/message","seq":0,"time":1,"data":{"id":"u","role":"user","content":[],"source":{"kind":"user"}},"surfaceOp":"append"}"#;
    assert_eq!(String::from_utf8(line).unwrap(), want);
}
