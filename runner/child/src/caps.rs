//! The capabilities that a launcher needs inside its runner's user namespace, to enter the mounts there and to make a
//! server's own mounts and network; and those that root's servers keep.
//!
//! An ordinary user has the former inside a user namespace only. An ordinary program loses them at execve unless they are
//! handed on as ambient ones. Owns handing them on and giving capabilities up. Must never be asked to gain any.

use nix::errno::Errno;

const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_CHROOT: u32 = 18;
const CAP_SYS_ADMIN: u32 = 21;

/// Capabilities that programs started by root may count on: other users' files and processes, other users' names, low ports.
/// Not those that reach the machine: its mounts, network, devices, modules, clock, and the memory of all processes.
const ORDINARY: u32 = 1 << 0 // CHOWN
    | 1 << 1 // DAC_OVERRIDE
    | 1 << 3 // FOWNER
    | 1 << 4 // FSETID
    | 1 << 5 // KILL
    | 1 << 6 // SETGID
    | 1 << 7 // SETUID
    | 1 << 10; // NET_BIND_SERVICE

/// Version 3 of the interface: two words for each set.
const VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

const OF_LAUNCHERS: [u32; 3] = [CAP_NET_ADMIN, CAP_SYS_CHROOT, CAP_SYS_ADMIN];

/// Gives up all capabilities but these, and has the programs that this process starts inherit them.
pub(crate) fn hand_on() -> nix::Result<()> {
    let kept = OF_LAUNCHERS.iter().fold(0, |kept, capability| kept | 1 << capability);
    set([Sets { effective: 0, permitted: kept, inheritable: kept }, Sets::default()])?;
    OF_LAUNCHERS.iter().try_for_each(|capability| ambient(libc::PR_CAP_AMBIENT_RAISE, *capability))
}

/// Gives up all capabilities for good.
pub(crate) fn give_up() -> nix::Result<()> {
    ambient(libc::PR_CAP_AMBIENT_CLEAR_ALL, 0)?;
    set(<[Sets; 2]>::default())
}

/// Gives up, for good, all capabilities of root but those of ordinary programs. Missing capabilities stay missing.
///
/// Where the right to change the bound is missing (a container may have taken it), the bound stays as it is.
/// With `no_new_privs`, which launchers set afterwards, the bound gives a program no capability that this
/// thread lacks.
pub(crate) fn keep_ordinary() -> nix::Result<()> {
    unbind()?;
    // What is ambient follows what is permitted and inheritable.
    let [low, _] = get()?;
    let kept = Sets {
        effective: low.effective & ORDINARY,
        permitted: low.permitted & ORDINARY,
        inheritable: low.inheritable & ORDINARY,
    };
    set([kept, Sets::default()])
}

/// Takes everything else from the bound of what a program can get at execve.
fn unbind() -> nix::Result<()> {
    for capability in (0..u64::BITS).filter(|capability| u64::from(ORDINARY) & (1 << capability) == 0) {
        match bound(libc::PR_CAPBSET_READ, capability) {
            // The kernel knows no such capability, and none above it.
            Err(Errno::EINVAL) => break,
            Ok(0) => {}
            _ => match bound(libc::PR_CAPBSET_DROP, capability) {
                Err(Errno::EPERM) => break,
                result => drop(result?),
            },
        }
    }
    Ok(())
}

fn bound(what: libc::c_int, capability: u32) -> nix::Result<libc::c_int> {
    let capability = libc::c_ulong::from(capability);
    let none: libc::c_ulong = 0;
    // SAFETY: reads or changes a set of this thread; no pointers are involved, and all five arguments are of
    // full width.
    #[allow(unsafe_code)]
    let result = unsafe { libc::prctl(what, capability, none, none, none) };
    Errno::result(result)
}

fn get() -> nix::Result<[Sets; 2]> {
    let mut header = Header { version: VERSION, pid: 0 };
    let mut sets = <[Sets; 2]>::default();
    // SAFETY: both pointers are to live values of the layout that version 3 demands; pid 0 is this thread.
    #[allow(unsafe_code)]
    let result = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()) };
    Errno::result(result).map(|_| sets)
}

fn set(sets: [Sets; 2]) -> nix::Result<()> {
    let header = Header { version: VERSION, pid: 0 };
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

#[cfg(test)]
mod tests {
    use super::*;
    use nix::unistd::geteuid;
    use std::fs;

    const CAP_SETPCAP: u32 = 8;

    /// The sets of this thread, as /proc tells them: inheritable, permitted, effective, bound, ambient.
    fn sets() -> [u64; 5] {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"].map(|name| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            u64::from_str_radix(line.trim(), 16).unwrap()
        })
    }

    /// The capability sets after `what` has changed them, in a thread of its own: capabilities belong to a thread.
    fn after(what: impl FnOnce() + Send) -> [u64; 5] {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                what();
                sets()
            });
            thread.join().unwrap()
        })
    }

    #[test]
    fn nothing_but_the_ordinary_ones_is_kept_and_none_is_gained() {
        let before = sets();
        let after = after(|| keep_ordinary().unwrap());
        let may_change_the_bound = before[2] & (1 << CAP_SETPCAP) != 0;
        let mut expected = before.map(|set| set & u64::from(ORDINARY));
        if !may_change_the_bound {
            expected[3] = before[3];
        }
        assert_eq!(after, expected);
        assert!(!geteuid().is_root() || after != before, "root had more than that");
        assert_eq!(sets(), before, "this thread has what it had");
    }

    #[test]
    fn inheritable_and_ambient_ones_go_too_and_missing_ones_stay_missing() {
        if !geteuid().is_root() {
            return;
        }
        let chown = 1;
        let after = after(|| {
            let [low, high] = get().unwrap();
            // As a container that has taken the right to change the bound, and one of the ordinary ones.
            let permitted = low.permitted & !(1 << CAP_SETPCAP) & !chown;
            let inheritable = 1 << CAP_SYS_ADMIN;
            set([Sets { effective: permitted, permitted, inheritable }, high]).unwrap();
            ambient(libc::PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN).unwrap();
            keep_ordinary().unwrap();
        });
        let kept = u64::from(ORDINARY & !chown);
        assert_eq!(after, [0, kept, kept, sets()[3], 0]);
    }

    #[test]
    fn a_program_that_is_started_afterwards_gets_no_more() {
        if !geteuid().is_root() {
            return;
        }
        let mut status = String::new();
        after(|| {
            keep_ordinary().unwrap();
            let output = std::process::Command::new("cat").arg("/proc/self/status").output().unwrap();
            status = String::from_utf8(output.stdout).unwrap();
        });
        let ordinary =
            format!("CapPrm:\t{ORDINARY:016x}\nCapEff:\t{ORDINARY:016x}\nCapBnd:\t{ORDINARY:016x}\n");
        assert!(status.contains(&ordinary), "{status}");
    }
}
