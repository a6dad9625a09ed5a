//! The limits of a server: its supervision, its sandbox, and how often pages may call.
//!
//! Owns the sentences. Must never guess a limit that was not told.

use harbor_client::payload::Payload;
use harbor_ipc_proto::client::{RateLimits, SandboxView, Supervision};
use harbor_ipc_proto::field::{JsonObject, PutFields};

use super::super::row::{Row, TextStyle};
use super::super::words::line;
use crate::commands::sandbox;

/// A setting of the supervision, what it is called here, and what it is when the definition does not say.
const SUPERVISION: &[(&str, &str, &str)] = &[
    ("restart", "restart", "on_crash"),
    ("restart_attempts", "restarts without a stable minute", "3"),
    ("restart_delays_ms", "pauses before them, ms", "[2000,4000,6000]"),
    ("restart_jitter_percent", "random extension of a pause, %", "0"),
    ("start_timeout_ms", "a start may take, ms", "30000, or 120000 where it downloads"),
    ("call_timeout_ms", "a call may take, ms", "30000"),
    ("queue_wait_ms", "a call waits for a start, ms", "10000"),
    ("hung_grace_ms", "grace before it counts as hung, ms", "10000"),
    ("eof_grace_ms", "from the end of stdin to SIGTERM, ms", "1500"),
    ("term_grace_ms", "from SIGTERM to SIGKILL, ms", "1500"),
    ("auto_start", "starts with the bridge", "false"),
    ("lazy", "starts when it is used", "true"),
    ("idle_stop_ms", "is stopped after idle, ms", "never"),
    ("sampling", "a model of yours answers it", "ask"),
];

/// Limits of origins, likewise; what is absent is unlimited.
const ORIGINS: &[(&str, &str)] = &[
    ("callsPerMinutePerOrigin", "calls in a minute"),
    ("maxConcurrentPerOrigin", "calls at once"),
    ("queueLength", "calls that wait"),
    ("queueWaitMs", "a call waits at most, ms"),
    ("maxCallsPerRun", "calls of a run"),
    ("defaultTimeoutMs", "a call may take, ms"),
];

pub fn rows(
    supervised: Option<&Supervision>,
    held: Option<&Result<SandboxView, String>>,
    limits: Option<&RateLimits>,
    width: usize,
) -> Vec<Row> {
    let mut rows = vec![title("sandbox")];
    match held {
        None => rows.push(Row::new("  ", "waiting …").toned(TextStyle::Faint)),
        Some(Err(why)) => rows.push(Row::new("  ", why).toned(TextStyle::Bad)),
        Some(Ok(view)) => {
            let text = sandbox::describe(view, false);
            rows.extend(text.lines().map(|text| Row::new("  ", line(text))));
        }
    }
    rows.extend([Row::new("", ""), title("supervision")]);
    match supervised {
        None => rows.push(Row::new("  ", "waiting …").toned(TextStyle::Faint)),
        Some(said) => rows.extend(supervision(said)),
    }
    rows.extend([Row::new("", ""), title("each web page and AI client, unless config.toml says otherwise")]);
    let limits = limits.map(|limits| by_name(limits)).unwrap_or_default();
    let of_origins = ORIGINS.iter().map(|(name, what)| setting(what, limits.raw(name), "unlimited"));
    rows.extend(of_origins);
    rows.into_iter().flat_map(|row| row.wrapped(width)).collect()
}

fn title(text: &str) -> Row {
    Row::new("", text).toned(TextStyle::Strong)
}

fn supervision(said: &Supervision) -> Vec<Row> {
    let said = by_name(said);
    let row = |(name, what, default): &(&str, &str, &str)| {
        setting(what, said.raw(name), &format!("{default} (default)"))
    };
    SUPERVISION.iter().map(row).collect()
}

/// Settings by their names, each as it is written.
fn by_name(settings: &dyn PutFields) -> Payload {
    Payload::of(&JsonObject::written(settings).0)
}

fn setting(what: &str, told: Option<&str>, otherwise: &str) -> Row {
    let value =
        told.filter(|told| *told != "null").map_or(otherwise.into(), |told| line(told.trim_matches('"')));
    Row::new(&format!("  {what:<38}"), value)
}
