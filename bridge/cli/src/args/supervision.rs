//! The options that say how a server is supervised: of `harbor add`, `harbor install` and `harbor set`.
//!
//! Owns their names and ranges, which are those of docs/protocol.md. Must never fill in a default: the bridge
//! decides about settings that were not typed.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, value_parser};
use harbor_ipc_proto::client::{Attempts, Instance, RestartWhen, Sampling, Supervision};

use super::values::{duration, in_millis, millis, one_of};

/// The largest number of restarts that can be typed. For more, type `unlimited`.
const MAX_ATTEMPTS: u32 = 1_000_000;

#[derive(Debug, Args)]
pub(super) struct SupervisionOptions {
    #[command(flatten, next_help_heading = "Start and stop")]
    start: StartOptions,
    #[command(flatten, next_help_heading = "After a crash")]
    restart: RestartOptions,
    #[command(flatten, next_help_heading = "Calls")]
    calls: CallOptions,
    #[command(flatten, next_help_heading = "Who has which process")]
    instances: InstanceOptions,
    #[command(flatten, next_help_heading = "What models may do")]
    models: ModelOptions,
}

#[derive(Debug, Args)]
struct StartOptions {
    /// Start it with the bridge
    #[arg(long)]
    auto_start: bool,
    /// Start it only by `harbor start`, not when it is used
    #[arg(long)]
    manual: bool,
    /// Stop it after this time without a call, 1 to 604800 (default: never)
    #[arg(long, value_name = "SECONDS", value_parser = millis(1.0, 604_800.0))]
    idle_stop: Option<u64>,
    /// Time limit of a start, 1 to 600 (default 30; 120 with npx and uvx)
    #[arg(long, value_name = "SECONDS", value_parser = millis(1.0, 600.0))]
    start_timeout: Option<u64>,
    /// Time from closing stdin to SIGTERM, 0 to 60 (default 1.5)
    #[arg(long, value_name = "SECONDS", value_parser = millis(0.0, 60.0))]
    eof_grace: Option<u64>,
    /// Time from SIGTERM to SIGKILL, 0 to 60 (default 1.5)
    #[arg(long, value_name = "SECONDS", value_parser = millis(0.0, 60.0))]
    term_grace: Option<u64>,
}

#[derive(Debug, Args)]
struct RestartOptions {
    /// When to restart it: on-crash after it had connected (default), always, never
    #[arg(long, value_name = "WHEN", value_parser = one_of(["never", "on-crash", "always"], restart))]
    restart: Option<RestartWhen>,
    /// Restarts without a stable minute, 0 to 1000000 or unlimited (default 3)
    #[arg(long, value_name = "N", value_parser = attempts)]
    restart_attempts: Option<Attempts>,
    /// Pauses before restarts, 0 to 3600; the last one repeats (default 2,4,6)
    #[arg(long, value_name = "SECONDS,…", value_parser = delays)]
    restart_delays: Option<Delays>,
    /// Random extension of a pause, 0 to 100 (default 0)
    #[arg(long, value_name = "PERCENT", value_parser = value_parser!(u64).range(..=100))]
    restart_jitter: Option<u64>,
}

#[derive(Debug, Args)]
struct CallOptions {
    /// Default call timeout, 0.001 to 3600 (default 30)
    #[arg(long, value_name = "SECONDS", value_parser = millis(0.001, 3600.0))]
    call_timeout: Option<u64>,
    /// How long a call waits for a start, 0 to 600 (default 10)
    #[arg(long, value_name = "SECONDS", value_parser = millis(0.0, 600.0))]
    queue_wait: Option<u64>,
    /// Time from a call's timeout until the server is considered hung, 0.1 to 3600 (default 10)
    #[arg(long, value_name = "SECONDS", value_parser = millis(0.1, 3600.0))]
    hung_grace: Option<u64>,
}

#[derive(Debug, Args)]
struct InstanceOptions {
    /// One process for all (shared), or one with its own files for each web origin and AI client (per-principal)
    #[arg(long, value_name = "WHICH", value_parser = one_of(["shared", "per-principal"], instance))]
    instance: Option<Instance>,
    /// Processes at once with per-principal, beside yours, 1 to 64 (default 8)
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=64))]
    max_instances: Option<u32>,
}

