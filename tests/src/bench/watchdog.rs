//! Ends the driver when a step takes too long, since it blocks in reads that may never return, or when a signal says so.
//!
//! Owns the list of processes to take along and of directories to remove. Must not touch what the driver did not make.

use crate::Outcome;
use crate::process::kill_now;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// No single step takes longer, unless something hangs.
const STEP: Duration = Duration::from_secs(60);

/// How long processes that were killed may take to be gone.
const LAST_WRITES: Duration = Duration::from_secs(2);

struct Watched {
    step: String,
    step_end: Option<Instant>,
    children: Vec<u32>,
    directories: Vec<PathBuf>,
}

static WATCHED: Mutex<Watched> = Mutex::new(Watched {
    step: String::new(),
    step_end: None,
    children: Vec::new(),
    directories: Vec::new(),
});

/// Watches from now on; the whole run may take `limit`.
pub fn start(limit: Duration) -> Outcome<()> {
    // By handlers, since a mask would be inherited by all that is started.
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let run_end = Instant::now() + limit;
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            let now = Instant::now();
            let watched = watched();
            let hangs = watched.step_end.is_some_and(|end| now > end);
            if hangs || now > run_end {
                let why = if hangs { "no end in sight" } else { "out of time" };
                crate::say(&format!("bench: {why}: {}", watched.step));
                leave(&watched, 3);
            }
        }
    });
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            crate::say(&format!("bench: ended by signal {signal}"));
            leave(&watched(), 128 + signal);
        }
    });
    Ok(())
}

/// Ends the driver with what it has started and made.
fn leave(watched: &Watched, code: i32) -> ! {
    watched.children.iter().copied().for_each(kill_now);
    let end = Instant::now() + LAST_WRITES;
    for directory in &watched.directories {
        // Whoever is being killed may still write there.
        while fs::remove_dir_all(directory).is_err() && directory.exists() && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
    }
    std::process::exit(code);
}

/// A step begins, and the one before is over.
pub fn step(name: String) {
    let mut watched = watched();
    watched.step = name;
    watched.step_end = Some(Instant::now() + STEP);
}

/// The driver started this process.
pub fn started(pid: u32) {
    watched().children.push(pid);
}

/// This process has ended, and its id may soon be another's.
pub fn ended(pid: u32) {
    watched().children.retain(|child| *child != pid);
}

/// The driver made this directory.
pub fn made(directory: PathBuf) {
    watched().directories.push(directory);
}

/// It is gone.
pub fn removed(directory: &Path) {
    watched().directories.retain(|made| made != directory);
}

fn watched() -> MutexGuard<'static, Watched> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}
