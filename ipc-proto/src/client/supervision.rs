//! The settings of a server's supervision, as its definition has them. The text names the default of each.

use super::define_settings;
use crate::field::{FromField, PutField, room_of};
use crate::strings::put_str;

define_settings! {
    /// How a server is started, watched, restarted and ended. A field that is absent has its default.
    "supervision" Supervision {
        /// When a server is started again after it ended without being told to. `never`; `on_crash` (default): if it had
        /// connected; `always`: also if it never connected.
        restart: RestartWhen,
        /// The most restarts without a stable minute in between; after them the server is given up. 0 to 1,000,000, or
        /// `"unlimited"`. Default: 3.
        restart_attempts: Attempts,
        /// The pauses before the first, second, … restart, in milliseconds, 0 to 3,600,000 each. The last one repeats.
        /// Default: [2000, 4000, 6000].
        restart_delays_ms: Vec<u64>,
        /// How much longer a pause may be, at random, in percent: 0 to 100. Default: 0.
        restart_jitter_percent: u64,
        /// How long a start may take, in milliseconds: 1,000 to 600,000. Default: 30,000, or 120,000 for a command that
        /// downloads before it runs (npx, uvx).
        start_timeout_ms: u64,
        /// How long a call may take if its request sets no limit, in milliseconds: 1 to 3,600,000. Default: 30,000.
        call_timeout_ms: u64,
        /// How long a call waits while the server starts or is about to be restarted, in milliseconds: 0 (refuse at once)
        /// to 600,000. Default: 10,000.
        queue_wait_ms: u64,
        /// How long after a call's timeout a server may show no sign of life before it counts as hung, in milliseconds: 100
        /// to 3,600,000. Default: 10,000.
        hung_grace_ms: u64,
        /// How long it may take to end after its stdin is closed, before SIGTERM, in milliseconds: 0 to 60,000. Default: 1,500.
        eof_grace_ms: u64,
        /// How long it may take to end after SIGTERM, before SIGKILL, in milliseconds: 0 to 60,000. Default: 1,500.
        term_grace_ms: u64,
        /// True: it starts with the bridge. Default: false.
        auto_start: bool,
        /// True (default): a call starts it. False: only a person or the start of the bridge does.
        lazy: bool,
        /// How long it may run without a call before it is stopped, in milliseconds: 1,000 to 604,800,000. Absent: it is
        /// not stopped.
        idle_stop_ms: u64,
        /// `shared` (default): one process for everybody. `per_principal`: each web origin and each AI client has a process
        /// and files of its own, started at its first call. The person has the plain process.
        instance: Instance,
        /// With `per_principal`: the most instances beside the plain process, 1 to 64. Default: 8. An unused one ends to
        /// make room for a new one.
        max_instances: u32,
        /// True: the server's answers count as private data, whatever the server was given. Then no answer that a model has
        /// read there leaves unseen. Default: false.
        private: bool,
        /// Names of its tools that only read. The person's word counts, whatever the tools say of themselves. If a tool is
        /// in several lists, the worst effect holds.
        reads: Vec<String>,
        /// Names of its tools that change something and destroy nothing.
        writes: Vec<String>,
        /// Names of its tools that may destroy something.
        destroys: Vec<String>,
        /// Says if a language model of the person's answers what the server asks of one (MCP's sampling), where the caller
        /// does not answer that itself. `ask` (default): after the person's yes. `allow`: without a question. `deny`: never.
        sampling: Sampling,
    }
}

/// The person's word on a server that wants a language model's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sampling {
    /// The person is asked.
    #[default]
    Ask,
    /// A model answers.
    Allow,
    /// No model answers.
    Deny,
}

impl Sampling {
    /// Every value.
    pub const ALL: [Self; 3] = [Self::Ask, Self::Allow, Self::Deny];

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

impl FromField for Sampling {
    const EXPECTED: &'static str = "ask, allow or deny";
    fn from_text(text: &str) -> Option<Self> {
        let word = String::from_text(text)?;
        Self::ALL.into_iter().find(|setting| setting.as_str() == word)
    }
}

impl PutField for Sampling {
    const TYPE: &'static str = "string";
    fn put(&self, out: &mut Vec<u8>) {
        put_str(out, self.as_str());
    }
    fn room(&self) -> usize {
        room_of(self.as_str())
    }
}

/// How the processes of a server are shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Instance {
    /// One process for everybody.
    #[default]
    Shared,
    /// One process for each web origin and each AI client.
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
    /// After it ended without being told to, if it had connected.
    #[default]
    OnCrash,
    /// Also after an end before it had connected.
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

/// The most restarts in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attempts {
    /// At most this many.
    Most(u32),
    /// No bound.
    Unlimited,
}

/// The highest number of restarts. A person who wants more writes `unlimited`.
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
        assert_eq!(wrong(r#"{"sampling":"always"}"#).expected, "ask, allow or deny");
        assert_eq!(wrong(r#"{"restart_attempts":1000001}"#).field, "restart_attempts");
        assert!(wrong(r#"{"lasy":true}"#).expected.contains("lazy"));
        assert!(wrong(r#"{"lazy":true,"lazy":true}"#).expected.contains("once"));
        assert_eq!((wrong("7").expected, wrong("7").found), ("an object", "a number"));
    }
}
