//! Logs: to stderr, one line each, never with arguments, results or secrets.
//!
//! Owns the subscriber, and what a line looks like: text for people, or a JSON object for programs. A bridge that a client started has its stderr in `$HARBOR_HOME/logs/bridge.log`.

use std::io;

use serde_json::json;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::set_global_default;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};

/// Begins logging at `level`; `json`: an object per line, with `timestamp`, `level`, `message` and what else is known.
pub fn begin(level: LevelFilter, json: bool) {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(io::stderr)
        // Else a line that finds no room would be told of on stderr, too, which then panics.
        .log_internal_errors(false)
        .with_ansi(false)
        .with_target(false);
    // Only the first of a process counts; there is no other.
    let _ = match json {
        true => set_global_default(subscriber.json().flatten_event(true).finish()),
        false => set_global_default(subscriber.finish()),
    };
}

/// Why the program ends, whatever the level is; as a line of the log, where lines are objects.
#[must_use]
pub fn last_words(error: &dyn std::error::Error, json: bool) -> String {
    match json {
        true => {
            let mut timestamp = String::new();
            // The same clock as that of all other lines; into a string it does not fail.
            let _ = SystemTime.format_time(&mut Writer::new(&mut timestamp));
            json!({"timestamp": timestamp, "level": "ERROR", "message": error.to_string()}).to_string()
        }
        false => format!("harbor-bridge: {error}"),
    }
}
