//! The tool-call path: the only way from a client's request to a server.
//!
//! ```text
//!  router ─► Asker, Caller ─► call_tool: grants ─► consent ─► registry ─► runs, admission ─► supervisor ─► runner ─► server
//!                 │               │                                                                │
//!                 │               └─► note: audit log, counts ◄── result, error: the return value ◄┘
//!                 └─► permissions, list_tools, runs: what an origin may do and see
//! ```
//!
//! Owns what an origin may do, how often, and what is written down about it. Must never look into arguments or results; a
//! source's notes beside them are passed on (`beside`).

mod accepting;
mod admission;
pub mod asker;
mod audit_trail;
mod browsers;
mod calls;
pub mod consent;
mod counts;
mod errors;
mod exporting;
mod fields;
mod finishing;
mod first_use;
mod grant_forms;
mod listing;
mod metrics;
mod models;
mod newcomers;
mod news;
mod note;
mod offered;
mod origin_refusals;
mod page_acts;
mod page_search;
mod permissions;
mod pinned;
mod registry;
mod remarks_audience;
mod requests;
mod running;
mod runs;
mod sampling;
mod server_views;
mod settling;
pub mod source;
mod status;
mod stepping;
mod suspended;
mod tool_call;
mod traced;
mod unseen;
mod unstored_grants;
mod usable;
mod waking;

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::time::Duration;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::limits;
use harbor_policy::runs::RunView;
use harbor_policy::scope::Scope;
use harbor_policy::stats::{OTHERS, Stats};
use tokio::sync::Notify;

use crate::config::{LiveConfig, OWNER};
use crate::link::{TimeLimit, ToolList};
use crate::store::StoreError;
use crate::store::audit::{Audit, AuditRecord};
use crate::store::consent::ConsentTables;
use crate::store::database::Database;
use crate::store::first_browser::FirstBrowser;
use crate::store::grants::GrantFile;
use crate::store::met_clients::MetClients;
use crate::store::offers::Offers;
use crate::store::pins::Pins;
use crate::store::programs::AcceptedPrograms;
use crate::store::recovery::OpenedDatabase;
use crate::supervisor::{Fetched, Server, StateChange, Supervisor, SupervisorEvent};
use crate::traces::Traces;

pub use audit_trail::AuditTrail;
pub use calls::{NotedCall, ToolAnswer};
pub use errors::start_failed;
pub use exporting::Exporting;
pub use fields::invalid;
pub use finishing::{cut_off, to_the_end};
pub use metrics::Dialect;
pub use news::{HostEvent, HostEventListener};
use offered::Offered;
pub use permissions::{Granted, Permissions, RequestedGrant, Revoked};
pub use registry::Registry;
pub use runs::Runs;
pub use server_views::{all_server_views, connection_info, image_view, sandbox_summary, server_view};
pub use status::{Presence, secret_store};
pub use tool_call::{Consenting, ToolCall};
pub use usable::Usable;

use admission::Admission;
use asker::{Asker, Sender};
use consent::Consent;
use consent::sampling_call::Sampler;
use newcomers::Newcomers;
use news::Listeners;
use settling::keep_trying;
use source::{SourceGuard, Sources, ToolSource};
use suspended::Suspended;
use waking::Waking;

/// How often the host looks for things that have gone stale.
const HOUSEKEEPING: Duration = Duration::from_secs(60);

/// The call path.
#[derive(Debug)]
pub struct Host {
    supervisor: Rc<Supervisor>,
    /// Everything that has tools.
    pub sources: Rc<Sources>,
    /// The contents of `config.toml`.
    pub config: Rc<LiveConfig>,
    /// The grants of origins.
    pub permissions: Rc<Permissions>,
    /// The tools as the person saw them.
    pub registry: Registry,
    offered: Rc<Offered>,
    suspended: Rc<Suspended>,
    /// Budgets.
    pub runs: Runs,
    /// The audit log.
    pub trail: Rc<AuditTrail>,
    admission: Rc<Admission>,
    stats: RefCell<Stats>,
    listeners: Rc<Listeners>,
    /// Set off when a grant was made, taken back, or has ended.
    grants_changed: Rc<Notify>,
    newcomers: Newcomers,
    first_browser: FirstBrowser,
    waking: Rc<Waking>,
    /// The person's answers about calls, and the open questions.
    pub consent: Consent,
    /// True if the record of the AI clients that had been here was lost.
    nobody_is_new: bool,
    sampler: Sampler,
    /// The state of the metrics endpoint; its server sets it.
    pub exporting: RefCell<Exporting>,
    /// The faults of model providers, a sentence each; the code that asks the providers sets them.
    pub wrong_models: RefCell<Vec<String>>,
    /// Conversations that the disk has not taken, each with the reason.
    pub unsaved_sessions: RefCell<Vec<String>>,
    database: Rc<Database>,
    /// How the database was lost, if its remains are still there.
    lost: Option<String>,
    traces: Rc<Traces>,
}

