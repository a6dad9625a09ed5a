//! The program, run by an interpreter over tables of calls, and the kernel running it over real ones.

use std::io::{self, Read as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::Command;

use libc::{c_long, sock_filter};
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};
use nix::unistd::geteuid;

use super::program::Answer::{self, Allow, Refuse};
use super::program::{NATIVE, assemble};
use super::{Errno, Filter, Listen, install, offered, rules};

const NOTHING: Filter = Filter {
    unix_sockets: false,
    udp: false,
    listen: Listen::Never,
    attributes_by_path: false,
    hiding: false,
    scheduling: false,
    // Each server's launcher ends in execve.
    processes: true,
};
/// For a program that starts none.
const ALONE: Filter = Filter { processes: false, ..NOTHING };
/// One whose runner answers.
const ASKING: Filter = Filter { listen: Listen::Ask, ..NOTHING };
const ALL: Filter = Filter {
    unix_sockets: true,
    udp: true,
    listen: Listen::Freely,
    attributes_by_path: true,
    hiding: true,
    scheduling: true,
    processes: true,
};

const NO: Answer = Refuse(Errno::EPERM);

/// Bits that the kernel ignores in an argument that is an `int`.
const HIGH: u64 = 0xABCD_0000_0000;

/// As much as the kernel tells of a call.
#[derive(Clone, Copy)]
struct Call {
    instruction_set: u32,
    number: u32,
    arguments: [u64; 6],
}

fn call(number: c_long, given: &[u64]) -> Call {
    let mut arguments = [0; 6];
    arguments[..given.len()].copy_from_slice(given);
    Call { instruction_set: NATIVE, number: u32::try_from(number).unwrap(), arguments }
}

/// The answer, and whether it took an argument to find it.
fn run(program: &[sock_filter], call: Call) -> (Answer, bool) {
    let mut told = vec![call.number, call.instruction_set, 0, 0];
    told.extend(call.arguments.iter().flat_map(|argument| [*argument as u32, (argument >> 32) as u32]));
    let (mut at, mut value, mut looked) = (0, 0_u32, false);
    loop {
        let sock_filter { code, jt, jf, k } = program[at];
        let jump = |holds| usize::from(if holds { jt } else { jf });
        at += 1;
        match code {
            0x20 => {
                assert_eq!(k % 4, 0);
                value = told[k as usize / 4];
                looked |= k >= 16;
            }
            0x54 => value &= k,
            0x15 => at += jump(value == k),
            0x35 => at += jump(value >= k),
            0x06 if k == libc::SECCOMP_RET_ALLOW => return (Allow, looked),
            0x06 if k == libc::SECCOMP_RET_ERRNO => return (Answer::Pretend, looked),
            0x06 if k == libc::SECCOMP_RET_USER_NOTIF => return (Answer::Ask, looked),
            0x06 => {
                assert_eq!(k & 0xFFFF_0000, libc::SECCOMP_RET_ERRNO);
                return (Refuse(Errno::from_raw((k & 0xFFFF) as i32)), looked);
            }
            other => panic!("no instruction that the kernel takes: {other:#x}"),
        }
    }
}

fn decide(filter: &Filter, call: Call) -> Answer {
    run(&assemble(&rules::of(filter)).unwrap(), call).0
}

fn check(table: &[(Filter, c_long, &[u64], Answer)]) {
    for (filter, number, arguments, answer) in table {
        assert_eq!(decide(filter, call(*number, arguments)), *answer, "{number} {arguments:x?} {filter:?}");
    }
}

#[test]
fn foreign_instruction_sets_are_refused_whatever_is_allowed() {
    let i386 = 0x4000_0003;
    for number in 0..600 {
        let foreign = Call { instruction_set: i386, ..call(number, &[]) };
        assert_eq!(decide(&ALL, foreign), NO, "{number}");
        if cfg!(target_arch = "x86_64") {
            assert_eq!(decide(&ALL, call(number | 0x4000_0000, &[])), NO, "{number}");
        }
    }
}

#[test]
fn only_calls_with_cases_are_decided_by_their_arguments() {
    for filter in [NOTHING, ALONE, ALL] {
        let rules = rules::of(&filter);
        let program = assemble(&rules).unwrap();
        assert!(program.len() < 4096, "the kernel's limit");
        for number in 0..600 {
            let (answer, looked) = run(&program, call(number, &[]));
            let rule = rules.iter().find(|rule| rule.number == number);
            assert_eq!(looked, rule.is_some_and(|rule| !rule.cases.is_empty()), "{number}");
            if rule.is_none() {
                assert_eq!(answer, Allow, "{number}");
            }
        }
    }
}

