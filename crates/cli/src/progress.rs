//! Telling a waiting person what happens: one redrawn line on a terminal, plain lines elsewhere.

use std::time::Duration;

use domain::{Phase, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::Terminal;

/// Where progress goes.
pub(crate) struct Ticker {
    terminal: Terminal,
    bar: Option<ProgressBar>,
    /// What is worked at, where there are several; stands before everything that is said.
    about: String,
    /// The phase that was named last, so that plain lines name each once.
    phase: Option<Phase>,
}

impl Ticker {
    /// Draws nothing until told something.
    pub(crate) fn new(terminal: Terminal) -> Self {
        let bar = terminal.animated.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(
                ProgressStyle::with_template("{spinner} {msg} {elapsed:.dim}")
                    .expect("the template is well-formed"),
            );
            bar
        });
        Self {
            terminal,
            bar,
            about: String::new(),
            phase: None,
        }
    }

    /// From now on it is about this.
    pub(crate) fn about(&mut self, what: &str) {
        self.phase = None;
        self.about = format!("{what}: ");
    }

    /// Something happens that has no steps.
    pub(crate) fn say(&mut self, text: &str) {
        self.phase = None;
        let text = format!("{}{text}", self.about);
        match &self.bar {
            Some(bar) => {
                bar.enable_steady_tick(Duration::from_millis(120));
                bar.set_message(text);
            }
            None => self.terminal.say(&text),
        }
    }

    /// A phase began.
    pub(crate) fn phase(&mut self, phase: Phase) {
        if self.phase != Some(phase) {
            self.say(phase.as_str());
            self.phase = Some(phase);
        }
    }

    /// Steps of a phase are finished. Plain lines would be too many, so they name the phase alone.
    pub(crate) fn step(&mut self, progress: Progress) {
        self.phase(progress.phase);
        if let Some(bar) = &self.bar {
            let Progress { phase, done, total } = progress;
            bar.set_message(format!("{}{phase} {done}/{total}", self.about));
        }
    }

    /// Takes the redrawn line away.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.finish();
    }
}
