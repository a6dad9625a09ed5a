//! seccomp: which system calls are refused, by a program that the kernel runs at each call.
//!
//! ```text
//!                   another instruction set? ─yes─► EPERM
//!                              │ no
//!                   a number of x32? ─────────yes─► EPERM           (x86_64 only)
//!                              │ no
//!  for each rule:   its number? ───────yes─► its cases, in order: do all tests on the arguments hold?
//!                              │ no                  │ none          └─yes─► the case's answer
//!                              ▼                     └─► the rule's answer
//!                            allow
//! ```
//!
//! A refused call fails (EPERM; ENOSYS where only that has a program try another one); nobody is killed; a few calls may
//! wait for their runner's answer (`sandbox::calls`). A call that no rule names is decided by number and instruction set
//! alone: the kernel remembers that (since Linux 5.11) and does not run the program for it again. `rules` has the refused
//! calls, and `program` turns them into the kernel's instructions. Owns handing these to the kernel. Must never refuse a
//! call that starting or ending a program takes.

mod filter;
mod program;
mod rules;

use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::sys::prctl;

pub use self::filter::{Filter, Listen};

/// True if this kernel runs seccomp programs.
#[must_use]
pub fn offered() -> bool {
    let action = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the kernel reads one number from the pointer, which lives until then, and changes nothing.
    #[allow(unsafe_code)]
    unsafe { seccomp(libc::SECCOMP_GET_ACTION_AVAIL, 0, (&raw const action).cast()) }.is_ok()
}

/// Refuses this thread, and all that it starts, the calls that no server needs and those that `filter` does
/// not allow. Sets `no_new_privs`, without which only root may filter. Returns the descriptor that reports
/// calls waiting for an answer, if there are any ([`Listen::Ask`]). Until it is read, they stay unanswered.
///
/// # Errors
/// When the kernel refuses.
pub fn install(filter: &Filter) -> io::Result<Option<OwnedFd>> {
    prctl::set_no_new_privs()?;
    let rules = rules::of(filter);
    if filter.listen != Listen::Ask {
        return hand_over(&rules, 0).map(|_| None);
    }
    let heard = hand_over(&rules, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)?;
    // SAFETY: with that flag the answer is a descriptor, which the kernel has just opened for us; nobody else knows it.
    #[allow(unsafe_code)]
    let heard = unsafe { OwnedFd::from_raw_fd(heard) };
    Ok(Some(heard))
}

fn hand_over(rules: &[program::SeccompRule], flags: libc::c_ulong) -> io::Result<RawFd> {
    let mut program = program::assemble(rules)?;
    let len = program.len().try_into().map_err(io::Error::other)?;
    let program = libc::sock_fprog { len, filter: program.as_mut_ptr() };
    // SAFETY: the kernel copies `len` instructions, which live until then.
    #[allow(unsafe_code)]
    let answer = unsafe { seccomp(libc::SECCOMP_SET_MODE_FILTER, flags, (&raw const program).cast()) };
    Ok(answer?)
}

/// Installs a program that refuses nothing, and of whose calls somebody could hear.
pub(super) fn try_asking() -> io::Result<()> {
    prctl::set_no_new_privs()?;
    hand_over(&[], libc::SECCOMP_FILTER_FLAG_NEW_LISTENER).map(drop)
}

/// # Safety
/// `argument` points to what `operation` reads.
#[allow(unsafe_code)]
unsafe fn seccomp(
    operation: libc::c_uint,
    flags: libc::c_ulong,
    argument: *const libc::c_void,
) -> nix::Result<RawFd> {
    // SAFETY: the caller's promise.
    let answer = Errno::result(unsafe { libc::syscall(libc::SYS_seccomp, operation, flags, argument) })?;
    RawFd::try_from(answer).map_err(|_| Errno::EOVERFLOW)
}

#[cfg(test)]
mod tests;
