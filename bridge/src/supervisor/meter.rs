//! The use of processes and files, measured when somebody wants to know.
//!
//! ```text
//!  wanted, and older than it may be ─► which processes there are ─► a thread reads /proc ─► Measured, with its time
//! ```
//!
//! Owns the last measurement. Must never read /proc or a directory on the loop, nor measure twice at once: a caller that comes
//! meanwhile gets the measurement that is under way.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_child::usage::{self, shares, ticks_to_ms};
use harbor_ipc_proto::server_id::ServerId;
use tokio::sync::Semaphore;

/// The most processes of one server that are looked at.
const MAX_PROCESSES: usize = 10_000;
/// How many open files of one process are counted.
const MAX_OPEN_FILES: usize = 100_000;
/// How many files of one directory are counted.
const MAX_FILES: usize = 10_000;

/// A measurement.
#[derive(Debug, Clone)]
pub struct UsageMeasurement {
    /// The time of the measurement.
    pub at: Instant,
    /// The bridge's own process.
    pub bridge: ProcessUsage,
    /// The servers that ran.
    pub servers: BTreeMap<ServerId, ProcessUsage>,
    /// The sizes on the disk.
    pub stores: Stores,
}

/// The use of some processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// The first of them: when it is another process, the numbers begin anew.
    pub root: u32,
    /// Bytes; shared memory is counted once.
    pub memory: u64,
    /// Processor time, in milliseconds.
    pub cpu_ms: u64,
    /// Thousandths of one processor since the measurement before.
    pub cpu_permille: Option<u64>,
    /// Open files.
    pub open_files: u64,
    /// Processes.
    pub processes: u64,
    /// Threads.
    pub threads: u64,
}

/// The sizes of the stores, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stores {
    /// The database with its log.
    pub database: u64,
    /// The audit log.
    pub audit: u64,
    /// The servers' logs.
    pub server_logs: u64,
}

/// The last measurement.
#[derive(Debug)]
pub(super) struct Meter {
    last: RefCell<Option<Rc<UsageMeasurement>>>,
    turn: Semaphore,
}

impl Default for Meter {
    fn default() -> Self {
        Self { last: RefCell::default(), turn: Semaphore::new(1) }
    }
}

/// The places of the stores.
pub(super) struct Places {
    pub database: PathBuf,
    pub audit: PathBuf,
    pub server_logs: PathBuf,
}

impl Meter {
    /// The last measurement, if there is one.
    pub(super) fn last(&self) -> Option<Rc<UsageMeasurement>> {
        self.last.borrow().clone()
    }

    /// Measures, unless that was done less than `max_age` ago; one caller at a time. `look` returns the
    /// processes of each running server, and the places of the stores.
    pub(super) async fn measure(
        &self,
        max_age: Duration,
        look: impl FnOnce() -> (Vec<(ServerId, Vec<u32>)>, Places),
    ) {
        let Ok(_turn) = self.turn.acquire().await else { return };
        let before = self.last();
        if before.as_ref().is_some_and(|before| before.at.elapsed() < max_age) {
            return;
        }
        let (subjects, places) = look();
        let taken = tokio::task::spawn_blocking(move || {
            let servers = subjects.into_iter().map(|(id, roots)| (id, used(&roots))).collect();
            (used(&[std::process::id()][..]), servers, sizes(&places))
        });
        let Ok((bridge, servers, stores)) = taken.await else { return };
        let now = UsageMeasurement { at: Instant::now(), bridge, servers, stores };
        *self.last.borrow_mut() = Some(Rc::new(now.since(before.as_deref())));
    }
}

impl UsageMeasurement {
    /// Adds the use since `before`.
    fn since(mut self, before: Option<&Self>) -> Self {
        let Some(before) = before else { return self };
        let passed = u64::try_from((self.at - before.at).as_millis()).unwrap_or(u64::MAX).max(1);
        let permille = |now: &ProcessUsage, then: &ProcessUsage| {
            let is_same = now.root == then.root;
            is_same.then(|| now.cpu_ms.saturating_sub(then.cpu_ms).saturating_mul(1000) / passed)
        };
        self.bridge.cpu_permille = permille(&self.bridge, &before.bridge);
        for (id, now) in &mut self.servers {
            now.cpu_permille = before.servers.get(id).and_then(|then| permille(now, then));
        }
        self
    }
}

