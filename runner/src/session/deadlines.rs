//! Deadlines, as the bridge is told of them.
//!
//! Owns what it means that contact takes too long, and that times are told in milliseconds. Must never wait for one.

use std::time::Duration;

use harbor_ipc_proto::link::runner::EndCause;

use super::plan::Plan;

/// Contact has taken too long.
pub(super) fn timeout(plan: &Plan) -> EndCause<'static> {
    EndCause::ContactTimeout { limit_ms: millis(plan.start_timeout) }
}

/// The whole milliseconds of `duration`.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
