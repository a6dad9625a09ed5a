//! PID 1 of a runner's namespace.
//!
//! It first does all that may be refused, and reports. Then it only waits. Each byte from the runner asks it to end
//! everything inside; the end of the socket asks it to end. It reaps by ignoring SIGCHLD. It needs no handlers: the kernel
//! keeps all signals without a handler from PID 1, except its own SIGKILL. Must never return, and must hold nothing that its
//! servers could be interested in.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns};
use nix::sys::prctl;
use nix::sys::signal::{SigHandler, Signal, kill, signal};
use nix::sys::wait::wait;
use nix::unistd::{Pid, chdir};

use super::report::{Owner, READY, REFUSED, told};
use crate::caps;
use crate::user_maps::write_maps;

/// Init's `main`.
pub(super) fn run(owner: Owner, control: &UnixStream) -> ! {
    match prepare(owner, control) {
        Ok(()) => serve(control),
        Err(why) => say(control, &[&[REFUSED], why.as_bytes()].concat()),
    }
    // SAFETY: ends this process without running what the original of this copy has registered for its own end.
    #[allow(unsafe_code)]
    unsafe {
        libc::_exit(0)
    }
}

/// Closes everything else that it inherited.
fn keep_only(control: &UnixStream) -> nix::Result<()> {
    let kept = control.as_raw_fd().unsigned_abs();
    let before = kept.checked_sub(1).map_or(Ok(()), |last| close_range(0, last));
    before.and(close_range(kept + 1, libc::c_uint::MAX))
}

fn close_range(first: libc::c_uint, last: libc::c_uint) -> nix::Result<()> {
    let flags: libc::c_uint = 0;
    // SAFETY: closes descriptors whose owners are never used or dropped in this copy of the process: it does not
    // return to them.
    #[allow(unsafe_code)]
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    Errno::result(result).map(drop)
}

fn prepare(owner: Owner, control: &UnixStream) -> Result<(), String> {
    if Pid::this().as_raw() != 1 {
        // What follows would change the mounts of others.
        return Err("make the namespaces: init is not the first process".into());
    }
    keep_only(control).map_err(told("close what init inherited"))?;
    if !owner.is_root() {
        write_maps(owner.user.as_raw(), owner.group.as_raw()).map_err(told("map the user"))?;
    }
    own_proc().map_err(told("mount /proc"))?;
    try_to_enter_mounts().map_err(told("enter the mounts"))?;
    if !owner.is_root() {
        // What the runner will do for its launchers, to find out whether it can.
        caps::hand_on().map_err(told("hand on capabilities"))?;
        caps::give_up().map_err(told("give up capabilities"))?;
    }
    // SAFETY: sets a disposition that the system knows; no handler function is involved.
    #[allow(unsafe_code)]
    unsafe { signal(Signal::SIGCHLD, SigHandler::SigIgn) }.map_err(told("ignore SIGCHLD"))?;
    let _ = prctl::set_name(c"harbor-init");
    // Last, since a change of rights may cancel it. A runner that has ended before shows by the socket's end.
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(told("ask for the parent-death signal"))
}

/// Has `/proc` show this namespace. Later mounts outside must be seen here too, but not the reverse.
fn own_proc() -> nix::Result<()> {
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, none)
}

/// Enters its own mounts as the launchers will do. That must lead nowhere else, but in a chroot it leads out of the chroot.
fn try_to_enter_mounts() -> io::Result<()> {
    let place = || fs::metadata("/").map(|root| (root.dev(), root.ino()));
    let before = place()?;
    setns(File::open("/proc/self/ns/mnt")?, CloneFlags::CLONE_NEWNS)?;
    if place()? != before {
        return Err(io::Error::other("the root directory has been changed"));
    }
    chdir("/")?;
    Ok(())
}

/// Does what the runner asks for, until the runner is gone.
fn serve(control: &UnixStream) {
    say(control, &[READY]);
    let mut joined = false;
    while hear(control) {
        if joined {
            end_all();
            say(control, &[READY]);
        } else {
            // From here on there are servers inside. None of them may reach into this process and have it outlive
            // its runner; before, the runner had to look into it.
            let _ = prctl::set_dumpable(false);
            joined = true;
        }
    }
}

/// Kills all processes by one signal, since nobody can start a process while it is sent. Their orphans become
/// children of this process, so no process is left once this one has no children.
fn end_all() {
    let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
    while !matches!(wait(), Err(Errno::ECHILD)) {}
}

/// Waits for a byte of the runner; false when the runner has ended.
fn hear(control: &UnixStream) -> bool {
    let mut byte = [0];
    loop {
        match nix::unistd::read(control, &mut byte) {
            Err(Errno::EINTR) => {}
            read => return read == Ok(1),
        }
    }
}

/// A runner that does not listen has ended.
fn say(control: &UnixStream, bytes: &[u8]) {
    let _ = nix::unistd::write(control, bytes);
}
