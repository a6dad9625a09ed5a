//! Waiting for a slot: performs what `policy::limiter` decides.
//!
//! ```text
//!  enter ─► Admitted ─────────────────────► OriginSlot ─ dropped ─► it goes to the next who waits
//!       └─► Queued ─► Waiting ─ admitted ─────────┘
//!                        └ too long, or left: given back
//! ```
//!
//! Owns the promise that each ticket is given back exactly once: it is held by a guard from the first moment.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_policy::limiter::{CallLimits, CallTicket, Decision, LimitRefusalReason, Limiter};
use tokio::sync::oneshot;

/// The limiter, and the calls that wait for a slot.
#[derive(Debug)]
pub struct Admission {
    limiter: RefCell<Limiter>,
    waiting: RefCell<BTreeMap<CallTicket, oneshot::Sender<()>>>,
    began: Instant,
}

/// A caller that wants a slot, and the server that it wants to call.
#[derive(Debug, Clone, Copy)]
pub struct Entrant<'a> {
    /// The origin, or `owner`.
    pub origin: &'a str,
    /// Its lane.
    pub lane: u64,
    /// The server to be called.
    pub server: &'a str,
    /// The server's calls per minute.
    pub server_per_minute: Option<u32>,
}

/// A slot among the calls of an origin; given back when it is dropped.
#[derive(Debug)]
pub struct OriginSlot {
    admission: Rc<Admission>,
    ticket: CallTicket,
}

impl Drop for OriginSlot {
    fn drop(&mut self) {
        self.admission.finish(self.ticket);
    }
}

impl Admission {
    /// Without calls.
    #[must_use]
    pub fn new() -> Rc<Self> {
        Rc::new(Self { limiter: RefCell::default(), waiting: RefCell::default(), began: Instant::now() })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn request(&self, entrant: Entrant<'_>, limits: &CallLimits, now: u64) -> Decision {
        let Entrant { origin, lane, server, server_per_minute } = entrant;
        self.limiter.borrow_mut().request(origin, lane, server, limits, server_per_minute, now)
    }

    /// Waits for a slot, but no longer than `limits` and `most` allow.
    ///
    /// # Errors
    /// The reason why no slot is given.
    pub async fn enter(
        self: &Rc<Self>,
        entrant: Entrant<'_>,
        limits: &CallLimits,
        most: Duration,
    ) -> Result<OriginSlot, LimitRefusalReason> {
        let now = self.now();
        let decision = self.request(entrant, limits, now);
        let slot = |ticket| OriginSlot { admission: self.clone(), ticket };
        match decision {
            Decision::Admitted(ticket) => Ok(slot(ticket)),
            Decision::Refused(refusal) => Err(refusal),
            Decision::Queued { ticket, deadline, displaced } => {
                let (admitted, waiting) = oneshot::channel();
                self.waiting.borrow_mut().insert(ticket, admitted);
                // From here on a caller that leaves gives the ticket back.
                let slot = slot(ticket);
                if let Some(displaced) = displaced {
                    self.waiting.borrow_mut().remove(&displaced);
                }
                let wait = Duration::from_millis(deadline.saturating_sub(now)).min(most);
                match tokio::time::timeout(wait, waiting).await {
                    Ok(Ok(())) => Ok(slot),
                    // Too long, or displaced by a lane that has had fewer slots.
                    _ => Err(LimitRefusalReason::TooManyAtOnce),
                }
            }
        }
    }

    fn finish(&self, ticket: CallTicket) {
        self.waiting.borrow_mut().remove(&ticket);
        let admitted = self.limiter.borrow_mut().finish(ticket);
        for next in admitted {
            let waiting = self.waiting.borrow_mut().remove(&next);
            // A caller that has left at this very moment gives its slot back by its
            // guard.
            if let Some(waiting) = waiting {
                let _ = waiting.send(());
            }
        }
    }

    /// Forgets origins and servers that have not been used for a while.
    pub fn purge(&self) {
        let now = self.now();
        self.limiter.borrow_mut().purge(now);
    }

    /// How many calls wait for a slot.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.borrow().len()
    }

    /// How many calls of an origin are under way, and how many wait.
    #[must_use]
    pub fn of(&self, origin: &str) -> (u32, u32) {
        let limiter = self.limiter.borrow();
        (limiter.held(origin), limiter.waiting(origin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: CallLimits =
        CallLimits { concurrent: 1, queue: 1, queue_wait_ms: 60_000, per_minute: None };

    fn entrant(lane: u64) -> Entrant<'static> {
        Entrant { origin: "a", lane, server: "s", server_per_minute: None }
    }

    #[tokio::test(flavor = "local")]
    async fn who_waits_is_next_and_who_leaves_gives_its_place_back() {
        let admission = Admission::new();
        let most = Duration::from_secs(60);
        let first = admission.enter(entrant(1), &LIMITS, most).await.unwrap();
        let waiting = tokio::task::spawn_local({
            let admission = admission.clone();
            async move { admission.enter(entrant(1), &LIMITS, most).await }
        });
        tokio::task::yield_now().await;
        assert_eq!(admission.of("a"), (1, 1));
        assert_eq!(
            admission.enter(entrant(1), &LIMITS, most).await.unwrap_err(),
            LimitRefusalReason::TooManyAtOnce
        );
        drop(first);
        let second = waiting.await.unwrap().unwrap();
        let left = tokio::task::spawn_local({
            let admission = admission.clone();
            async move { admission.enter(entrant(1), &LIMITS, most).await }
        });
        tokio::task::yield_now().await;
        left.abort();
        assert!(left.await.is_err());
        assert_eq!(admission.of("a"), (1, 0));
        drop(second);
        assert_eq!(admission.of("a"), (0, 0));
    }

    #[tokio::test(flavor = "local")]
    async fn the_wait_has_a_limit() {
        let admission = Admission::new();
        let _held = admission.enter(entrant(1), &LIMITS, Duration::MAX).await.unwrap();
        let wait = Duration::from_millis(5);
        assert_eq!(
            admission.enter(entrant(1), &LIMITS, wait).await.unwrap_err(),
            LimitRefusalReason::TooManyAtOnce
        );
        assert_eq!(admission.of("a"), (1, 0));
    }
}
