//! The time that one answer may take.
//!
//! Owns both limits: how long nothing may come, and how long all of it may take. Time in which nobody reads is not the provider's.

use std::time::Duration;

use harbor_ipc_proto::link::model::{Cause, ChatLimits, Failure};
use tokio::time::{Instant, timeout};

use crate::failure::failed;

/// Where nobody has said otherwise. A local server may load a model for minutes before its first byte.
const IDLE: Duration = Duration::from_secs(300);
const TOTAL: Duration = Duration::from_secs(3600);

/// How long the answer may take.
#[derive(Debug)]
pub struct Clock {
    idle: Duration,
    total: Duration,
    end: Instant,
}

impl Clock {
    /// By these limits; the usual ones where they say nothing.
    pub fn of(limits: ChatLimits) -> Self {
        let or = |ms, usual| if ms == 0 { usual } else { Duration::from_millis(ms).min(TOTAL) };
        let total = or(limits.total_ms, TOTAL);
        Self { idle: or(limits.idle_ms, IDLE), total, end: Instant::now() + total }
    }

    /// How long nothing may come.
    pub fn idle(&self) -> Duration {
        self.idle
    }

    /// True if the whole time is not over yet.
    pub fn has_time(&self) -> bool {
        Instant::now() < self.end
    }

    /// Waits for it, within both limits.
    ///
    /// # Errors
    /// When it comes too late.
    pub async fn within<T>(&self, wait: impl Future<Output = T>) -> Result<T, Failure> {
        let left = self.end.saturating_duration_since(Instant::now());
        let late = |why: String| failed(Cause::Timeout, why);
        timeout(left.min(self.idle), wait).await.map_err(|_| match left < self.idle {
            true => late(format!("the answer took more than {} s", self.total.as_secs_f32())),
            false => late(format!("the provider sent nothing for {} s", self.idle.as_secs_f32())),
        })
    }

    /// Nobody read the answer for so long: that is not the provider's time.
    pub fn stood_still_for(&mut self, time: Duration) {
        self.end += time;
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_total_stands_still_while_nobody_reads() {
        let mut clock = Clock::of(ChatLimits { idle_ms: 100, total_ms: 150 });
        assert!(clock.within(sleep(Duration::from_millis(90))).await.is_ok());
        let late = clock.within(sleep(Duration::from_millis(90))).await.unwrap_err();
        assert_eq!(late.message, "the answer took more than 0.15 s");
        clock.stood_still_for(Duration::from_millis(200));
        let late = clock.within(std::future::pending::<()>()).await.unwrap_err();
        assert_eq!(
            (late.cause, late.message.as_str()),
            (Cause::Timeout, "the provider sent nothing for 0.1 s")
        );
    }
}
