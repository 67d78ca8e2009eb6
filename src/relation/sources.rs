//! Which chunks an assistant message cites, and whether they assemble to it (PAIR-5, a note).
//!
//! An attempt is the chunks since the step start, the last `finish` chunk, the last assistant message or the last
//! `llm/retry-started`.

use super::{Folded, Sink};
use crate::admit::Change;
use crate::codec::rows::{Row, Tag};
use crate::dialect::{Part, Role};
use crate::json::{Str, Value, print, text};
use crate::rule::Rule;
use std::collections::BTreeMap;

/// Attempts whose text is longer than this many bytes are not assembled.
const LONGEST: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct Attempts {
    /// Seqs of the attempt's chunks, as runs `first..=last`.
    chunks: Vec<(u64, u64)>,
    blocks: BTreeMap<u64, Block>,
    size: usize,
    /// A `finish` chunk ended the attempt; the next chunk begins another.
    finished: bool,
    /// All chunks of the log, as runs: sources may cite other events too.
    all: Vec<(u64, u64)>,
}

/// What is known of one block of the attempt.
#[derive(Debug, Default)]
struct Block {
    /// The canonical block of its `block-end`.
    whole: Option<Vec<u8>>,
    tag: Option<Tag>,
    /// Those of the first delta that has them; an empty one is one.
    id: Option<Vec<u8>>,
    name: Option<Vec<u8>>,
    /// Deltas, joined in the spelling that they came in: halves of a surrogate pair meet there.
    text: Vec<u8>,
}

impl Attempts {
    pub(super) fn new() -> Self {
        Attempts { chunks: vec![], blocks: BTreeMap::new(), size: 0, finished: false, all: vec![] }
    }

    pub(super) fn fold(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        match folded.event.role {
            Role::StepStart | Role::RetryStarted => self.begin(),
            Role::Chunk => self.chunk(folded),
            Role::Surface(_) if folded.part() == Some(Part::Output) => {
                if matches!(folded.admitted.change, Change::Append(_)) {
                    self.message(folded, sink);
                }
                self.begin();
            }
            _ => {}
        }
    }

    pub(super) fn fold_row(&mut self, row: &Row<'_>) {
        self.cite(row.first, row.first + row.count - 1);
        let Some(index) = row.index.as_uint() else { return };
        for member in row.members() {
            self.delta(index, row.tag, row.id, row.name, member.text);
        }
    }

    fn begin(&mut self) {
        self.chunks.clear();
        self.blocks.clear();
        self.size = 0;
        self.finished = false;
    }

    fn cite(&mut self, first: u64, last: u64) {
        if self.finished {
            self.begin();
        }
        for runs in [&mut self.chunks, &mut self.all] {
            match runs.last_mut() {
                Some(run) if run.1 + 1 == first => run.1 = last,
                _ => runs.push((first, last)),
            }
        }
    }

    fn chunk(&mut self, folded: &Folded<'_>) {
        let seq = folded.admitted.seq;
        self.cite(seq, seq);
        let Some(chunk) = folded.event.field("chunk") else { return };
        let Some(kind) = chunk.get("type").and_then(Value::as_str) else { return };
        if kind.is("finish") {
            self.finished = true;
            return;
        }
        let Some(index) = chunk.get("index").and_then(Value::as_uint) else { return };
        if kind.is("block-end") {
            if let Some(block) = chunk.get("block") {
                let mut whole = Vec::new();
                print::canonical(block, &mut whole);
                // The last one counts, as it does where a stream is assembled while it runs.
                self.blocks.entry(index).or_default().whole = Some(whole);
            }
            return;
        }
        let Some(tag) =
            [Tag::Text, Tag::Reasoning, Tag::ToolCall].into_iter().find(|tag| kind.is(tag.chunk()))
        else {
            return;
        };
        let string = |name: &str| chunk.get(name).and_then(Value::as_str);
        let member = if tag == Tag::ToolCall { "argumentsDelta" } else { "text" };
        if let Some(text) = string(member) {
            self.delta(index, tag, string("id"), string("name"), text);
        }
    }

    fn delta(&mut self, index: u64, tag: Tag, id: Option<Str<'_>>, name: Option<Str<'_>>, text: Str<'_>) {
        self.size += text.raw().len();
        if self.size > LONGEST {
            return;
        }
        let block = self.blocks.entry(index).or_default();
        block.tag.get_or_insert(tag);
        for (kept, given) in [(&mut block.id, id), (&mut block.name, name)] {
            if let (None, Some(given)) = (&kept, given) {
                *kept = Some(given.canonical().into_owned());
            }
        }
        block.text.extend_from_slice(text.raw());
    }

    fn message(&mut self, folded: &Folded<'_>, sink: &mut Sink<'_>) {
        let Some(sources) = folded.event.sources else { return };
        let mut cited: Vec<u64> =
            folded.admission.sources().iter().copied().filter(|seq| contains(&self.all, *seq)).collect();
        cited.sort_unstable();
        let own = self.chunks.iter().map(|(first, last)| last - first + 1).sum::<u64>();
        let exact = cited.len() as u64 == own && cited.iter().all(|seq| contains(&self.chunks, *seq));
        if !exact {
            let text = format!(
                "expected the message to cite {own} chunks, those of its attempt, found {}",
                cited.len()
            );
            let text = if cited.len() as u64 == own {
                "expected the message to cite the chunks of its own attempt, found those of another".into()
            } else {
                text
            };
            sink(Rule::Pair5, folded.place(Some(sources)), text);
            return;
        }
        if self.size > LONGEST {
            return;
        }
        let content = folded.message().and_then(|message| message.get("content"));
        let mut logged = Vec::new();
        if let Some(content) = content {
            print::canonical(content, &mut logged);
        }
        if logged != self.assemble() {
            let text =
                "expected the content that the chunks of the attempt assemble to, found another".to_owned();
            sink(Rule::Pair5, folded.place(content), text);
        }
    }

    /// The canonical content array that the attempt's chunks assemble to.
    fn assemble(&self) -> Vec<u8> {
        let mut out = vec![b'['];
        for block in self.blocks.values() {
            if out.len() > 1 {
                out.push(b',');
            }
            let tag = match (&block.whole, block.tag) {
                (Some(whole), _) => {
                    out.extend_from_slice(whole);
                    continue;
                }
                (None, Some(tag)) => tag,
                (None, None) => continue,
            };
            match tag {
                Tag::Text => out.extend_from_slice(b"{\"type\":\"text\",\"text\":\""),
                Tag::Reasoning => out.extend_from_slice(b"{\"type\":\"reasoning\",\"text\":\""),
                Tag::ToolCall => {
                    // A stream may leave the name out (CODEC-1), and then the block has none.
                    out.extend_from_slice(b"{\"type\":\"tool-call\"");
                    for (key, text) in [("id", &block.id), ("name", &block.name)] {
                        if let Some(text) = text {
                            out.extend_from_slice(format!(",\"{key}\":\"").as_bytes());
                            out.extend_from_slice(text);
                            out.push(b'"');
                        }
                    }
                    out.extend_from_slice(b",\"arguments\":\"");
                }
            }
            text::print(&block.text, &mut out);
            out.extend_from_slice(b"\"}");
        }
        out.push(b']');
        out
    }
}

fn contains(runs: &[(u64, u64)], seq: u64) -> bool {
    let place = runs.partition_point(|(_, last)| *last < seq);
    runs.get(place).is_some_and(|(first, _)| *first <= seq)
}
