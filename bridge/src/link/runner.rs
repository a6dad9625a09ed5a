//! Runner processes: starting them, and making sure that they end.
//!
//! Owns the opened executables (an upgrade under a running bridge mixes no builds) and, per runner, its process
//! and link. Must be used from the bridge's main thread only: the runners' parent-death signal is tied to it.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_child::reaper::{Reaper, parent_of, send_group};
use harbor_child::signal::Signal;
use harbor_ipc_proto::link::runner::ToRunner;
use harbor_ipc_proto::via::IDENTITY;
use harbor_policy::environment::INSTANCE_MARK;
use harbor_policy::program::{JS_RUNNER, WASM_RUNNER};
use tokio::sync::mpsc;

use super::process::{ChildProgram, Process};
use super::{Containment, Link, LinkEvent};

/// A runner's name on its command line.
pub const RUNNER: &str = "harbor-runner";

/// The name of a runner that speaks to remote servers.
const RUNNER_HTTP: &str = "harbor-runner-http";

/// The variables that tell its TLS which authorities the person trusts.
const CERTIFICATES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// The kind of runner program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunnerKind {
    /// It runs programs.
    Local,
    /// It speaks HTTP.
    Remote,
}

/// The marks by which this Harbor is known.
#[derive(Debug, Clone)]
pub struct Marks {
    /// The mark in the environments of its processes.
    pub instance: String,
    /// Its name among Harbors.
    pub identity: String,
}

/// A program's executable, held open.
#[derive(Debug)]
pub struct Executable(File);

impl Executable {
    /// Opens the program `name` beside the bridge's own executable.
    ///
    /// # Errors
    /// When there is no such program.
    pub fn open(directory: &Path, name: &str) -> io::Result<Self> {
        let path = directory.join(name);
        File::open(&path)
            .map(Self)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    pub(super) fn file(&self) -> &File {
        &self.0
    }
}

/// The executables of both runners.
#[derive(Debug)]
pub struct Executables {
    local: Executable,
    remote: Executable,
    fetcher: PathBuf,
    interpreters: Interpreters,
}

/// Where the programs are that interpret what Harbor keeps: as the fetcher, a sandbox reaches them by their paths.
#[derive(Debug, Clone)]
pub struct Interpreters {
    /// The one of scripts.
    pub js: PathBuf,
    /// The one of modules.
    pub wasm: PathBuf,
}

impl Executables {
    /// Opens them beside the bridge's own executable.
    ///
    /// # Errors
    /// When a program is missing.
    pub fn open(directory: &Path) -> io::Result<Self> {
        let open = |name| Executable::open(directory, name);
        let fetcher = directory.join(RUNNER_HTTP);
        let interpreters = Interpreters { js: directory.join(JS_RUNNER), wasm: directory.join(WASM_RUNNER) };
        Ok(Self { local: open(RUNNER)?, remote: open(RUNNER_HTTP)?, fetcher, interpreters })
    }

    /// The path of the program that fetches for installers: a sandbox reaches it by its path. The program says when it is of
    /// another build.
    #[must_use]
    pub fn fetcher(&self) -> &Path {
        &self.fetcher
    }

    /// The programs that interpret what Harbor keeps.
    #[must_use]
    pub fn interpreters(&self) -> &Interpreters {
        &self.interpreters
    }

    fn of(&self, kind: RunnerKind) -> (&File, &'static str) {
        match kind {
            RunnerKind::Local => (self.local.file(), RUNNER),
            RunnerKind::Remote => (self.remote.file(), RUNNER_HTTP),
        }
    }
}

/// The purpose of a runner process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// One server.
    Isolated,
    /// All servers.
    Shared,
    /// A container engine's program.
    Engine,
    /// The runner finds out what the kernel offers, and ends.
    Offer,
}

impl Purpose {
    fn as_str(self) -> &'static str {
        match self {
            Self::Isolated => "isolated",
            Self::Shared => "shared",
            Self::Engine => "engine",
            Self::Offer => "offer",
        }
    }
}

