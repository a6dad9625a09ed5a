//! Facts about the bridge and its servers, as the bridge tells them.
//!
//! Owns reading them. Texts of others are made harmless here, once. Must never make up a fact that was
//! not told.

use harbor_ipc_proto::client::{BridgeStatus, CallCounts, ClientCounts, HealthView, ServerStatus};

use super::history::{History, Totals};
use crate::commands::list::shown;
use crate::commands::printing::count;
use crate::table::flatten;

/// A server.
#[derive(Debug, Default)]
pub struct Server {
    pub id: String,
    /// Empty where it is the id.
    pub label: String,
    pub state: String,
    /// The state in words for people.
    pub shown: String,
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
    /// All that was told; none until something was.
    pub told: Option<ServerStatus>,
}

impl Server {
    /// Takes what is told of it now.
    pub fn learn(&mut self, told: ServerStatus) {
        let (calls, usage) = (told.calls.as_ref(), told.usage.as_ref());
        let times = calls.filter(|calls| calls.calls > 0).map(|calls| &calls.durationUs);
        let label = flatten(&told.label);
        *self = Self {
            id: told.id.clone(),
            label: if label == told.id { String::new() } else { label },
            state: flatten(&told.state),
            shown: flatten(shown(&told.state, &told.shown_state)),
            busy: told.busy,
            next_retry: told.next_retry,
            in_flight: told.in_flight.into(),
            queued: told.queued.into(),
            restarts: told.restarts.into(),
            memory: usage.map(|usage| usage.memory),
            cpu_permille: usage.and_then(|usage| usage.cpu_permille),
            p50: times.map(|times| times.p50),
            p99: times.map(|times| times.p99),
            history: std::mem::take(&mut self.history),
            told: Some(told),
        };
    }

    /// Notes its totals, when the bridge is `at` milliseconds old.
    pub fn note_totals(&mut self, at: u64) {
        let calls = self.told.as_ref().and_then(|told| told.calls.as_ref());
        self.history.note(totals(calls, at));
    }

    /// True if somebody waits for an answer of it.
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
    pub fn learn(&mut self, told: &BridgeStatus, totals_too: bool) {
        let (usage, at) = (told.usage.as_ref(), told.uptime_ms);
        let mut history = std::mem::take(&mut self.history);
        if totals_too {
            history.note(totals(Some(&told.calls), at));
        }
        *self = Self {
            version: flatten(&told.version),
            pid: told.pid.into(),
            uptime_ms: at,
            clients: clients(&told.clients),
            waiting: told.waiting,
            memory: usage.map(|usage| usage.memory),
            cpu_permille: usage.and_then(|usage| usage.cpu_permille),
            history,
        };
    }
}

/// The state of everything.
#[derive(Debug, Default)]
pub struct Health {
    pub state: String,
    /// The worst first.
    pub reasons: Vec<String>,
}

impl Health {
    pub fn of(told: &HealthView) -> Self {
        let reasons = told.reasons.iter().map(|reason| flatten(&reason.message)).collect();
        Self { state: flatten(&told.state), reasons }
    }
}

fn totals(calls: Option<&CallCounts>, at: u64) -> Totals {
    let (calls, sum_us) = calls.map(|calls| (calls.calls, calls.durationUs.sum)).unwrap_or_default();
    Totals { calls, sum_us, at }
}

fn clients(clients: &ClientCounts) -> String {
    let all = [(clients.owner, "command line"), (clients.extension, "browser"), (clients.mcp, "AI client")];
    let some = all.iter().filter(|(number, _)| *number > 0);
    let some = some.map(|(number, what)| count(usize::try_from(*number).unwrap_or(usize::MAX), what));
    some.collect::<Vec<_>>().join(", ")
}
