//! Signals that are heard by a thread of ours instead of ending us.
//!
//! Owns which these are, and ending us as they would have. Must never do what is to be done before that: whoever waits knows it.

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, raise};

/// What ends us, or stops us for a while. SIGSTOP cannot be heard.
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
