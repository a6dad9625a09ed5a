//! Processes that stand still for a moment, so that nothing changes while somebody looks at what they have.
//!
//! Owns stopping them and letting them continue. Must never leave one stopped.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Rounds of looking for processes that were started meanwhile.
const ROUNDS: usize = 8;

/// Processes that stand still as long as this value lives.
#[derive(Debug)]
pub struct Still(Vec<u32>);

impl Still {
    /// Stops these, and those that they have started meanwhile.
    pub fn hold(processes: impl Fn() -> Vec<u32>) -> Self {
        let mut still = Self(Vec::new());
        for _ in 0..ROUNDS {
            let found: Vec<_> = processes().into_iter().filter(|pid| !still.0.contains(pid)).collect();
            if found.is_empty() {
                break;
            }
            signal(&found, Signal::SIGSTOP);
            still.0.extend(found);
        }
        still
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        signal(&self.0, Signal::SIGCONT);
    }
}

/// Sends a signal. A process that has ended meanwhile needs none.
fn signal(processes: &[u32], signal: Signal) {
    for pid in processes.iter().filter_map(|pid| i32::try_from(*pid).ok()) {
        let _ = kill(Pid::from_raw(pid), signal);
    }
}
