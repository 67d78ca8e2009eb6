//! Findings as workflow commands of GitHub Actions, which shows them beside the changed lines of a pull request.
//!
//! A command is a line `::NAME KEY=VALUE,KEY=VALUE::MESSAGE`. Values may not hold what separates them, so `%`, line
//! breaks, and in properties also `:` and `,` are written as `%` with two hex digits.

use super::render::clean;
use foldproof::finding::Finding;
use foldproof::rule::Class;

/// The command for a finding of the log at `path`; `allowed` is one that does not count.
pub fn finding(path: &str, finding: &Finding, allowed: bool) -> String {
    let name = match finding.class {
        _ if allowed => "notice",
        Class::Note => "notice",
        Class::Repairable | Class::Relation => "warning",
        Class::Reject | Class::Corrupt | Class::Unsupported => "error",
    };
    let mut properties = vec![("file", path.to_owned()), ("line", finding.line.to_string())];
    // Columns are characters; where the bytes before the place are not at hand, none is better than a wrong one.
    if let Some(column) = finding.character() {
        properties.push(("col", column.to_string()));
    }
    properties.push(("title", format!("{} ({})", finding.rule, finding.class.name())));
    let mut message = clean(&finding.message, usize::MAX);
    if !finding.help.is_empty() {
        message.push('\n');
        message.push_str(&clean(&finding.help, usize::MAX));
    }
    command(name, &properties, &message)
}

/// The command for a log that could not be read.
pub fn unreadable(path: &str, why: &str) -> String {
    let properties = [("file", path.to_owned()), ("title", "unreadable".to_owned())];
    command("error", &properties, &clean(why, usize::MAX))
}

fn command(name: &str, properties: &[(&str, String)], message: &str) -> String {
    let properties: Vec<String> =
        properties.iter().map(|(key, value)| format!("{key}={}", escape(value, ":,"))).collect();
    format!("::{name} {}::{}\n", properties.join(","), escape(message, ""))
}

/// Writes `%`, line breaks and what else is named as `%` with two hex digits.
fn escape(text: &str, also: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '%' | '\r' | '\n') || also.contains(letter) {
            out.push_str(&format!("%{:02X}", u32::from(letter)));
        } else {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_command_early() {
        let properties = [("file", "a,b:c%\n".to_owned()), ("line", "3".to_owned())];
        assert_eq!(
            command("error", &properties, "100 %: one,\r\ntwo::"),
            "::error file=a%2Cb%3Ac%25%0A,line=3::100 %25: one,%0D%0Atwo::\n"
        );
    }
}
