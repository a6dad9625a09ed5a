//! A server that is a container image: found and pinned before its first start, run by its id, removed behind it.
//!
//! ```text
//!  Install ─► `finding`: which image it is ─► Installed
//!  Launch ─► what is left of it is removed ─► engine run ID ─► Died ─► (the runner) engine rm ─► Ended
//! ```
//!
//! Owns its launch and its removal; `asking` has the engine's answers. What holds a container is the policy's
//! (`policy::container`).

mod asking;
mod finding;

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::link::runner::Launch;
use harbor_ipc_proto::link::sandbox::{Sandbox, SandboxLimits};
use harbor_policy::container::{self, Machine, Pinned, engine, variables};
use harbor_policy::credentials::Credentials;
use harbor_policy::lifecycle::State;

use self::asking::{QUICK, millis, said};
use super::Server;
use super::parts::confinement::Confined;
use crate::link::EndReport;

/// How long a removal may take.
const REMOVAL: Duration = Duration::from_secs(30);

/// The exit codes that an engine has for reasons of its own: the program that it was to run cannot be run, or is not there.
const ENGINE_FAILED: std::ops::RangeInclusive<i32> = 125..=127;

impl Server {
    /// True if it is a container image.
    #[must_use]
    pub fn has_image(&self) -> bool {
        self.definition().image.is_some()
    }

    /// The image that it runs, once it was found.
    #[must_use]
    pub fn pinned(&self) -> Option<Pinned> {
        self.package.image()
    }

    fn image_dir(&self) -> PathBuf {
        self.runners().shared.paths.server_image(self.id().as_str())
    }

    /// Names of the variables that its container gets.
    pub(super) fn container_variables(&self, confined: &Confined) -> Vec<String> {
        let network = confined.profile.network == harbor_ipc_proto::client::NetworkKind::All;
        variables::of_container(&self.engine_environment(String::new()), &self.definition().env, network)
    }

    /// The profile that holds its next start.
    pub(super) fn container_held(
        &self,
        settings: &harbor_ipc_proto::client::SandboxSettings,
        facts: harbor_policy::sandbox::SandboxFacts,
    ) -> Result<Confined, String> {
        let profile = container::held(settings, &facts, self.pinned().as_ref(), &machine())?;
        Ok(Confined { profile, facts })
    }

    /// The message that starts it.
    pub(super) fn container_launch(
        &self,
        facts: harbor_policy::sandbox::SandboxFacts,
        secrets: &Credentials,
        path: String,
        limit: Duration,
    ) -> Result<Launch<'static>, String> {
        let image = self.pinned().ok_or("find out which image it runs")?;
        let confine = |why| format!("confine it: {why}");
        let confined = self.container_held(&self.definition().sandbox, facts).map_err(confine)?;
        let instance = &self.runners().shared.marks.instance;
        let name = format!("harbor-{instance}-{}-{:x}", self.id(), wall_clock());
        let mut variables = self.container_variables(&confined);
        let own = variables.len();
        variables.extend(secrets.variables().into_keys());
        if let Some(why) = variables[own..].iter().find_map(|name| variables::wrong(name)) {
            return Err(format!("give it its secrets: {why}"));
        }
        variables.sort();
        variables.dedup();
        let start = container::ContainerStart {
            name: &name,
            instance,
            server: self.id().as_str(),
            image: &image,
            variables: &variables,
            args: &self.definition().args,
        };
        let args = container::run(&start, &confined.profile, &confined.facts, &machine()).map_err(confine)?;
        // The engine holds it; only how much lies in its data directory is watched from here.
        let SandboxLimits { disk, writable, .. } = confined.profile.launch.limits.clone();
        let mut env = self.engine_environment(path);
        env.extend(self.definition().env.clone());
        self.is_held(confined);
        let removal = [image.engine.as_str().to_owned()]
            .into_iter()
            .chain(image.engine.remove(std::slice::from_ref(&name)));
        let mut launch = Launch {
            command: image.engine.as_str().into(),
            args: args.into_iter().map(Into::into).collect(),
            known_era: self.known_era(),
            known_revision: self.known_revision().map(Into::into),
            offers_roots: !self.definition().roots.is_empty(),
            start_timeout_ms: millis(limit),
            sandbox: Sandbox {
                limits: SandboxLimits { disk, writable, ..SandboxLimits::default() },
                ..Sandbox::default()
            },
            afterwards: removal.map(Into::into).collect(),
            ..self.engine_launch(env)
        };
        self.give(secrets, &mut launch);
        Ok(launch)
    }

    /// Removes what is left of it in containers, once nothing of an earlier bridge is in the way.
    pub(in crate::supervisor) async fn clear_behind(&self) {
        self.runners().swept().await;
        if let Err(why) = self.clear_containers().await {
            self.remark(why);
        }
    }

    /// Removes what is left of it in containers. One caller at a time: a second one finds nothing.
    ///
    /// # Errors
    /// Why there may be one left, which could still write to its data.
    pub(super) async fn clear_containers(&self) -> Result<(), String> {
        let Some(pinned) = self.pinned() else { return Ok(()) };
        let _turn = self.package.clearing().await;
        let engine = pinned.engine;
        let why = |report: Rc<EndReport>| format!("remove what is left of its container: {}", report.message);
        let list = engine.list(&self.runners().shared.marks.instance, self.id().as_str());
        let left = engine::listed(&self.ask_engine(engine, list, QUICK).await.map_err(why)?);
        if left.is_empty() {
            return Ok(());
        }
        tracing::warn!(server = %self.id(), count = left.len(), "containers were left behind; they are removed");
        self.ask_engine(engine, engine.remove(&left), REMOVAL).await.map(drop).map_err(why)
    }

    /// Removes its container, where its runner has ended that would have done so.
    pub(super) fn clear_if_lost(self: &Rc<Self>, report: &EndReport) {
        if report.cause == "runner_lost" && self.has_image() {
            let server = self.clone();
            tokio::task::spawn_local(async move { server.clear_behind().await });
        }
    }

    /// The meaning of an end where an engine is in between.
    pub(super) fn container_ended(self: &Rc<Self>, report: Rc<EndReport>) -> Rc<EndReport> {
        let Some(pinned) = self.pinned() else { return report };
        let engine = pinned.engine.as_str();
        let failed = report.exit_code.is_some_and(|code| ENGINE_FAILED.contains(&code));
        if failed && self.state() == State::Starting {
            // The next start looks whether the image is still there.
            self.life.package_is_lost();
            let message = format!("{engine} could not run the image: {}", said(&report));
            return Rc::new(EndReport { message, cause: "spawn_failed", ..(*report).clone() });
        }
        if report.cause == "out_of_memory" {
            let limit = self.confined().and_then(|confined| confined.profile.launch.limits.memory);
            let of = |bytes: u64| {
                let mib = bytes >> 20;
                format!(
                    "it ran out of memory; its container may use {mib} MiB: `harbor sandbox {} --memory {}` allows more",
                    self.id(),
                    mib * 2
                )
            };
            let message = limit.map_or_else(|| report.message.clone(), of);
            return Rc::new(EndReport { message, ..(*report).clone() });
        }
        report
    }
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
