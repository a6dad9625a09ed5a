//! The mark of a process: a variable that it was started with.
//!
//! Owns how it is looked for. Must never end a process for it.

use std::fs;

/// True if a process was started with this variable, `NAME=VALUE`, in its environment, or as an argument. The environment of
/// a process that is not dumpable can be read by root only.
pub(crate) fn has_mark(pid: u32, mark: &str) -> bool {
    let has = |file: &str| {
        let words = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
    };
    has("environ") || has("cmdline")
}
