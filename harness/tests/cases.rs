//! The case format: what is written is read back, and what is no case is told by place.

use foldproof_harness::case::*;

/// Every operation, with every form of every argument.
fn everything() -> Case {
    let op = |session: &str, call| Op::new(session, call);
    let append = |data: Template, surface_op, sources| {
        let kind = "a\"type".to_owned();
        Call::Append(Append { kind, data, surface_op, sources, time: -9_007_199_254_740_991 })
    };
    let mut hole = Template::from("{\"a\":");
    hole.push_seq(Ref::Op(0));
    hole.push(",\"b\":");
    hole.push_seq(Ref::Seq(7));
    hole.push_seq(Ref::Text("1.0".into()));
    hole.push(Payload(vec![b'}', 0xff]));
    let replace = SurfaceOp::Replace { start: Ref::Op(1), end: Ref::Text("-0".into()) };
    let sources =
        Sources::Seqs(vec![Ref::Op(1), Ref::Seq(9_007_199_254_740_991), Ref::Text("\u{7f}".into())]);
    let request = |how| RequestSource::Tampered { op: 4, how };
    let step = StepOf { turn: 1, step: 2, attempt: 3 };
    let mut ops = vec![
        op(
            "a",
            Call::Open {
                header: Some("{}".into()),
                inherited: Some(Inherited::Events(vec!["\\ud800".into()])),
            },
        ),
        op("a", append("".into(), Some(SurfaceOp::Append), Some(Sources::Seqs(vec![])))),
        op("a", append(hole, Some(replace), Some(sources))),
        op(
            "a",
            append(
                Payload(vec![0xfe]).into(),
                Some(SurfaceOp::Text("[]".into())),
                Some(Sources::Text("{".into())),
            ),
        ),
        op("a", Call::View { view: View::Request, at: Some(Ref::Op(1)), step: Some(step) }),
        op("a", Call::Fork { boundary: Some(Ref::Text("0.5".into())), child: "b".into() }),
        op(
            "c",
            Call::Restore {
                log: LogSource::Bytes(Payload(vec![0x28, 0xb5, 0xff])),
                encoding: Encoding::Zstd,
            },
        ),
        op("c", Call::Dump { packed: true, encoding: Encoding::Zstd }),
        op("d", Call::Restore { log: LogSource::Dump(7), encoding: Encoding::Plain }),
        op("e", Call::Open { header: None, inherited: Some(Inherited::Op(4)) }),
        op("a", Call::CheckRequest { request: RequestSource::Text("null".into()) }),
        op("a", Call::Repair),
        op("a", Call::Observed),
    ];
    ops.extend(View::ALL.map(|view| op("a", Call::view(view))));
    ops.extend(
        [Behaviour::Record, Behaviour::Throw, Behaviour::Reenter]
            .map(|behaviour| op("a", Call::Observe { behaviour })),
    );
    ops.extend(
        [Mutation::Input, Mutation::Events, Mutation::Messages].map(|what| op("a", Call::Mutate { what })),
    );
    let tamperings = [
        Tampering::None,
        Tampering::ChangeMember(0),
        Tampering::RemoveMember(1),
        Tampering::AddMember(2),
        Tampering::MoveMember(3),
        Tampering::RenameMember(4),
        Tampering::ChangeMessage(5, 6),
        Tampering::DropMessage(7),
        Tampering::DoubleMessage(8),
        Tampering::SwapMessages(9),
    ];
    ops.extend(tamperings.map(|how| op("a", Call::CheckRequest { request: request(how) })));
    Case {
        system: "adapter:x".into(),
        property: Some("cached-equals-fresh".into()),
        rule: Some("SURF-5".into()),
        seed: Some(0xdead_beef),
        index: Some(77),
        // Kept as it is: a lone surrogate survives.
        schedule: Some(r#"["\ud800",1e+21]"#.into()),
        faults: Some("[]".into()),
        outcome: Some(Recorded {
            status: Status::Failed,
            property: Some("cached-equals-fresh".into()),
            rule: Some("PROJ-3".into()),
            op: Some(3),
            message: Some("m".into()),
            expected: Some("\\ud800".into()),
            got: Some("".into()),
        }),
        ..Case::new("dsh-v0", ops)
    }
}

#[test]
fn what_is_written_is_read_back() {
    let case = everything();
    let text = case.to_bytes();
    assert_eq!(Case::parse(&text).as_ref(), Ok(&case));
    assert_eq!(Case::parse(&text).expect("read").to_bytes(), text);
    assert_eq!(Case::from_inline(&case.to_inline()).as_ref(), Ok(&case));
    // A small case is not worth compressing; both forms are read.
    let small = Case::new("tutorial", vec![]);
    assert_eq!(Case::from_inline(&format!(" {}\n", small.to_inline())).as_ref(), Ok(&small));
    let blob = case.to_inline();
    assert!(blob.len() < text.len() && blob.bytes().all(|byte| byte.is_ascii_graphic()));
}

#[test]
fn the_form_is_the_one_that_is_written_down() {
    let ops = vec![
        Op::new("a", Call::Open { header: None, inherited: None }),
        Op::new(
            "a",
            Call::Append(Append {
                kind: "user/message".into(),
                data: "{}".into(),
                surface_op: Some(SurfaceOp::Replace { start: Ref::Op(0), end: Ref::Seq(3) }),
                sources: Some(Sources::Seqs(vec![Ref::Op(0)])),
                time: 5,
            }),
        ),
    ];
    let expected = concat!(
        r#"{"foldproof":1,"contract":1,"dialect":"dsh-v0","system":"core","property":null,"rule":null,"seed":null,"index":null,"ops":["#,
        "\n",
        r#"{"op":"open","session":"a"},"#,
        "\n",
        r#"{"op":"append","session":"a","type":"user/message","dataText":"{}","surfaceOp":{"op":"replace","start":{"op":0},"end":3},"sourceEventSeqs":[{"op":0}],"time":5}"#,
        "\n",
        r#"],"outcome":null}"#,
        "\n"
    );
    assert_eq!(String::from_utf8_lossy(&Case::new("dsh-v0", ops).to_bytes()), expected);
}

#[test]
fn errors_name_place_expected_and_found() {
    let whole =
        |ops: &str| format!(r#"{{"foldproof":1,"contract":1,"dialect":"d","system":"s","ops":{ops}}}"#);
    let told = |text: &str| Case::parse(text.as_bytes()).expect_err(text).to_string();
    assert_eq!(told(""), "byte 0: expected a value, found something else");
    assert_eq!(told("[]"), "the case: expected an object, found []");
    assert_eq!(
        told(r#"{"foldproof":2,"x":1}"#),
        "foldproof: expected a number from 1 to 1 (a larger one is of a newer foldproof: upgrade), found 2"
    );
    assert_eq!(
        told(r#"{"foldproof":1,"contract":2}"#),
        "contract: expected a number from 1 to 1 (a larger one is of a newer foldproof: upgrade), found 2"
    );
    assert_eq!(told(&whole("1")), "ops: expected an array, found 1");
    assert_eq!(told(&whole(r#"[{"op":"repair"}]"#)), "ops[0]: expected a member \"session\", found none");
    assert_eq!(
        told(&whole(r#"[{"op":"fly","session":"a"}]"#)),
        "ops[0].op: expected an operation of the adapter protocol, found \"fly\""
    );
    assert_eq!(
        told(&whole(r#"[{"op":"repair","session":"a","x":1}]"#)),
        "ops[0].x: expected one of op, session, found the member \"x\""
    );
    let fork = |boundary: &str| {
        whole(&format!(r#"[{{"op":"fork","session":"a","boundary":{boundary},"child":"b"}}]"#))
    };
    assert_eq!(
        told(&fork(r#"{"op":0}"#)),
        "ops[0].boundary.op: expected the place of an earlier operation, at most 0, found 0"
    );
    assert_eq!(told(&fork("-1")), "ops[0].boundary: expected a safe integer that is not negative, found -1");
    assert_eq!(
        told(&whole(r#"[{"op":"open","session":"\ud800"}]"#)),
        "ops[0].session: expected a string without lone surrogates, found \"\\ud800\""
    );
    assert_eq!(told(r#"{"foldproof":1,"foldproof":1}"#), "byte 15: expected lossless JSON, found JSON-6");
    assert!(Case::from_inline("fp2:AA").is_err() && Case::from_inline("fp1:!").is_err());
    assert!(Case::from_inline("fp1:KLUv_QAA").is_err());
}

#[test]
fn no_text_makes_reading_panic() {
    let text = everything().to_bytes();
    for cut in 0..text.len() {
        let _ = Case::parse(&text[..cut]);
        let mut other = text.clone();
        other[cut] ^= 0x11;
        let _ = Case::parse(&other);
        other.remove(cut);
        let _ = Case::parse(&other);
    }
}
