//! Options that every command takes.

use clap::{Args, ColorChoice, ValueEnum};
use foldproof::dialect::{self, Dialect};
use foldproof::limits::{self, Limits};
use std::io;
use std::sync::Arc;

/// Options that every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// What stdout carries
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub color: ColorChoice,
    /// The dialect of the logs: auto (by the first line), dsh-v0, tutorial, or FILE.json
    #[arg(long, global = true, default_value = "auto", value_parser = named_dialect, value_name = "NAME")]
    pub dialect: Named,
    /// Bounds that untrusted input meets
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// What stdout carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    Human,
    /// JSON for programs
    Json,
}

/// The dialect that was asked for.
#[derive(Clone, Debug)]
pub struct Named(pub Option<Arc<Dialect>>);

fn named_dialect(name: &str) -> Result<Named, String> {
    if name == "auto" {
        return Ok(Named(None));
    }
    if let Some(dialect) = dialect::by_name(name) {
        return Ok(Named(Some(Arc::new(dialect))));
    }
    if !name.ends_with(".json") {
        return Err(format!(
            "there is no such dialect; known are auto, {} and files FILE.json that hold one",
            dialect::names().join(", ")
        ));
    }
    let text = std::fs::read(name).map_err(|error| error.to_string())?;
    let dialect = dialect::from_json(&text).map_err(|error| error.to_string())?;
    Ok(Named(Some(Arc::new(dialect))))
}

/// Bounds that untrusted input meets. A flag wins over the environment.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits (N may end in K, M or G, times 1024)")]
pub struct LimitArgs {
    /// Longest line in bytes
    #[arg(long, global = true, env = "FOLDPROOF_LIMIT_LINE", hide_env_values = true, value_name = "N",
          value_parser = amount, hide_short_help = true)]
    pub limit_line: Option<u64>,
    /// Deepest nesting of a line (JSON-5)
    #[arg(long, global = true, env = "FOLDPROOF_LIMIT_DEPTH", hide_env_values = true, value_name = "N",
          value_parser = amount, hide_short_help = true)]
    pub limit_depth: Option<u64>,
    /// Most events of one log
    #[arg(long, global = true, env = "FOLDPROOF_LIMIT_EVENTS", hide_env_values = true, value_name = "N",
          value_parser = amount, hide_short_help = true)]
    pub limit_events: Option<u64>,
    /// Most bytes that one compressed log may decode to
    #[arg(long, global = true, env = "FOLDPROOF_LIMIT_DECODED", hide_env_values = true, value_name = "N",
          value_parser = amount, hide_short_help = true)]
    pub limit_decoded: Option<u64>,
    /// Most frames of one compressed log
    #[arg(long, global = true, env = "FOLDPROOF_LIMIT_FRAMES", hide_env_values = true, value_name = "N",
          value_parser = amount, hide_short_help = true)]
    pub limit_frames: Option<u64>,
    /// Most bytes of a log that are held in memory at once
    #[arg(long, global = true, env = "FOLDPROOF_LIMIT_HELD", hide_env_values = true, value_name = "N",
          value_parser = amount, hide_short_help = true)]
    pub limit_held: Option<u64>,
}

/// A count, possibly in units of 1024.
fn amount(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: u64 = digits.parse().map_err(|_| "expected a number, such as 4096, 64M or 2G".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "the number is too large".to_owned())
}

impl Global {
    /// The bounds in force.
    pub fn limits(&self) -> Limits {
        let args = &self.limits;
        Limits {
            line: args.limit_line.unwrap_or(limits::LINE),
            depth: args.limit_depth.unwrap_or(limits::DEPTH),
            events: args.limit_events.unwrap_or(limits::EVENTS),
            decoded: args.limit_decoded.unwrap_or(limits::DECODED),
            frames: args.limit_frames.unwrap_or(limits::FRAMES),
            held: args.limit_held.unwrap_or(limits::HELD),
        }
    }

    /// Whether what goes to stdout is coloured.
    pub fn colored_stdout(&self) -> bool {
        self.colored(&io::stdout())
    }

    /// Whether what goes to stderr is coloured.
    pub fn colored_stderr(&self) -> bool {
        self.colored(&io::stderr())
    }

    fn colored(&self, stream: &impl anstream::stream::RawStream) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never,
        }
    }

    /// Whether JSON was asked for.
    pub fn json(&self) -> bool {
        self.format == Format::Json
    }
}

#[cfg(test)]
mod tests {
    use super::amount;

    #[test]
    fn amounts() {
        assert_eq!(amount("4096"), Ok(4096));
        assert_eq!(amount("2k"), Ok(2048));
        assert_eq!(amount("3G"), Ok(3 << 30));
        for wrong in ["", "k", "-1", "1.5M", "99999999999999999999", "18446744073709551615K"] {
            assert!(amount(wrong).is_err(), "{wrong}");
        }
    }
}
