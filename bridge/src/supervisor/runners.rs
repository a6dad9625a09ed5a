//! Which runner serves which start of a server, and the runners' events.
//!
//! Owns the numbers of starts and the shared runner. Events find the owner of their start by its number; a late event of an
//! earlier start finds nobody. Must never know what a server makes of an event.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::rc::{Rc, Weak};
use std::time::Duration;

use harbor_child::dying::Other;
use harbor_child::leftovers;
use harbor_child::reaper::{Reaper, parent_of};
use harbor_ipc_proto::link::sandbox::Offer;
use harbor_policy::environment::INSTANCE_MARK;
use tokio::sync::{Notify, mpsc, watch};

use super::place::RunnerPlace;
use super::renewals::Renewals;
use super::shared::SupervisorParts;
use super::supervisor_events::{SupervisorEvent, SupervisorEventListener};
use crate::link::runner::{Executables, Purpose, RUNNER, Runner, RunnerKind, end_server_group};
use crate::link::{EndReport, LinkEvent};

/// The owner of a start, which hears of it.
pub(super) trait StartOwner {
    /// Its process was started.
    fn on_started(&self, number: u32, pid: u32);

    /// Takes an event about the start with this number, from its runner.
    fn on_event(self: Rc<Self>, number: u32, event: LinkEvent);

    /// The start is over. No further event comes about it.
    fn on_ended(self: Rc<Self>, number: u32, report: Rc<EndReport>);

    /// True if it is shown as one that runs.
    fn is_shown_at(&self, number: u32) -> bool;
}

struct TrackedStart {
    owner: Weak<dyn StartOwner>,
    runner_pid: u32,
    pid: Option<u32>,
}

/// All runners.
pub(super) struct Runners {
    pub(super) executables: Executables,
    isolation: bool,
    pub(super) reaper: Rc<Reaper>,
    pub(super) shared: Rc<SupervisorParts>,
    next: Cell<u32>,
    starts: RefCell<HashMap<u32, TrackedStart>>,
    /// The runner of each kind, where servers share one.
    common: RefCell<HashMap<RunnerKind, Rc<Runner>>>,
    listeners: RefCell<Vec<SupervisorEventListener>>,
    /// True once nothing of an earlier bridge is left, and it is known what the kernel offers.
    swept: watch::Sender<bool>,
    offer: RefCell<Offer<'static>>,
    /// Runner processes that have not ended.
    pub(super) alive: RefCell<HashMap<u32, Weak<Runner>>>,
    pub(super) ended: Notify,
    pub(super) ending: Cell<bool>,
    /// The renewals of logins that are under way.
    pub(super) renewals: Renewals,
}

impl std::fmt::Debug for Runners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runners").field("isolation", &self.isolation).finish_non_exhaustive()
    }
}

impl Runners {
    pub(super) fn new(
        executables: Executables,
        isolation: bool,
        reaper: Rc<Reaper>,
        shared: Rc<SupervisorParts>,
    ) -> Rc<Self> {
        Rc::new(Self {
            executables,
            isolation,
            reaper,
            shared,
            next: Cell::new(1),
            starts: RefCell::default(),
            common: RefCell::default(),
            listeners: RefCell::default(),
            swept: watch::Sender::new(false),
            offer: RefCell::default(),
            alive: RefCell::default(),
            ended: Notify::new(),
            ending: Cell::new(false),
            renewals: Renewals::default(),
        })
    }

    pub(super) fn listen(&self, listener: SupervisorEventListener) {
        self.listeners.borrow_mut().push(listener);
    }

    pub(super) fn tell(&self, told: &SupervisorEvent<'_>) {
        self.listeners.borrow().iter().for_each(|listener| listener(told));
    }

    /// Ends what a killed bridge of this home has left behind. No server starts before that: an earlier one may still write to
    /// its data.
    pub(super) async fn end_leftovers(&self) {
        let (found, left) =
            leftovers::end(INSTANCE_MARK, &self.shared.marks.instance, RUNNER, LEFTOVERS_GRACE).await;
        if found > 0 {
            tracing::warn!(found, left, "an earlier bridge left processes behind; they were ended");
        }
    }

    /// Finds out what the kernel offers. Afterwards servers may start.
    pub(super) async fn find_offer(&self) {
        *self.offer.borrow_mut() = self.try_offer().await;
        self.swept.send_replace(true);
    }

