//! Large logs of a known shape, streamed: what benchmarks and patience are tested with.
//!
//! A turn is `turn/start`, a user message, one to four steps, `turn/end`; a step is 45 to 75 chunks, an assistant
//! message of three blocks over them, a call, a result of one to four kilobytes. Everything follows from the seed, and
//! every log passes the strict check.

use crate::seed::{Seed, Stream};
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

const WORDS: [&str; 32] = [
    "the", "log", "is", "replayed", "and", "folded", "again", "from", "a", "file", "that", "nobody", "has",
    "read", "茶館", "里", "人", "很多", "fn", "main()", "let", "x", "=", "42;", "retry", "after", "error",
    "with", "two", "words", "über", "alles",
];

struct Writer<'w> {
    out: &'w mut dyn Write,
    stream: Stream,
    seq: u64,
    time: u64,
    turn: u64,
    packed: bool,
    /// Nodes on the surface, oldest first.
    nodes: Vec<u64>,
    /// Results: seq, and data before and behind the content.
    result: Option<(u64, String, String)>,
}

/// Writes a log of about `events` events; gives how many there are.
pub fn write(shape: Shape, events: u64, seed: Seed, out: &mut dyn Write) -> io::Result<u64> {
    let mut writer = Writer {
        out,
        stream: seed.stream(),
        seq: 0,
        time: 1_787_000_000_000,
        turn: 0,
        packed: shape == Shape::Packed,
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
    writer.out.flush()?;
    Ok(writer.seq)
}

impl Writer<'_> {
    fn event(&mut self, kind: &str, data: &str, rest: &str) -> io::Result<u64> {
        let seq = self.seq;
        self.seq += 1;
        self.time += 3 + self.stream.below(40);
        let time = self.time;
        writeln!(self.out, "{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{time},\"data\":{data}{rest}}}")?;
        Ok(seq)
    }

    fn text(&mut self, length: usize) -> String {
        let mut text = String::with_capacity(length + 8);
        while text.len() < length {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(WORDS[self.stream.below(WORDS.len() as u64) as usize]);
        }
        text
    }

    /// Text in pieces of one to seven characters.
    fn pieces(&mut self, text: &str) -> Vec<String> {
        let mut rest: Vec<char> = text.chars().collect();
        let mut pieces = vec![];
        while !rest.is_empty() {
            let length = (1 + self.stream.below(7) as usize).min(rest.len());
            pieces.push(rest.drain(..length).collect());
        }
        pieces
    }

    fn user(&mut self, length: usize, rest: &str, source: &str) -> io::Result<u64> {
        let (id, text) = (self.seq, self.text(length));
        let data = format!(
            "{{\"id\":\"u{id}\",\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\"source\":{source}}}"
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
            let node = self.user(300, ",\"surfaceOp\":\"append\"", "{\"kind\":\"user\"}")?;
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

    /// The deltas of one block: events, or a row.
    fn deltas(&mut self, place: &str, kind: &str, index: u64, pieces: &[String]) -> io::Result<()> {
        let call = kind == "tool-call";
        if self.packed && pieces.len() >= 3 {
            let gaps: Vec<String> =
                pieces[1..].iter().map(|_| (1 + self.stream.below(30)).to_string()).collect();
            let quoted: Vec<String> = pieces.iter().map(|piece| format!("\"{piece}\"")).collect();
            let identity = if call { ",\"id\":\"call\",\"name\":\"read\"" } else { "" };
            let (seq, time, member) = (self.seq, self.time + 1, if call { "args" } else { "texts" });
            self.seq += pieces.len() as u64;
            self.time += 1_000;
            return writeln!(
                self.out,
                "{{\"type\":\"{kind}-chunks\",\"seq0\":{seq},\"time0\":{time},\"data\":{{{place},\"index\":{index},\
                 \"dt\":[{}]{identity},\"{member}\":[{}]}}}}",
                gaps.join(","),
                quoted.join(",")
            );
        }
        for piece in pieces {
            let chunk = match call {
                true => format!(
                    "{{\"type\":\"tool-call-delta\",\"index\":{index},\"id\":\"call\",\"name\":\"read\",\"argumentsDelta\":\"{piece}\"}}"
                ),
                false => format!("{{\"type\":\"{kind}-delta\",\"index\":{index},\"text\":\"{piece}\"}}"),
            };
            self.chunk(place, &chunk)?;
        }
        Ok(())
    }

    fn step(&mut self, turn: u64, step: u64) -> io::Result<()> {
        let place = format!("\"turn\":{turn},\"step\":{step}");
        self.event("step/start", &format!("{{{place}}}"), "")?;
        let first = self.seq;
        let mut content = vec![];
        for (index, kind, length) in [(0, "reasoning", 70), (1, "text", 100), (2, "tool-call", 36)] {
            let text = self.text(length);
            let begin = format!("{{\"type\":\"block-start\",\"index\":{index},\"blockType\":\"{kind}\"}}");
            self.chunk(&place, &begin)?;
            let pieces = self.pieces(&text);
            self.deltas(&place, kind, index, &pieces)?;
            let block = match kind {
                "tool-call" => format!(
                    "{{\"type\":\"tool-call\",\"id\":\"call\",\"name\":\"read\",\"arguments\":\"{text}\"}}"
                ),
                _ => format!("{{\"type\":\"{kind}\",\"text\":\"{text}\"}}"),
            };
            self.chunk(&place, &format!("{{\"type\":\"block-end\",\"index\":{index},\"block\":{block}}}"))?;
            content.push(block);
        }
        self.chunk(&place, "{\"type\":\"usage\",\"usage\":{\"inputTokens\":900,\"outputTokens\":60}}")?;
        self.chunk(&place, "{\"type\":\"finish\",\"reason\":{\"kind\":\"tool-calls\"}}")?;
        let cited: Vec<String> = (first..self.seq).map(|seq| seq.to_string()).collect();
        let id = self.seq;
        let data = format!(
            "{{{place},\"message\":{{\"id\":\"a{id}\",\"role\":\"assistant\",\"content\":[{}],\"source\":{{\"kind\":\"model\",\
             \"provider\":\"orchid\",\"model\":\"orchid-2\"}}}},\"usage\":{{\"inputTokens\":900,\"outputTokens\":60}}}}",
            content.join(",")
        );
        let rest = format!(",\"sourceEventSeqs\":[{}],\"surfaceOp\":\"append\"", cited.join(","));
        let node = self.event("assistant/message", &data, &rest)?;
        self.nodes.push(node);
        let arguments = self.text(30);
        let data = format!("{{{place},\"callId\":\"call\",\"name\":\"read\",\"arguments\":\"{arguments}\"}}");
        let call = self.event("tool/call", &data, "")?;
        let before = format!(
            "{{{place},\"message\":{{\"id\":\"r{}\",\"role\":\"user\",\"source\":{{\"kind\":\"tool\",\"callId\":\"call\"}},\
             \"content\":[{{\"type\":\"tool-result\",\"toolCallId\":\"call\",\"content\":",
            self.seq
        );
        let length = 1_000 + self.stream.below(3_000) as usize;
        let text = self.text(length);
        let data = format!("{before}[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}]}}}}");
        let rest = format!(",\"sourceEventSeqs\":[{call}],\"surfaceOp\":\"append\"");
        let node = self.event("tool/result", &data, &rest)?;
        self.nodes.push(node);
        self.result = Some((node, before, "}]}}".to_owned()));
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
        let text = self.text(400);
        let data = format!(
            "{{\"compactionId\":\"{id}\",\"summary\":\"{text}\",\"shadowedRange\":{{\"start\":{start},\"end\":{end}}},\
             \"shadowedSeqs\":[{list}],\"shadowedTokenCount\":9000,\"provider\":\"orchid\",\"model\":\"orchid-2\"}}"
        );
        self.event("compaction/summary", &data, "")?;
        let rest = format!(
            ",\"sourceEventSeqs\":[{list}],\"surfaceOp\":{{\"op\":\"replace\",\"start\":{start},\"end\":{end}}}"
        );
        let source = format!("{{\"kind\":\"plugin\",\"plugin\":\"compaction\",\"compactionId\":\"{id}\"}}");
        let node = self.user(400, &rest, &source)?;
        self.nodes.insert(0, node);
        self.event("compaction/end", &format!("{{\"compactionId\":\"{id}\",\"turn\":null}}"), "").map(drop)
    }

    fn messages(&mut self, count: u64) -> io::Result<()> {
        for _ in 0..count {
            let node = self.user(60, ",\"surfaceOp\":\"append\"", "{\"kind\":\"user\"}")?;
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
        let node = self.user(60, &rest, "{\"kind\":\"user\"}")?;
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
