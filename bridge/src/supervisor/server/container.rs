//! A server that is a container image: found and pinned before its first start, run by its id, removed behind it.
//!
//! ```text
//!  Install ─► engine ─► pinned before? ─yes─► is it there? ─no─► pull by digest ─┐
//!                            │ no                 │ yes                          ▼
//!                            └► is it there? ─no─► pull ─► id, digest ─► pinned ─► Installed
//!  Launch ─► what is left of it is removed ─► engine run ID ─► Ended ─► (the runner) engine rm
//! ```
//!
//! Owns the order, and the words where an engine refuses. What holds a container is the policy's (`policy::container`).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::runner::{Launch, LogSource};
use harbor_ipc_proto::link::sandbox::{Limits, Sandbox};
use harbor_policy::container::{self, Engine, Machine, Pinned, engine, reference, variables};
use harbor_policy::credentials::Credentials;
use harbor_policy::lifecycle::{Event, State};
use harbor_policy::limits;
use harbor_policy::runtimes::not_found;

use super::Server;
use super::confining::Confined;
use crate::clock::wall_clock;
use crate::link::EndReport;
use crate::runtimes::Looked;
use crate::store::definitions::Image;
use crate::store::images;

/// How long an engine may take to answer what it knows by itself.
const QUICK: Duration = Duration::from_secs(20);

/// How long a removal may take.
const REMOVAL: Duration = Duration::from_secs(30);

/// More lines of an answer are not kept.
const MOST_LINES: usize = 256;

/// What an engine exits with for reasons of its own; then what it was to run cannot be run, or is not there.
const ENGINE_FAILED: std::ops::RangeInclusive<i32> = 125..=127;

/// What was sent to an engine, and came back.
type Answer = Result<Vec<String>, Rc<EndReport>>;

impl Server {
    /// Whether it is a container image.
    #[must_use]
    pub fn has_image(&self) -> bool {
        self.definition().image.is_some()
    }

    /// The image that it runs, once it was found.
    #[must_use]
    pub fn pinned(&self) -> Option<Pinned> {
        images::pinned(self.definition().image.as_ref()?, &self.image_dir())
    }

    fn image_dir(&self) -> PathBuf {
        self.runners.shared.paths.server_image(self.id.as_str())
    }

    /// Finds the image, and pins it.
    pub(super) fn install_image(self: &Rc<Self>, image: Image) {
        self.installing.set(true);
        let server = self.clone();
        tokio::task::spawn_local(async move {
            let found = tokio::select! {
                biased;
                () = server.leaves(State::Installing) => Err(Rc::new(EndReport::because("stopped", "it was stopped"))),
                found = server.find_image(&image) => found,
            };
            server.installing.set(false);
            match found {
                Ok(()) => server.apply(Event::Installed),
                Err(report) => {
                    if !report.was_asked_for() {
                        server.remark(report.message.clone());
                    }
                    server.note_exit(report);
                    server.apply(Event::Ended);
                }
            }
        });
    }

    async fn leaves(&self, state: State) {
        loop {
            let changed = self.changed.notified();
            if self.state() != state {
                return;
            }
            changed.await;
        }
    }

    async fn find_image(&self, image: &Image) -> Result<(), Rc<EndReport>> {
        let looked = self.looked().await;
        let engine = engine_of(image, &looked).map_err(|why| failed(&why))?;
        let (wanted, id, digest) = match self.pinned() {
            // What was pinned is what is run, whatever its name means by now.
            Some(pinned) => (pinned.digest.clone(), pinned.id, pinned.digest),
            None => (Some(image.reference.clone()), image.reference.clone(), None),
        };
        let found = match self.inspect(engine, &id).await {
            Ok(found) => found,
            Err(report) => {
                // Most often it is not here; where it is something else, a pull will not say that.
                self.remark(format!("{}: {}", engine.as_str(), said(&report)));
                let Some(wanted) = wanted else {
                    return Err(failed(&gone(&self.id, &image.reference, engine)));
                };
                self.pull(engine, &wanted).await?;
                self.inspect(engine, &wanted).await?
            }
        };
        let answer = self.ask_engine(engine, engine.ask_rootless(), QUICK).await?;
        let pinned = Pinned {
            digest: digest.or_else(|| reference::digest_of(&image.reference, &found.1)),
            id: found.0,
            reference: image.reference.clone(),
            engine,
            rootless: answer.last().is_some_and(|line| engine.is_rootless(line)),
        };
        images::pin(&pinned, &self.image_dir()).map_err(|error| failed(&error.to_string()))
    }

