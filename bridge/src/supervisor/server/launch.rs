//! The message by which a runner starts a server.
//!
//! ```text
//!  way is clear ─► prepared (disk, off the loop): directories, program, facts ─► policy::sandbox::profile ─► Launch
//! ```
//!
//! Owns turning a definition into the message, and the server's own directories.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use harbor_home::Paths;
use harbor_home::files::{private_directory, write_atomically};
use harbor_ipc_proto::client::{NetworkKind, SandboxSettings};
use harbor_ipc_proto::link::runner::Launch;
use harbor_ipc_proto::secret::Secret;
use harbor_policy::credentials::Credentials;
use harbor_policy::environment;
use harbor_policy::lifecycle::State;
use harbor_policy::limits;
use harbor_policy::package::{Package, trial_confinement};
use harbor_policy::program::JS_RUNNER;
use harbor_policy::pythons::Chosen;
use harbor_policy::runtimes::{extended, not_found};
use harbor_policy::sandbox;

use super::Server;
use super::explaining::way_back;
use super::interpreted::Interpreted;
use super::parts::confinement::Confined;
use super::parts::engine::KEY_FILE;
use super::parts::package::pinned;
use super::prepared::{LaunchTarget, Prepared, Unprepared};
use super::secrets::wipe;
use crate::link::EndReport;
use crate::link::runner::RunnerKind;
use crate::runtimes::Runtimes;
use crate::store::definitions::Definition;
use crate::store::locks::Lock;
use crate::store::packages;
use crate::store::packages::{GONE, registries};
use crate::store::removal::remove_tree;
use crate::supervisor::facts;
use crate::supervisor::leftovers::LeftoversGuard;
use crate::supervisor::place::RunnerPlace;

/// The log's line about a server that cannot start at once.
const WAITS: &str = "waits until what it has left in its temporary directory is removed";

impl Server {
    /// Has a runner start the server, once nothing of an earlier bridge or definition is in its way.
    pub(super) fn launch(self: &Rc<Self>) {
        let (server, number) = (self.clone(), self.place.begin_launch());
        // It may have been stopped, and even started again, meanwhile: then that is another one's to do.
        let is_due = move |server: &Self| {
            server.place.is_last_launch(number) && server.state() == State::Starting && server.place.is_free()
        };
        tokio::task::spawn_local(async move {
            server.way_is_clear().await;
            if !is_due(&server) {
                return;
            }
            if let Some(remote) = &server.definition().remote {
                // A renewal that its last start has begun is stored first.
                let turn = server.runners().renewals.turn(server.id()).await;
                server.store_late().await;
                drop(turn);
                let secrets = server.secrets().await;
                if is_due(&server) {
                    server.launch_remote(remote, secrets);
                }
                return;
            }
            if let Some(full) = server.is_too_full().await {
                if is_due(&server) {
                    server.ended_because(full);
                }
                return;
            }
            let cleared = server.clear_containers().await;
            let leftovers = &server.runners().shared.leftovers;
            let turn = leftovers.turn(server.id(), || server.remark(WAITS.into())).await;
            // Another one may have begun to write there meanwhile.
            if !is_due(&server) {
                return;
            }
            let prepared = match cleared {
                Ok(()) => server.prepared(LaunchTarget::default(), Some(turn)).await,
                Err(why) => Err(why.into()),
            };
            if is_due(&server) {
                server.launch_now(prepared);
            }
        });
    }

    /// Waits until no other process can write to the server's data. That time does not count as the server's own.
    pub(super) async fn way_is_clear(self: &Rc<Self>) {
        let is_clear = !self.instances.has_predecessors() && self.place.remains.is_clear();
        if self.runners().is_swept() && is_clear {
            return;
        }
        self.life.hold_the_clock();
        self.set_life_alarm();
        self.runners().swept().await;
        for predecessor in self.instances.predecessors() {
            predecessor.down().await;
        }
        self.instances.forget_predecessors(Self::is_down);
        self.cleared_up().await;
        self.life.start_the_clock();
        self.set_life_alarm();
    }

