//! Checks a value against a JSON schema. It knows the keywords that the schemas here use, and panics at one that it does
//! not know, so that nothing passes because it was not looked at.

use serde_json::Value;

/// Keywords that say nothing about a value.
const SILENT: &[&str] = &[
    "$schema",
    "$id",
    "title",
    "description",
    "default",
    "definitions",
    "$defs",
    "required",
    "items",
    "properties",
];

/// Why a value does not fit a schema.
pub fn fits(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let Some(keywords) = schema.as_object() else {
        return if schema == &Value::Bool(false) { Err(format!("{value} may not be there")) } else { Ok(()) };
    };
    for (keyword, wanted) in keywords {
        let fine = match keyword.as_str() {
            "$ref" => {
                let pointer =
                    wanted.as_str().unwrap().strip_prefix('#').expect("a reference within the schema");
                fits(root, root.pointer(pointer).expect("what it names"), value)?;
                true
            }
            "anyOf" | "oneOf" => {
                let tried: Vec<_> =
                    wanted.as_array().unwrap().iter().map(|schema| fits(root, schema, value)).collect();
                let count = tried.iter().filter(|result| result.is_ok()).count();
                if count == 0 {
                    return tried[0].clone();
                }
                keyword == "anyOf" || count == 1
            }
            "const" => wanted == value,
            "enum" => wanted.as_array().unwrap().contains(value),
            "type" => match wanted {
                Value::String(one) => is(value, one),
                several => several.as_array().unwrap().iter().any(|one| is(value, one.as_str().unwrap())),
            },
            "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= wanted.as_f64().unwrap()),
            "minItems" => value.as_array().is_none_or(|list| list.len() as u64 >= wanted.as_u64().unwrap()),
            "uniqueItems" => value.as_array().is_none_or(|list| {
                !wanted.as_bool().unwrap()
                    || (1..list.len()).all(|place| !list[..place].contains(&list[place]))
            }),
            "pattern" => value.as_str().is_none_or(|text| pattern(wanted.as_str().unwrap(), text)),
            "format" => value.as_str().is_none_or(|text| format(wanted.as_str().unwrap(), text)),
            "additionalProperties" => {
                for (name, member) in value.as_object().into_iter().flatten() {
                    if schema["properties"].get(name).is_none() {
                        fits(root, wanted, member)
                            .map_err(|why| format!("{name}, which is not known: {why}"))?;
                    }
                }
                true
            }
            silent if SILENT.contains(&silent) => true,
            unknown => panic!("the keyword {unknown} is not known here"),
        };
        if !fine {
            return Err(format!("{value} does not fit {keyword} {wanted}"));
        }
    }
    for item in value.as_array().into_iter().flatten().filter(|_| schema.get("items").is_some()) {
        fits(root, &schema["items"], item)?;
    }
    if let Some(members) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten() {
            if !members.contains_key(name.as_str().unwrap()) {
                return Err(format!("{name} is missing"));
            }
        }
        for (name, member) in members {
            if let Some(schema) = schema["properties"].get(name) {
                fits(root, schema, member).map_err(|why| format!("{name}: {why}"))?;
            }
        }
    }
    Ok(())
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        unknown => panic!("the type {unknown} is not known here"),
    }
}

/// The patterns that are met, read by hand.
fn pattern(pattern: &str, text: &str) -> bool {
    match pattern {
        "^[A-Z]+-[0-9]+$" => text.split_once('-').is_some_and(|(area, number)| {
            let all =
                |text: &str, fits: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(fits);
            all(area, u8::is_ascii_uppercase) && all(number, u8::is_ascii_digit)
        }),
        unknown => panic!("the pattern {unknown} is not known here"),
    }
}

/// RFC 3986, as far as characters go; a `uri` has a scheme.
fn format(format: &str, text: &str) -> bool {
    let characters = |text: &str| {
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            let mut escaped = || bytes.next().zip(bytes.next());
            let fine = match byte {
                b'%' => escaped().is_some_and(|(a, b)| a.is_ascii_hexdigit() && b.is_ascii_hexdigit()),
                _ => byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte),
            };
            if !fine {
                return false;
            }
        }
        true
    };
    match format {
        "uri-reference" => characters(text),
        "uri" => {
            let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
            characters(text)
                && scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
                && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        }
        unknown => panic!("the format {unknown} is not known here"),
    }
}
