//! `lightspeed submissions`: what the caller has handed in, newest first.

use clap::Args;
use domain::Status;
use protocol::submission::{SubmissionList, SubmissionSummary};

use crate::client::Client;
use crate::failure::Failure;
use crate::report_text::ratio;
use crate::table::Table;
use crate::terminal::{self, Terminal, dim};
use crate::values;

/// Flags of `submissions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed submissions
  lightspeed submissions --problem vector_add --limit 5
  lightspeed submissions --json | jq -r '.submissions[] | [.submission_id, .verdict] | @tsv'")]
pub(crate) struct Submissions {
    /// Rows to show
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = values::whole(1..=100))]
    limit: u32,
    /// Only those to this problem
    #[arg(long, value_name = "SLUG")]
    problem: Option<String>,
}

/// Prints the list.
pub(crate) async fn run(
    arguments: Submissions,
    client: &Client,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let problem = arguments.problem.as_deref();
    let list = client.submissions(problem, arguments.limit).await?;
    if let Some(slug) = problem.filter(|_| list.submissions.is_empty()) {
        client.problem(slug).await?; // none of a misspelt name is no answer
    }
    if terminal.json {
        terminal.print_json(&list);
    } else {
        terminal.print(&render(&list, problem));
    }
    Ok(0)
}

fn render(list: &SubmissionList, problem: Option<&str>) -> String {
    if list.submissions.is_empty() {
        let to = problem.map_or_else(String::new, |slug| format!(" to `{slug}`"));
        return format!("  no submissions{to} yet: hand one in with `lightspeed submit`\n");
    }
    let mut table = Table::new(&[
        "submission",
        "problem",
        "device",
        "mode",
        "verdict",
        ">score",
        "handed in (UTC)",
    ]);
    for submission in &list.submissions {
        table.row(row(submission));
    }
    let mut text = table.render();
    if list.next_before.is_some() {
        text.push_str(&format!("  {}\n", dim("there are more: --limit")));
    }
    text
}

fn row(submission: &SubmissionSummary) -> Vec<String> {
    let problem = &submission.problem;
    let score = submission.score.as_ref().and_then(|score| score.value);
    vec![
        submission.submission_id.to_string(),
        format!("{} v{}", problem.slug, problem.version),
        submission.device.to_string(),
        submission.mode.to_string(),
        standing(submission),
        score.map(ratio).unwrap_or_default(),
        submission.created_at.format("%Y-%m-%d %H:%M").to_string(),
    ]
}

/// The verdict, or how far it is from one.
fn standing(submission: &SubmissionSummary) -> String {
    match (submission.verdict, submission.status, submission.progress) {
        (Some(verdict), _, _) => {
            let kind = submission.kind.map(|kind| format!(" ({kind})"));
            format!("{}{}", terminal::verdict(verdict), kind.unwrap_or_default())
        }
        (None, Status::Queued, _) => "queued".to_owned(),
        (None, Status::Running, Some(progress)) => progress.phase.to_string(),
        (None, _, _) => "running".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn list() -> SubmissionList {
        let row = |last: u32, status: &str, verdict: Option<&str>, score: Option<f64>| {
            let score = score.map(|value| {
                json!({"metric": "traffic_efficiency", "value": value, "strict_sol": null,
                    "worst_shape": null, "scoring_version": 1})
            });
            json!({
                "submission_id": format!("0190b5a0-0000-7000-8000-00000000000{last}"),
                "judging_id": "0190b5a0-0000-7000-8000-000000000009",
                "problem": {"slug": "vector_add", "version": 1}, "device": "emulated",
                "mode": "ranked", "status": status, "progress": null, "verdict": verdict,
                "kind": null, "message": null, "score": score,
                "created_at": "2026-01-02T03:04:05Z", "finished_at": null
            })
        };
        let rows = [
            row(3, "queued", None, None),
            row(2, "done", Some("wrong_answer"), None),
            row(1, "done", Some("accepted"), Some(0.75)),
        ];
        serde_json::from_value(json!({"submissions": rows, "next_before": null})).unwrap()
    }

    #[test]
    fn a_row_tells_what_it_was_and_where_it_stands() {
        console::set_colors_enabled(false);
        let text = render(&list(), None);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let expected = [
            "submission                            problem        device    mode    verdict       score  handed in (UTC)",
            "0190b5a0-0000-7000-8000-000000000003  vector_add v1  emulated  ranked  queued               2026-01-02 03:04",
            "0190b5a0-0000-7000-8000-000000000002  vector_add v1  emulated  ranked  wrong_answer         2026-01-02 03:04",
            "0190b5a0-0000-7000-8000-000000000001  vector_add v1  emulated  ranked  accepted      0.750  2026-01-02 03:04",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn nothing_handed_in_is_said() {
        let list = SubmissionList {
            submissions: Vec::new(),
            next_before: None,
        };
        assert_eq!(
            render(&list, Some("matmul")),
            "  no submissions to `matmul` yet: hand one in with `lightspeed submit`\n"
        );
    }
}
