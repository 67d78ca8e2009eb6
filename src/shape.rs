//! Shapes of messages and headers (contract, section 6). What is not named here is never looked at (SHAPE-5).

use crate::dialect::{Dialect, MessageShape, ResultShape, Role, SurfaceType};
use crate::event::{Event, describe, ill_typed};
use crate::finding::Violation;
use crate::json::{Kind, Value};
use crate::rule::{Rule, RuleSet};

/// The message of a surface event: `data` itself or a member of it.
#[inline]
pub fn message<'a>(surface: &SurfaceType, event: &Event<'a>) -> Option<Value<'a>> {
    let data = event.data?;
    surface.message.iter().try_fold(data, |value, key| value.get(key))
}

/// Checks SHAPE-1, 2, 3, 4, 7, 8: the first failure in the order 7, 1, 2, 3.
///
/// Takes the event and its message, as [`message`] found it.
#[inline]
pub fn check(
    dialect: &Dialect,
    rules: RuleSet,
    event: &Event<'_>,
    message: Option<Value<'_>>,
) -> Result<(), Violation> {
    match event.role {
        Role::Surface(place) => check_message(&dialect.surface[usize::from(place)], rules, event, message),
        Role::TurnStart | Role::TurnEnd if rules.has(Rule::Shape8) => check_turn(event),
        Role::RequestHeader if rules.has(Rule::Shape4) => check_header(dialect, event),
        _ => Ok(()),
    }
}

fn check_message(
    surface: &SurfaceType,
    rules: RuleSet,
    event: &Event<'_>,
    message: Option<Value<'_>>,
) -> Result<(), Violation> {
    if !rules.has(Rule::Shape1) {
        return Ok(());
    }
    let shape = &surface.shape;
    let data = event.data.unwrap_or(event.root);
    let Some(message) = message.filter(|message| message.is_object()) else {
        let name = surface.message.last().map_or("data", String::as_str);
        return Err(ill_typed(Rule::Shape1, message, data, name, "a message object"));
    };
    let found = Members::read(message);
    if !shape.identified {
        return match found.content {
            Some(_) => Ok(()),
            None => Err(ill_typed(Rule::Shape1, None, message, "content", "there")),
        };
    }
    if found.id.is_none() && found.role.is_none() {
        if rules.has(Rule::Shape7) {
            let text =
                "expected a message with id and role, found the shape used before messages had identities";
            return Err(Violation::new(Rule::Shape7, message.at(), text));
        }
        // The released reader gives such a message an identity while reading, whatever else it holds.
        return Ok(());
    }
    if !is_name(found.id) {
        return Err(ill_typed(Rule::Shape1, found.id, message, "id", "a string that is not empty"));
    }
    if let Some(role) = &shape.role
        && !found.role.and_then(Value::as_str).is_some_and(|found| found.is(role))
    {
        return Err(ill_typed(Rule::Shape1, found.role, message, "role", &format!("\"{role}\"")));
    }
    let Some(source) = found.source.filter(|source| source.is_object()) else {
        return Err(ill_typed(Rule::Shape1, found.source, message, "source", "an object"));
    };
    let kind = source.get("kind");
    if !is_name(kind) {
        return Err(ill_typed(Rule::Shape1, kind, source, "source.kind", "a string that is not empty"));
    }
    let Some(content) = found.content.filter(|content| content.kind() == Kind::Array) else {
        return Err(ill_typed(Rule::Shape1, found.content, message, "content", "an array"));
    };
    check_source(shape, rules, source, kind)?;
    check_result(shape, rules, message, source, content)
}

/// The rule that fixes a message's source: results have their own.
fn source_rule(shape: &MessageShape) -> Rule {
    if shape.result == ResultShape::Plain { Rule::Shape2 } else { Rule::Shape3 }
}

fn check_source(
    shape: &MessageShape,
    rules: RuleSet,
    source: Value<'_>,
    kind: Option<Value<'_>>,
) -> Result<(), Violation> {
    let rule = source_rule(shape);
    if !rules.has(rule) {
        return Ok(());
    }
    if let Some(want) = &shape.source_kind
        && !kind.and_then(Value::as_str).is_some_and(|found| found.is(want))
    {
        return Err(ill_typed(rule, kind, source, "source.kind", &format!("\"{want}\"")));
    }
    for name in &shape.source_members {
        let found = source.get(name);
        if !is_name(found) {
            return Err(ill_typed(
                rule,
                found,
                source,
                &format!("source.{name}"),
                "a string that is not empty",
            ));
        }
    }
    Ok(())
}

