//! The supervision of one server: the settings of its definition, checked and completed.
//!
//! Owns the ranges and the defaults, in one table below. A `Settings` is always valid, and must never be checked again.

use std::time::Duration;

use harbor_ipc_proto::client::{Attempts, Instance, RestartWhen, Supervision};

use crate::limits;

/// A supervised server's numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The rules for starting it again.
    pub restart: Restart,
    /// The time from launch to contact.
    pub start_timeout: Duration,
    /// The time for a call that sets none.
    pub call_timeout: Duration,
    /// How long a call waits for the server to run.
    pub queue_wait: Duration,
    /// The time from a call's timeout to the verdict that the server is hung.
    pub hung_grace: Duration,
    /// The time from the end of its stdin to SIGTERM.
    pub eof_grace: Duration,
    /// The time from SIGTERM to SIGKILL.
    pub term_grace: Duration,
    /// True if it starts with the bridge.
    pub auto_start: bool,
    /// True if a call starts it.
    pub lazy: bool,
    /// How long it may stay without a call.
    pub idle_stop: Option<Duration>,
    /// Whose process answers.
    pub instance: Instance,
    /// How many there may be beside the plain one.
    pub max_instances: u32,
}

/// The restart policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Restart {
    /// After which ends.
    pub when: RestartWhen,
    /// The number of restarts without a stable period in between.
    pub attempts: Attempts,
    /// The delays in milliseconds, for the first, second, … restart. The last one repeats. Never empty.
    pub delays: Vec<u64>,
    /// The most that is added to a delay at random.
    pub jitter_percent: u64,
}

impl Restart {
    /// The delay before restart number `attempt` (from 1), in milliseconds; `random` decides how much longer.
    #[must_use]
    pub fn delay(&self, attempt: u32, random: u64) -> u64 {
        let at = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
        let delay = self.delays.get(at).or(self.delays.last()).copied().unwrap_or_default();
        delay + delay * (random % (self.jitter_percent + 1)) / 100
    }

    /// True if restart number `attempt` (from 1) is still allowed.
    #[must_use]
    pub fn allows(&self, attempt: u32) -> bool {
        self.when != RestartWhen::Never
            && match self.attempts {
                Attempts::Most(most) => attempt <= most,
                Attempts::Unlimited => true,
            }
    }
}

/// A setting that is out of its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidSetting {
    /// The setting.
    pub field: &'static str,
    /// The values that are allowed.
    pub expected: &'static str,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            restart: Restart {
                when: RestartWhen::default(),
                attempts: Attempts::Most(limits::RESTART_ATTEMPTS),
                delays: limits::RESTART_DELAYS_MS.to_vec(),
                jitter_percent: 0,
            },
            start_timeout: limits::START_TIMEOUT,
            call_timeout: limits::CALL_TIMEOUT,
            queue_wait: limits::QUEUE_WAIT,
            hung_grace: limits::HUNG_GRACE,
            eof_grace: limits::EOF_GRACE,
            term_grace: limits::TERM_GRACE,
            auto_start: false,
            lazy: true,
            idle_stop: None,
            instance: Instance::Shared,
            max_instances: limits::INSTANCES,
        }
    }
}

impl Settings {
    /// The settings for `asked`; `downloads` is true if the command may download before it runs.
    ///
    /// # Errors
    /// The setting that is out of its range.
    pub fn new(asked: &Supervision, downloads: bool) -> Result<Self, InvalidSetting> {
        let start = if downloads { limits::WRAPPER_START_TIMEOUT } else { limits::START_TIMEOUT };
        let [start_timeout, call_timeout, queue_wait, hung_grace, eof_grace, term_grace] = [
            ("start_timeout_ms", asked.start_timeout_ms, start, 1000..=600_000, "1000 to 600000 ms"),
            (
                "call_timeout_ms",
                asked.call_timeout_ms,
                limits::CALL_TIMEOUT,
                1..=3_600_000,
                "1 to 3600000 ms",
            ),
            ("queue_wait_ms", asked.queue_wait_ms, limits::QUEUE_WAIT, 0..=600_000, "0 to 600000 ms"),
            ("hung_grace_ms", asked.hung_grace_ms, limits::HUNG_GRACE, 100..=3_600_000, "100 to 3600000 ms"),
            ("eof_grace_ms", asked.eof_grace_ms, limits::EOF_GRACE, 0..=60_000, "0 to 60000 ms"),
            ("term_grace_ms", asked.term_grace_ms, limits::TERM_GRACE, 0..=60_000, "0 to 60000 ms"),
        ]
        .map(|(field, asked, default, range, expected)| match asked {
            None => Ok(default),
            Some(ms) if range.contains(&ms) => Ok(Duration::from_millis(ms)),
            Some(_) => Err(InvalidSetting { field, expected }),
        });
        let idle_stop = match asked.idle_stop_ms {
            Some(ms) if !(1000..=604_800_000).contains(&ms) => {
                return Err(InvalidSetting {
                    field: "idle_stop_ms",
                    expected: "1000 to 604800000 ms (a week)",
                });
            }
            asked => asked.map(Duration::from_millis),
        };
        let max_instances = asked.max_instances.unwrap_or(limits::INSTANCES);
        if !(1..=64).contains(&max_instances) {
            return Err(InvalidSetting { field: "max_instances", expected: "1 to 64" });
        }
        Ok(Self {
            restart: restart(asked)?,
            start_timeout: start_timeout?,
            call_timeout: call_timeout?,
            queue_wait: queue_wait?,
            hung_grace: hung_grace?,
            eof_grace: eof_grace?,
            term_grace: term_grace?,
            auto_start: asked.auto_start.unwrap_or(false),
            lazy: asked.lazy.unwrap_or(true),
            idle_stop,
            instance: asked.instance.unwrap_or_default(),
            max_instances,
        })
    }