impl Host {
    /// The call path to the servers of `supervisor`.
    ///
    /// # Errors
    /// When the person's decisions cannot be read.
    pub async fn open(
        supervisor: Rc<Supervisor>,
        opened: &OpenedDatabase,
        audit: Audit,
        config: Rc<LiveConfig>,
        traces: Rc<Traces>,
    ) -> Result<Rc<Self>, StoreError> {
        let trail = Rc::new(AuditTrail::new(audit, config.clone()));
        let database = &opened.database;
        let lost = opened.losses.last();
        if let (true, Some(loss)) = (opened.rebuilt, lost) {
            let count = u64::try_from(loss.definitions).ok();
            trail.noted("database_rebuilt", AuditRecord { count, ..AuditRecord::default() });
        }
        let listeners = Rc::<Listeners>::default();
        let grants = GrantFile::new(database.clone()).await?;
        let suspended =
            Suspended::open(AcceptedPrograms::open(database.clone(), opened.journal.clone()).await?).await?;
        supervisor.all().iter().for_each(|server| suspended.on_defined(server));
        let (suspects, told) = (suspended.clone(), listeners.clone());
        let permissions = Permissions::open(grants, suspects, trail.clone(), told, config.clone()).await?;
        tokio::task::spawn_local(keep_trying(Rc::downgrade(&permissions)));
        let servers = supervisor.directory();
        let registry = Registry::open(Pins::new(database.clone()).await?, config.clone(), &servers).await?;
        let tables = ConsentTables::open(database.clone()).await?;
        let offered = Offered::open(Offers::open(database.clone()).await?).await?;
        let consent = Consent::open(tables, listeners.clone()).await?;
        if opened.rebuilt {
            consent.lost_carried(supervisor.all().iter().map(|server| server.id().to_string()));
        }
        let met = MetClients::open(database.clone()).await?;
        let nobody_is_new = met.is_closed().await?;
        let host = Rc::new(Self {
            sources: Sources::new(supervisor.clone()),
            supervisor,
            runs: Runs::new(config.clone()),
            config,
            permissions,
            registry,
            offered,
            suspended,
            trail,
            admission: Admission::new(),
            stats: RefCell::default(),
            grants_changed: tell_of_grants(&listeners),
            listeners,
            newcomers: Newcomers::new(met),
            first_browser: FirstBrowser::open(database.clone()).await?,
            waking: Rc::default(),
            consent,
            nobody_is_new,
            sampler: Sampler::default(),
            exporting: RefCell::default(),
            wrong_models: RefCell::default(),
            unsaved_sessions: RefCell::default(),
            database: database.clone(),
            lost: lost.map(ToString::to_string),
            traces,
        });
        tokio::task::spawn_local(keep_house(Rc::downgrade(&host)));
        Ok(host)
    }

    /// Has `listener` told of changes to grants and tools.
    pub fn listen(&self, listener: HostEventListener) {
        self.listeners.add(listener);
    }

    /// Hears of events of servers.
    pub fn on_told(&self, told: &SupervisorEvent<'_>) {
        match told {
            SupervisorEvent::Tools(server, tools) => self.on_tools(&SourceId::from(*server), tools),
            SupervisorEvent::Listed(server, kind) => {
                let list = self.supervisor.get(server).map(|server| server.list(*kind));
                if let Some(Fetched { items, count, .. }) = list {
                    self.offered.keep(server, *kind, items, count);
                }
            }
            SupervisorEvent::Change(StateChange { server, before: None, now: Some(_), .. }) => {
                let server = self.supervisor.get(server);
                server.iter().for_each(|server| self.suspended.on_defined(server));
            }
            _ => {}
        }
    }

    /// Forgets the lists of a server that was removed. Returns how many of its tools were pinned.
    pub async fn forget(&self, id: &ServerId) -> usize {
        self.offered.forget(id).await;
        self.registry.forget(&id.into()).await
    }

    /// Handles a new list of a source's tools: pins tools that are new, and reports changed ones.
    pub fn on_tools(&self, source: &SourceId, tools: &ToolList) {
        for change in self.registry.on_tools(source, tools) {
            let what = if change.is_new { "there is a new tool" } else { "a tool has changed" };
            tracing::warn!(server = %source, tool = change.tool_name, what);
            self.listeners.tell(&HostEvent::Tool(&change));
        }
    }

    /// Adds a source that is no server, until the guard is dropped.
    ///
    /// # Errors
    /// When its id is taken.
    pub fn add_source(&self, source: Rc<dyn ToolSource>) -> Result<SourceGuard, ErrorBody> {
        let id = source.id();
        self.sources.add(source).ok_or_else(|| errors::taken(&id))
    }