fn check_result(
    shape: &MessageShape,
    rules: RuleSet,
    message: Value<'_>,
    source: Value<'_>,
    content: Value<'_>,
) -> Result<(), Violation> {
    if !rules.has(Rule::Shape3) {
        return Ok(());
    }
    let holder = match shape.result {
        ResultShape::Plain => return Ok(()),
        ResultShape::Direct => message,
        ResultShape::Block => {
            let mut blocks = content.elements();
            let (Some(block), None) = (blocks.next(), blocks.next()) else {
                let count = content.elements().count();
                let found = if count > 0 { format!("{count} blocks") } else { describe(content) };
                let text = format!("expected content to be one tool-result block, found {found}");
                return Err(Violation::new(Rule::Shape3, content.at(), text));
            };
            let kind = block.get("type");
            if !kind.and_then(Value::as_str).is_some_and(|found| found.is("tool-result")) {
                return Err(ill_typed(Rule::Shape3, kind, block, "type", "\"tool-result\""));
            }
            let inner = block.get("content");
            if inner.is_none_or(|inner| inner.kind() != Kind::Array) {
                return Err(ill_typed(Rule::Shape3, inner, block, "content of the block", "an array"));
            }
            block
        }
    };
    let call = holder.get("toolCallId");
    let named = source.get("callId").and_then(Value::as_str);
    match (call.and_then(Value::as_str), named) {
        (Some(call), Some(named)) if call == named => Ok(()),
        (_, named) => {
            let named = named.map(|named| format!(" (\"{}\")", named.display())).unwrap_or_default();
            let want = format!("source.callId{named}");
            Err(ill_typed(Rule::Shape3, call, holder, "toolCallId", &want))
        }
    }
}

fn check_turn(event: &Event<'_>) -> Result<(), Violation> {
    let Some(data) = event.data.filter(|data| data.is_object()) else {
        return Err(ill_typed(Rule::Shape8, event.data, event.root, "data", "an object"));
    };
    if event.role == Role::TurnEnd
        && let Some((key, value)) = data.members().find(|(key, _)| !key.is("turn") && !key.is("reason"))
    {
        let text = format!("expected only turn and reason in turn/end, found \"{}\"", key.display());
        return Err(Violation::new(Rule::Shape8, value.at(), text));
    }
    Ok(())
}

fn check_header(dialect: &Dialect, event: &Event<'_>) -> Result<(), Violation> {
    let header = event.field("header");
    let parent = event.data.unwrap_or(event.root);
    let Some(header) = header.filter(|header| header.is_object()) else {
        return Err(ill_typed(Rule::Shape4, header, parent, "header", "an object"));
    };
    let config = header.get("config");
    let Some(config) = config.filter(|config| config.is_object()) else {
        return Err(ill_typed(Rule::Shape4, config, header, "header.config", "an object"));
    };
    for name in ["provider", "model"] {
        let found = config.get(name);
        if !is_name(found) {
            return Err(ill_typed(
                Rule::Shape4,
                found,
                config,
                &format!("config.{name}"),
                "a string that is not empty",
            ));
        }
    }
    let effort = config.get("reasoningEffort");
    if effort.is_some() && !is_name(effort) {
        return Err(ill_typed(
            Rule::Shape4,
            effort,
            config,
            "config.reasoningEffort",
            "a string that is not empty",
        ));
    }
    let Some(defaults) = header.get("adapterDefaults") else { return Ok(()) };
    if !defaults.is_object() {
        return Err(ill_typed(Rule::Shape4, Some(defaults), header, "adapterDefaults", "an object"));
    }
    for (key, value) in defaults.members() {
        let listed = dialect.request.defaults.iter().find(|name| key.is(name));
        let Some(name) = listed else {
            let text = format!(
                "expected adapterDefaults to mark only {}, found \"{}\"",
                dialect.request.defaults.join(" or "),
                key.display()
            );
            return Err(Violation::new(Rule::Shape4, value.at(), text));
        };
        if !value.is_true() {
            return Err(ill_typed(
                Rule::Shape4,
                Some(value),
                defaults,
                &format!("adapterDefaults.{name}"),
                "true",
            ));
        }
        if config.get(name).is_none() {
            let text = format!("adapterDefaults marks {name}, but config has no {name}");
            return Err(Violation::new(Rule::Shape4, value.at(), text));
        }
    }
    Ok(())
}

/// A string that is not empty.
fn is_name(value: Option<Value<'_>>) -> bool {
    value.and_then(Value::as_str).is_some_and(|text| !text.is_empty())
}

/// The members of a message that shapes look at, found in one walk.
#[derive(Clone, Copy)]
struct Members<'a> {
    id: Option<Value<'a>>,
    role: Option<Value<'a>>,
    source: Option<Value<'a>>,
    content: Option<Value<'a>>,
}

impl<'a> Members<'a> {
    #[inline]
    fn read(message: Value<'a>) -> Self {
        let mut found = Members { id: None, role: None, source: None, content: None };
        for (key, value) in message.members() {
            if key.is("id") {
                found.id = Some(value);
            } else if key.is("role") {
                found.role = Some(value);
            } else if key.is("source") {
                found.source = Some(value);
            } else if key.is("content") {
                found.content = Some(value);
            }
        }
        found
    }
}
