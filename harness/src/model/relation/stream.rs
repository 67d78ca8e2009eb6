//! PAIR-5 (a note): an assistant message cites the chunks of its own attempt, and they assemble to its content.

use super::Breach;
use crate::model::event::{Event, Op};
use crate::model::text;
use crate::model::tree::Value;

/// The messages whose sources or content differ from their attempt.
pub(crate) fn notes(events: &[Event]) -> Vec<Breach<'_>> {
    let mut found = Vec::new();
    let mut attempt: Vec<&Event> = Vec::new();
    let mut finished = false;
    for event in events {
        match event.kind.as_str() {
            "assistant/chunk" => {
                // A chunk behind a `finish` begins the next attempt.
                if finished {
                    attempt.clear();
                }
                finished = event.at("data.chunk.type").is_some_and(|kind| kind.is("finish"));
                attempt.push(event);
            }
            "assistant/message" => {
                if event.op() == Op::Append
                    && event.sources().is_some_and(|seqs| differs(event, &seqs, events, &attempt))
                {
                    found.push(("PAIR-5", event));
                }
                attempt.clear();
                finished = false;
            }
            "step/start" | "llm/retry-started" => {
                attempt.clear();
                finished = false;
            }
            _ => {}
        }
    }
    found
}

fn differs(event: &Event, sources: &[u64], events: &[Event], attempt: &[&Event]) -> bool {
    let mut cited: Vec<u64> =
        sources.iter().copied().filter(|seq| events[*seq as usize].is("assistant/chunk")).collect();
    cited.sort_unstable();
    let own: Vec<u64> = attempt.iter().map(|chunk| chunk.seq).collect();
    cited != own || event.at("data.message.content").map(Value::canonical) != Some(assemble(attempt))
}

/// What one content block is assembled from.
#[derive(Default)]
struct Block {
    index: f64,
    whole: Option<String>,
    /// The type of the first delta.
    kind: Option<String>,
    id: Option<String>,
    name: Option<String>,
    joined: Vec<u16>,
}

/// The content: per index in ascending order the block of its `block-end`, else its joined deltas.
fn assemble(attempt: &[&Event]) -> String {
    let mut blocks: Vec<Block> = Vec::new();
    for chunk in attempt.iter().filter_map(|event| event.at("data.chunk")) {
        let Some(index) = chunk.get("index").and_then(Value::number) else { continue };
        let place = blocks.iter().position(|block| block.index == index).unwrap_or_else(|| {
            blocks.push(Block { index, ..Block::default() });
            blocks.len() - 1
        });
        let block = &mut blocks[place];
        let text_key = match chunk.get("type") {
            Some(kind) if kind.is("block-end") => {
                block.whole = chunk.get("block").map(Value::canonical);
                continue;
            }
            Some(kind) if kind.is("text-delta") || kind.is("reasoning-delta") => "text",
            Some(kind) if kind.is("tool-call-delta") => "argumentsDelta",
            _ => continue,
        };
        let canonical = |key: &str| chunk.get(key).map(Value::canonical);
        block.kind = block.kind.take().or_else(|| canonical("type"));
        block.id = block.id.take().or_else(|| canonical("id"));
        block.name = block.name.take().or_else(|| canonical("name"));
        block.joined.extend(chunk.get(text_key).and_then(Value::units).unwrap_or_default());
    }
    blocks.sort_by(|one, other| one.index.total_cmp(&other.index));
    text::list(blocks.into_iter().filter_map(Block::print))
}

impl Block {
    fn print(self) -> Option<String> {
        if self.whole.is_some() {
            return self.whole;
        }
        let joined = text::quote(&self.joined);
        Some(match self.kind?.as_str() {
            "\"text-delta\"" => format!("{{\"type\":\"text\",\"text\":{joined}}}"),
            "\"reasoning-delta\"" => format!("{{\"type\":\"reasoning\",\"text\":{joined}}}"),
            _ => {
                let id = self.id.map(|id| format!(",\"id\":{id}")).unwrap_or_default();
                let name = self.name.map(|name| format!(",\"name\":{name}")).unwrap_or_default();
                format!("{{\"type\":\"tool-call\"{id}{name},\"arguments\":{joined}}}")
            }
        })
    }
}
