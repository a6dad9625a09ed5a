//! Signals that this process waits for.
//!
//! ```text
//!  signal ─► handler: one byte ─► socket pair ─► recv
//! ```
//!
//! Owns the pair and the handlers. tokio's own signals hold a channel for each of the 64 that exist: 24 KiB in every runner.
//! Must never tell which of several signals came, nor how often: the waiting task looks itself for what has happened.

use std::io;
use std::os::unix::net::UnixStream as Pair;
use std::sync::Arc;

use nix::sys::signal::Signal;
use signal_hook::SigId;
use signal_hook::low_level::{pipe, unregister};
use tokio::net::UnixStream;

use crate::reading::read_some;

/// From now on SIGXFSZ ends this process no more: a write to a file that may not grow is an error instead.
/// Programs that are started from here get it as usual.
///
/// # Errors
/// When the system refuses.
pub fn outlive_full_files() -> io::Result<()> {
    // A handler, which execve resets, and not "ignore", which it would hand on.
    signal_hook::flag::register(Signal::SIGXFSZ as i32, Arc::default()).map(drop)
}

/// Signals that are listened to until this is dropped.
#[derive(Debug)]
pub struct Signals {
    told: UnixStream,
    handlers: Vec<SigId>,
}

impl Signals {
    /// Listens to `signals` from now on. They no longer do what they do by default.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn listen(signals: &[Signal]) -> io::Result<Self> {
        let (told, teller) = Pair::pair()?;
        told.set_nonblocking(true)?;
        let mut listening = Self { told: UnixStream::from_std(told)?, handlers: Vec::new() };
        for signal in signals {
            listening.handlers.push(pipe::register(*signal as i32, teller.try_clone()?)?);
        }
        Ok(listening)
    }

    /// Waits until one has come since the last time, or since the beginning.
    pub async fn recv(&mut self) {
        let mut bytes = [0; 64];
        // This end lives on and so do the handlers': there is no end of the stream and no error.
        let _ = read_some(&mut self.told, &mut bytes).await;
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for handler in self.handlers.drain(..) {
            unregister(handler);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "local")]
    async fn a_signal_is_told_also_one_that_came_before_somebody_waits() {
        let mut signals = Signals::listen(&[Signal::SIGUSR1, Signal::SIGUSR2]).unwrap();
        for signal in [Signal::SIGUSR1, Signal::SIGUSR2] {
            nix::sys::signal::raise(signal).unwrap();
            signals.recv().await;
        }
    }
}
