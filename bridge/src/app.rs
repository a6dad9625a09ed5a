//! The one place that connects the rooms.
//!
//! ```text
//!  start:  lock, token, socket ─► database (made anew where it is lost) ─► reaper ─► supervisor ─► router ─► fronts ─► ready
//!  drain:  no new clients ─► open requests end ─► servers by the ladder ─► runners ─► socket and token removed
//! ```
//!
//! Owns the order of both. Must never hold logic of its own.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::{Duration, Instant};

use harbor_child::cgroup::Delegated;
use harbor_child::reaper::Reaper;
use harbor_child::signal::Signal;
use harbor_child::signals::Signals;
use harbor_child::{memory, own};
use harbor_home::Paths;
use harbor_home::clock::wall_clock_nanos;
use harbor_home::copied;
use harbor_home::instance::{identity, mark, random_token};
use harbor_ipc_proto::BUILD;
use harbor_ipc_proto::codes::Code;
use harbor_policy::environment::{of_model_worker, of_worker};
use harbor_policy::sampling::server_of;
use tokio::net::UnixListener;

use crate::agent::Agent;
use crate::catalog::{Catalog, CatalogParts};
use crate::config::watch::Watch;
use crate::config::{ConfigError, LiveConfig, Settings, file};
use crate::engines::Engines;
use crate::front::metrics::{Exporter, MetricsError};
use crate::front::notify::Notifier;
use crate::front::{socket, stdio};
use crate::host::{Host, cut_off};
use crate::install::Installations;
use crate::keeper;
use crate::link::runner::{Executable, Executables, Marks};
use crate::link::worker::Pair as _;
use crate::link::worker::catalog::CatalogLink;
use crate::link::worker::model::ModelLink;
use crate::models::{Models, ModelsParts, Noted};
use crate::router::Router;
use crate::router::sampling;
use crate::router::watching::{tell, tell_of_host};
use crate::runtimes::Runtimes;
use crate::scripts::Scripts;
use crate::store;
use crate::store::StoreError;
use crate::store::audit::{Audit, AuditRecord, Limits};
use crate::store::database::Database;
use crate::store::definition_table::Definitions;
use crate::store::instance::{Instance, InstanceError};
use crate::store::locks::Locks;
use crate::store::recovery::{self, OpenedDatabase};
use crate::store::secrets::Secrets;
use crate::store::server_logs::ServerLogs;
use crate::store::sessions::Sessions;
use crate::store::worker;
use crate::store::written_places::WrittenPlaces;
use crate::supervisor::{Leftovers, Supervisor, SupervisorEvent, SupervisorParts};
use crate::traces::Traces;

/// How long servers may take to end when the bridge ends: their ladder and a little more, under 5 s in all.
const DRAIN: Duration = Duration::from_millis(3800);

/// How long clients may take to read their last answers.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// How long the last traces may take, within the rest of the time until [`END`].
const LAST_TRACES: Duration = Duration::from_secs(1);
const END: Duration = Duration::from_millis(4500);

/// How long the database may take for writes that nobody waits for, and how long all writes to the disk may take, from
/// then on. A disk that does not answer is no reason to stay longer.
const LAST_STORED: Duration = Duration::from_secs(2);
const LAST_WRITTEN: Duration = Duration::from_millis(3500);

/// How long threads may take that wait for the disk. A later bridge, or the server's next start, finishes their removals.
const LAST_WORK: Duration = Duration::from_millis(200);

/// How the bridge serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServeMode {
    /// In the foreground, until a signal.
    Foreground,
    /// On stdin and stdout too, until stdin ends.
    Stdio,
    /// In a session of its own, started by a client, until it has been unused for a while.
    Detached,
}

/// Why the bridge does not serve.
#[derive(Debug)]
pub enum AppError {
    /// A setting is wrong.
    Config(ConfigError),
    /// Another bridge runs, or a file cannot be made.
    Instance(InstanceError),
    /// The database cannot be used.
    Store(StoreError),
    /// Metrics cannot be served where the command line says.
    Metrics(MetricsError),
    /// Something of the system failed.
    System(io::Error),
}

impl std::fmt::Display for AppError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Instance(error) => error.fmt(f),
            Self::Metrics(error) => error.fmt(f),
            Self::Store(error) => {
                write!(f, "{error}; nothing was changed. `harbor doctor` says more")
            }
            Self::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AppError {}

impl From<io::Error> for AppError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<InstanceError> for AppError {
    fn from(error: InstanceError) -> Self {
        Self::Instance(error)
    }
}

