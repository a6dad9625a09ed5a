//! A table of refused system calls, each with the reason why no server needs it or why it leads out.
//!
//! A call that is not named here is allowed: a new kernel's new call is still held by Landlock, namespaces and the missing
//! privileges. Owns the table. Must name the calls of both instruction sets; calls of x86_64 alone are in a list of their
//! own.

use libc::c_long;
use nix::errno::Errno;

use super::filter::{Filter, Listen};
use super::program::Answer::{Allow, Ask, Pretend, Refuse};
use super::program::{Case, SeccompRule, Test};

// What libc has no names for yet, or not on both instruction sets; these numbers are the same on both.
const SYS_FCHMODAT2: c_long = 452;
const SYS_SETXATTRAT: c_long = 463;
const SYS_REMOVEXATTRAT: c_long = 466;
const SYS_OPEN_TREE_ATTR: c_long = 467;
const SYS_FILE_SETATTR: c_long = 469;
/// A lease by another name, on directories too (Linux 6.19).
const F_SETDELEG: libc::c_int = 1040;

/// Among which ports the kernel chooses for a socket, of IPv6 too (Linux 6.3).
const IP_LOCAL_PORT_RANGE: libc::c_int = 51;

/// `FS_IOC_RESVSP`, `FS_IOC_RESVSP64` and `FS_IOC_ZERO_RANGE` (linux/falloc.h), the same on both.
const ALLOCATING: [u32; 3] = [0x4030_5828, 0x4030_582A, 0x4030_5839];

/// Answered as by a kernel that does not have them, whatever the arguments are: libraries do without then.
#[rustfmt::skip]
const UNKNOWN: &[c_long] = &[
    // A structure in memory holds its flags, which no program of the kernel's can look at. With ENOSYS, and with
    // nothing else, libraries go back to `clone`.
    libc::SYS_clone3,
    // Memory that is no process's once it is mapped or on its way through a socket, and that nobody can count then.
    libc::SYS_memfd_create, libc::SYS_memfd_secret,
    // The kernel's memory, without a limit. Programs that hold themselves do so where they can; these are held already.
    libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self,
];

/// Refused whatever the arguments are.
#[rustfmt::skip]
const NEVER: &[c_long] = &[
    // Mounts and roots: they decide what a path leads to.
    libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot, libc::SYS_move_mount,
    libc::SYS_open_tree, SYS_OPEN_TREE_ATTR, libc::SYS_fsopen, libc::SYS_fsconfig, libc::SYS_fsmount,
    libc::SYS_fspick, libc::SYS_mount_setattr,
    // Other namespaces. Making one is below, since `clone` and `unshare` do more than that.
    libc::SYS_setns,
    // The memory, descriptors and pages of other processes.
    libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_process_madvise,
    libc::SYS_process_mrelease, libc::SYS_pidfd_getfd, libc::SYS_kcmp, libc::SYS_move_pages, libc::SYS_migrate_pages,
    // Files by handle instead of by path: past every rule for paths.
    libc::SYS_name_to_handle_at, libc::SYS_open_by_handle_at,
    // Memory, semaphores and queues that all processes of a user share, without a path to hold a rule to. What
    // runtimes use today is in /dev/shm or a descriptor.
    libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmctl, libc::SYS_semget, libc::SYS_semop, libc::SYS_semtimedop,
    libc::SYS_semctl, libc::SYS_msgget, libc::SYS_msgsnd, libc::SYS_msgrcv, libc::SYS_msgctl, libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // The user's keys.
    libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key,
    // Parts of the kernel that are large, new or were often broken, and that runtimes do without.
    libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_userfaultfd, libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter, libc::SYS_io_uring_register, libc::SYS_fanotify_init, libc::SYS_fanotify_mark,
    libc::SYS_lookup_dcookie, libc::SYS_nfsservctl,
    // Requests of which the whole machine has only so many.
    libc::SYS_io_setup,
    // The machine: its kernel, clock, name, swap, accounts and log.
    libc::SYS_kexec_load, libc::SYS_kexec_file_load, libc::SYS_init_module, libc::SYS_finit_module,
    libc::SYS_delete_module, libc::SYS_reboot, libc::SYS_swapon, libc::SYS_swapoff, libc::SYS_sethostname,
    libc::SYS_setdomainname, libc::SYS_settimeofday, libc::SYS_clock_settime, libc::SYS_clock_adjtime,
    libc::SYS_adjtimex, libc::SYS_acct, libc::SYS_quotactl, libc::SYS_quotactl_fd, libc::SYS_syslog,
    libc::SYS_vhangup,
];

