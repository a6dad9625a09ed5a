//! Facts that a process tells the kernel about itself.
//!
//! Owns the few process-wide switches. The parent-death signal fires when the *thread* that started this
//! process ends, so parents start children from a thread that lives as long as they do.

use std::io;
use std::os::unix::process::parent_id;
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::sys::signal::Signal;

/// The soft limit of open files of this process before it raised the limit.
static FILES_BEFORE: OnceLock<rlim_t> = OnceLock::new();

/// Has the kernel send `signal` to this process when its parent ends, and makes sure that the parent is still
/// `expected`: it may have ended before the request was made. A parent outside of this process's PID namespace has
/// the number 0, before and after its end; there it is the namespace's end that takes this process along.
///
/// # Errors
/// When the parent is another process already.
pub fn die_with_parent(expected: u32, signal: Signal) -> io::Result<()> {
    prctl::set_pdeathsig(signal)?;
    if parent_id() == expected {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::NotFound, "the parent has ended"))
    }
}

/// Makes this process the parent of all descendants that lose theirs.
///
/// # Errors
/// When the kernel does not support it.
pub fn become_subreaper() -> io::Result<()> {
    Ok(prctl::set_child_subreaper(true)?)
}

/// Keeps other processes of the same user from reading this one: its memory, environment and open files.
///
/// # Errors
/// When the kernel does not support it.
pub fn not_dumpable() -> io::Result<()> {
    Ok(prctl::set_dumpable(false)?)
}

/// Sets the name by which ps and top call this process. Started from a descriptor, it would bear the descriptor's number.
pub fn be_called(name: &std::ffi::CStr) {
    // A name is for people only.
    let _ = prctl::set_name(name);
}

/// Makes this thread, and what it starts, at least so nice to others; 0 to 19.
pub fn be_nice(asked: u8) {
    let this: libc::c_long = 0;
    let which = libc::c_long::from(libc::PRIO_PROCESS);
    // SAFETY: asks for a number of this thread. The call itself, unlike the function around it, answers 20 minus the niceness,
    // so that negative answers are errors only.
    #[allow(unsafe_code)]
    let answer = unsafe { libc::syscall(libc::SYS_getpriority, which, this) };
    let asked = libc::c_long::from(asked.min(19));
    if Errno::result(answer).is_ok_and(|answer| asked > 20 - answer) {
        // SAFETY: sets a number of this thread; no pointers are involved. It never fails for who gets nicer.
        #[allow(unsafe_code)]
        let _ = unsafe { libc::syscall(libc::SYS_setpriority, which, this, asked) };
    }
}

/// Closes what this process was started with besides its standard streams: a caller's open files do not
/// concern it or its children. Call it before this process opens anything.
///
/// # Errors
/// When it cannot be found out what is open.
pub fn close_inherited() -> io::Result<()> {
    let open: Vec<i32> = std::fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|fd| *fd > 2)
        .collect();
    for fd in open {
        // The descriptor of the listing itself is closed already.
        let _ = nix::unistd::close(fd);
    }
    Ok(())
}

/// Raises the limit of open files to the hard limit. Programs that this process starts inherit it: see [`files_as_before`].
///
/// # Errors
/// When the system refuses.
pub fn take_all_files() -> io::Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    // Only the first time counts.
    let _ = FILES_BEFORE.set(soft);
    Ok(())
}

/// How many files this process may have open.
#[must_use]
pub fn files() -> rlim_t {
    getrlimit(Resource::RLIMIT_NOFILE).map_or(rlim_t::MAX, |(soft, _)| soft)
}

/// Gives a process that was started from here the soft limit that this one had: programs that use select(2), or close all that
/// could be open, do badly with more. Before it starts others itself.
///
/// # Errors
/// When it has ended.
pub fn files_as_before(pid: u32) -> io::Result<()> {
    let Some(soft) = FILES_BEFORE.get() else { return Ok(()) };
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let limit = libc::rlimit64 { rlim_cur: (*soft).min(hard), rlim_max: hard };
    // SAFETY: reads one struct that is there for the whole call, and writes none.
    #[allow(unsafe_code)]
    let result = unsafe {
        libc::prlimit64(pid.cast_signed(), libc::RLIMIT_NOFILE, &raw const limit, std::ptr::null_mut())
    };
    Ok(Errno::result(result).map(drop)?)
}
