//! Tells that a process is about to end, before the kernel has taken its memory down.
//!
//! ```text
//!  SIGKILL, exit_group(2) ─► its threads end ─► its memory is taken down ─► its pipes end ─► SIGCHLD
//!                              └─ told here       (milliseconds)
//! ```
//!
//! Owns the watch on some of its threads, by handles that only Linux from 6.9 on gives. Must never tell of a process that
//! could still go on, nor what is not certain. Otherwise nothing is told, and the [`Reaper`](crate::reaper::Reaper) tells
//! the end.

use std::fs::File;
use std::future::{pending, poll_fn};
use std::io::{self, Read as _};
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::reaper::Exit;
use crate::usage::threads_of;

/// Linux's own number for "a handle to a thread"; see pidfd_open(2).
pub(crate) const PIDFD_THREAD: libc::c_int = libc::O_EXCL;

/// A flag of a thread that has begun to end.
const PF_EXITING: u64 = 0x4;

/// Among a thread's pending signals. The kernel sends it to each thread of a process that ends, whatever ends it.
const KILL_PENDING: u64 = 1 << (libc::SIGKILL - 1);

/// Threads that are watched at once: one thread may be the one that frees the memory of its process, or may wait for it.
const AT_ONCE: usize = 4;

/// The most times that a process which seems to end is looked into. Threads that come and go tell nothing, and each look has
/// a cost.
const LOOKS: u32 = 16;

/// A watch on a child that is not reaped meanwhile.
#[derive(Debug)]
pub struct Dying {
    pid: u32,
    threads: Option<Threads>,
    looks: u32,
}

impl Dying {
    /// Watches the child that has this number. A process with a single thread ends at once, so nothing can be told early.
    #[must_use]
    pub fn watch(pid: u32) -> Self {
        let mut dying = Self { pid, threads: None, looks: LOOKS };
        // A list of one takes pages that a runner would keep.
        if ThreadStat::read(&format!("/proc/{pid}/stat")).is_some_and(|process| process.threads > 1) {
            dying.watch_some_of(&threads(pid));
        }
        dying
    }

    /// Waits until the child is sure to end, and returns how it ends, once. Waits for ever if the child is
    /// gone before that is sure. The wait may be dropped and begun again.
    pub async fn exit(&mut self) -> Exit {
        while let Some(watched) = &self.threads {
            watched.one_ended().await;
            let mut seen = threads(self.pid);
            let mut exit = exit_of(self.pid, &seen);
            if exit.is_none() {
                // For a moment a thread shows that it was killed no more, and not yet that it ends.
                seen = threads(self.pid);
                exit = exit_of(self.pid, &seen);
            }
            if let Some(exit) = exit {
                self.threads = None;
                return exit;
            }
            self.watch_some_of(&seen);
        }
        pending().await
    }

    /// Watches the oldest threads that go on, except the first thread, which ends last.
    fn watch_some_of(&mut self, threads: &[(u32, Option<ThreadStat>)]) {
        let goes_on = |stat: &Option<ThreadStat>| stat.as_ref().is_some_and(|stat| !stat.is_doomed());
        let others = threads.iter().filter(|(thread, stat)| *thread != self.pid && goes_on(stat));
        let mut others: Vec<_> = others.map(|(thread, _)| *thread).collect();
        others.sort_unstable();
        others.truncate(AT_ONCE);
        self.threads = if self.looks > 0 { Threads::watch(&others) } else { None };
        self.looks = self.looks.saturating_sub(1);
    }
}

/// Handles of threads, watched as one: a runtime asks after each descriptor of its own whenever its task wakes up.
#[derive(Debug)]
struct Threads {
    together: AsyncFd<OwnedFd>,
    /// Closed, they are watched no more.
    _handles: Vec<OwnedFd>,
}

impl Threads {
    /// Watches these threads. None if the kernel gives no handles, or all threads have ended.
    fn watch(threads: &[u32]) -> Option<Self> {
        let handles: Vec<_> = threads.iter().filter_map(|thread| open(*thread, PIDFD_THREAD).ok()).collect();
        if handles.is_empty() {
            return None;
        }
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).ok()?;
        let added = handles.iter().map(|handle| epoll.add(handle, EpollEvent::new(EpollFlags::EPOLLIN, 0)));
        added.collect::<Result<(), _>>().ok()?;
        // SAFETY: the AsyncFd owns the descriptor, which is the same for its whole life and closed after it was taken
        // out of the runtime; nothing here gives it away.
        #[allow(unsafe_code)]
        let together = unsafe { AsyncFd::register_with_interest(epoll.0, Interest::READABLE) };
        Some(Self { together: together.ok()?, _handles: handles })
    }

    async fn one_ended(&self) {
        // An error is the end of this runtime, after which nobody hears of anything.
        poll_fn(|context| self.together.poll_read_ready(context).map(drop)).await;
    }
}

