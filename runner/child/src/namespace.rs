//! A PID namespace for all that a runner starts: it ends with the runner, whatever its processes do.
//!
//! ```text
//!  runner ──clone(NEWPID, NEWNS; NEWUSER unless root)──► init: PID 1, with a /proc of its own
//!    │                                                      │ "it works", or why not
//!    └─ setns: what it starts from here on is inside ◄──────┘
//! ```
//!
//! The runner stays outside and so remains the parent of its servers, with the numbers and signals it knows.
//! The kernel kills everything inside when init ends, and init ends with the runner: by the parent-death signal,
//! or by the end of the socket between them. Nothing inside can take either away from it.
//!
//! The runner changes nothing about itself until init has done all that may be refused, so a refusal leaves it as it was.
//! Owns the namespace. Must be entered before there are threads: init is a copy of this process.

mod init;
mod report;

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, getegid, geteuid};

use self::report::{Owner, READY, REFUSED, told};
use crate::caps;

/// How the processes of a runner's servers are held together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Containment {
    /// A PID namespace: nothing gets out, and all of it ends with the runner.
    PidNamespace,
    /// A process group for each server, which a process can leave.
    ProcessGroup {
        /// The reason why there is no more than that.
        why: String,
    },
}

/// The namespace of this process's children.
#[derive(Debug)]
pub struct Namespace {
    /// The socket to init. Init ends when it is closed.
    control: UnixStream,
    mounts: File,
    init: u32,
}

/// The namespaces that init begins, besides a user namespace.
const KINDS: CloneFlags = CloneFlags::CLONE_NEWPID.union(CloneFlags::CLONE_NEWNS);

/// Puts all children that this process will start into a PID namespace, where the kernel allows it.
///
/// # Errors
/// When this process has entered the namespace but cannot start anything there: it must end.
pub fn enter() -> io::Result<(Containment, Option<Namespace>)> {
    let owner = Owner { user: geteuid(), group: getegid() };
    match begin(owner) {
        Ok(namespace) => {
            if !owner.is_root() {
                caps::hand_on()?;
            }
            Ok((Containment::PidNamespace, Some(namespace)))
        }
        Err(why) => Ok((Containment::ProcessGroup { why }, None)),
    }
}

/// Starts init and joins it. After an error this process is as it was before.
fn begin(owner: Owner) -> Result<Namespace, String> {
    let (control, end) = UnixStream::pair().map_err(told("make a socket pair"))?;
    let (pid, handle) = start_init(owner, &end).map_err(told("make the namespaces"))?;
    drop(end);
    let joined = join(owner, &control, pid, &handle);
    if joined.is_err() {
        let _ = kill(pid, Signal::SIGKILL);
        let _ = waitpid(pid, None);
    }
    Ok(Namespace { control, mounts: joined?, init: pid.as_raw().unsigned_abs() })
}

/// Starts init. In the parent, returns init's number and a handle to it. The child never returns from here.
fn start_init(owner: Owner, end: &UnixStream) -> nix::Result<(Pid, OwnedFd)> {
    let mut kinds = KINDS;
    if !owner.is_root() {
        kinds |= CloneFlags::CLONE_NEWUSER;
    }
    let mut handle: RawFd = -1;
    // SAFETY: a structure of numbers, of which zero means "nothing of the kind" for each.
    #[allow(unsafe_code)]
    let mut wanted: libc::clone_args = unsafe { std::mem::zeroed() };
    wanted.flags = u64::from((kinds.bits() | libc::CLONE_PIDFD).unsigned_abs());
    wanted.pidfd = (&raw mut handle) as u64;
    wanted.exit_signal = u64::from(libc::SIGCHLD.unsigned_abs());
    // SAFETY: as fork(2): the child goes on with a copy of this memory, and there is no other thread whose locks
    // it could find taken. The kernel writes the handle into `handle`, which lives until then.
    #[allow(unsafe_code)]
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw mut wanted, size_of_val(&wanted)) };
    let pid = Errno::result(pid)?;
    if pid == 0 {
        init::run(owner, end);
    }
    // SAFETY: the kernel has just opened this descriptor for us; nobody else knows it.
    #[allow(unsafe_code)]
    let handle = unsafe { OwnedFd::from_raw_fd(handle) };
    Ok((Pid::from_raw(i32::try_from(pid).map_err(|_| Errno::EOVERFLOW)?), handle))
}