    /// Has a throw-away process find out what the kernel offers for sandboxes.
    async fn try_offer(&self) -> Offer<'static> {
        let nothing = |why: String| Offer { why_no_namespaces: why.into(), ..Offer::default() };
        let started = Runner::start(
            &self.executables,
            RunnerKind::Local,
            &self.shared.marks,
            Purpose::Offer,
            &self.reaper,
        );
        let (_runner, mut events) = match started {
            Ok(started) => started,
            Err(error) => return nothing(format!("the test could not run: {error}")),
        };
        match tokio::time::timeout(OFFER, events.recv()).await {
            Ok(Some(LinkEvent::Offered(offer))) => self.shared.offered.of(offer),
            _ => nothing("the test process did not answer".into()),
        }
    }

    /// True if one runner runs all servers.
    pub(super) fn is_shared(&self) -> bool {
        !self.isolation
    }

    /// The kernel's sandbox features. None before the sweep is done.
    pub(super) fn offer(&self) -> Offer<'static> {
        self.offer.borrow().clone()
    }

    pub(super) fn is_swept(&self) -> bool {
        *self.swept.borrow()
    }

    pub(super) async fn swept(&self) {
        // The sender is part of this very value.
        let _ = self.swept.subscribe().wait_for(|swept| *swept).await;
    }

    /// A place for one start of `owner`; `has_image` where a container engine runs it.
    pub(super) fn place(
        self: &Rc<Self>,
        owner: Weak<dyn StartOwner>,
        kind: RunnerKind,
        has_image: bool,
    ) -> io::Result<RunnerPlace> {
        if self.ending.get() {
            return Err(io::Error::other("the bridge is shutting down"));
        }
        let common = self.common.borrow().get(&kind).cloned().filter(|_| !self.isolation);
        let runner = match common {
            Some(runner) => runner,
            None => self.start_runner(kind, has_image)?,
        };
        if !self.isolation {
            self.common.borrow_mut().insert(kind, runner.clone());
        }
        let number = self.next.get();
        self.next.set(number + 1);
        let start = TrackedStart { owner, runner_pid: runner.pid(), pid: None };
        self.starts.borrow_mut().insert(number, start);
        Ok(RunnerPlace { runner, number })
    }

    fn start_runner(self: &Rc<Self>, kind: RunnerKind, has_image: bool) -> io::Result<Rc<Runner>> {
        let purpose = match self.isolation {
            true if has_image => Purpose::Engine,
            true => Purpose::Isolated,
            false => Purpose::Shared,
        };
        let (runner, events) =
            Runner::start(&self.executables, kind, &self.shared.marks, purpose, &self.reaper)?;
        self.alive.borrow_mut().insert(runner.pid(), Rc::downgrade(&runner));
        tokio::task::spawn_local(follow(Rc::downgrade(self), Rc::downgrade(&runner), runner.pid(), events));
        Ok(runner)
    }

    /// Takes an event of one runner. A runner speaks for its own servers only: the number of another runner's server is ignored.
    fn on_event(self: &Rc<Self>, runner: &Weak<Runner>, runner_pid: u32, event: LinkEvent) {
        match event {
            LinkEvent::Started { server, pid } => self.on_started(runner, runner_pid, server, pid),
            LinkEvent::Ended { server, report } => {
                if self.is_of(runner_pid, server) {
                    self.end_start(server, report);
                }
            }
            LinkEvent::Echoed => with(runner, Runner::note_echo),
            LinkEvent::Contained(containment) => with(runner, |runner| runner.set_containment(containment)),
            event => {
                let owner =
                    event.start().and_then(|number| Some((number, self.owner_of(runner_pid, number)?)));
                if let Some((number, owner)) = owner {
                    owner.on_event(number, event);
                }
            }
        }
    }

    /// Notes a server's process, if it is a child of the runner that tells of it: it will be signalled later.
    fn on_started(self: &Rc<Self>, runner: &Weak<Runner>, runner_pid: u32, number: u32, pid: u32) {
        if !self.is_of(runner_pid, number) || parent_of(pid) != Some(runner_pid) {
            return;
        }
        self.reaper.expect_orphan(pid);
        let before = self.starts.borrow_mut().get_mut(&number).and_then(|start| start.pid.replace(pid));
        if let Some(before) = before.filter(|before| *before != pid) {
            self.reaper.forget_orphan(before);
        }
        if let Some(owner) = self.owner_of(runner_pid, number) {
            owner.on_started(number, pid);
        }
        // Where no descriptor is left for it, its runner alone is believed.
        if let Ok(process) = Other::watch(pid)
            && parent_of(pid) == Some(runner_pid)
        {
            let (runners, runner) = (Rc::downgrade(self), runner.clone());
            tokio::task::spawn_local(async move {
                process.ended().await;
                drop(process);
                tokio::time::sleep(SILENCE).await;
                if let (Some(runners), Some(runner)) = (runners.upgrade(), runner.upgrade()) {
                    runners.on_silence(&runner, number, pid);
                }
            });
        }
    }

    /// Handles the silence of a runner after a server's process ended. If the runner has not reported the
    /// end, it hangs: it is killed, and that reports the server's end.
    fn on_silence(&self, runner: &Runner, number: u32, pid: u32) {
        let is_untold = self.starts.borrow().get(&number).is_some_and(|start| start.pid == Some(pid));
        let is_shown = self.owner_of(runner.pid(), number).is_some_and(|owner| owner.is_shown_at(number));
        if is_untold && is_shown {
            tracing::warn!(pid, "a server has ended, and its runner does not say so: the runner is killed");
            runner.kill();
        }
    }

    fn is_of(&self, runner_pid: u32, number: u32) -> bool {
        self.starts.borrow().get(&number).is_some_and(|start| start.runner_pid == runner_pid)
    }

    /// The owner of a start of this runner.
    fn owner_of(&self, runner_pid: u32, number: u32) -> Option<Rc<dyn StartOwner>> {
        let starts = self.starts.borrow();
        let start = starts.get(&number).filter(|start| start.runner_pid == runner_pid)?;
        start.owner.upgrade()
    }

    fn end_start(&self, number: u32, report: Rc<EndReport>) {
        let Some(start) = self.starts.borrow_mut().remove(&number) else { return };
        if let Some(pid) = start.pid {
            self.reaper.forget_orphan(pid);
        }
        if let Some(owner) = start.owner.upgrade() {
            owner.on_ended(number, report);
        }
    }

    /// A runner's link is closed: so are its servers.
    fn on_runner_lost(&self, runner: &Weak<Runner>, runner_pid: u32, report: &Rc<EndReport>) {
        self.alive.borrow_mut().remove(&runner_pid);
        self.common.borrow_mut().retain(|_, common| common.pid() != runner_pid);
        // The link may be closed although the process hangs.
        if let Some(runner) = runner.upgrade() {
            runner.kill();
        }
        let lost: Vec<u32> = {
            let starts = self.starts.borrow();
            starts.iter().filter(|(_, start)| start.runner_pid == runner_pid).map(|(n, _)| *n).collect()
        };
        for number in lost {
            let pid = self.starts.borrow().get(&number).and_then(|start| start.pid);
            if let Some(pid) = pid {
                end_server_group(pid, runner_pid);
            }
            self.end_start(number, report.clone());
        }
        self.ended.notify_waiters();
        // What its servers had left behind outside their groups has become a child of this process.
        let reaper = self.reaper.clone();
        tokio::task::spawn_local(async move { reaper.end_orphans(LAST).await });
    }

    /// Starts nothing from now on.
    pub(super) fn begin_ending(&self) {
        self.ending.set(true);
    }

    /// Ends all runners by their links, and what is left at `limit` by force.
    pub(super) async fn end_all(&self, limit: Duration) {
        let runners = || -> Vec<_> { self.alive.borrow().values().filter_map(Weak::upgrade).collect() };
        runners().iter().for_each(|runner| runner.shut_down());
        self.common.borrow_mut().clear();
        let all_ended = async {
            loop {
                let ended = self.ended.notified();
                if self.alive.borrow().is_empty() {
                    return;
                }
                ended.await;
            }
        };
        if tokio::time::timeout(limit, all_ended).await.is_err() {
            let starts: Vec<_> = self
                .starts
                .borrow()
                .values()
                .filter_map(|start| Some((start.pid?, start.runner_pid)))
                .collect();
            runners().iter().for_each(|runner| runner.kill());
            starts.into_iter().for_each(|(pid, runner_pid)| end_server_group(pid, runner_pid));
        }
        self.reaper.end_orphans(LAST).await;
    }
}