    /// The settings for a process that belongs to one web origin or AI client: a call starts it, and it ends when it is not used.
    #[must_use]
    pub fn of_instance(self) -> Self {
        let idle_stop = self.idle_stop.or(Some(limits::INSTANCE_IDLE));
        Self { auto_start: false, lazy: true, idle_stop, ..self }
    }
}

fn restart(asked: &Supervision) -> Result<Restart, InvalidSetting> {
    let delays = asked.restart_delays_ms.clone().unwrap_or_else(|| limits::RESTART_DELAYS_MS.to_vec());
    if !(1..=100).contains(&delays.len()) || delays.iter().any(|ms| *ms > 3_600_000) {
        let expected = "1 to 100 delays of 0 to 3600000 ms";
        return Err(InvalidSetting { field: "restart_delays_ms", expected });
    }
    let jitter_percent = asked.restart_jitter_percent.unwrap_or(0);
    if jitter_percent > 100 {
        return Err(InvalidSetting { field: "restart_jitter_percent", expected: "0 to 100" });
    }
    Ok(Restart {
        when: asked.restart.unwrap_or_default(),
        attempts: asked.restart_attempts.unwrap_or(Attempts::Most(limits::RESTART_ATTEMPTS)),
        delays,
        jitter_percent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_said_has_the_documented_value() {
        let settings = Settings::new(&Supervision::default(), false).unwrap();
        assert_eq!(settings, Settings::default());
        assert_eq!(settings.start_timeout, Duration::from_secs(30));
        assert_eq!(
            (1..=4).map(|n| settings.restart.delay(n, 7)).collect::<Vec<_>>(),
            [2000, 4000, 6000, 6000]
        );
        assert_eq!((settings.restart.allows(3), settings.restart.allows(4)), (true, false));
        let wrapped = Settings::new(&Supervision::default(), true).unwrap();
        assert_eq!(wrapped.start_timeout, Duration::from_secs(120));
    }

    #[test]
    fn ranges_are_exact() {
        let wrong = |asked: Supervision| Settings::new(&asked, false).unwrap_err().field;
        let asked = Supervision::default;
        assert_eq!(wrong(Supervision { start_timeout_ms: Some(999), ..asked() }), "start_timeout_ms");
        assert_eq!(wrong(Supervision { queue_wait_ms: Some(600_001), ..asked() }), "queue_wait_ms");
        assert_eq!(wrong(Supervision { restart_delays_ms: Some(vec![]), ..asked() }), "restart_delays_ms");
        assert_eq!(
            wrong(Supervision { restart_jitter_percent: Some(101), ..asked() }),
            "restart_jitter_percent"
        );
        assert_eq!(wrong(Supervision { idle_stop_ms: Some(0), ..asked() }), "idle_stop_ms");
        assert_eq!(wrong(Supervision { max_instances: Some(65), ..asked() }), "max_instances");
        assert!(Settings::new(&Supervision { queue_wait_ms: Some(0), ..asked() }, false).is_ok());
    }

    proptest! {
        #[test]
        fn jitter_stays_within_its_percentage(delay in 0u64..3_600_000, jitter in 0u64..=100, random: u64) {
            let restart = Restart {
                when: RestartWhen::OnCrash,
                attempts: Attempts::Unlimited,
                delays: vec![delay],
                jitter_percent: jitter,
            };
            let longer = restart.delay(9, random);
            prop_assert!(delay <= longer && longer <= delay + delay * jitter / 100);
        }
    }
}
