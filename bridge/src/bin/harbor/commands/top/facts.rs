//! What is known of the bridge and its servers, as the bridge tells it.
//!
//! Owns reading it. Texts of others are made harmless here, once. Must never make up what was not told.

use super::history::{History, Totals};
use crate::commands::count;
use crate::reply::Members;
use crate::table::flatten;

/// A server.
#[derive(Debug, Default)]
pub struct Server {
    pub id: String,
    /// Empty where it is the id.
    pub label: String,
    pub state: String,
    pub busy: bool,
    pub next_retry: Option<u64>,
    pub in_flight: u64,
    pub queued: u64,
    pub restarts: u64,
    pub memory: Option<u64>,
    pub cpu_permille: Option<u64>,
    /// Since the bridge began, in microseconds.
    pub p50: Option<u64>,
    pub p99: Option<u64>,
    pub history: History,
    /// All that was told.
    pub told: Members,
}

impl Server {
    /// Takes what is told of it now.
    pub fn learn(&mut self, told: Members) {
        let (calls, usage) = (told.object("calls"), told.object("usage"));
        let times = calls.object("durationUs");
        let number = |name: &str| told.number(name).unwrap_or_default();
        let quantile = |name: &str| times.number(name).filter(|_| number_of_calls(&calls) > 0);
        let label = flatten(&told.text("label"));
        *self = Self {
            id: told.text("id"),
            label: if label == told.text("id") { String::new() } else { label },
            state: flatten(&told.text("state")),
            busy: told.value("busy") == true,
            next_retry: told.number("next_retry"),
            in_flight: number("in_flight"),
            queued: number("queued"),
            restarts: number("restarts"),
            memory: usage.number("memory"),
            cpu_permille: usage.number("cpu_permille"),
            p50: quantile("p50"),
            p99: quantile("p99"),
            history: std::mem::take(&mut self.history),
            told,
        };
    }

    /// Notes its totals, when the bridge is `at` milliseconds old.
    pub fn note_totals(&mut self, at: u64) {
        self.history.note(totals(&self.told.object("calls"), at));
    }

    /// Whether somebody waits for an answer of it.
    pub fn is_in_use(&self) -> bool {
        self.in_flight + self.queued > 0
    }

    pub fn is_running(&self) -> bool {
        self.state == "running"
    }
}

/// The bridge.
#[derive(Debug, Default)]
pub struct Bridge {
    pub version: String,
    pub pid: u64,
    pub uptime_ms: u64,
    pub clients: String,
    pub waiting: u64,
    pub memory: Option<u64>,
    pub cpu_permille: Option<u64>,
    pub history: History,
}

impl Bridge {
    /// Takes what is told of it now; with `totals` its counts are those of a regular moment.
    pub fn learn(&mut self, told: &Members, totals_too: bool) {
        let number = |name: &str| told.number(name).unwrap_or_default();
        let usage = told.object("usage");
        let (pid, at) = (number("pid"), number("uptime_ms"));
        let mut history = std::mem::take(&mut self.history);
        if totals_too {
            history.note(totals(&told.object("calls"), at));
        }
        *self = Self {
            version: flatten(&told.text("version")),
            pid,
            uptime_ms: at,
            clients: clients(&told.object("clients")),
            waiting: number("waiting"),
            memory: usage.number("memory"),
            cpu_permille: usage.number("cpu_permille"),
            history,
        };
    }
}

/// How it all is.
#[derive(Debug, Default)]
pub struct Health {
    pub state: String,
    /// The worst first.
    pub reasons: Vec<String>,
}

impl Health {
    pub fn of(told: &Members) -> Self {
        let reasons = told.objects("reasons");
        let reasons = reasons.iter().map(|reason| flatten(&reason.text("message"))).collect();
        Self { state: flatten(&told.text("state")), reasons }
    }
}

fn number_of_calls(calls: &Members) -> u64 {
    calls.number("calls").unwrap_or_default()
}

fn totals(calls: &Members, at: u64) -> Totals {
    let sum_us = calls.object("durationUs").number("sum").unwrap_or_default();
    Totals { calls: number_of_calls(calls), sum_us, at }
}

fn clients(clients: &Members) -> String {
    let all = [("owner", "command line"), ("extension", "browser"), ("mcp", "AI client")];
    let some = all.iter().filter_map(|(kind, what)| {
        let number = clients.number(kind).filter(|number| *number > 0)?;
        Some(count(usize::try_from(number).unwrap_or(usize::MAX), what))
    });
    some.collect::<Vec<_>>().join(", ")
}
