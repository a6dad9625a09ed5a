//! A program that a test started: its pipes, its stderr, its end.
//!
//! Must never outlive its owner: dropping it kills it.

use std::io::Read;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::Process;

/// More than this of a program's stderr is not kept, in bytes.
const STDERR_KEPT: usize = 1024 * 1024;

/// A running program with pipes on all three standard streams.
#[derive(Debug)]
pub struct Program {
    child: Child,
    stderr: Arc<Mutex<Vec<u8>>>,
}

impl Program {
    /// Starts it.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let (mut pipe, kept) = (child.stderr.take().expect("piped"), Arc::clone(&stderr));
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(n @ 1..) = pipe.read(&mut piece) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = STDERR_KEPT.saturating_sub(kept.len()).min(n);
                kept.extend_from_slice(&piece[..room]);
            }
        });
        Self { child, stderr }
    }

    /// Its stdin and stdout, once.
    ///
    /// # Panics
    /// The second time.
    #[must_use]
    pub fn pipes(&mut self) -> (ChildStdin, ChildStdout) {
        (self.child.stdin.take().expect("taken once"), self.child.stdout.take().expect("taken once"))
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// It, for waiting until it is gone.
    ///
    /// # Panics
    /// When it has ended already.
    #[must_use]
    pub fn process(&self) -> Process {
        Process::of(self.pid()).unwrap_or_else(|| panic!("it has ended; its stderr:\n{}", self.stderr()))
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        if let Some(process) = Process::of(self.pid()) {
            process.signal(signal);
        }
    }

    /// What it wrote to stderr so far.
    #[must_use]
    pub fn stderr(&self) -> String {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }

    /// How it ended; `None` when it still runs after `limit`.
    ///
    /// # Panics
    /// When the system cannot tell.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + limit;
        loop {
            let status = self.child.try_wait().expect("a child can be waited for");
            if status.is_some() || Instant::now() >= until {
                return status;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("stderr of process {}:\n{}", self.pid(), self.stderr());
        }
    }
}
