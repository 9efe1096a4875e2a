//! `lightspeed submit`: hands a source to the service and follows it.

use std::path::{Path, PathBuf};

use clap::Args;
use domain::{JudgingId, Mode};
use protocol::ErrorCode;
use protocol::submission::{Submit as Body, Submitted};

use crate::client::Client;
use crate::failure::Failure;
use crate::target::Target;
use crate::terminal::Terminal;
use crate::verbs::devices::say_if_nobody_offers;
use crate::verbs::watch::to_the_end;
use crate::{listing_text, source_file, values};

/// Flags of `submit`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed submit vector_add kernel.cu
  lightspeed submit matmul - --mode practice < kernel.cu
  lightspeed submit softmax_1d kernel.cu --json | jq .verdict
  lightspeed submit matmul kernel.cu --keep-code code && less code/code.ptx")]
pub(crate) struct Submit {
    #[command(flatten)]
    target: Target,
    /// A CUDA C++ file; - is standard input
    file: PathBuf,
    /// ranked counts on the board; practice shows more and does not
    #[arg(long, default_value = "ranked", value_name = "ranked|practice", value_parser = values::mode)]
    mode: Mode,
    /// Print the submission's id and leave
    #[arg(long)]
    no_watch: bool,
    /// Write the PTX into this folder as code.ptx, each line under the line of the file that it was
    /// made from; `judge --keep-code` has the machine code too
    #[arg(long, value_name = "DIR", conflicts_with = "no_watch")]
    keep_code: Option<PathBuf>,
}

/// Submits, and unless told otherwise waits for the verdict.
pub(crate) async fn run(
    arguments: Submit,
    client: &Client,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let source = source_file::read(&arguments.file)?;
    let text = source.as_str().to_owned();
    let device = arguments.target.device(client).await?;
    let body = Body {
        problem: arguments.target.slug,
        device,
        mode: arguments.mode,
        source: source.into(),
    };
    let submitted = client.submit(&body).await?;
    say_if_nobody_offers(client, &body.device, submitted.submission_id, terminal).await;
    if arguments.no_watch {
        print_id(submitted, terminal);
        return Ok(0);
    }
    terminal.say(&format!("submission {}", submitted.submission_id));
    let end = to_the_end(client, submitted.submission_id, terminal, &mut |_| ()).await?;
    if let Some(folder) = &arguments.keep_code {
        keep_code(client, submitted.judging_id, folder, &text, terminal).await?;
    }
    if terminal.json {
        terminal.print_json(&client.judging(submitted.judging_id).await?);
    } else {
        end.print(terminal, &arguments.file.display().to_string());
    }
    Ok(end.verdict.exit_code())
}

/// Writes the code where there is some; of what does not compile there is none.
async fn keep_code(
    client: &Client,
    judging: JudgingId,
    folder: &Path,
    source: &str,
    terminal: Terminal,
) -> Result<(), Failure> {
    match client.code(judging).await {
        Ok(code) => listing_text::keep(folder, &code.code, source, terminal),
        Err(failure) if failure.api_code() == Some(ErrorCode::NoCode.as_str()) => {
            terminal.say("no code is kept: nothing was compiled");
            Ok(())
        }
        Err(failure) => Err(failure),
    }
}

fn print_id(submitted: Submitted, terminal: Terminal) {
    if terminal.json {
        terminal.print_json(&submitted);
    } else {
        terminal.print(&submitted.submission_id.to_string());
    }
}
