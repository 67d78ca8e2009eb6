//! Colour and numbers for people.

use anstyle::{AnsiColor, Style};
use foldproof::rule::Class;
use std::fmt;

/// Puts colour on text, or does not.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// With colour or without.
    pub fn new(on: bool) -> Self {
        Paint { on }
    }

    /// Whether colour is put on.
    pub fn is_on(self) -> bool {
        self.on
    }

    /// Text in a style.
    pub fn put(self, style: Style, text: impl fmt::Display) -> String {
        if self.on { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// Bold text.
    pub fn bold(self, text: impl fmt::Display) -> String {
        self.put(Style::new().bold(), text)
    }

    /// Text that stands back.
    pub fn dim(self, text: impl fmt::Display) -> String {
        self.put(Style::new().dimmed(), text)
    }

    /// A verdict in the colour of its class.
    pub fn verdict(self, verdict: &str) -> String {
        let class = Class::ALL.into_iter().find(|class| class.name() == verdict);
        let color = match class {
            None => AnsiColor::Green,
            Some(Class::Note) => AnsiColor::Cyan,
            Some(Class::Repairable | Class::Relation) => AnsiColor::Yellow,
            Some(Class::Reject | Class::Corrupt | Class::Unsupported) => AnsiColor::Red,
        };
        self.put(color.on_default().bold(), verdict)
    }
}

/// A number with a comma between thousands.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes in a unit that suits it.
pub fn bytes(number: u64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if number < 1000 {
        return format!("{number} B");
    }
    let mut tenths = number / 100;
    let mut place = 0;
    while tenths >= 10_000 && place + 1 < units.len() {
        tenths /= 1000;
        place += 1;
    }
    format!("{}.{} {}", thousands(tenths / 10), tenths % 10, units[place])
}

/// A count with its noun in the right number.
pub fn count(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(9_100_000), "9.1 MB");
        assert_eq!(bytes(1_000), "1.0 kB");
        assert_eq!(bytes(u64::MAX), "18.4 EB");
        assert_eq!(count(1, "log"), "1 log");
        assert_eq!(count(12_345, "event"), "12,345 events");
    }
}