/// A process that need not be a child of this one.
#[derive(Debug)]
pub struct Other(AsyncFd<OwnedFd>);

impl Other {
    /// Watches the process that has this number now.
    ///
    /// # Errors
    /// When there is no such process, or no handle for it.
    pub fn watch(pid: u32) -> io::Result<Self> {
        let handle = open(pid, 0)?;
        // SAFETY: as for those of threads above: the AsyncFd owns the descriptor, and nothing here gives it away.
        #[allow(unsafe_code)]
        let handle = unsafe { AsyncFd::register_with_interest(handle, Interest::READABLE) };
        Ok(Self(handle?))
    }

    /// Waits until it has ended.
    pub async fn ended(&self) {
        // As above.
        poll_fn(|context| self.0.poll_read_ready(context).map(drop)).await;
    }
}

/// A handle to a process or, with [`PIDFD_THREAD`], to a thread.
pub(crate) fn open(number: u32, kind: libc::c_int) -> nix::Result<OwnedFd> {
    // SAFETY: two numbers, and no memory of this process.
    #[allow(unsafe_code)]
    let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, number, kind) };
    let handle = RawFd::try_from(Errno::result(handle)?).map_err(|_| Errno::EOVERFLOW)?;
    // SAFETY: the kernel has just opened this descriptor for us; nobody else knows it.
    #[allow(unsafe_code)]
    let handle = unsafe { OwnedFd::from_raw_fd(handle) };
    Ok(handle)
}

/// The threads of a process; without a [`Stat`] those that have ended meanwhile.
fn threads(pid: u32) -> Vec<(u32, Option<ThreadStat>)> {
    threads_of(pid)
        .map(|thread| (thread, ThreadStat::read(&format!("/proc/{pid}/task/{thread}/stat"))))
        .collect()
}

/// How the process that has these threads ends. None unless all of them end and have begun no others.
fn exit_of(pid: u32, threads: &[(u32, Option<ThreadStat>)]) -> Option<Exit> {
    if !threads.iter().filter_map(|(_, stat)| stat.as_ref()).all(ThreadStat::is_doomed) {
        return None;
    }
    ThreadStat::read(&format!("/proc/{pid}/stat"))?.exit(threads.len())
}

/// The kernel's facts about a thread, or about a process by its first thread.
#[derive(Debug)]
struct ThreadStat {
    flags: u64,
    threads: usize,
    pending: u64,
    exit_code: i32,
}

impl ThreadStat {
    /// Without asking for memory, of which a runner would keep a page.
    fn read(path: &str) -> Option<Self> {
        let mut text = [0; 1024];
        let length = File::open(path).and_then(|mut file| file.read(&mut text)).ok()?;
        Self::parse(&text[..length])
    }

    /// Reads the fields of proc(5).
    fn parse(text: &[u8]) -> Option<Self> {
        // The name stands in brackets and may hold anything. The state behind it is field 3.
        let behind = text.iter().rposition(|byte| *byte == b')')? + 1;
        let mut fields = std::str::from_utf8(&text[behind..]).ok()?.split_whitespace();
        Some(Self {
            flags: fields.nth(9 - 3)?.parse().ok()?,
            threads: fields.nth(20 - 10)?.parse().ok()?,
            pending: fields.nth(31 - 21)?.parse().ok()?,
            exit_code: fields.nth(52 - 32)?.parse().ok()?,
        })
    }

    /// True if the thread runs none of its own code any more, or will not once it leaves the kernel.
    fn is_doomed(&self) -> bool {
        self.flags & PF_EXITING != 0 || self.pending & KILL_PENDING != 0
    }

    /// How the process ends, if it has only these threads and the kernel shows that.
    fn exit(&self, doomed: usize) -> Option<Exit> {
        let (signal, code) = (self.exit_code & 0x7f, self.exit_code >> 8);
        // Where it was being stopped at the same time, it shows what was to stop it.
        let is_stopping = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&signal);
        match signal {
            _ if self.threads > doomed || is_stopping => None,
            // Also what is shown to who may not know.
            0 if code == 0 => None,
            0 => Some(Exit::Code(code)),
            signal => Some(Exit::Signal(signal)),
        }
    }
}

#[cfg(test)]
mod tests;
