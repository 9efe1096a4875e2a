//! What the verbs that speak of one problem on one device of a service have in common.

use clap::Args;

use crate::client::Client;
use crate::failure::Failure;
use crate::verbs::devices::best_offered;

/// A problem and a device.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// The problem
    pub(crate) slug: String,
    /// The device, or `auto`: the first that a live worker offers
    #[arg(
        long,
        env = "LIGHTSPEED_DEVICE",
        default_value = "auto",
        value_name = "NAME"
    )]
    device: String,
}

impl Target {
    /// The device's name; asks the service where none was named.
    pub(crate) async fn device(&self, client: &Client) -> Result<String, Failure> {
        match self.device.as_str() {
            "auto" => best_offered(client).await,
            name => Ok(name.to_owned()),
        }
    }
}
