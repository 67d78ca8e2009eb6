//! Large logs of a known shape, streamed: what benchmarks and patience are tested with.
//!
//! A turn is `turn/start`, a user message, one to four steps, `turn/end`; a step is 45 to 75 chunks, an assistant
//! message of three blocks over them, a call, a result of one to four kilobytes. Everything follows from the seed, and
//! every log passes the strict check.

use super::prose::Prose;
use crate::seed::{Seed, Stream};
use foldproof::codec::rows::Packer;
use foldproof::json::Scanner;
use foldproof::json::text::quote;
use foldproof::limits::READ_DEPTH;
use std::io::{self, Write};

/// What a large log is full of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Turns.
    Plain,
    /// Turns, with runs of chunks packed into rows.
    Packed,
    /// Turns, each rewriting one earlier tool result.
    Prune,
    /// Turns, with a compaction of all but about twenty nodes every fifty.
    Compact,
    /// User messages, then replaces of one node at random: one replace for five messages.
    Scatter,
    /// User messages, then one replace of all but twenty.
    Collapse,
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    prose: Prose,
    stream: Stream,
    seq: u64,
    time: u64,
    turn: u64,
    /// What packs runs of chunks, and the scanner that it sees them through.
    packer: Option<(Packer, Scanner)>,
    line: Vec<u8>,
    /// Nodes on the surface, oldest first.
    nodes: Vec<u64>,
    /// Results: seq, and data before and behind the content.
    result: Option<(u64, String, String)>,
}

/// Writes a log of about `events` events; gives how many there are.
pub fn write(shape: Shape, events: u64, seed: Seed, out: &mut dyn Write) -> io::Result<u64> {
    let mut writer = Writer {
        out,
        prose: Prose::default(),
        stream: seed.stream(),
        seq: 0,
        time: 1_787_000_000_000,
        turn: 0,
        packer: (shape == Shape::Packed).then(|| (Packer::default(), Scanner::new(READ_DEPTH))),
        line: vec![],
        nodes: vec![],
        result: None,
    };
    let header = "{\"type\":\"session\",\"version\":0,\"id\":\"large\",\"createdAt\":1787000000000,\"delegationDepth\":0}\n";
    writer.out.write_all(header.as_bytes())?;
    match shape {
        Shape::Scatter => writer.scatter(events)?,
        Shape::Collapse => writer.collapse(events)?,
        _ => writer.turns(shape, events)?,
    }
    writer.finish()?;
    Ok(writer.seq)
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 16);
    quote(text, &mut out);
    // Quoting keeps what was UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// The first `count` characters.
