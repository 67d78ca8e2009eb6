//! Command lines that people copy: paths quoted for a shell, and names for what a command would write.

/// Text as one word of a POSIX shell.
pub fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// A path as one word; one that looks like an option is told from one.
pub fn word(path: &str) -> String {
    if path.starts_with('-') { quote(&format!("./{path}")) } else { quote(path) }
}

/// The path with a word in front of its suffix: `a.jsonl.zstd` becomes `a.WORD.jsonl.zstd`.
pub fn with(path: &str, word: &str) -> String {
    let suffixes = [".jsonl.zstd", ".jsonl.zst", ".zst", ".jsonl"];
    match suffixes.iter().find(|suffix| path.ends_with(*suffix) && path.len() > suffix.len()) {
        Some(suffix) => format!("{}.{word}{suffix}", &path[..path.len() - suffix.len()]),
        None => format!("{path}.{word}"),
    }
}

/// The path with the suffix of an encoding, and a word in front of that where the name would be the same or a word is
/// wanted.
pub fn recoded(path: &str, tag: &str, compressed: bool) -> String {
    let suffixes = [".jsonl.zstd", ".jsonl.zst", ".zst", ".jsonl"];
    let stem = suffixes.iter().find_map(|suffix| path.strip_suffix(suffix));
    let stem = stem.filter(|stem| !stem.is_empty() && !stem.ends_with('/')).unwrap_or(path);
    let suffix = if compressed { "jsonl.zstd" } else { "jsonl" };
    let name = format!("{stem}.{suffix}");
    match tag {
        "" if name != path => name,
        "" => format!("{stem}.new.{suffix}"),
        tag => format!("{stem}.{tag}.{suffix}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_names() {
        assert_eq!(quote("a/b.jsonl"), "a/b.jsonl");
        assert_eq!(quote("a b"), "'a b'");
        assert_eq!(quote("it's"), "'it'\\''s'");
        assert_eq!(word("-x.jsonl"), "./-x.jsonl");
        assert_eq!(with("d/a.jsonl.zstd", "repaired"), "d/a.repaired.jsonl.zstd");
        assert_eq!(with("a.log", "repaired"), "a.log.repaired");
        assert_eq!(recoded("a.jsonl.zstd", "", false), "a.jsonl");
        assert_eq!(recoded("a.jsonl", "", true), "a.jsonl.zstd");
        assert_eq!(recoded("a.jsonl", "", false), "a.new.jsonl");
        assert_eq!(recoded("a.jsonl.zstd", "headed", false), "a.headed.jsonl");
    }
}
