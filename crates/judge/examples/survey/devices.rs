//! Where answers are judged: surroundings for several judgings at once.

use std::path::Path;
use std::sync::Arc;

use domain::{DeviceName, SystemClock};
use judge::{Environment, Gpu, GpuInfo, Held, Lane, Toolchain};

/// Surroundings of each job, and the folder in which its judgings leave their outputs.
pub struct Jobs {
    /// One a job.
    pub environments: Vec<Environment>,
    /// Nobody else times on these cards meanwhile.
    _held: Vec<Held>,
    _folder: tempfile::TempDir,
}

impl Jobs {
    /// Makes `count` of them.
    pub fn new(toolchain: &Path, device: DeviceName, count: usize) -> Result<Self, String> {
        let toolchain = Toolchain::open(toolchain).map_err(|e| e.to_string())?;
        let clock = Arc::new(SystemClock::default());
        let mut shared = Environment::new(toolchain, clock).map_err(|e| e.to_string())?;
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        shared.cache = Some(folder.path().join("cache"));
        // Containers on rented machines often have no Landlock; the answers are public ones.
        shared.allow_unconfined = true;
        let cards = match device {
            DeviceName::Emulated => Vec::new(),
            gpu => cards(&shared, gpu)?,
        };
        let locks = cards.iter().map(|card| {
            let lane = Lane::new(&shared, gpu(device, card, card.uuid.clone()), false);
            lane.hold(&shared.cancel)
        });
        let held = locks.collect::<Result<_, String>>()?;
        let mut environments = Vec::new();
        for job in 0..count {
            let mut environment = shared.clone();
            let outputs = folder.path().join(format!("job-{job}"));
            std::fs::create_dir(&outputs).map_err(|e| e.to_string())?;
            environment.keep_outputs = Some(outputs);
            if !cards.is_empty() {
                let card = &cards[job % cards.len()];
                // Nothing is timed, so that jobs may share a card: each has a lane of another name.
                let own = gpu(device, card, format!("{}-survey-{job}", card.uuid));
                environment.lane = Some(Lane::new(&environment, own, false));
            }
            environments.push(environment);
        }
        Ok(Self {
            environments,
            _held: held,
            _folder: folder,
        })
    }
}

/// Every card of this host that is one of the wanted model.
fn cards(environment: &Environment, wanted: DeviceName) -> Result<Vec<GpuInfo>, String> {
    let cards = judge::gpus(&environment.program, environment.allow_unconfined)?;
    let cards: Vec<_> = cards
        .into_iter()
        .filter(|card| card.device == Some(wanted))
        .collect();
    if cards.is_empty() {
        return Err(format!("this host has no `{wanted}`"));
    }
    Ok(cards)
}

/// A card under a name of ours, which the driver is not asked about.
fn gpu(name: DeviceName, card: &GpuInfo, uuid: String) -> Gpu {
    Gpu {
        name,
        uuid,
        ordinal: card.ordinal,
        card: None,
        cupti: None,
    }
}