#[test]
fn no_call_has_two_rules() {
    let mut numbers: Vec<_> = rules::of(&ALONE).iter().map(|rule| rule.number).collect();
    numbers.sort_unstable();
    assert!(numbers.windows(2).all(|two| two[0] < two[1]), "{numbers:?}");
}

#[test]
fn namespaces_are_refused_and_threads_and_processes_are_not() {
    let thread =
        (libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SIGHAND | libc::CLONE_THREAD)
            .cast_unsigned();
    let of = |flags: i32| u64::from(flags.cast_unsigned());
    let mut table: Vec<(Filter, c_long, &[u64], Answer)> = vec![
        (ALL, libc::SYS_clone3, &[], Refuse(Errno::ENOSYS)),
        (ALL, libc::SYS_setns, &[], NO),
        (ALL, libc::SYS_unshare, &[libc::CLONE_FS as u64], Allow),
        (ALL, libc::SYS_unshare, &[libc::CLONE_NEWTIME as u64], NO),
        // The same bit, as a part of a signal's number.
        (ALL, libc::SYS_clone, &[libc::CLONE_NEWTIME as u64], Allow),
        (ALL, libc::SYS_clone, &[libc::SIGCHLD as u64], Allow),
    ];
    let thread = [u64::from(thread)];
    table.push((ALL, libc::SYS_clone, &thread, Allow));
    let namespaces = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ]
    .map(|kind| [HIGH | of(kind) | of(libc::SIGCHLD)]);
    for flags in &namespaces {
        table.extend([(ALL, libc::SYS_clone, &flags[..], NO), (ALL, libc::SYS_unshare, &flags[..], NO)]);
    }
    check(&table);
}

#[test]
fn sockets_are_tcp_udp_the_list_of_interfaces_and_unix() {
    let udp = Filter { udp: true, ..NOTHING };
    let unix = Filter { unix_sockets: true, ..NOTHING };
    let flags = (libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) as u64;
    let (stream, datagram, packets, raw) = (1, 2, 5, 3);
    let (local, inet, inet6, netlink) = (1, 2, 10, 16);
    let socket = libc::SYS_socket;
    let pair = libc::SYS_socketpair;
    check(&[
        (NOTHING, socket, &[inet, stream, 0], Allow),
        (NOTHING, socket, &[inet6, stream | flags, 6], Allow),
        (NOTHING, socket, &[HIGH | inet, HIGH | stream, HIGH], Allow),
        // MPTCP, SCTP, SMC.
        (ALL, socket, &[inet, stream, 262], NO),
        (ALL, socket, &[inet6, stream, 132], NO),
        (ALL, socket, &[inet, stream, 256], NO),
        (NOTHING, socket, &[inet, datagram | flags, 0], NO),
        (udp, socket, &[inet, datagram | flags, 0], Allow),
        (udp, socket, &[inet6, datagram, 17], Allow),
        // ICMP, UDP-Lite; then raw.
        (ALL, socket, &[inet, datagram, 1], NO),
        (ALL, socket, &[inet, datagram, 136], NO),
        (ALL, socket, &[inet, raw, 0], NO),
        (ALL, socket, &[inet6, raw | flags, 255], NO),
        (NOTHING, socket, &[netlink, raw | flags, 0], Allow),
        (ALL, socket, &[netlink, raw, 12], NO),
        (NOTHING, socket, &[local, stream, 0], NO),
        (NOTHING, socket, &[HIGH | local, stream, 0], NO),
        (unix, socket, &[local, datagram | flags, 0], Allow),
        // Packet, the kernel's ciphers, virtual machines, XDP.
        (ALL, socket, &[17, raw, 3], NO),
        (ALL, socket, &[38, packets, 0], NO),
        (ALL, socket, &[40, stream, 0], NO),
        (ALL, socket, &[44, raw, 0], NO),
        (NOTHING, pair, &[local, stream | flags, 0], Allow),
        (NOTHING, pair, &[local, packets, 0], Allow),
        (NOTHING, pair, &[local, datagram, 0], NO),
        // To Unix sockets, a name for datagrams.
        (NOTHING, pair, &[local, raw, 0], NO),
        (unix, pair, &[local, datagram, 0], Allow),
        (ALL, pair, &[30, stream, 0], NO),
        (NOTHING, libc::SYS_listen, &[3, 1], NO),
        (ALL, libc::SYS_listen, &[3, 1], Allow),
        (ASKING, libc::SYS_listen, &[3, 1], Answer::Ask),
        (ASKING, libc::SYS_bind, &[3, 0x7000, 16], Answer::Ask),
        (ASKING, libc::SYS_bind, &[3, 0x7000, 12], Allow),
        (NOTHING, libc::SYS_bind, &[3, 0x7000, 16], Allow),
    ]);
}

