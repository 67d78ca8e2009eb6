//! Dialects from data: a JSON object with the fields of [`Dialect`], or only those that differ from a base.

use super::*;
use crate::json::{Kind, Scanner, Value};

/// Why a dialect could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("dialect data, {place}: {message}")]
pub struct DialectError {
    /// The field, as a path such as `surface[1].part`.
    pub place: String,
    /// What was expected and found.
    pub message: String,
}

type Result<T> = std::result::Result<T, DialectError>;

/// Loads a dialect.
///
/// Takes JSON text. `name` is required; `base` names the built-in dialect that gives every field left out (`dsh-v0`
/// when it is left out itself). Lists replace those of the base, except `vocabulary`, `rules` and `roles`, which may
/// be given as `{"add":…,"remove":[…]}`. Unknown fields are refused, so that a misspelt one is not silently ignored.
///
/// ```
/// let dialect = foldproof::dialect::from_json(br#"{"name":"vendor-v5","replace":{"start":"from","end":"to"}}"#).unwrap();
/// assert_eq!(dialect.replace.start, "from");
/// assert_eq!(dialect.surface.len(), 3);
/// assert!(foldproof::dialect::from_json(br#"{"name":"x","surfaces":[]}"#).is_err());
/// ```
pub fn from_json(text: &[u8]) -> Result<Dialect> {
    let mut scanner = Scanner::new(64);
    let utf8 =
        std::str::from_utf8(text).map_err(|error| fail("the file", format!("expected UTF-8: {error}")))?;
    let scan = scanner
        .scan(utf8.as_bytes())
        .map_err(|error| fail("the file", format!("expected {} at byte {}", error.expected, error.at)))?;
    let root = scan.root();
    let base = match root.get("base") {
        None => dsh_v0(),
        Some(base) => {
            let name = string(base, "base")?;
            by_name(&name).ok_or_else(|| fail("base", format!("no built-in dialect is called {name:?}")))?
        }
    };
    let mut dialect = Dialect { released: false, index: Index::default(), ..base };
    let mut named = false;
    for (key, value) in fields(root, "the file")? {
        match key.as_str() {
            "name" => {
                dialect.name = string(value, "name")?;
                named = true;
            }
            "base" => {}
            "header" => {
                dialect.header =
                    if value.is_null() { None } else { Some(header(value, dialect.header.take())?) }
            }
            "packedRows" => dialect.packed_rows = flag(value, "packedRows")?,
            "replace" => dialect.replace = replace(value)?,
            "surface" => dialect.surface = list(value, "surface", surface_type)?,
            "roles" => roles(value, &mut dialect.roles)?,
            "retired" => dialect.retired = list(value, "retired", retired)?,
            "vocabulary" => vocabulary(value, &mut dialect.vocabulary)?,
            "unknown" => {
                let names = [
                    ("unless-ignorable", UnknownPolicy::UnlessIgnorable),
                    ("refuse", UnknownPolicy::Refuse),
                    ("keep", UnknownPolicy::Keep),
                ];
                dialect.unknown = one_of(value, "unknown", &names)?;
            }
            "seed" => dialect.seed = seed(value)?,
            "request" => dialect.request = request(value)?,
            "reasons" => dialect.reasons = list(value, "reasons", reason)?,
            "repairResults" => dialect.repair.results = flag(value, "repairResults")?,
            "rules" => rules(value, &mut dialect.rules)?,
            "released" => dialect.released = flag(value, "released")?,
            other => return Err(fail(other, "no such field".into())),
        }
    }
    if !named {
        return Err(fail("name", "expected a name, found none".into()));
    }
    Ok(dialect)
}

fn fail(place: &str, message: String) -> DialectError {
    DialectError { place: place.into(), message }
}

fn wrong(place: &str, want: &str, value: Value<'_>) -> DialectError {
    fail(place, format!("expected {want}, found {}", crate::event::describe(value)))
}

