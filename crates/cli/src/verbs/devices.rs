//! `lightspeed devices`: what the service can judge on now.

use clap::Args;
use domain::DeviceKind;
use protocol::device::{DeviceList, DeviceView};
use protocol::routes;

use crate::client::Client;
use crate::failure::Failure;
use crate::table::Table;
use crate::terminal::Terminal;

/// Flags of `devices`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed devices
  lightspeed devices --json | jq -r '.devices[] | select(.live_workers > 0).name'")]
pub(crate) struct Devices {}

/// Prints every device with its workers and its queue.
pub(crate) async fn run(client: &Client, terminal: Terminal) -> Result<u8, Failure> {
    let list: DeviceList = client.get(routes::DEVICES).await?;
    if terminal.json {
        terminal.print_json(&list);
        return Ok(0);
    }
    let mut table = Table::new(&["device", "results", ">workers", ">queued"]);
    for device in &list.devices {
        let results = match device.kind {
            DeviceKind::Gpu => "measured",
            DeviceKind::Emulated => "counted",
        };
        table.row(vec![
            device.name.to_string(),
            results.to_owned(),
            device.live_workers.to_string(),
            device.queued.to_string(),
        ]);
    }
    terminal.print(&table.render());
    Ok(0)
}

/// The device that `auto` means for a submission: a GPU that a live worker offers, in the contract's
/// order; else the emulated device.
pub(crate) async fn best_offered(client: &Client) -> Result<String, Failure> {
    let list: DeviceList = client.get(routes::DEVICES).await?;
    Ok(choose(&list.devices).to_owned())
}

fn choose(devices: &[DeviceView]) -> &'static str {
    let offered = devices
        .iter()
        .filter(|d| d.live_workers > 0)
        .find(|d| d.kind == DeviceKind::Gpu);
    offered.map_or("emulated", |device| device.name.as_str())
}

#[cfg(test)]
mod tests {
    use domain::DeviceName;

    use super::*;

    #[test]
    fn auto_prefers_a_gpu_that_somebody_serves() {
        let device = |name: DeviceName, live_workers| DeviceView {
            name,
            kind: name.kind(),
            live_workers,
            queued: 0,
            description: None,
        };
        let emulated = device(DeviceName::Emulated, 1);
        assert_eq!(
            choose(&[emulated.clone(), device(DeviceName::H200, 0)]),
            "emulated"
        );
        assert_eq!(choose(&[emulated, device(DeviceName::H200, 2)]), "h200");
        assert_eq!(choose(&[]), "emulated");
    }
}
