//! Values, contents and times of a log in a few words.

use super::paint::count;
use super::render::clean;
use foldproof::json::{Kind, Value};

/// Letters of a value that a line shows.
pub const QUOTED: usize = 60;

/// A short value as text.
pub fn plain(value: Value<'_>, most: usize) -> String {
    match value.as_str() {
        Some(text) => clean(&text.display(), most),
        None => clean(&String::from_utf8_lossy(value.bytes()), most),
    }
}

/// The first words of a message's content.
pub fn quote(content: Option<Value<'_>>, width: usize) -> String {
    let most = width.saturating_sub(45).clamp(20, QUOTED * 2);
    let Some(content) = content else { return "no content".into() };
    let words = |value: Value<'_>| value.as_str().map(|text| clean(&text.display(), most));
    match content.kind() {
        Kind::String => words(content).unwrap_or_default(),
        Kind::Array => {
            let inner = |block: Value<'_>| {
                let nested = || block.get("content")?.elements().find_map(|inner| words(inner.get("text")?));
                block.get("text").and_then(words).or_else(nested)
            };
            match content.elements().find_map(inner) {
                Some(text) => format!("“{text}”"),
                None if content.elements().next().is_none() => "nothing".into(),
                None => count(content.elements().count() as u64, "block"),
            }
        }
        _ => content.kind().name().to_owned(),
    }
}

/// Milliseconds since the first event.
pub fn elapsed(millis: i64) -> String {
    let sign = if millis < 0 { "-" } else { "+" };
    let millis = millis.unsigned_abs();
    let (seconds, tenths) = (millis / 1000, millis / 100 % 10);
    match seconds {
        0..60 => format!("{sign}{seconds}.{tenths}s"),
        60..3600 => format!("{sign}{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{sign}{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// An epoch time in UTC: days to a date by the civil calendar, whose years begin in March.
pub fn date(millis: i64) -> String {
    let minutes = millis.div_euclid(60_000);
    let (days, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minute / 60, minute % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400_000), "2000-02-29 00:00 UTC");
        assert_eq!(date(-60_000), "1969-12-31 23:59 UTC");
        assert_eq!(elapsed(61_000), "+1m01s");
        assert_eq!(elapsed(-1_500), "-1.5s");
        assert_eq!(elapsed(7_260_000), "+2h01m");
    }
}
