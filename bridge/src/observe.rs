//! Logs: to stderr, one line each, never with arguments, results or secrets.
//!
//! Owns the subscriber. A bridge that a client started has its stderr in `$HARBOR_HOME/logs/bridge.log`.

use std::io;

use tracing::level_filters::LevelFilter;

/// Begins logging at `level`.
pub fn begin(level: LevelFilter) {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_target(false);
    // Only the first of a process counts; there is no other.
    let _ = tracing::subscriber::set_global_default(subscriber.finish());
}
