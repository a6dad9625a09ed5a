//! Starting a server: this executable again, as its own launcher.
//!
//! ```text
//!  runner ──posix_spawn──► harbor-runner exec ──(see launcher)──► execve(server)
//!     ◄── report pipe: closes by itself on success, carries step and errno on failure
//! ```
//!
//! posix_spawn does not copy the parent's page tables, so a start costs the same whatever the parent's size.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use tokio::net::unix::pipe;

use crate::launcher::{self, Failure};
use crate::namespace::Namespace;

/// What to start.
#[derive(Debug)]
pub struct Server {
    /// A path, or a name to look up in the PATH of `env`.
    pub command: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory.
    pub cwd: OsString,
}

/// A process that was started, and its pipes.
#[derive(Debug)]
pub struct Started {
    /// Its process id; it leads a session and a process group of this number.
    pub pid: u32,
    /// To its standard input.
    pub stdin: pipe::Sender,
    /// From its standard output.
    pub stdout: pipe::Receiver,
    /// From its standard error.
    pub stderr: pipe::Receiver,
    report: pipe::Receiver,
}

impl Started {
    /// Waits until the launcher has become the server.
    ///
    /// # Errors
    /// The step that failed, and why.
    pub async fn executed(&self) -> Result<(), Failure> {
        let mut report = [0; launcher::REPORT_SIZE];
        let mut got = 0;
        while got < report.len() {
            if self.report.readable().await.is_err() {
                return Ok(());
            }
            match self.report.try_read(&mut report[got..]) {
                Ok(0) => return Ok(()),
                Ok(n) => got += n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Ok(()),
            }
        }
        Err(Failure::from_bytes(report))
    }
}

/// Starts `server`, in the namespace where there is one. Call it from a thread that lives as long as the process, and where no other thread starts
/// processes: the report pipe is inheritable for a moment.
///
/// # Errors
/// When the system is out of processes or file descriptors.
pub fn start(server: &Server, namespace: Option<&Namespace>) -> io::Result<Started> {
    let (report, report_end) = nix::unistd::pipe2(OFlag::O_CLOEXEC)?;
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("harbor-runner")
        .args(launcher::arguments(report_end.as_raw_fd(), namespace, server))
        .env_clear()
        .envs(server.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    fcntl(report_end.as_fd(), FcntlArg::F_SETFD(FdFlag::empty()))?;
    let child = command.spawn();
    drop(report_end);
    let mut child = child?;
    let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
    Ok(Started {
        pid: child.id(),
        stdin: pipe::Sender::from_owned_fd(OwnedFd::from(child.stdin.take().ok_or_else(missing)?))?,
        stdout: receiver(child.stdout.take().map(OwnedFd::from).ok_or_else(missing)?)?,
        stderr: receiver(child.stderr.take().map(OwnedFd::from).ok_or_else(missing)?)?,
        report: receiver(report)?,
    })
}

fn receiver(fd: OwnedFd) -> io::Result<pipe::Receiver> {
    pipe::Receiver::from_owned_fd(fd)
}
