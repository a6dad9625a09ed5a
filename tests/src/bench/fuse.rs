//! Kills a process and all that come from it when it takes too long, since whoever waits for it blocks in a read.
//!
//! The watchdog ends the whole driver; this ends what is not Harbor's, and the run goes on. Must only be given
//! processes that the driver has started and not yet waited for.

use crate::process::{kill_now, tree};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Put out by dropping it.
#[derive(Debug)]
pub struct Fuse(#[expect(dead_code, reason = "that it goes is what is told")] Sender<()>);

impl Fuse {
    /// Kills this process's tree after `limit`, unless put out before.
    pub fn lit(pid: u32, limit: Duration) -> Self {
        let (sender, gone) = channel::<()>();
        std::thread::spawn(move || {
            if gone.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                // What it has started may hold the same pipes.
                tree(pid).into_iter().for_each(kill_now);
            }
        });
        Self(sender)
    }
}