#[derive(Debug, Args)]
struct ModelOptions {
    /// Its answers are private: nothing that could contain them leaves without your yes
    #[arg(long)]
    private: bool,
    /// Its tools that only read, whatever the server says
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    reads: Vec<String>,
    /// Its tools that change something but destroy nothing
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    writes: Vec<String>,
    /// Its tools that may destroy something
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    destroys: Vec<String>,
    /// If your language model answers what it asks of one: after your yes (ask, default), always (allow), never (deny)
    #[arg(long, value_name = "WHEN", value_parser = one_of(["ask", "allow", "deny"], sampling))]
    sampling: Option<Sampling>,
}

impl SupervisionOptions {
    pub(super) fn read(self) -> Supervision {
        let Self { start, restart, calls, instances, models } = self;
        let named = |tools: Vec<String>| Some(tools).filter(|tools| !tools.is_empty());
        Supervision {
            restart: restart.restart,
            restart_attempts: restart.restart_attempts,
            restart_delays_ms: restart.restart_delays.map(|delays| delays.0),
            restart_jitter_percent: restart.restart_jitter,
            start_timeout_ms: start.start_timeout,
            call_timeout_ms: calls.call_timeout,
            queue_wait_ms: calls.queue_wait,
            hung_grace_ms: calls.hung_grace,
            eof_grace_ms: start.eof_grace,
            term_grace_ms: start.term_grace,
            auto_start: start.auto_start.then_some(true),
            lazy: start.manual.then_some(false),
            idle_stop_ms: start.idle_stop,
            instance: instances.instance,
            max_instances: instances.max_instances,
            private: models.private.then_some(true),
            reads: named(models.reads),
            writes: named(models.writes),
            destroys: named(models.destroys),
            sampling: models.sampling,
        }
    }
}

/// As [`restart`].
fn instance(text: &str) -> Option<Instance> {
    Instance::ALL.into_iter().find(|instance| instance.as_str().replace('_', "-") == text)
}

fn sampling(text: &str) -> Option<Sampling> {
    Sampling::ALL.into_iter().find(|setting| setting.as_str() == text)
}

/// Reads the word of the wire, typed with `-` for `_`.
fn restart(text: &str) -> Option<RestartWhen> {
    RestartWhen::ALL.into_iter().find(|when| when.as_str().replace('_', "-") == text)
}

fn attempts(text: &str) -> Result<Attempts, String> {
    match text {
        "unlimited" => Some(Attempts::Unlimited),
        number => number.parse().ok().filter(|most| *most <= MAX_ATTEMPTS).map(Attempts::Most),
    }
    .ok_or_else(|| "use a whole number from 0 to 1000000, or unlimited".into())
}

/// A list in one argument. For a plain `Vec`, clap would expect several arguments.
#[derive(Debug, Clone)]
struct Delays(Vec<u64>);

fn delays(text: &str) -> Result<Delays, String> {
    let delay = |delay: &str| duration(delay.trim(), 0.0, 3600.0).map(in_millis);
    let delays = text.split(',').map(delay).collect::<Option<_>>().map(Delays);
    delays.ok_or_else(|| "use numbers of seconds from 0 to 3600, with a comma between two".into())
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
    ("manual", "lazy"),
    ("idle-stop", "idle_stop_ms"),
    ("instance", "instance"),
    ("max-instances", "max_instances"),
    ("private", "private"),
    ("reads", "reads"),
    ("writes", "writes"),
    ("destroys", "destroys"),
    ("sampling", "sampling"),
];

/// The value of `--reset`: the setting behind the name of an option.
pub(super) fn setting() -> impl TypedValueParser<Value = String> {
    setting_of(SETTINGS)
}

/// An option's name, or that of its setting on the wire, as the setting.
pub(super) fn setting_of(settings: &'static [(&str, &str)]) -> impl TypedValueParser<Value = String> {
    let names = settings.iter().map(|(option, field)| PossibleValue::new(*option).alias(*field));
    PossibleValuesParser::new(names).map(|name| {
        let found = settings.iter().find(|(option, field)| name == *option || name == *field);
        found.map_or(name, |(_, field)| (*field).to_owned())
    })
}

/// The option, with its dashes, that is for this setting.
pub fn supervision_option(setting: &str) -> Option<String> {
    SETTINGS.iter().find(|(_, field)| setting == *field).map(|(option, _)| format!("--{option}"))
}