/// How long a runner may take to report that a server's process has ended. It takes milliseconds. On a busy
/// machine, a runner with all servers that counts a server's remains has taken more than two seconds.
const SILENCE: Duration = Duration::from_secs(10);

/// How long the process may take that finds out what the kernel offers.
const OFFER: Duration = Duration::from_secs(10);

/// How long the runners of a killed bridge may take to end their servers by the ladder.
const LEFTOVERS_GRACE: Duration = Duration::from_secs(4);

/// How long killed processes may take to disappear.
const LAST: Duration = Duration::from_millis(500);

fn with(runner: &Weak<Runner>, act: impl FnOnce(&Runner)) {
    if let Some(runner) = runner.upgrade() {
        act(&runner);
    }
}

/// Passes a runner's events on until its link closes.
async fn follow(
    runners: Weak<Runners>,
    runner: Weak<Runner>,
    pid: u32,
    mut events: mpsc::Receiver<LinkEvent>,
) {
    let mut report = Rc::new(EndReport::because("runner_lost", "its runner has ended"));
    while let Some(event) = events.recv().await {
        if let LinkEvent::Closed { report: said } = event {
            report = said;
            break;
        }
        let Some(runners) = runners.upgrade() else { return };
        runners.on_event(&runner, pid, event);
    }
    if let Some(runners) = runners.upgrade() {
        runners.on_runner_lost(&runner, pid, &report);
    }
}
