//! `lightspeed calibrate`: measures what a GPU of this machine reaches at best.

use std::path::PathBuf;

use clap::Args;
use judge::calibration::{Calibration, calibrate};

use crate::arguments::Global;
use crate::failure::Failure;
use crate::local;
use crate::progress::Ticker;
use crate::table::Table;
use crate::terminal::{Terminal, dim};

/// Flags of `calibrate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed calibrate
  lightspeed calibrate --gpu 1 --json | jq .ceilings

Takes some seconds, in which nobody else may use the card. The figures are kept in the state folder;
reports of judgings on that card carry them from then on. Scores do not change.")]
pub(crate) struct Calibrate {
    #[command(flatten)]
    card: local::Card,
}

/// Calibrates, keeps the figures and prints them beside the datasheet's.
pub(crate) async fn run(
    arguments: Calibrate,
    global: &Global,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let state = local::state_folder(global, terminal)?;
    let mut ticker = Ticker::new(terminal);
    let environment = arguments
        .card
        .environment(&state, &mut |step| ticker.say(step))?;
    let folder = environment.calibrations.clone();
    let measured = tokio::task::spawn_blocking(move || {
        calibrate(&environment, &mut |step| terminal.say(step))
    });
    let measured = measured
        .await
        .map_err(|error| Failure::unavailable(error.to_string(), ""))?;
    let calibration = measured.map_err(|why| {
        Failure::unavailable(
            why,
            "see that the card is free and that CUPTI is in the toolchain",
        )
    })?;
    let stored = folder.map(|folder| calibration.store(&folder)).transpose();
    let path =
        stored.map_err(|why| Failure::unavailable(why, "name another folder with --state"))?;
    if terminal.json {
        terminal.print_json(&calibration);
    } else {
        terminal.print(&text(&calibration, path));
    }
    // A figure that failed is told; the others stand.
    Ok(u8::from(!calibration.missing.is_empty()))
}

fn text(calibration: &Calibration, path: Option<PathBuf>) -> String {
    let mut table = Table::new(&["what", ">measured", ">datasheet", ">share"]);
    for row in calibration.rows() {
        table.row(vec![
            row.what.clone(),
            row.measured_text(),
            row.peak_text().unwrap_or_default(),
            row.share()
                .map_or_else(String::new, |share| format!("{share:.3}")),
        ]);
    }
    let mut text = format!("{} {}\n", calibration.model, dim(&calibration.gpu_uuid));
    text.push_str(&table.render());
    for (figure, why) in &calibration.missing {
        text.push_str(&format!("  {figure} is missing: {why}\n"));
    }
    if let Some(path) = path {
        text.push_str(&format!("  kept in {}\n", path.display()));
    }
    text
}
