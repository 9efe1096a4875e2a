//! `lightspeed leaderboard`: the best of each user on a problem and a device.

use clap::Args;
use domain::report::ScoreMetric;
use protocol::board::{Board, BoardEntry};

use crate::client::Client;
use crate::failure::Failure;
use crate::local::parse_device;
use crate::report_text::{approximate, ratio};
use crate::table::Table;
use crate::target::Target;
use crate::terminal::{Terminal, bold, dim};
use crate::values;

/// Flags of `leaderboard`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed leaderboard vector_add
  lightspeed leaderboard matmul --device h200 --limit 10 --json")]
pub(crate) struct Leaderboard {
    #[command(flatten)]
    target: Target,
    /// Rows to show
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = values::whole(1..=1000))]
    limit: u32,
}

/// Prints the board.
pub(crate) async fn run(
    arguments: Leaderboard,
    client: &Client,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let name = arguments.target.device(client).await?;
    let device = parse_device(&name)?;
    let board = client
        .board(&arguments.target.slug, device, arguments.limit)
        .await?;
    if terminal.json {
        terminal.print_json(&board);
    } else {
        terminal.print(&render(&board));
    }
    Ok(0)
}

fn render(board: &Board) -> String {
    let problem = &board.problem;
    let title = format!("{} v{} on {}", problem.slug, problem.version, board.device);
    let mut text = format!("{}  {}\n", bold(title), dim(heading(board.metric)));
    if board.entries.is_empty() {
        text.push_str("  nobody yet\n");
        return text;
    }
    let mut table = Table::new(&[">rank", "user", ">score", "lowest on", "judged"]);
    for entry in &board.entries {
        table.row(row(entry, board.metric));
    }
    let beyond = board.yours.as_ref().filter(|yours| {
        board
            .entries
            .iter()
            .all(|entry| entry.user.user_id != yours.user.user_id)
    });
    if let Some(yours) = beyond {
        table.row(row(yours, board.metric));
    }
    text.push_str(&table.render());
    let shown = board.entries.len() as u64;
    if board.total > shown {
        text.push_str(&format!(
            "  {}\n",
            dim(format!("{} more", board.total - shown))
        ));
    }
    text
}

/// What the scores are.
fn heading(metric: ScoreMetric) -> &'static str {
    match metric {
        ScoreMetric::Sol => "score: SOL, measured (T_SOL / T; 1 is the hardware's limit)",
        ScoreMetric::ModelledSol => "score: SOL, modelled (T_SOL / T; nothing was measured)",
        ScoreMetric::TrafficEfficiency => {
            "score: traffic efficiency, counted (bytes that must move / bytes moved)"
        }
    }
}

fn row(entry: &BoardEntry, metric: ScoreMetric) -> Vec<String> {
    vec![
        entry.rank.to_string(),
        entry.user.name.clone(),
        number(entry.value, metric),
        entry.worst_shape.clone().unwrap_or_default(),
        entry.judged_at.format("%Y-%m-%d %H:%M").to_string(),
    ]
}

/// A score, told apart where it was not measured.
fn number(value: f64, metric: ScoreMetric) -> String {
    match metric {
        ScoreMetric::ModelledSol => approximate(&ratio(value)),
        ScoreMetric::Sol | ScoreMetric::TrafficEfficiency => ratio(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modelled_number_is_told_apart() {
        assert_eq!(number(0.5, ScoreMetric::ModelledSol), "~0.500");
        assert_eq!(number(0.5, ScoreMetric::Sol), "0.500");
    }

    #[test]
    fn the_heading_says_whether_scores_were_measured() {
        let cases = [
            (ScoreMetric::Sol, "SOL, measured"),
            (ScoreMetric::ModelledSol, "SOL, modelled"),
            (
                ScoreMetric::TrafficEfficiency,
                "traffic efficiency, counted",
            ),
        ];
        for (metric, words) in cases {
            assert!(heading(metric).contains(words), "{metric:?}");
        }
    }
}
