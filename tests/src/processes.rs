//! Looks at processes from outside, through `/proc`.
//!
//! A process is its id together with its start time, so that an id that was given again is not taken for the
//! old process. A zombie counts as gone: it runs nothing any more. So does what only waits to become one: the init of
//! a PID namespace, until others have reaped what was inside. Must never signal what it was not given.

use std::collections::HashMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A process that was seen alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    started: u64,
}

/// The kernel's flag of a process that is past its end.
const EXITING: u32 = 4;

struct Stat {
    parent: u32,
    started: u64,
}

impl Process {
    /// The process with this id, if it is alive.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        stat(pid).map(|stat| Self { pid, started: stat.started })
    }

    /// From a process id in a reply.
    ///
    /// # Panics
    /// When it is no id of a process that is alive.
    #[must_use]
    pub fn named_by(value: &serde_json::Value) -> Self {
        let pid = value.as_u64().and_then(|pid| u32::try_from(pid).ok());
        pid.and_then(Self::of).unwrap_or_else(|| panic!("{value} is not the id of a process that is alive"))
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_gone(self) -> bool {
        Self::of(self.pid) != Some(self)
    }

    /// The id of its parent; 0 when it is gone.
    #[must_use]
    pub fn parent(self) -> u32 {
        stat(self.pid).filter(|stat| stat.started == self.started).map_or(0, |stat| stat.parent)
    }

    /// What it was started as.
    #[must_use]
    pub fn command_line(self) -> String {
        let bytes = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ").trim_end().to_owned()
    }

    /// The id that it has for itself: another one in a PID namespace.
    #[must_use]
    pub fn own_id(self) -> Option<u32> {
        self.status("NSpid").split_ascii_whitespace().last()?.parse().ok()
    }

    /// A line of `/proc/…/status`; empty when there is none.
    #[must_use]
    pub fn status(self, name: &str) -> String {
        let text = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_default().trim().to_owned()
    }

    /// Sends a signal. Does nothing when it is gone.
    pub fn signal(self, signal: Signal) {
        if !self.is_gone() {
            let pid = i32::try_from(self.pid).expect("a process id fits");
            let _ = kill(Pid::from_raw(pid), signal);
        }
    }
}

/// Every process that is alive, with its parent.
fn all() -> HashMap<u32, Stat> {
    let entries = fs::read_dir("/proc").expect("/proc is there");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, stat(pid)?))).collect()
}

fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may contain anything, parentheses too.
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let flags: u32 = fields.nth(4)?.parse().ok()?;
    let started = fields.nth(12)?.parse().ok()?;
    (!matches!(state, "Z" | "X") && flags & EXITING == 0).then_some(Stat { parent, started })
}

/// The children of `pid`, their children, and so on.
#[must_use]
pub fn descendants(pid: u32) -> Vec<Process> {
    let all = all();
    let mut family = vec![pid];
    complete(&mut family, &all);
    family[1..].iter().map(|&pid| Process { pid, started: all[&pid].started }).collect()
}

/// The one of `processes` that has this id for itself.
///
/// # Panics
/// When none has.
#[must_use]
pub fn by_own_id(id: &str, processes: &[Process]) -> Process {
    let found = processes.iter().copied().find(|process| process.own_id() == id.parse().ok());
    found.unwrap_or_else(|| panic!("none has the id {id} for itself:{}", describe(processes)))
}

/// Adds the children, their children, and so on.
fn complete(family: &mut Vec<u32>, all: &HashMap<u32, Stat>) {
    let mut at = 0;
    while at < family.len() {
        let parent = family[at];
        let children = all.iter().filter(|(_, stat)| stat.parent == parent).map(|(pid, _)| *pid);
        let new: Vec<_> = children.filter(|pid| !family.contains(pid)).collect();
        family.extend(new);
        at += 1;
    }
}

/// The processes whose environment or command line contains one of `marks`, this one excepted, and what is below
/// them.
#[must_use]
pub fn marked(marks: &[String]) -> Vec<Process> {
    let carries = |file: &str, pid: u32| {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        marks.iter().any(|mark| text.contains(mark))
    };
    let (all, own) = (all(), std::process::id());
    let is_marked = |pid: u32| pid != own && (carries("environ", pid) || carries("cmdline", pid));
    let mut family: Vec<_> = all.keys().copied().filter(|pid| is_marked(*pid)).collect();
    complete(&mut family, &all);
    family.iter().map(|&pid| Process { pid, started: all[&pid].started }).collect()
}

/// Waits until all of them are gone; returns those that are not.
#[must_use]
pub fn outlive(processes: &[Process], limit: Duration) -> Vec<Process> {
    let until = Instant::now() + limit;
    loop {
        let left: Vec<_> = processes.iter().copied().filter(|process| !process.is_gone()).collect();
        if left.is_empty() || Instant::now() >= until {
            return left;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Demands that all of them are gone in time.
///
/// # Panics
/// When one is not; names it.
pub fn assert_gone(processes: &[Process], limit: Duration) {
    let left = outlive(processes, limit);
    assert!(left.is_empty(), "still running after {limit:?}:{}", describe(&left));
}

/// One line for each.
#[must_use]
pub fn describe(processes: &[Process]) -> String {
    processes.iter().map(|p| format!("\n  {} {}", p.pid, p.command_line())).collect()
}

/// Waits until `check` holds.
///
/// # Panics
/// When it does not within `limit`; says what was waited for.
pub fn wait_until(what: &str, limit: Duration, mut check: impl FnMut() -> bool) {
    let until = Instant::now() + limit;
    while !check() {
        assert!(Instant::now() < until, "waited {limit:?} in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