    fn launch_now(self: &Rc<Self>, prepared: Result<Prepared, Unprepared>) {
        match prepared.and_then(|prepared| self.send_launch(prepared)) {
            Ok(()) => {}
            Err(Unprepared { why, package_lost: true, .. }) => {
                self.life.package_is_lost();
                let how = if why.ends_with(GONE) { String::new() } else { format!(": {why}") };
                self.ended_because(self.package_is_lost(&how));
            }
            Err(unprepared) => self.ended_unprepared(unprepared),
        }
    }

    /// Says what is gone, before anybody calls it in vain.
    pub(in crate::supervisor) fn tell_lost_package(&self) {
        let is_lost = |lock: &Rc<Lock>| lock.installed_at.is_some() && self.life.installs_first();
        if !self.lock().as_ref().is_some_and(is_lost) {
            return;
        }
        let report = self.package_is_lost("");
        tracing::warn!(server = %self.id(), "its package is gone");
        self.remark(report.message.clone());
        self.life.note_exit(Rc::new(report));
    }

    /// The end of a start whose package is lost, whenever that is found out. `how`: what is known of it, as the rest of a
    /// sentence.
    fn package_is_lost(&self, how: &str) -> EndReport {
        let locked = self.lock().map(|lock| lock.spec.clone());
        let named = locked.or_else(|| Some(self.package.wanted()?.name.clone())).unwrap_or_default();
        let (dir, id) = (self.package_dir(), self.id());
        let message = format!(
            "its package {named} {GONE} ({}){how}; {}",
            dir.display(),
            way_back(id, self.lock().and_then(|lock| lock.python.clone()).as_ref())
        );
        EndReport::because("package_lost", message)
    }

    /// Ends a start that could not even be tried.
    pub(super) fn ended_unprepared(self: &Rc<Self>, unprepared: Unprepared) {
        if let Some(report) = unprepared.barred {
            return self.bar(*report);
        }
        match unprepared.missing.as_slice() {
            [] => self
                .ended_because(EndReport::because("spawn_failed", format!("could not {}", unprepared.why))),
            missing => self.ended_because(self.lacks(missing)),
        }
    }

    /// A place for its next start, in a runner.
    pub(super) fn place_for_start(self: &Rc<Self>) -> io::Result<RunnerPlace> {
        let kind = if self.definition().remote.is_some() { RunnerKind::Remote } else { RunnerKind::Local };
        let owner: Weak<Self> = Rc::downgrade(self);
        self.runners().place(owner, kind, self.has_image())
    }

    fn send_launch(self: &Rc<Self>, prepared: Prepared) -> Result<(), Unprepared> {
        let launch = self.launch_of(prepared, self.settings().start_timeout)?;
        let place = self.place_for_start();
        let place = place.map_err(|error| format!("start a runner: {error}"))?;
        let (number, message) = (place.number, self.start_message(place.number, launch));
        place.runner.link.send(&message);
        wipe(message);
        place.runner.link.hide(place.number, self.secrets.redactor());
        self.place.take(place);
        self.tell_launch(number);
        Ok(())
    }

    /// Makes the server's directories, looks at its program, and notes where it will be able to write. `turn`: the turn at its
    /// leftovers. An installer has none, and all that is its own goes with it.
    pub(super) async fn prepared(
        &self,
        start: LaunchTarget,
        turn: Option<LeftoversGuard>,
    ) -> Result<Prepared, Unprepared> {
        let secrets = match start.installer {
            None if !self.is_alone() && self.identity.engine().is_none() => self.secrets().await?,
            _ => Credentials::default(),
        };
        let prepared = self.off_the_loop(start, |preparing| {
            preparing.make_directories(turn)?;
            preparing.look()
        });
        let prepared = Prepared { secrets, ..prepared.await? };
        let noted = self.runners().shared.written.note(&prepared.facts.written).await;
        noted.map_err(|error| format!("note what it may write: {error}"))?;
        Ok(prepared)
    }

