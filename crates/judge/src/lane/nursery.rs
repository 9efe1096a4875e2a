//! The thread that makes children and gives a card to one judging after the other.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::lock::LaneLock;
use crate::outcome::Interruption;

/// How often a card that is taken is tried again.
const INTERVAL: Duration = Duration::from_millis(5);
/// How long a card waits for the children of a judging that is over. One that hangs in the driver for
/// longer has made the card sick, which the next judging's probe finds out.
const END_PATIENCE: Duration = Duration::from_secs(60);

/// Children that judge together.
pub(super) trait Crew: Send + Sized + 'static {
    /// Whether outputs of so many bytes fit.
    fn holds(&self, bytes: u64) -> bool;

    /// Whether they still work, having waited for a judging for a while.
    fn is_well(&mut self) -> bool;

    /// Kills them and says whether they are gone.
    fn end(self, patience: Duration) -> bool;
}

/// What a card and children on it are given to.
pub(super) type Entered<C> = Result<(C, LaneLock), Interruption>;

pub(super) enum Order<C> {
    /// The card and children on it, ready.
    Enter {
        mailbox_bytes: u64,
        cancel: Arc<AtomicBool>,
        reply: Sender<Entered<C>>,
    },
    /// Make the next children ready, unless the card is busy.
    Prepare { mailbox_bytes: u64 },
    /// End a judging's children, make the next ones ready where some are to be kept, and let go of the
    /// card.
    Over { crew: C, lock: LaneLock },
    /// Say when nobody is left who was here before this order.
    Settle(Sender<()>),
}

/// Whoever waits for the card.
struct Waiting<C> {
    mailbox_bytes: u64,
    cancel: Arc<AtomicBool>,
    reply: Sender<Entered<C>>,
}

/// Takes orders one after the other and never waits for the card itself, since the order that frees it
/// comes the same way.
pub(super) struct Nursery<C> {
    /// Where the card's lock lies.
    pub card: PathBuf,
    /// Makes children whose mailbox holds so many bytes.
    pub start: Box<dyn Fn(u64) -> Result<C, Interruption> + Send>,
    /// Size of the mailbox of children that are kept for a judging to come; `None` to keep none.
    pub spare_mailbox_bytes: Option<u64>,
}

impl<C: Crew> Nursery<C> {
    /// Serves until nobody is left who could order anything.
    pub fn serve(self, orders: &Receiver<Order<C>>) {
        let mut desk = Desk {
            nursery: self,
            spare: None,
            queue: VecDeque::new(),
            settling: Vec::new(),
        };
        loop {
            let order = match desk.queue.is_empty() {
                true => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => orders.recv_timeout(INTERVAL),
            };
            match order {
                Ok(order) => desk.take(order),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            desk.admit();
        }
    }
}

struct Desk<C> {
    nursery: Nursery<C>,
    spare: Option<C>,
    queue: VecDeque<Waiting<C>>,
    settling: Vec<Sender<()>>,
}

impl<C: Crew> Desk<C> {
    fn take(&mut self, order: Order<C>) {
        match order {
            Order::Enter {
                mailbox_bytes,
                cancel,
                reply,
            } => self.queue.push_back(Waiting {
                mailbox_bytes,
                cancel,
                reply,
            }),
            Order::Prepare { mailbox_bytes } => {
                if let Ok(Some(lock)) = LaneLock::try_at(&self.nursery.card) {
                    self.make_spare(mailbox_bytes, &lock);
                }
            }
            Order::Over { crew, lock } => {
                if !crew.end(END_PATIENCE) {
                    let card = self.nursery.card.display();
                    tracing::error!(%card, "a judging's children hang in the driver; the card goes on without");
                }
                if let Some(mailbox_bytes) = self.nursery.spare_mailbox_bytes {
                    self.make_spare(mailbox_bytes, &lock);
                }
            }
            Order::Settle(reply) => self.settling.push(reply),
        }
    }

    /// Gives the card to the first who waits for it, if it is free.
    fn admit(&mut self) {
        let cancelled = |waiting: &Waiting<C>| waiting.cancel.load(Ordering::Relaxed);
        self.queue.retain(|waiting| {
            let stays = !cancelled(waiting);
            if !stays {
                let _ = waiting.reply.send(Err(Interruption::cancelled())); // who left knows already
            }
            stays
        });
        if let Some(first) = self.queue.front() {
            let mailbox_bytes = first.mailbox_bytes;
            let entered = match LaneLock::try_at(&self.nursery.card) {
                Ok(None) => return,
                Ok(Some(lock)) => self.crew(mailbox_bytes).map(|crew| (crew, lock)),
                Err(error) => Err(LaneLock::failed(&self.nursery.card, &error)),
            };
            self.answer(entered);
        }
        if self.queue.is_empty() {
            self.settling.clear(); // dropping a sender is the answer
        }
    }

