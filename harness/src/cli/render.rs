//! Findings as compiler-style diagnostics: place, line with a caret, law, help.

use super::paint::Paint;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use foldproof::finding::{Excerpt, Finding};
use foldproof::rule::{Class, Stage};
use std::borrow::Cow;

/// Stands in the rendered text where the place goes. Columns here are bytes of the line, the renderer counts characters
/// of what it was given, so its own place is replaced. No text that it renders can hold this character.
const PLACE: char = '\u{e000}';

/// Turns findings into text.
#[derive(Debug)]
pub struct Diagnostics {
    renderer: Renderer,
    width: usize,
}

impl Diagnostics {
    /// For a terminal of `width` columns.
    pub fn new(paint: Paint, width: usize) -> Self {
        let width = width.max(40);
        let renderer = if paint.is_on() { Renderer::styled() } else { Renderer::plain() };
        Diagnostics { renderer: renderer.term_width(width), width }
    }

    /// One finding of the log called `path`. `allowed`: it does not count.
    pub fn render(&self, path: &str, finding: &Finding, allowed: bool) -> String {
        let title = clean(&finding.message, self.width * 8);
        let law = finding.rule.info().law;
        let help = clean(&finding.help, usize::MAX);
        let marked = finding.excerpt.as_ref().map(|excerpt| Marked::new(excerpt, finding.column, self.width));
        let mut group = Group::with_title(level(finding.class).primary_title(title).id(finding.rule.id()));
        // Without the line there is nothing to underline: an empty one is rendered and taken out again.
        let (text, span) = match &marked {
            Some(marked) => (marked.text.as_str(), marked.span.clone()),
            None => ("", 0..0),
        };
        let snippet = Snippet::source(text)
            .path(PLACE.to_string())
            .line_start(usize::try_from(finding.line).unwrap_or(usize::MAX))
            .annotation(AnnotationKind::Primary.span(span));
        group = group.element(snippet).element(Level::NOTE.message(format!("the law: {law}")));
        if let Some(stage) = finding.stage.filter(|stage| *stage <= Stage::Publish) {
            group = group.element(
                Level::NOTE.message(format!("the released reader checks this at stage `{}`", stage.name())),
            );
        }
        if allowed {
            group = group.element(Level::NOTE.message("allowed by --allow, so it does not count"));
        }
        if !help.is_empty() {
            group = group.element(Level::HELP.message(help));
        }
        let text = self.renderer.render(&[group]);
        let place = format!("{}:{}:{}", clean(path, usize::MAX), finding.line, finding.column);
        settle(&text, &place, marked.is_none())
    }
}

/// How bad a finding looks.
fn level(class: Class) -> Level<'static> {
    match class {
        Class::Note => Level::NOTE,
        Class::Repairable | Class::Relation => Level::WARNING,
        Class::Reject | Class::Corrupt | Class::Unsupported => Level::ERROR,
    }
}

/// Puts the place where the marker is; takes out the snippet of a line that is not known.
fn settle(text: &str, place: &str, bare: bool) -> String {
    let mut out = String::with_capacity(text.len() + place.len());
    let mut lines = text.lines();
    for line in lines.by_ref() {
        if let Some((before, after)) = line.split_once(PLACE) {
            // Behind the marker the renderer wrote `:line:column`.
            let rest = after.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
            out.push_str(before);
            out.push_str(place);
            out.push_str(rest);
            out.push('\n');
            break;
        }
        out.push_str(line);
        out.push('\n');
    }
    if bare {
        // A bar, the empty line, its caret; what follows begins with a bar again.
        lines.by_ref().take(3).for_each(drop);
    }
    for line in lines {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A line, or the part of it around a place, made harmless.
struct Marked {
    text: String,
    span: std::ops::Range<usize>,
}

impl Marked {
    fn new(excerpt: &Excerpt, column: u64, width: usize) -> Self {
        let at = usize::try_from(column).unwrap_or(usize::MAX).saturating_sub(1);
        let at = at.saturating_sub(excerpt.from).min(excerpt.text.len());
        // The renderer trims to the width and needs only what could be shown, which no character of UTF-8 makes longer
        // than four bytes a column.
        let from = at.saturating_sub(width * 4);
        let to = (at + width * 4).min(excerpt.text.len());
        let mut text = String::new();
        if from + excerpt.from > 0 {
            text.push('…');
        }
        harmless(&excerpt.text[from..at], &mut text);
        let start = text.len();
        let length = token(&excerpt.text[at..to]);
        harmless(&excerpt.text[at..at + length], &mut text);
        let end = text.len();
        harmless(&excerpt.text[at + length..to], &mut text);
        if to < excerpt.text.len() {
            text.push('…');
        }
        Marked { text, span: start..end }
    }
}

/// Length of the scalar that stands at a place, so that all of it is underlined; of anything else one character.
fn token(bytes: &[u8]) -> usize {
    let longest = 60.min(bytes.len());
    let scalar = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
    match bytes.first() {
        None => 0,
        Some(b'"') => {
            let mut place = 1;
            while place < longest && bytes[place] != b'"' {
                place += if bytes[place] == b'\\' { 2 } else { 1 };
            }
            if place < longest { place + 1 } else { 1 }
        }
        Some(byte) if scalar(byte) => bytes[..longest].iter().take_while(|byte| scalar(byte)).count(),
        Some(_) => bytes
            .utf8_chunks()
            .next()
            .and_then(|chunk| chunk.valid().chars().next())
            .map_or(1, char::len_utf8),
    }
}

/// Appends bytes as text in which nothing moves the cursor, turns the direction or hides.
fn harmless(bytes: &[u8], out: &mut String) {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\t' => out.push(' '),
                '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
                '\u{7f}' => out.push('\u{2421}'),
                _ if is_hidden(c) => out.push('\u{fffd}'),
                _ => out.push(c),
            }
        }
        if !chunk.invalid().is_empty() {
            out.push('\u{fffd}');
        }
    }
}

/// Characters that terminals obey or hide: C1 controls, direction marks, separators of lines, joiners, tags, and the
/// private one that is our marker.
fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
            | PLACE
    )
}

/// Text for one line of a terminal: harmless, and cut when it is very long.
pub fn clean(text: &str, most: usize) -> String {
    let text: Cow<'_, str> = match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    };
    let mut out = String::with_capacity(text.len());
    harmless(text.as_bytes(), &mut out);
    out
}

/// The width to print for: `COLUMNS` where it is a number, else 100.
pub fn width() -> usize {
    std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|width| *width > 0).unwrap_or(100)
}