    /// The facts that the next start would find with these sandbox settings. A package that is not installed
    /// yet has no program.
    pub(super) async fn looked_at(&self, sandbox: SandboxSettings) -> Result<Prepared, Unprepared> {
        self.off_the_loop(LaunchTarget::default(), |mut preparing| {
            preparing.definition.sandbox = sandbox;
            let installed = preparing.look();
            match installed {
                Err(unprepared) if unprepared.package_lost => {
                    preparing.start.installer = Some(Vec::new());
                    let mut found = preparing.look()?;
                    // It is the server that is asked about, not its installer.
                    found.facts.installs = false;
                    Ok(found)
                }
                looked => looked,
            }
        })
        .await
    }

    /// Does work that may take the disk a while.
    async fn off_the_loop<T: Send + 'static>(
        &self,
        start: LaunchTarget,
        work: impl FnOnce(Preparing) -> Result<T, Unprepared> + Send + 'static,
    ) -> Result<T, Unprepared> {
        // Its arguments may have been changed since.
        let own = self.definition().package();
        let package = self.package.wanted().cloned().map(|package| {
            let args = own.map_or_else(|| package.args.clone(), |own| own.args);
            let args = args.iter().map(|arg| self.with_own_data(arg)).collect();
            Package { args, ..package }
        });
        let package = match (package, self.lock()) {
            (Some(package), Some(lock)) => Some(pinned(&package, &lock)),
            (package, _) => package,
        };
        let definition = self.meant_for(&start, package.as_ref());
        let installs = start.installer.is_some();
        let root = if installs { self.installer_root() } else { self.root() };
        let paths = self.runners().shared.paths.clone();
        let (package_dir, runtimes) = (self.package_dir(), self.runners().shared.runtimes.clone());
        let shared = self.runners().is_shared();
        let ever_written = self.runners().shared.written.all();
        let preparing = Preparing {
            definition,
            package,
            paths,
            root,
            interpreted: self.interpreted(),
            fetcher: self.runners().executables.fetcher().to_owned(),
            package_dir,
            runtimes,
            runtime: self.runtime_path(),
            alone: !installs && self.is_alone(),
            engine: self.identity.engine().map(|engine| (engine.models.clone(), engine.key.clone())),
            start,
            shared,
            ever_written,
        };
        let done = tokio::task::spawn_blocking(move || work(preparing)).await;
        done.unwrap_or_else(|error| Err(format!("prepare the start: {error}").into()))
    }

    fn interpreted(&self) -> Interpreted {
        let (runners, id) = (self.runners(), self.id());
        Interpreted {
            script_dir: match self.identity.engine() {
                Some(engine) => engine.root.join("script"),
                None => runners.shared.paths.server_script(id.as_str()),
            },
            module_dir: runners.shared.paths.server_module(id.as_str()),
            programs: runners.executables.interpreters().clone(),
        }
    }

    /// The part of its definition that a start is to know: all of it, if it is the server's own.
    fn meant_for(&self, start: &LaunchTarget, package: Option<&Package>) -> Definition {
        let own = self.own_definition();
        let mut env = trial_confinement::variables(&own.env);
        let sandbox = match &start.installer {
            Some(_) => {
                env.extend(own.install_env.clone());
                trial_confinement::of_installer(&own.sandbox, package.and_then(Package::local_path))
            }
            None if self.is_alone() => trial_confinement::of_trial(&own.sandbox),
            None => return own,
        };
        Definition { sandbox, env, cwd: None, ..own }
    }

    /// The message, and what the server is held to from then on.
    pub(super) fn launch_of(
        &self,
        prepared: Prepared,
        limit: Duration,
    ) -> Result<Launch<'static>, Unprepared> {
        let Prepared { command, args, cwd, programs, path, sandbox, env: own, facts, secrets } = prepared;
        if self.has_image() {
            return Ok(self.container_launch(facts, &secrets, path, limit)?);
        }
        let held = sandbox::profile(&sandbox, &facts, &self.runners().offer());
        let profile = held.map_err(|why| format!("confine it: {why}"))?;
        let confined = Confined { profile, facts };
        let mut env = self.environment(&own, &confined);
        if confined.facts.installs {
            environment::keep_own_registry(&mut env, &command, &args);
        }
        if !own.contains_key("PATH") {
            env.insert("PATH".into(), path);
        }
        if let (Some(programs), Some(path)) = (programs, env.get_mut("PATH")) {
            *path = format!("{}:{path}", programs.display());
        }
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let sandbox = confined.profile.launch.clone();
        self.is_held(confined);
        let mut launch = Launch {
            command: command.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: cwd.into(),
            known_era: self.known_era(),
            known_revision: self.known_revision().map(Into::into),
            offers_roots: !self.roots().is_empty(),
            start_timeout_ms: millis(limit),
            max_line: limits::MAX_LINE,
            eof_grace_ms: millis(self.settings().eof_grace),
            term_grace_ms: millis(self.settings().term_grace),
            sandbox,
            remote: None,
            afterwards: Vec::new(),
        };
        self.give(&secrets, &mut launch);
        Ok(launch)
    }

    /// Its environment, with these variables of its own.
    pub(super) fn environment(
        &self,
        own: &BTreeMap<String, String>,
        confined: &Confined,
    ) -> BTreeMap<String, String> {
        let inherited = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let changes = confined.profile.confined(&confined.facts);
        let instance = &self.runners().shared.marks.instance;
        environment::of_server(inherited, own, instance, self.id().as_str(), changes.as_ref())
    }
}