fn cut(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

impl Writer<'_> {
    fn event(&mut self, kind: &str, data: &str, rest: &str) -> io::Result<u64> {
        let seq = self.seq;
        self.seq += 1;
        self.time += 3 + self.stream.below(40);
        let time = self.time;
        self.line.clear();
        write!(self.line, "{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{time},\"data\":{data}{rest}}}")?;
        let mut text = vec![];
        if let Some((packer, scanner)) = &mut self.packer
            && let Ok(scan) = scanner.scan(&self.line)
        {
            packer.push(scan.root(), &mut text);
        } else {
            self.line.push(b'\n');
            std::mem::swap(&mut text, &mut self.line);
        }
        self.out.write_all(&text)?;
        Ok(seq)
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some((packer, _)) = &mut self.packer {
            let mut text = vec![];
            packer.finish(&mut text);
            self.out.write_all(&text)?;
        }
        self.out.flush()
    }

    /// An id as providers mint them.
    fn id(&mut self, prefix: &str, letters: usize) -> String {
        let mut id = prefix.to_owned();
        for _ in 0..letters {
            id.push(char::from(b"0123456789abcdefghijklmnopqrstuvwxyz"[self.stream.below(36) as usize]));
        }
        id
    }

    fn user(&mut self, text: &str, rest: &str, source: &str) -> io::Result<u64> {
        let (id, text) = (self.seq, quoted(text));
        let data = format!(
            "{{\"id\":\"u{id}\",\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{text}}}],\"source\":{source}}}"
        );
        self.event("user/message", &data, rest)
    }

    fn turns(&mut self, shape: Shape, events: u64) -> io::Result<()> {
        while self.seq < events {
            self.turn += 1;
            let turn = self.turn;
            self.event("turn/start", &format!("{{\"turn\":{turn}}}"), "")?;
            if turn == 1 {
                let header = "{\"header\":{\"config\":{\"provider\":\"orchid\",\"model\":\"orchid-2\"},\
                              \"system\":\"You keep logs.\"},\"reason\":\"initial\"}";
                self.event("request/header", header, "")?;
            }
            let length = 400 + self.stream.below(5_000) as usize;
            let text = self.prose.text(length, &mut self.stream);
            let node = self.user(&text, ",\"surfaceOp\":\"append\"", "{\"kind\":\"user\"}")?;
            self.nodes.push(node);
            if shape == Shape::Prune {
                self.prune()?;
            }
            for step in 1..=1 + self.stream.below(4) {
                self.step(turn, step)?;
            }
            self.event(
                "turn/end",
                &format!("{{\"turn\":{turn},\"reason\":{{\"kind\":\"completed\"}}}}"),
                "",
            )?;
            if shape == Shape::Compact && turn.is_multiple_of(50) {
                self.compact()?;
            }
        }
        Ok(())
    }

    fn chunk(&mut self, place: &str, chunk: &str) -> io::Result<()> {
        self.event("assistant/chunk", &format!("{{{place},\"chunk\":{chunk}}}"), "").map(drop)
    }

    /// The chunks of one block: its start, `count` deltas of one to seven characters, its end with the whole. Returns
    /// the block. `call` is the id of a tool call.
    fn block(&mut self, place: &str, kind: &str, index: u64, count: u64, call: &str) -> io::Result<String> {
        let begin = format!("{{\"type\":\"block-start\",\"index\":{index},\"blockType\":\"{kind}\"}}");
        self.chunk(place, &begin)?;
        let lengths: Vec<usize> = (0..count).map(|_| 1 + self.stream.below(7) as usize).collect();
        let total: usize = lengths.iter().sum();
        let whole = match kind {
            "tool-call" => {
                // The command is cut to what the deltas hold beside the JSON around it.
                let command = self.prose.code(total, &mut self.stream).replace(['"', '\\', '\n'], " ");
                format!("{{\"command\":\"{}\"}}", cut(&command, total.saturating_sub(14)))
            }
            _ => {
                // A character can be three bytes long.
                let text = self.prose.text(total * 3, &mut self.stream);
                cut(&text, total).to_owned()
            }
        };
        let mut rest = &whole[..];
        for length in lengths {
            let piece = cut(rest, length);
            rest = &rest[piece.len()..];
            let piece = quoted(piece);
            let chunk = match kind {
                "tool-call" => format!(
                    "{{\"type\":\"tool-call-delta\",\"index\":{index},\"id\":\"{call}\",\"name\":\"bash\",\"argumentsDelta\":{piece}}}"
                ),
                _ => format!("{{\"type\":\"{kind}-delta\",\"index\":{index},\"text\":{piece}}}"),
            };
            self.chunk(place, &chunk)?;
        }
        let whole = quoted(&whole);
        let block = match kind {
            "tool-call" => {
                format!(
                    "{{\"type\":\"tool-call\",\"id\":\"{call}\",\"name\":\"bash\",\"arguments\":{whole}}}"
                )
            }
            _ => format!("{{\"type\":\"{kind}\",\"text\":{whole}}}"),
        };
        self.chunk(place, &format!("{{\"type\":\"block-end\",\"index\":{index},\"block\":{block}}}"))?;
        Ok(block)
    }

    fn step(&mut self, turn: u64, step: u64) -> io::Result<()> {
        let place = format!("\"turn\":{turn},\"step\":{step}");
        self.event("step/start", &format!("{{{place}}}"), "")?;
        let first = self.seq;
        let call = self.id("call_00_", 20);
        // 45 to 75 chunks, of which three begin a block, three end one, and two end the answer.
        let deltas = 37 + self.stream.below(31);
        let (reasoning, arguments) = (deltas * 2 / 5, deltas / 4);
        let text = deltas - reasoning - arguments;
        let mut content = vec![];
        for (index, kind, count) in
            [(0, "reasoning", reasoning), (1, "text", text), (2, "tool-call", arguments)]
        {
            content.push(self.block(&place, kind, index, count, &call)?);
        }
        let (read, written) = (900 + self.stream.below(90_000), 40 + self.stream.below(60));
        let usage = format!("{{\"inputTokens\":{read},\"outputTokens\":{written}}}");
        self.chunk(&place, &format!("{{\"type\":\"usage\",\"usage\":{usage}}}"))?;
        self.chunk(&place, "{\"type\":\"finish\",\"reason\":{\"kind\":\"tool-calls\"}}")?;
        let cited: Vec<String> = (first..self.seq).map(|seq| seq.to_string()).collect();
        let id = self.seq;
        let arguments = content.get(2).and_then(|block| block.split_once("\"arguments\":"));
        let arguments = arguments.map_or("\"{}\"", |(_, rest)| rest.trim_end_matches('}')).to_owned();
        let data = format!(
            "{{{place},\"message\":{{\"id\":\"a{id}\",\"role\":\"assistant\",\"content\":[{}],\"source\":{{\"kind\":\"model\",\
             \"provider\":\"orchid\",\"model\":\"orchid-2\"}}}},\"usage\":{usage}}}",
            content.join(",")
        );
        let rest = format!(",\"sourceEventSeqs\":[{}],\"surfaceOp\":\"append\"", cited.join(","));
        let node = self.event("assistant/message", &data, &rest)?;
        self.nodes.push(node);
        let data = format!("{{{place},\"callId\":\"{call}\",\"name\":\"bash\",\"arguments\":{arguments}}}");
        let called = self.event("tool/call", &data, "")?;
        let before = format!(
            "{{{place},\"message\":{{\"id\":\"r{}\",\"role\":\"user\",\"source\":{{\"kind\":\"tool\",\"callId\":\"{call}\"}},\
             \"content\":[{{\"type\":\"tool-result\",\"toolCallId\":\"{call}\",\"content\":",
            self.seq
        );
        let length = 1_000 + self.stream.below(3_000) as usize;
        let text = match self.stream.below(3) {
            0 => self.prose.text(length, &mut self.stream),
            _ => self.prose.code(length, &mut self.stream),
        };
        let data =
            format!("{before}[{{\"type\":\"text\",\"text\":{}}}],\"isError\":false}}]}}}}", quoted(&text));
        let rest = format!(",\"sourceEventSeqs\":[{called}],\"surfaceOp\":\"append\"");
        let node = self.event("tool/result", &data, &rest)?;
        self.nodes.push(node);
        self.result = Some((node, before, ",\"isError\":false}]}}".to_owned()));
        self.event("step/end", &format!("{{{place}}}"), "").map(drop)
    }

    /// The last result of the turn before says less from now on.
    fn prune(&mut self) -> io::Result<()> {
        let Some((seq, before, behind)) = self.result.take() else { return Ok(()) };
        let span = format!("\"shadowedRange\":{{\"start\":{seq},\"end\":{seq}}},\"shadowedSeqs\":[{seq}]");
        self.event("compaction/prune", &format!("{{{span},\"shadowedTokenCount\":700}}"), "")?;
        let data = format!("{before}[{{\"type\":\"text\",\"text\":\"(pruned)\"}}]{behind}");
        let rest = format!(
            ",\"sourceEventSeqs\":[{seq}],\"surfaceOp\":{{\"op\":\"replace\",\"start\":{seq},\"end\":{seq}}}"
        );
        let node = self.event("tool/result", &data, &rest)?;
        if let Some(place) = self.nodes.iter().rposition(|node| *node == seq) {
            self.nodes[place] = node;
        }
        Ok(())
    }

    fn compact(&mut self) -> io::Result<()> {
        // A turn has an odd number of nodes, its message and pairs; what is kept begins behind a pair.
        let keep = 20;
        let Some(cut) = self.nodes.len().checked_sub(keep).filter(|cut| *cut > 1) else { return Ok(()) };
        let mut cut = cut;
        // A result stands right behind its call: seqs two apart mean that a pair would be parted here.
        while cut > 1 && self.nodes.get(cut).is_some_and(|node| *node == self.nodes[cut - 1] + 2) {
            cut -= 1;
        }
        let gone: Vec<u64> = self.nodes.drain(..cut).collect();
        let (Some(start), Some(end)) = (gone.first().copied(), gone.last().copied()) else { return Ok(()) };
        let list = gone.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let id = format!("k{}", self.turn);
        self.event("compaction/start", &format!("{{\"compactionId\":\"{id}\",\"turn\":null}}"), "")?;
        let text = self.prose.text(400, &mut self.stream);
        let summary = quoted(&text);
        let data = format!(
            "{{\"compactionId\":\"{id}\",\"summary\":{summary},\"shadowedRange\":{{\"start\":{start},\"end\":{end}}},\
             \"shadowedSeqs\":[{list}],\"shadowedTokenCount\":9000,\"provider\":\"orchid\",\"model\":\"orchid-2\"}}"
        );
        self.event("compaction/summary", &data, "")?;
        let rest = format!(
            ",\"sourceEventSeqs\":[{list}],\"surfaceOp\":{{\"op\":\"replace\",\"start\":{start},\"end\":{end}}}"
        );
        let source = format!("{{\"kind\":\"plugin\",\"plugin\":\"compaction\",\"compactionId\":\"{id}\"}}");
        let node = self.user(&text, &rest, &source)?;
        self.nodes.insert(0, node);
        self.event("compaction/end", &format!("{{\"compactionId\":\"{id}\",\"turn\":null}}"), "").map(drop)
    }

    /// A few words, as in the logs that are made of nothing but messages.
    fn short(&mut self) -> String {
        let text = self.prose.text(14, &mut self.stream);
        cut(&text, 14).to_owned()
    }

    fn messages(&mut self, count: u64) -> io::Result<()> {
        for _ in 0..count {
            let text = self.short();
            let node = self.user(&text, ",\"surfaceOp\":\"append\"", "{\"kind\":\"user\"}")?;
            self.nodes.push(node);
        }
        Ok(())
    }

    fn replace(&mut self, from: usize, to: usize) -> io::Result<()> {
        let gone = &self.nodes[from..=to];
        let list = gone.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let (start, end) = (self.nodes[from], self.nodes[to]);
        let rest = format!(
            ",\"sourceEventSeqs\":[{list}],\"surfaceOp\":{{\"op\":\"replace\",\"start\":{start},\"end\":{end}}}"
        );
        let text = self.short();
        let node = self.user(&text, &rest, "{\"kind\":\"user\"}")?;
        self.nodes.splice(from..=to, [node]);
        Ok(())
    }

    fn scatter(&mut self, events: u64) -> io::Result<()> {
        let messages = (events * 5 / 6).max(1);
        self.messages(messages)?;
        while self.seq < events {
            let place = self.stream.below(self.nodes.len() as u64) as usize;
            self.replace(place, place)?;
        }
        Ok(())
    }

    fn collapse(&mut self, events: u64) -> io::Result<()> {
        self.messages(events.saturating_sub(1).max(2))?;
        let last = self.nodes.len().saturating_sub(21).max(1);
        self.replace(0, last.min(self.nodes.len() - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldproof::check::{Input, Options, check};

    #[test]
    fn every_shape_passes_the_strict_check() {
        for shape in
            [Shape::Plain, Shape::Packed, Shape::Prune, Shape::Compact, Shape::Scatter, Shape::Collapse]
        {
            let size = if shape == Shape::Compact { 24_000 } else { 3_000 };
            let mut log = Vec::new();
            let Ok(events) = write(shape, size, Seed(3), &mut log) else {
                panic!("{shape:?} was not written")
            };
            let options = Options { notes: true, ..Options::default() };
            match check(Input::Plain(Box::new(&log[..])), &options) {
                Ok(report) => {
                    assert_eq!(report.events, events);
                    assert!(report.findings.is_empty(), "{shape:?}: {:?}", report.findings.list.first());
                }
                Err(error) => panic!("{shape:?}: {error}"),
            }
        }
    }
}
