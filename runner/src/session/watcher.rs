//! Watches that a server uses no more than it may: once a second, and more often near a limit.
//!
//! ```text
//!  tick ─► processes (threads, memory, files without a name) ─► over? ─► Over
//!    ├───► its directories, little by little, if anything has run since ─► over? ─► Over (at a later tick)
//!    └───► free room on their disks: far less? ─► it stands still until they are counted (`room`)
//! ```
//!
//! The kernel's own limits hold each process; this holds all of them together. Owns when a look is taken. Must never slow
//! the server's messages: many files are counted in between. (It cannot have a thread: the kernel refuses one to a process
//! whose children are in another PID namespace.)

mod room;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use harbor_child::still::Still;
use harbor_child::usage::{self, Found, Held, Usage, Walk};
use harbor_ipc_proto::link::runner::{EndCause, Resource};
use harbor_ipc_proto::link::sandbox::SandboxLimits;
use tokio::sync::oneshot;

use self::room::{FLOOR, Room};

/// How often the watcher looks.
const TICK: Duration = Duration::from_secs(1);

/// How often the watcher looks near a limit.
const QUICK: Duration = Duration::from_millis(100);

/// Looking at the directories may take this part of the time.
const SHARE: u32 = 10;

/// The longest time between two looks at directories in which something happens.
const LONGEST: Duration = Duration::from_secs(15);

/// The entries of its directories that one step looks at.
const AT_ONCE: usize = 64;

/// Processes that are looked at where their number is not limited.
const MAX_PROCESSES: usize = 10_000;

/// Sockets that are not counted.
const SOCKETS: u64 = 256;

/// Bytes that may wait in each further socket: the kernel's memory, which is no process's. Linux has 208 KiB for each
/// direction. Bytes that wait in TCP sockets, which take far more, are counted besides.
const SOCKET: u64 = 208 * 1024;

/// Stands for "more than can be seen".
const UNSEEN: u64 = u64::MAX;

/// A walk through its directories.
#[derive(Debug)]
struct Counting {
    /// Bytes that were free when the walk began.
    free: Option<u64>,
    end: oneshot::Receiver<(Found, Duration)>,
}

/// Watches one process and what it starts.
#[derive(Debug)]
pub(super) struct Watcher {
    limits: SandboxLimits<'static>,
    directories: Vec<PathBuf>,
    /// True if the server sees a /dev/shm of its own.
    own_shared_memory: bool,
    next: Instant,
    walk: Option<Counting>,
    next_walk: Instant,
    /// The result of the last walk.
    found: Found,
    /// The processor time of all processes at the last look, and at the beginning of the last walk. None
    /// before the first walk: the files of earlier starts count even if the server rests.
    ticks: u64,
    walked_ticks: Option<u64>,
    room: Room,
    /// The stopped processes, while the server's directories are counted in one step.
    still: Option<Still>,
    /// True if something was unseen at the last look, too. Once may be a process that is about to end.
    was_unseen: bool,
}

impl Watcher {
    /// None if no resource is limited.
    pub(super) fn new(
        limits: &SandboxLimits<'static>,
        own_shared_memory: bool,
        now: Instant,
    ) -> Option<Self> {
        let is_limited = limits.memory.or(limits.processes).or(limits.disk).is_some();
        let mut watcher = is_limited.then(|| Self {
            limits: limits.clone(),
            directories: limits.writable.iter().map(|path| PathBuf::from(&**path)).collect(),
            own_shared_memory,
            next: now + TICK,
            walk: None,
            next_walk: now,
            found: Found::default(),
            ticks: 0,
            walked_ticks: None,
            room: Room::default(),
            still: None,
            was_unseen: false,
        })?;
        watcher.begin();
        Some(watcher)
    }

    /// Counts at once what the server has from the start, if room is short: later it could have taken all of it.
    fn begin(&mut self) {
        let free = usage::free_at(&self.directories);
        if let Some((limit, free)) =
            self.limits.disk.zip(free).filter(|(limit, free)| Room::is_short(*free, *limit))
        {
            self.begin_walk(limit, Some(free));
        }
    }

    /// The time of the next look.
    pub(super) fn deadline(&self) -> Instant {
        self.next
    }

