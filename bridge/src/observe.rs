//! Logs: to stderr, one line each, never with arguments, results or secrets.
//!
//! Owns the subscriber, and the form of a line: text for people, or a JSON object for programs. A bridge that a client
//! started has its stderr in `$HARBOR_HOME/logs/bridge.log`. Must never let code that logs wait for stderr: a thread
//! writes.

mod sink;

use std::io::{self, Write};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::json;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::set_global_default;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};

pub use self::sink::LogHealth;
use self::sink::Sink;

/// How long the end of the program waits for the last lines.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The log of this process.
static LOG: OnceLock<Arc<Sink>> = OnceLock::new();

/// Hands whole lines to the thread.
struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Some(log) = LOG.get() {
            log.put(line);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Begins logging at `level`. `json`: an object per line, with `timestamp`, `level`, `message` and the other fields of
/// the event.
///
/// # Errors
/// When the system has no thread for it.
pub fn begin(level: LevelFilter, json: bool) -> io::Result<()> {
    // Only the first of a process counts; there is no other.
    let _ = LOG.set(Sink::start(io::stderr(), move |lines| lacking(lines, json))?);
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(|| Lines)
        // Otherwise a line that finds no room would be reported on stderr, too, which then
        // panics.
        .log_internal_errors(false)
        .with_ansi(false)
        .with_target(false);
    let _ = match json {
        true => set_global_default(subscriber.json().flatten_event(true).finish()),
        false => set_global_default(subscriber.finish()),
    };
    Ok(())
}

/// The state of the log.
#[must_use]
pub fn standing() -> LogHealth {
    LOG.get().map(|log| log.standing()).unwrap_or_default()
}

/// Waits at the program's end for the last lines, but not for ever.
pub fn finish() {
    if let Some(log) = LOG.get() {
        log.finish(LAST_WORDS);
    }
}

/// Says why the program ends, at any log level. If lines are JSON objects, this line is one, too.
pub fn say_last(error: &dyn std::error::Error, json: bool) {
    let line = last_words(error, json);
    match LOG.get() {
        Some(log) => log.put(line.as_bytes()),
        None => drop(io::stderr().write_all(line.as_bytes())),
    }
}

fn last_words(error: &dyn std::error::Error, json: bool) -> String {
    match json {
        true => object("ERROR", &error.to_string()),
        false => format!("harbor-bridge: {error}\n"),
    }
}

/// The line in place of lines that are missing.
fn lacking(lines: u64, json: bool) -> String {
    let message = format!("{lines} lines are missing here, because this log could not be written");
    match json {
        true => object("WARN", &message),
        false => format!("{}  WARN {message}\n", now()),
    }
}

fn object(level: &str, message: &str) -> String {
    format!("{}\n", json!({"timestamp": now(), "level": level, "message": message}))
}

/// The time, by the same clock as in all other lines.
fn now() -> String {
    let mut timestamp = String::new();
    // Writing into a string does not fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut timestamp));
    timestamp
}
