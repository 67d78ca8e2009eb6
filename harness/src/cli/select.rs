//! Rules by id or area: `--select SURF,JSON-3`.

use foldproof::rule::{Class, Rule, RuleSet};

/// The rules that one word names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector(pub RuleSet);

/// Reads an id or an area; what is neither gets a suggestion.
pub fn parse(word: &str) -> Result<Selector, String> {
    let word = word.trim();
    if let Some(rule) = Rule::from_id(word) {
        return Ok(Selector(RuleSet::EMPTY.with(rule)));
    }
    let area: RuleSet =
        Rule::ALL.iter().copied().filter(|rule| rule.area().eq_ignore_ascii_case(word)).collect();
    if area != RuleSet::EMPTY {
        return Ok(Selector(area));
    }
    let mut text = format!("there is no rule or area `{word}`");
    if let Some(near) = nearest(word) {
        text.push_str(&format!("; did you mean {near}?"));
    }
    text.push_str(" (`foldproof rules` lists them)");
    Err(text)
}

/// The id or area that is the fewest edits away, if it is near enough to be meant.
fn nearest(word: &str) -> Option<&'static str> {
    // No id has that many letters, and the distance is quadratic.
    if word.len() > 32 {
        return None;
    }
    let word = word.to_ascii_uppercase();
    let names = Rule::ALL.iter().flat_map(|rule| [rule.id(), rule.area()]);
    // A word with a number means an id, one without means an area.
    let numbered = |name: &str| name.contains(|c: char| c.is_ascii_digit());
    let rank = |name: &str| (distance(&word, name), numbered(&word) != numbered(name));
    names
        .map(|name| (rank(name), name))
        .min()
        .filter(|((distance, _), _)| *distance <= 2)
        .map(|(_, name)| name)
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The rules whose findings count: those selected, or all, without those ignored.
pub fn chosen(select: &[Selector], ignore: &[Selector]) -> RuleSet {
    let union = |list: &[Selector]| list.iter().flat_map(|Selector(rules)| rules.iter()).collect::<RuleSet>();
    let selected = if select.is_empty() { Rule::ALL.iter().copied().collect() } else { union(select) };
    let ignored = union(ignore);
    selected.iter().filter(|rule| !ignored.has(*rule)).collect()
}

/// Of the rules that do not count, those that the checker need not look at: leaving them out changes no other finding.
/// A number that is rounded, a value that lies deep or a key that repeats would otherwise end the fold although nobody
/// asked.
pub fn unneeded(chosen: RuleSet) -> RuleSet {
    let lossy = [Rule::Json1, Rule::Json2, Rule::Json3, Rule::Json5, Rule::Json6];
    let alone = |rule: Rule| {
        lossy.contains(&rule)
            || rule.info().class == Class::Note
            || (rule.info().class == Class::Relation && rule != Rule::Repair6)
    };
    Rule::ALL.iter().copied().filter(|rule| alone(*rule) && !chosen.has(*rule)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(parse("surf-5"), Ok(Selector(RuleSet::EMPTY.with(Rule::Surf5))));
        assert_eq!(parse("PAIR").map(|Selector(rules)| rules.iter().count()), Ok(5));
        assert!(parse("SURF5").is_err_and(|text| text.contains("did you mean SURF-5?")));
        assert!(parse("LIFFE").is_err_and(|text| text.contains("did you mean LIFE?")));
        assert!(parse("nonsense").is_err_and(|text| !text.contains("did you mean")));
        assert!(parse("").is_err());
    }

    #[test]
    fn ignoring_wins_over_selecting() {
        let rules =
            chosen(&[Selector([Rule::Surf5, Rule::Life1].into_iter().collect())], &[parse("LIFE").unwrap()]);
        assert_eq!(rules, RuleSet::EMPTY.with(Rule::Surf5));
        assert!(chosen(&[], &[]).has(Rule::Fork4));
    }
}