#[test]
fn nobody_says_who_hears_what_at_a_port_that_is_shared_nor_chooses_among_ports() {
    let (set, of_sockets) = (libc::SYS_setsockopt, 1);
    check(&[
        (ALL, set, &[3, of_sockets, 51], NO),
        (ALL, set, &[3, of_sockets, HIGH | 52], NO),
        (ALL, set, &[3, 0, 51], Refuse(Errno::ENOPROTOOPT)),
        // SO_REUSEADDR, SO_REUSEPORT, and what 51 is of TCP.
        (NOTHING, set, &[3, of_sockets, 2], Allow),
        (NOTHING, set, &[3, of_sockets, 15], Allow),
        (NOTHING, set, &[3, 6, 51], Allow),
        (NOTHING, set, &[3, of_sockets, 8], Answer::Pretend),
    ]);
}

#[test]
fn attributes_are_changed_by_descriptor_only() {
    let mut table: Vec<(Filter, c_long, &[u64], Answer)> = Vec::new();
    let by_path =
        [libc::SYS_fchmodat, 452, libc::SYS_fchownat, libc::SYS_lsetxattr, 463, 466, 469, libc::SYS_truncate];
    for number in by_path {
        table.extend([(NOTHING, number, &[][..], NO), (ALL, number, &[], Allow)]);
    }
    for number in [libc::SYS_fchmod, libc::SYS_fchown, libc::SYS_fsetxattr, libc::SYS_ftruncate] {
        table.push((NOTHING, number, &[], Allow));
    }
    let times = libc::SYS_utimensat;
    table.extend([
        (NOTHING, times, &[3, 0][..], Allow),
        (NOTHING, times, &[3, 0x1000], NO),
        (NOTHING, times, &[3, 0x7000_0000_0000], NO),
        (ALL, times, &[3, 0x1000], Allow),
    ]);
    check(&table);
}

#[test]
fn what_reaches_others_or_takes_protections_away_is_refused() {
    let (character, block, pipe) = (0o020_600, 0o060_600, 0o010_600);
    check(&[
        (ALL, libc::SYS_mknodat, &[0, 0, character], NO),
        (ALL, libc::SYS_mknodat, &[0, 0, HIGH | block], NO),
        (ALL, libc::SYS_mknodat, &[0, 0, pipe], Allow),
        (ALL, libc::SYS_mknodat, &[0, 0, 0o600], Allow),
        (ALL, libc::SYS_personality, &[0xFFFF_FFFF], Allow),
        (ALL, libc::SYS_personality, &[0], Allow),
        (ALL, libc::SYS_personality, &[0x004_0000], NO),
        (ALL, libc::SYS_personality, &[HIGH | 0x040_0000], NO),
        (ALL, libc::SYS_prlimit64, &[0, 7, 1], Allow),
        (ALL, libc::SYS_prlimit64, &[HIGH, 7, 1], Allow),
        (ALL, libc::SYS_prlimit64, &[4711, 7, 1], NO),
        (ALL, libc::SYS_setpriority, &[0, 0, 5], Allow),
        (ALL, libc::SYS_setpriority, &[2, 0, 5], NO),
        (ALL, libc::SYS_ioprio_set, &[3, 0, 0], NO),
        (ALL, libc::SYS_ioctl, &[0, libc::TIOCSTI], NO),
        (ALL, libc::SYS_ioctl, &[0, HIGH | libc::TIOCLINUX], NO),
        (ALL, libc::SYS_ioctl, &[0, libc::FIONBIO], Allow),
        (ALL, libc::SYS_ioctl, &[0, 0x4030_5828], Refuse(Errno::EOPNOTSUPP)),
        (ALL, libc::SYS_fallocate, &[3, 0, 0, 4096], Refuse(Errno::EOPNOTSUPP)),
        (ALL, libc::SYS_fallocate, &[3, 1, 0, 4096], Refuse(Errno::EOPNOTSUPP)),
        (ALL, libc::SYS_fallocate, &[3, 3, 0, 4096], Allow),
    ]);
}