/// Runs the bridge until its end.
///
/// # Errors
/// Why it could not serve.
pub fn serve(paths: &Paths, settings: &Settings, mode: ServeMode) -> Result<(), AppError> {
    serve_with(paths, settings, mode, |_| ())
}

/// Runs the bridge for a program that has tools of its own. `add` adds them as sources before any client comes; its
/// result is kept until the end.
///
/// # Errors
/// Why it could not serve.
pub fn serve_with<T>(
    paths: &Paths,
    settings: &Settings,
    mode: ServeMode,
    add: impl FnOnce(&Rc<Host>) -> T,
) -> Result<(), AppError> {
    own::become_subreaper()?;
    own::take_all_files()?;
    if mode == ServeMode::Detached {
        // Browsers kill the process group of their native host; this bridge shall outlive it.
        nix::unistd::setsid().map_err(io::Error::from)?;
    }
    // Before there are children: each begins where this process is then.
    Delegated::settle();
    let executable = std::env::current_exe()?;
    let directory = executable.parent().unwrap_or(Path::new("/"));
    let runners = Executables::open(directory)?;
    // Without this worker, servers can still be used.
    let worker = settings
        .catalog_worker
        .then(|| Executable::open(directory, CatalogLink::PROGRAM).map_err(|why| why.to_string()));
    let model_worker = Executable::open(directory, ModelLink::PROGRAM).map_err(|why| why.to_string());
    let (instance, listener) = Instance::begin(paths)?;
    copied::fill(paths).map_err(|error| AppError::Store(error.into()))?;
    let opened = recovery::open(paths).map_err(AppError::Store)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default())?;
    let ended = runtime.block_on(async move {
        let bridge =
            Bridge::assemble(paths, settings, ChildExecutables { runners, worker, model_worker }, opened)
                .await?;
        let _added = add(&bridge.host);
        let notifier = bridge.run(settings, mode, listener, &instance).await?;
        bridge.drain().await;
        drop(notifier);
        Ok(instance)
    });
    runtime.shutdown_timeout(LAST_WORK);
    copied::remove(paths);
    // Only now may another bridge have this home.
    ended.map(|instance| instance.end(LAST_WORK))
}

/// The programs that are started as processes of their own.
struct ChildExecutables {
    runners: Executables,
    worker: Option<Result<Executable, String>>,
    model_worker: Result<Executable, String>,
}

struct Bridge {
    supervisor: Rc<Supervisor>,
    catalog: Rc<Catalog>,
    models: Rc<Models>,
    engines: Rc<Engines>,
    host: Rc<Host>,
    router: Rc<Router>,
    traces: Rc<Traces>,
    database: Rc<Database>,
    /// Serves metrics while it is there.
    _exporter: Rc<Exporter>,
}

/// The engines of this home, which `models` then reaches by their providers.
async fn open_engines(
    supervisor: &Rc<Supervisor>,
    models: &Rc<Models>,
    database: &Rc<Database>,
) -> Result<Rc<Engines>, StoreError> {
    let table = store::engines::EngineTable::open(database.clone()).await?;
    let engines = Engines::open(supervisor.clone(), models.clone(), table).await?;
    let reached: Weak<Engines> = Rc::downgrade(&engines);
    models.use_engines(reached);
    Ok(engines)
}