    async fn inspect(&self, engine: Engine, image: &str) -> Result<(String, Vec<String>), Rc<EndReport>> {
        let lines = self.ask_engine(engine, engine.inspect(image), QUICK).await?;
        let found = lines.last().and_then(|line| engine::inspected(line));
        found.ok_or_else(|| failed(&format!("{} does not say what {image} is", engine.as_str())))
    }

    /// What it says goes into the server's log, and to whoever waits.
    async fn pull(&self, engine: Engine, image: &str) -> Result<(), Rc<EndReport>> {
        let words = engine.pull(&reference::whole(image));
        let hear = |source, text: String| self.on_log(source, None, text);
        let report = self.run_engine(engine, words, limits::INSTALL_TIMEOUT, hear).await?;
        let why = || format!("{} could not pull it: {}", engine.as_str(), said(&report));
        if succeeded(&report) { Ok(()) } else { Err(failed_with(&why(), &report)) }
    }

    /// Asks the engine something short.
    async fn ask_engine(&self, engine: Engine, words: Vec<String>, limit: Duration) -> Answer {
        let mut lines = Vec::new();
        let hear = |source, text| {
            if source == LogSource::Stdout && lines.len() < MOST_LINES {
                lines.push(text);
            }
        };
        let report = self.run_engine(engine, words, limit, hear).await?;
        let why = || format!("{} refuses: {}", engine.as_str(), said(&report));
        if succeeded(&report) { Ok(lines) } else { Err(failed_with(&why(), &report)) }
    }

    async fn run_engine(
        &self,
        engine: Engine,
        args: Vec<String>,
        limit: Duration,
        hear: impl FnMut(LogSource, String),
    ) -> Result<Rc<EndReport>, Rc<EndReport>> {
        let path = self.looked().await.path;
        let launch = Launch {
            command: engine.as_str().into(),
            args: args.into_iter().map(Into::into).collect(),
            start_timeout_ms: millis(limit),
            ..self.engine_launch(self.engine_environment(path))
        };
        let done = self.runners.errand(launch, hear).await;
        done.map_err(|error| failed(&format!("a runner could not be started: {error}")))
    }

