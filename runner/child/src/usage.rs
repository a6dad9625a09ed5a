//! Counts the resources of processes, as the kernel tells them in /proc, and how much directories hold.
//!
//! Owns counting: whole trees of processes, since a server is more than the process that was started. Must never take longer
//! than it is told to: others decide how much there is to count.

mod held;
mod walk;

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::statvfs::statvfs;

pub use held::{Held, held_open};
pub use walk::{Found, Walk};

/// The resources that processes use up together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// The counted processes. One whose first thread has ended is named by another thread, which still shows the rest.
    pub pids: Vec<u32>,
    /// Their threads.
    pub threads: u64,
    /// Bytes in memory and in swap; what several share counts for each.
    pub resident: u64,
    /// Bytes of page tables: what is mapped and sparse has few pages and many of these.
    pub tables: u64,
    /// Processor time since their start, in the kernel's ticks.
    pub ticks: u64,
    /// Processor time of their children that have ended, in the kernel's ticks.
    pub ended_ticks: u64,
}

/// The most that any one process below this one had in memory, of those that have ended and were waited for; in bytes, see
/// getrusage(2). More than there is where it cannot be told.
#[must_use]
pub fn most_of_an_ended_child() -> u64 {
    let kibibytes =
        getrusage(UsageWho::RUSAGE_CHILDREN).ok().and_then(|usage| u64::try_from(usage.max_rss()).ok());
    kibibytes.map_or(u64::MAX, |kibibytes| kibibytes.saturating_mul(1024))
}

/// Counts `roots` and all their descendants, at most `most` processes.
#[must_use]
pub fn of_trees(roots: &[u32], most: usize) -> Usage {
    let mut usage = Usage::default();
    let (mut todo, mut seen) = (roots.to_vec(), HashSet::new());
    while let Some(pid) = todo.pop() {
        if usage.pids.len() >= most || !seen.insert(pid) {
            continue;
        }
        if usage.add(pid) {
            todo.extend(children(pid));
        }
    }
    usage
}

/// Counts one process, without its descendants.
#[must_use]
pub fn of_one(pid: u32) -> Usage {
    let mut usage = Usage::default();
    usage.add(pid);
    usage
}

impl Usage {
    /// Counts one more process; false when it has ended.
    fn add(&mut self, pid: u32) -> bool {
        let Some((pid, stat)) = living(pid) else { return false };
        self.pids.push(pid);
        self.threads += stat.threads;
        self.hold(stat.resident, &fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default());
        self.ticks += stat.ticks;
        self.ended_ticks += stat.ended_ticks;
        true
    }

    /// Counts memory: what is resident, and what /proc/PID/status says beside it.
    fn hold(&mut self, resident: u64, status: &str) {
        let of = |name| bytes(status, name).unwrap_or_default();
        self.resident = self.resident.saturating_add(resident).saturating_add(of("VmSwap:"));
        // What has ended has none.
        self.tables = self.tables.saturating_add(of("VmPTE:"));
    }
}

/// Proportional shares of memory in bytes: what several processes share counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shares {
    /// Bytes of their own, of files, and in swap.
    pub own: u64,
    /// Bytes of files in memory, such as those of /dev/shm and those without a name.
    pub shmem: u64,
}

/// The shares of these processes together. `None` where they cannot be read.
#[must_use]
pub fn shares(pids: &[u32]) -> Option<Shares> {
    let all = pids.iter().map(|pid| (*pid, shares_of(*pid)));
    all.into_iter().try_fold(Shares::default(), |sum, (pid, of)| {
        // What has ended meanwhile has no share.
        let of = of.or_else(|| (!held::has_memory(pid)).then(Shares::default))?;
        Some(Shares { own: sum.own + of.own, shmem: sum.shmem + of.shmem })
    })
}

fn shares_of(pid: u32) -> Option<Shares> {
    shares_in(&fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?)
}

/// The shares of one process, by the kernel's text.
fn shares_in(rollup: &str) -> Option<Shares> {
    let (all, shmem) = (bytes(rollup, "Pss:")?, bytes(rollup, "Pss_Shmem:")?);
    // In swap there is no telling what is shared memory.
    let swapped = bytes(rollup, "SwapPss:").unwrap_or_default();
    Some(Shares { own: all.saturating_sub(shmem).saturating_add(swapped), shmem })
}

/// `VmPTE:    52 kB`.
fn bytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Bytes in the /dev/shm that this process sees; 0 where that cannot be found out.
#[must_use]
pub fn shared_memory_seen_by(pid: u32) -> u64 {
    let path = format!("/proc/{pid}/root/dev/shm");
    let Ok(about) = statvfs(path.as_str()) else { return 0 };
    about.blocks().saturating_sub(about.blocks_free()).saturating_mul(about.fragment_size())
}

/// The least that is free at these places, in bytes. `None` where it cannot be found out.
#[must_use]
pub fn free_at(places: &[PathBuf]) -> Option<u64> {
    let at = |place: &PathBuf| statvfs(place.as_path()).ok();
    places.iter().filter_map(at).map(|it| it.blocks_available().saturating_mul(it.fragment_size())).min()
}

/// How many files these processes have open, at most `most` for each. A process that has ended or is not seen counts none.
#[must_use]
pub fn open_files(pids: &[u32], most: usize) -> u64 {
    let of = |pid: &u32| fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |open| open.take(most).count());
    pids.iter().map(of).sum::<usize>() as u64
}

