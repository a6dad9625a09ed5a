//! The servers of this runner: one, or all of them where isolation is off.
//!
//! Owns handing the bridge's messages to the server they name. Must never wait: a message for a server that is
//! gone is answered or dropped.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use harbor_child::own;
use harbor_child::reaper::Reaper;
use harbor_ipc_proto::link::runner::{CallFailure, EndCause, FromRunner, Launch, Outcome, Remote, ToRunner};
use harbor_ipc_proto::via::IDENTITY;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::carrying::Carrying;
use crate::petition::{self, Petition, Petitions};
use crate::session::Session;
use crate::session::afterwards::afterwards;
use crate::session::ended::Ended;
use crate::session::plan::Plan;
use crate::session::process::run;
use crate::session::remote::{self, Carrier};
use crate::to_bridge::Up;

/// How long the next start may wait for its server's leftovers to end.
const AT_ONCE: Duration = Duration::from_millis(40);

/// How long killed orphans may take to disappear.
const ORPHANS: Duration = Duration::from_secs(2);

/// All servers of this process.
#[derive(Debug)]
pub struct Servers {
    /// The identity of this Harbor.
    own: Rc<str>,
    up: Rc<Up>,
    reaper: Rc<Reaper>,
    /// Carries messages of remote servers. A process with a carrier runs no programs.
    carrier: Option<Rc<dyn Carrier>>,
    /// True if this process is the one runner of all servers.
    is_shared: bool,
    sessions: RefCell<HashMap<u32, Rc<Session>>>,
    petitions: Rc<Petitions>,
    /// The tasks that renew logins.
    renewals: RefCell<Vec<JoinHandle<()>>>,
    is_ending: Cell<bool>,
    ended: Notify,
}

impl Servers {
    /// None yet.
    pub fn new(
        up: Rc<Up>,
        reaper: Rc<Reaper>,
        carrier: Option<Rc<dyn Carrier>>,
        is_shared: bool,
    ) -> Rc<Self> {
        Rc::new(Self {
            own: std::env::var(IDENTITY).unwrap_or_default().into(),
            up,
            reaper,
            carrier,
            is_shared,
            sessions: RefCell::default(),
            petitions: Rc::default(),
            renewals: RefCell::default(),
            is_ending: Cell::new(false),
            ended: Notify::new(),
        })
    }

    /// Takes a message of the bridge; false when this runner shall end.
    pub fn on_message(self: &Rc<Self>, message: ToRunner<'_>) -> bool {
        match message {
            ToRunner::Hello { .. } => {}
            ToRunner::Connect { server, launch } => self.begin(server, &launch, Plan::server(&launch)),
            ToRunner::Run { server, launch } => self.begin(server, &launch, Plan::program(&launch)),
            ToRunner::Probe { server, ping } => {
                self.with(server, |session| session.probe(ping));
            }
            ToRunner::Kill { server } => {
                self.with(server, Session::kill);
            }
            ToRunner::Disconnect { server } => {
                self.petitions.end(server, &self.up);
                self.with(server, Session::stop);
            }
            ToRunner::Authorize { server, launch, wish } => {
                let wish = petition::owned(wish);
                let _ = self.petition(server, &launch, |carrier, remote, env, petition| {
                    carrier.authorize(remote, env, wish, petition)
                });
            }
            ToRunner::Redirected { server, query } => self.petitions.answer(server, query),
            ToRunner::Revoke { server, launch } => {
                let _ = self.petition(server, &launch, |carrier, remote, env, _| carrier.revoke(remote, env));
            }
            ToRunner::Renew { server, launch } => self.renew(server, &launch),
            ToRunner::Renewed { server, renewal } => {
                self.with(server, |session| session.renewed(renewal));
            }
            ToRunner::Call { server, id, progress, capabilities, operation } => {
                let call =
                    |session: &Session| session.call(id, progress, capabilities.as_deref(), &operation);
                if self.with(server, call).is_none() {
                    let outcome = Outcome::Failed(CallFailure::NotConnected);
                    self.up.send(&FromRunner::Reply { server, id, outcome });
                }
            }
            ToRunner::Cancel { server, id, reason } => {
                self.with(server, |session| session.cancel(id, &reason));
            }
            ToRunner::Answer { server, ask, answer } => {
                self.with(server, |session| session.answer(ask, &answer));
            }
            ToRunner::Echo => self.up.send(&FromRunner::Echo),
            ToRunner::Shutdown => return false,
        }
        true
    }