    fn engine_launch(&self, env: BTreeMap<String, String>) -> Launch<'static> {
        Launch {
            env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: "/".into(),
            max_line: limits::MAX_LINE,
            eof_grace_ms: millis(self.settings().eof_grace),
            term_grace_ms: millis(self.settings().term_grace),
            ..Launch::default()
        }
    }

    /// Where the engines are, beyond the bridge's PATH.
    async fn looked(&self) -> Looked {
        let runtimes = self.runners.shared.runtimes.clone();
        let looked = tokio::task::spawn_blocking(move || runtimes.look()).await;
        looked.unwrap_or_else(|error| {
            tracing::error!(%error, "programs could not be looked for");
            Looked::none()
        })
    }

    fn engine_environment(&self, path: String) -> BTreeMap<String, String> {
        let inherited = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let instance = &self.runners.shared.instance;
        let mut all = variables::of_engine(inherited, instance, self.id.as_str());
        all.insert("PATH".into(), path);
        all
    }

    /// Names of the variables that its container gets.
    pub(super) fn container_variables(&self, confined: &Confined) -> Vec<String> {
        let network = confined.profile.network == harbor_ipc_proto::client::NetworkKind::All;
        variables::of_container(&self.engine_environment(String::new()), &self.definition().env, network)
    }

    /// What holds its next start.
    pub(super) fn container_held(
        &self,
        settings: &harbor_ipc_proto::client::SandboxSettings,
        facts: harbor_policy::sandbox::Facts,
    ) -> Result<Confined, String> {
        let profile = container::held(settings, &facts, self.pinned().as_ref(), &machine())?;
        Ok(Confined { profile, facts })
    }

    /// The message that starts it.
    pub(super) fn container_launch(
        &self,
        facts: harbor_policy::sandbox::Facts,
        secrets: &Credentials,
        path: String,
        limit: Duration,
    ) -> Result<Launch<'static>, String> {
        let image = self.pinned().ok_or("find out which image it runs")?;
        let confine = |why| format!("confine it: {why}");
        let confined = self.container_held(&self.definition().sandbox, facts).map_err(confine)?;
        let instance = &self.runners.shared.instance;
        let name = format!("harbor-{instance}-{}-{:x}", self.id, wall_clock());
        let mut variables = self.container_variables(&confined);
        let own = variables.len();
        variables.extend(secrets.variables().into_keys());
        if let Some(why) = variables[own..].iter().find_map(|name| variables::wrong(name)) {
            return Err(format!("give it its secrets: {why}"));
        }
        variables.sort();
        variables.dedup();
        let start = container::Start {
            name: &name,
            instance,
            server: self.id.as_str(),
            image: &image,
            variables: &variables,
            args: &self.definition().args,
        };
        let args = container::run(&start, &confined.profile, &confined.facts, &machine()).map_err(confine)?;
        // The engine holds it; only how much lies in its data directory is watched from here.
        let Limits { disk, writable, .. } = confined.profile.launch.limits.clone();
        let mut env = self.engine_environment(path);
        env.extend(self.definition().env.clone());
        self.is_held(confined);
        let removal = [image.engine.as_str().to_owned()]
            .into_iter()
            .chain(image.engine.remove(std::slice::from_ref(&name)));
        let mut launch = Launch {
            command: image.engine.as_str().into(),
            args: args.into_iter().map(Into::into).collect(),
            known_era: self.era.get(),
            offers_roots: !self.definition().roots.is_empty(),
            start_timeout_ms: millis(limit),
            sandbox: Sandbox { limits: Limits { disk, writable, ..Limits::default() }, ..Sandbox::default() },
            afterwards: removal.map(Into::into).collect(),
            ..self.engine_launch(env)
        };
        self.give(secrets, &mut launch);
        Ok(launch)
    }

    /// Removes what is left of it in containers, once nothing of an earlier bridge is in the way.
    pub(in crate::supervisor) async fn clear_behind(&self) {
        self.runners.swept().await;
        if let Err(why) = self.clear_containers().await {
            self.remark(why);
        }
    }

    /// Removes what is left of it in containers. One at a time: who comes second finds nothing.
    ///
    /// # Errors
    /// Why there may be one left, which could still write to its data.
    pub(super) async fn clear_containers(&self) -> Result<(), String> {
        let Some(pinned) = self.pinned() else { return Ok(()) };
        let _turn = self.clearing.lock().await;
        let engine = pinned.engine;
        let why = |report: Rc<EndReport>| format!("remove what is left of its container: {}", report.message);
        let list = engine.list(&self.runners.shared.instance, self.id.as_str());
        let left = engine::listed(&self.ask_engine(engine, list, QUICK).await.map_err(why)?);
        if left.is_empty() {
            return Ok(());
        }
        tracing::warn!(server = %self.id, count = left.len(), "containers were left behind; they are removed");
        self.ask_engine(engine, engine.remove(&left), REMOVAL).await.map(drop).map_err(why)
    }

    /// What an end means where an engine is in between; the container is gone, unless the runner was.
    pub(super) fn container_ended(self: &Rc<Self>, report: Rc<EndReport>) -> Rc<EndReport> {
        let Some(pinned) = self.pinned() else { return report };
        if report.cause == "runner_lost" {
            let server = self.clone();
            tokio::task::spawn_local(async move { server.clear_behind().await });
        }
        let engine = pinned.engine.as_str();
        let failed = report.exit_code.is_some_and(|code| ENGINE_FAILED.contains(&code));
        if failed && self.state() == State::Starting {
            // The next start looks whether the image is still there.
            self.machine.borrow_mut().package_is_lost();
            let message = format!("{engine} could not run the image: {}", said(&report));
            return Rc::new(EndReport { message, cause: "spawn_failed", ..(*report).clone() });
        }
        if report.cause == "out_of_memory" {
            let limit = self.confined().and_then(|confined| confined.profile.launch.limits.memory);
            let of = |bytes: u64| {
                let mib = bytes >> 20;
                format!(
                    "it ran out of memory; its container may use {mib} MiB: `harbor sandbox {} --memory {}` allows it more",
                    self.id,
                    mib * 2
                )
            };
            let message = limit.map_or_else(|| report.message.clone(), of);
            return Rc::new(EndReport { message, ..(*report).clone() });
        }
        report
    }
}

