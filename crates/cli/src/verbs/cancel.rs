//! `lightspeed cancel`: ends a submission of the caller's that has no verdict yet.

use clap::Args;
use domain::SubmissionId;

use crate::client::Client;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::values;

/// Flags of `cancel`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  lightspeed cancel 0190b5a0-0000-7000-8000-000000000001")]
pub(crate) struct Cancel {
    /// Id that `submit` printed
    #[arg(value_parser = values::submission)]
    submission: SubmissionId,
}

/// Cancels, and prints what it came to. The status is 0: that is what was asked for.
pub(crate) async fn run(
    arguments: Cancel,
    client: &Client,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let submission = client.cancel(arguments.submission).await?;
    if terminal.json {
        terminal.print_json(&submission);
    } else {
        terminal.print(&format!("cancelled {}", submission.summary.submission_id));
    }
    Ok(0)
}
