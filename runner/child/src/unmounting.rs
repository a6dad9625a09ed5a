//! Unmounts a disk in one server's mounts, after the person has unmounted it everywhere else.
//!
//! ```text
//!  runner ──posix_spawn──► harbor-runner unmount PARENT DEVICE…   the server's mounts come as standard input
//! ```
//!
//! Owns the process that does it: the runner itself has to stay in the person's mounts. Must never touch a mount of another
//! file system, and never wait for a server that keeps a file of the disk open.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt as _;

use nix::errno::Errno;
use nix::mount::{MntFlags, umount2};
use nix::sched::{CloneFlags, setns};
use nix::sys::signal::Signal;
use nix::unistd::syncfs;

use crate::mounted::{self, Mount};
use crate::own;

/// Linux's own number for "the user namespace that this one belongs to"; see ioctl_nsfs(2).
const NS_GET_USERNS: libc::Ioctl = 0xb701;

/// The program's `main`, with the arguments behind `unmount`. Returns its exit code.
#[must_use]
pub fn run(arguments: &[OsString]) -> i32 {
    let number = |text: &OsString| text.to_str().and_then(|text| text.parse().ok());
    let Some((Some(parent), devices)) = arguments.split_first().map(|(first, rest)| (number(first), rest))
    else {
        return 1;
    };
    let is_meant = |mount: &Mount| devices.iter().any(|device| *device == *mount.device);
    let done = enter(io::stdin()).map_err(io::Error::from).and_then(|()| {
        // A change of rights would have cancelled an earlier request.
        own::die_with_parent(parent, Signal::SIGKILL)?;
        unmount_all(is_meant)
    });
    i32::from(!matches!(done, Ok(true)))
}

/// The mounts may belong to a user namespace of the server's own.
fn enter(mounts: impl AsFd) -> nix::Result<()> {
    let mounts = mounts.as_fd();
    match setns(mounts, CloneFlags::CLONE_NEWNS) {
        Err(Errno::EPERM) => {
            setns(user_namespace_of(mounts)?, CloneFlags::CLONE_NEWUSER)?;
            setns(mounts, CloneFlags::CLONE_NEWNS)
        }
        entered => entered,
    }
}

fn user_namespace_of(namespace: impl AsFd) -> nix::Result<OwnedFd> {
    // SAFETY: takes a descriptor that is open, and no other argument.
    #[allow(unsafe_code)]
    let found = unsafe { libc::ioctl(namespace.as_fd().as_raw_fd(), NS_GET_USERNS) };
    let found: RawFd = Errno::result(found)?;
    // SAFETY: the kernel has just opened this descriptor for us; nobody else knows it.
    #[allow(unsafe_code)]
    let found = unsafe { OwnedFd::from_raw_fd(found) };
    Ok(found)
}

/// Unmounts one after the other until nothing more can be unmounted; true if nothing is left. One may take others with it.
fn unmount_all(is_meant: impl Fn(&Mount) -> bool) -> io::Result<bool> {
    loop {
        let mut mounts = mounted::all()?;
        mounts.retain(&is_meant);
        if mounts.is_empty() || !mounts.iter().rev().any(unmount) {
            return Ok(mounts.is_empty());
        }
    }
}

/// Unmounts. The disk then has all that the server wrote, even if the server keeps a file open.
fn unmount(mount: &Mount) -> bool {
    let opened = |flags| {
        let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        File::options().read(true).custom_flags(flags).open(&mount.point)
    };
    let Ok(place) = opened(libc::O_NONBLOCK).or_else(|_| opened(libc::O_PATH)) else { return false };
    let is_done = number_of(&place) == Some(mount.number)
        && umount2(&mount.point, MntFlags::MNT_DETACH | MntFlags::UMOUNT_NOFOLLOW).is_ok();
    if is_done {
        // Without the right to read there it is left to the kernel, which does it in its own time.
        let _ = syncfs(&place);
    }
    is_done
}

/// The id of the mount on which `place` was opened: the mount that its path leads to may lie on top of that one.
fn number_of(place: &File) -> Option<u64> {
    let about = fs::read_to_string(format!("/proc/self/fdinfo/{}", place.as_raw_fd())).ok()?;
    about.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim().parse().ok()
}
