//! The limits for the calls of one origin.
//!
//! Must never hold anything that is used up.

/// The limits for the calls of one origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// Calls at once; 0 means no bound, and so no queue.
    pub concurrent: u32,
    /// Calls that may wait for a place.
    pub queue: u32,
    /// How long each of them may wait, in milliseconds; 0 means that none waits.
    pub queue_wait_ms: u64,
    /// Calls per minute, which may all come at one moment; none means no bound.
    pub per_minute: Option<u32>,
}