fn fields<'a>(value: Value<'a>, place: &str) -> Result<Vec<(String, Value<'a>)>> {
    if !value.is_object() {
        return Err(wrong(place, "an object", value));
    }
    Ok(value.members().map(|(key, value)| (key.display(), value)).collect())
}

fn list<'a, T>(value: Value<'a>, place: &str, each: fn(Value<'a>, &str) -> Result<T>) -> Result<Vec<T>> {
    if value.kind() != Kind::Array {
        return Err(wrong(place, "an array", value));
    }
    value.elements().enumerate().map(|(index, item)| each(item, &format!("{place}[{index}]"))).collect()
}

fn string(value: Value<'_>, place: &str) -> Result<String> {
    value.as_str().map(|text| text.display()).ok_or_else(|| wrong(place, "a string", value))
}

fn optional(value: Value<'_>, place: &str) -> Result<Option<String>> {
    if value.is_null() { Ok(None) } else { string(value, place).map(Some) }
}

fn flag(value: Value<'_>, place: &str) -> Result<bool> {
    if value.kind() == Kind::Bool { Ok(value.is_true()) } else { Err(wrong(place, "true or false", value)) }
}

fn one_of<T: Copy>(value: Value<'_>, place: &str, names: &[(&str, T)]) -> Result<T> {
    let known = value.as_str().and_then(|text| names.iter().find(|(name, _)| text.is(name)));
    known.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        wrong(place, &format!("one of {}", names.join(", ")), value)
    })
}

fn header(value: Value<'_>, base: Option<HeaderSpec>) -> Result<HeaderSpec> {
    let mut spec = base.unwrap_or(HeaderSpec {
        version: 0,
        required: vec![],
        optional: vec![],
        retired: vec![],
        exact: false,
    });
    for (key, value) in fields(value, "header")? {
        match key.as_str() {
            "version" => {
                spec.version =
                    value.as_uint().ok_or_else(|| wrong("header.version", "a version number", value))?
            }
            "required" => spec.required = header_members(value, "header.required")?,
            "optional" => spec.optional = header_members(value, "header.optional")?,
            "retired" => spec.retired = list(value, "header.retired", string)?,
            "exact" => spec.exact = flag(value, "header.exact")?,
            other => return Err(fail(&format!("header.{other}"), "no such field".into())),
        }
    }
    Ok(spec)
}

fn header_members(value: Value<'_>, place: &str) -> Result<Vec<(String, HeaderShape)>> {
    let shape = |name: String, value: Value<'_>| {
        let place = format!("{place}.{name}");
        if value.kind() == Kind::Array {
            return Ok((name, HeaderShape::OneOf(list(value, &place, string)?)));
        }
        let names =
            [("number", 0), ("text", 1), ("name", 2), ("count", 3), ("absolute-path", 4), ("flag", 5)];
        let shapes = [
            HeaderShape::Number,
            HeaderShape::Text,
            HeaderShape::Name,
            HeaderShape::Count,
            HeaderShape::AbsolutePath,
            HeaderShape::Flag,
        ];
        let index: usize = one_of(value, &place, &names)?;
        Ok((name, shapes[index].clone()))
    };
    fields(value, place)?.into_iter().map(|(name, value)| shape(name, value)).collect()
}

fn replace(value: Value<'_>) -> Result<ReplaceSpelling> {
    let mut spelling = ReplaceSpelling { start: "start".into(), end: "end".into(), exact: true };
    for (key, value) in fields(value, "replace")? {
        match key.as_str() {
            "start" => spelling.start = string(value, "replace.start")?,
            "end" => spelling.end = string(value, "replace.end")?,
            "exact" => spelling.exact = flag(value, "replace.exact")?,
            other => return Err(fail(&format!("replace.{other}"), "no such field".into())),
        }
    }
    Ok(spelling)
}

