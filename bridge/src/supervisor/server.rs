//! The driver of one server: performs what `policy::lifecycle` and `policy::liveness` decide.
//!
//! ```text
//!  start, stop, calls, events of its runner, alarms ─► Lifecycle::on ─► actions ─► runner, waiters, alarms
//!                                                   └► Liveness::on ──┘        └─► listeners
//! ```
//!
//! Owns the state of one server. All changes of its life go through `driving::apply`; nothing else touches the
//! machine.

mod authorizing;
mod call_remarks;
mod calling;
mod confining;
mod container;
mod driving;
mod events;
mod explaining;
mod filled;
mod installing;
mod instances;
mod lacking;
mod launch;
mod nodes;
mod on_disk;
mod prepared;
mod remote_start;
mod renewing;
mod resolving;
mod secrets;
mod start_remains;
mod status;
mod subscribing;
mod watching;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::container::Pinned;
use harbor_policy::credentials::Credentials;
use harbor_policy::lifecycle::{Lifecycle, LifecycleEvent, LifecycleLimits, Rules, State};
use harbor_policy::limits;
use harbor_policy::liveness::Liveness;
use harbor_policy::package::older::UnfitVersion;
use harbor_policy::package::{self, Package};
use harbor_policy::pythons::Chosen;
use harbor_policy::recipe::repository::Files;
use harbor_policy::settings::Settings;
use harbor_policy::slots::{Slot, Slots};
use tokio::sync::{Notify, oneshot};

use super::StartError;
use super::lists::Lists;
use super::logs::Ring;
use super::place::RunnerPlace;
use super::runners::Runners;
use super::supervisor_events::SupervisorEvent;
use crate::alarm::Alarm;
use crate::link::{Containment, EndReport, Info, ToolList};
use crate::store::definitions::{Definition, Spoken, Stored};
use crate::store::locks::{Lock, Locks};

use instances::{InstanceOwner, Instances};
use start_remains::StartRemains;

pub use authorizing::{AuthorizationRequest, PERSON};
pub use call_remarks::RemarkedOutcome;
pub use calling::{UnansweredReason, Unavailable};
pub use confining::{Confined, Denied};
pub use explaining::NEEDS_BUILD;
pub(crate) use installing::PLANNED;
pub use instances::{NoInstance, User};
pub use on_disk::ServerOnDisk;
pub use status::ServerSnapshot;

/// How long a start waits for the server's lists.
const LISTS_WAIT: Duration = Duration::from_secs(10);

/// Whoever waits for the server to run gets the lists of the very start that it waited for.
type Started = Result<Rc<Lists>, StartError>;

/// Somebody who wants to hear what happens until a server runs.
pub type StartListener = Rc<dyn Fn(&str)>;

/// The thing that is tried out.
#[derive(Debug, Clone, Default)]
pub struct TrialOf {
    /// The package in the version that is wanted; `None` for an image, and for a server elsewhere.
    pub package: Option<Package>,
    /// The lock that was planned: exactly that is installed.
    pub planned: Option<Rc<Lock>>,
    /// The facts about the newest version that were found out with it.
    pub unfit: UnfitVersion,
    /// The lock that an earlier try has installed. `try_out` finds that out.
    pub kept: Option<Rc<Lock>>,
    /// Only its versions are to be found out.
    pub plan_only: bool,
    /// Only what its repository says of it is to be found out.
    pub look_only: bool,
    /// True if code of it may run to find out what it needs.
    pub may_build: bool,
    /// True if it is started with nothing of the person's: no secrets, no variables, no grants.
    pub alone: bool,
    /// Secrets that are not stored yet.
    pub secrets: Credentials,
    /// True if it is tried with a copy of the home that its server will have.
    pub with_data: bool,
    /// True if it runs in the server's own directories, unused so far: a tool that names one stays the same. Set by `try_out`.
    pub in_its_place: bool,
}

type WeakStartListener = Weak<dyn Fn(&str)>;

/// The end of a run of the installer: its number, and who waits for it.
type RunEnd = (u32, oneshot::Sender<Rc<EndReport>>);

