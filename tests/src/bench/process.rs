//! The processes that take part: starting and ending them, and what /proc says about them.
//!
//! Must never signal a process that does not come from the driver.

use crate::Outcome;
use crate::watchdog;
use crate::wire::{Framing, Link};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a process may take to end after its stdin closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(6);

/// A process of the driver's. Drop the link to its stdin before: that is what tells it to end.
#[derive(Debug)]
pub struct Started {
    child: Child,
    name: String,
    /// Whether it has no stdin that could tell it to end.
    wants_signal: bool,
}

/// Starts a program with its stdin and stdout as a link.
pub fn start(command: &mut Command, framing: Framing) -> Outcome<(Started, Link)> {
    let name = command.get_program().to_string_lossy().into_owned();
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|error| format!("cannot start {name}: {error}"))?;
    watchdog::started(child.id());
    let pipes = child.stdin.take().zip(child.stdout.take());
    let started = Started { child, name, wants_signal: false };
    let (stdin, stdout) = pipes.ok_or("no pipes")?;
    Ok((started, Link::of_pipes(OwnedFd::from(stdin), OwnedFd::from(stdout), framing)))
}

/// Starts a program that serves until it gets a signal; what it says goes to a file.
pub fn serve(command: &mut Command, said: &Path) -> Outcome<Started> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = fs::File::create(said)?;
    command.stdin(Stdio::null()).stderr(out.try_clone()?).stdout(out);
    let child = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
    watchdog::started(child.id());
    Ok(Started { child, name, wants_signal: true })
}

impl Started {
    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended already.
    pub fn is_over(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    fn ends_within(&mut self, grace: Duration) -> bool {
        let end = Instant::now() + grace;
        while Instant::now() < end {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                _ => return true,
            }
        }
        false
    }

    fn end_by_signal(&mut self) {
        let family = tree(self.pid());
        signal(self.pid(), Signal::SIGTERM);
        if !self.ends_within(GRACE) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        // Not every program takes its own along, and nobody else would.
        family.into_iter().skip(1).for_each(kill_now);
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let is_over = if self.wants_signal { self.is_over() } else { self.ends_within(GRACE) };
        if !is_over {
            if !self.wants_signal {
                crate::say(&format!("{} did not end with its stdin", self.name));
            }
            self.end_by_signal();
        }
        watchdog::ended(self.child.id());
    }
}

/// Ends a process without asking and without waiting.
pub fn kill_now(pid: u32) {
    signal(pid, Signal::SIGKILL);
}

/// Keeps a process from doing anything, so that a call to it stays open.
pub fn hold(pid: u32) {
    signal(pid, Signal::SIGSTOP);
}

fn signal(pid: u32, signal: Signal) {
    if let Ok(pid) = i32::try_from(pid) {
        let _ = kill(Pid::from_raw(pid), signal);
    }
}

/// The only child of a process.
pub fn only_child(parent: u32) -> Outcome<u32> {
    match children(parent)?[..] {
        [pid] => Ok(pid),
        ref found => Err(format!("process {parent} has {} children instead of one", found.len()).into()),
    }
}

/// The child of a process that has given itself this name, where there is one.
pub fn child_named(parent: u32, name: &str) -> Outcome<Option<u32>> {
    Ok(children(parent)?.into_iter().find(|pid| is_named(*pid, name)))
}

/// A process and all that come from it, the process first.
pub fn tree(root: u32) -> Vec<u32> {
    let (mut found, mut at) = (vec![root], 0);
    while let Some(parent) = found.get(at) {
        found.extend(children(*parent).unwrap_or_default());
        at += 1;
    }
    found
}

/// Whether a process has given itself this name.
pub fn is_named(pid: u32, name: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim_end() == name)
}

fn children(parent: u32) -> Outcome<Vec<u32>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // Behind the name, which is in brackets and may contain anything: state, parent.
        let parent_field = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
        if parent_field.and_then(|field| field.parse::<u32>().ok()) == Some(parent) {
            found.push(pid);
        }
    }
    Ok(found)
}

/// Processor time of all threads of a process so far, in nanoseconds.
pub fn cpu_ns(pid: u32) -> Outcome<u64> {
    let mut total = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may have ended since; what it used is lost, which only a thread per call would make matter.
        let text = fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        total += text.split_whitespace().next().map_or(Ok(0), str::parse::<u64>)?;
    }
    Ok(total)
}

/// Whether something traces all threads of a process.
pub fn is_traced(pid: u32) -> Outcome<bool> {
    let mut all = true;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = fs::read_to_string(task?.path().join("status")).unwrap_or_default();
        all &= text.lines().all(|line| line.strip_prefix("TracerPid:").is_none_or(|by| by.trim() != "0"));
    }
    Ok(all)
}

/// What a process holds, in KiB.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Its share of all pages that it has mapped.
    pub pss: u64,
    /// Pages that only it has and has written to: what one more such process costs.
    pub private_dirty: u64,
}

impl std::ops::Add for Memory {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { pss: self.pss + other.pss, private_dirty: self.private_dirty + other.private_dirty }
    }
}

/// Whether this user may see what a process holds.
pub fn is_readable(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/smaps_rollup")).is_ok()
}

/// What a process holds now.
pub fn memory(pid: u32) -> Outcome<Memory> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let field = |name: &str| -> Outcome<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number =
            line.and_then(|rest| rest.split_whitespace().next()).ok_or("smaps_rollup lacks a line")?;
        Ok(number.parse()?)
    };
    Ok(Memory { pss: field("Pss:")?, private_dirty: field("Private_Dirty:")? })
}