/// The work of a start on the disk.
struct Preparing {
    definition: Definition,
    package: Option<Package>,
    paths: Paths,
    /// Its own directories.
    root: PathBuf,
    interpreted: Interpreted,
    /// The program that fetches for scripts.
    fetcher: PathBuf,
    package_dir: PathBuf,
    runtimes: Arc<Runtimes>,
    /// The interpreter of its package, if it is not the usual one.
    runtime: Option<String>,
    start: LaunchTarget,
    /// The directory of models that an engine reads, and its key.
    engine: Option<(Option<PathBuf>, Secret)>,
    /// True if it is a version on trial, which gets nothing of the person's.
    alone: bool,
    /// True if the servers share a runner.
    shared: bool,
    /// The places where servers could ever write.
    ever_written: Vec<String>,
}

impl Preparing {
    fn make_directories(&self, turn: Option<LeftoversGuard>) -> Result<(), Unprepared> {
        let (data, tmp) = (self.root.join("data"), self.root.join("tmp"));
        private_directory(&data).map_err(|error| format!("prepare its data directory: {error}"))?;
        match turn {
            Some(turn) => turn.set_aside(&tmp),
            None => drop(remove_tree(&tmp)),
        }
        private_directory(&tmp).map_err(|error| format!("prepare its temporary directory: {error}"))?;
        self.interpreted.prepare(&self.definition)?;
        if let Some((_, key)) = self.engine.as_ref().filter(|(_, key)| !key.is_empty()) {
            let written = write_atomically(&data.join(KEY_FILE), key.expose().as_bytes());
            written.map_err(|error| format!("write its key: {error}"))?;
        }
        Ok(())
    }