fn succeeded(report: &EndReport) -> bool {
    report.cause == "exited" && report.exit_code == Some(0)
}

/// The engine's own last words; else how it ended.
fn said(report: &EndReport) -> String {
    let last = report
        .stderr_tail
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty() && !line.starts_with("See '"));
    let last = last.map(|line| line.strip_prefix("Error: ").unwrap_or(line).to_owned());
    last.unwrap_or_else(|| report.message.clone())
}

fn failed(why: &str) -> Rc<EndReport> {
    Rc::new(EndReport::because("install_failed", format!("its image could not be had: {why}")))
}

/// The same with what else is known of it.
fn failed_with(why: &str, report: &EndReport) -> Rc<EndReport> {
    if report.was_asked_for() {
        return Rc::new(report.clone());
    }
    let EndReport { cause, message, .. } = (*failed(why)).clone();
    Rc::new(EndReport { cause, message, ..report.clone() })
}

fn gone(id: &harbor_ipc_proto::server_id::ServerId, reference: &str, engine: Engine) -> String {
    format!(
        "the image that {reference} meant is not in {} any more, and no registry has it; `harbor remove {id}` and add it \
         again to run what it means now",
        engine.as_str()
    )
}

/// The one that was named; else the first that is there.
fn engine_of(image: &Image, looked: &Looked) -> Result<Engine, String> {
    let wanted = image.engine().map_or_else(|| Engine::ALL.to_vec(), |engine| vec![engine]);
    let found = wanted.iter().copied().find(|engine| looked.get(engine.as_str()).is_some());
    let names: Vec<_> = wanted.iter().map(|engine| engine.as_str()).collect();
    found.ok_or_else(|| {
        let why = not_found(&names.join(" or "), &looked.places);
        format!("{why}; `apt install podman` or `dnf install podman` gets one")
    })
}

fn machine() -> Machine {
    use nix::sys::resource::{Resource, getrlimit};
    let most = |resource| getrlimit(resource).ok().map(|(_, most)| most);
    // Podman has no more processes than there are numbers for them.
    let numbers = std::fs::read_to_string("/proc/sys/kernel/pid_max");
    let numbers = numbers.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX);
    Machine {
        user: nix::unistd::geteuid().as_raw(),
        group: nix::unistd::getegid().as_raw(),
        unified: std::path::Path::new("/sys/fs/cgroup/cgroup.controllers").exists(),
        processes: most(Resource::RLIMIT_NPROC).map(|most| most.min(numbers)),
        open_files: most(Resource::RLIMIT_NOFILE),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_engine_it_is_said_where_one_was_looked_for() {
        let image = |engine: Option<&str>| Image { reference: "a".into(), engine: engine.map(Into::into) };
        let why = |engine| engine_of(&image(engine), &Looked::none()).unwrap_err();
        assert!(
            why(None).starts_with("there is no program podman or docker; it was looked for in"),
            "{}",
            why(None)
        );
        assert!(why(Some("docker")).starts_with("there is no program docker;"));
    }

    #[test]
    fn an_engine_is_quoted_by_its_last_words() {
        let report =
            |tail: &str| EndReport { stderr_tail: tail.into(), ..EndReport::because("exited", "it exited") };
        assert_eq!(said(&report("Trying to pull\nError: no such image\n\n")), "no such image");
        assert_eq!(said(&report("docker: denied.\nSee 'docker run --help'.")), "docker: denied.");
        assert_eq!(said(&report("")), "it exited");
    }
}
