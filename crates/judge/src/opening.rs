//! Children for a judging, made ready while its source is compiled.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use device::{OpenRequest, Target};
use domain::{DeviceKind, Verdict};

use crate::lane::{Lane, Occupied};
use crate::outcome::Interruption;
use crate::pair::{Pair, Start, simulated_bytes};
use crate::{Environment, JudgeRequest};

/// Children on their way.
pub(crate) enum Opening {
    /// Started by the judging's thread, which outlives them.
    Emulated {
        pair: Box<Pair>,
        request: Box<OpenRequest>,
    },
    /// The lane's.
    OnLane { lane: Arc<Lane>, mailbox_bytes: u64 },
}

/// A judging's children, and the card that they are on.
pub(crate) type Children = (Box<Pair>, Option<Occupied>);

impl Opening {
    /// Begins. `cpu`: processor time of a child of the emulated device.
    pub fn begin(
        environment: &Environment,
        request: &JudgeRequest,
        mailbox_bytes: u64,
        cpu: Duration,
    ) -> Result<Self, Interruption> {
        if request.device.kind() == DeviceKind::Gpu {
            let lane = environment.lane.as_ref();
            let lane = lane.filter(|lane| lane.gpu().name == request.device);
            let lane = lane.ok_or_else(|| Interruption {
                verdict: Verdict::Unsupported,
                kind: None,
                message: format!("this host has no `{}`", request.device),
            })?;
            lane.prepare_for(mailbox_bytes);
            return Ok(Self::OnLane {
                lane: Arc::clone(lane),
                mailbox_bytes,
            });
        }
        let target = Target::Emulated;
        let pair = Pair::start(&Start {
            program: &environment.program,
            target: &target,
            mailbox_bytes,
            simulated_bytes: simulated_bytes(request.package.limits.memory_bytes),
            cpu,
            allow_unconfined: environment.allow_unconfined,
        })?;
        let limits = scoring::device(request.device).limits.clone();
        Ok(Self::Emulated {
            pair: Box::new(pair),
            request: Box::new(OpenRequest { target, limits }),
        })
    }

    /// Does something until the children are ready. A card is entered only when that went well: a source
    /// that does not compile holds up nobody.
    pub fn meanwhile<T>(
        self,
        cancel: &Arc<AtomicBool>,
        act: impl FnOnce() -> Result<T, Interruption>,
    ) -> Result<(T, Children), Interruption> {
        match self {
            Self::OnLane {
                lane,
                mailbox_bytes,
            } => {
                let done = act()?;
                let (pair, card) = lane.enter(mailbox_bytes, cancel)?;
                Ok((done, (pair, Some(card))))
            }
            Self::Emulated { mut pair, request } => {
                let (opened, done) = std::thread::scope(|scope| {
                    let opening = scope.spawn(|| pair.open(&request, None, cancel));
                    let done = act();
                    (opening.join(), done)
                });
                let done = done?;
                let panicked = |_| Interruption::ours("a child's opening panicked".into());
                opened.map_err(panicked)??;
                Ok((done, (pair, None)))
            }
        }
    }
}