fn real(number: c_long, arguments: [c_long; 4]) -> Errno {
    let [a, b, c, d] = arguments;
    // SAFETY: whatever the arguments are taken for, the pointers among them are null or not to be followed, so
    // that the call fails, with the filter or without it.
    #[allow(unsafe_code)]
    let result = unsafe { libc::syscall(number, a, b, c, d) };
    if result == -1 { Errno::last() } else { Errno::UnknownErrno }
}

/// In a thread of its own, which is as far as a filter goes.
fn filtered<T: Send>(filter: Filter, what: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            install(&filter).unwrap();
            what()
        });
        thread.join().unwrap()
    })
}

fn kind<T>(result: io::Result<T>) -> Option<i32> {
    result.err().and_then(|error| error.raw_os_error())
}

#[test]
fn the_kernel_refuses_with_these_very_errors() {
    assert!(offered());
    let newuser = c_long::from(libc::CLONE_NEWUSER);
    let calls = [
        (libc::SYS_mount, [0; 4]),
        (libc::SYS_umount2, [0; 4]),
        (libc::SYS_setns, [-1, 0, 0, 0]),
        (libc::SYS_clone, [newuser | c_long::from(libc::CLONE_FS), 0, 0, 0]),
        (libc::SYS_unshare, [newuser, 0, 0, 0]),
        (libc::SYS_ptrace, [-1, 0, 0, 0]),
        (libc::SYS_process_vm_readv, [-1, 0, 0, 0]),
        (libc::SYS_pidfd_getfd, [-1, -1, 0, 0]),
        (libc::SYS_bpf, [-1, 0, 0, 0]),
        (libc::SYS_perf_event_open, [0; 4]),
        (libc::SYS_userfaultfd, [-1, 0, 0, 0]),
        (libc::SYS_io_uring_setup, [0; 4]),
        (libc::SYS_finit_module, [-1, 0, -1, 0]),
        (libc::SYS_kexec_load, [0, 0, 0, -1]),
        (libc::SYS_keyctl, [-1, 0, 0, 0]),
        (libc::SYS_shmget, [0; 4]),
        (libc::SYS_mq_open, [0; 4]),
        (libc::SYS_open_by_handle_at, [-1, 0, 0, 0]),
        (libc::SYS_mknodat, [-100, 0, 0o020_600, 0]),
        (libc::SYS_prlimit64, [c_long::from(i32::MAX), 7, 0, 0]),
        (libc::SYS_listen, [-1, 0, 0, 0]),
        (libc::SYS_fchmodat, [-100, 0, 0, 0]),
        (libc::SYS_utimensat, [-1, 1, 0, 0]),
        (libc::SYS_socketpair, [1, 2, 0, 0]),
    ];
    for (number, arguments) in calls {
        assert_eq!(filtered(NOTHING, || real(number, arguments)), Errno::EPERM, "{number}");
        if geteuid().is_root() {
            assert_ne!(
                real(number, arguments),
                Errno::EPERM,
                "{number}: without the filter it is something else"
            );
        }
    }
    assert_eq!(filtered(NOTHING, || real(libc::SYS_clone3, [0; 4])), Errno::ENOSYS);
    assert_eq!(real(libc::SYS_clone3, [0; 4]), Errno::EINVAL);
    if cfg!(target_arch = "x86_64") {
        let x32 = 0x4000_0000 | libc::SYS_getpid;
        assert_eq!(filtered(NOTHING, || real(x32, [0; 4])), Errno::EPERM);
    }
}

