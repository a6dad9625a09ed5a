//! One test's Harbor: a `HARBOR_HOME` of its own, and the demand that nothing of it is left running.
//!
//! Processes are recognised by `HARBOR_HOME` in their environment, by the mark `HARBOR_TEST_ID` (which the
//! doubles' definitions hand through to the servers), by the directory in their command line, by the bridge's own mark
//! of this home (the only one that runners and egress proxies carry), and by having been seen below a bridge.
//! Must never be shared by two tests.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use harbor_ipc_proto::hex::hex;
use nix::sys::signal::Signal;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::processes::{self, Process, wait_until};
use crate::{DOWN_LIMIT, LIMIT, programs};

/// The mark that servers carry.
pub const TEST_ID: &str = "HARBOR_TEST_ID";

/// A `HARBOR_HOME`. Its end is a check: see [`Home::drop`].
#[derive(Debug)]
pub struct Home(Arc<Place>);

/// The directories, shared with the programs that run in them.
#[derive(Debug)]
pub struct Place {
    dir: TempDir,
    id: String,
    /// Processes that carry no mark, but were seen below one that does.
    seen: Mutex<BTreeSet<Process>>,
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Home {
    /// A new one. The directory itself is left for the bridge to make.
    #[must_use]
    pub fn new() -> Self {
        Self::below(&env::temp_dir())
    }

    /// One in this directory, for tests to which it matters where it is.
    ///
    /// # Panics
    /// When nothing can be made there.
    #[must_use]
    pub fn below(parent: &Path) -> Self {
        // Short, because a socket's path has to fit into 107 bytes.
        let dir = tempfile::Builder::new().prefix("hb-").tempdir_in(parent).expect("a temporary directory");
        let id = dir.path().file_name().expect("it has a name").to_string_lossy().into_owned();
        Self(Arc::new(Place { dir, id, seen: Mutex::default() }))
    }

    /// For programs that run in it.
    #[must_use]
    pub fn place(&self) -> Arc<Place> {
        Arc::clone(&self.0)
    }

    /// `HARBOR_HOME`.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.0.path()
    }

    /// Gives it to another user, who can then run Harbor in it.
    ///
    /// # Panics
    /// When this user may not give anything away.
    pub fn hand_to(&self, user: u32, group: u32) {
        std::os::unix::fs::chown(self.0.dir.path(), Some(user), Some(group)).expect("root may do so");
    }

    /// Writes its `config.toml`, for the next bridge.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn configure(&self, text: &str) {
        let private = |mode| fs::Permissions::from_mode(mode);
        fs::create_dir_all(self.path()).expect("the directory can be made");
        fs::set_permissions(self.path(), private(0o700)).expect("it is this user's");
        let file = self.path().join("config.toml");
        fs::write(&file, text).expect("a file can be written there");
        fs::set_permissions(file, private(0o600)).expect("it is this user's");
    }

    /// A path for a file of the test's own, outside `HARBOR_HOME`.
    #[must_use]
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.0.dir.path().join(name)
    }

    /// A file under `HARBOR_HOME/run`: `bridge.sock`, `token`, `bridge.lock`.
    #[must_use]
    pub fn run_file(&self, name: &str) -> PathBuf {
        self.path().join("run").join(name)
    }

    /// The process id in the lock file.
    #[must_use]
    pub fn locked_by(&self) -> Option<u32> {
        fs::read_to_string(self.run_file("bridge.lock")).ok()?.trim().parse().ok()
    }

    /// The mark's value, for the environment of servers.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// One of Harbor's programs, to be started here.
    #[must_use]
    pub fn command(&self, program: &str) -> Command {
        self.0.command(program)
    }

    /// Connects to the bridge's socket as soon as one listens there.
    #[must_use]
    pub fn dial(&self) -> UnixStream {
        let path = self.run_file("bridge.sock");
        let mut stream = None;
        wait_until("a bridge that listens on its socket", LIMIT, || {
            stream = UnixStream::connect(&path).ok();
            stream.is_some()
        });
        stream.expect("the loop ended with one")
    }

    /// Everything that runs here.
    #[must_use]
    pub fn processes(&self) -> Vec<Process> {
        self.0.processes()
    }
}

impl Place {
    /// `HARBOR_HOME`.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.dir.path().join("h")
    }

    /// One of Harbor's programs, to be started here, without the tester's own settings.
    #[must_use]
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(programs::product(program));
        let is_setting = |name: &str| name.starts_with("HARBOR_") || name.starts_with("OTEL_");
        for (name, _) in env::vars_os().filter(|(name, _)| is_setting(&name.to_string_lossy())) {
            command.env_remove(name);
        }
        command.env("HARBOR_HOME", self.path()).env(TEST_ID, &self.id);
        // Nothing is fetched from anywhere but by a test that says so.
        command.env("HARBOR_CATALOG_WORKER", "0");
        command
    }

    /// Remembers a process and everything below it.
    pub fn remember(&self, pid: u32) {
        let found = Process::of(pid).into_iter().chain(processes::descendants(pid));
        self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(found);
    }

    fn processes(&self) -> Vec<Process> {
        // The whole directory: a process without any environment may still name a file in it.
        let marks = [format!("{TEST_ID}={}", self.id), path_text(self.dir.path()), self.instance()];
        let found = processes::marked(&marks);
        let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        seen.extend(found);
        seen.retain(|process| !process.is_gone());
        seen.iter().copied().collect()
    }

    /// What the bridge puts into the environment of what it starts. Not learnt from a process: these tests may
    /// themselves run below a Harbor, whose processes are none of theirs.
    fn instance(&self) -> String {
        let place = self.dir.path().canonicalize().unwrap_or_else(|_| self.dir.path().to_owned());
        let digest = Sha256::digest(place.join("h").as_os_str().as_encoded_bytes());
        format!("HARBOR_INSTANCE={}", hex(&digest[..8]))
    }

    /// Ends what is left; a process may start another one meanwhile.
    fn kill_all(&self) {
        for _ in 0..20 {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            left.iter().for_each(|process| process.signal(Signal::SIGKILL));
            let _ = processes::outlive(&left, Duration::from_millis(500));
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let mut left = self.processes();
        let until = std::time::Instant::now() + if thread::panicking() { Duration::ZERO } else { DOWN_LIMIT };
        while !left.is_empty() && std::time::Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
            left = self.processes();
        }
        let text = processes::describe(&left);
        self.0.kill_all();
        if !text.is_empty() && !thread::panicking() {
            panic!("left running {DOWN_LIMIT:?} after the test:{text}");
        }
    }
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
