//! The dialects that come with the crate.

use super::*;
use crate::rule::Rule::*;

/// Names of the built-in dialects.
pub fn names() -> &'static [&'static str] {
    &["dsh-v0", "tutorial"]
}

/// The built-in dialect with this name.
pub fn by_name(name: &str) -> Option<Dialect> {
    match name {
        "dsh-v0" => Some(dsh_v0()),
        "tutorial" => Some(tutorial()),
        _ => None,
    }
}

/// The built-in dialect whose header has this version.
pub fn by_version(version: u64) -> Option<Dialect> {
    names()
        .iter()
        .filter_map(|name| by_name(name))
        .find(|dialect| dialect.header.as_ref().is_some_and(|header| header.version == version))
}

/// Version 0 of the DeepSeek Harness log, as release 0.1.1 writes and reads it (contract, sections 1 to 16).
pub fn dsh_v0() -> Dialect {
    let required = [
        ("type", HeaderShape::OneOf(vec!["session".into()])),
        ("version", HeaderShape::Number),
        ("id", HeaderShape::Name),
        ("createdAt", HeaderShape::Count),
        ("delegationDepth", HeaderShape::Count),
    ];
    let optional = [
        ("cwd", HeaderShape::AbsolutePath),
        ("parentSession", HeaderShape::Text),
        ("seedLength", HeaderShape::Count),
        ("origin", HeaderShape::OneOf(vec!["subagent".into()])),
        ("agentPreset", HeaderShape::Text),
    ];
    let owned = |(name, shape): (&str, HeaderShape)| (name.to_owned(), shape);
    Dialect {
        name: "dsh-v0".into(),
        header: Some(HeaderSpec {
            version: 0,
            required: required.into_iter().map(owned).collect(),
            optional: optional.into_iter().map(owned).collect(),
            retired: strings(&["sandboxMode", "approvalPolicy"]),
            exact: false,
        }),
        packed_rows: true,
        replace: ReplaceSpelling { start: "start".into(), end: "end".into(), exact: true },
        surface: vec![
            SurfaceType {
                kind: "user/message".into(),
                part: Part::Input,
                message: vec![],
                shape: identified("user", None, &[], ResultShape::Plain),
                empty_sources: false,
            },
            SurfaceType {
                kind: "assistant/message".into(),
                part: Part::Output,
                message: strings(&["message"]),
                shape: identified("assistant", Some("model"), &["provider", "model"], ResultShape::Plain),
                empty_sources: true,
            },
            SurfaceType {
                kind: "tool/result".into(),
                part: Part::Result,
                message: strings(&["message"]),
                shape: identified("user", Some("tool"), &["callId"], ResultShape::Block),
                empty_sources: false,
            },
        ],
        roles: roles(&[
            ("agent/inbox/spliced", Role::Inbox),
            ("compaction/start", Role::CompactionStart),
            ("compaction/summary", Role::CompactionSummary),
            ("compaction/end", Role::CompactionEnd),
            ("compaction/prune", Role::CompactionPrune),
            ("llm/retry-started", Role::RetryStarted),
        ]),
        retired: retired(),
        vocabulary: strings(DSH_0_1_1),
        unknown: UnknownPolicy::UnlessIgnorable,
        seed: SeedSpec { length: Some("seedLength".into()), tag: None, marker: true },
        request: request(),
        reasons: reasons(),
        repair: RepairSpec { results: true },
        rules: stages(&[
            (
                Stage::Provider,
                &[
                    Store1, Store2, Store3, Store5, Store6, Codec1, Codec3, Vocab1, Vocab3, Env1, Env2, Env3,
                    Surf1, Surf2, Surf3, Surf5, Surf6, Surf7, Shape1, Shape2, Shape3, Shape4, Shape8,
                    Repair2, Repair6,
                ],
            ),
            (Stage::Publish, &[Life1, Life2, Life3, Life4, Pair1]),
            (Stage::Elsewhere, &[Comp1, Comp2, Comp3, Inbox1, Inbox2, Json1, Json2]),
            (
                Stage::Ours,
                &[
                    Json3, Json4, Json5, Json6, Json7, Store4, Store8, Shape6, Shape7, Life5, Pair2, Pair3,
                    Pair4, Pair5, Comp4, Comp5,
                ],
            ),
        ]),
        released: true,
        index: Index::default(),
    }
}

