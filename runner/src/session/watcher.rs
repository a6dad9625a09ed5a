//! Whether a server uses up more than it may: looked at once a second, and more often near a limit.
//!
//! ```text
//!  tick ─► processes (threads, memory, files without a name) ─► over? ─► Over
//!    ├───► its directories, little by little, if anything has run since ─► over? ─► Over (at a later tick)
//!    └───► free room on their disks: far less? ─► it stands still until they are counted (`room`)
//! ```
//!
//! The kernel's own limits hold each process; this holds all of them together. Owns when it is looked. Must never
//! slow the server's messages: many files are looked at in between. (A thread for it cannot be: the kernel refuses one to a
//! process whose children are in another PID namespace.)

mod room;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use harbor_child::still::Still;
use harbor_child::usage::{self, Found, Held, Usage, Walk};
use harbor_ipc_proto::link::runner::{EndCause, Resource};
use harbor_ipc_proto::link::sandbox::Limits;
use tokio::sync::oneshot;

use self::room::{FLOOR, Room};

/// How often it is looked.
const TICK: Duration = Duration::from_secs(1);

/// How often near a limit.
const QUICK: Duration = Duration::from_millis(100);

/// Looking at the directories may take this part of the time.
const SHARE: u32 = 10;

/// The longest time between two looks at directories in which something happens.
const LONGEST: Duration = Duration::from_secs(15);

/// Entries of its directories that are looked at in one go.
const AT_ONCE: usize = 64;

/// Processes that are looked at where their number is not limited.
const MAX_PROCESSES: usize = 10_000;

/// So many sockets count for nothing.
const SOCKETS: u64 = 256;

/// What may wait in another one, in bytes: the kernel's memory, which is no process's. Linux has 208 KiB for each direction. What
/// waits in TCP's, which take far more, is counted besides.
const SOCKET: u64 = 208 * 1024;

/// Stands for "more than can be seen".
const UNSEEN: u64 = u64::MAX;

/// Watches one process and what it starts.
#[derive(Debug)]
pub(super) struct Watcher {
    limits: Limits<'static>,
    directories: Vec<PathBuf>,
    /// Whether the /dev/shm that it sees is its own.
    own_shared_memory: bool,
    next: Instant,
    walk: Option<oneshot::Receiver<(Found, Duration)>>,
    next_walk: Instant,
    /// What the last walk has found.
    found: Found,
    /// The processor time of all at the last look, and when the last walk began.
    ticks: u64,
    walked_ticks: u64,
    room: Room,
    /// There while its directories are counted at once.
    still: Option<Still>,
    /// Something was unseen at the last look, too: once may be a process that is about to end.
    was_unseen: bool,
}

impl Watcher {
    /// None where nothing is limited.
    pub(super) fn new(limits: &Limits<'static>, own_shared_memory: bool, now: Instant) -> Option<Self> {
        let is_limited = limits.memory.or(limits.processes).or(limits.disk).is_some();
        is_limited.then(|| Self {
            limits: limits.clone(),
            directories: limits.writable.iter().map(|path| PathBuf::from(&**path)).collect(),
            own_shared_memory,
            next: now + TICK,
            walk: None,
            next_walk: now,
            found: Found::default(),
            ticks: 0,
            walked_ticks: 0,
            room: Room::default(),
            still: None,
            was_unseen: false,
        })
    }

    /// When it wants to look again.
    pub(super) fn deadline(&self) -> Instant {
        self.next
    }

    /// Looks at these processes and all that descend from them, but not into `init`, which is ours and lets nobody look. What
    /// is used up too much, if anything.
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
        let before = self.found.bytes;
        let counted = self.walked(now);
        self.found = counted.unwrap_or(self.found);
        let is_going = usage::free_at(&self.directories).is_some_and(|free| self.room.is_going(free, limit));
        let mut last_of_it = None;
        if counted.is_some() && self.still.is_some() {
            let grown = self.found.bytes.saturating_sub(before);
            last_of_it = self.room.is_taken_by(grown).then_some(grown);
        } else if is_going && self.still.is_none() {
            self.still = Some(Still::hold(all));
            self.begin_walk(limit);
        }
        if self.still.is_some() {
            self.next = now + QUICK;
        } else if self.walk.is_none() && now >= self.next_walk && self.ticks != self.walked_ticks {
            self.walked_ticks = self.ticks;
            self.begin_walk(limit);
        }
        if unseen || self.found.unseen {
            return over(Resource::Disk, limit, UNSEEN);
        }
        let used = self.found.bytes.saturating_add(held.disk);
        if used > limit {
            return over(Resource::Disk, limit, used);
        }
        if let Some(grown) = last_of_it {
            return over(Resource::FreeSpace, FLOOR, grown);
        }
        // It is known that it may go on.
        self.still = self.still.take().filter(|_| counted.is_none());
        None
    }

    /// What the last walk has found, once.
    fn walked(&mut self, now: Instant) -> Option<Found> {
        let (found, took) = self.walk.as_mut()?.try_recv().ok()?;
        self.walk = None;
        self.next_walk = now + took.saturating_mul(SHARE).min(LONGEST);
        Some(found)
    }

    fn begin_walk(&mut self, enough: u64) {
        let (sender, receiver) = oneshot::channel();
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
        self.walk = Some(receiver);
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
