//! A stored log written anew: canonical lines, rows packed or unpacked, plain or compressed. Streamed: only a line and
//! the run that is being packed are held.

use super::artifact::Artifact;
use super::repair::{other, torn};
use super::sink::Sink;
use foldproof::check::{Options, Report};
use foldproof::codec::lines::Item;
use foldproof::codec::rows::{Packer, Row, Tag};
use foldproof::json::{Scanner, Value, print};
use foldproof::limits::READ_DEPTH;
use std::io::{self, Write};

/// What becomes of runs of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As they are stored.
    Kept,
    /// Packed into rows where that loses nothing (CODEC-2).
    Packed,
    /// One line for each event.
    Plain,
}

/// Writes a log whose strict check gave `report`, with nothing above a broken relation in it. A torn tail is left out.
/// Returns the number of lines written.
pub fn write(
    artifact: &Artifact,
    report: &Report,
    layout: Layout,
    compressed: bool,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<u64> {
    let end = torn(report).map_or(u64::MAX, |finding| finding.line);
    let headed = report.header.is_some();
    let mut lines = artifact.lines(0, options.limits).map_err(other)?;
    let mut writer = Writer {
        sink: Sink::new(out, compressed, headed),
        layout,
        packer: Packer::default(),
        scanner: Scanner::new(READ_DEPTH),
        text: vec![],
        written: 0,
    };
    let mut scanner = Scanner::new(READ_DEPTH);
    loop {
        match lines.read().map_err(other)? {
            Item::Line { bytes, number, ended: true, .. } if number < end => {
                let scan = scanner.scan(bytes).map_err(|_| io::Error::other(CHANGED))?;
                writer.record(scan.root(), headed && number == 1)?;
            }
            Item::FrameEnd => {}
            Item::Line { .. } | Item::Torn | Item::Damage(_) | Item::End => break,
        }
    }
    writer.finish()
}

const CHANGED: &str = "the log changed while it was read; is a writer at work?";

struct Writer<'a> {
    sink: Sink<'a>,
    layout: Layout,
    packer: Packer,
    scanner: Scanner,
    text: Vec<u8>,
    written: u64,
}

impl Writer<'_> {
    fn record(&mut self, root: Value<'_>, header: bool) -> io::Result<()> {
        let tag = root.get("type").and_then(Value::as_str).and_then(Tag::of);
        let row = tag.and_then(|tag| Row::read(root, tag).ok());
        let mut line = vec![];
        match row.filter(|_| self.layout != Layout::Kept && !header) {
            None => {
                print::canonical(root, &mut line);
                self.event(&line, header)
            }
            Some(row) => row.members().try_for_each(|member| {
                line.clear();
                row.unpack(&member, &mut line);
                self.event(&line, false)
            }),
        }
    }

    fn event(&mut self, line: &[u8], header: bool) -> io::Result<()> {
        if self.layout == Layout::Packed && !header {
            let scan = self.scanner.scan(line).map_err(|_| io::Error::other(CHANGED))?;
            self.packer.push(scan.root(), &mut self.text);
        } else {
            self.text.extend_from_slice(line);
            self.text.push(b'\n');
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.written += memchr::memchr_iter(b'\n', &self.text).count() as u64;
        self.sink.put(&self.text)?;
        self.text.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<u64> {
        self.packer.finish(&mut self.text);
        self.flush()?;
        self.sink.finish()?;
        Ok(self.written)
    }
}