/// One server.
pub struct Server {
    id: ServerId,
    definition: RefCell<Rc<Definition>>,
    settings: RefCell<Rc<Settings>>,
    package: Option<Package>,
    /// The version of it, once that is known.
    lock: RefCell<Option<Rc<Lock>>>,
    /// The number of the directory that it is being installed into.
    place_of_package: Cell<Option<u32>>,
    /// It is tried out: nobody's server yet.
    trial: Option<TrialOf>,
    /// It belongs to one web origin or AI client.
    owner: Option<InstanceOwner>,
    instances: Instances,
    /// It is started with nothing of the person's.
    alone: Cell<bool>,
    /// The commit that its installation has checked out, as it was before any code of it ran.
    commit: RefCell<Option<String>>,
    /// The newest version of its package that this machine admits, where an older one was resolved.
    newest: RefCell<Option<String>>,
    /// The Python, or the Node.js, of its package, where that is not the usual one.
    runtime: RefCell<Option<Chosen>>,
    /// The requirement of the newest version of its package for its Python or Node.js, where there is none such here.
    lacks_runtime: RefCell<Option<String>>,
    /// The files in its repository that say how its server is had.
    files: RefCell<Option<Rc<Files>>>,
    /// The image that it runs, as its file says, which nobody else changes: files are not read where calls wait.
    image: RefCell<Option<Pinned>>,
    spoken: RefCell<Option<Spoken>>,
    runners: Rc<Runners>,
    machine: RefCell<Lifecycle>,
    life: Alarm,
    stalled: Cell<bool>,
    /// The machine's times as milliseconds since 1970, noted when its state changed: clocks drift apart.
    since: Cell<u64>,
    next_retry: Cell<Option<u64>>,
    place: RefCell<Option<RunnerPlace>>,
    behind: StartRemains,
    /// How often it was launched: of two launches that are under way the later one counts.
    launches: Cell<u64>,
    pid: Cell<Option<u32>>,
    info: RefCell<Option<Info>>,
    containment: RefCell<Option<Rc<Containment>>>,
    last_exit: RefCell<Option<Rc<EndReport>>>,
    confined: RefCell<Option<Rc<Confined>>>,
    denied: RefCell<confining::Refusals>,
    given: RefCell<secrets::StartSecrets>,
    /// Its words about the one whom it refuses.
    challenge: RefCell<Option<String>>,
    /// Its last start was given up because its secrets are locked.
    barred: Cell<bool>,
    /// A secret was missing when it was looked last.
    lacks_secrets: Cell<bool>,
    /// It is another program than the one that was given the secrets set before this time.
    secrets_since: Cell<Option<u64>>,
    restarts: Cell<u32>,
    lists: RefCell<Rc<Lists>>,
    /// Its tools as last listed, also of an earlier start.
    known_tools: RefCell<Option<Rc<ToolList>>>,
    logs: RefCell<Ring>,
    /// When this definition came to life, in milliseconds since 1970: older log lines are on disk only.
    born: u64,
    slots: Slots,
    queue: Slots,
    starters: RefCell<Vec<oneshot::Sender<Started>>>,
    notes: RefCell<Vec<WeakStartListener>>,
    run: RefCell<Option<RunEnd>>,
    installing: Cell<bool>,
    /// Held by whoever looks for containers that are left.
    clearing: tokio::sync::Mutex<()>,
    /// Clients per resource that subscribed to it.
    subscribers: RefCell<BTreeMap<String, u32>>,
    /// From which level on somebody wants its messages.
    messages: Cell<Option<usize>>,
    liveness: RefCell<Liveness>,
    probing: Alarm,
    /// Why it is about to be killed, where its runner will not say it.
    verdict: Cell<Option<&'static str>>,
    open: Cell<u32>,
    last_used: Cell<Instant>,
    idling: Alarm,
    /// Late answers, as told by its runner and as seen here, of earlier starts and of this one.
    late: Cell<u64>,
    late_of_start: Cell<u64>,
    /// It will be started in its turn, since the bridge has begun, or by the first call.
    pending: Cell<bool>,
    /// It was removed or replaced: what still happens to it is nobody's news.
    gone: Cell<bool>,
    /// The servers that had this id before, while they may not be down.
    predecessors: RefCell<Vec<Rc<Server>>>,
    changed: Notify,
    /// How many stops have come to their end.
    stops: Cell<u64>,
    illegal: Cell<u64>,
    began: Instant,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("id", &self.id).field("machine", &self.machine).finish_non_exhaustive()
    }
}

impl Server {
    pub(super) fn new(looked: ServerOnDisk, runners: Rc<Runners>) -> Rc<Self> {
        Self::make(looked, runners, None, None)
    }