/// The looser shape used in teaching material (contract, last section).
pub fn tutorial() -> Dialect {
    let looser = |kind: &str, part, message: &[&str], empty_sources| SurfaceType {
        kind: kind.into(),
        part,
        message: strings(message),
        shape: MessageShape {
            identified: false,
            role: None,
            source_kind: None,
            source_members: vec![],
            result: ResultShape::Plain,
        },
        empty_sources,
    };
    Dialect {
        name: "tutorial".into(),
        header: None,
        packed_rows: true,
        replace: ReplaceSpelling { start: "start".into(), end: "end".into(), exact: true },
        surface: vec![
            looser("user/message", Part::Input, &[], false),
            looser("assistant/message", Part::Output, &["message"], true),
            looser("tool/result", Part::Result, &["message"], false),
        ],
        roles: roles(&[]),
        retired: retired(),
        vocabulary: strings(CORE),
        unknown: UnknownPolicy::UnlessIgnorable,
        seed: SeedSpec { length: None, tag: None, marker: false },
        request: request(),
        reasons: reasons(),
        repair: RepairSpec { results: false },
        rules: stages(&[(
            Stage::Ours,
            &[
                Json1, Json2, Json3, Json4, Json5, Json6, Json7, Store3, Store4, Store5, Store6, Codec1,
                Codec3, Env1, Env2, Env3, Vocab1, Vocab3, Surf1, Surf2, Surf3, Surf5, Surf6, Surf7, Shape1,
                Life1, Life2, Life3, Life4, Life5, Repair2,
            ],
        )]),
        released: false,
        index: Index::default(),
    }
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn identified(role: &str, kind: Option<&str>, members: &[&str], result: ResultShape) -> MessageShape {
    MessageShape {
        identified: true,
        role: Some(role.into()),
        source_kind: kind.map(Into::into),
        source_members: strings(members),
        result,
    }
}

/// The roles of the core types, and those of declared extensions.
pub(super) fn roles(extensions: &[(&str, Role)]) -> BTreeMap<String, Role> {
    let core = [
        ("turn/start", Role::TurnStart),
        ("turn/end", Role::TurnEnd),
        ("step/start", Role::StepStart),
        ("step/end", Role::StepEnd),
        ("assistant/chunk", Role::Chunk),
        ("tool/call", Role::Call),
        ("todo/write", Role::InTurn),
        ("request/header", Role::RequestHeader),
        ("request/context", Role::InTurn),
        ("session/end-seed", Role::EndSeed),
    ];
    core.iter().chain(extensions).map(|(kind, role)| ((*kind).to_owned(), *role)).collect()
}

fn retired() -> Vec<Retired> {
    let fallback = Some(("reason".into(), "fallback".into()));
    vec![
        Retired { kind: "request/header-delta".into(), when: None },
        Retired { kind: "mode/set".into(), when: None },
        Retired { kind: "request/header".into(), when: fallback },
    ]
}

fn request() -> RequestSpec {
    let member = |name: &str, when, in_request| HeaderMember { name: name.into(), when, in_request };
    RequestSpec {
        members: vec![
            member("adapterDefaults", HeaderWhen::Marks, false),
            member("system", HeaderWhen::NotEmpty, true),
            member("tools", HeaderWhen::NotEmpty, true),
        ],
        defaults: strings(&["reasoningEffort", "maxTokens"]),
    }
}

fn reasons() -> Vec<ReasonSpec> {
    let reason = |kind: &str, needs: Option<(&str, &[&str])>| ReasonSpec {
        kind: kind.into(),
        needs: needs.map(|(member, inner)| (member.into(), strings(inner))),
    };
    vec![
        reason("completed", None),
        reason("aborted", Some(("reason", &["kind"]))),
        reason("blocked", None),
        reason("error", Some(("error", &["message", "code"]))),
        reason("max-tokens", None),
        reason("interrupted", None),
    ]
}

fn stages(table: &[(Stage, &[Rule])]) -> BTreeMap<Rule, Stage> {
    table.iter().flat_map(|(stage, rules)| rules.iter().map(|rule| (*rule, *stage))).collect()
}

/// The core types (contract, section 4).
const CORE: &[&str] = &[
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "user/message",
    "assistant/chunk",
    "assistant/message",
    "tool/call",
    "tool/result",
    "todo/write",
    "request/header",
    "request/context",
    "session/end-seed",
];

/// The vocabulary of release 0.1.1.
const DSH_0_1_1: &[&str] = &[
    "agent-preset/selected",
    "agent/inbox/spliced",
    "approval/asked",
    "approval/decided",
    "approval/policy",
    "assistant/chunk",
    "assistant/message",
    "command/done",
    "command/run",
    "compaction/end",
    "compaction/prune",
    "compaction/start",
    "compaction/summary",
    "feedback/record",
    "goal/change",
    "hook/invoked",
    "hook/result",
    "llm/retry",
    "llm/retry-started",
    "permission/preset",
    "plan/mode",
    "request/context",
    "request/header",
    "sandbox/mode",
    "schedule/change",
    "session/end-seed",
    "session/title",
    "session/title-llm-request",
    "step/end",
    "step/start",
    "subagent/descriptor",
    "team/member",
    "team/message/delivered",
    "team/message/queued",
    "team/task",
    "todo/write",
    "tool-workflow/agent-end",
    "tool-workflow/agent-start",
    "tool-workflow/run-end",
    "tool-workflow/run-start",
    "tool/call",
    "tool/code-dispatch",
    "tool/code-dispatch-start",
    "tool/result",
    "turn/end",
    "turn/start",
    "user/message",
    "web/deepseek-search-llm-request",
];
