//! The steps of a freshly started process before it becomes a server.
//!
//! ```text
//!  parent-death signal ─► session of its own ─► control group ─► runner's mounts ─► own namespaces ─► limits ─► directory
//!    ─► capabilities ─► parent-death signal again ─► default signals ─► Landlock ─► seccomp ─► execve
//! ```
//! It hands over what it opens for its runner as soon as it is there: the egress proxy's socket, the server's mounts, and where the
//! runner hears of calls.
//!
//! Runs in the process `harbor-runner exec`. Owns the order of those steps. Must never write to the standard streams: they
//! belong to the server already. Must never go on after a step that failed.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::{execve, geteuid};

use crate::instructions::{NONE, split};
use crate::sandbox::{Profile, landlock, limits, namespaces, network::Network, seccomp};
use crate::{caps, cgroup, own, passing};

/// The most bytes of a reported failure.
pub(crate) const REPORT_SIZE: usize = 512;

/// The marks that accompany a handed-over descriptor. No failure begins with one of these.
pub(crate) const EGRESS: u8 = 0xff;
pub(crate) const CALLS: u8 = 0xfe;
pub(crate) const MOUNTS: u8 = 0xfd;

/// Exit code of a launcher that could not become the server.
const FAILED: i32 = 127;

/// A step of the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The arguments were not ours, or the parent had ended.
    Begin,
    /// Leading a session.
    Session,
    /// Entering the mounts of the runner's namespace.
    Namespace,
    /// Confining the process.
    Sandbox,
    /// Entering the working directory.
    Directory,
    /// Becoming the program.
    Execute,
}

impl Step {
    const ALL: [Self; 6] =
        [Self::Begin, Self::Session, Self::Namespace, Self::Sandbox, Self::Directory, Self::Execute];
}

/// The reason why a launch failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The step that failed.
    pub step: Step,
    /// The operating system's error number; 0 where there is none.
    pub errno: i32,
    /// The part of the step, in words, if the step has several.
    pub what: String,
}

impl Failure {
    fn at<E: Into<io::Error>>(step: Step) -> impl Fn(E) -> Self {
        move |error| {
            let error = error.into();
            Self { step, errno: error.raw_os_error().unwrap_or(0), what: error.to_string() }
        }
    }

    /// None when there was none: the launcher has become the server.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (step, rest) = bytes.split_first()?;
        let (errno, what) = rest.split_first_chunk()?;
        let step = Step::ALL.get(usize::from(*step)).copied().unwrap_or(Step::Begin);
        let what = String::from_utf8_lossy(what).into_owned();
        Some(Self { step, errno: i32::from_le_bytes(*errno), what })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.step as u8];
        bytes.extend(self.errno.to_le_bytes());
        bytes.extend(self.what.as_bytes());
        bytes.truncate(REPORT_SIZE);
        bytes
    }
}

/// The launcher's `main`: becomes the server that `arguments` (without the leading `exec`) name, or reports
/// why not. `decode` reads a profile. Returns the exit code in the latter case.
#[must_use]
pub fn run(arguments: &[OsString], decode: impl FnOnce(&[u8]) -> Option<Profile>) -> i32 {
    let [parent, report, profile, mounts, group, cwd, command @ ..] = arguments else { return FAILED };
    let number = |text: &OsStr| text.to_str().and_then(|text| text.parse::<i32>().ok()).filter(|n| *n >= 0);
    let (Some(parent), Some(report), Some(profile)) = (number(parent), number(report), number(profile))
    else {
        return FAILED;
    };
    // SAFETY: the parent made these descriptors inheritable for us alone and told us their numbers; nothing else in this
    // process knows them.
    #[allow(unsafe_code)]
    let (report, profile, mounts) = unsafe {
        let owned = |number| OwnedFd::from_raw_fd(number);
        (UnixStream::from(owned(report)), File::from(owned(profile)), number(mounts).map(owned))
    };
    let group = Some(Path::new(group)).filter(|group| *group != Path::new(NONE));
    let launch = Launch { parent: parent.unsigned_abs(), report: &report, mounts, group, cwd, command };
    let begin = |errno: Errno| Failure::at(Step::Begin)(errno);
    let result = read_all(profile).map_err(Failure::at(Step::Begin)).and_then(|bytes| {
        let (profile, env) = split(&bytes).ok_or_else(|| begin(Errno::EBADMSG))?;
        let profile = decode(profile).ok_or_else(|| begin(Errno::EBADMSG))?;
        launch.perform(&profile, &env)
    });
    let Err(failure) = result;
    let _ = (&report).write_all(&failure.to_bytes());
    FAILED
}

fn read_all(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

struct Launch<'a> {
    parent: u32,
    report: &'a UnixStream,
    mounts: Option<OwnedFd>,
    group: Option<&'a Path>,
    cwd: &'a OsStr,
    command: &'a [OsString],
}

