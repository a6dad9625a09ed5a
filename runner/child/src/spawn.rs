//! Starting a server: this executable again, as its own launcher.
//!
//! ```text
//!  runner ──posix_spawn──► harbor-runner exec ──(see launcher)──► execve(server)
//!     ──► profile and environment, in a file without a name
//!     ◄── report: what is handed over, where there is any; closes by itself on success, carries a failure
//! ```
//!
//! posix_spawn does not copy the parent's page tables, so a start costs the same whatever the parent's size.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use tokio::io::Interest;
use tokio::net::{UnixStream, unix::pipe};

use crate::instructions::{Inherited, Server, arguments, instructions};
use crate::launcher::{CALLS, Failure, MOUNTS, REPORT_SIZE};
use crate::mounted::Disk;
use crate::namespace::Namespace;
use crate::passing;

/// This executable, wherever it lies, and the name that it is started by.
const OWN_PROGRAM: &str = "/proc/self/exe";
const OWN_NAME: &str = "harbor-runner";

/// A process that was started, and its pipes.
#[derive(Debug)]
pub struct Started {
    /// Its process id; it leads a session and a process group of this number.
    pub pid: u32,
    /// The pipe to its standard input.
    pub stdin: pipe::Sender,
    /// The pipe from its standard output.
    pub stdout: pipe::Receiver,
    /// The pipe from its standard error.
    pub stderr: pipe::Receiver,
    report: UnixStream,
}

impl Started {
    /// Waits until the launcher has become the server.
    ///
    /// # Errors
    /// The step that failed, and why.
    pub async fn executed(&self) -> Result<HandedOver, Failure> {
        report_of(&self.report).await
    }
}

/// The descriptors that a launcher has opened for its runner.
#[derive(Debug, Default)]
pub struct HandedOver {
    /// The socket of the server's egress proxy.
    pub egress: Option<OwnedFd>,
    /// The descriptor that reports the server's calls that wait for an answer.
    pub calls: Option<OwnedFd>,
    /// The server's own mount namespace. It lasts as long as somebody has this.
    pub mounts: Option<OwnedFd>,
}

/// Starts `server`, in the namespace where there is one. Call it from a thread that lives as long as the process, and
/// where no other thread starts processes: report and profile are inheritable for a moment.
///
/// # Errors
/// When the system is out of processes or file descriptors.
pub fn start(server: &Server, namespace: Option<&Namespace>) -> io::Result<Started> {
    let (mut child, report) = launch(server, namespace, Stdio::piped(), Stdio::piped())?;
    Ok(Started {
        pid: child.id(),
        stdin: pipe::Sender::from_owned_fd(OwnedFd::from(child.stdin.take().ok_or_else(missing)?))?,
        stdout: receiver(child.stdout.take())?,
        stderr: receiver(child.stderr.take())?,
        report,
    })
}

/// A helper of a server that was started, with its output.
#[derive(Debug)]
pub struct Helper {
    /// Its process id; it leads a session and a process group of this number.
    pub pid: u32,
    /// The pipe from its standard error.
    pub stderr: pipe::Receiver,
    report: UnixStream,
}

impl Helper {
    /// As [`Started::executed`].
    ///
    /// # Errors
    /// The step that failed, and why.
    pub async fn executed(&self) -> Result<(), Failure> {
        report_of(&self.report).await.map(drop)
    }
}

/// As [`start`], for a program that has `stdin` for its standard input and nothing to say on its standard output.
///
/// # Errors
/// As there.
pub fn start_helper(server: &Server, stdin: OwnedFd, namespace: Option<&Namespace>) -> io::Result<Helper> {
    let (mut child, report) = launch(server, namespace, stdin.into(), Stdio::null())?;
    Ok(Helper { pid: child.id(), stderr: receiver(child.stderr.take())?, report })
}

/// Starts the program that unmounts `disks` in a server's `mounts`; its process id. See [`unmounting`](crate::unmounting).
///
/// # Errors
/// As [`start`].
pub fn start_unmounting(mounts: OwnedFd, disks: &[Disk], namespace: Option<&Namespace>) -> io::Result<u32> {
    // In a PID namespace nobody's parent is to be seen.
    let parent = namespace.map_or_else(std::process::id, |_| 0);
    let mut command = Command::new(OWN_PROGRAM);
    command.arg0(OWN_NAME).args(["unmount", &parent.to_string()]).args(disks.iter().map(|disk| &disk.device));
    command.env_clear().stdin(mounts).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.spawn()?.id())
}

fn launch(
    server: &Server,
    namespace: Option<&Namespace>,
    stdin: Stdio,
    stdout: Stdio,
) -> io::Result<(Child, UnixStream)> {
    let (report, report_end) = Socket::pair()?;
    report.set_nonblocking(true)?;
    let report = UnixStream::from_std(report)?;
    let profile = unnamed(&instructions(server))?;
    let inherited = Inherited {
        report: report_end.as_raw_fd(),
        profile: profile.as_raw_fd(),
        mounts: namespace.map(Namespace::mounts),
    };
    let mut command = Command::new(OWN_PROGRAM);
    command
        .arg0(OWN_NAME)
        .args(arguments(&inherited, server))
        .env_clear()
        .stdin(stdin)
        .stdout(stdout)
        .stderr(Stdio::piped());
    for handed_on in [report_end.as_fd(), profile.as_fd()] {
        fcntl(handed_on, FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    Ok((command.spawn()?, report))
}

/// Reads a launcher's report: nothing, or descriptors that it hands over, or why it failed.
async fn report_of(report: &UnixStream) -> Result<HandedOver, Failure> {
    let (mut bytes, mut got, mut handed) = ([0; REPORT_SIZE], 0, HandedOver::default());
    while got < bytes.len() {
        let free = &mut bytes[got..];
        match report.async_io(Interest::READABLE, || passing::receive(report.as_fd(), free)).await {
            Ok((0, _)) | Err(_) => break,
            // A message with a descriptor is not read together with another one.
            Ok((_, Some(passed))) => match free.first() {
                Some(&CALLS) => handed.calls = Some(passed),
                Some(&MOUNTS) => handed.mounts = Some(passed),
                _ => handed.egress = Some(passed),
            },
            Ok((n, None)) => got += n,
        }
    }
    Failure::from_bytes(&bytes[..got]).map_or(Ok(handed), Err)
}

fn missing() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

/// A file in memory with this content, to be read from its beginning.
fn unnamed(content: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create(c"profile", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(content)?;
    file.rewind()?;
    Ok(file)
}

fn receiver(end: Option<impl Into<OwnedFd>>) -> io::Result<pipe::Receiver> {
    pipe::Receiver::from_owned_fd(end.ok_or_else(missing)?.into())
}
