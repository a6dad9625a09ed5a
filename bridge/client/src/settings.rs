//! How the settings of a sandbox are named on the command line.
//!
//! Owns the names, since the bridge names a refused setting by them. Must never know what they mean.

/// Options, and the settings behind them.
pub const SETTINGS: &[(&str, &str)] = &[
    ("sandbox", "level"),
    ("required", "required"),
    ("read", "read"),
    ("write", "write"),
    ("socket", "sockets"),
    ("network", "network"),
    ("host", "hosts"),
    ("listen", "listen"),
    ("memory", "memory_mb"),
    ("processes", "processes"),
    ("open-files", "open_files"),
    ("file-size", "file_size_mb"),
    ("disk", "disk_mb"),
    ("nice", "nice"),
];

/// The option, without its dashes, that is for this setting.
#[must_use]
pub fn option_of(setting: &str) -> Option<&'static str> {
    SETTINGS.iter().find(|(_, field)| setting == *field).map(|(option, _)| *option)
}
