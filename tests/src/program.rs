//! A program that a test started: its pipes, its stderr, its end.
//!
//! Must never outlive its owner: dropping it kills it.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::Process;

/// More than this of a program's stderr is not shown, in bytes.
const STDERR_SHOWN: usize = 1024 * 1024;

/// A running program with pipes for its stdin and stdout.
#[derive(Debug)]
pub struct Program {
    child: Child,
    /// A file: what was written before an answer is there when the answer is.
    stderr: File,
}

impl Program {
    /// Starts it.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        let stderr = nameless_file();
        let theirs = stderr.try_clone().expect("a descriptor is to be had");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(theirs);
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        // A command can be started again, and holds no descriptor until then.
        command.stderr(Stdio::null());
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
        let mut bytes = vec![0; STDERR_SHOWN];
        let mut length = 0;
        while let Ok(n @ 1..) = self.stderr.read_at(&mut bytes[length..], length as u64) {
            length += n;
        }
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    /// The same, as lines; not one that is still being written.
    #[must_use]
    pub fn said(&self) -> Vec<String> {
        let text = self.stderr();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(str::to_owned).collect()
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

/// A file that goes with its last descriptor.
fn nameless_file() -> File {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = env::temp_dir().join(format!("harbor-test-stderr-{}-{number}", std::process::id()));
    let file = File::options().read(true).append(true).create_new(true).open(&path);
    let _ = fs::remove_file(&path);
    file.expect("a file can be made")
}
