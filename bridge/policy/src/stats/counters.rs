//! The counters of a tool, a server, an origin, or all.
//!
//! Owns the sums. Must never wrap: a number stays at its maximum.

use std::collections::BTreeMap;

use super::histogram::Histogram;

/// A call that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinishedCall<'a> {
    /// The origin that called.
    pub origin: &'a str,
    /// The server that was called.
    pub server: &'a str,
    /// The tool, without the server's name, or [`super::OTHERS`] if there is no such tool.
    pub tool: &'a str,
    /// The code, if it failed.
    pub code: Option<&'static str>,
    /// True if the call succeeded, but its result says that the tool failed.
    pub tool_error: bool,
    /// The time from the request to the answer, including the queue, in microseconds.
    pub duration_us: u64,
    /// How long it waited for a place, in microseconds.
    pub queued_us: u64,
    /// The length of its arguments.
    pub bytes_in: u64,
    /// The length of its result.
    pub bytes_out: u64,
}

/// The counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// Calls that are over, however they ended.
    pub calls: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Calls that succeeded, but whose result says that the tool failed.
    pub tool_errors: u64,
    /// Failures by `ERR_` code.
    pub codes: BTreeMap<&'static str, u64>,
    /// Bytes of arguments.
    pub bytes_in: u64,
    /// Bytes of results.
    pub bytes_out: u64,
    /// How long they took.
    pub duration: Histogram,
    /// How long they waited for a place.
    pub queued: Histogram,
}

impl Counters {
    pub(super) fn note(&mut self, call: &FinishedCall<'_>) {
        self.calls = self.calls.saturating_add(1);
        if let Some(code) = call.code {
            self.failures = self.failures.saturating_add(1);
            let count = self.codes.entry(code).or_default();
            *count = count.saturating_add(1);
        }
        self.tool_errors = self.tool_errors.saturating_add(u64::from(call.tool_error));
        self.bytes_in = self.bytes_in.saturating_add(call.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(call.bytes_out);
        self.duration.note(call.duration_us);
        self.queued.note(call.queued_us);
    }
}
