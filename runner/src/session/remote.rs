//! A remote server, from first contact to the end.
//!
//! ```text
//!  Session ──lines──► outbox ──► Wire::next ─► ┐
//!                                              │ Carrier (harbor-runner-http) ◄──HTTP──► server
//!  Session ◄─────── on_line ◄─── Wire::take ◄─ ┘
//! ```
//!
//! The analogue of `process`: one task waits for everything that can happen. Owns the deadlines of contact and of the end.
//! Must never know how messages are carried; that is in a program of its own, so that this one needs neither DNS nor TLS.

use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_child::outbox::Outbox;
use harbor_ipc_proto::link::oauth::{Renewal, Wish};
use harbor_ipc_proto::link::runner::{CallFailure, EndCause, FromRunner, Remote};
use harbor_ipc_proto::secret::Secret;
use tokio::sync::oneshot;
use tokio::time::sleep_until;

use super::Session;
use super::deadlines::timeout;
use super::ended::Ended;
use super::open::Open;
use super::plan::Plan;
use crate::carrying::Carrying;
use crate::mcp::contact::Event;
use crate::mcp::line::Popped;
use crate::petition::Petition;

/// A server that has not answered the probe for this long is asked by the handshake as well.
const PROBE_SILENCE: Duration = Duration::from_secs(5);

/// Carries messages to remote servers.
pub trait Carrier: std::fmt::Debug {
    /// Takes from this process what carrying needs not.
    ///
    /// # Errors
    /// When the kernel refuses what it offers.
    fn confine(&self) -> io::Result<()>;

    /// Carries messages between `wire` and the server: until [`Wire::next`] has no more, which means a stop,
    /// or until the connection is lost for good. Dropping it ends everything at once.
    fn carry(&self, server: Remote<'static>, env: Vec<(String, String)>, wire: Wire) -> Carrying;

    /// Has the person let Harbor in at the server, until there is a grant or there will be none.
    fn authorize(
        &self,
        server: Remote<'static>,
        env: Vec<(String, String)>,
        wish: Wish<'static>,
        petition: Petition,
    ) -> Carrying;

    /// Gives the server's grant back.
    fn revoke(&self, server: Remote<'static>, env: Vec<(String, String)>) -> Carrying;

    /// Renews the server's grant.
    fn renew(&self, server: Remote<'static>, env: Vec<(String, String)>, petition: Petition) -> Carrying;
}

/// The session's end of a connection.
#[derive(Debug, Clone)]
pub struct Wire {
    session: Rc<Session>,
    outgoing: Rc<Outbox>,
    max_message: usize,
}

impl Wire {
    /// The next whole lines to the server, one or more. None when the connection should end.
    pub async fn next(&self) -> Option<Vec<u8>> {
        self.outgoing.take().await
    }

    /// Takes a message of the server: JSON without line ends.
    pub fn take(&self, message: &[u8]) {
        self.heard();
        self.session.on_line(&Popped::Line(message));
        if self.session.verdict.borrow().is_some() || self.session.next_due().is_some() {
            // Something may be due; whoever watches is woken as for a stop, and looks at everything.
            self.session.stop.notify_one();
        }
    }

    /// The server has shown that it is there.
    pub fn heard(&self) {
        self.session.alive.heard(Instant::now());
    }

    /// True if somebody waits for the answer to the request `id`.
    #[must_use]
    pub fn is_open(&self, id: u64) -> bool {
        self.session.open.borrow().get(id).is_some()
    }

    /// The headers that the tool wants from a call's arguments: names and texts. `line` is the call.
    #[must_use]
    pub fn headers_of_call(&self, tool: &str, line: &[u8]) -> Vec<(String, String)> {
        self.session.headers_of_call(tool, line)
    }

    /// True if contact is still being made.
    #[must_use]
    pub fn is_contacting(&self) -> bool {
        self.session.is_contacting()
    }

    /// There will be no answer to the request `id`; one sentence says why.
    pub fn lost(&self, id: u64, why: &str) {
        self.fail(id, &CallFailure::Lost(why.into()));
    }

    /// The server wants more rights for the request `id` than it was shown; one sentence says so.
    pub fn forbidden(&self, id: u64, why: &str) {
        self.fail(id, &CallFailure::NotAuthorized(why.into()));
    }

    /// Has the bridge renew the grant with this token. A second request gets the answer to the first one, too.
    pub async fn renewal(&self, token: &Secret) -> Renewal<'static> {
        let (sender, answer) = oneshot::channel();
        *self.session.renewal.borrow_mut() = Some(sender);
        self.session.up.send(&FromRunner::Stale { server: self.session.number, token: token.clone() });
        answer.await.unwrap_or_else(|_| Renewal::Failed("the connection is being ended".into()))
    }

    /// Reports the challenge of a server that has refused the token or the request.
    pub fn challenged(&self, challenge: &str) {
        self.session
            .up
            .send(&FromRunner::Challenged { server: self.session.number, challenge: challenge.into() });
    }

    /// The answer to the request `id` is longer than messages may be.
    pub fn overlong(&self, id: u64) {
        self.fail(id, &CallFailure::TooLarge { limit: self.session.max_line });
    }

    fn fail(&self, id: u64, failure: &CallFailure<'_>) {
        let open = self.session.open.borrow_mut().close(id);
        match open {
            Some(Open::Listen(waiting)) => {
                self.session.listening.borrow_mut().1 = None;
                waiting.into_iter().for_each(|(id, _)| self.session.fail(id, failure.clone()));
            }
            Some(open) => match open.bridge_id() {
                Some(bridge_id) => self.session.fail(bridge_id, failure.clone()),
                None => self.session.contact_broken(Some(&open), "its answer is incomplete"),
            },
            None => {}
        }
        self.session.stop.notify_one();
    }

    /// Says something in the server's log.
    pub fn remark(&self, text: &str) {
        self.session.up.remark(self.session.number, text);
    }

    /// Waits until the bridge has caught up.
    pub async fn room(&self) {
        self.session.up.room().await;
    }

    /// The longest message that is taken, in bytes.
    #[must_use]
    pub fn max_message(&self) -> usize {
        self.max_message
    }
}

impl Session {
    /// The bridge's answer to whoever waits for a renewal.
    pub(crate) fn renewed(&self, renewal: Renewal<'_>) {
        let renewal = match renewal {
            Renewal::Granted(grant) => Renewal::Granted(grant),
            Renewal::Failed(why) => Renewal::Failed(why.into_owned().into()),
        };
        if let Some(waiting) = self.renewal.take() {
            // Who waited may have left.
            let _ = waiting.send(renewal);
        }
    }
}

/// Runs the connection to a remote server until it has ended.
pub(crate) async fn run(
    session: &Rc<Session>,
    plan: &Plan,
    server: Remote<'static>,
    carrier: &dyn Carrier,
) -> Ended {
    let outgoing = session.stdin.borrow().clone();
    let wire = Wire { session: session.clone(), outgoing: outgoing.clone(), max_message: plan.max_line };
    let mut life = Life {
        session,
        plan,
        outgoing,
        carrying: carrier.carry(server, plan.environment(), wire),
        contact_deadline: Instant::now() + plan.start_timeout,
        silence: Instant::now() + PROBE_SILENCE,
        ending: None,
    };
    session.begin_contact(plan.known_era, plan.known_revision.as_deref());
    let cause = life.live().await;
    session.stdin.borrow().cut();
    (cause, String::new())
}

struct Life<'a> {
    session: &'a Session,
    plan: &'a Plan,
    outgoing: Rc<Outbox>,
    carrying: Carrying,
    contact_deadline: Instant,
    silence: Instant,
    /// The reason of its end, and the time at which ending has taken long enough.
    ending: Option<(EndCause<'static>, Instant)>,
}

impl Life<'_> {
    async fn live(&mut self) -> EndCause<'static> {
        loop {
            let due = self.next_deadline();
            tokio::select! {
                biased;
                ended = &mut self.carrying => return self.ending.take().map_or(ended, |(cause, _)| cause),
                () = self.session.stop.notified() => {}
                () = sleep_until(due.unwrap_or_else(Instant::now).into()), if due.is_some() => {}
            }
            if let Some(cause) = self.act() {
                return cause;
            }
        }
    }

