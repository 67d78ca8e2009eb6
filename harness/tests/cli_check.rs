//! `foldproof check` from outside: exit codes, JSON shapes, paths, options. Expected values follow from the contract and
//! the interface page, not from what the program printed once.

#![cfg(feature = "cli")]

mod support;

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use support::*;

fn json(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn rules(log: &Value) -> Vec<&str> {
    log["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap()).collect()
}

#[test]
fn exit_codes() {
    let folder = Folder::new();
    let good = folder.write("good.jsonl", good());
    let bad = folder.write("bad.jsonl", log(&[TURN, STEP, ASK, BAD_REPLACE]));
    let open = folder.write("open.jsonl", log(&[TURN]));
    let missing = folder.path("missing.jsonl");
    std::fs::create_dir(folder.path("empty")).unwrap();
    let empty = folder.path("empty");
    assert_eq!(run(&["check", &good]).code, Some(0));
    assert_eq!(run(&["check", &bad]).code, Some(1));
    assert_eq!(run(&["check", &open]).code, Some(1));
    assert_eq!(run(&["check", &open, "--allow", "repairable"]).code, Some(0));
    assert_eq!(run(&["check", &bad, "--allow", "repairable"]).code, Some(1));
    assert_eq!(run(&["check", &bad, "--exit-zero"]).code, Some(0));
    assert_eq!(run(&["check", &missing]).code, Some(2));
    assert_eq!(run(&["check", &missing, "--exit-zero"]).code, Some(2));
    assert_eq!(
        run(&["check", &bad, &missing]).code,
        Some(2),
        "an unreadable file gives 2 even beside findings"
    );
    assert_eq!(run(&["check", &empty]).code, Some(3));
    assert_eq!(run(&["check"]).code, Some(2));
    assert_eq!(run(&["check", &good, "--no-such-option"]).code, Some(2));
    assert_eq!(run(&["--version"]).code, Some(0));
}

#[test]
fn json_shape() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", log(&[TURN, STEP, ASK, BAD_REPLACE]));
    let ran = run(&["check", &path, "--format", "json"]);
    let start = format!(
        r#"{{"path":"{path}","dialect":"dsh-v0","verdict":"reject","events":3,"findings":[{{"rule":"SURF-5","class":"reject","line":5,"column":"#
    );
    assert!(ran.out.starts_with(&start), "{}", ran.out);
    let log = &json(&ran.out)[0];
    let finding = &log["findings"][0];
    let members: Vec<&str> = finding.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = ["rule", "class", "line", "column", "seq", "message", "help"];
    expected.sort_unstable();
    assert_eq!(members, expected);
    // The column is where the value of `start` stands in the line.
    let text = folder.read("a.jsonl");
    let line = text.lines().nth(4).unwrap();
    assert_eq!(finding["column"], line.find("\"start\":0").unwrap() as u64 + 9);
    assert_eq!(finding["seq"], 3);
    assert!(finding["help"].is_string());
    assert_eq!(ran.err, "");
}

#[test]
fn a_finding_without_an_event_has_seq_null() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", "");
    let ran = run(&["check", &path, "--format", "json"]);
    assert!(ran.out.contains(r#""verdict":"corrupt","events":0,"#), "{}", ran.out);
    assert!(
        ran.out.contains(r#""rule":"STORE-1","class":"corrupt","line":1,"column":1,"seq":null,"#),
        "{}",
        ran.out
    );
}

#[test]
fn the_released_reader_is_asked_only_with_an_equals_sign() {
    let folder = Folder::new();
    // A turn numbered 2 is LIFE-1 (publish); a repeated key is JSON-6, ours only.
    let path = folder.write(
        "a.jsonl",
        log(&[
            r#"{"type":"turn/start","data":{"turn":2,"turn":2}}"#,
            r#"{"type":"turn/end","data":{"turn":2,"reason":{"kind":"completed"}}}"#,
        ]),
    );
    let strict = run(&["check", "--format", "json", &path]);
    assert_eq!(rules(&json(&strict.out)[0]), ["JSON-6"]);
    assert!(!strict.out.contains("stage"));
    let publish = run(&["check", "--reader", "--format", "json", &path]);
    assert_eq!(rules(&json(&publish.out)[0]), ["LIFE-1"]);
    assert_eq!(json(&publish.out)[0]["findings"][0]["stage"], "publish");
    assert_eq!(run(&["check", "--reader=publish", "--format", "json", &path]).out, publish.out);
    let provider = run(&["check", "--reader=provider", "--format", "json", &path]);
    assert_eq!((provider.code, json(&provider.out)[0]["verdict"].as_str()), (Some(0), Some("accept")));
    assert_eq!(run(&["check", "--reader=other", &path]).code, Some(2));
}

#[test]
fn stdin_plain_and_compressed() {
    let plain = pipe(&["check", "-", "--format", "json"], good().as_bytes());
    assert_eq!(
        plain.out,
        "{\"path\":\"-\",\"dialect\":\"dsh-v0\",\"verdict\":\"accept\",\"events\":7,\"findings\":[]}\n"
    );
    let bytes = std::fs::read(corpora("sessions/compaction.jsonl.zstd")).unwrap();
    let compressed = pipe(&["check", "-", "--format", "json"], &bytes);
    assert_eq!(json(&compressed.out)[0]["events"], 75);
    assert_eq!(json(&compressed.out)[0]["verdict"], "accept");
    let held = pipe(&["check", "-", "--limit-held", "100"], &bytes);
    assert_eq!(held.code, Some(2));
    assert!(held.err.contains("--limit-held"), "{}", held.err);
    assert_eq!(
        json(&pipe(&["check", "-", "--format", "json"], b"").out)[0]["findings"][0]["rule"],
        "STORE-1"
    );
    assert!(pipe(&["check", "-"], good().as_bytes()).out.contains("<stdin>: accept (7 events)"));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let rules = corpora("rules");
    let mut child =
        foldproof(&["check", &rules]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    drop(out);
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    // Of the files themselves there is something to be said: some of them are one session, damaged in several ways.
    assert!(err.lines().all(|line| line.starts_with("warning: ")), "{err}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn folders() {
    let folder = Folder::new();
    folder.write("logs/b.jsonl", good());
    folder.write("logs/a/z.jsonl", good());
    folder.write("logs/a.jsonl/inside.jsonl", good());
    folder.write("logs/notes.txt", "not a log");
    folder.write("logs/c.json", "not a log");
    std::fs::copy(corpora("sessions/compaction.jsonl.zstd"), folder.path("logs/c.jsonl.zstd")).unwrap();
    std::fs::copy(corpora("sessions/compaction.jsonl.zstd"), folder.path("logs/d.zst")).unwrap();
    let logs = folder.path("logs");
    let names = |ran: &Ran| -> Vec<String> {
        json(&ran.out)
            .iter()
            .map(|log| log["path"].as_str().unwrap().replace(&format!("{logs}/"), ""))
            .collect()
    };
    let ran = run(&["check", &logs, "--format", "json"]);
    assert_eq!(names(&ran), ["a/z.jsonl", "a.jsonl/inside.jsonl", "b.jsonl", "c.jsonl.zstd", "d.zst"]);
    assert_eq!(ran.code, Some(0));
    for jobs in ["1", "2", "7"] {
        assert_eq!(run(&["check", &logs, "--format", "json", "--jobs", jobs]).out, ran.out);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("..", folder.path("logs/a/up")).unwrap();
        symlink(".", folder.path("logs/self")).unwrap();
        symlink("b.jsonl", folder.path("logs/same.jsonl")).unwrap();
        let again = run(&["check", &logs, "--format", "json"]);
        assert_eq!(names(&again), names(&ran), "links neither loop nor double");
        symlink("nowhere", folder.path("logs/a/broken.jsonl")).unwrap();
        let broken = run(&["check", &logs, "--format", "json"]);
        assert_eq!((broken.code, names(&broken)), (Some(2), names(&ran)));
        assert!(broken.err.contains("a/broken.jsonl"), "{}", broken.err);
        // On a pipe nobody writes to, reading would never end.
        assert!(
            std::process::Command::new("mkfifo").arg(folder.path("logs/p.jsonl")).status().unwrap().success()
        );
        assert_eq!(names(&run(&["check", &logs, "--format", "json"])), names(&ran));
    }
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_told_and_the_rest_checked() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.write("a.jsonl", good());
    let closed = folder.write("b.jsonl", good());
    folder.write("locked/c.jsonl", good());
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    std::fs::set_permissions(folder.path("locked"), std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&closed).is_err() {
        let ran = run(&["check", &folder.path(""), "--format", "json"]);
        assert_eq!((ran.code, ran.out.lines().count()), (Some(2), 1));
        assert!(ran.err.contains("b.jsonl") && ran.err.contains("locked"), "{}", ran.err);
    }
    std::fs::set_permissions(folder.path("locked"), std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn selecting_and_ignoring() {
    let folder = Folder::new();
    // Two turns numbered 2 (LIFE-1 twice), in an open turn (REPAIR-2).
    let path = folder.write("a.jsonl", log(&[r#"{"type":"turn/start","data":{"turn":2}}"#]));
    let found = |args: &[&str]| {
        let ran = run(&[&["check", path.as_str(), "--format", "json"], args].concat());
        let log = &json(&ran.out)[0];
        let list: Vec<String> = rules(log).iter().map(|rule| (*rule).to_owned()).collect();
        (list.join(" "), log["verdict"].as_str().unwrap().to_owned(), ran.code.unwrap())
    };
    let expect = |rules: &str, verdict: &str, code| (rules.to_owned(), verdict.to_owned(), code);
    assert_eq!(found(&[]), expect("LIFE-1 REPAIR-2", "relation", 1));
    assert_eq!(found(&["--select", "REPAIR"]), expect("REPAIR-2", "repairable", 1));
    assert_eq!(found(&["--select", "surf,life-1"]), expect("LIFE-1", "relation", 1));
    assert_eq!(found(&["--select", "SURF", "--select", "PAIR"]), expect("", "accept", 0));
    assert_eq!(found(&["--ignore", "LIFE"]), expect("REPAIR-2", "repairable", 1));
    assert_eq!(found(&["--ignore", "LIFE", "--ignore", "REPAIR-2"]), expect("", "accept", 0));
    let unknown = run(&["check", &path, "--select", "SURF-55"]);
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.err.contains("SURF-55") && unknown.err.contains("did you mean SURF-5?"),
        "{}",
        unknown.err
    );
}

#[test]
fn an_ignored_number_does_not_end_the_fold() {
    let folder = Folder::new();
    let rounded = r#"{"type":"session/title","data":{"title":"t","n":9007199254740993}}"#;
    let path = folder.write("a.jsonl", log(&[TURN, rounded, r#"{"type":"turn/start","data":{"turn":2}}"#]));
    let log = |args: &[&str]| {
        json(&run(&[&["check", path.as_str(), "--format", "json"], args].concat()).out)[0].clone()
    };
    assert_eq!((rules(&log(&[])), log(&[])["events"].as_u64()), (vec!["JSON-3"], Some(1)));
    let ignored = log(&["--ignore", "JSON-3"]);
    assert_eq!((rules(&ignored), ignored["events"].as_u64()), (vec!["LIFE-1", "REPAIR-2"], Some(3)));
}

#[test]
fn keeping_going_and_capping() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", log(&[TURN, BAD_REPLACE, BAD_REPLACE, BAD_REPLACE, TURN_END]));
    let stopped = &json(&run(&["check", &path, "--format", "json"]).out)[0];
    assert_eq!((rules(stopped).len(), stopped["events"].as_u64()), (1, Some(1)));
    let all = &json(&run(&["check", &path, "--format", "json", "--keep-going"]).out)[0];
    assert_eq!((rules(all).len(), all["events"].as_u64(), &all["more"]), (3, Some(2), &Value::Null));
    let capped =
        &json(&run(&["check", &path, "--format", "json", "--keep-going", "--max-findings", "2"]).out)[0];
    assert_eq!((rules(capped).len(), capped["more"].as_u64()), (2, Some(1)));
    let human = run(&["check", &path, "--keep-going", "--max-findings", "2"]);
    assert_eq!(human.out.matches("error[SURF-5]").count(), 2);
    assert!(human.out.contains("… and 1 more\n"), "{}", human.out);
}

#[test]
fn notes_only_when_asked_for() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", good().replace("\"turn\":1}", "\"turn\": 1}"));
    let quiet = run(&["check", &path, "--format", "json"]);
    assert_eq!(json(&quiet.out)[0]["verdict"], "accept");
    let noted = run(&["check", &path, "--format", "json", "--notes"]);
    assert_eq!((noted.code, &json(&noted.out)[0]["verdict"]), (Some(0), &Value::from("note")));
    assert!(run(&["check", &path, "--notes"]).out.contains("note[JSON-7]"));
}

#[test]
fn limits() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", good());
    let ran = run(&["check", &path, "--limit-events", "3"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("a.jsonl") && ran.err.contains("--limit-events"), "{}", ran.err);
    let mut command = foldproof(&["check", &path]);
    command.env("FOLDPROOF_LIMIT_LINE", "20");
    let ran = finish(command);
    assert!(ran.code == Some(2) && ran.err.contains("FOLDPROOF_LIMIT_LINE"), "{ran:?}");
    let mut command = foldproof(&["check", &path, "--limit-line", "1M"]);
    command.env("FOLDPROOF_LIMIT_LINE", "20");
    assert_eq!(finish(command).code, Some(0), "a flag wins over the environment");
    let mut command = foldproof(&["check", &path]);
    command.env("FOLDPROOF_LIMIT_LINE", "many");
    assert_eq!(finish(command).code, Some(2));
    assert!(run(&["check", &path, "--limit-depth", "2"]).out.contains("error[JSON-5]"));
}

#[test]
fn dialects() {
    let folder = Folder::new();
    let tutorial = corpora("tutorial/kettle-price.jsonl");
    let ran = run(&["check", &tutorial, "--format", "json"]);
    assert_eq!(json(&ran.out)[0]["dialect"], "tutorial");
    let forced = run(&["check", &tutorial, "--format", "json", "--dialect", "dsh-v0"]);
    assert_eq!(
        (&json(&forced.out)[0]["dialect"], rules(&json(&forced.out)[0])),
        (&Value::from("dsh-v0"), vec!["STORE-1"])
    );
    let path = folder.write("a.jsonl", good());
    // A dialect of one's own that only renames the version: the log is then of another one.
    let own = folder.write("own.json", r#"{"name":"own","header":{"version":7}}"#);
    let named = run(&["check", &path, "--format", "json", "--dialect", &own]);
    assert_eq!(
        (&json(&named.out)[0]["dialect"], rules(&json(&named.out)[0])),
        (&Value::from("own"), vec!["STORE-2"]),
        "{named:?}"
    );
    let broken = folder.write("broken.json", r#"{"name":"own","surfaces":[]}"#);
    let broken = run(&["check", &path, "--dialect", &broken]);
    assert!(broken.code == Some(2) && broken.err.contains("surfaces"), "{}", broken.err);
    let unknown = run(&["check", &path, "--dialect", "klingon"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("tutorial"), "{}", unknown.err);
}

#[test]
fn rubbish_confuses_nothing() {
    let folder = Folder::new();
    let mut noise = 1u32;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (noise >> 24) as u8
    })
    .take(5000)
    .collect();
    for name in ["a.jsonl", "b.jsonl.zstd", "c.zst"] {
        folder.write(name, &bytes);
        folder.write(&format!("empty-{name}"), "");
    }
    folder.write("nul.jsonl", [0; 100]);
    folder.write("newlines.jsonl", "\n\n\n");
    let ran = run(&["check", &folder.path(""), "--format", "json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    assert_eq!(json(&ran.out).len(), 8);
    assert!(json(&ran.out).iter().all(|log| log["verdict"] == "corrupt" && log["events"] == 0));
    assert_eq!(run(&["check", &folder.path("")]).code, Some(1));
}

#[test]
fn nothing_in_a_log_reaches_the_terminal_as_a_command() {
    let folder = Folder::new();
    let hostile = "\u{1b}[31m\u{202e}\u{9b}\u{e000}:1:1\r\u{7}";
    let path = folder.write("a.jsonl", log(&[&TURN.replace("turn/start", &format!("x{hostile}"))]));
    let odd = folder
        .write("b\u{1b}[2J.jsonl", log(&[&format!(r#"{{"type":"x{}","data":1}}"#, "\u{202e}\u{e000}")]));
    for path in [path, odd] {
        let ran = run(&["check", &path, "--color", "never"]);
        assert_eq!(ran.code, Some(1));
        for c in ['\u{1b}', '\u{202e}', '\u{9b}', '\u{e000}', '\r', '\u{7}'] {
            assert!(!ran.out.contains(c), "{c:?} in {}", ran.out);
        }
    }
}

#[test]
fn colour() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", log(&[TURN]));
    assert!(!run(&["check", &path]).out.contains('\u{1b}'), "stdout is no terminal");
    assert!(run(&["check", &path, "--color", "always"]).out.contains('\u{1b}'));
    let mut command = foldproof(&["check", &path]);
    command.env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1");
    assert!(!finish(command).out.contains('\u{1b}'));
}

#[test]
fn the_place_is_that_of_the_file_whatever_the_line_holds() {
    let folder = Folder::new();
    // Wide characters and a long text in front of the place: the column counts bytes, the caret stands under the value.
    let text = "步".repeat(3000);
    let event =
        BAD_REPLACE.replace("\"content\":[]", &format!(r#""content":[{{"type":"text","text":"{text}"}}]"#));
    let path = folder.write("a.jsonl", log(&[TURN, STEP, ASK, &event]));
    let line = folder.read("a.jsonl").lines().nth(4).unwrap().to_owned();
    let column = line.find("\"start\":0").unwrap() + 9;
    let ran = run(&["check", &path]);
    assert!(ran.out.contains(&format!("{path}:5:{column}\n")), "{}", ran.out);
    let lines: Vec<&str> = ran.out.lines().collect();
    let caret =
        lines.iter().position(|line| line.trim_start().starts_with("| ") && line.contains('^')).unwrap();
    let shown = lines[caret - 1].chars().zip(lines[caret].chars()).find(|(_, mark)| *mark == '^').unwrap().0;
    assert_eq!(shown, '0', "{}", ran.out);
    assert!(lines[caret - 1].chars().count() < 110);
}

#[test]
fn sarif_and_junit() {
    let folder = Folder::new();
    folder.write("logs/a b.jsonl", log(&[TURN, STEP, ASK, BAD_REPLACE]));
    folder.write("logs/good.jsonl", good());
    folder.write("logs/open.jsonl", log(&[TURN]));
    let (sarif, junit) = (folder.path("out.sarif"), folder.path("out.xml"));
    let logs = folder.path("logs");
    let ran = run(&[
        "check",
        &logs,
        "--sarif",
        &sarif,
        "--junit",
        &junit,
        "--format",
        "json",
        "--allow",
        "repairable",
    ]);
    assert_eq!(ran.code, Some(1));
    let sarif: Value = serde_json::from_str(&folder.read("out.sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run_of = &sarif["runs"][0];
    assert_eq!(run_of["tool"]["driver"]["name"], "foldproof");
    let results = run_of["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    let first = &results[0];
    assert_eq!((&first["ruleId"], &first["level"]), (&Value::from("SURF-5"), &Value::from("error")));
    let place = &first["locations"][0]["physicalLocation"];
    assert!(place["artifactLocation"]["uri"].as_str().unwrap().ends_with("/a%20b.jsonl"));
    assert_eq!(place["region"]["startLine"], 5);
    let index = first["ruleIndex"].as_u64().unwrap() as usize;
    assert_eq!(run_of["tool"]["driver"]["rules"][index]["id"], "SURF-5");
    let junit = folder.read("out.xml");
    assert!(junit.contains(r#"tests="3""#) && junit.contains(r#"failures="1""#), "{junit}");
    assert!(junit.contains("SURF-5"), "{junit}");
    // A log is not written over by a slip of the command line.
    let good = folder.path("logs/good.jsonl");
    assert_eq!(run(&["check", &good, "--sarif", &good]).code, Some(2));
    assert_eq!(folder.read("logs/good.jsonl"), support::good());
    assert_eq!(run(&["check", &good, "--sarif", &folder.path("no/such/folder")]).code, Some(2));
}

#[test]
fn summary() {
    let sessions = corpora("sessions");
    let ran = run(&["check", &sessions]);
    // 41 sessions: five are repairable by their README, the others accepted.
    let last = ran.out.lines().last().unwrap();
    assert!(last.starts_with("checked 41 logs, ") && last.ends_with(": 36 accept, 5 repairable"), "{last}");
    assert!(ran.out.contains("/never-used.jsonl: accept (0 events)\n"));
    assert_eq!(run(&["check", &sessions, "--allow", "repairable"]).code, Some(0));
}

fn fork_family(parent: &str, child: &str) -> (Folder, Vec<Value>) {
    let folder = Folder::new();
    folder.write("family/p.jsonl", parent);
    folder.write("family/c.jsonl", child);
    let ran = run(&["check", &folder.path("family"), "--format", "json"]);
    let logs = json(&ran.out);
    (folder, logs)
}

#[test]
fn forks_are_compared_with_their_parent() {
    let read = |name: &str| std::fs::read_to_string(corpora(&format!("sessions/{name}"))).unwrap();
    let (parent, child) = (read("fork-parent.jsonl"), read("fork-child.jsonl"));
    let (_folder, logs) = fork_family(&parent, &child);
    assert!(logs.iter().all(|log| log["verdict"] == "accept"), "{logs:?}");

    // The first 16 events of the child are inherited; one of them tells another story.
    let other = child.replacen("BARGE.", "BARQUE.", 1);
    let (_folder, logs) = fork_family(&parent, &other);
    assert_eq!((rules(&logs[0]), &logs[0]["verdict"]), (vec!["FORK-4"], &Value::from("relation")));
    let inherited = other.lines().position(|line| line.contains("BARQUE.")).unwrap();
    assert_eq!(logs[0]["findings"][0]["line"], inherited as u64 + 1);
    assert_eq!(logs[0]["findings"][0]["seq"], inherited as u64 - 1);
    assert_eq!(logs[1]["verdict"], "accept", "the finding is the child's");

    let moved = child.replacen("/home/mo/puzzles", "/home/mo/elsewhere", 1);
    let (_folder, logs) = fork_family(&parent, &moved);
    assert_eq!(rules(&logs[0]), ["FORK-3"]);
    assert_eq!(
        (&logs[0]["findings"][0]["line"], &logs[0]["findings"][0]["seq"]),
        (&Value::from(1), &Value::Null)
    );
    let deeper = child.replacen("\"delegationDepth\":0", "\"delegationDepth\":1", 1);
    assert_eq!(rules(&fork_family(&parent, &deeper).1[0]), ["FORK-3"]);

    // Only spelled otherwise: the canonical forms are the same.
    let spaced = child.replacen("\"turn\":1}", "\"turn\" : 1 }", 1);
    assert_eq!(rules(&fork_family(&parent, &spaced).1[0]), Vec::<&str>::new());

    // A parent that lost its end holds fewer events than were inherited.
    let short: String = parent.lines().take(10).map(|line| format!("{line}\n")).collect();
    assert!(rules(&fork_family(&short, &child).1[0]).contains(&"FORK-4"));

    // Of two logs with the parent's id nobody knows which one it was.
    let (folder, _) = fork_family(&parent, &other);
    folder.write("family/p2.jsonl", &parent);
    let ran = run(&["check", &folder.path("family"), "--format", "json"]);
    assert!(json(&ran.out).iter().all(|log| log["verdict"] == "accept"), "{}", ran.out);

    // The released reader opens one file at a time.
    let (folder, _) = fork_family(&parent, &other);
    assert_eq!(run(&["check", "--reader", &folder.path("family")]).code, Some(0));
    assert_eq!(run(&["check", "--ignore", "FORK", &folder.path("family")]).code, Some(0));
}

#[test]
fn packed_and_compressed_parents_are_the_same_parents() {
    let folder = Folder::new();
    // A child of a packed log, which holds the same events one by one.
    let plain = std::fs::read_to_string(corpora("sessions/retries.jsonl")).unwrap();
    let header = plain.lines().next().unwrap();
    let id = header.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap();
    let child = plain.replacen(&format!("\"id\":\"{id}\""), "\"id\":\"child\"", 1).replacen(
        "\"delegationDepth\":0",
        &format!("\"parentSession\":\"{id}\",\"seedLength\":47,\"delegationDepth\":0"),
        1,
    );
    std::fs::copy(corpora("sessions/retries.packed.jsonl"), folder.path("p.jsonl")).unwrap();
    folder.write("c.jsonl", &child);
    let ran = run(&["check", &folder.path(""), "--format", "json"]);
    assert!(json(&ran.out).iter().all(|log| log["verdict"] == "accept"), "{}", ran.out);
    folder.write("c.jsonl", child.replacen("Colour", "Color", 1));
    let ran = run(&["check", &folder.path(""), "--format", "json"]);
    assert!(rules(&json(&ran.out)[0]).contains(&"FORK-4"), "{}", ran.out);
}

#[test]
fn a_spawned_subagent_is_no_fork() {
    let sessions = |name: &str| corpora(&format!("sessions/{name}"));
    let ran = run(&["check", &sessions("subagent-parent.jsonl"), &sessions("subagent-child.jsonl")]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
}

#[cfg(unix)]
#[test]
fn an_interrupt_reports_what_was_found() {
    let folder = Folder::new();
    let path = folder.write("a.jsonl", good());
    let mut child = foldproof(&["check", &path, "-", "--format", "json", "--jobs", "2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(json(&line)[0]["verdict"], "accept");
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    // Waiting for the child would close its stdin, which would end the log that it waits for.
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    };
    assert_eq!(status.code(), Some(130));
}
