//! The current time.
//!
//! Owns the two clocks that also run while the machine sleeps. Durations within a call are
//! `std::time::Instant`'s.

use std::time::{SystemTime, UNIX_EPOCH};

use nix::time::{ClockId, clock_gettime};

/// Milliseconds since 1970; may jump when the person or the network sets the clock.
#[must_use]
pub fn wall_clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Nanoseconds since 1970; the same clock.
#[must_use]
pub fn wall_clock_nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Milliseconds since the machine was started, including its sleep. It never jumps, so it is for things that end at a time.
#[must_use]
pub fn boot_clock() -> u64 {
    let since = clock_gettime(ClockId::CLOCK_BOOTTIME).map(std::time::Duration::from).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_go_forward() {
        let (wall, boot) = (wall_clock(), boot_clock());
        assert!(wall > 1_700_000_000_000 && boot > 0);
        assert!(boot_clock() >= boot && wall_clock_nanos() / 1_000_000 >= wall);
    }
}