/// Calls of x86_64 alone that are always refused: raw hardware, old segments, and calls out of use for decades.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const NEVER_HERE: &[c_long] = &[
    libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_uselib, libc::SYS_sysfs, libc::SYS_ustat,
    libc::SYS__sysctl,
];
#[cfg(target_arch = "aarch64")]
const NEVER_HERE: &[c_long] = &[];

/// Changes of modes, owners, times and attributes by path. Changes by descriptor stay allowed, since too many
/// programs need them: a file that may be opened for reading can be changed like this. `truncate` is among
/// them because Landlock does not know it before version 3.
#[rustfmt::skip]
const BY_PATH: &[c_long] = &[
    libc::SYS_fchmodat, SYS_FCHMODAT2, libc::SYS_fchownat, libc::SYS_setxattr, libc::SYS_lsetxattr,
    SYS_SETXATTRAT, libc::SYS_removexattr, libc::SYS_lremovexattr, SYS_REMOVEXATTRAT, SYS_FILE_SETATTR,
    libc::SYS_truncate,
];

#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const BY_PATH_HERE: &[c_long] = &[
    libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat,
];
#[cfg(target_arch = "aarch64")]
const BY_PATH_HERE: &[c_long] = &[];

/// Other programs, and signals to other processes. `tgkill` stays: a program aborts by it.
#[rustfmt::skip]
const PROCESSES: &[c_long] = &[
    libc::SYS_execve, libc::SYS_execveat, libc::SYS_kill, libc::SYS_tkill, libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo, libc::SYS_pidfd_open, libc::SYS_pidfd_send_signal,
];

#[cfg(target_arch = "x86_64")]
const PROCESSES_HERE: &[c_long] = &[libc::SYS_fork, libc::SYS_vfork];
#[cfg(target_arch = "aarch64")]
const PROCESSES_HERE: &[c_long] = &[];

/// Namespaces, as `clone` and `unshare` name them.
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned();

/// For `unshare` only: in the flags of `clone` this bit belongs to the signal at the child's end.
const TIME_NAMESPACE: u32 = libc::CLONE_NEWTIME.cast_unsigned();

/// Flags that the kernel itself clears when a program gains rights: each takes a protection from a program's memory.
const UNPROTECTED: u32 =
    (libc::ADDR_NO_RANDOMIZE | libc::ADDR_COMPAT_LAYOUT | libc::MMAP_PAGE_ZERO | libc::READ_IMPLIES_EXEC)
        .cast_unsigned();

/// Flags that are told together with a socket's type.
const TYPE: u32 = !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK).cast_unsigned();

/// Whose priority: all of a user's (`IOPRIO_WHO_USER`).
const OF_A_USER: u32 = 3;

/// The rules for a server that may do what `filter` says. Those with cases are first: a server's calls pass
/// them only, while the calls that are refused at once are not worth a place in front.
pub(super) fn of(filter: &Filter) -> Vec<SeccompRule> {
    let mut rules = vec![
        sockets(filter),
        pairs(filter),
        control(),
        leases(),
        limits(),
        clone(filter),
        unshare(),
        ranges(),
        allocation(),
    ];
    rules.push(options());
    rules.extend(devices());
    rules.extend(if filter.scheduling { priorities().to_vec() } else { scheduling() });
    if !filter.hiding {
        rules.push(process());
    }
    rules.push(when(
        libc::SYS_personality,
        allow(&[Test::is(0, u32::MAX)]),
        refuse(&[Test::any_of(0, UNPROTECTED)]),
    ));
    let unknown = |number: &c_long| SeccompRule {
        number: *number,
        cases: Vec::new(),
        otherwise: Refuse(Errno::ENOSYS),
    };
    rules.extend(UNKNOWN.iter().map(unknown));
    let mut never = vec![NEVER, NEVER_HERE];
    if !filter.attributes_by_path {
        rules.push(times());
        never.extend([BY_PATH, BY_PATH_HERE]);
    }
    match filter.listen {
        Listen::Freely => {}
        Listen::Never => never.push(&[libc::SYS_listen]),
        Listen::Ask => rules.extend(asked()),
    }
    if !filter.processes {
        never.extend([PROCESSES, PROCESSES_HERE]);
    }
    rules.extend(never.concat().into_iter().map(refused));
    rules
}

/// Calls that lead to a port that others reach, by TCP or UDP. The C library binds a socket of another kind
/// whenever it looks a name up. No runner need answer that bind, and only this kind of address has its length.
fn asked() -> [SeccompRule; 2] {
    let of_routes = u32::try_from(size_of::<libc::sockaddr_nl>()).unwrap_or(0);
    [
        SeccompRule { number: libc::SYS_bind, cases: vec![allow(&[Test::is(2, of_routes)])], otherwise: Ask },
        SeccompRule { number: libc::SYS_listen, cases: Vec::new(), otherwise: Ask },
    ]
}