    /// Looks at these processes and their descendants, but not into `init`, which is ours and lets nobody
    /// look. Returns the resource that is used up too much, if any.
    pub(super) fn look(
        &mut self,
        roots: &[u32],
        init: Option<u32>,
        now: Instant,
    ) -> Option<EndCause<'static>> {
        let most = self
            .limits
            .processes
            .map_or(MAX_PROCESSES, |most| usize::try_from(most).unwrap_or(MAX_PROCESSES));
        let mut usage = usage::of_trees(roots, most.saturating_add(1));
        usage.pids.retain(|pid| Some(*pid) != init);
        let (memory, processes) = (self.limits.memory, self.limits.processes);
        let near =
            is_near(processes, usage.threads) || is_near(memory, usage.resident.saturating_add(usage.tables));
        self.next = now + if near { QUICK } else { TICK };
        if let Some(limit) = processes.filter(|limit| usage.threads > *limit) {
            return over(Resource::Processes, limit, usage.threads);
        }
        let held = usage::held_open(&usage.pids);
        // What has ended between two looks has done something, too.
        self.ticks = usage.ticks + usage.ended_ticks;
        let shm = roots
            .first()
            .filter(|_| self.own_shared_memory)
            .map_or(0, |pid| usage::shared_memory_seen_by(*pid));
        let waiting = held.sockets.saturating_sub(SOCKETS).saturating_mul(SOCKET);
        let in_memory = held.memory.saturating_add(shm).saturating_add(waiting).saturating_add(held.tcp);
        let memory = memory.and_then(|limit| over_memory(limit, &usage, in_memory));
        let all = || {
            let mut all = usage::of_trees(roots, MAX_PROCESSES).pids;
            all.retain(|pid| Some(*pid) != init);
            all
        };
        memory.or_else(|| self.over_disk(held, all, now))
    }

    /// `all`: its processes now.
    fn over_disk(
        &mut self,
        held: Held,
        all: impl Fn() -> Vec<u32>,
        now: Instant,
    ) -> Option<EndCause<'static>> {
        let limit = self.limits.disk?;
        let unseen = held.unseen && self.was_unseen;
        self.was_unseen = held.unseen;
        let free = usage::free_at(&self.directories);
        let is_counted = self.take_count(held.disk, now);
        let used = self.found.bytes.saturating_add(held.disk);
        let is_going = free.is_some_and(|free| self.room.is_going(free, limit));
        // A count that had begun before it stood still says little of what it has now.
        let is_known = is_counted && self.still.is_some();
        let last_taken = if is_known { self.room.last_taken(used) } else { None };
        if is_going && self.still.is_none() {
            self.still = Some(Still::hold(all));
            self.begin_walk(limit, free);
        }
        if self.still.is_some() {
            self.next = now + QUICK;
        } else if self.walk.is_none() && now >= self.next_walk && Some(self.ticks) != self.walked_ticks {
            self.walked_ticks = Some(self.ticks);
            self.begin_walk(limit, free);
        }
        if unseen || self.found.unseen {
            return over(Resource::Disk, limit, UNSEEN);
        }
        if used > limit {
            return over(Resource::Disk, limit, used);
        }
        if let Some(grown) = last_taken {
            return over(Resource::FreeSpace, FLOOR, grown);
        }
        if is_known {
            self.still = None;
        }
        None
    }

    /// Takes what the last walk has found, once; whether it has ended by now. `held`: bytes on disk that no walk finds.
    fn take_count(&mut self, held: u64, now: Instant) -> bool {
        let Some(counting) = &mut self.walk else { return false };
        let Ok((found, took)) = counting.end.try_recv() else { return false };
        if let Some(free) = counting.free.filter(|_| self.still.is_none()) {
            self.room.note(free, found.bytes.saturating_add(held));
        }
        self.walk = None;
        self.next_walk = now + took.saturating_mul(SHARE).min(LONGEST);
        self.found = found;
        true
    }

    fn begin_walk(&mut self, enough: u64, free: Option<u64>) {
        let (sender, end) = oneshot::channel();
        let mut walk = Walk::through(&self.directories);
        tokio::task::spawn_local(async move {
            let mut took = Duration::ZERO;
            let found = loop {
                let began = Instant::now();
                let end = walk.step(AT_ONCE, enough);
                took += began.elapsed();
                match end {
                    Some(found) => break found,
                    None => tokio::task::yield_now().await,
                }
            };
            // Nobody hears it where the server has ended.
            let _ = sender.send((found, took));
        });
        self.walk = Some(Counting { free, end });
    }
}

fn over_memory(limit: u64, usage: &Usage, in_memory: u64) -> Option<EndCause<'static>> {
    // Page tables are shared by nobody.
    let in_kernel = usage.tables;
    let most = usage.resident.saturating_add(in_memory);
    if most.saturating_add(in_kernel) <= limit {
        return None;
    }
    // What is shared was counted several times, and files in memory that are mapped twice.
    let shares = usage::shares(&usage.pids);
    let seen = shares.map_or(most, |shares| shares.own.saturating_add(shares.shmem.max(in_memory)));
    let used = seen.saturating_add(in_kernel);
    if used > limit { over(Resource::Memory, limit, used) } else { None }
}

fn is_near(limit: Option<u64>, used: u64) -> bool {
    limit.is_some_and(|limit| used > limit / 2)
}

fn over(resource: Resource, limit: u64, used: u64) -> Option<EndCause<'static>> {
    Some(EndCause::OverLimit { resource, limit, used })
}