    fn answer(&mut self, entered: Entered<C>) {
        let Some(first) = self.queue.pop_front() else {
            return;
        };
        // Where nobody waits any more the children are kept, so that their making is not lost.
        if let Err(unheard) = first.reply.send(entered)
            && let Ok((crew, _lock)) = unheard.0
            && self.nursery.spare_mailbox_bytes.is_some()
        {
            self.spare = Some(crew);
        }
    }

    /// What goes wrong here goes wrong again, and is told, when a judging comes. The card is held, since
    /// a context that is being made disturbs what is timed beside it.
    fn make_spare(&mut self, mailbox_bytes: u64, _held: &LaneLock) {
        if self.spare.is_none() {
            self.spare = (self.nursery.start)(mailbox_bytes).ok();
        }
    }

    fn crew(&mut self, mailbox_bytes: u64) -> Result<C, Interruption> {
        if let Some(mut spare) = self.spare.take()
            && spare.holds(mailbox_bytes)
            && spare.is_well()
        {
            return Ok(spare);
        }
        (self.nursery.start)(mailbox_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use super::*;

    /// What was made, and what became of it.
    #[derive(Default)]
    struct Ledger {
        made: Vec<u64>,
        ended: usize,
        sick: bool,
        /// Children fail to start.
        broken: bool,
    }

    struct Pretended {
        number: usize,
        bytes: u64,
        ledger: Arc<Mutex<Ledger>>,
    }

    impl Crew for Pretended {
        fn holds(&self, bytes: u64) -> bool {
            bytes <= self.bytes
        }

        fn is_well(&mut self) -> bool {
            !self.ledger.lock().unwrap().sick
        }

        fn end(self, _: Duration) -> bool {
            self.ledger.lock().unwrap().ended += 1;
            true
        }
    }

    struct Rig {
        orders: Sender<Order<Pretended>>,
        ledger: Arc<Mutex<Ledger>>,
        card: PathBuf,
        _folder: tempfile::TempDir,
    }

    const SPARE: u64 = 1000;

    fn rig(spare_mailbox_bytes: Option<u64>) -> Rig {
        let folder = tempfile::tempdir().unwrap();
        let card = folder.path().join("card");
        let ledger = Arc::new(Mutex::new(Ledger::default()));
        let (orders, received) = channel();
        let nursery = Nursery {
            card: card.clone(),
            spare_mailbox_bytes,
            start: Box::new({
                let ledger = Arc::clone(&ledger);
                move |bytes| {
                    let mut book = ledger.lock().unwrap();
                    if book.broken {
                        return Err(Interruption::ours("no device".to_owned()));
                    }
                    book.made.push(bytes);
                    Ok(Pretended {
                        number: book.made.len(),
                        bytes,
                        ledger: Arc::clone(&ledger),
                    })
                }
            }),
        };
        std::thread::spawn(move || nursery.serve(&received));
        Rig {
            orders,
            ledger,
            card,
            _folder: folder,
        }
    }

    impl Rig {
        fn order(&self, order: Order<Pretended>) {
            self.orders.send(order).unwrap();
        }

        fn ask(&self, bytes: u64) -> (Receiver<Entered<Pretended>>, Arc<AtomicBool>) {
            let (reply, answer) = channel();
            let cancel = Arc::new(AtomicBool::new(false));
            self.order(Order::Enter {
                mailbox_bytes: bytes,
                cancel: Arc::clone(&cancel),
                reply,
            });
            (answer, cancel)
        }

        fn enter(&self, bytes: u64) -> (Pretended, LaneLock) {
            self.ask(bytes).0.recv().unwrap().unwrap()
        }

        fn leave(&self, (crew, lock): (Pretended, LaneLock)) {
            self.order(Order::Over { crew, lock });
        }

        fn settle(&self) {
            let (reply, settled) = channel();
            self.order(Order::Settle(reply));
            let _ = settled.recv();
        }

        fn made(&self) -> Vec<u64> {
            self.ledger.lock().unwrap().made.clone()
        }
    }

    #[test]
    fn children_that_are_ready_serve_the_next_judging() {
        let rig = rig(Some(SPARE));
        rig.order(Order::Prepare {
            mailbox_bytes: SPARE,
        });
        let first = rig.enter(10);
        assert_eq!((first.0.number, rig.made()), (1, vec![SPARE]));
        rig.leave(first);
        let second = rig.enter(10);
        assert_eq!(second.0.number, 2, "nobody serves twice");
        assert_eq!(rig.ledger.lock().unwrap().ended, 1);
        rig.leave(second);
    }

    #[test]
    fn what_is_too_small_or_unwell_is_made_anew() {
        let rig = rig(Some(SPARE));
        rig.order(Order::Prepare {
            mailbox_bytes: SPARE,
        });
        let large = rig.enter(SPARE + 1);
        assert_eq!(rig.made(), [SPARE, SPARE + 1]);
        rig.leave(large);
        rig.settle();
        rig.ledger.lock().unwrap().sick = true;
        let fresh = rig.enter(10);
        assert_eq!(fresh.0.number, 4, "the third failed its probe");
        rig.leave(fresh);
    }

    #[test]
    fn nothing_is_kept_where_no_judging_is_to_come() {
        let rig = rig(None);
        let first = rig.enter(10);
        rig.leave(first);
        rig.settle();
        assert_eq!(rig.made(), [10]);
        assert!(LaneLock::try_at(&rig.card).unwrap().is_some());
    }

    /// Two judgings of one process: the second is given the card by the order that ends the first.
    #[test]
    fn who_waits_gets_the_card_when_it_is_free() {
        let rig = rig(Some(SPARE));
        let first = rig.enter(10);
        let (second, _) = rig.ask(20);
        let (third, _) = rig.ask(30);
        assert!(second.recv_timeout(Duration::from_millis(100)).is_err());
        rig.leave(first);
        let second = second.recv().unwrap().unwrap();
        assert!(third.recv_timeout(Duration::from_millis(100)).is_err());
        rig.leave(second);
        rig.leave(third.recv().unwrap().unwrap());
    }

    #[test]
    fn another_process_is_waited_for() {
        let rig = rig(None);
        let theirs = LaneLock::try_at(&rig.card).unwrap();
        let (ours, _) = rig.ask(10);
        assert!(ours.recv_timeout(Duration::from_millis(100)).is_err());
        assert!(
            rig.made().is_empty(),
            "a context would disturb what is timed"
        );
        rig.order(Order::Prepare { mailbox_bytes: 10 });
        drop(theirs);
        ours.recv().unwrap().unwrap();
        assert_eq!(rig.made(), [10], "nor was anything prepared meanwhile");
    }

    #[test]
    fn who_waits_can_be_called_off_and_holds_up_nobody() {
        let rig = rig(None);
        let first = rig.enter(10);
        let (second, cancel) = rig.ask(10);
        let (third, _) = rig.ask(10);
        cancel.store(true, Ordering::Relaxed);
        let refused = second.recv().unwrap().err().unwrap();
        assert_eq!(refused, Interruption::cancelled());
        rig.leave(first);
        rig.leave(third.recv().unwrap().unwrap());
    }

    #[test]
    fn children_that_nobody_waits_for_any_more_are_kept() {
        let rig = rig(Some(SPARE));
        let first = rig.enter(10);
        let (gone, _) = rig.ask(10);
        drop(gone);
        rig.leave(first);
        rig.settle();
        let next = rig.enter(10);
        assert_eq!(
            rig.made().len(),
            2,
            "the spare went to one who had left, and came back"
        );
        assert_eq!(next.0.number, 2);
    }

    #[test]
    fn a_start_that_fails_is_told_to_who_asked_and_frees_the_card() {
        let rig = rig(Some(SPARE));
        rig.ledger.lock().unwrap().broken = true;
        rig.order(Order::Prepare { mailbox_bytes: 10 });
        let failed = rig.ask(10).0.recv().unwrap().err().unwrap();
        assert_eq!(failed.message, "no device");
        rig.ledger.lock().unwrap().broken = false;
        rig.leave(rig.enter(10));
    }

    #[test]
    fn settling_waits_for_all_who_came_before() {
        let rig = rig(None);
        let first = rig.enter(10);
        let (second, _) = rig.ask(10);
        let (reply, settled) = channel();
        rig.order(Order::Settle(reply));
        assert!(matches!(
            settled.recv_timeout(Duration::from_millis(100)),
            Err(RecvTimeoutError::Timeout)
        ));
        rig.leave(first);
        let second = second.recv().unwrap().unwrap();
        assert!(
            settled.recv().is_err(),
            "the answer is that the line is closed"
        );
        rig.leave(second);
    }
}