fn refused(number: c_long) -> SeccompRule {
    SeccompRule { number, cases: Vec::new(), otherwise: Refuse(Errno::EPERM) }
}

/// Two cases, and allowed otherwise.
fn when(number: c_long, first: Case, second: Case) -> SeccompRule {
    SeccompRule { number, cases: vec![first, second], otherwise: Allow }
}

fn allow(tests: &[Test]) -> Case {
    Case { tests: tests.to_vec(), answer: Allow }
}

fn refuse(tests: &[Test]) -> Case {
    Case { tests: tests.to_vec(), answer: Refuse(Errno::EPERM) }
}

/// Allows only TCP, UDP, the list of interfaces, and Unix sockets. Refuses MPTCP and SCTP, whose ports
/// Landlock ignores. Refuses raw, packet and virtual machine sockets, the kernel's ciphers and the rest, too.
fn sockets(filter: &Filter) -> SeccompRule {
    let mut transports = vec![(libc::SOCK_STREAM, libc::IPPROTO_TCP)];
    if filter.udp {
        transports.push((libc::SOCK_DGRAM, libc::IPPROTO_UDP));
    }
    let mut cases = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        for (kind, transport) in &transports {
            let kind = Test::masked(1, TYPE, kind.cast_unsigned());
            for protocol in [0, transport.cast_unsigned()] {
                cases.push(allow(&[Test::is(0, family.cast_unsigned()), kind, Test::is(2, protocol)]));
            }
        }
    }
    let route = Test::is(2, libc::NETLINK_ROUTE.cast_unsigned());
    cases.push(allow(&[Test::is(0, libc::AF_NETLINK.cast_unsigned()), route]));
    if filter.unix_sockets {
        cases.push(allow(&[Test::is(0, libc::AF_UNIX.cast_unsigned())]));
    }
    SeccompRule { number: libc::SYS_socket, cases, otherwise: Refuse(Errno::EPERM) }
}

/// A pair of datagram sockets (SOCK_RAW is another name for one) can be connected anew, to a path; streams and
/// sequences of packets cannot.
fn pairs(filter: &Filter) -> SeccompRule {
    let family = Test::is(0, libc::AF_UNIX.cast_unsigned());
    let lasting = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];
    let cases = if filter.unix_sockets {
        vec![allow(&[family])]
    } else {
        lasting.map(|kind| allow(&[family, Test::masked(1, TYPE, kind.cast_unsigned())])).to_vec()
    };
    SeccompRule { number: libc::SYS_socketpair, cases, otherwise: Refuse(Errno::EPERM) }
}

/// Typing into a terminal what its reader takes for the person's input; and `fallocate` by another name.
fn control() -> SeccompRule {
    // All are small numbers, of a type that differs between C libraries.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX].map(|request| refuse(&[Test::is(1, request as u32)]));
    let allocating = ALLOCATING
        .map(|request| Case { tests: vec![Test::is(1, request)], answer: Refuse(Errno::EOPNOTSUPP) });
    let cases = typing.into_iter().chain(allocating).collect();
    SeccompRule { number: libc::SYS_ioctl, cases, otherwise: Allow }
}

/// Room without anything written in it: a whole disk is full before anybody looks. Programs write instead where a file system
/// does not have it. Holes stay: they give room back.
fn allocation() -> SeccompRule {
    let hole = allow(&[Test::any_of(1, libc::FALLOC_FL_PUNCH_HOLE.cast_unsigned())]);
    SeccompRule { number: libc::SYS_fallocate, cases: vec![hole], otherwise: Refuse(Errno::EOPNOTSUPP) }
}

/// Its own limits (process 0) are a server's business; those of the user's other processes are not.
fn limits() -> SeccompRule {
    SeccompRule {
        number: libc::SYS_prlimit64,
        cases: vec![allow(&[Test::is(0, 0)])],
        otherwise: Refuse(Errno::EPERM),
    }
}

/// A lease makes whoever opens the file wait for its holder, and a server may take one on every file that it
/// may read. Notices about directories (F_NOTIFY) are inotify's old predecessor.
fn leases() -> SeccompRule {
    let commands = [libc::F_SETLEASE, F_SETDELEG, libc::F_NOTIFY];
    let cases = commands.map(|command| refuse(&[Test::is(1, command.cast_unsigned())]));
    SeccompRule { number: libc::SYS_fcntl, cases: cases.to_vec(), otherwise: Allow }
}

