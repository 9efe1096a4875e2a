//! `lightspeed watch`: a submission's events until its verdict.

use clap::Args;
use domain::{Report, Status, SubmissionId, Verdict};
use protocol::Event;

use crate::client::Client;
use crate::failure::Failure;
use crate::follow::follow;
use crate::progress::Ticker;
use crate::terminal::Terminal;
use crate::verbs::devices::say_if_nobody_offers;
use crate::{report_text, values};

/// Flags of `watch`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed watch 0190b5a0-0000-7000-8000-000000000001
  lightspeed watch 0190b5a0-0000-7000-8000-000000000001 --json | jq -r .event")]
pub(crate) struct Watch {
    /// Id that `submit` printed
    #[arg(value_parser = values::submission)]
    submission: SubmissionId,
}

/// Prints events as they come, then the report.
pub(crate) async fn run(
    arguments: Watch,
    client: &Client,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let id = arguments.submission;
    let summary = client.submission(id).await?.summary;
    if summary.status == Status::Queued {
        say_if_nobody_offers(client, summary.device.as_str(), id, terminal).await;
    }
    let mut print = |event: &Event| {
        if terminal.json {
            terminal.print_json_line(event);
        }
    };
    let end = to_the_end(client, id, terminal, &mut print).await?;
    if !terminal.json {
        end.print(terminal, "submission");
    }
    Ok(end.verdict.exit_code())
}

/// What a submission came to.
pub(crate) struct End {
    pub(crate) verdict: Verdict,
    pub(crate) message: Option<String>,
    pub(crate) report: Option<Box<Report>>,
}

impl End {
    /// The report, or the verdict alone where there is none (cancelled, given up).
    pub(crate) fn print(&self, terminal: Terminal, file: &str) {
        match &self.report {
            Some(report) => terminal.print(&report_text::render(report, file)),
            None => {
                let message = self.message.as_deref().unwrap_or_default();
                let verdict = crate::terminal::verdict(self.verdict);
                terminal.print(format!("{verdict}  {message}").trim_end());
            }
        }
    }
}

/// Follows a submission with progress on stderr. Ctrl-C leaves it to the judge.
pub(crate) async fn to_the_end(
    client: &Client,
    id: SubmissionId,
    terminal: Terminal,
    on_event: &mut (dyn FnMut(&Event) + Send),
) -> Result<End, Failure> {
    let ticker = std::sync::Mutex::new(Ticker::new(terminal));
    let lock = || {
        ticker
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    };
    let (mut report, mut last) = (None, None);
    let mut take = |event: &Event| {
        on_event(event);
        match event {
            Event::Status(status) => match (status.status, status.attempt) {
                (Status::Queued, 0) => lock().say("queued"),
                (Status::Queued, _) => lock().say("queued again: the worker was lost"),
                (Status::Running, 0 | 1) => lock().say("running"),
                (Status::Running, n) => lock().say(&format!("running, attempt {n}")),
                (Status::Done, _) => last = Some((status.verdict, status.message.clone())),
            },
            Event::Phase(phase) => lock().phase(phase.phase),
            Event::Progress(progress) => lock().step(progress.progress),
            Event::Report(event) => report = Some(Box::new(event.report.clone())),
        }
    };
    let mut on_break = || lock().say("the connection broke; connecting again");
    tokio::select! {
        ended = follow(client, id, &mut take, &mut on_break) => ended?,
        _ = tokio::signal::ctrl_c() => {
            lock().finish();
            terminal.say(&format!(
                "the submission goes on without you: `lightspeed watch {id}` follows it again, \
                 `lightspeed cancel {id}` ends it"
            ));
            return Err(Failure::Interrupted);
        }
    }
    lock().finish();
    let (verdict, message) = match last {
        Some((Some(verdict), message)) => (verdict, message),
        // The stream had nothing left to say: the verdict is older than the newest event.
        _ => {
            let summary = client.submission(id).await?.summary;
            let verdict = summary.verdict.unwrap_or(Verdict::JudgeError);
            (verdict, summary.message)
        }
    };
    Ok(End {
        verdict,
        message,
        report,
    })
}
