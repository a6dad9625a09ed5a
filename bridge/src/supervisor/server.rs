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
mod code;
mod confining;
mod container;
mod driving;
mod engine;
mod events;
mod explaining;
mod filled;
mod hearing;
mod installing;
mod instances;
mod interpreted;
mod lacking;
mod launch;
mod nodes;
mod parts;
mod prepared;
mod remains;
mod remote_start;
mod renewing;
mod resolving;
mod secrets;
mod status;
mod subscribing;
mod watching;

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::lifecycle::{LifecycleEvent, State};
use harbor_policy::package::Package;
use harbor_policy::package::older::UnfitVersion;
use harbor_policy::recipe::repository::Files;
use harbor_policy::settings::Settings;
use harbor_policy::slots::Slot;

use super::runners::Runners;
use super::start_error::StartError;
use super::supervisor_events::SupervisorEvent;
use crate::store::definitions::{Definition, Stored};
use crate::store::locks::Lock;

use parts::confinement::Confinement;
use parts::identity::Identity;
use parts::instances::{InstanceOwner, Instances};
use parts::life::Life;
use parts::lists::ServerLists;
use parts::package::ServerPackage;
use parts::place::ServerPlace;
use parts::secrets::ServerSecrets;
use parts::usage::ServerUse;

pub use authorizing::{AuthorizationRequest, PERSON};
pub use call_remarks::RemarkedOutcome;
pub use calling::{InUse, UnansweredReason, Unavailable};
pub use explaining::NEEDS_BUILD;
pub(crate) use installing::PLANNED;
pub use instances::{NoInstance, User};
pub use parts::confinement::{Confined, Denied};
pub use parts::engine::{EngineOf, KEY_FILE};
pub use parts::life::StartListener;
pub use parts::on_disk::ServerOnDisk;
pub use parts::trial::TrialOf;
pub use status::ServerSnapshot;

/// How long a start waits for the server's lists.
const LISTS_WAIT: Duration = Duration::from_secs(10);

/// One server.
pub struct Server {
    identity: Identity,
    life: Life,
    place: ServerPlace,
    package: ServerPackage,
    lists: ServerLists,
    usage: ServerUse,
    confinement: Confinement,
    secrets: ServerSecrets,
    instances: Instances<Server>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("id", self.id()).field("state", &self.state()).finish_non_exhaustive()
    }
}

impl Server {
    pub(super) fn new(looked: ServerOnDisk, runners: Rc<Runners>) -> Rc<Self> {
        Self::make(looked, runners, (None, None), None)
    }

    /// A server on trial: its package is installed anew for it.
    pub(super) fn on_trial(stored: Stored, runners: Rc<Runners>, trial: TrialOf) -> Rc<Self> {
        let missing = stored.definition.image.is_some() || trial.package.is_some();
        Self::make(ServerOnDisk { stored, image: None, missing }, runners, (Some(trial), None), None)
    }

    /// A program that runs models, in place of a server.
    pub(super) fn as_engine(stored: Stored, runners: Rc<Runners>, engine: EngineOf) -> Rc<Self> {
        let looked = ServerOnDisk { stored, image: None, missing: false };
        Self::make(looked, runners, (None, Some(engine)), None)
    }

    fn make(
        looked: ServerOnDisk,
        runners: Rc<Runners>,
        (trial, engine): (Option<TrialOf>, Option<EngineOf>),
        owner: Option<InstanceOwner<Self>>,
    ) -> Rc<Self> {
        let ServerOnDisk { stored: Stored { server_id: id, definition, era }, image, missing } = looked;
        let package = ServerPackage::new(&definition, &id, &runners.shared.locks, trial.as_ref(), image);
        let (has_package, is_instance) = (package.wanted().is_some(), owner.is_some());
        let identity = Identity::new((id, definition), has_package, is_instance, (trial, engine));
        Rc::new(Self {
            life: Life::new(identity.rules(), missing),
            place: ServerPlace::new(runners, era),
            package,
            lists: ServerLists::default(),
            usage: ServerUse::new(identity.settings().hung_grace),
            confinement: Confinement::default(),
            secrets: ServerSecrets::default(),
            instances: Instances::new(owner),
            identity,
        })
    }