    /// One that is tried out: a package is installed anew for it.
    pub(super) fn on_trial(stored: Stored, runners: Rc<Runners>, trial: TrialOf) -> Rc<Self> {
        let missing = stored.definition.image.is_some() || trial.package.is_some();
        let server = Self::make(ServerOnDisk { stored, image: None, missing }, runners, Some(trial), None);
        server.gone.set(true);
        server
    }

    fn make(
        looked: ServerOnDisk,
        runners: Rc<Runners>,
        trial: Option<TrialOf>,
        owner: Option<InstanceOwner>,
    ) -> Rc<Self> {
        let ServerOnDisk { stored: Stored { server_id: id, definition, era }, image, missing } = looked;
        let (package, lock) = match &trial {
            Some(trial) => (trial.package.clone(), trial.planned.clone()),
            None => used(&definition, &id, &runners.shared.locks),
        };
        let settings = held_to(&definition, (&id, package.is_some()), owner.is_some());
        let unfit = trial.as_ref().map(|trial| trial.unfit.clone()).unwrap_or_default();
        let seed = wall_clock() ^ u64::from(std::process::id());
        let machine = Lifecycle::new(rules(&settings, definition.image.is_some()), missing, seed, 0);
        Rc::new(Self {
            id,
            definition: RefCell::new(Rc::new(definition)),
            package,
            // One on trial gets a directory of its own.
            place_of_package: Cell::new(lock.as_ref().filter(|_| trial.is_none()).map(|lock| lock.place)),
            alone: Cell::new(trial.as_ref().is_some_and(|trial| trial.alone)),
            commit: RefCell::default(),
            newest: RefCell::new(unfit.newest),
            runtime: RefCell::new(lock.as_ref().and_then(|lock| lock.python.clone()).map(Into::into)),
            lacks_runtime: RefCell::new(unfit.requires),
            files: RefCell::default(),
            lock: RefCell::new(lock),
            image: RefCell::new(image),
            trial,
            owner,
            instances: Instances::default(),
            spoken: RefCell::new(era),
            runners,
            machine: RefCell::new(machine),
            life: Alarm::default(),
            stalled: Cell::default(),
            since: Cell::new(wall_clock()),
            next_retry: Cell::default(),
            place: RefCell::default(),
            behind: StartRemains::default(),
            launches: Cell::default(),
            pid: Cell::default(),
            info: RefCell::default(),
            containment: RefCell::default(),
            last_exit: RefCell::default(),
            confined: RefCell::default(),
            denied: RefCell::default(),
            given: RefCell::default(),
            challenge: RefCell::default(),
            barred: Cell::default(),
            lacks_secrets: Cell::default(),
            secrets_since: Cell::default(),
            restarts: Cell::default(),
            lists: RefCell::default(),
            known_tools: RefCell::default(),
            logs: RefCell::default(),
            born: wall_clock(),
            slots: Slots::new(limits::OPEN_PER_SERVER),
            queue: Slots::new(limits::QUEUE_LENGTH),
            starters: RefCell::default(),
            notes: RefCell::default(),
            run: RefCell::default(),
            installing: Cell::default(),
            clearing: tokio::sync::Mutex::default(),
            messages: Cell::default(),
            subscribers: RefCell::default(),
            liveness: RefCell::new(Liveness::new(settings.hung_grace)),
            probing: Alarm::default(),
            verdict: Cell::default(),
            open: Cell::default(),
            last_used: Cell::new(Instant::now()),
            idling: Alarm::default(),
            late: Cell::default(),
            late_of_start: Cell::default(),
            pending: Cell::default(),
            gone: Cell::default(),
            predecessors: RefCell::default(),
            changed: Notify::new(),
            stops: Cell::default(),
            illegal: Cell::default(),
            began: Instant::now(),
            settings: RefCell::new(Rc::new(settings)),
        })
    }

