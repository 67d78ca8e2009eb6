//! Section 1.

use crate::model::canonical;

fn json(text: &str) -> Result<String, &'static str> {
    canonical(text.as_bytes())
}

#[test]
fn canonical_bytes() {
    let pairs = [
        (" [ 1 , 2 ] ", "[1,2]"),
        ("1e21", "1e+21"),
        ("1e-7", "1e-7"),
        ("100000000000000000000", "100000000000000000000"),
        ("1.0", "1"),
        ("1e3", "1000"),
        ("0.1", "0.1"),
        ("5e-324", "5e-324"),
        ("0e999999999999999999999999999999999999999999", "0"),
        (r#""\u0041\/\u001F\u007f\u2028""#, "\"A/\\u001f\u{7f}\u{2028}\""),
        (r#""\b\t\n\f\r\"\\""#, r#""\b\t\n\f\r\"\\""#),
        (r#""\uD800x\ud83d\ude00""#, "\"\\ud800x\u{1f600}\""),
        (
            r#"{"b":1,"10":2,"9":3,"01":4,"4294967294":5,"4294967295":6,"":7,"__proto__":8}"#,
            r#"{"9":3,"10":2,"4294967294":5,"b":1,"01":4,"4294967295":6,"":7,"__proto__":8}"#,
        ),
    ];
    for (text, bytes) in pairs {
        assert_eq!(json(text).as_deref(), Ok(bytes), "{text}");
    }
}

#[test]
fn faults() {
    let pairs = [
        ("1e400", "JSON-1"),
        ("-0", "JSON-2"),
        ("-0.0", "JSON-2"),
        ("-0e5", "JSON-2"),
        ("9007199254740993", "JSON-3"),
        ("0.1000000000000000055", "JSON-3"),
        ("1e-400", "JSON-3"),
        ("-1e-400", "JSON-3"),
        (r#"{"a":1,"\u0061":2}"#, "JSON-6"),
        (r#"[-0,1e400]"#, "JSON-2"),
        (r#"[1e400,-0]"#, "JSON-1"),
        ("01", "grammar"),
        ("[1,]", "grammar"),
        ("{\"a\" 1}", "grammar"),
        ("\"\u{1}\"", "grammar"),
        ("\"\\u+123\"", "grammar"),
        ("[-0", "grammar"),
        ("", "grammar"),
        ("1 2", "grammar"),
    ];
    for (text, rule) in pairs {
        assert_eq!(json(text), Err(rule), "{text}");
    }
    assert_eq!(canonical(b"\"\xff\""), Err("JSON-4"));
}

#[test]
fn long_numbers_are_read_exactly() {
    let one = format!("0.{}1e1000001", "0".repeat(1_000_000));
    assert_eq!(json(&one).as_deref(), Ok("1"));
    let same = format!("1{}e-1000000", "0".repeat(1_000_000));
    assert_eq!(json(&same).as_deref(), Ok("1"));
}

#[test]
fn depth_is_a_limit_and_never_a_stack() {
    let nest = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(json(&nest(10_000)), Ok(nest(10_000)));
    assert_eq!(json(&nest(10_001)), Err("JSON-5"));
    assert_eq!(json(&nest(1_000_000)), Err("JSON-5"));
    // The innermost value of an array is one deeper than the array, but only containers nest.
    let objects = "{\"a\":".repeat(10_000) + "1" + &"}".repeat(10_000);
    assert_eq!(json(&objects), Ok(objects.clone()));
}