fn surface_type(value: Value<'_>, place: &str) -> Result<SurfaceType> {
    let mut surface = SurfaceType {
        kind: String::new(),
        part: Part::Input,
        message: vec![],
        shape: MessageShape {
            identified: true,
            role: None,
            source_kind: None,
            source_members: vec![],
            result: ResultShape::Plain,
        },
        empty_sources: false,
    };
    for (key, value) in fields(value, place)? {
        let here = format!("{place}.{key}");
        match key.as_str() {
            "kind" => surface.kind = string(value, &here)?,
            "part" => {
                let names = [("input", Part::Input), ("output", Part::Output), ("result", Part::Result)];
                surface.part = one_of(value, &here, &names)?;
            }
            "message" => surface.message = list(value, &here, string)?,
            "identified" => surface.shape.identified = flag(value, &here)?,
            "role" => surface.shape.role = optional(value, &here)?,
            "sourceKind" => surface.shape.source_kind = optional(value, &here)?,
            "sourceMembers" => surface.shape.source_members = list(value, &here, string)?,
            "result" => {
                let names = [
                    ("plain", ResultShape::Plain),
                    ("block", ResultShape::Block),
                    ("direct", ResultShape::Direct),
                ];
                surface.shape.result = one_of(value, &here, &names)?;
            }
            "emptySources" => surface.empty_sources = flag(value, &here)?,
            _ => return Err(fail(&here, "no such field".into())),
        }
    }
    if surface.kind.is_empty() {
        return Err(fail(place, "expected a kind, found none".into()));
    }
    Ok(surface)
}

/// The `add` and `remove` of a change to a table, or nothing when the table is given whole.
fn change<'a>(value: Value<'a>) -> Option<(Option<Value<'a>>, Option<Value<'a>>)> {
    let (add, remove) = (value.get("add"), value.get("remove"));
    let only = value.members().all(|(key, _)| key.is("add") || key.is("remove"));
    (value.is_object() && only && (add.is_some() || remove.is_some())).then_some((add, remove))
}

fn roles(value: Value<'_>, table: &mut BTreeMap<String, Role>) -> Result<()> {
    let names = [
        ("turn-start", Role::TurnStart),
        ("turn-end", Role::TurnEnd),
        ("step-start", Role::StepStart),
        ("step-end", Role::StepEnd),
        ("chunk", Role::Chunk),
        ("call", Role::Call),
        ("request-header", Role::RequestHeader),
        ("in-turn", Role::InTurn),
        ("end-seed", Role::EndSeed),
        ("inbox", Role::Inbox),
        ("compaction-start", Role::CompactionStart),
        ("compaction-summary", Role::CompactionSummary),
        ("compaction-end", Role::CompactionEnd),
        ("compaction-prune", Role::CompactionPrune),
        ("retry-started", Role::RetryStarted),
        ("other", Role::Other),
    ];
    let (add, remove) = change(value).unwrap_or_else(|| {
        table.clear();
        (Some(value), None)
    });
    for name in remove.map(|remove| list(remove, "roles.remove", string)).transpose()?.unwrap_or_default() {
        table.remove(&name);
    }
    for (kind, role) in add.map(|add| fields(add, "roles")).transpose()?.unwrap_or_default() {
        let role = one_of(role, &format!("roles.{kind}"), &names)?;
        table.insert(kind, role);
    }
    Ok(())
}

fn vocabulary(value: Value<'_>, table: &mut Vec<String>) -> Result<()> {
    let (add, remove) = change(value).unwrap_or_else(|| {
        table.clear();
        (Some(value), None)
    });
    let remove =
        remove.map(|remove| list(remove, "vocabulary.remove", string)).transpose()?.unwrap_or_default();
    table.retain(|name| !remove.contains(name));
    table.extend(add.map(|add| list(add, "vocabulary", string)).transpose()?.unwrap_or_default());
    Ok(())
}

