//! The law of redacted logs: what is wrong with a log is wrong with its redaction.

use super::{Applied, Context, Violation};
use crate::case::Encoding;
use crate::systems::{Outcome, known};
use crate::tools::redact::redact;
use foldproof::codec::lines::Lines;
use foldproof::dialect::Dialect;
use foldproof::limits::Limits;
use foldproof::rule::Rule;
use std::collections::BTreeSet;
use std::io::Cursor;

/// Redacting keeps the number of events and every finding that is stronger than a note.
pub(super) fn keeps_verdict(context: &Context<'_>) -> Result<Applied, Violation> {
    let Some(dialect) = known(&context.case.dialect) else { return Ok(Applied(0)) };
    let mut chances = 0;
    for (place, log, encoding) in context.logs() {
        let Some(Outcome::Ok(before)) = context.check(log.bytes(), encoding) else { continue };
        let wrong = |rule, message: String| Violation::new(place, rule, message);
        let redacted = redacted(log.bytes(), encoding, &dialect).map_err(|why| {
            wrong("STORE-3", format!("a log that can be checked cannot be redacted: {why}"))
        })?;
        let after = match context.check(&redacted, encoding) {
            Some(Outcome::Ok(after)) => after,
            // A system that does not answer a second time is another property's matter.
            _ => continue,
        };
        chances += 1;
        let (before, after) = (counted(&before), counted(&after));
        if before != after {
            let rule = changed(&before, &after).map_or("STORE-3", Rule::id);
            return Err(wrong(rule, "a redacted log has another verdict or other findings".into())
                .between(told(&before), told(&after)));
        }
    }
    Ok(Applied(chances))
}

fn redacted(log: &[u8], encoding: Encoding, dialect: &Dialect) -> Result<Vec<u8>, String> {
    let limits = Limits::default();
    let mut lines = match encoding {
        Encoding::Plain => Lines::plain(Box::new(log), limits),
        Encoding::Zstd => {
            Lines::compressed(Box::new(Cursor::new(log)), limits, true).map_err(|error| error.to_string())?
        }
    };
    let mut out = vec![];
    redact(&mut lines, dialect, &mut out).map_err(|error| error.to_string())?;
    Ok(out)
}

/// The number of events and the findings of a verdict, each as it is written. Notes are left out: what chunks join to
/// (PAIR-5) and how keys are spelled (JSON-7) is what redacting takes away.
fn counted(verdict: &str) -> BTreeSet<&str> {
    let (events, findings) = verdict.split_once(",\"findings\":[").unwrap_or((verdict, ""));
    let findings = findings.trim_end_matches("]}").split_inclusive('}');
    let findings = findings.map(|finding| finding.trim_start_matches(','));
    findings.filter(|finding| !finding.contains("\"class\":\"note\"")).chain([events]).collect()
}

fn told(findings: &BTreeSet<&str>) -> String {
    findings.iter().copied().collect::<Vec<_>>().join(" ")
}

/// The rule of the first finding that only one side has.
fn changed(before: &BTreeSet<&str>, after: &BTreeSet<&str>) -> Option<Rule> {
    before.symmetric_difference(after).find_map(|finding| {
        let (id, _) = finding.split_once("\"rule\":\"")?.1.split_once('"')?;
        Rule::from_id(id)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_of_a_verdict() {
        let note = r#"{"rule":"JSON-7","class":"note","line":2,"seq":0}"#;
        let open = r#"{"rule":"REPAIR-2","class":"repairable","line":3,"seq":1}"#;
        let with = |findings: &str| format!(r#"{{"events":2,"findings":[{findings}]}}"#);
        let (none, noted, both) = (with(""), with(note), with(&format!("{note},{open}")));
        assert_eq!(counted(&none), counted(&noted));
        assert_eq!(counted(&none).len(), 1);
        assert_eq!(counted(&both).difference(&counted(&none)).copied().collect::<Vec<_>>(), [open]);
        assert_eq!(changed(&counted(&none), &counted(&both)).map(Rule::id), Some("REPAIR-2"));
        let more = both.replace("\"events\":2", "\"events\":3");
        assert!(counted(&more) != counted(&both) && changed(&counted(&more), &counted(&both)).is_none());
    }
}
