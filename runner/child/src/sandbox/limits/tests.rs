//! Limits as the kernel shows them in a child that has applied them.

use super::*;

use std::panic::{AssertUnwindSafe, catch_unwind};

use nix::libc;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

const RESOURCES: [Resource; 5] = [
    Resource::RLIMIT_CORE,
    Resource::RLIMIT_DATA,
    Resource::RLIMIT_NOFILE,
    Resource::RLIMIT_FSIZE,
    Resource::RLIMIT_NPROC,
];

fn held() -> [(u64, u64); 5] {
    RESOURCES.map(|resource| getrlimit(resource).unwrap())
}

/// Whether `what` holds in a child of its own: limits are those of a whole process.
fn in_a_child(what: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child has one thread; the C library leaves its memory usable there, and nothing else that
    // another thread may have held is touched.
    #[allow(unsafe_code)]
    let fork = unsafe { fork() }.unwrap();
    let ForkResult::Parent { child } = fork else {
        let holds = catch_unwind(AssertUnwindSafe(what)).unwrap_or(false);
        // SAFETY: ends the child without running what its original has registered for its own end.
        #[allow(unsafe_code)]
        unsafe {
            libc::_exit(i32::from(!holds))
        }
    };
    waitpid(child, None).unwrap() == WaitStatus::Exited(child, 0)
}

fn niceness() -> i64 {
    // SAFETY: asks for a number of this thread.
    #[allow(unsafe_code)]
    let answer = unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, 0) };
    20 - answer
}

#[test]
fn what_is_asked_is_held_without_a_way_back() {
    let limits = Limits {
        memory: Some(1 << 30),
        processes: Some(50),
        open_files: Some(100),
        file_size: Some(1 << 20),
        nice: 7,
    };
    let [.., processes] = held();
    let processes = if getuid().is_root() { processes } else { (50, 50) };
    assert!(in_a_child(|| {
        apply(&limits, true).unwrap();
        let each = [(0, 0), (1 << 30, 1 << 30), (100, 100), (1 << 20, 1 << 20), processes];
        held() == each && niceness() == 7
    }));
}

#[test]
fn what_is_not_asked_stays_but_for_core_dumps() {
    let before = held();
    assert!(in_a_child(|| {
        apply(&Limits::default(), false).unwrap();
        let after = held();
        after[0] == (0, 0) && after[1..] == before[1..]
    }));
}

#[test]
fn no_limit_is_raised_and_no_niceness_lowered() {
    let little = Limits { open_files: Some(64), file_size: Some(4096), nice: 9, ..Limits::default() };
    let much = Limits { open_files: Some(u64::MAX), file_size: Some(1 << 40), nice: 3, ..Limits::default() };
    assert!(in_a_child(|| {
        apply(&little, true).unwrap();
        apply(&much, true).unwrap();
        held()[2..4] == [(64, 64), (4096, 4096)] && niceness() == 9
    }));
}

#[test]
fn an_ordinary_user_gets_the_processes_besides_those_there_are() {
    let user = Uid::from_raw(40_123);
    let limits = Limits { processes: Some(20), ..Limits::default() };
    let become_ordinary = || !getuid().is_root() || nix::unistd::setuid(user).is_ok();
    assert!(in_a_child(|| {
        let (_, hard) = getrlimit(Resource::RLIMIT_NPROC).unwrap();
        let ready = become_ordinary();
        let others = threads_of(getuid()).unwrap();
        apply(&limits, false).unwrap();
        let (soft, now) = getrlimit(Resource::RLIMIT_NPROC).unwrap();
        // As an ordinary user, others may start and end meanwhile.
        let near = now.abs_diff((others + 20).min(hard)) < if user == getuid() { 1 } else { 100 };
        ready && soft == now && near
    }));
    assert!(in_a_child(|| {
        let ready = become_ordinary();
        apply(&limits, true).unwrap();
        ready && getrlimit(Resource::RLIMIT_NPROC).unwrap() == (20, 20)
    }));
}

#[test]
fn threads_are_counted_by_the_real_user() {
    let status = "Name:\tsh\nUid:\t1000\t0\t0\t0\nThreads:\t12\n";
    assert_eq!(threads_in(status, Uid::from_raw(1000)), 12);
    assert_eq!(threads_in(status, Uid::from_raw(0)), 0);
    assert_eq!(threads_in("", Uid::from_raw(0)), 0);
    assert!(threads_of(getuid()).unwrap() >= 1);
}