impl Launch<'_> {
    fn perform(&self, profile: &Profile, env: &[CString]) -> Result<std::convert::Infallible, Failure> {
        let at = Failure::at::<io::Error>;
        fcntl(self.report, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).map_err(Failure::at(Step::Begin))?;
        own::die_with_parent(self.parent, Signal::SIGKILL).map_err(at(Step::Begin))?;
        nix::unistd::setsid().map_err(Failure::at(Step::Session))?;
        if profile.limits != limits::Limits::default() {
            limits::go_first();
        }
        if let Some(group) = self.group {
            cgroup::enter(group).map_err(at(Step::Sandbox))?;
        }
        if let Some(mounts) = &self.mounts {
            enter(mounts).map_err(Failure::at(Step::Namespace))?;
        }
        let in_user_namespace = self.isolate(profile).map_err(at(Step::Sandbox))?;
        limits::apply(&profile.limits, in_user_namespace).map_err(at(Step::Sandbox))?;
        nix::unistd::chdir(self.cwd).map_err(Failure::at(Step::Directory))?;
        give_up_rights(profile).map_err(Failure::at(Step::Sandbox))?;
        // A change of rights cancels the request.
        own::die_with_parent(self.parent, Signal::SIGKILL).map_err(at(Step::Begin))?;
        set_signals(profile).map_err(Failure::at(Step::Execute))?;
        let words = c_strings(self.command).map_err(at(Step::Execute))?;
        let program = words.first().ok_or_else(|| Failure::at(Step::Execute)(Errno::EINVAL))?;
        self.hold(profile).map_err(at(Step::Sandbox))?;
        become_program(program, &words, env).map_err(Failure::at(Step::Execute))
    }

    /// Enters the server's own namespaces. True if there is a user namespace around it.
    fn isolate(&self, profile: &Profile) -> io::Result<bool> {
        let inside = self.mounts.is_some() && !geteuid().is_root();
        let (socket, in_user_namespace) = namespaces::enter(profile, inside)?;
        if let Some(socket) = socket {
            passing::send(self.report, EGRESS, &socket)?;
        }
        if profile.mounts.is_some() {
            passing::send(self.report, MOUNTS, File::open("/proc/self/ns/mnt")?)?;
        }
        Ok(in_user_namespace)
    }

    /// From here on the kernel holds this process to its profile.
    fn hold(&self, profile: &Profile) -> io::Result<()> {
        if profile.landlock > 0 {
            let may_bind = profile.network != Network::Outgoing;
            landlock::restrict(profile.landlock, &profile.rules, may_bind)?;
        }
        let Some(filter) = &profile.filter else { return Ok(()) };
        seccomp::install(filter)?.map_or(Ok(()), |calls| passing::send(self.report, CALLS, &calls))
    }
}

/// Has `/proc` show the processes of the namespace.
fn enter(mounts: &OwnedFd) -> nix::Result<()> {
    fcntl(mounts, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    setns(mounts, CloneFlags::CLONE_NEWNS)
}

/// Gives up the rights that were needed to get here. Root's servers keep the rights of ordinary programs; all
/// others had none before there was a user namespace.
fn give_up_rights(profile: &Profile) -> nix::Result<()> {
    match geteuid().is_root() {
        false => caps::give_up(),
        true if profile.fewer_capabilities => caps::keep_ordinary(),
        true => Ok(()),
    }
}

/// Works as execvpe(3) does, which looks into the caller's PATH and not into the PATH that is handed on.
fn become_program(
    program: &CStr,
    words: &[CString],
    env: &[CString],
) -> nix::Result<std::convert::Infallible> {
    if program.to_bytes().contains(&b'/') {
        return execve(program, words, env);
    }
    let path = env.iter().find_map(|variable| variable.to_bytes().strip_prefix(b"PATH=")).unwrap_or_default();
    let mut failure = Errno::ENOENT;
    for directory in path.split(|byte| *byte == b':').filter(|directory| !directory.is_empty()) {
        let candidate = [directory, b"/", program.to_bytes()].concat();
        let Ok(candidate) = CString::new(candidate) else { continue };
        let Err(error) = execve(&candidate, words, env);
        match error {
            Errno::ENOENT | Errno::ENOTDIR => {}
            // Somewhere else there may be one that can be run.
            Errno::EACCES => failure = error,
            other => return Err(other),
        }
    }
    Err(failure)
}

fn c_strings(words: &[OsString]) -> io::Result<Vec<CString>> {
    words.iter().map(|word| CString::new(word.as_bytes()).map_err(io::Error::other)).collect()
}

/// Rust ignores SIGPIPE, and an ignored signal stays ignored across execve: servers expect the default. A
/// write beyond the limit for files must fail, and must not end the server.
fn set_signals(profile: &Profile) -> nix::Result<()> {
    // SAFETY: sets dispositions that the system knows; no handler function is involved.
    #[allow(unsafe_code)]
    unsafe {
        signal(Signal::SIGPIPE, SigHandler::SigDfl)?;
        if profile.limits.file_size.is_some() {
            signal(Signal::SIGXFSZ, SigHandler::SigIgn)?;
        }
    }
    Ok(())
}
