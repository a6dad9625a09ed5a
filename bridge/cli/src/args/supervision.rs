//! The options of `harbor add` and `harbor set` that say how a server is supervised.
//!
//! Owns their names and ranges, which are those of docs/protocol.md. Must never fill in a default: what was not said
//! is the bridge's to decide.

use std::time::Duration;

use harbor_ipc_proto::client::{Attempts, RestartWhen, Supervision};

use super::Words;
use super::values::duration;

/// More is meant as `unlimited`.
const MAX_ATTEMPTS: u32 = 1_000_000;

impl Words {
    pub(super) fn supervision(&self) -> Result<Supervision, String> {
        Ok(Supervision {
            restart: self.checked("--restart", "never, on-crash or always", restart)?,
            restart_attempts: self.checked(
                "--restart-attempts",
                "a whole number from 0 to 1000000, or unlimited",
                attempts,
            )?,
            restart_delays_ms: self.checked(
                "--restart-delays",
                "numbers of seconds from 0 to 3600, with a comma between two",
                delays,
            )?,
            restart_jitter_percent: self.checked(
                "--restart-jitter",
                "a whole number from 0 to 100",
                percent,
            )?,
            start_timeout_ms: self.millis("--start-timeout", 1.0, 600.0)?,
            call_timeout_ms: self.millis("--call-timeout", 0.001, 3600.0)?,
            queue_wait_ms: self.millis("--queue-wait", 0.0, 600.0)?,
            hung_grace_ms: self.millis("--hung-grace", 0.1, 3600.0)?,
            eof_grace_ms: self.millis("--eof-grace", 0.0, 60.0)?,
            term_grace_ms: self.millis("--term-grace", 0.0, 60.0)?,
            auto_start: self.switch("--auto-start", "--no-auto-start")?,
            lazy: self.switch("--lazy", "--no-lazy")?,
            idle_stop_ms: self.millis("--idle-stop", 1.0, 604_800.0)?,
        })
    }

    /// On, off, or not said.
    fn switch(&self, on: &str, off: &str) -> Result<Option<bool>, String> {
        match (self.has(on), self.has(off)) {
            (true, true) => Err(format!("{on} and {off}: leave out one of the two")),
            (false, false) => Ok(None),
            (on, _) => Ok(Some(on)),
        }
    }

    /// An option that `read` understands, or the sentence that says what it may be.
    fn checked<T>(
        &self,
        name: &str,
        expected: &str,
        read: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(text) = self.option(name) else { return Ok(None) };
        read(text).map(Some).ok_or_else(|| format!("{name} {text}: use {expected}"))
    }

    fn millis(&self, name: &str, least: f64, most: f64) -> Result<Option<u64>, String> {
        Ok(self.seconds(name, least, most)?.map(in_millis))
    }
}

/// The words of the wire, with the hyphen that people type.
fn restart(text: &str) -> Option<RestartWhen> {
    RestartWhen::ALL.into_iter().find(|when| when.as_str().replace('_', "-") == text)
}

fn attempts(text: &str) -> Option<Attempts> {
    match text {
        "unlimited" => Some(Attempts::Unlimited),
        number => number.parse().ok().filter(|most| *most <= MAX_ATTEMPTS).map(Attempts::Most),
    }
}

fn delays(text: &str) -> Option<Vec<u64>> {
    text.split(',').map(|delay| duration(delay.trim(), 0.0, 3600.0).map(in_millis)).collect()
}

fn percent(text: &str) -> Option<u64> {
    text.parse().ok().filter(|percent| *percent <= 100)
}

/// Rounded: 0.0015 s is no less than what was typed.
fn in_millis(duration: Duration) -> u64 {
    u64::try_from((duration + Duration::from_micros(999)).as_millis()).unwrap_or(u64::MAX)
}

/// Options whose values are settings of the wire, and these settings.
const SETTINGS: &[(&str, &str)] = &[
    ("label", "label"),
    ("restart", "restart"),
    ("restart-attempts", "restart_attempts"),
    ("restart-delays", "restart_delays_ms"),
    ("restart-jitter", "restart_jitter_percent"),
    ("start-timeout", "start_timeout_ms"),
    ("call-timeout", "call_timeout_ms"),
    ("queue-wait", "queue_wait_ms"),
    ("hung-grace", "hung_grace_ms"),
    ("eof-grace", "eof_grace_ms"),
    ("term-grace", "term_grace_ms"),
    ("auto-start", "auto_start"),
    ("lazy", "lazy"),
    ("idle-stop", "idle_stop_ms"),
];

/// The setting behind the name of an option.
pub(super) fn setting(name: &str) -> Result<String, String> {
    let found = SETTINGS.iter().find(|(option, field)| name == *option || name == *field);
    found.map(|(_, field)| (*field).to_owned()).ok_or_else(|| {
        let names: Vec<_> = SETTINGS.iter().map(|(option, _)| *option).collect();
        format!("--reset {name}: use one of {}", names.join(", "))
    })
}

/// The option, with its dashes, that is for this setting.
pub fn supervision_option(setting: &str) -> Option<String> {
    SETTINGS.iter().find(|(_, field)| setting == *field).map(|(option, _)| format!("--{option}"))
}
