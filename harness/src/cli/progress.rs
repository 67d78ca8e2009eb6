//! How far a check is, on stderr, when someone looks.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};

/// A bar over the bytes of the logs; nothing when stderr is no terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    read: AtomicU64,
}

impl Progress {
    /// Over so many bytes.
    pub fn new(total: u64) -> Self {
        let shown = std::io::stderr().is_terminal() && total > 0;
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {msg}") {
            bar.set_style(style);
        }
        Progress { bar, read: AtomicU64::new(0) }
    }

    /// Where readers count.
    pub fn read(&self) -> &AtomicU64 {
        &self.read
    }

    /// Draws what was read, and the log that was finished last.
    pub fn show(&self, what: &str) {
        if !self.bar.is_hidden() {
            self.bar.set_position(self.read.load(Ordering::Relaxed));
            self.bar.set_message(super::render::clean(what, 40));
        }
    }

    /// Prints while the bar is out of the way.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