    fn look(&self) -> Result<Prepared, Unprepared> {
        let (data, tmp) = (self.root.join("data"), self.root.join("tmp"));
        let package = self.package_dir.clone();
        let installs = self.start.installer.is_some();
        let (command, args, programs) = self.program(&package)?;
        let looked = self.runtimes.look();
        let has_uv = looked.get("uv").is_some();
        let own_path = self.definition.env.get("PATH");
        if own_path.is_none()
            && !command.is_empty()
            && !command.contains('/')
            && looked.program(&command).is_none()
        {
            return Err(format!("find its program: {}", not_found(&command, &looked.places)).into());
        }
        let path = match (looked.program(&command), own_path) {
            // It may be where none of the known runtimes is.
            (Some(found), None) if !command.contains('/') => {
                extended(&looked.path, found.rsplit_once('/').map(|(dir, _)| dir))
            }
            _ => looked.path,
        };
        // Its environment leads there, and uv looks at it.
        let runtime = self.runtime.as_deref();
        let path = match runtime.and_then(Chosen::in_front) {
            Some(dir) => extended(dir, path.split(':')),
            None => extended(&path, runtime.and_then(|python| Some(python.rsplit_once('/')?.0))),
        };
        let cwd = match (&self.definition.cwd, installs) {
            (_, true) => text(&package),
            (Some(cwd), false) => cwd.clone(),
            (None, false) => text(&data),
        };
        let fetcher = self.may_fetch().then_some(self.fetcher.as_path());
        let facts = facts::collect(&facts::FactsQuery {
            command: &command,
            starts: fetcher,
            // What they name is within a server's reach by that.
            args: if self.alone { &[] } else { &args },
            cwd: &cwd,
            path: own_path.map(String::as_str),
            search: &path,
            sandbox: &self.definition.sandbox,
            harbor_home: self.paths.home(),
            socket: self.paths.socket().ok().as_deref(),
            data: &data,
            tmp: &tmp,
            package: match &self.engine {
                Some((models, _)) if self.definition.script.is_none() => models.as_deref(),
                _ => self
                    .interpreted
                    .directory(&self.definition)
                    .or_else(|| self.package.is_some().then_some(package.as_path())),
            },
            installs,
            shared: self.shared,
            ever_written: &self.ever_written,
        });
        let Definition { sandbox, mut env, .. } = self.definition.clone();
        if let Some(package) = self.package.as_ref().filter(|_| installs)
            && let Some(found) = registries::of(package.ecosystem, has_uv)
        {
            env.entry(found.variable.into()).or_insert(found.address);
        }
        let secrets = Credentials::default();
        let args = [args, fetcher.map(fetching).unwrap_or_default()].concat();
        Ok(Prepared { command, args, cwd, programs, path, sandbox, env, facts, secrets })
    }

    /// True for a script that may reach hosts: its interpreter has `fetch`.
    fn may_fetch(&self) -> bool {
        let Definition { command, sandbox, .. } = &self.definition;
        command == JS_RUNNER && sandbox::settings::network(sandbox) == NetworkKind::Hosts
    }

    fn program(&self, dir: &Path) -> Result<(String, Vec<String>, Option<PathBuf>), Unprepared> {
        if let Some(command) = &self.start.installer {
            let (program, args) =
                command.split_first().map_or((String::new(), &[][..]), |(p, a)| (p.clone(), a));
            return Ok((program, args.to_vec(), None));
        }
        let data = self.root.join("data");
        let Some(package) = &self.package else {
            let (command, args) = self.interpreted.line(&self.definition, &data);
            return Ok((command, args, None));
        };
        let entry = packages::entry(package, dir).map_err(|why| Unprepared {
            why,
            package_lost: true,
            ..Unprepared::default()
        })?;
        let sandbox = &self.definition.sandbox;
        let (command, args) = self.interpreted.installed(&entry, &package.args, sandbox, &data);
        Ok((command, args, Some(packages::program_dir(package, dir))))
    }
}

/// The interpreter's arguments for `fetch`: the program that fetches, and the proxy by which it does.
fn fetching(fetcher: &Path) -> Vec<String> {
    let proxy = format!("127.0.0.1:{}", environment::PROXY_PORT);
    vec!["--fetcher".into(), text(fetcher), "--proxy".into(), proxy]
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