/// Processor time in milliseconds.
#[must_use]
pub fn ticks_to_ms(ticks: u64) -> u64 {
    let a_second = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten();
    let a_second = a_second.and_then(|ticks| u64::try_from(ticks).ok()).filter(|ticks| *ticks > 0);
    ticks.saturating_mul(1000) / a_second.unwrap_or(100)
}

/// A process, seen by a living thread: a first thread that has ended shows neither memory nor files.
fn living(pid: u32) -> Option<(u32, ProcessStat)> {
    let first = stat(pid)?;
    if first.size > 0 || first.threads < 2 {
        return Some((pid, first));
    }
    let other = threads_of(pid).find_map(|thread| Some((thread, stat(thread).filter(|stat| stat.size > 0)?)));
    Some(other.unwrap_or((pid, first)))
}

struct ProcessStat {
    threads: u64,
    /// Bytes of its address space; 0 when it has ended.
    size: u64,
    resident: u64,
    ticks: u64,
    ended_ticks: u64,
}

fn stat(pid: u32) -> Option<ProcessStat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything. Behind it: state is proc(5)'s field 3.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let user: u64 = fields.nth(11)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    // Of its children that have ended.
    let (ended_user, ended_system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let threads = fields.nth(2)?.parse().ok()?;
    let size = fields.nth(2)?.parse().ok()?;
    let pages: u64 = fields.next()?.parse().ok()?;
    let (ticks, ended_ticks) = (user + system, ended_user + ended_system);
    Some(ProcessStat { threads, size, resident: pages * page_size(), ticks, ended_ticks })
}

fn page_size() -> u64 {
    let size = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
    size.and_then(|size| u64::try_from(size).ok()).unwrap_or(4096)
}

/// The numbers of its threads. Empty if there is no such process.
pub(crate) fn threads_of(pid: u32) -> impl Iterator<Item = u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok())
}

/// The children of each of its threads.
fn children(pid: u32) -> Vec<u32> {
    let lists =
        threads_of(pid).map(|thread| fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")));
    lists.flatten().flat_map(|list| numbers(&list)).collect()
}

fn numbers(list: &str) -> Vec<u32> {
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn memory_in_swap_counts() {
        let mut usage = Usage::default();
        usage.hold(4096, "VmRSS:\t       4 kB\nVmPTE:\t       2 kB\nVmSwap:\t     100 kB\n");
        assert_eq!((usage.resident, usage.tables), (104 << 10, 2 << 10));
        let rollup = "Rss:  90 kB\nPss:  40 kB\nPss_Shmem:  10 kB\nSwap:  70 kB\nSwapPss:  60 kB\n";
        assert_eq!(shares_in(rollup), Some(Shares { own: 90 << 10, shmem: 10 << 10 }));
        // A kernel without swap does not speak of it.
        let without = "Pss:  40 kB\nPss_Shmem:  10 kB\n";
        assert_eq!(shares_in(without), Some(Shares { own: 30 << 10, shmem: 10 << 10 }));
        assert_eq!(shares_in("Pss:  40 kB\n"), None);
    }

    #[test]
    fn this_process_is_counted_with_its_threads() {
        let own = std::process::id();
        let usage = of_trees(&[own], 100);
        assert!(usage.pids.contains(&own) && usage.threads > 0 && usage.resident > 100_000);
        assert!(shares(&[own]).is_some_and(|shares| 0 < shares.own && shares.own <= usage.resident * 2));
        assert_eq!(of_trees(&[own], 0), Usage::default());
        assert!(
            open_files(&[own], 1000) > 2 && open_files(&[own], 2) == 2 && open_files(&[u32::MAX], 9) == 0
        );
        assert!((1..=1000).contains(&ticks_to_ms(1)));
    }

    #[test]
    fn what_ended_children_have_used_is_counted_apart() {
        let script = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; echo; read line";
        let (stdin, stdout) = (std::process::Stdio::piped(), std::process::Stdio::piped());
        let mut shell = std::process::Command::new("sh");
        let mut shell = shell.args(["-c", script]).stdin(stdin).stdout(stdout).spawn().unwrap();
        shell.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let usage = of_one(shell.id());
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert!(usage.ended_ticks > usage.ticks, "{usage:?}");
        assert!((100_000..1 << 32).contains(&most_of_an_ended_child()));
    }

    #[test]
    fn a_large_area_with_few_pages_counts_by_its_page_tables() {
        let script = "import mmap, sys\n\
                      NORESERVE = 0x4000\n\
                      flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE\n\
                      area = mmap.mmap(-1, 8 << 30, flags=flags, prot=mmap.PROT_READ)\n\
                      for at in range(0, 8 << 30, 2 << 20): area[at]\n\
                      print(flush=True)\n\
                      sys.stdin.read()";
        let (stdin, stdout) = (std::process::Stdio::piped(), std::process::Stdio::piped());
        let mut python = std::process::Command::new("python3");
        let mut child = python.args(["-c", script]).stdin(stdin).stdout(stdout).spawn().unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let usage = of_trees(&[child.id()], 10);
        drop(child.stdin.take());
        child.wait().unwrap();
        // A table of 4 KiB for every 2 MiB.
        assert!((16 << 20..24 << 20).contains(&usage.tables), "{usage:?}");
    }
}
