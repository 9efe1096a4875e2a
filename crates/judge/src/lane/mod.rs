//! One GPU and the children that wait for its next judging.
//!
//! Driver, context and the judge's own kernels take a second or two to be ready. A lane makes them ready
//! before they are needed: while a source is compiled or between two judgings, when nothing is timed on the
//! card, and holding the card's lock. Each pair of children serves one judging and is gone afterwards.
//!
//! Children die with the thread that started them, so a thread of the lane starts them all.

mod lock;
mod nursery;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use self::lock::LaneLock;
use self::nursery::{Crew, Nursery, Order};
use crate::compile::wire::{KernelSet, KernelsJob};
use crate::compile::{KERNELS_WALL, kernels};
use crate::outcome::Interruption;
use crate::pair::{Pair, Start};
use crate::{Environment, Gpu};

/// Room for outputs in children that are started before the problem is known. The first part of it is
/// pinned memory at once (`Opened::pin`), the rest becomes memory as it is written.
const SPARE_MAILBOX_BYTES: u64 = 8 << 30;
/// Processor time of a child over its judging. Runs have limits of their own.
const CPU: Duration = Duration::from_secs(600);
/// How often somebody who waits for children looks whether he is still wanted.
const INTERVAL: Duration = Duration::from_millis(20);

/// One GPU, used by one judging at a time.
pub struct Lane {
    gpu: Gpu,
    orders: Mutex<Sender<Order<Box<Pair>>>>,
    keeps_spare: bool,
}

impl Lane {
    /// A lane for a GPU. One that `keeps_spare` makes children ready for a judging to come, which is
    /// worth it where another one will.
    pub fn new(environment: &Environment, gpu: Gpu, keeps_spare: bool) -> Arc<Self> {
        let (orders, received) = channel();
        let nursery = Nursery {
            card: LaneLock::path(&gpu),
            spare_mailbox_bytes: keeps_spare.then_some(SPARE_MAILBOX_BYTES),
            start: Box::new({
                let gpu = gpu.clone();
                let environment = Environment {
                    lane: None,
                    // Not a judging's: nobody's Ctrl-C ends what another judging will use.
                    cancel: Arc::default(),
                    ..environment.clone()
                };
                move |mailbox_bytes| open_pair(&environment, &gpu, mailbox_bytes)
            }),
        };
        std::thread::spawn(move || nursery.serve(&received));
        Arc::new(Self {
            gpu,
            orders: Mutex::new(orders),
            keeps_spare,
        })
    }

    /// The GPU.
    #[must_use]
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// The same GPU without what times best.
    #[must_use]
    pub fn without_timer(&self, environment: &Environment) -> Arc<Self> {
        let gpu = Gpu {
            cupti: None,
            ..self.gpu.clone()
        };
        Self::new(environment, gpu, self.keeps_spare)
    }

    /// Waits until nobody judges on the card, and keeps it so until the answer is dropped.
    ///
    /// # Errors
    /// A sentence: the lock cannot be had, or `cancel` was set.
    pub fn hold(&self, cancel: &AtomicBool) -> Result<Held, String> {
        let lock = LaneLock::of(&self.gpu, cancel);
        lock.map(Held).map_err(|interruption| interruption.message)
    }

    /// Makes children ready for a judging to come, while the caller goes on.
    pub fn prepare(&self) {
        self.prepare_for(SPARE_MAILBOX_BYTES);
    }

    /// The same for a judging whose outputs are known.
    pub(crate) fn prepare_for(&self, mailbox_bytes: u64) {
        let mailbox_bytes = match self.keeps_spare {
            true => mailbox_bytes.max(SPARE_MAILBOX_BYTES),
            false => mailbox_bytes,
        };
        self.order(Order::Prepare { mailbox_bytes });
    }

    /// Waits until the children of judgings that are over are gone, and the card is free.
    pub fn settle(&self) {
        let (reply, settled) = channel();
        self.order(Order::Settle(reply));
        let _ = settled.recv(); // a thread that is gone has nothing left to do
    }

    /// Waits for the card, then for children that are ready to judge on it.
    pub(crate) fn enter(
        self: &Arc<Self>,
        mailbox_bytes: u64,
        cancel: &Arc<AtomicBool>,
    ) -> Result<(Box<Pair>, Occupied), Interruption> {
        let (reply, answer) = channel();
        self.order(Order::Enter {
            mailbox_bytes,
            cancel: Arc::clone(cancel),
            reply,
        });
        loop {
            match answer.recv_timeout(INTERVAL) {
                Ok(entered) => {
                    let (pair, lock) = entered?;
                    let lane = Arc::clone(self);
                    return Ok((pair, Occupied { lock, lane }));
                }
                Err(RecvTimeoutError::Timeout) if cancel.load(Ordering::Relaxed) => {
                    return Err(Interruption::cancelled());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Interruption::ours("the lane's thread is gone".to_owned()));
                }
            }
        }
    }

    fn order(&self, order: Order<Box<Pair>>) {
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = orders.send(order); // a thread that is gone shows where an answer is waited for
    }
}

/// A card that nobody judges on.
#[must_use]
pub struct Held(#[allow(dead_code, reason = "held until dropped")] LaneLock);

/// A card while a judging has it.
pub(crate) struct Occupied {
    lock: LaneLock,
    lane: Arc<Lane>,
}

impl Occupied {
    /// Gives the card back once the judging's children are gone, for which nobody waits: a driver takes
    /// some tenths of a second to clear up behind them.
    pub fn leave(self, pair: Box<Pair>) {
        let lock = self.lock;
        self.lane.order(Order::Over { crew: pair, lock });
    }
}

impl Crew for Box<Pair> {
    fn holds(&self, bytes: u64) -> bool {
        Pair::holds(self, bytes)
    }

    fn is_well(&mut self) -> bool {
        Pair::is_well(self, &AtomicBool::new(false))
    }

    fn end(self, patience: Duration) -> bool {
        Pair::end(*self, patience)
    }
}

/// Children with the device open and the judge's kernels on it.
fn open_pair(
    environment: &Environment,
    gpu: &Gpu,
    mailbox_bytes: u64,
) -> Result<Box<Pair>, Interruption> {
    let open = gpu.open_request();
    let mut pair = Box::new(Pair::start(&Start {
        program: &environment.program,
        target: &open.target,
        mailbox_bytes,
        simulated_bytes: 0,
        cpu: CPU,
        allow_unconfined: environment.allow_unconfined,
    })?);
    let job = KernelsJob::of(KernelSet::Judging, gpu.name, &environment.toolchain);
    let kernels = kernels(environment, &job, KERNELS_WALL)?;
    pair.open(&open, Some(&kernels), &environment.cancel)?;
    Ok(pair)
}
