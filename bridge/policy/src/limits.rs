//! Bounds on what a request may ask for: times, sizes, numbers.

use std::time::Duration;

/// How long a call may take when its request does not say.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest that a call may ask for.
pub const MAX_CALL_TIMEOUT: Duration = Duration::from_secs(3600);

/// How long a call may take in all, however much progress it makes, when its request does not say.
pub const PROGRESS_LIMIT: Duration = Duration::from_secs(600);

/// How long a start and contact may take together when the definition does not say.
pub const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The same limit for a command that downloads before it runs.
pub const WRAPPER_START_TIMEOUT: Duration = Duration::from_secs(120);

/// How long the installation of a package may take: one step of it.
pub const INSTALL_TIMEOUT: Duration = Duration::from_secs(900);

/// Processes of a server for web origins and AI clients, where each has its own.
pub const INSTANCES: u32 = 8;
/// How long a process may stay without a call if its server's settings do not say.
pub const INSTANCE_IDLE: Duration = Duration::from_secs(15 * 60);

/// Restarts without a stable period in between, and the delays before them in milliseconds.
pub const RESTART_ATTEMPTS: u32 = 3;
/// See [`RESTART_ATTEMPTS`].
pub const RESTART_DELAYS_MS: [u64; 3] = [2000, 4000, 6000];

/// A server that has run for this long is stable, and its restarts count anew.
pub const STABLE: Duration = Duration::from_secs(60);

/// A server that failed after it had run is tried again on demand, at most so often.
pub const HALF_OPEN: Duration = Duration::from_secs(60);

/// How long a call waits for its server to run, and how many may.
pub const QUEUE_WAIT: Duration = Duration::from_secs(10);
/// See [`QUEUE_WAIT`].
pub const QUEUE_LENGTH: u32 = 1024;

/// How often a server with open calls is asked for a sign of life.
pub const PROBE_INTERVAL: Duration = Duration::from_secs(5);

/// How long after a call's timeout a server may stay without one.
pub const HUNG_GRACE: Duration = Duration::from_secs(10);

/// The most servers that start at once with the bridge.
pub const STARTS_AT_ONCE: usize = 4;

/// How long a server may take after its stdin was closed, and after SIGTERM.
pub const EOF_GRACE: Duration = Duration::from_millis(1500);
/// See [`EOF_GRACE`].
pub const TERM_GRACE: Duration = Duration::from_millis(1500);

/// How long the removal of a container may take, once the engine's program has ended.
pub const REMOVAL: Duration = Duration::from_secs(5);

/// How much longer than its ladder a stop may take before the runner itself is killed.
pub const STOP_SLACK: Duration = Duration::from_secs(1);

/// How much longer than its limit a start may take before the runner itself is killed.
pub const START_SLACK: Duration = Duration::from_secs(5);

/// The longest line that is read from a server, in bytes.
pub const MAX_LINE: u64 = 64 * 1024 * 1024;

/// Requests that one connection may have open. A connection that uses all of them leaves half a server to others.
pub const OPEN_PER_CLIENT: u32 = OPEN_PER_SERVER / 2;

/// Requests that one server may have open.
pub const OPEN_PER_SERVER: u32 = 4096;

/// MCP's log levels.
pub const LEVELS: &[&str] =
    &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// Bytes of pushes that may wait for a client that does not read. Beyond this limit log lines are left out; beyond
/// [`PUSHES_MOST`] the client is cut off.
pub const PUSHES_WAIT: usize = 4 * 1024 * 1024;
/// See [`PUSHES_WAIT`].
pub const PUSHES_MOST: usize = 8 * 1024 * 1024;

/// How long a call may take whose request says `asked` milliseconds, else `default`. `None`: out of range.
#[must_use]
pub fn call_timeout(default: Duration, asked: Option<u64>) -> Option<Duration> {
    match asked {
        None => Some(default),
        Some(0) => None,
        Some(ms) => Some(Duration::from_millis(ms)).filter(|asked| *asked <= MAX_CALL_TIMEOUT),
    }
}

/// How long such a call may take in all if it makes progress. None if `asked` is out of range, or shorter than the timeout.
#[must_use]
pub fn longest_call(timeout: Duration, asked: Option<u64>) -> Option<Duration> {
    match asked {
        None => Some(PROGRESS_LIMIT.max(timeout)),
        Some(ms) => {
            Some(Duration::from_millis(ms)).filter(|asked| (timeout..=MAX_CALL_TIMEOUT).contains(asked))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_exact() {
        let second = Duration::from_secs(1);
        assert_eq!(call_timeout(second, None), Some(second));
        assert_eq!(call_timeout(second, Some(0)), None);
        assert_eq!(call_timeout(second, Some(1)), Some(Duration::from_millis(1)));
        assert_eq!(call_timeout(second, Some(3_600_000)), Some(MAX_CALL_TIMEOUT));
        assert_eq!(call_timeout(second, Some(3_600_001)), None);
        assert_eq!(longest_call(second, None), Some(PROGRESS_LIMIT));
        assert_eq!(longest_call(2 * PROGRESS_LIMIT, None), Some(2 * PROGRESS_LIMIT));
        assert_eq!(longest_call(second, Some(1000)), Some(second));
        assert_eq!(longest_call(second, Some(999)), None);
    }
}
