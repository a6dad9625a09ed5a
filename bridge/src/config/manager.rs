//! The service manager that started this bridge, by the environment that systemd gives its services.
//!
//! Owns which of it is meant for us. Must never speak to it; `front/notify` does.

use std::env;
use std::ffi::OsString;
use std::time::Duration;

/// A service manager that wants to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceManager {
    /// Its socket: a path, or `@` and an abstract name.
    pub socket: OsString,
    /// The time within which it expects a sign of life, if it expects any.
    pub watchdog: Option<Duration>,
}

impl ServiceManager {
    /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    pub(super) fn from_env() -> Option<Self> {
        let socket = env::var_os("NOTIFY_SOCKET").filter(|value| !value.is_empty())?;
        let get = |name| env::var(name).ok();
        let own = std::process::id();
        Some(Self { socket, watchdog: watchdog(get("WATCHDOG_USEC"), get("WATCHDOG_PID"), own) })
    }
}

/// The time of the watchdog. None if another process is meant, whose environment this one has inherited.
fn watchdog(usec: Option<String>, pid: Option<String>, own: u32) -> Option<Duration> {
    let is_ours = pid.is_none_or(|pid| pid.parse() == Ok(own));
    let usec = usec?.parse().ok().filter(|usec| *usec > 0 && is_ours)?;
    Some(Duration::from_micros(usec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watchdog_is_ours_or_none() {
        let of = |usec: &str, pid: Option<&str>| watchdog(Some(usec.into()), pid.map(Into::into), 7);
        let second = Some(Duration::from_secs(1));
        assert_eq!((of("1000000", None), of("1000000", Some("7"))), (second, second));
        assert_eq!((of("1000000", Some("8")), of("0", None), of("x", None)), (None, None, None));
        assert_eq!(watchdog(None, None, 7), None);
    }
}
