//! What is fast has a slow twin: a log in memory is read as a stream is, and an earlier surface that is folded again from
//! places is the one that is folded from text.

use foldproof::History;
use foldproof::check::{Input, Loaded, Options, Report, load, load_text};
use foldproof::rule::Class;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Gives a text in reads of one byte and more, so that lines are cut everywhere.
struct Slow<'t> {
    text: &'t [u8],
    reads: usize,
}

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        let count = (self.reads % 7 + 1).min(buffer.len()).min(self.text.len());
        let (now, later) = self.text.split_at(count);
        buffer[..count].copy_from_slice(now);
        self.text = later;
        Ok(count)
    }
}

fn logs(folders: &[&str]) -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora");
    let mut logs = vec![];
    for folder in folders {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            // The few of tens of thousands of lines or bytes say nothing here that the others do not.
            if path.extension().is_some_and(|end| end == "jsonl") && path.metadata().unwrap().len() < 200_000
            {
                logs.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    logs.sort();
    logs
}

/// Everything that a loaded log says, but how much had been read when the reader stopped.
fn told(loaded: &Loaded) -> (String, Vec<Vec<u8>>, Vec<u8>) {
    let events = loaded.log.events().map(|line| line.into_owned()).collect();
    let history = History::new(&loaded.log, loaded.admission.surface()).to_bytes();
    let report = Report { bytes: 0, ..loaded.report.clone() };
    (format!("{report:?} {:?}", loaded.log.header()), events, history)
}

#[test]
fn a_log_in_memory_is_read_as_a_stream_is() {
    let options = Options { notes: true, ..Options::default() };
    let mut events = 0;
    for (name, text) in logs(&["rules", "sessions", "tutorial"]) {
        let slow = Slow { text: &text, reads: 0 };
        let streamed = load(Input::Plain(Box::new(slow)), &options, 0).map_err(|error| error.to_string());
        let streamed = streamed.as_ref().map(told);
        let kept = load(Input::Text(&text), &options, text.len()).map_err(|error| error.to_string());
        assert_eq!(kept.as_ref().map(told), streamed, "{name}");
        let in_place = load_text(text, &options).map_err(|error| error.to_string());
        assert_eq!(in_place.as_ref().map(told), streamed, "{name}");
        events += streamed.map_or(0, |(_, events, _)| events.len());
    }
    assert!(events > 2_000, "there was something to read: {events}");
}

#[test]
fn an_earlier_surface_is_what_its_text_folds_to() {
    let mut replaces = 0;
    for (name, text) in logs(&["sessions"]) {
        let whole = load_text(text, &Options::default()).unwrap();
        if whole.report.findings.strongest() >= Some(Class::Reject) {
            continue;
        }
        let header = whole.log.header().unwrap_or_default().to_vec();
        let mut prefix = [&header[..], b"\n"].concat();
        for count in 0..=whole.log.len() {
            let again = whole.log.refold(count, |_, _, _, _| {});
            // An inherited part that is cut short is a finding, and the fold stands all the same.
            let loaded = load_text(prefix.clone(), &Options::default()).unwrap();
            let read = loaded.admission.surface();
            assert_eq!(again.iter().collect::<Vec<_>>(), read.iter().collect::<Vec<_>>(), "{name}: {count}");
            assert_eq!(again.generation(), read.generation(), "{name}: {count}");
            let history = History::new(&whole.log.prefix(count), &again).to_bytes();
            assert_eq!(history, History::new(&loaded.log, read).to_bytes(), "{name}: {count}");
            if let Some(line) = whole.log.line(count) {
                prefix.extend_from_slice(&line);
                prefix.push(b'\n');
            }
        }
        replaces += whole.admission.surface().generation();
    }
    assert!(replaces > 10, "there was something to shadow: {replaces}");
}
