//! The names and words of the contract: what redacting a log may leave as it is.

use foldproof::dialect::Dialect;
use std::collections::BTreeSet;

/// Members that the contract names; those of a header, of a request and of a replace come with the dialect.
const KEYS: &[&str] = &[
    "type",
    "seq",
    "time",
    "data",
    "surfaceOp",
    "sourceEventSeqs",
    "ignorable",
    "version",
    "id",
    "seq0",
    "time0",
    "turn",
    "step",
    "index",
    "dt",
    "texts",
    "args",
    "name",
    "chunk",
    "text",
    "argumentsDelta",
    "blockType",
    "block",
    "usage",
    "finish",
    "reason",
    "kind",
    "failure",
    "replayState",
    "message",
    "code",
    "error",
    "meta",
    "role",
    "source",
    "content",
    "provider",
    "model",
    "callId",
    "toolCallId",
    "isError",
    "arguments",
    "interrupted",
    "compactionId",
    "sourceCommandId",
    "summary",
    "shadowedRange",
    "shadowedSeqs",
    "shadowedTokenCount",
    "start",
    "end",
    "op",
    "target",
    "removedCount",
    "inserted",
    "outcome",
    "header",
    "config",
    "adapterDefaults",
    "system",
    "tools",
    "reasoningEffort",
    "temperature",
    "maxTokens",
    "stop",
    "contextWindow",
    "todos",
    "status",
    "toolName",
];

/// Members whose values the contract keeps and never looks into.
const FREE: &[&str] =
    &["tools", "meta", "replayState", "todos", "usage", "failure", "system", "summary", "stop"];

/// Members whose values can be words of the vocabulary.
const SPOKEN: &[&str] = &[
    "type",
    "role",
    "kind",
    "op",
    "surfaceOp",
    "reason",
    "target",
    "outcome",
    "origin",
    "code",
    "name",
    "blockType",
];

/// Those words, beside what the dialect spells: types, roles of messages, reasons.
const WORDS: &[&str] = &[
    "session",
    "text-chunks",
    "reasoning-chunks",
    "tool-call-chunks",
    "block-start",
    "text-delta",
    "reasoning-delta",
    "tool-call-delta",
    "block-end",
    "usage",
    "finish",
    "text",
    "reasoning",
    "tool-call",
    "tool-result",
    "tool_use",
    "image",
    "user",
    "assistant",
    "tool",
    "model",
    "plugin",
    "stop",
    "tool-calls",
    "append",
    "replace",
    "initial",
    "resume",
    "change",
    "fallback",
    "next-turn",
    "next-step",
    "canceled",
    "subagent",
    "TOOL_NOT_STARTED",
    "TOOL_OUTCOME_UNKNOWN",
    "ToolNotStartedError",
    "ToolOutcomeUnknownError",
];

/// Members whose numbers place an event, count what the contract counts, or choose a dialect.
const PLACING: &[&str] = &[
    "seq",
    "time",
    "version",
    "createdAt",
    "delegationDepth",
    "seq0",
    "time0",
    "turn",
    "step",
    "index",
    "dt",
    "sourceEventSeqs",
    "start",
    "end",
    "shadowedSeqs",
    "shadowedTokenCount",
    "removedCount",
];

/// The names and words of a dialect.
pub struct Words {
    keys: BTreeSet<String>,
    words: BTreeSet<String>,
    placing: BTreeSet<String>,
}

impl Words {
    /// Those of the contract, and what the dialect spells on its own.
    pub fn new(dialect: &Dialect) -> Self {
        let set = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
        let (mut keys, mut words, mut placing) = (set(KEYS), set(WORDS), set(PLACING));
        if let Some(header) = &dialect.header {
            let members = header.required.iter().chain(&header.optional).map(|(name, _)| name);
            keys.extend(members.chain(&header.retired).cloned());
        }
        for name in [&dialect.replace.start, &dialect.replace.end].into_iter().chain(&dialect.seed.length) {
            keys.insert(name.clone());
            placing.insert(name.clone());
        }
        keys.extend(dialect.seed.tag.clone());
        for kind in &dialect.surface {
            keys.extend(kind.message.iter().chain(&kind.shape.source_members).cloned());
            words.extend(kind.shape.role.iter().chain(&kind.shape.source_kind).cloned());
            words.insert(kind.kind.clone());
        }
        keys.extend(dialect.request.members.iter().map(|member| member.name.clone()));
        keys.extend(dialect.request.defaults.iter().cloned());
        for reason in &dialect.reasons {
            words.insert(reason.kind.clone());
            if let Some((member, inner)) = &reason.needs {
                keys.insert(member.clone());
                keys.extend(inner.iter().cloned());
            }
        }
        words.extend(dialect.vocabulary.iter().chain(dialect.roles.keys()).cloned());
        for retired in &dialect.retired {
            words.insert(retired.kind.clone());
            if let Some((member, text)) = &retired.when {
                keys.insert(member.clone());
                words.insert(text.clone());
            }
        }
        Words { keys, words, placing }
    }

    /// Whether a member's name is one of the contract's.
    pub fn is_key(&self, name: &str) -> bool {
        self.keys.contains(name)
    }

    /// Whether what the member holds is never looked into.
    pub fn is_free(&self, name: &str) -> bool {
        FREE.contains(&name)
    }

    /// Whether a text is a word of the vocabulary where it stands.
    pub fn is_word(&self, key: &str, text: &str) -> bool {
        SPOKEN.contains(&key) && self.words.contains(text)
    }

    /// Whether a member's numbers stay.
    pub fn is_placing(&self, name: &str) -> bool {
        self.placing.contains(name)
    }
}