/// A thread must share its process's table of descriptors: nobody looks at another one. A clone without a thread is a process.
fn clone(filter: &Filter) -> SeccompRule {
    let thread = libc::CLONE_THREAD.cast_unsigned();
    let own = Test::masked(0, thread | libc::CLONE_FILES.cast_unsigned(), thread);
    let mut cases = vec![refuse(&[Test::any_of(0, NAMESPACES)]), refuse(&[own])];
    if !filter.processes {
        cases.push(refuse(&[Test::masked(0, thread, 0)]));
    }
    SeccompRule { number: libc::SYS_clone, cases, otherwise: Allow }
}

fn unshare() -> SeccompRule {
    let any = Test::any_of(0, NAMESPACES | TIME_NAMESPACE | libc::CLONE_FILES.cast_unsigned());
    SeccompRule { number: libc::SYS_unshare, cases: vec![refuse(&[any])], otherwise: Allow }
}

/// Refuses a thread its own table of descriptors by close_range(2), too.
fn ranges() -> SeccompRule {
    let own = Test::any_of(2, libc::CLOSE_RANGE_UNSHARE);
    SeccompRule { number: libc::SYS_close_range, cases: vec![refuse(&[own])], otherwise: Allow }
}

/// Making devices, which are ways past the file system; pipes and files are made by the same call.
fn devices() -> Vec<SeccompRule> {
    let rule = |number, mode| {
        let is = |kind| refuse(&[Test::masked(mode, libc::S_IFMT, kind)]);
        when(number, is(libc::S_IFCHR), is(libc::S_IFBLK))
    };
    vec![
        rule(libc::SYS_mknodat, 2),
        #[cfg(target_arch = "x86_64")]
        rule(libc::SYS_mknod, 1),
    ]
}

/// The priority of everything that the user runs; that of one process or group can be changed.
fn priorities() -> [SeccompRule; 2] {
    [(libc::SYS_setpriority, libc::PRIO_USER), (libc::SYS_ioprio_set, OF_A_USER)].map(|(number, whose)| {
        SeccompRule { number, cases: vec![refuse(&[Test::is(0, whose)])], otherwise: Allow }
    })
}

/// Options of sockets. Bytes that wait in a socket are the kernel's memory, and no process's: only the usual
/// sizes are allowed. Programs ask for larger ones to be faster, and some end when refused. Where several
/// sockets share a port, a filter decides which socket hears what, also for other programs. Setting the range
/// of ports for the kernel's choice is a way to choose one; older kernels lack that option anyway.
fn options() -> SeccompRule {
    let case = |level: libc::c_int, option: libc::c_int, answer| Case {
        tests: vec![Test::is(1, level.cast_unsigned()), Test::is(2, option.cast_unsigned())],
        answer,
    };
    let larger = [libc::SO_SNDBUF, libc::SO_RCVBUF, libc::SO_SNDBUFFORCE, libc::SO_RCVBUFFORCE]
        .map(|option| case(libc::SOL_SOCKET, option, Pretend));
    let steering = [libc::SO_ATTACH_REUSEPORT_CBPF, libc::SO_ATTACH_REUSEPORT_EBPF]
        .map(|option| case(libc::SOL_SOCKET, option, Refuse(Errno::EPERM)));
    let choosing = case(libc::SOL_IP, IP_LOCAL_PORT_RANGE, Refuse(Errno::ENOPROTOOPT));
    let cases = larger.into_iter().chain(steering).chain([choosing]).collect();
    SeccompRule { number: libc::SYS_setsockopt, cases, otherwise: Allow }
}

/// When and where other processes run: a process's own calls name it by 0. With a PID namespace there are no others.
fn scheduling() -> Vec<SeccompRule> {
    let own = |number| SeccompRule {
        number,
        cases: vec![allow(&[Test::is(0, 0)])],
        otherwise: Refuse(Errno::EPERM),
    };
    // Of a user, 0 names all of this one's processes.
    let own_priority = |of: SeccompRule| SeccompRule {
        cases: [of.cases, vec![allow(&[Test::is(1, 0)])]].concat(),
        otherwise: Refuse(Errno::EPERM),
        ..of
    };
    let calls = [
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setattr,
    ];
    calls.map(own).into_iter().chain(priorities().map(own_priority)).collect()
}

/// The runner looks at the memory and the open files of its processes. No process may hide from it.
fn process() -> SeccompRule {
    let hide = refuse(&[Test::is(0, libc::PR_SET_DUMPABLE.cast_unsigned())]);
    SeccompRule { number: libc::SYS_prctl, cases: vec![hide], otherwise: Allow }
}

/// Without a path it is the times of a descriptor that are set.
fn times() -> SeccompRule {
    let given = Test::is_not(1, 0);
    when(libc::SYS_utimensat, refuse(&[given]), refuse(&[given.higher()]))
}
