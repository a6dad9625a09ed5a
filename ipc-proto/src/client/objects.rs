//! Objects about servers and AI clients that stand inside replies.

use super::{ImageView, SandboxSettings, SandboxSummary, ServerChange, Supervision, define_sent};
use crate::field::Word;
use crate::json::Json;

define_sent! {
    /// Objects that stand inside replies.
    OBJECTS:
    /// A server: its definition and its state. Values of environment variables are never shown.
    "Server" ServerView {
        /// The server's id.
        server_id: String,
        /// A name for people.
        label: String,
        /// The program; empty where an image is run.
        command: String,
        /// The container image that is run.
        image: Option<ImageView>,
        /// Its arguments; what looks like a secret in them is left out.
        args: Vec<String>,
        /// Names of the environment variables of its own.
        env_names: Vec<String>,
        /// The directory it runs in, where one was given.
        cwd: Option<String>,
        /// `installing`, `stopped`, `starting`, `running`, `stopping`, `crashed` (waits to be restarted) or `failed`.
        state: Word,
        /// The same for people: `running` (or on its way), `ready` (a call starts it), `stopped` (only a person starts it),
        /// `needs_key`, `needs_sign_in`, `needs_approval` (it is another program than the one that was allowed) or `failed`.
        shown_state: Word,
        /// Since when, in milliseconds since 1970.
        since: u64,
        /// Whether it has not answered a probe while calls are open; many servers do one thing at a time.
        busy: bool,
        /// Process id of the server, while it runs.
        pid: Option<u32>,
        /// Process id of its runner, while there is one.
        runner_pid: Option<u32>,
        /// How many tools it offers, or had when it ran last; absent where that is not known.
        tool_count: Option<u32>,
        /// What is wrong with its lists, while it runs, a sentence each; absent when nothing is.
        list_problems: Option<Vec<String>>,
        /// How many of its tools have changed since they were first seen and are not accepted; absent when none has.
        changed_tools: Option<u32>,
        /// It is another program than the one that was allowed: origins are kept from it until that is accepted.
        program_change: Option<ServerChange>,
        /// How often it was restarted since it was last started by a person.
        restarts: u32,
        /// Restarts that count against `restart_attempts`: those without a stable minute behind them.
        attempt: u32,
        /// While it waits to be restarted: when that will be, in milliseconds since 1970. Of a server that was given up
        /// after it had run: from when on a call tries it once more.
        next_retry: Option<u64>,
        /// How it last ended without being told to, as a sentence; also while it runs again.
        last_error: Option<String>,
        /// The same for programs.
        last_exit: Option<ExitView>,
        /// Calls that wait until it runs.
        queued: u32,
        /// Answers that came after their call had ended; they were dropped.
        late_answers: u64,
        /// What its runner can promise: `pid_namespace` (the kernel ends everything that it started together with its
        /// runner) or `process_group` (what left its group is ended by its runner, by the bridge, or by the next
        /// start of the bridge) or `container` (the engine ends it; its runner, the bridge or the next start of the
        /// bridge has it removed). Known once it was started.
        containment: Option<Word>,
        /// Why it is not `pid_namespace`.
        containment_reason: Option<String>,
        /// The MCP revision that it speaks, once known.
        protocol_version: Option<String>,
        /// The package that is installed for it and run without npx or uvx, in its version once that is locked.
        package: Option<String>,
        /// The hash that is locked of it; `list_installed` says more.
        integrity: Option<String>,
        /// Where it is, if that is elsewhere; then it has no program.
        remote: Option<RemoteView>,
        /// How it is supervised, as its definition says.
        supervision: Supervision,
        /// What held its last start: the level, and what of it this kernel cannot hold; none until it was started.
        sandbox: Option<SandboxSummary>,
    }
    /// How a server is started, as the person said it. Values of variables and headers are never shown.
    "Definition" DefinitionView {
        /// The server's id.
        server_id: String,
        /// A name for people, where one was given.
        label: Option<String>,
        /// The program; absent where an image is run, or nothing here.
        command: Option<String>,
        /// The container image.
        image: Option<String>,
        /// The engine that runs the image, where one was named.
        engine: Option<String>,
        /// Its arguments.
        args: Vec<String>,
        /// Names of its environment variables.
        env_names: Vec<String>,
        /// The directory it runs in, where one was given.
        cwd: Option<String>,
        /// The roots that it may ask for.
        roots: Vec<String>,
        /// Whether the command runs as it is, although it may be recognised as a package.
        as_is: bool,
        /// Names of secrets without which it is not started.
        secrets: Vec<String>,
        /// How it is supervised.
        supervision: Supervision,
        /// What it may do on this machine.
        sandbox: SandboxSettings,
        /// Where it is, if that is elsewhere: what is shown of that.
        url: Option<String>,
        /// `http`, `sse` or `auto`, if it is elsewhere.
        transport_type: Option<Word>,
        /// Names of its headers.
        header_names: Vec<String>,
        /// Whether it may be at a private address.
        allow_private: bool,
        /// Whether it may be spoken to without TLS.
        allow_http: bool,
    }
    /// A server that runs elsewhere.
    "Remote" RemoteView {
        /// Its URL; a query is left out.
        url: String,
        /// `http`, `sse` or `auto`.
        transport_type: Word,
        /// Names of the headers that go with each request.
        header_names: Vec<String>,
    }
    /// How a server ended, or why it could not be started.
    "Exit" ExitView {
        /// One word: `exited`, `signalled`, `out_of_memory`, `too_many_processes`, `disk_full`, `hung`, `closed_stdout`, `spawn_failed`, `timeout`,
        /// `refused`, `malformed`, `unknown_protocol_version`, `install_failed`, `package_lost`, `missing_secrets`, `secrets_locked`, `secrets_unreadable`, `runner_lost`, `protocol_error`, or
        /// `stopped`; of a server elsewhere also `unreachable`, `unauthorized`, `session_lost`, `forbidden`, `tls` or `no_mcp`.
        cause: Word,
        /// One sentence.
        message: String,
        /// Its exit code, where it had one.
        exit_code: Option<i32>,
        /// The signal that ended it, where one did.
        signal: Option<i32>,
        /// The last lines of its stderr.
        stderr_tail: Option<String>,
        /// When, in milliseconds since 1970.
        timestamp: u64,
    }
    /// A running server.
    "Connection" ConnectionView {
        /// The server's id.
        server_id: String,
        /// What it said about itself.
        connection_info: ConnectionInfo,
        /// How many tools it offers.
        tool_count: u32,
        /// How many resources it offers.
        resource_count: u32,
        /// How many prompts it offers.
        prompt_count: u32,
        /// Process id of the server.
        pid: u32,
        /// Process id of its runner.
        runner_pid: u32,
    }
    /// What a server said about itself at contact.
    "ConnectionInfo" ConnectionInfo {
        /// Its name.
        server_name: String,
        /// Its version.
        server_version: String,
        /// The MCP revision in use.
        protocol_version: String,
        /// MCP's server capabilities, as the server wrote them.
        capabilities: Json,
        /// How to use the server, in its own words.
        instructions: Option<String>,
    }
    /// A log line.
    "LogLine" LogLine {
        /// Milliseconds since 1970.
        timestamp: u64,
        /// `stderr`, `stdout` (no MCP message), `mcp`, `harbor` (about the server), or `install` (of an installer).
        source: Word,
        /// MCP's level, for `mcp` lines.
        level: Option<String>,
        /// The text, cut at 8 KiB.
        text: String,
    }
}