fn used(roots: &[u32]) -> ProcessUsage {
    // The bridge's own children are servers, and what has ended of them is no work of its own.
    let is_bridge = roots == [std::process::id()];
    let usage =
        if is_bridge { usage::of_one(std::process::id()) } else { usage::of_trees(roots, MAX_PROCESSES) };
    let ended = if is_bridge { 0 } else { usage.ended_ticks };
    let shares = shares(&usage.pids).unwrap_or_default();
    ProcessUsage {
        root: roots.first().copied().unwrap_or_default(),
        // Where the shares cannot be read, what is shared counts for each.
        memory: Some(shares.own + shares.shmem).filter(|shared| *shared > 0).unwrap_or(usage.resident),
        cpu_ms: ticks_to_ms(usage.ticks + ended),
        cpu_permille: None,
        open_files: usage::open_files(&usage.pids, MAX_OPEN_FILES),
        processes: usage.pids.len() as u64,
        threads: usage.threads,
    }
}

fn sizes(places: &Places) -> Stores {
    let wal = places.database.with_extension("db-wal");
    Stores {
        database: size(&places.database) + size(&wal),
        audit: size_of_all(places.audit.parent(), places.audit.file_stem()),
        server_logs: size_of_all(Some(&places.server_logs), None),
    }
}

fn size(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |about| about.len())
}

/// The files of a directory, or those whose names begin like that.
fn size_of_all(directory: Option<&Path>, stem: Option<&std::ffi::OsStr>) -> u64 {
    let entries =
        directory.and_then(|directory| fs::read_dir(directory).ok()).into_iter().flatten().flatten();
    let begins = |name: &std::ffi::OsStr| {
        stem.is_none_or(|stem| name.as_encoded_bytes().starts_with(stem.as_encoded_bytes()))
    };
    let files = entries.take(MAX_FILES).filter(|entry| begins(&entry.file_name()));
    files
        .filter_map(|entry| entry.metadata().ok())
        .filter(fs::Metadata::is_file)
        .map(|about| about.len())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_that_since_the_last_time_of_the_same_process() {
        let at = Instant::now();
        let measured = |seconds: u64, root, cpu_ms| UsageMeasurement {
            at: at + Duration::from_secs(seconds),
            bridge: ProcessUsage { root: 1, cpu_ms, ..ProcessUsage::default() },
            servers: BTreeMap::from([(
                ServerId::parse("s").unwrap(),
                ProcessUsage { root, cpu_ms, ..ProcessUsage::default() },
            )]),
            stores: Stores::default(),
        };
        let permille = |of: UsageMeasurement| {
            (of.bridge.cpu_permille, of.servers.into_values().next().unwrap().cpu_permille)
        };
        let first = measured(0, 7, 1000);
        assert_eq!(permille(first.clone().since(None)), (None, None));
        assert_eq!(permille(measured(10, 7, 6000).since(Some(&first))), (Some(500), Some(500)));
        assert_eq!(
            permille(measured(10, 8, 6000).since(Some(&first))),
            (Some(500), None),
            "it was restarted"
        );
    }

    #[test]
    fn this_process_and_files_are_measured() {
        let own = used(&[std::process::id()]);
        assert!(own.memory > 100_000 && own.open_files > 2 && own.threads > 0 && own.processes == 1);
        let dir = tempfile::tempdir().unwrap();
        for (name, size) in [("audit.log", 10), ("audit.1.log", 20), ("other", 40)] {
            fs::write(dir.path().join(name), vec![0; size]).unwrap();
        }
        assert_eq!(size_of_all(Some(dir.path()), Some("audit".as_ref())), 30);
        assert_eq!(size_of_all(Some(dir.path()), None), 70);
        assert_eq!((size(Path::new("/absent")), size_of_all(Some(Path::new("/absent")), None)), (0, 0));
    }
}
