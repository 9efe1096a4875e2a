//! `lightspeed devices`: what the service can judge on now.

use clap::Args;
use domain::{DeviceKind, SubmissionId};
use protocol::device::DeviceView;

use crate::client::Client;
use crate::failure::Failure;
use crate::table::Table;
use crate::terminal::Terminal;

/// Flags of `devices`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed devices
  lightspeed devices --json | jq -r '.devices[] | select(.live_workers > 0).name'

Asks the service. Without one, `lightspeed judge` takes this machine's GPU, or else the emulated device.")]
pub(crate) struct Devices {}

/// Prints every device with its workers and its queue.
pub(crate) async fn run(client: &Client, terminal: Terminal) -> Result<u8, Failure> {
    let list = client.devices().await?;
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
    let list = client.devices().await?;
    Ok(choose(&list.devices).to_owned())
}

/// Says that a submission to `device` waits, when no live worker offers it now. Where the service does
/// not tell, nothing is said.
pub(crate) async fn say_if_nobody_offers(
    client: &Client,
    device: &str,
    id: SubmissionId,
    terminal: Terminal,
) {
    let Ok(list) = client.devices().await else {
        return;
    };
    if let Some(text) = nobody_offers(&list.devices, device, id) {
        terminal.say(&text);
    }
}

fn nobody_offers(devices: &[DeviceView], device: &str, id: SubmissionId) -> Option<String> {
    let offered = offered(devices);
    if offered.contains(&device) {
        return None;
    }
    let others = match offered.as_slice() {
        [] => "no device has a worker".to_owned(),
        names => format!("workers offer: {}", names.join(" ")),
    };
    Some(format!(
        "no worker offers `{device}` now ({others}); the submission waits for one\n  \
         cancel it with `lightspeed cancel {id}`, or go on waiting"
    ))
}

/// Names of the devices that a live worker offers.
pub(crate) fn offered(devices: &[DeviceView]) -> Vec<&'static str> {
    let live = devices.iter().filter(|device| device.live_workers > 0);
    live.map(|device| device.name.as_str()).collect()
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

    fn device(name: DeviceName, live_workers: u64) -> DeviceView {
        DeviceView {
            name,
            kind: name.kind(),
            live_workers,
            queued: 0,
            description: None,
        }
    }

    #[test]
    fn a_device_without_a_worker_is_told_of() {
        let id = "0190b5a0-0000-7000-8000-000000000001".parse().unwrap();
        let devices = [device(DeviceName::Emulated, 1), device(DeviceName::H200, 0)];
        assert_eq!(nobody_offers(&devices, "emulated", id), None);
        assert_eq!(
            nobody_offers(&devices, "h200", id).unwrap(),
            "no worker offers `h200` now (workers offer: emulated); the submission waits for one\n  \
             cancel it with `lightspeed cancel 0190b5a0-0000-7000-8000-000000000001`, or go on waiting"
        );
        let none = nobody_offers(&[], "h200", id).unwrap();
        assert!(none.contains("no device has a worker"), "{none}");
    }

    #[test]
    fn auto_prefers_a_gpu_that_somebody_serves() {
        let emulated = device(DeviceName::Emulated, 1);
        assert_eq!(
            choose(&[emulated.clone(), device(DeviceName::H200, 0)]),
            "emulated"
        );
        assert_eq!(choose(&[emulated, device(DeviceName::H200, 2)]), "h200");
        assert_eq!(choose(&[]), "emulated");
    }
}
