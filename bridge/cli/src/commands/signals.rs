//! Signals that a thread of ours receives, so that they do not end us at once.
//!
//! Owns the list of these signals, and ending us as they would have. Must never do the work that comes before
//! that: the waiting thread knows it.

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, raise};

/// Signals that end us, or stop us for a while. SIGSTOP cannot be received.
const SIGNALS: [Signal; 6] =
    [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTSTP, Signal::SIGCONT];

/// Signals, heard by whoever waits for them instead of ending us.
#[derive(Debug, Clone, Copy)]
pub struct Signals(SigSet);

impl Signals {
    /// Holds them back in this thread and in those that it begins. A program that we start gets them as ever.
    pub fn hold_back() -> Result<Self, Errno> {
        let set: SigSet = SIGNALS.into_iter().collect();
        set.thread_block()?;
        Ok(Self(set))
    }

    pub fn wait(self) -> Result<Signal, Errno> {
        self.0.wait()
    }

    /// Ends us as this signal would have.
    pub fn obey(self, signal: Signal) -> Result<(), Errno> {
        self.0.thread_unblock()?;
        raise(signal)
    }
}