    /// Has this server wait for the end of others before it starts.
    pub(super) fn follow(&self, predecessors: Vec<Rc<Server>>) {
        *self.predecessors.borrow_mut() = predecessors;
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &ServerId {
        &self.id
    }

    /// Its name for people.
    #[must_use]
    pub fn label(&self) -> String {
        self.definition.borrow().label.clone().unwrap_or_else(|| self.id.to_string())
    }

    /// How it is started.
    #[must_use]
    pub fn definition(&self) -> Rc<Definition> {
        self.definition.borrow().clone()
    }

    /// How it is supervised.
    #[must_use]
    pub fn settings(&self) -> Rc<Settings> {
        self.settings.borrow().clone()
    }

    /// Takes over its label, and how it is supervised from now on. Settings that only its next start can have wait for that.
    pub(super) fn supervise(self: &Rc<Self>, definition: Definition) {
        // Its ranges were checked before; what a start says of them holds for this as well.
        let settings = settings(&definition, self.package.is_some()).unwrap_or_default();
        let settings = if self.owner.is_some() { settings.of_instance() } else { settings };
        self.machine.borrow_mut().change(rules(&settings, self.has_image()));
        self.liveness.borrow_mut().change(settings.hung_grace);
        *self.settings.borrow_mut() = Rc::new(settings);
        *self.definition.borrow_mut() = Rc::new(definition);
        if self.state() == State::Running {
            self.set_idle_alarm();
        }
        if self.owner.is_some() {
            return;
        }
        self.supervise_instances(&self.definition());
        self.runners.tell(&SupervisorEvent::Supervised(&self.id));
    }

    /// The package that is installed for it, as its installer is given it: in its version, once that is known.
    #[must_use]
    pub fn package(&self) -> Option<String> {
        let package = self.package.as_ref()?;
        Some(self.lock().map_or_else(|| package.spec.clone(), |lock| lock.spec.clone()))
    }

    /// Its package, as it is asked for.
    pub(crate) fn wanted(&self) -> Option<&Package> {
        self.package.as_ref()
    }

    /// The version of its package that it has.
    #[must_use]
    pub fn lock(&self) -> Option<Rc<Lock>> {
        self.lock.borrow().clone()
    }

    /// The package or image that is installed for it.
    fn installed(&self) -> String {
        let image = self.definition().image.as_ref().map(|image| image.reference.clone());
        image.or_else(|| self.package()).unwrap_or_default()
    }

    /// True if there is one runner for all servers.
    #[must_use]
    pub fn shares_its_runner(&self) -> bool {
        self.runners.is_shared()
    }

    pub(super) fn roots(&self) -> Vec<String> {
        if self.is_alone() { Vec::new() } else { self.definition.borrow().roots.clone() }
    }

    /// True if its starts get nothing of the person's.
    pub(crate) fn is_alone(&self) -> bool {
        self.alone.get()
    }

    /// Gives its starts all that its definition gives, from now on.
    pub(crate) fn is_trusted(&self) {
        self.alone.set(false);
    }

    /// The newest version of its package, where an older one was resolved.
    pub(crate) fn unfit(&self) -> UnfitVersion {
        UnfitVersion { newest: self.newest.borrow().clone(), requires: self.lacks_runtime.borrow().clone() }
    }

    /// The commit that its installation has checked out.
    pub(crate) fn commit(&self) -> Option<String> {
        self.commit.borrow().clone()
    }

    /// The files in its repository that say how its server is had, once they were looked at.
    pub(crate) fn files(&self) -> Option<Rc<Files>> {
        self.files.borrow().clone()
    }

    /// Where it is in its life.
    #[must_use]
    pub fn state(&self) -> State {
        self.machine.borrow().state()
    }

    /// Starts the server if need be, and waits until it runs and its lists are there, or have taken too long. `note`
    /// hears what happens meanwhile.
    ///
    /// # Errors
    /// Why it does not run.
    pub async fn start(self: &Rc<Self>, note: Option<StartListener>) -> Result<(), StartError> {
        if self.is_removed() {
            return Err(StartError::Stopped);
        }
        // The note lives as long as this wait: the list holds it weakly.
        self.notes.borrow_mut().extend(note.as_ref().map(Rc::downgrade));
        let (starter, running) = oneshot::channel();
        self.starters.borrow_mut().push(starter);
        self.apply(LifecycleEvent::Start);
        if self.state() == State::Running {
            self.answer_starters(&Ok(self.lists.borrow().clone()));
        }
        let lists = running.await.unwrap_or(Err(StartError::Stopped))?;
        // A server whose lists are slow runs all the same; it has them later.
        let _ = tokio::time::timeout(LISTS_WAIT, lists.complete()).await;
        if self.state() == State::Running { Ok(()) } else { Err(self.why_down()) }
    }

    fn why_down(&self) -> StartError {
        match (self.state(), self.last_exit.borrow().clone()) {
            (State::Failed | State::Crashed, Some(report)) => StartError::Failed(report),
            _ => StartError::Stopped,
        }
    }

    /// It will be started, unless it is stopped or removed before.
    pub fn expect_start(&self) {
        self.pending.set(true);
    }

    /// True if that start is still to come.
    #[must_use]
    pub fn is_expected(&self) -> bool {
        self.pending.get()
    }

    /// Its turn has come.
    pub async fn start_in_turn(self: &Rc<Self>) {
        if self.pending.take() {
            // A server that fails says so itself: its state and its log have the reason.
            let _ = self.start(None).await;
        }
    }

    /// Waits until its start is no longer to come: it was stopped, or called.
    pub(super) async fn not_expected(&self) {
        loop {
            let changed = self.changed.notified();
            if !self.pending.get() {
                return;
            }
            changed.await;
        }
    }

    /// True if it is still to be started now that its turn has come: it may have been stopped, or called, meanwhile.
    pub(super) fn has_turn(&self) -> bool {
        self.pending.take() || self.is_up()
    }

    /// True if it is up, or on its way up.
    #[must_use]
    pub fn is_up(&self) -> bool {
        !matches!(self.state(), State::Stopped | State::Stopping | State::Failed)
    }

    /// Has the server stopped. True if it was up, or on its way up.
    pub fn stop(self: &Rc<Self>) -> bool {
        let was_up = self.is_up();
        if self.pending.take() {
            self.changed.notify_waiters();
        }
        self.end_instances(|_| true);
        self.apply(LifecycleEvent::Stop);
        was_up
    }

    /// It is removed: it is stopped, and nobody is told of it any more.
    pub(super) fn go(self: &Rc<Self>) {
        self.gone.set(true);
        self.changed.notify_waiters();
        self.instances().iter().for_each(|one| one.go());
        self.stop();
    }

    /// True if it was removed: its name and its directories are another one's by now, or nobody's. It never starts again.
    fn is_removed(&self) -> bool {
        self.gone.get() && self.trial.is_none()
    }

    /// True if no process of it is left.
    pub(super) fn is_down(&self) -> bool {
        let is_down = matches!(self.state(), State::Stopped | State::Failed | State::Crashed);
        is_down && self.behind.is_clear()
    }

    /// Waits until no process of it is left, or the stop that was under way has ended: somebody may have started it
    /// again meanwhile. The lifecycle's deadlines bound it, and the time that clearing up may take.
    pub async fn down(&self) {
        let stops = self.stops.get();
        loop {
            let changed = self.changed.notified();
            if self.is_down() || self.stops.get() != stops {
                return;
            }
            changed.await;
        }
    }

    /// A place for one more open request.
    #[must_use]
    pub fn slot(&self) -> Option<Slot> {
        self.slots.take()
    }
}

/// The package of a definition, and which version of it is used.
fn used(definition: &Definition, id: &ServerId, locks: &Locks) -> (Option<Package>, Option<Rc<Lock>>) {
    let package = definition.package();
    let locked = package.as_ref().and_then(|package| locks.of(id, package));
    (package, locked.map(|found| found.current))
}

/// A package in its locked version.
fn pinned(package: &Package, lock: &Lock) -> Package {
    Package { spec: lock.spec.clone(), ..package.clone() }
}

/// The settings of a server; those of an instance differ.
fn held_to(definition: &Definition, (id, has_package): (&ServerId, bool), is_instance: bool) -> Settings {
    let settings = settings(definition, has_package).unwrap_or_else(|field| {
        tracing::warn!(server = %id, field, "its supervision cannot be read; the defaults hold");
        Settings::default()
    });
    if is_instance { settings.of_instance() } else { settings }
}

/// The settings of a definition.
///
/// # Errors
/// Which field is out of its range.
fn settings(definition: &Definition, has_package: bool) -> Result<Settings, &'static str> {
    let downloads = !has_package && package::is_wrapper(&definition.command);
    Settings::new(&definition.supervision, downloads).map_err(|wrong| wrong.field)
}

fn rules(settings: &Settings, has_image: bool) -> Rules {
    let steps = 3;
    let removal = if has_image { limits::REMOVAL } else { Duration::ZERO };
    Rules {
        limits: LifecycleLimits {
            install: limits::INSTALL_TIMEOUT * steps,
            start: settings.start_timeout + limits::START_SLACK,
            stop: settings.eof_grace + settings.term_grace + removal + limits::STOP_SLACK,
        },
        restart: settings.restart.clone(),
        lazy: settings.lazy,
    }
}
