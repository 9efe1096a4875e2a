//! One GPU and the children that wait for its next judging.
//!
//! Driver, context and the judge's own kernels take a second or two to be ready. A lane makes them ready
//! before they are needed: while a source is compiled or between two judgings, when nothing is timed on the
//! card, and holding the card's lock. Each pair of children serves one judging and is gone afterwards.
//!
//! Children die with the thread that started them, so a thread of the lane starts them all.

mod lock;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use device::{OpenRequest, Target};

use self::lock::LaneLock;
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
    orders: Mutex<Sender<Order>>,
    keeps_spare: bool,
}

enum Order {
    /// The card and a pair on it, ready.
    Enter {
        mailbox_bytes: u64,
        cancel: Arc<AtomicBool>,
        reply: Sender<Result<(Box<Pair>, LaneLock), Interruption>>,
    },
    /// Make the next pair ready, unless the card is busy.
    Prepare { mailbox_bytes: u64 },
    /// End a judging's children, make the next pair ready where one is to be kept, and let go of the card.
    Over { pair: Box<Pair>, lock: LaneLock },
    /// Say when all orders before this one are done.
    Settle(Sender<()>),
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
    pub fn leave(self, pair: Box<Pair>) {
        let lock = self.lock;
        self.lane.order(Order::Over { pair, lock });
    }
}

/// The thread that starts children.
struct Nursery {
    environment: Environment,
    gpu: Gpu,
    keeps_spare: bool,
    spare: Option<Box<Pair>>,
}

impl Nursery {
    /// Takes orders one after the other: the card's lock is asked for here alone, so that two orders never
    /// wait for each other.
    fn serve(mut self, orders: &Receiver<Order>) {
        for order in orders {
            match order {
                Order::Enter {
                    mailbox_bytes,
                    cancel,
                    reply,
                } => {
                    let entered = self.enter(mailbox_bytes, &cancel);
                    // Where nobody waits any more the pair is kept, so that its making is not lost.
                    if let Err(SendError(Ok((pair, _lock)))) = reply.send(entered)
                        && self.keeps_spare
                    {
                        self.spare = Some(pair);
                    }
                }
                Order::Prepare { mailbox_bytes } => {
                    if let Ok(Some(lock)) = LaneLock::try_of(&self.gpu) {
                        self.make_spare(mailbox_bytes, &lock);
                    }
                }
                Order::Over { pair, lock } => {
                    drop(pair);
                    if self.keeps_spare {
                        self.make_spare(SPARE_MAILBOX_BYTES, &lock);
                    }
                }
                Order::Settle(reply) => drop(reply),
            }
        }
    }

    fn enter(
        &mut self,
        mailbox_bytes: u64,
        cancel: &AtomicBool,
    ) -> Result<(Box<Pair>, LaneLock), Interruption> {
        let lock = LaneLock::of(&self.gpu, cancel)?;
        Ok((self.pair(mailbox_bytes)?, lock))
    }

    /// What goes wrong here goes wrong again, and is told, when a judging comes. The card is held, since
    /// a context that is being made disturbs what is timed beside it.
    fn make_spare(&mut self, mailbox_bytes: u64, _held: &LaneLock) {
        if self.spare.is_none() {
            self.spare = self.fresh(mailbox_bytes).ok();
        }
    }

    fn pair(&mut self, mailbox_bytes: u64) -> Result<Box<Pair>, Interruption> {
        let cancel = self.environment.cancel.clone();
        if let Some(mut spare) = self.spare.take()
            && spare.holds(mailbox_bytes)
            && spare.is_well(&cancel)
        {
            return Ok(spare);
        }
        self.fresh(mailbox_bytes)
    }

    fn fresh(&self, mailbox_bytes: u64) -> Result<Box<Pair>, Interruption> {
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
        let mut pair = Box::new(Pair::start(&Start {
            program: &self.environment.program,
            target: &target,
            mailbox_bytes,
            simulated_bytes: 0,
            cpu: CPU,
            allow_unconfined: self.environment.allow_unconfined,
        })?);
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
