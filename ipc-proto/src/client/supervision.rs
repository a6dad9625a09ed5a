//! How a server is supervised, as its definition says it. What is left out has the value that the text names.

use super::define_settings;
use crate::field::{FromField, PutField, room_of};
use crate::strings::put_str;

define_settings! {
    /// How a server is started, watched, restarted and ended. What is absent has the default.
    "supervision" Supervision {
        /// When it is started again after an end that nobody asked for: `never`; `on_crash` (default): once it had
        /// connected; `always`: also when it never came up.
        restart: RestartWhen,
        /// Restarts without a stable minute in between, then it is given up: 0 to 1,000,000, or `"unlimited"`; 3.
        restart_attempts: Attempts,
        /// Milliseconds before the first, second, … restart, 0 to 3,600,000 each; the last one repeats; [2000, 4000,
        /// 6000].
        restart_delays_ms: Vec<u64>,
        /// How much longer, at random, a delay may be, in percent: 0 to 100; 0.
        restart_jitter_percent: u64,
        /// How long a start may take, in milliseconds: 1,000 to 600,000; 30,000, or 120,000 for a command that
        /// downloads before it runs (npx, uvx).
        start_timeout_ms: u64,
        /// How long a call may take whose request does not say: 1 to 3,600,000 ms; 30,000.
        call_timeout_ms: u64,
        /// How long a call waits while the server starts or is about to be restarted: 0 (refuse at once) to 600,000
        /// ms; 10,000.
        queue_wait_ms: u64,
        /// How long after a call's timeout a server may stay without any sign of life before it counts as hung: 100
        /// to 3,600,000 ms; 10,000.
        hung_grace_ms: u64,
        /// How long it may take to end once its stdin is closed, before SIGTERM: 0 to 60,000 ms; 1,500.
        eof_grace_ms: u64,
        /// How long it may take after SIGTERM, before SIGKILL: 0 to 60,000 ms; 1,500.
        term_grace_ms: u64,
        /// Whether it starts with the bridge; false.
        auto_start: bool,
        /// Whether a call starts it; true. Where it is false, only a person does, or the start of the bridge.
        lazy: bool,
        /// How long it may stay without a call before it is stopped: 1,000 to 604,800,000 ms; for ever when absent.
        idle_stop_ms: u64,
        /// `shared` (default): one process for all. `per_principal`: each web origin and each AI client has a process and files of its
        /// own, started at its first call; the person has the plain one.
        instance: Instance,
        /// Of `per_principal`: how many processes there may be beside the plain one, 1 to 64; 8. One that nobody uses ends for a new one.
        max_instances: u32,
        /// Whether what it answers counts as private, whatever it was given; false. Then nothing leaves unseen that a model has read there.
        private: bool,
        /// Names of its tools that only read, whatever they say of themselves: the person's word counts. Of a tool in several lists, the
        /// worst holds.
        reads: Vec<String>,
        /// Those that change something and destroy nothing.
        writes: Vec<String>,
        /// Those that may destroy something.
        destroys: Vec<String>,
    }
}

/// Whose process of a server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Instance {
    /// One for all.
    #[default]
    Shared,
    /// That of who asks: each web origin and each AI client has one.
    PerPrincipal,
}

impl Instance {
    /// Every value.
    pub const ALL: [Self; 2] = [Self::Shared, Self::PerPrincipal];

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::PerPrincipal => "per_principal",
        }
    }
}

impl FromField for Instance {
    const EXPECTED: &'static str = "shared or per_principal";
    fn from_text(text: &str) -> Option<Self> {
        let word = String::from_text(text)?;
        Self::ALL.into_iter().find(|instance| instance.as_str() == word)
    }
}

impl PutField for Instance {
    const TYPE: &'static str = "string";
    fn put(&self, out: &mut Vec<u8>) {
        put_str(out, self.as_str());
    }
    fn room(&self) -> usize {
        room_of(self.as_str())
    }
}

/// When a server is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RestartWhen {
    /// Never.
    Never,
    /// After an end that nobody asked for, once it had connected.
    #[default]
    OnCrash,
    /// Also when it never came up.
    Always,
}

impl RestartWhen {
    /// Every value.
    pub const ALL: [Self; 3] = [Self::Never, Self::OnCrash, Self::Always];

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::OnCrash => "on_crash",
            Self::Always => "always",
        }
    }
}

impl FromField for RestartWhen {
    const EXPECTED: &'static str = "never, on_crash or always";
    fn from_text(text: &str) -> Option<Self> {
        let word = String::from_text(text)?;
        Self::ALL.into_iter().find(|when| when.as_str() == word)
    }
}

impl PutField for RestartWhen {
    const TYPE: &'static str = "string";
    fn put(&self, out: &mut Vec<u8>) {
        put_str(out, self.as_str());
    }
    fn room(&self) -> usize {
        room_of(self.as_str())
    }
}

/// How many restarts there may be in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attempts {
    /// So many.
    Most(u32),
    /// No bound.
    Unlimited,
}

/// More than that is meant as `unlimited`.
const MAX_ATTEMPTS: u32 = 1_000_000;

impl FromField for Attempts {
    const EXPECTED: &'static str = "a whole number from 0 to 1000000, or \"unlimited\"";
    fn from_text(text: &str) -> Option<Self> {
        match u32::from_text(text) {
            Some(most) => (most <= MAX_ATTEMPTS).then_some(Self::Most(most)),
            None => (text == "\"unlimited\"").then_some(Self::Unlimited),
        }
    }
}

impl PutField for Attempts {
    const TYPE: &'static str = "number, or \"unlimited\"";
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Most(most) => most.put(out),
            Self::Unlimited => put_str(out, "unlimited"),
        }
    }
    fn room(&self) -> usize {
        room_of("unlimited")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_go_both_ways() {
        let text = r#"{"restart":"always","restart_attempts":"unlimited","restart_delays_ms":[10],"auto_start":true}"#;
        let settings = Supervision::parse(text).unwrap();
        assert_eq!(settings.restart, Some(RestartWhen::Always));
        assert_eq!(settings.restart_attempts, Some(Attempts::Unlimited));
        assert_eq!((settings.lazy, settings.auto_start), (None, Some(true)));
        let mut out = Vec::new();
        settings.put(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }

    #[test]
    fn a_wrong_setting_is_named() {
        let wrong = |text| Supervision::parse(text).unwrap_err();
        assert_eq!(wrong(r#"{"restart":"often"}"#).field, "restart");
        assert_eq!(wrong(r#"{"restart_attempts":1000001}"#).field, "restart_attempts");
        assert!(wrong(r#"{"lasy":true}"#).expected.contains("lazy"));
        assert!(wrong(r#"{"lazy":true,"lazy":true}"#).expected.contains("once"));
        assert_eq!((wrong("7").expected, wrong("7").found), ("an object", "a number"));
    }
}
