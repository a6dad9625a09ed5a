//! The objects of `status`, `subscribe_status` and `health`: the status of everything, and numbers.
//!
//! docs/status.schema.json is made from these types. A change that could break a reader needs a new [`STATUS_VERSION`]; a
//! new field does not.

use std::collections::BTreeMap;

use super::{AuditHealth, CallCounts, RateLimits, SecretStoreView, define_sent};
use crate::field::Word;

/// The version of these objects.
pub const STATUS_VERSION: u32 = 1;

define_sent! {
    /// Objects of `status`.
    STATUS_OBJECTS:
    /// The status of everything at one moment. Measured values carry the age of their measurement.
    "Status" StatusView {
        /// The version of this object. Another number means other fields.
        version: u32,
        /// When the status was made, in milliseconds since 1970.
        timestamp: u64,
        /// Harbor's health.
        health: HealthView,
        /// The bridge.
        bridge: BridgeStatus,
        /// The servers, sorted by id.
        servers: Vec<ServerStatus>,
        /// The catalog.
        catalog: CatalogStatus,
        /// The models; absent from a bridge without models.
        models: Option<ModelsStatus>,
        /// The turns in which models use tools; absent from a bridge without them.
        agent: Option<AgentStatus>,
        /// The limits of origins without limits of their own.
        limits: RateLimits,
        /// The sizes on disk; absent until they were measured.
        stores: Option<StoreSizes>,
    }
    /// Harbor's health, and the reasons for it.
    "Health" HealthView {
        /// `ok`. `degraded`: something does not work, and everything else does. `failing`: calls are refused, or events are
        /// not written down.
        state: Word,
        /// The problems, the worst first; empty when there are none.
        reasons: Vec<HealthReason>,
    }
    /// A problem.
    "HealthReason" HealthReason {
        /// `degraded` or `failing`.
        state: Word,
        /// The server that has the problem; absent if the problem is no server's.
        server: Option<String>,
        /// A word for programs: `server_failed`, `server_crashed`, `list_failed`, `list_incomplete`, `audit_failing`,
        /// `audit_incomplete`, `database_failing`, `database_rebuilt`, `grants_unstored`, `sessions_unsaved`, `logins_unstored`, `log_failing`, `secrets_unreadable`,
        /// `unread_answers`, `config_refused`, `metrics_unavailable` or `model_provider_refuses`.
        code: Word,
        /// The problem as a sentence.
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
        /// How long the bridge has been running, in milliseconds.
        uptime_ms: u64,
        /// True if each server has a runner of its own.
        isolation: bool,
        /// The kernel features for sandboxes; absent until they were tested, right after the start.
        kernel: Option<KernelStatus>,
        /// How many clients are connected.
        clients: ClientCounts,
        /// How many requests of clients are not answered yet.
        open_requests: u64,
        /// How many calls wait for a slot.
        waiting: u64,
        /// How many bytes clients have not read yet.
        unread_bytes: u64,
        /// All calls since the bridge began.
        calls: CallCounts,
        /// The state of the audit log.
        audit: AuditHealth,
        /// What the bridge's process uses; absent until it was measured.
        usage: Option<UsageSample>,
        /// Where secrets are kept.
        secrets: SecretStoreView,
        /// What a new AI client gets: `all`, `ask` or `none`, as in `mcp.firstUse`. `closed`: nothing, since the list of
        /// earlier clients was lost.
        first_use: Word,
        /// The address of the metrics over HTTP, such as `127.0.0.1:9464`; absent when they are not served.
        metrics: Option<String>,
    }
    /// What this kernel can enforce in sandboxes.
    "KernelStatus" KernelStatus {
        /// The features: `landlock 7, seccomp, namespaces`, or fewer.
        held_by: String,
        /// The rules of the sandbox level `standard` that it cannot enforce, a sentence each.
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
        /// The state for people, as in `Server.shown_state`.
        shown_state: Word,
        /// When this state began, in milliseconds since 1970.
        since: u64,
        /// True if calls are open and it has not answered a probe.
        busy: bool,
        /// Its process id; absent when it does not run.
        pid: Option<u32>,
        /// The process id of its runner; absent when there is none.
        runner_pid: Option<u32>,
        /// How many tools it offers; absent when it does not run, or its tools could not be listed.
        tools: Option<u32>,
        /// How often it was restarted since a person last started it.
        restarts: u32,
        /// Restarts that no stable minute followed.
        attempt: u32,
        /// When it is tried again, in milliseconds since 1970.
        next_retry: Option<u64>,
        /// How it last ended without being told to, one word; also while it runs again. Absent if it never did.
        last_cause: Option<Word>,
        /// The same end as a sentence.
        last_error: Option<String>,
        /// How many calls it is working on.
        in_flight: u32,
        /// How many calls wait until it runs.
        queued: u32,
        /// Its calls since the bridge began; absent when there were none.
        calls: Option<CallCounts>,
        /// The level of its sandbox; absent until it was started.
        sandbox: Option<Word>,
        /// The features of the kernel that enforce its sandbox; absent until it was started.
        sandbox_held_by: Option<String>,
        /// How many lines it has logged since the bridge began or its definition was changed. This number marks the end of
        /// its log.
        log_lines: u64,
        /// How long a message takes from the bridge to its runner and back, in microseconds. Measured together with `usage`.
        ipc_us: Option<u64>,
        /// What its processes use, its own runner among them; absent until it was measured, and when it does not run.
        usage: Option<UsageSample>,
        /// Its instances, by name: processes that belong to one web origin or AI client each. Empty if all share one process.
        instances: Vec<InstanceStatus>,
    }
    /// An instance: a server's process for one web origin or AI client.
    "InstanceStatus" InstanceStatus {
        /// Its name, such as `memory@` and 16 hexadecimal digits; always the same for that principal.
        id: String,
        /// The principal that it belongs to.
        principal: String,
        /// Its state, as in `ServerStatus`.
        state: Word,
        /// When this state began, in milliseconds since 1970.
        since: u64,
        /// Its process id; absent when it does not run.
        pid: Option<u32>,
        /// How many calls it is working on.
        in_flight: u32,
        /// How many calls wait until it runs.
        queued: u32,
        /// How often it was restarted.
        restarts: u32,
        /// How it last ended without being told to, as a sentence; absent if it never did.
        last_error: Option<String>,
    }
    /// Numbers about turns since the bridge began. They hold no text of any conversation.
    "AgentStatus" AgentStatus {
        /// How many turns are under way, those of runs included.
        running: u64,
        /// How many turns have ended, by the reason: `done`, `stopped`, `rounds`, `calls`, `tokens`, `time`, `repeats` or
        /// `failed`.
        ended: BTreeMap<String, u64>,
        /// How often a model was asked.
        rounds: u64,
        /// How many calls of tools models have asked for.
        calls: u64,
        /// Tokens that models have read.
        input_tokens: u64,
        /// Tokens that models have written.
        output_tokens: u64,
        /// How many questions wait for the person.
        waiting: u64,
        /// How many questions were answered, by the answer: `once`, `chat_tool`, `chat_server`, `flow`, `pair`,
        /// `ten_minutes`, `always`, `no`, or `gone` (the turn ended first).
        answered: BTreeMap<String, u64>,
    }
    /// The resources that processes use.
    "UsageSample" UsageSample {
        /// The age of this sample, in milliseconds.
        age_ms: u64,
        /// Memory, in bytes. Memory that several processes share counts once (PSS).
        memory: u64,
        /// Processor time since the processes began, in milliseconds. For a server, that of its ended children is included.
        cpu_ms: u64,
        /// Processor use since the sample before, in thousandths of one processor; absent in the first sample.
        cpu_permille: Option<u64>,
        /// Open files.
        open_files: u64,
        /// Processes.
        processes: u64,
        /// Threads.
        threads: u64,
    }
    /// The catalog and its worker.
    "CatalogStatus" CatalogStatus {
        /// The worker's state: `off` (by the environment or the configuration), `stopped` (it starts when there is work),
        /// `starting`, `running`, `stopping`, `crashed` (waits to be restarted) or `failed`.
        state: Word,
        /// Its process id; absent when it does not run.
        pid: Option<u32>,
        /// How often it was restarted since the bridge began.
        restarts: u32,
        /// Its present work: `refreshing` or `enriching`; absent when there is none.
        activity: Option<Word>,
        /// The present step of that work, as a sentence; absent when there is no work.
        step: Option<String>,
        /// The state of the file: `ok`, `missing`, `newer` (of a newer Harbor), `corrupt` or `unreadable`; absent until it
        /// was opened.
        file: Option<Word>,
        /// What is wrong with the file, as a sentence; absent when nothing is.
        file_error: Option<String>,
        /// How many entries there are, without removed ones; absent until the file was opened.
        entries: Option<u64>,
        /// `YYYY-MM-DD`: the day of the entries that are part of Harbor. Present only while they are all there is.
        snapshot: Option<String>,
        /// When a source was last fetched, in milliseconds since 1970; absent when none was.
        last_refresh: Option<u64>,
        /// How long the last refresh took, in milliseconds.
        refresh_ms: Option<u64>,
        /// When the next refresh is due, in milliseconds since 1970; absent when it comes only on request.
        next_refresh: Option<u64>,
        /// How many sources failed in the last refresh.
        failing: u64,
        /// What went wrong last; absent when nothing did.
        last_error: Option<String>,
    }
    /// The models, and the worker that speaks to their providers.
    "ModelsStatus" ModelsStatus {
        /// The worker's state, as in `CatalogStatus`.
        state: Word,
        /// Its process id; absent when it does not run.
        pid: Option<u32>,
        /// How often it was restarted since the bridge began.
        restarts: u32,
        /// How many providers were added.
        providers: u64,
        /// How many requests to providers are under way.
        open_requests: u64,
        /// How the worker last ended without being told to; absent if it never did.
        last_error: Option<String>,
    }
    /// The sizes on disk, in bytes.
    "StoreSizes" StoreSizes {
        /// The age of these numbers, in milliseconds.
        age_ms: u64,
        /// `harbor.db` with its write-ahead log.
        database: u64,
        /// The audit log, with its older files.
        audit: u64,
        /// The logs of the servers.
        server_logs: u64,
    }
}
