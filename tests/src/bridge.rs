//! Starts the bridge in the ways that people start it, and ends it so that a test notices what it leaves.
//!
//! `Bridge` is the bridge itself (`serve --stdio`, or `serve`); `Relay` is what a browser starts. Must never be
//! dropped after its [`Home`]: declare the home first.

use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use harbor_client_configs::extensions::HARBOR;
use harbor_ipc_proto::client::{Hello, Shutdown};
use nix::sys::signal::Signal;

use crate::home::Place;
use crate::processes::{Process, descendants, wait_until};
use crate::{Client, DOWN_LIMIT, Home, LIMIT, Program};

/// A running bridge. Dereferences to its first client: on `--stdio` the owner, else one on the socket.
#[derive(Debug)]
pub struct Bridge {
    client: Client,
    program: Program,
    place: Arc<Place>,
    stdio: bool,
    ended: bool,
}

impl std::ops::Deref for Bridge {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Bridge {
    /// `harbor-bridge serve --stdio`.
    #[must_use]
    pub fn start(home: &Home) -> Self {
        Self::start_with(home, &[])
    }

    /// The same, with these environment variables.
    #[must_use]
    pub fn start_with(home: &Home, env: &[(&str, &str)]) -> Self {
        let mut command = home.command("harbor-bridge");
        Self::start_as(home, command.args(["serve", "--stdio"]).envs(env.iter().copied()))
    }

    /// `harbor-bridge serve --stdio`, however this command comes to it. It has its home when this returns: a command that is
    /// typed next would start a bridge of its own otherwise.
    #[must_use]
    pub fn start_as(home: &Home, command: &mut Command) -> Self {
        let before = home.locked_by();
        let mut program = Program::start(command);
        let (stdin, stdout) = program.pipes();
        wait_until("the bridge to have its lock, or to end", LIMIT, || {
            home.locked_by() != before || program.wait(Duration::ZERO).is_some()
        });
        let client = Client::over_pipes(stdout, stdin);
        Self { client, program, place: home.place(), stdio: true, ended: false }
    }

    /// `harbor-bridge serve`, with a client attached over the socket.
    #[must_use]
    pub fn foreground(home: &Home) -> Self {
        let program = Program::start(home.command("harbor-bridge").arg("serve"));
        let client = Client::attach(home);
        Self { client, program, place: home.place(), stdio: false, ended: false }
    }

    /// The bridge's process and everything below it, now.
    #[must_use]
    pub fn tree(&self) -> Vec<Process> {
        self.place.remember(self.program.pid());
        let mut tree = vec![self.program.process()];
        tree.extend(descendants(self.program.pid()));
        tree
    }

    /// The bridge's process.
    #[must_use]
    pub fn process(&self) -> Process {
        self.program.process()
    }

    /// Sends the bridge a signal. What is below it is remembered first, since it may lose its parent.
    pub fn signal(&self, signal: Signal) {
        self.place.remember(self.program.pid());
        self.program.signal(signal);
    }

    /// Ends it at once, as a crash would: no clean exit is demanded of it any more.
    ///
    /// # Panics
    /// When it does not end.
    pub fn kill(&mut self) {
        self.signal(Signal::SIGKILL);
        assert!(self.wait(DOWN_LIMIT).is_some(), "a killed process ends");
    }

    /// What it wrote to stderr so far; a thread of it writes, so what an answer has brought about may come a little later.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.program.stderr()
    }

    /// The same, once `wanted` is there.
    ///
    /// # Panics
    /// When it does not come.
    pub fn said(&self, wanted: &str) -> String {
        let is_said = || self.stderr().contains(wanted);
        wait_until(&format!("its log to say {wanted:?}"), LIMIT, is_said);
        self.stderr()
    }

    /// How it ended; `None` when it still runs after `limit`.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let status = self.program.wait(limit);
        self.ended |= status.is_some();
        status
    }

    /// Ends it the usual way and demands that it does so in time.
    ///
    /// # Panics
    /// When it does not end.
    pub fn stop(&mut self) -> ExitStatus {
        self.place.remember(self.program.pid());
        self.client.close();
        if !self.stdio {
            self.program.signal(Signal::SIGTERM);
        }
        let status = self.wait(DOWN_LIMIT);
        status.unwrap_or_else(|| panic!("the bridge still runs; its stderr:\n{}", self.stderr()))
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        if thread::panicking() {
            self.place.remember(self.program.pid());
            return;
        }
        if !self.ended {
            let status = self.stop();
            assert!(status.success(), "the bridge ended with {status}; its stderr:\n{}", self.stderr());
        }
        // A test build survives the panic of one task; the release does not.
        let stderr = self.stderr();
        assert!(!stderr.contains("panicked at"), "a task of the bridge panicked:\n{stderr}");
        self.client.assert_sound();
    }
}

/// `harbor-bridge` as a browser starts it: a relay to the user's one bridge.
#[derive(Debug)]
pub struct Relay {
    client: Client,
    program: Program,
}

impl std::ops::Deref for Relay {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Relay {
    /// With the arguments of Chrome.
    #[must_use]
    pub fn chrome(home: &Home, env: &[(&str, &str)]) -> Self {
        Self::of(home, &[&format!("chrome-extension://{}/", HARBOR.chromium())], env)
    }

    /// With the arguments of Firefox.
    #[must_use]
    pub fn firefox(home: &Home, env: &[(&str, &str)]) -> Self {
        let manifest = home.scratch("harbor_bridge.json");
        Self::of(home, &[&manifest.to_string_lossy(), HARBOR.firefox], env)
    }

    /// With these arguments.
    #[must_use]
    pub fn of(home: &Home, args: &[&str], env: &[(&str, &str)]) -> Self {
        Self::start(home.command("harbor-bridge").args(args).envs(env.iter().copied()))
    }

    /// By this command.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        let mut program = Program::start(command);
        let (stdin, stdout) = program.pipes();
        Self { client: Client::over_pipes(stdout, stdin), program }
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> Process {
        self.program.process()
    }

    /// Ends it at once, as a crashing browser would.
    pub fn kill(&mut self) {
        self.program.signal(Signal::SIGKILL);
        assert!(self.program.wait(DOWN_LIMIT).is_some(), "a killed process ends");
    }

    /// How it ended; `None` when it still runs after `limit`.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        self.program.wait(limit)
    }

    /// What it wrote to stderr.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.program.stderr()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        self.client.close();
        let ended = self.program.wait(DOWN_LIMIT);
        assert!(ended.is_some(), "the relay outlives its port; its stderr:\n{}", self.stderr());
        self.client.assert_sound();
    }
}

/// Ends the bridge that a relay started, which nobody holds as a child.
///
/// # Panics
/// When it does not end.
pub fn shut_down_detached(home: &Home) {
    let client = Client::attach(home);
    let hello = Hello { protocol: None, client: None, chunks: None, max_frame: None, browser_session: None };
    let answer = client.reply(&hello).expect("the bridge says who it is");
    let bridge = Process::named_by(&answer.pid.into());
    home.place().remember(bridge.pid);
    let _ = client.reply(&Shutdown {});
    crate::processes::assert_gone(&[bridge], DOWN_LIMIT);
}