    /// Has this server wait for the end of others before it starts.
    pub(super) fn follow(&self, predecessors: Vec<Rc<Server>>) {
        self.instances.follow(predecessors);
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &ServerId {
        self.identity.id()
    }

    /// Its name for people.
    #[must_use]
    pub fn label(&self) -> String {
        self.definition().label.clone().unwrap_or_else(|| self.id().to_string())
    }

    /// How it is started.
    #[must_use]
    pub fn definition(&self) -> Rc<Definition> {
        self.identity.definition()
    }

    /// How it is supervised.
    #[must_use]
    pub fn settings(&self) -> Rc<Settings> {
        self.identity.settings()
    }

    /// Takes over its label, and how it is supervised from now on. Settings that only its next start can have wait for that.
    pub(super) fn supervise(self: &Rc<Self>, definition: Definition) {
        self.identity.supervise(definition);
        self.life.change(self.identity.rules());
        self.usage.change_grace(self.settings().hung_grace);
        if self.state() == State::Running {
            self.set_idle_alarm();
        }
        if self.instances.is_instance() {
            return;
        }
        self.supervise_instances(&self.definition());
        self.runners().tell(&SupervisorEvent::Supervised(self.id()));
    }

    /// The package that is installed for it, as its installer is given it: in its version, once that is known.
    #[must_use]
    pub fn package(&self) -> Option<String> {
        self.package.spec()
    }

    /// The requested package.
    pub(crate) fn wanted(&self) -> Option<&Package> {
        self.package.wanted()
    }

    /// The version of its package that it has.
    #[must_use]
    pub fn lock(&self) -> Option<Rc<Lock>> {
        self.package.lock()
    }

    /// The package or image that is installed for it.
    fn installed(&self) -> String {
        let image = self.definition().image.as_ref().map(|image| image.reference.clone());
        image.or_else(|| self.package()).unwrap_or_default()
    }

    /// True if there is one runner for all servers.
    #[must_use]
    pub fn shares_its_runner(&self) -> bool {
        self.runners().is_shared()
    }

    pub(super) fn roots(&self) -> Vec<String> {
        if self.is_alone() { Vec::new() } else { self.definition().roots.clone() }
    }

    /// True if its starts get nothing of the person's.
    pub(crate) fn is_alone(&self) -> bool {
        self.identity.is_alone()
    }

    /// Lets its starts have everything in its definition from now on.
    pub(crate) fn is_trusted(&self) {
        self.identity.trust();
    }

    /// The newest version of its package, where an older one was resolved.
    pub(crate) fn unfit(&self) -> UnfitVersion {
        self.package.unfit()
    }

    /// The commit that its installation has checked out.
    pub(crate) fn commit(&self) -> Option<String> {
        self.package.commit()
    }

    /// The files in its repository that say how its server is had, once they were looked at.
    pub(crate) fn files(&self) -> Option<Rc<Files>> {
        self.package.files()
    }

    fn runners(&self) -> &Rc<Runners> {
        self.place.runners()
    }

    /// The state of the server.
    #[must_use]
    pub fn state(&self) -> State {
        self.life.state()
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
        // The listener lives as long as this wait: it is held weakly.
        let running = self.life.wait_for_start(note.as_ref());
        self.apply(LifecycleEvent::Start);
        if self.state() == State::Running {
            self.life.answer_starters(&Ok(self.lists.present()));
        }
        let lists = running.await.unwrap_or(Err(StartError::Stopped))?;
        // A server whose lists are slow runs all the same; it has them later.
        let _ = tokio::time::timeout(LISTS_WAIT, lists.complete()).await;
        if self.state() == State::Running { Ok(()) } else { Err(self.why_down()) }
    }

    fn why_down(&self) -> StartError {
        match (self.state(), self.life.last_exit()) {
            (State::Failed | State::Crashed, Some(report)) => StartError::Failed(report),
            _ => StartError::Stopped,
        }
    }

    /// It will be started, unless it is stopped or removed before.
    pub fn expect_start(&self) {
        self.life.expect();
    }

    /// True if that start is still to come.
    #[must_use]
    pub fn is_expected(&self) -> bool {
        self.life.is_expected()
    }

    /// Its turn has come.
    pub async fn start_in_turn(self: &Rc<Self>) {
        if self.life.take_expected() {
            // A server that fails says so itself: its state and its log have the reason.
            let _ = self.start(None).await;
        }
    }

    /// Waits until its start is no longer to come: it was stopped, or called.
    pub(super) async fn not_expected(&self) {
        self.life.until(|| !self.life.is_expected()).await;
    }

    /// True if it is still to be started now that its turn has come: it may have been stopped, or called, meanwhile.
    pub(super) fn has_turn(&self) -> bool {
        self.life.take_expected() || self.is_up()
    }

    /// True if it is up, or on its way up.
    #[must_use]
    pub fn is_up(&self) -> bool {
        !matches!(self.state(), State::Stopped | State::Stopping | State::Failed)
    }

    /// Has the server stopped. True if it was up, or on its way up.
    pub fn stop(self: &Rc<Self>) -> bool {
        let was_up = self.is_up();
        if self.life.take_expected() {
            self.life.wake();
        }
        self.end_instances(|_| true);
        self.apply(LifecycleEvent::Stop);
        was_up
    }

    /// Handles its removal: the server is stopped, and nothing is reported of it any more.
    pub(super) fn go(self: &Rc<Self>) {
        self.identity.go();
        self.life.wake();
        self.instances().iter().for_each(|one| one.go());
        self.stop();
    }

    /// True if it was removed, so that its name and directories belong to another server or to none. It never starts again.
    fn is_removed(&self) -> bool {
        self.identity.is_removed()
    }

    /// True if no process of it is left.
    pub(super) fn is_down(&self) -> bool {
        let is_down = matches!(self.state(), State::Stopped | State::Failed | State::Crashed);
        is_down && self.place.remains.is_clear()
    }

    /// Waits until no process of it is left, or the stop that was under way has ended: somebody may have started it
    /// again meanwhile. The lifecycle's deadlines bound it, and the time that clearing up may take.
    pub async fn down(&self) {
        let stops = self.life.stops();
        self.life.until(|| self.is_down() || self.life.stops() != stops).await;
    }

    /// A place for one more open request.
    #[must_use]
    pub fn slot(&self) -> Option<Slot> {
        self.usage.slot()
    }
}