/// Waits for init's report and enters its namespaces, except the mount namespace, since this process keeps
/// using the /proc that it knows. Returns the mount namespace for the launchers.
fn join(owner: Owner, mut control: &UnixStream, pid: Pid, handle: &OwnedFd) -> Result<File, String> {
    read_report(control)?;
    let mounts = File::open(format!("/proc/{pid}/ns/mnt")).map_err(told("find the mounts"))?;
    // The launchers inherit it; this process starts nothing else.
    fcntl(&mounts, FcntlArg::F_SETFD(FdFlag::empty())).map_err(told("hand on the mounts"))?;
    let mut kinds = CloneFlags::CLONE_NEWPID;
    if !owner.is_root() {
        kinds |= CloneFlags::CLONE_NEWUSER;
    }
    setns(handle, kinds).map_err(told("enter the namespaces"))?;
    // An init that cannot hear this is dead, and its namespace takes no processes: the first start will say so.
    let _ = control.write_all(&[READY]);
    Ok(mounts)
}

fn read_report(mut control: &UnixStream) -> Result<(), String> {
    let mut first = [REFUSED];
    control.read_exact(&mut first).map_err(told("hear of init"))?;
    if first == [READY] {
        return Ok(());
    }
    let mut why = String::new();
    control.read_to_string(&mut why).map_err(told("hear of init"))?;
    Err(why)
}

impl Namespace {
    /// The mount namespace with the right /proc, which launchers inherit.
    pub(crate) fn mounts(&self) -> RawFd {
        self.mounts.as_raw_fd()
    }

    /// The process that gets what has lost its parent inside.
    #[must_use]
    pub fn init(&self) -> u32 {
        self.init
    }

    /// Kills everything inside, except init; returns whether it is gone within `limit`.
    pub async fn end_all(&self, limit: Duration) -> bool {
        tokio::time::timeout(limit, self.ask_to_end_all()).await.is_ok()
    }

    /// Errors mean that init has ended, and everything inside with it.
    async fn ask_to_end_all(&self) -> Option<()> {
        let mut control = self.control.try_clone().ok()?;
        control.set_nonblocking(true).ok()?;
        // Before the runtime has it, which would first wait to hear that it can be written to.
        control.write_all(&[READY]).ok()?;
        let control = tokio::net::UnixStream::from_std(control).ok()?;
        let mut answer = [0];
        loop {
            control.readable().await.ok()?;
            match control.try_read(&mut answer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                _ => return Some(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn init_says_whether_it_is_ready_and_why_not() {
        let report = |bytes: &[u8]| {
            let (control, mut end) = UnixStream::pair().unwrap();
            end.write_all(bytes).unwrap();
            drop(end);
            read_report(&control)
        };
        assert_eq!(report(&[READY]), Ok(()));
        assert_eq!(report(b"-mount /proc: no"), Err("mount /proc: no".to_owned()));
        assert!(report(b"").unwrap_err().starts_with("hear of init: "));
    }

    #[test]
    fn an_init_that_is_gone_has_left_nothing() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (control, end) = UnixStream::pair().unwrap();
            let namespace = Namespace { control, mounts: File::open("/dev/null").unwrap(), init: 0 };
            assert!(!namespace.end_all(Duration::from_millis(20)).await, "it hears, but does not answer");
            drop(end);
            assert!(namespace.end_all(Duration::from_secs(20)).await);
        });
    }
}