    fn with<T>(&self, server: u32, act: impl FnOnce(&Session) -> T) -> Option<T> {
        let session = self.sessions.borrow().get(&server).cloned();
        session.map(|session| act(&session))
    }

    /// Has the carrier do something besides speaking to a server. The bridge asks this of no runner of programs.
    fn petition(
        &self,
        number: u32,
        launch: &Launch<'_>,
        perform: impl FnOnce(&dyn Carrier, Remote<'static>, Vec<(String, String)>, Petition) -> Carrying,
    ) -> Option<JoinHandle<()>> {
        let (remote, carrier) = (launch.remote.as_ref().map(remote::owned)?, self.carrier.as_ref()?);
        let env = Plan::server(launch).environment();
        let perform = |petition| perform(carrier.as_ref(), remote, env, petition);
        Some(self.petitions.begin(number, &self.up, perform))
    }

    /// Renews a grant; nothing is used any more once this runner was told to end.
    fn renew(&self, number: u32, launch: &Launch<'_>) {
        if self.is_ending.get() {
            return;
        }
        let task = self
            .petition(number, launch, |carrier, remote, env, petition| carrier.renew(remote, env, petition));
        self.renewals.borrow_mut().extend(task);
    }

    /// Waits for renewals that are under way, and begins no more: what they renew is used, and what comes of it has to be told.
    pub async fn renewed(&self) {
        self.is_ending.set(true);
        let renewals = std::mem::take(&mut *self.renewals.borrow_mut());
        for task in renewals {
            // One that was ended by the bridge is over, too.
            let _ = task.await;
        }
    }

    fn begin(self: &Rc<Self>, number: u32, launch: &Launch<'_>, plan: Plan) {
        let session = Session::new(number, self.own.clone(), self.up.clone(), launch);
        let session = Rc::new(session);
        if self.sessions.borrow_mut().insert(number, session.clone()).is_some() {
            // The bridge numbers each start anew; a number twice means that it is not our bridge.
            self.sessions.borrow_mut().remove(&number);
            return;
        }
        if !self.is_shared {
            // What a server has its runner do is its doing.
            own::be_nice(launch.sandbox.limits.nice);
        }
        let (servers, remote) = (self.clone(), launch.remote.as_ref().map(remote::owned));
        tokio::task::spawn_local(async move {
            let ended = servers.run(&session, &plan, remote).await;
            if plan.is_server {
                session.tell_death(&ended);
            }
            afterwards(&plan, &servers.reaper).await;
            // Before its end is told: the next start must not meet what this one left behind.
            let clean = servers.end_orphans(&plan, AT_ONCE).await;
            session.tell_end(ended);
            if !clean {
                servers.end_orphans(&plan, ORPHANS).await;
            }
            servers.sessions.borrow_mut().remove(&number);
            servers.ended.notify_waiters();
        });
    }

    async fn run(&self, session: &Rc<Session>, plan: &Plan, remote: Option<Remote<'static>>) -> Ended {
        let cannot =
            |what: &'static str| (EndCause::SpawnFailed { what: what.into(), errno: 0 }, String::new());
        match (remote, &self.carrier) {
            (None, None) => run(session, plan, &self.reaper).await,
            (Some(server), Some(carrier)) => remote::run(session, plan, server, carrier.as_ref()).await,
            (Some(_), None) => cannot("connect to a remote server in a runner for programs"),
            (None, Some(_)) => cannot("start a program in a runner for remote servers"),
        }
    }

    /// Ends what a server left behind outside its process group, which was given to this process.
    async fn end_orphans(&self, plan: &Plan, limit: Duration) -> bool {
        match plan.mark() {
            Some(mark) if self.sessions.borrow().len() > 1 => {
                self.reaper.end_marked_orphans(&mark, limit).await
            }
            _ => self.reaper.end_orphans(limit).await,
        }
    }

    /// Ends all servers; returns when they are gone.
    pub async fn end_all(&self) {
        self.sessions.borrow().values().for_each(|session| session.stop());
        loop {
            let ended = self.ended.notified();
            if self.sessions.borrow().is_empty() {
                break;
            }
            ended.await;
        }
        self.reaper.end_orphans(ORPHANS).await;
    }
}
