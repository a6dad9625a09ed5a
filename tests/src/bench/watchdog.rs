//! Ends the driver when a step takes too long, since it blocks in reads that may never return.
//!
//! Owns the list of processes to take along. Must not touch a process that the driver did not start.

use crate::process::kill_now;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// No single step takes longer, unless something hangs.
const STEP: Duration = Duration::from_secs(60);

struct Watched {
    step: String,
    step_end: Option<Instant>,
    children: Vec<u32>,
}

static WATCHED: Mutex<Watched> =
    Mutex::new(Watched { step: String::new(), step_end: None, children: Vec::new() });

/// Watches from now on; the whole run may take `limit`.
pub fn start(limit: Duration) {
    let run_end = Instant::now() + limit;
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = Instant::now();
            let watched = watched();
            let hangs = watched.step_end.is_some_and(|end| now > end);
            if hangs || now > run_end {
                let why = if hangs { "no end in sight" } else { "out of time" };
                crate::say(&format!("bench: {why}: {}", watched.step));
                watched.children.iter().copied().for_each(kill_now);
                std::process::exit(3);
            }
        }
    });
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

fn watched() -> MutexGuard<'static, Watched> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}
