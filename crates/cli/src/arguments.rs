//! The command line, as the contract pins it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::verbs;

/// What every verb's status means; README.md and docs/command-line.md say it in the same words.
pub(crate) const EXIT_STATUS: &str = "Exit status: 0 accepted · 1 another verdict · \
    2 usage or invalid input · 3 judge error, unsupported, or service unreachable · 130 interrupted";

/// Lightspeed: an online judge for CUDA kernels.
#[derive(Debug, Parser)]
#[command(
    name = "lightspeed",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = EXIT_STATUS
)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Flags of every verb. Flags beat the environment, the environment beats the state folder's file.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// The service to talk to [default: the one that `up` started]
    #[arg(long, global = true, env = "LIGHTSPEED_URL", value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Token of your account, lsp_... [default: the local user's]
    #[arg(long, global = true, env = "LIGHTSPEED_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Folder of the database, the toolchain, logs and credentials
    #[arg(
        long,
        global = true,
        env = "LIGHTSPEED_STATE",
        value_name = "DIR",
        default_value = "data"
    )]
    pub(crate) state: PathBuf,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
    /// One JSON document on stdout (watch, judge --batch: one a line), errors too; progress on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Even into a file.
    Always,
    /// Not at all.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run the whole service on this machine: database, API, page and a worker
    Up(verbs::up::Up),
    /// Stop what `up` started
    Down(verbs::down::Down),
    /// Show what runs
    Status(verbs::status::Status),
    /// Judge a kernel on this machine, without a service
    Judge(verbs::judge::Judge),
    /// Hand in a kernel and watch its verdict
    Submit(verbs::submit::Submit),
    /// Follow a submission to its verdict
    Watch(verbs::watch::Watch),
    /// Show what a submission of yours was compiled to: PTX or SASS
    Code(verbs::code::Code),
    /// End a submission of yours that has no verdict yet
    Cancel(verbs::cancel::Cancel),
    /// List your submissions, newest first
    Submissions(verbs::submissions::Submissions),
    /// Show the board of a problem on a device
    Leaderboard(verbs::leaderboard::Leaderboard),
    /// Work with problems: list, show, verify
    Problem(verbs::problem::Problem),
    /// Run the API alone
    Serve(verbs::serve::Serve),
    /// Judge for a service
    Worker(verbs::worker::Worker),
    /// Show what the service can judge on
    Devices(verbs::devices::Devices),
    /// Measure what a GPU of this machine reaches at best
    Calibrate(verbs::calibrate::Calibrate),
    /// Print the OpenAPI document
    #[command(hide = true)]
    Openapi,
    #[command(name = "__measure", hide = true)]
    Measure(verbs::measure::Measure),
    #[command(name = "__toolchain", hide = true)]
    Toolchain(verbs::toolchain::Toolchain),
    #[command(name = "__with-postgres", hide = true)]
    WithPostgres(verbs::with_postgres::WithPostgres),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn exit_statuses_are_told_in_the_same_words_everywhere() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for name in ["README.md", "docs/command-line.md"] {
            let text = std::fs::read_to_string(root.join(name)).unwrap();
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(EXIT_STATUS), "{name}");
        }
    }

    #[test]
    fn every_public_verb_shows_an_example() {
        for verb in CommandLine::command().get_subcommands() {
            if verb.is_hide_set() || verb.has_subcommands() {
                continue;
            }
            let help = verb.clone().render_long_help().to_string();
            assert!(help.contains("Example"), "{}:\n{help}", verb.get_name());
        }
    }
}
