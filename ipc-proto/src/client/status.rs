//! What `status`, `subscribe_status` and `health` show: the state of everything, and numbers.
//!
//! docs/status.schema.json is made from these types. What changes in them in a way that a reader could stumble over has
//! another [`STATUS_VERSION`]; a field that is added has not.

use std::collections::BTreeMap;

use super::{AuditHealth, CallCounts, RateLimits, SecretStoreView, define_sent};
use crate::field::Word;

/// The version of these objects.
pub const STATUS_VERSION: u32 = 1;

define_sent! {
    /// Objects of `status`.
    STATUS_OBJECTS:
    /// Everything, as of one moment. What has to be measured carries the time of its measurement.
    "Status" StatusView {
        /// The version of this object; other numbers mean other fields.
        version: u32,
        /// When it was made, in milliseconds since 1970.
        timestamp: u64,
        /// How it all is.
        health: HealthView,
        /// The bridge.
        bridge: BridgeStatus,
        /// The servers, by id.
        servers: Vec<ServerStatus>,
        /// The catalog.
        catalog: CatalogStatus,
        /// The models; absent from a bridge that knows none.
        models: Option<ModelsStatus>,
        /// Turns in which a model uses tools; absent from a bridge that knows none.
        agent: Option<AgentStatus>,
        /// The limits of origins that have none of their own.
        limits: RateLimits,
        /// What is on the disk; absent until it was looked at.
        stores: Option<StoreSizes>,
    }
    /// How it all is, and why.
    "Health" HealthView {
        /// `ok`; `degraded`: something does not work, and the rest does; `failing`: calls are refused, or what happens is not
        /// written down.
        state: Word,
        /// What is wrong, the worst first; empty when nothing is.
        reasons: Vec<HealthReason>,
    }
    /// Something that is wrong.
    "HealthReason" HealthReason {
        /// `degraded` or `failing`.
        state: Word,
        /// Which server has it, where it is one.
        server: Option<String>,
        /// A word for programs: `server_failed`, `server_crashed`, `list_failed`, `list_incomplete`, `audit_failing`,
        /// `audit_incomplete`, `database_failing`, `database_rebuilt`, `grants_unstored`, `sessions_unsaved`, `logins_unstored`, `log_failing`, `secrets_unreadable`,
        /// `unread_answers`, `config_refused`, `metrics_unavailable` or `model_provider_refuses`.
        code: Word,
        /// The same as a sentence.
        message: String,
    }
    /// The bridge.
    "BridgeStatus" BridgeStatus {
        /// Its version.
        version: Word,
        /// Its build.
        build: Word,
        /// Its process id.
        pid: u32,
        /// How long it has been there, in milliseconds.
        uptime_ms: u64,
        /// Whether each server has a runner of its own.
        isolation: bool,
        /// What this kernel can hold servers to; absent until that was tried, right after the start.
        kernel: Option<KernelStatus>,
        /// Who is connected.
        clients: ClientCounts,
        /// Requests of clients that are not answered yet.
        open_requests: u64,
        /// Calls that wait for their turn.
        waiting: u64,
        /// Bytes that wait to be read by clients.
        unread_bytes: u64,
        /// All calls since it began.
        calls: CallCounts,
        /// The audit log.
        audit: AuditHealth,
        /// What it uses; absent until it was measured.
        usage: Option<UsageSample>,
        /// Where secrets are kept.
        secrets: SecretStoreView,
        /// What an AI client gets whose name is new: `all`, `ask` or `none`, as `mcp.firstUse` says; `closed`: nothing, since
        /// it was lost who had been here.
        first_use: Word,
        /// Where metrics are served over HTTP, `127.0.0.1:9464`; absent where nowhere.
        metrics: Option<String>,
    }
    /// What this kernel can hold servers to.
    "KernelStatus" KernelStatus {
        /// `landlock 7, seccomp, namespaces`, or less.
        held_by: String,
        /// What of the sandbox level `standard` it cannot hold, a sentence each.
        missing: Vec<String>,
    }
    /// How many clients of each kind are connected.
    "ClientCounts" ClientCounts {
        /// Command lines, and parents of `serve --stdio`.
        owner: u64,
        /// Browsers.
        extension: u64,
        /// AI clients.
        mcp: u64,
    }
    /// A server.
    "ServerStatus" ServerStatus {
        /// Its id.
        id: String,
        /// A name for people.
        label: String,
        /// `installing`, `stopped`, `starting`, `running`, `stopping`, `crashed` (waits to be restarted) or `failed`.
        state: Word,
        /// The same for people, as `Server.shown_state` has it.
        shown_state: Word,
        /// Since when, in milliseconds since 1970.
        since: u64,
        /// Whether it has not answered a probe while calls are open.
        busy: bool,
        /// Its process id, while it runs.
        pid: Option<u32>,
        /// The process id of its runner, while there is one.
        runner_pid: Option<u32>,
        /// How many tools it offers, while it runs; absent where they could not be listed.
        tools: Option<u32>,
        /// How often it was restarted since a person last started it.
        restarts: u32,
        /// Restarts without a stable minute behind them.
        attempt: u32,
        /// When it is tried again, in milliseconds since 1970.
        next_retry: Option<u64>,
        /// How it last ended without being told to, one word; also while it runs again.
        last_cause: Option<Word>,
        /// The same as a sentence.
        last_error: Option<String>,
        /// Calls that it is working on.
        in_flight: u32,
        /// Calls that wait until it runs.
        queued: u32,
        /// Its calls since the bridge began; absent when there were none.
        calls: Option<CallCounts>,
        /// The level of its sandbox; absent until it was started.
        sandbox: Option<Word>,
        /// What holds it, in short.
        sandbox_held_by: Option<String>,
        /// Lines that it has logged since the bridge began or its definition was changed: where the end of its log is.
        log_lines: u64,
        /// How long a message takes from the bridge to its runner and back, in microseconds, when `usage` was last measured.
        ipc_us: Option<u64>,
        /// What its processes use, its own runner among them; absent until it was measured, and when it does not run.
        usage: Option<UsageSample>,
        /// Its processes that belong to one web origin or AI client each, by name; none of a server that all share.
        instances: Vec<InstanceStatus>,
    }
    /// A process of a server for one web origin or AI client.
    "InstanceStatus" InstanceStatus {
        /// Its name: `memory@` and 16 hexadecimal digits, the same whenever that principal has one.
        id: String,
        /// Whose it is.
        principal: String,
        /// As in `ServerStatus`.
        state: Word,
        /// Since when, in milliseconds since 1970.
        since: u64,
        /// Its process id, while it runs.
        pid: Option<u32>,
        /// Calls that it is working on.
        in_flight: u32,
        /// Calls that wait until it runs.
        queued: u32,
        /// How often it was restarted.
        restarts: u32,
        /// How it last ended without being told to, a sentence.
        last_error: Option<String>,
    }
    /// What models do with tools, since the bridge began. Nothing of what was said.
    "AgentStatus" AgentStatus {
        /// Turns that are under way, those of runs among them.
        running: u64,
        /// Turns that have ended, by why: `done`, `stopped`, `rounds`, `calls`, `tokens`, `time`, `repeats` or `failed`.
        ended: BTreeMap<String, u64>,
        /// How often a model was asked.
        rounds: u64,
        /// Calls of tools that models wanted.
        calls: u64,
        /// Tokens that models have read.
        input_tokens: u64,
        /// Tokens that they have written.
        output_tokens: u64,
        /// Questions that wait for the person.
        waiting: u64,
        /// Questions that were answered, by how: `once`, `session`, `always`, `no`, or `gone`: the turn ended before.
        answered: BTreeMap<String, u64>,
    }
    /// What processes use.
    "UsageSample" UsageSample {
        /// How old this is, in milliseconds.
        age_ms: u64,
        /// Memory, in bytes: what several processes share counts once (PSS).
        memory: u64,
        /// Processor time since they began, in milliseconds; a server's with that of its ended children.
        cpu_ms: u64,
        /// Processor time in thousandths of one processor, since the sample before; absent in the first one.
        cpu_permille: Option<u64>,
        /// Open files.
        open_files: u64,
        /// Processes.
        processes: u64,
        /// Threads.
        threads: u64,
    }
    /// The catalog of servers that can be had, and its worker.
    "CatalogStatus" CatalogStatus {
        /// Of the worker: `off` (by the environment or the configuration), `stopped` (it is started when there is something to
        /// do), `starting`, `running`, `stopping`, `crashed` (waits to be restarted) or `failed`.
        state: Word,
        /// Its process id, while there is one.
        pid: Option<u32>,
        /// How often it was restarted since the bridge began.
        restarts: u32,
        /// What it does: `refreshing` or `enriching`; absent when nothing.
        activity: Option<Word>,
        /// The same as a sentence, while it does something.
        step: Option<String>,
        /// The file: `ok`, `missing`, `newer` (of a newer Harbor), `corrupt` or `unreadable`; absent until it was looked at.
        file: Option<Word>,
        /// What is wrong with the file, a sentence.
        file_error: Option<String>,
        /// Entries that are not removed; absent until the file was looked at.
        entries: Option<u64>,
        /// `YYYY-MM-DD`: all there is are the entries that Harbor brought along, of that day.
        snapshot: Option<String>,
        /// When a source was last fetched, in milliseconds since 1970.
        last_refresh: Option<u64>,
        /// How long the last refresh took, in milliseconds.
        refresh_ms: Option<u64>,
        /// When it is next refreshed, in milliseconds since 1970; absent when only on request.
        next_refresh: Option<u64>,
        /// How many sources failed the last time.
        failing: u64,
        /// What went wrong the last time.
        last_error: Option<String>,
    }
    /// The models, and the worker that speaks to their providers.
    "ModelsStatus" ModelsStatus {
        /// Of the worker, as in `CatalogStatus`.
        state: Word,
        /// Its process id, while there is one.
        pid: Option<u32>,
        /// How often it was restarted since the bridge began.
        restarts: u32,
        /// How many providers were added.
        providers: u64,
        /// Requests to providers that are under way.
        open_requests: u64,
        /// How the worker last ended against anybody's will.
        last_error: Option<String>,
    }
    /// What is on the disk, in bytes.
    "StoreSizes" StoreSizes {
        /// How old this is, in milliseconds.
        age_ms: u64,
        /// `harbor.db` with its write-ahead log.
        database: u64,
        /// The audit log, the older files too.
        audit: u64,
        /// The logs of the servers.
        server_logs: u64,
    }
}