impl Bridge {
    async fn assemble(
        paths: &Paths,
        settings: &Settings,
        programs: ChildExecutables,
        opened: OpenedDatabase,
    ) -> Result<Self, AppError> {
        let (database, journal) = (opened.database.clone(), opened.journal.clone());
        let definitions =
            Definitions::new(database.clone(), journal.clone()).await.map_err(AppError::Store)?;
        let definitions = Rc::new(definitions);
        let stored = definitions.all().await.map_err(AppError::Store)?;
        let config = LiveConfig::new(settings.host.clone());
        let shared = SupervisorParts {
            paths: paths.clone(),
            definitions: definitions.clone(),
            locks: Locks::open(database.clone(), journal.clone(), &paths.locks())
                .await
                .map_err(AppError::Store)?,
            leftovers: Leftovers::default(),
            runtimes: Arc::new(Runtimes::default()),
            written: WrittenPlaces::open(database.clone(), journal).await.map_err(AppError::Store)?,
            secrets: Secrets::at(&paths.credentials(), settings.host.secrets.clone()),
            logs: ServerLogs::open(&paths.server_logs()).map_err(AppError::Store)?,
            marks: Marks { instance: mark(paths), identity: identity(paths) },
            config: config.clone(),
            offered: settings.offered,
        };
        let reaper = Reaper::start()?;
        let catalog = Catalog::new(CatalogParts {
            worker: kept(programs.worker, of_worker(inherited(), &shared.marks.instance), &reaper),
            database: paths.catalog(),
            config: config.clone(),
        })?;
        let model_worker =
            kept(Some(programs.model_worker), of_model_worker(inherited(), &shared.marks.instance), &reaper);
        let secrets = shared.secrets.clone();
        let supervisor =
            Supervisor::new(Rc::new(shared), programs.runners, settings.isolation, reaper, stored);
        let supervisor = Rc::new(supervisor);
        let audit = Audit::open(&paths.audit_log(), Limits::default()).map_err(AppError::Store)?;
        let traces = Traces::new(settings.traces.clone(), random_token()?);
        traces.follow(&settings.host);
        let host = Host::open(supervisor.clone(), &opened, audit, config.clone(), traces.clone());
        let host = host.await.map_err(AppError::Store)?;
        let models = Models::open(ModelsParts {
            worker: model_worker,
            tables: store::models::ModelTables::open(database.clone()).await.map_err(AppError::Store)?,
            secrets,
            note: note_of_chats(&host),
        });
        let models = models.await.map_err(AppError::Store)?;
        let engines = open_engines(&supervisor, &models, &database).await.map_err(AppError::Store)?;
        let sessions = Sessions::at(paths.sessions(), supervisor.secrets().clone());
        let scripts = Scripts::new(supervisor.clone());
        let agent = Agent::new(host.clone(), models.clone(), scripts.clone(), sessions);
        let router = Router::new(
            supervisor.clone(),
            host.clone(),
            catalog.clone(),
            (models.clone(), engines.clone()),
            (agent, scripts),
            Installations::new(supervisor.clone(), host.clone(), catalog.clone(), definitions),
        );
        listen(&supervisor, &host, &router, &catalog);
        sampling::begin(&router);
        tell_of_models(&models, &host, &router);
        let exporter = Exporter::begin(&router, settings.metrics, settings.host.metrics_listen);
        let exporter = Rc::new(exporter.map_err(AppError::Metrics)?);
        tokio::task::spawn_local(memory::return_at_rest());
        tokio::task::spawn_local(supervisor.clone().begin());
        tokio::task::spawn_local(start_unlocked(supervisor.clone(), Rc::downgrade(&router)));
        tokio::task::spawn_local(opened.journal.clone().watch(opened.database.clone()));
        tokio::task::spawn_local(keep_workers(supervisor.clone(), catalog.clone(), models.clone()));
        tokio::task::spawn_local(follow_config(
            paths.config_file(),
            config,
            traces.clone(),
            supervisor.secrets().clone(),
            Rc::downgrade(&router),
            Rc::downgrade(&exporter),
        ));
        Ok(Self { supervisor, catalog, models, engines, host, router, traces, database, _exporter: exporter })
    }

    /// Serves until something ends it. The service manager gets signs of life until the end.
    async fn run(
        &self,
        settings: &Settings,
        mode: ServeMode,
        listener: std::os::unix::net::UnixListener,
        instance: &Instance,
    ) -> io::Result<Notifier> {
        // One for each signal, so that the log says which one ended the bridge.
        let [terminate, interrupt, hangup] =
            [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].map(|signal| Signals::listen(&[signal]));
        let (mut terminate, mut interrupt, mut hangup) = (terminate?, interrupt?, hangup?);
        listener.set_nonblocking(true)?;
        let listener = UnixListener::from_std(listener)?;
        // Tasks of their own: waking the outermost future costs a system call each time.
        let (give, anew) = tokio::sync::mpsc::unbounded_channel();
        let secrets = self.supervisor.secrets().clone();
        instance.keep(move |listener| give.send(listener).is_ok(), move || secrets.look())?;
        let accepting = socket::accept(listener, anew, self.router.clone(), instance.token().into());
        let mut accepting = tokio::task::spawn_local(accepting);
        let serving_stdio = serve_stdio(mode, self.router.clone());
        let mut serving_stdio = tokio::task::spawn_local(serving_stdio);
        tracing::info!(build = BUILD, pid = std::process::id(), isolation = settings.isolation, "serving");
        if mode == ServeMode::Detached {
            announce()?;
        }
        let notifier = Notifier::ready(settings.manager.as_ref());
        let why = tokio::select! {
            result = &mut accepting => {
                result.map_err(io::Error::other)??;
                "the socket is closed"
            }
            result = &mut serving_stdio => {
                result.map_err(io::Error::other)??;
                "stdin has ended"
            }
            () = self.idle(settings, mode) => "nobody uses this bridge",
            () = self.router.shutdown.notified() => "a client asked for it",
            () = terminate.recv() => "SIGTERM",
            () = interrupt.recv() => "SIGINT",
            () = hangup.recv() => "SIGHUP",
        };
        tracing::info!(why, "ending");
        notifier.stopping(why);
        accepting.abort();
        Ok(notifier)
    }