fn rules(value: Value<'_>, table: &mut BTreeMap<Rule, Stage>) -> Result<()> {
    let names = [
        ("provider", Stage::Provider),
        ("publish", Stage::Publish),
        ("elsewhere", Stage::Elsewhere),
        ("ours", Stage::Ours),
    ];
    let rule =
        |id: &str| Rule::from_id(id).ok_or_else(|| fail(&format!("rules.{id}"), "no such rule".into()));
    let (add, remove) = change(value).unwrap_or_else(|| {
        table.clear();
        (Some(value), None)
    });
    for id in remove.map(|remove| list(remove, "rules.remove", string)).transpose()?.unwrap_or_default() {
        table.remove(&rule(&id)?);
    }
    for (id, stage) in add.map(|add| fields(add, "rules")).transpose()?.unwrap_or_default() {
        table.insert(rule(&id)?, one_of(stage, &format!("rules.{id}"), &names)?);
    }
    Ok(())
}

fn retired(value: Value<'_>, place: &str) -> Result<Retired> {
    let mut retired = Retired { kind: String::new(), when: None };
    let (mut member, mut text) = (None, None);
    for (key, value) in fields(value, place)? {
        let here = format!("{place}.{key}");
        match key.as_str() {
            "kind" => retired.kind = string(value, &here)?,
            "member" => member = Some(string(value, &here)?),
            "value" => text = Some(string(value, &here)?),
            _ => return Err(fail(&here, "no such field".into())),
        }
    }
    retired.when = member.zip(text);
    Ok(retired)
}

fn seed(value: Value<'_>) -> Result<SeedSpec> {
    let mut seed = SeedSpec { length: None, tag: None, marker: true };
    for (key, value) in fields(value, "seed")? {
        match key.as_str() {
            "length" => seed.length = optional(value, "seed.length")?,
            "tag" => seed.tag = optional(value, "seed.tag")?,
            "marker" => seed.marker = flag(value, "seed.marker")?,
            other => return Err(fail(&format!("seed.{other}"), "no such field".into())),
        }
    }
    Ok(seed)
}

fn request(value: Value<'_>) -> Result<RequestSpec> {
    let mut spec = RequestSpec { members: vec![], defaults: vec![] };
    for (key, value) in fields(value, "request")? {
        match key.as_str() {
            "members" => spec.members = list(value, "request.members", request_member)?,
            "defaults" => spec.defaults = list(value, "request.defaults", string)?,
            other => return Err(fail(&format!("request.{other}"), "no such field".into())),
        }
    }
    Ok(spec)
}

fn request_member(value: Value<'_>, place: &str) -> Result<HeaderMember> {
    let mut member = HeaderMember { name: String::new(), when: HeaderWhen::NotEmpty, in_request: true };
    for (key, value) in fields(value, place)? {
        let here = format!("{place}.{key}");
        match key.as_str() {
            "name" => member.name = string(value, &here)?,
            "when" => {
                member.when = one_of(
                    value,
                    &here,
                    &[("not-empty", HeaderWhen::NotEmpty), ("marks", HeaderWhen::Marks)],
                )?;
            }
            "inRequest" => member.in_request = flag(value, &here)?,
            _ => return Err(fail(&here, "no such field".into())),
        }
    }
    Ok(member)
}

fn reason(value: Value<'_>, place: &str) -> Result<ReasonSpec> {
    let mut reason = ReasonSpec { kind: String::new(), needs: None };
    let (mut member, mut strings) = (None, vec![]);
    for (key, value) in fields(value, place)? {
        let here = format!("{place}.{key}");
        match key.as_str() {
            "kind" => reason.kind = string(value, &here)?,
            "object" => member = Some(string(value, &here)?),
            "strings" => strings = list(value, &here, string)?,
            _ => return Err(fail(&here, "no such field".into())),
        }
    }
    reason.needs = member.map(|member| (member, strings));
    Ok(reason)
}