    /// Takes Harbor's own tools of a source as seen: the person has seen them by having Harbor.
    pub fn vouch_for(&self, source: &SourceId, tools: &ToolList) {
        self.registry.vouch_for(source, tools);
    }

    /// Handles the end of a connection: its runs end. With the last connection of a browser session, the
    /// grants bound to its tabs end too.
    pub fn leave(&self, sender: &Sender, named_session: bool) {
        self.runs.end_client(sender.client);
        self.supervisor.client_left(sender.client);
        self.permissions.part(&sender.session, named_session);
        self.consent.client_left(sender);
    }

    /// Begins a run of at most `asked` calls, for anybody who may call a tool.
    ///
    /// # Errors
    /// Why there is no run.
    pub async fn create_run(
        &self,
        asker: &Asker,
        asked: Option<u32>,
    ) -> Result<(String, RunView), ErrorBody> {
        self.allowed(asker, Scope::McpToolsCall).await?;
        self.runs.create(asker, asked, self.config.now().limits_of(asker.origin.as_str()).max_calls_per_run)
    }

    /// Checks that an origin may do something. A refusal is written down.
    async fn allowed(&self, asker: &Asker, scope: Scope) -> Result<(), ErrorBody> {
        let checked = self.permissions.check(asker, scope, None);
        let decision = checked.as_ref().map_or_else(|error| error.code.as_str(), |_| "allowed");
        self.note_decision(asker.origin.as_str(), scope, decision);
        let Err(error) = checked else { return Ok(()) };
        let record = AuditRecord {
            origin: Some(asker.origin.shared()),
            profile: Some(asker.profile.clone()),
            scope: Some(scope.as_str()),
            code: Some(decision),
            ..AuditRecord::default()
        };
        self.trail.refused(&asker.sender, Some(asker.origin.as_str()), record).await;
        Err(error)
    }

    /// Counts a decision. Origins without any grant share one count, since there may be any number of them.
    fn note_decision(&self, origin: &str, scope: Scope, decision: &'static str) {
        let is_known = origin == OWNER || self.permissions.knows(origin);
        let origin = if is_known { origin } else { OTHERS };
        self.stats.borrow_mut().note_decision(origin, scope.as_str(), decision);
    }

    /// The server with this id.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn server(&self, id: &ServerId) -> Result<Rc<Server>, ErrorBody> {
        self.supervisor.get(id).ok_or_else(|| self.unknown(&id.into()))
    }

    /// The source with this id.
    ///
    /// # Errors
    /// When there is no such source.
    pub fn source(&self, id: &SourceId) -> Result<Rc<dyn ToolSource>, ErrorBody> {
        self.sources.get(id).ok_or_else(|| self.unknown(id))
    }

    /// Checks that there is a source of this id. The owner is told if there is none.
    ///
    /// # Errors
    /// When there is no such source.
    pub fn must_exist(&self, id: &str) -> Result<(), ErrorBody> {
        let id = SourceId::parse(id).ok_or_else(|| invalid("enabled_servers", "ids of servers"))?;
        match self.sources.get(&id) {
            Some(_) => Ok(()),
            None => Err(self.unknown(&id)),
        }
    }

    fn unknown(&self, id: &SourceId) -> ErrorBody {
        let defined = self.supervisor.all();
        errors::not_found(id, defined.iter().map(|server| server.id().as_str()))
    }
}

fn tell_of_grants(listeners: &Listeners) -> Rc<Notify> {
    let changed = Rc::<Notify>::default();
    let told = changed.clone();
    listeners.add(Rc::new(move |news| {
        if matches!(news, HostEvent::Grant { .. }) {
            told.notify_waiters();
        }
    }));
    changed
}

/// Cleans up now and then what has gone stale.
async fn keep_house(host: Weak<Host>) {
    loop {
        tokio::time::sleep(HOUSEKEEPING).await;
        let Some(host) = host.upgrade() else { return };
        host.runs.purge();
        host.admission.purge();
        host.trail.write_counted();
        host.database.keep_house();
    }
}

/// How long a request says that it may take, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskedTime {
    /// The time without a sign of progress.
    pub timeout: Option<u64>,
    /// The time in all.
    pub whole: Option<u64>,
}

fn time_limit(default: Duration, asked: AskedTime, progress: bool) -> Result<TimeLimit, ErrorBody> {
    let quiet = limits::call_timeout(default, asked.timeout)
        .ok_or_else(|| invalid("timeout_ms", "milliseconds from 1 to 3600000"))?;
    let whole = limits::longest_call(quiet, asked.whole)
        .ok_or_else(|| invalid("max_timeout_ms", "milliseconds from timeout_ms to 3600000"))?;
    Ok(if progress { TimeLimit { whole, ..TimeLimit::fixed(quiet) } } else { TimeLimit::fixed(quiet) })
}