    /// Returns when a detached bridge has had no client for long enough, and holds no lines of the audit log
    /// that the disk refuses.
    async fn idle(&self, settings: &Settings, mode: ServeMode) {
        if mode != ServeMode::Detached {
            std::future::pending::<()>().await;
        }
        loop {
            let changed = self.router.clients.changed.notified();
            if self.router.clients.count() > 0 {
                changed.await;
            } else if tokio::time::timeout(settings.idle_exit, changed).await.is_err()
                && !self.router.has_unwritten()
            {
                return;
            }
        }
    }

    async fn drain(&self) {
        let began = Instant::now();
        worker::end_by(began + LAST_WRITTEN);
        self.router.drain();
        let clients = self.router.clients.all();
        let error = cut_off();
        for client in &clients {
            client.end_with(&error);
        }
        self.engines.stop_all();
        tokio::join!(self.supervisor.end_all(DRAIN), self.catalog.end(DRAIN), self.models.end(DRAIN));
        for client in &clients {
            client.outbox().close();
        }
        let written = async {
            for client in &clients {
                client.outbox().written().await;
            }
        };
        // The bridge does not wait for a client that does not read its last answer.
        let written = tokio::time::timeout(LAST_WORDS, written);
        let rest = END.saturating_sub(began.elapsed());
        // Writes that nobody waits for are stored all the same, such as the pin of a new tool.
        // Otherwise the next bridge would pin whatever tool it sees first.
        let stored = tokio::time::timeout(rest.min(LAST_STORED), async {
            self.host.permissions.store_again().await;
            self.router.agent.save_all().await;
            self.database.finish().await;
        });
        let _ = tokio::join!(written, stored, self.traces.finish(LAST_TRACES.min(rest)));
    }
}

fn kept(
    executable: Option<Result<Executable, String>>,
    environment: BTreeMap<String, String>,
    reaper: &Rc<Reaper>,
) -> keeper::WorkerParts {
    keeper::WorkerParts { executable, environment, reaper: reaper.clone(), seed: wall_clock_nanos() }
}

/// The environment of this process, from which the catalog worker's is chosen.
fn inherited() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// Starts the workers after those of a killed bridge have ended. A catalog has one writer. Besides, old
/// processes are ended by their mark, which the new workers have, too.
async fn keep_workers(supervisor: Rc<Supervisor>, catalog: Rc<Catalog>, models: Rc<Models>) {
    supervisor.swept().await;
    models.begin();
    catalog.begin().await;
}

/// Starts servers that had to wait for their secrets, as soon as these are unlocked.
async fn start_unlocked(supervisor: Rc<Supervisor>, router: Weak<Router>) {
    if let Some(router) = router.upgrade() {
        seal(&supervisor, &router).await;
    }
    loop {
        supervisor.secrets().unlocked().await;
        supervisor.start_barred();
        let Some(router) = router.upgrade() else { return };
        seal(&supervisor, &router).await;
        router.clients.all().iter().for_each(|client| client.note_bridge());
    }
}

/// Encrypts conversations that a bridge left unencrypted when it ended while secrets were encrypted.
async fn seal(supervisor: &Supervisor, router: &Router) {
    if supervisor.secrets().standing().asks {
        return;
    }
    if let Err(error) = router.agent.seal_all().await {
        tracing::warn!(error = error.message, "conversations are not encrypted as secrets are");
    }
}

