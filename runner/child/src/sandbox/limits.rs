//! Limits of what a server's processes use up, and how nice they are.
//!
//! Owns the limits that the kernel holds for each process. Must never raise one above what this process has,
//! and never lower its niceness: both would be more than the person's own session gives.

use std::{fs, io};

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::unistd::{Uid, getuid};

/// Limits for each process. An absent one leaves the limit that this process has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of data: heap, stacks of threads and private writable mappings. Not of address space, of which
    /// some runtimes reserve far more than they use.
    pub memory: Option<u64>,
    /// Processes and threads, all of them together.
    pub processes: Option<u64>,
    /// Open files.
    pub open_files: Option<u64>,
    /// Bytes of each file that is written. A write beyond fails with EFBIG: launchers ignore SIGXFSZ.
    pub file_size: Option<u64>,
    /// The niceness towards other programs, 0 to 19.
    pub nice: u8,
}

/// The most timers and queued signals of this user, or of the server if it has a user namespace of its own.
const TIMERS: u64 = 4096;

/// Holds this process, and all that it starts, to `limits`, without a way back: the soft limits are the hard ones. There are
/// no core dumps. The kernel counts processes. In a user namespace of the server's own it counts the server's (since Linux
/// 5.14). Otherwise it counts all of this user, so that as many are added as there are now. It does not count root's.
///
/// # Errors
/// When the kernel refuses a limit.
pub fn apply(limits: &Limits, own_user_namespace: bool) -> io::Result<()> {
    limit(Resource::RLIMIT_CORE, 0)?;
    if *limits != Limits::default() {
        limit(Resource::RLIMIT_SIGPENDING, TIMERS)?;
    }
    let each = [
        (Resource::RLIMIT_DATA, limits.memory),
        (Resource::RLIMIT_NOFILE, limits.open_files),
        (Resource::RLIMIT_FSIZE, limits.file_size),
    ];
    for (resource, most) in each {
        most.map_or(Ok(()), |most| limit(resource, most))?;
    }
    if let Some(processes) = limits.processes.filter(|_| !getuid().is_root()) {
        let others = if own_user_namespace { 0 } else { threads_of(getuid())? };
        limit(Resource::RLIMIT_NPROC, processes.saturating_add(others))?;
    }
    be_nice(limits.nice)?;
    Ok(())
}

/// Has the kernel end this process, and all that it starts, before programs of the person where the machine's memory ends. Before
/// anything is mounted: nothing in `/proc` can be written then.
pub fn go_first() {
    const SCORE: i32 = 500;
    const PATH: &str = "/proc/self/oom_score_adj";
    let present = fs::read_to_string(PATH).ok().and_then(|text| text.trim().parse::<i32>().ok());
    if present.is_some_and(|present| present < SCORE) {
        // Where it cannot be said a start is as good.
        let _ = fs::write(PATH, SCORE.to_string());
    }
}

/// Sets the requested limit, or the limit that this process has, if that is less.
fn limit(resource: Resource, most: rlim_t) -> nix::Result<()> {
    let (_, hard) = getrlimit(resource)?;
    let most = most.min(hard);
    setrlimit(resource, most, most)
}

/// Threads of all processes of this user, of those that can be seen.
fn threads_of(user: Uid) -> io::Result<u64> {
    let entries = fs::read_dir("/proc")?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    // Between the listing and this, some have ended.
    let texts = pids.filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/status")).ok());
    Ok(texts.map(|text| threads_in(&text, user)).fold(0, u64::saturating_add))
}

/// Threads of a process by its `status`. None if another user runs it.
fn threads_in(status: &str, user: Uid) -> u64 {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    if field("Uid:") == Some(user.as_raw().into()) { field("Threads:").unwrap_or(0) } else { 0 }
}

/// Makes this process at least as nice as asked.
fn be_nice(asked: u8) -> nix::Result<()> {
    let this: libc::c_long = 0;
    let which = libc::c_long::from(libc::PRIO_PROCESS);
    // SAFETY: asks for a number of this thread. The call itself, unlike the function around it, answers 20
    // minus the niceness, so that negative answers are errors only.
    #[allow(unsafe_code)]
    let answer = unsafe { libc::syscall(libc::SYS_getpriority, which, this) };
    let present = 20 - Errno::result(answer)?;
    let asked = libc::c_long::from(asked.min(19));
    if asked <= present {
        return Ok(());
    }
    // SAFETY: sets a number of this thread; no pointers are involved.
    #[allow(unsafe_code)]
    let result = unsafe { libc::syscall(libc::SYS_setpriority, which, this, asked) };
    Errno::result(result).map(drop)
}

#[cfg(test)]
mod tests;
