//! The ticket of one call.
//!
//! Must never be made twice with one number.

/// One call that was admitted or waits. It is finished once, by [`finish`](super::Limiter::finish).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallTicket(pub(super) u64);
