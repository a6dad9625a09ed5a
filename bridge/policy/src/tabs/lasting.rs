//! How long a session lasts that nobody uses.
//!
//! Must never look at a clock.

use crate::lifecycle::Millis;

/// How long a session outlives the connection that it is of.
pub const GRACE: Millis = 5 * 60_000;

/// A session ends after this long without a call.
pub const IDLE: Millis = 30 * 60_000;
