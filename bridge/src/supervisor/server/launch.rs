//! What a runner needs to know to start a server.
//!
//! Owns turning a definition into the message, and the server's data directory.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::runner::{Launch, ToRunner};
use harbor_policy::lifecycle::State;
use harbor_policy::{environment, limits};

use super::Server;
use crate::link::EndReport;
use crate::store::{packages, private_directory};

impl Server {
    /// Has a runner start the server, once nothing of an earlier bridge or definition is in its way.
    pub(super) fn launch(self: &Rc<Self>) {
        if self.runners.is_swept() && self.predecessors.borrow().is_empty() {
            return self.launch_now();
        }
        let server = self.clone();
        tokio::task::spawn_local(async move {
            server.way_is_clear().await;
            // It may have been stopped, and even started again, meanwhile.
            if server.state() == State::Starting && server.place.borrow().is_none() {
                server.launch_now();
            }
        });
    }

    /// Waits until nobody else can write to the server's data. That is not the server's own time.
    pub(super) async fn way_is_clear(self: &Rc<Self>) {
        self.machine.borrow_mut().hold_the_clock();
        self.set_life_alarm();
        self.runners.swept().await;
        let predecessors = self.predecessors.borrow().clone();
        for predecessor in &predecessors {
            predecessor.down().await;
        }
        self.predecessors.borrow_mut().retain(|server| !server.is_down());
        self.machine.borrow_mut().start_the_clock(self.now());
        self.set_life_alarm();
    }

    fn launch_now(self: &Rc<Self>) {
        let launched = self.prepare().and_then(|cwd| {
            let launch = self.launch_of_server(&cwd)?;
            let place = self.runners.place(self).map_err(|error| format!("start a runner: {error}"))?;
            place.runner.link.send(&ToRunner::Connect { server: place.number, launch });
            *self.place.borrow_mut() = Some(place);
            Ok(())
        });
        if let Err(what) = launched {
            self.ended_because(EndReport::because("spawn_failed", format!("could not {what}")));
        }
    }

    /// Makes the server's data directory; gives the directory that it will run in.
    pub(super) fn prepare(&self) -> Result<String, String> {
        let data = self.runners.shared.paths.server_data(self.id.as_str());
        private_directory(&data).map_err(|error| format!("prepare its data directory: {error}"))?;
        Ok(self.definition.cwd.clone().unwrap_or_else(|| data.to_string_lossy().into_owned()))
    }

    fn launch_of_server(&self, cwd: &str) -> Result<Launch<'static>, String> {
        let limit = self.settings.start_timeout;
        let Some(package) = &self.package else {
            return Ok(self.launch_of(self.definition.command.clone(), &self.definition.args, cwd, limit));
        };
        let dir = self.package_dir();
        let entry = packages::entry(package, &dir).map_err(|why| {
            self.machine.borrow_mut().package_is_lost();
            format!("find its program: {why}")
        })?;
        let mut launch = self.launch_of(entry.to_string_lossy().into_owned(), &package.args, cwd, limit);
        // As under npx and uvx, the package's other programs are found.
        let programs = packages::program_dir(package, &dir);
        if let Some((_, path)) = launch.env.iter_mut().find(|(name, _)| name == "PATH") {
            *path = format!("{}:{path}", programs.display()).into();
        }
        Ok(launch)
    }

    /// One command of the installer.
    pub(super) fn launch_of_installer(&self, command: &[String], cwd: &str) -> Launch<'static> {
        let (program, args) =
            command.split_first().map_or((String::new(), &[][..]), |(p, args)| (p.clone(), args));
        self.launch_of(program, args, cwd, limits::INSTALL_TIMEOUT)
    }

    fn launch_of(&self, command: String, args: &[String], cwd: &str, limit: Duration) -> Launch<'static> {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let inherited = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let instance = &self.runners.shared.instance;
        let env = environment::of_server(inherited, &self.definition.env, instance, self.id.as_str());
        Launch {
            command: command.into(),
            args: args.iter().map(|arg| arg.clone().into()).collect(),
            env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: cwd.to_owned().into(),
            known_era: self.era.get(),
            offers_roots: !self.definition.roots.is_empty(),
            start_timeout_ms: millis(limit),
            max_line: limits::MAX_LINE,
            eof_grace_ms: millis(self.settings.eof_grace),
            term_grace_ms: millis(self.settings.term_grace),
        }
    }
}
