//! The two capabilities that a launcher needs to enter its runner's mount namespace.
//!
//! An ordinary user has them inside a user namespace only, and an ordinary program loses them at execve unless
//! they are handed on as ambient ones. Owns handing them on and giving them up. Must never be asked to gain any.

use nix::errno::Errno;

const CAP_SYS_CHROOT: u32 = 18;
const CAP_SYS_ADMIN: u32 = 21;

/// Version 3 of the interface: two words for each set.
const VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Gives up all capabilities but these two, and has the programs that this process starts inherit them.
pub(crate) fn hand_on() -> nix::Result<()> {
    let two = (1 << CAP_SYS_CHROOT) | (1 << CAP_SYS_ADMIN);
    set(Sets { effective: 0, permitted: two, inheritable: two })?;
    ambient(libc::PR_CAP_AMBIENT_RAISE, CAP_SYS_CHROOT)?;
    ambient(libc::PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN)
}

/// Gives up all capabilities for good.
pub(crate) fn give_up() -> nix::Result<()> {
    ambient(libc::PR_CAP_AMBIENT_CLEAR_ALL, 0)?;
    set(Sets::default())
}

fn set(low: Sets) -> nix::Result<()> {
    let header = Header { version: VERSION, pid: 0 };
    let sets = [low, Sets::default()];
    // SAFETY: both pointers are to live values of the layout that version 3 demands; pid 0 is this thread.
    #[allow(unsafe_code)]
    let result = unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) };
    Errno::result(result).map(drop)
}

fn ambient(what: libc::c_int, capability: u32) -> nix::Result<()> {
    let capability = libc::c_ulong::from(capability);
    let none: libc::c_ulong = 0;
    // SAFETY: changes a set of this thread; no pointers are involved, and all five arguments are of full width.
    #[allow(unsafe_code)]
    let result = unsafe { libc::prctl(libc::PR_CAP_AMBIENT, what as libc::c_ulong, capability, none, none) };
    Errno::result(result).map(drop)
}
