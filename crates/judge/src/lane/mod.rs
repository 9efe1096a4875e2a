//! One GPU and the children that wait for its next judging.
//!
//! Driver, context and the judge's own kernels take a second or two to be ready. A lane makes them ready
//! before they are needed: between two judgings, while nothing is timed on the card, and while it holds
//! the card's lock. Each pair of children serves one judging and is gone afterwards.
//!
//! Children die with the thread that started them, so a thread of the lane starts them all.

mod lock;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use device::{OpenRequest, Target};

use self::lock::LaneLock;
use crate::compile::wire::{KernelSet, KernelsJob};
use crate::compile::{KERNELS_WALL, kernels};
use crate::outcome::Interruption;
use crate::pair::{Pair, Start};
use crate::{Environment, Gpu};

/// Room for outputs in children that are started before the problem is known. It takes up memory only
/// as far as it is written.
const SPARE_MAILBOX_BYTES: u64 = 8 << 30;
/// Processor time of a child over its judging. Runs have limits of their own.
const CPU: Duration = Duration::from_secs(600);
/// How often somebody who waits for children looks whether he is still wanted.
const INTERVAL: Duration = Duration::from_millis(20);

/// One GPU, used by one judging at a time.
pub struct Lane {
    gpu: Gpu,
    orders: Mutex<Sender<Order>>,
    keeps_spare: bool,
}

enum Order {
    /// A pair for a judging, ready.
    Pair {
        mailbox_bytes: u64,
        reply: Sender<Result<Pair, Interruption>>,
    },
    /// Make the next pair ready.
    Spare,
    /// End a judging's children, make the next pair ready where one is to be kept, and let go of the card.
    Over { pair: Pair, lock: LaneLock },
}

impl Lane {
    /// A lane for a GPU. One that `keeps_spare` makes children ready for a judging to come, which is
    /// worth it where another one will.
    pub fn new(environment: &Environment, gpu: Gpu, keeps_spare: bool) -> Arc<Self> {
        let (orders, received) = channel();
        let nursery = Nursery {
            environment: Environment {
                lane: None,
                // Not a judging's: nobody's Ctrl-C ends what another judging will use.
                cancel: Arc::default(),
                ..environment.clone()
            },
            gpu: gpu.clone(),
            keeps_spare,
            spare: None,
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
        let lock = self.lock(cancel);
        lock.map(Held).map_err(|interruption| interruption.message)
    }

    fn lock(&self, cancel: &AtomicBool) -> Result<LaneLock, Interruption> {
        let path = lock::path(&self.gpu.uuid);
        let lock = LaneLock::take(&path, cancel).map_err(|error| {
            Interruption::ours(format!("the card's lock {}: {error}", path.display()))
        })?;
        lock.ok_or_else(Interruption::cancelled)
    }

    /// Makes children ready for a judging to come.
    pub fn prepare(&self) {
        if self.keeps_spare {
            self.order(Order::Spare);
        }
    }

    /// Waits for the card, then for children that are ready to judge on it.
    pub(crate) fn enter(
        self: &Arc<Self>,
        mailbox_bytes: u64,
        cancel: &AtomicBool,
    ) -> Result<(Pair, Occupied), Interruption> {
        let occupied = Occupied {
            lock: self.lock(cancel)?,
            lane: Arc::clone(self),
        };
        let (reply, answer) = channel();
        self.order(Order::Pair {
            mailbox_bytes,
            reply,
        });
        loop {
            match answer.recv_timeout(INTERVAL) {
                Ok(pair) => return Ok((pair?, occupied)),
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

    fn order(&self, order: Order) {
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
    pub fn leave(self, pair: Pair) {
        let lock = self.lock;
        self.lane.order(Order::Over { pair, lock });
    }
}

/// The thread that starts children.
struct Nursery {
    environment: Environment,
    gpu: Gpu,
    keeps_spare: bool,
    spare: Option<Pair>,
}

impl Nursery {
    fn serve(mut self, orders: &Receiver<Order>) {
        for order in orders {
            match order {
                Order::Pair {
                    mailbox_bytes,
                    reply,
                } => {
                    let pair = self.pair(mailbox_bytes);
                    // Where nobody waits any more the pair is kept, so that its making is not lost.
                    if let Err(unwanted) = reply.send(pair) {
                        self.spare = unwanted.0.ok();
                    }
                }
                Order::Spare => {
                    let path = lock::path(&self.gpu.uuid);
                    let taken = LaneLock::take(&path, &self.environment.cancel);
                    if let Ok(Some(lock)) = taken {
                        self.make_spare(&lock);
                    }
                }
                Order::Over { pair, lock } => {
                    drop(pair);
                    if self.keeps_spare {
                        self.make_spare(&lock);
                    }
                }
            }
        }
    }

    /// What goes wrong here goes wrong again, and is told, when a judging comes. The card is held, since
    /// a context that is being made disturbs what is timed beside it.
    fn make_spare(&mut self, _held: &LaneLock) {
        if self.spare.is_none() {
            self.spare = self.fresh(SPARE_MAILBOX_BYTES).ok();
        }
    }

    fn pair(&mut self, mailbox_bytes: u64) -> Result<Pair, Interruption> {
        let cancel = self.environment.cancel.clone();
        if let Some(mut spare) = self.spare.take()
            && spare.holds(mailbox_bytes)
            && spare.is_well(&cancel)
        {
            return Ok(spare);
        }
        self.fresh(mailbox_bytes.max(1))
    }

    fn fresh(&self, mailbox_bytes: u64) -> Result<Pair, Interruption> {
        let Gpu {
            name,
            ordinal,
            card,
            cupti,
            ..
        } = &self.gpu;
        let target = Target::Gpu {
            ordinal: *ordinal,
            card: card.clone(),
            cupti: cupti.clone(),
        };
        let mut pair = Pair::start(&Start {
            program: &self.environment.program,
            target: &target,
            mailbox_bytes,
            simulated_bytes: 0,
            cpu: CPU,
            allow_unconfined: self.environment.allow_unconfined,
        })?;
        let limits = scoring::device(*name).limits.clone();
        let job = KernelsJob {
            set: KernelSet::Judging,
            arch: limits.arch.clone(),
            toolchain: self.environment.toolchain.root().to_owned(),
        };
        let kernels = kernels(&self.environment, &job, KERNELS_WALL)?;
        let open = OpenRequest { target, limits };
        pair.open(&open, Some(&kernels), &self.environment.cancel)?;
        Ok(pair)
    }
}
