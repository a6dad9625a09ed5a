//! What a freshly started process does before it becomes a server.
//!
//! ```text
//!  parent-death signal ─► session of its own ─► namespace's mounts ─► no core dumps ─► directory
//!    ─► default signals ─► execve
//! ```
//!
//! Runs in the process `harbor-runner exec`. Owns the order of those steps. Must never write to the standard
//! streams: they belong to the server already.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sched::{CloneFlags, setns};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::geteuid;

use crate::namespace::Namespace;
use crate::spawn::Server;
use crate::{caps, own};

/// Bytes of a failure report: the step, then the error number.
pub(crate) const REPORT_SIZE: usize = 5;

/// Exit code of a launcher that could not become the server.
const FAILED: i32 = 127;

/// A step of the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The arguments were not ours, or the parent had ended.
    Begin,
    /// Leading a session.
    Session,
    /// Entering the mounts of the namespace.
    Namespace,
    /// Setting limits.
    Limits,
    /// Entering the working directory.
    Directory,
    /// Becoming the program.
    Execute,
}

impl Step {
    const ALL: [Self; 6] =
        [Self::Begin, Self::Session, Self::Namespace, Self::Limits, Self::Directory, Self::Execute];
}

/// Why a launch failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// Where.
    pub step: Step,
    /// The operating system's error number.
    pub errno: i32,
}

impl Failure {
    pub(crate) fn from_bytes(bytes: [u8; REPORT_SIZE]) -> Self {
        let [step, errno @ ..] = bytes;
        let step = Step::ALL.get(usize::from(step)).copied().unwrap_or(Step::Begin);
        Self { step, errno: i32::from_le_bytes(errno) }
    }

    fn to_bytes(self) -> [u8; REPORT_SIZE] {
        let mut bytes = [0; REPORT_SIZE];
        bytes[0] = self.step as u8;
        bytes[1..].copy_from_slice(&self.errno.to_le_bytes());
        bytes
    }
}

/// The arguments with which the parent starts the launcher: `exec PARENT REPORT MOUNTS CWD COMMAND ARGS…`. PARENT
/// is 0 in a PID namespace, whose processes cannot see their runner; MOUNTS is `-` without one.
pub(crate) fn arguments(report: RawFd, namespace: Option<&Namespace>, server: &Server) -> Vec<OsString> {
    let parent = namespace.map_or_else(std::process::id, |_| 0);
    let mounts = namespace.map_or_else(|| "-".into(), |namespace| namespace.mounts().to_string());
    let mut arguments: Vec<OsString> =
        vec!["exec".into(), parent.to_string().into(), report.to_string().into(), mounts.into()];
    arguments.extend([server.cwd.clone(), server.command.clone()]);
    arguments.extend(server.args.iter().cloned());
    arguments
}

/// The launcher's `main`: becomes the server that `arguments` (without the leading `exec`) name, or reports
/// why not. Returns the exit code in the latter case.
#[must_use]
pub fn run(arguments: &[OsString]) -> i32 {
    let [parent, report, mounts, cwd, command @ ..] = arguments else { return FAILED };
    let number = |text: &OsStr| text.to_str().and_then(|text| text.parse::<i32>().ok()).filter(|n| *n >= 0);
    let (Some(parent), Some(report)) = (number(parent), number(report)) else { return FAILED };
    // SAFETY: the parent made these descriptors inheritable for us and told us their numbers; they stay open for
    // the rest of this process, since nothing here closes them.
    #[allow(unsafe_code)]
    let (report, mounts) = unsafe {
        (BorrowedFd::borrow_raw(report), number(mounts).map(|mounts| BorrowedFd::borrow_raw(mounts)))
    };
    let Err(failure) = launch(parent.unsigned_abs(), report, mounts, cwd, command);
    let _ = nix::unistd::write(report, &failure.to_bytes());
    FAILED
}

fn launch(
    parent: u32,
    report: BorrowedFd<'_>,
    mounts: Option<BorrowedFd<'_>>,
    cwd: &OsStr,
    command: &[OsString],
) -> Result<std::convert::Infallible, Failure> {
    let at = |step| move |errno: Errno| Failure { step, errno: errno as i32 };
    fcntl(report, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).map_err(at(Step::Begin))?;
    own::die_with_parent(parent, Signal::SIGKILL)
        .map_err(|_| Failure { step: Step::Begin, errno: Errno::ESRCH as i32 })?;
    nix::unistd::setsid().map_err(at(Step::Session))?;
    if let Some(mounts) = mounts {
        enter(mounts).map_err(at(Step::Namespace))?;
    }
    setrlimit(Resource::RLIMIT_CORE, 0, 0).map_err(at(Step::Limits))?;
    nix::unistd::chdir(cwd).map_err(at(Step::Directory))?;
    default_signals().map_err(at(Step::Execute))?;
    let words = c_strings(command).map_err(|_| at(Step::Execute)(Errno::EINVAL))?;
    let program = words.first().ok_or_else(|| at(Step::Execute)(Errno::EINVAL))?;
    nix::unistd::execvp(program, &words).map_err(at(Step::Execute))
}

/// Has `/proc` show the processes of the namespace, and gives up what that took.
fn enter(mounts: BorrowedFd<'_>) -> nix::Result<()> {
    fcntl(mounts, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    setns(mounts, CloneFlags::CLONE_NEWNS)?;
    // Root's servers keep root's rights; all others had none before the runner entered a user namespace.
    if geteuid().is_root() { Ok(()) } else { caps::give_up() }
}

fn c_strings(words: &[OsString]) -> io::Result<Vec<CString>> {
    words.iter().map(|word| CString::new(word.as_bytes()).map_err(io::Error::other)).collect()
}

/// Rust ignores SIGPIPE, and an ignored signal stays ignored across execve: servers expect the default.
fn default_signals() -> nix::Result<()> {
    // SAFETY: sets a disposition to the system's default; no handler function is involved.
    #[allow(unsafe_code)]
    unsafe {
        signal(Signal::SIGPIPE, SigHandler::SigDfl)?;
    }
    Ok(())
}