    /// Performs what is due; the cause of an end that has nothing more to wait for.
    fn act(&mut self) -> Option<EndCause<'static>> {
        let now = Instant::now();
        let verdict = self.session.verdict.borrow_mut().take();
        if self.session.kill_wanted.get() {
            return Some(self.ending.take().map_or(EndCause::Hung, |(cause, _)| cause));
        } else if self.ending.as_ref().is_some_and(|(_, limit)| *limit <= now) {
            return self.ending.take().map(|(cause, _)| cause);
        } else if let Some(cause) = verdict {
            self.end(now, cause);
        } else if self.session.stop_wanted.get() {
            self.end(now, EndCause::Stopped);
        } else if self.session.is_contacting() && self.ending.is_none() {
            self.act_on_contact(now);
        }
        self.session.do_due(now);
        None
    }

    fn act_on_contact(&mut self, now: Instant) {
        if self.contact_deadline <= now {
            self.end(now, timeout(self.plan));
        } else if self.silence <= now {
            self.silence = now + PROBE_SILENCE;
            self.session.on_contact(Event::Silence);
        }
    }

    /// Has the carrier take its leave of the server, once; the first cause counts.
    fn end(&mut self, now: Instant, cause: EndCause<'static>) {
        if self.ending.is_none() {
            self.outgoing.close();
            self.ending = Some((cause, now + self.plan.eof_grace));
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let due = self.session.next_due();
        if let Some((_, limit)) = &self.ending {
            return [Some(*limit), due].into_iter().flatten().min();
        }
        let contact = self.session.is_contacting().then(|| self.contact_deadline.min(self.silence));
        [contact, due].into_iter().flatten().min()
    }
}

/// The bridge's words, kept.
pub(crate) fn owned(remote: &Remote<'_>) -> Remote<'static> {
    let own = |text: &str| text.to_owned().into();
    Remote {
        url: own(&remote.url),
        headers: remote.headers.iter().map(|(name, value)| (own(name), own(value))).collect(),
        grant: remote.grant.clone(),
        ..*remote
    }
}