/// Passes events of servers, grants, tools and the catalog to the host, and to the clients that are interested.
fn listen(supervisor: &Rc<Supervisor>, host: &Rc<Host>, router: &Rc<Router>, catalog: &Catalog) {
    let of_catalog = Rc::downgrade(router);
    catalog.listen(Rc::new(move || {
        let clients = of_catalog.upgrade().map(|router| router.clients.all());
        clients.into_iter().flatten().for_each(|client| client.note_catalog());
    }));
    supervisor.listen(Rc::new({
        let (host, router) = (Rc::downgrade(host), Rc::downgrade(router));
        move |told| {
            if let Some(host) = host.upgrade() {
                host.on_told(told);
            }
            if let Some(router) = router.upgrade() {
                tell(&router, told);
            }
        }
    }));
    let noting = Rc::downgrade(supervisor);
    supervisor.listen(Rc::new(move |told| {
        if let (SupervisorEvent::Change(change), Some(supervisor)) = (told, noting.upgrade())
            && change.concerns_packages()
        {
            supervisor.note_installed();
        }
    }));
    let router = Rc::downgrade(router);
    host.listen(Rc::new(move |news| {
        if let Some(router) = router.upgrade() {
            tell_of_host(&router, news);
        }
    }));
}

/// Writes each request to a model into the audit log.
fn note_of_chats(host: &Rc<Host>) -> Rc<dyn Fn(Noted)> {
    let host = Rc::downgrade(host);
    Rc::new(move |noted| {
        if let Some(host) = host.upgrade() {
            let server = server_of(&noted.who.principal).map(|server| server.shared());
            host.note_chat(
                noted.who.by,
                AuditRecord {
                    origin: noted.who.origin.filter(|_| server.is_none()),
                    server,
                    profile: noted.who.profile,
                    provider: Some(noted.provider.into()),
                    model: Some(noted.model.into()),
                    code: noted.code.map(Code::as_str),
                    duration_us: Some(noted.duration_us),
                    tokens: Some(noted.tokens),
                    ..AuditRecord::default()
                },
            );
        }
    })
}

fn tell_of_models(models: &Rc<Models>, host: &Rc<Host>, router: &Rc<Router>) {
    let (of, host, router) = (Rc::downgrade(models), Rc::downgrade(host), Rc::downgrade(router));
    models.listen(Rc::new(move || {
        let (Some(models), Some(host), Some(router)) = (of.upgrade(), host.upgrade(), router.upgrade())
        else {
            return;
        };
        *host.wrong_models.borrow_mut() = models.wrong();
        router.clients.all().iter().for_each(|client| client.note_bridge());
    }));
}

/// Reads `config.toml` again whenever it may have changed.
async fn follow_config(
    path: PathBuf,
    config: Rc<LiveConfig>,
    traces: Rc<Traces>,
    secrets: Secrets,
    router: Weak<Router>,
    exporter: Weak<Exporter>,
) {
    // It was read a moment ago; if it is removed right now, that is noticed.
    let mut was_there = path.exists();
    let mut watch = match Watch::begin(&path) {
        Ok(watch) => watch,
        Err(error) => {
            return tracing::warn!(%error, "config.toml is not watched: changes hold from the next start on");
        }
    };
    while watch.changed().await.is_ok() {
        let path = path.clone();
        let Ok(read) = tokio::task::spawn_blocking(move || file::read_there(&path)).await else { return };
        was_there |= matches!(read, Ok(Some(_)));
        let read = match read {
            // Losing a file is no decision for the defaults.
            Ok(None) if was_there => Err(ConfigError::gone()),
            read => read.map(Option::unwrap_or_default),
        };
        if !config.take(read) {
            continue;
        }
        match config.refused() {
            Some(why) => tracing::warn!(why, "config.toml is wrong; the former settings stay in force"),
            None => tracing::info!("config.toml was read again"),
        }
        let (Some(router), Some(exporter)) = (router.upgrade(), exporter.upgrade()) else { return };
        exporter.follow(config.now().metrics_listen);
        traces.follow(&config.now());
        secrets.follow(config.now().secrets.clone());
        router.catalog.follow_config();
        router.clients.all().iter().for_each(|client| client.note_bridge());
    }
}

async fn serve_stdio(mode: ServeMode, router: Rc<Router>) -> io::Result<()> {
    match mode {
        ServeMode::Stdio => stdio::run(&router).await,
        ServeMode::Foreground | ServeMode::Detached => std::future::pending().await,
    }
}

/// Tells the client that started this bridge that it can connect, and lets go of its pipe.
fn announce() -> io::Result<()> {
    io::stdout().write_all(b"ready\n")?;
    io::stdout().flush()?;
    let null = std::fs::File::options().write(true).open("/dev/null")?;
    Ok(nix::unistd::dup2_stdout(null)?)
}