/// A runner process.
#[derive(Debug)]
pub struct Runner {
    /// Its link.
    pub link: Rc<Link>,
    process: Process,
    containment: RefCell<Option<Rc<Containment>>>,
    /// The time of the open request for an echo, and how long the last echo took.
    asked: Cell<Option<Instant>>,
    round_trip: Cell<Option<Duration>>,
}

impl Runner {
    /// Starts a runner, which gets these marks. The receiver gets what its servers say unasked.
    ///
    /// # Errors
    /// When the system is out of processes or file descriptors.
    pub fn start(
        executables: &Executables,
        kind: RunnerKind,
        marks: &Marks,
        purpose: Purpose,
        reaper: &Reaper,
    ) -> io::Result<(Rc<Self>, mpsc::Receiver<LinkEvent>)> {
        let (executable, name) = executables.of(kind);
        let program = ChildProgram { executable, name, grace: LAST_GRACE };
        let (process, mine, ended) = Process::start(&program, reaper, |command| {
            let certificates = CERTIFICATES.iter().filter(|_| kind == RunnerKind::Remote);
            // The mark as an argument too: nobody but root can read a runner's environment.
            command.arg(purpose.as_str()).arg(format!("{INSTANCE_MARK}={}", marks.instance));
            command.env(INSTANCE_MARK, &marks.instance).env(IDENTITY, &marks.identity);
            command.envs(certificates.filter_map(|name| Some((name, std::env::var_os(name)?))));
        })?;
        let (link, events) = Link::begin(mine)?;
        tokio::task::spawn_local({
            let (link, pid) = (link.clone(), process.pid());
            async move {
                let exit = ended.await;
                link.close();
                tracing::debug!(pid, ?exit, "a runner ended");
            }
        });
        let runner = Self {
            link,
            process,
            containment: RefCell::default(),
            asked: Cell::default(),
            round_trip: Cell::default(),
        };
        Ok((Rc::new(runner), events))
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// The runner's word on how its servers are held together.
    #[must_use]
    pub fn containment(&self) -> Option<Rc<Containment>> {
        self.containment.borrow().clone()
    }

    /// Notes the runner's word on that.
    pub fn set_containment(&self, containment: Containment) {
        *self.containment.borrow_mut() = Some(Rc::new(containment));
    }

    /// Asks the runner for an echo, unless one is under way.
    pub fn ask_for_echo(&self) {
        if self.asked.get().is_none() {
            self.asked.set(Some(Instant::now()));
            self.link.send(&ToRunner::Echo);
        }
    }

    /// It has answered.
    pub fn note_echo(&self) {
        if let Some(asked) = self.asked.take() {
            self.round_trip.set(Some(asked.elapsed()));
        }
    }

    /// How long the last echo took.
    #[must_use]
    pub fn round_trip(&self) -> Option<Duration> {
        self.round_trip.get()
    }

    /// Tells it to end its servers and exit.
    pub fn shut_down(&self) {
        self.link.send(&ToRunner::Shutdown);
        self.link.close();
    }

    /// Ends it at once; the kernel ends its servers with it.
    pub fn kill(&self) {
        self.process.kill();
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // Nobody is left to speak to it: it ends its servers by itself, and if it does not, it is killed.
        self.shut_down();
    }
}

/// How long an unneeded runner may take to end its servers and itself.
const LAST_GRACE: Duration = Duration::from_secs(6);

/// Ends the process group of a server whose runner is gone, in case the kernel has not done so yet. Its leader is
/// still the runner's child, or has become ours; a number that now means another process is left alone.
pub fn end_server_group(leader: u32, runner_pid: u32) {
    if parent_of(leader).is_some_and(|parent| parent == runner_pid || parent == std::process::id()) {
        // Most often it is gone already.
        let _ = send_group(leader, Signal::SIGKILL);
    }
}