#[test]
fn a_filtered_thread_has_threads_processes_streams_pairs_and_interfaces() {
    let server = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = server.local_addr().unwrap();
    filtered(NOTHING, || {
        assert_eq!(std::thread::spawn(|| 7).join().unwrap(), 7);
        assert!(Command::new("true").status().unwrap().success());
        drop(TcpStream::connect(address).unwrap());
        let (mut one, other) = UnixStream::pair().unwrap();
        drop(other);
        assert_eq!(one.read(&mut [0]).unwrap(), 0);
        let route = SockProtocol::NetlinkRoute;
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, route).unwrap();
        let refused = Some(libc::EPERM);
        assert_eq!(kind(TcpListener::bind(("127.0.0.1", 0))), refused);
        assert_eq!(kind(UdpSocket::bind(("127.0.0.1", 0))), refused);
        assert_eq!(kind(UnixDatagram::pair()), refused);
        assert_eq!(kind(UnixStream::connect("/nowhere")), refused);
        assert_eq!(
            kind(std::fs::set_permissions("/nowhere", std::fs::metadata("/").unwrap().permissions())),
            refused
        );
    });
    filtered(ALL, || {
        TcpListener::bind(("127.0.0.1", 0)).unwrap();
        UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        UnixDatagram::pair().unwrap();
        assert_eq!(kind(UnixListener::bind("/nowhere/at/all")), Some(libc::ENOENT));
        assert_eq!(kind(UnixStream::connect("/nowhere")), Some(libc::ENOENT));
    });
}

#[test]
fn what_a_filtered_thread_starts_is_filtered_too() {
    filtered(NOTHING, || {
        let made = std::env::temp_dir().join(format!("harbor-filtered-{}", std::process::id()));
        let output = Command::new("mknod").arg(&made).args(["c", "1", "3"]).output().unwrap();
        assert!(!output.status.success());
        assert!(!made.exists());
    });
}

#[test]
fn who_starts_no_process_has_threads_and_ends_itself_only() {
    let thread = [(libc::CLONE_VM | libc::CLONE_FILES | libc::CLONE_THREAD) as u64];
    check(&[
        (ALONE, libc::SYS_clone, &thread, Allow),
        (ALONE, libc::SYS_clone, &[libc::SIGCHLD as u64], NO),
        (ALONE, libc::SYS_clone, &[(libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD) as u64], NO),
        (ALONE, libc::SYS_kill, &[1, 9], NO),
        (ALONE, libc::SYS_tgkill, &[1, 1, 6], Allow),
        (NOTHING, libc::SYS_kill, &[1, 9], Allow),
        (NOTHING, libc::SYS_execve, &[], Allow),
    ]);
    filtered(ALONE, || {
        assert_eq!(std::thread::spawn(|| 7).join().unwrap(), 7);
        assert_eq!(kind(Command::new("true").status()), Some(libc::EPERM));
        for number in [libc::SYS_execve, libc::SYS_execveat, libc::SYS_pidfd_open] {
            assert_eq!(real(number, [0; 4]), Errno::EPERM, "{number}");
        }
    });
}

#[test]
fn larger_buffers_are_asked_for_in_vain_and_nobody_is_told() {
    use nix::sys::socket::{getsockopt, setsockopt, sockopt};
    let (one, _other) = UnixStream::pair().unwrap();
    let before = getsockopt(&one, sockopt::SndBuf).unwrap();
    let after = filtered(NOTHING, || {
        setsockopt(&one, sockopt::SndBuf, &(before / 2)).unwrap();
        getsockopt(&one, sockopt::SndBuf).unwrap()
    });
    assert_eq!(after, before);
    setsockopt(&one, sockopt::SndBuf, &(before / 4)).unwrap();
    assert_ne!(getsockopt(&one, sockopt::SndBuf).unwrap(), before, "which is no question of the machine");
}

#[test]
fn other_processes_are_scheduled_by_number_only_where_there_are_none() {
    let lonely = Filter { scheduling: true, ..NOTHING };
    let no = Answer::Refuse(Errno::EPERM);
    check(&[
        (NOTHING, libc::SYS_sched_setaffinity, &[0], Answer::Allow),
        (NOTHING, libc::SYS_sched_setaffinity, &[7], no),
        (lonely, libc::SYS_sched_setaffinity, &[7], Answer::Allow),
        (NOTHING, libc::SYS_setpriority, &[0, 7], no),
        (lonely, libc::SYS_setpriority, &[0, 7], Answer::Allow),
        (lonely, libc::SYS_setpriority, &[2, 7], no),
        (NOTHING, libc::SYS_setpriority, &[0, 0], Answer::Allow),
        (NOTHING, libc::SYS_setpriority, &[2, 0], no),
        (NOTHING, libc::SYS_setsockopt, &[3, 1, 7], Answer::Pretend),
        (NOTHING, libc::SYS_setsockopt, &[3, 6, 7], Answer::Allow),
    ]);
}
