//! Objects about servers and AI clients that stand inside replies.

use super::{ImageView, SandboxSettings, SandboxSummary, ServerChange, Supervision, define_sent};
use crate::field::Word;
use crate::json::Json;

define_sent! {
    /// Objects about servers and AI clients inside replies.
    OBJECTS:
    /// A server: its definition and its state. Values of environment variables are never shown.
    "Server" ServerView {
        /// The server's id.
        server_id: String,
        /// A name for people.
        label: String,
        /// The program; empty if the server is an image.
        command: String,
        /// The container image; absent if the server is a program.
        image: Option<ImageView>,
        /// Its arguments. Arguments that look like secrets are left out.
        args: Vec<String>,
        /// Names of the environment variables in its definition.
        env_names: Vec<String>,
        /// Its working directory; absent when the definition names none.
        cwd: Option<String>,
        /// `installing`, `stopped`, `starting`, `running`, `stopping`, `crashed` (waits to be restarted) or `failed`.
        state: Word,
        /// The state for people: `running` (or on its way), `ready` (a call starts it), `stopped` (only a person starts
        /// it), `needs_key`, `needs_sign_in`, `needs_approval` (it is another program than the person allowed) or `failed`.
        shown_state: Word,
        /// When this state began, in milliseconds since 1970.
        since: u64,
        /// True if calls are open and it has not answered a probe. Many servers do one thing at a time.
        busy: bool,
        /// Process id of the server, while it runs.
        pid: Option<u32>,
        /// Process id of its runner, while there is one.
        runner_pid: Option<u32>,
        /// How many tools it offers, or offered when it last ran; absent when not known.
        tool_count: Option<u32>,
        /// Problems with its lists while it runs, a sentence each; absent when there are none.
        list_problems: Option<Vec<String>>,
        /// How many of its tools have changed and are not accepted; absent when none have.
        changed_tools: Option<u32>,
        /// The change of its program, if it is another one than the person allowed. Origins may not use it until the person
        /// accepts that.
        program_change: Option<ServerChange>,
        /// How often it was restarted since a person last started it.
        restarts: u32,
        /// Restarts that count against `restart_attempts`: those that no stable minute followed.
        attempt: u32,
        /// While it waits to be restarted: the time of the restart, in milliseconds since 1970. If it was given up after it
        /// had run: the time from which a call tries it once more.
        next_retry: Option<u64>,
        /// How it last ended without being told to, as a sentence; also while it runs again. Absent if it never did.
        last_error: Option<String>,
        /// The same end, for programs.
        last_exit: Option<ExitView>,
        /// How many calls wait until it runs.
        queued: u32,
        /// How many answers came after their call had ended. They were dropped.
        late_answers: u64,
        /// How all its processes are ended. `pid_namespace`: the kernel ends them together with the runner.
        /// `process_group`: a process that left the group is ended by the runner, the bridge, or the bridge's next start.
        /// `container`: the engine ends it, and the runner, the bridge or the bridge's next start has it removed. Absent
        /// until it was started.
        containment: Option<Word>,
        /// Why it is not `pid_namespace`; absent when it is.
        containment_reason: Option<String>,
        /// The MCP revision that it speaks; absent until that is known.
        protocol_version: Option<String>,
        /// The package that Harbor installed for it and runs without npx or uvx, with its version once that is locked.
        package: Option<String>,
        /// The locked hash of that package. `list_installed` says more.
        integrity: Option<String>,
        /// The address, if it is remote; it then has no program.
        remote: Option<RemoteView>,
        /// How it is supervised, as its definition says.
        supervision: Supervision,
        /// The sandbox of its last start, and what this kernel cannot enforce; absent until it was started.
        sandbox: Option<SandboxSummary>,
    }
    /// How a server is started, as the person said. Values of variables and headers are never shown.
    "Definition" DefinitionView {
        /// The server's id.
        server_id: String,
        /// A name for people; absent when none was given.
        label: Option<String>,
        /// The program; absent if the server is an image or remote.
        command: Option<String>,
        /// The container image; absent if the server is not an image.
        image: Option<String>,
        /// The engine for the image; absent when none was named.
        engine: Option<String>,
        /// Its arguments.
        args: Vec<String>,
        /// Names of its environment variables.
        env_names: Vec<String>,
        /// Its working directory; absent when none was given.
        cwd: Option<String>,
        /// The roots that the server may ask for.
        roots: Vec<String>,
        /// True if the command runs as it is, even if it looks like a package.
        as_is: bool,
        /// Names of secrets without which the server does not start.
        secrets: Vec<String>,
        /// How it is supervised.
        supervision: Supervision,
        /// Its sandbox: what it may do on this machine.
        sandbox: SandboxSettings,
        /// For a remote server: its URL, as far as it may be shown.
        url: Option<String>,
        /// For a remote server: `http`, `sse` or `auto`.
        transport_type: Option<Word>,
        /// Names of its headers.
        header_names: Vec<String>,
        /// True if the server may be at a private address.
        allow_private: bool,
        /// True if the server may be used without TLS.
        allow_http: bool,
    }
    /// The address of a remote server.
    "Remote" RemoteView {
        /// Its URL, without a query.
        url: String,
        /// `http`, `sse` or `auto`.
        transport_type: Word,
        /// Names of the headers that go with each request.
        header_names: Vec<String>,
    }
    /// The end of a server, or the reason why it did not start.
    "Exit" ExitView {
        /// One word: `exited`, `signalled`, `out_of_memory`, `too_many_processes`, `disk_full`, `hung`, `closed_stdout`,
        /// `spawn_failed`, `timeout`, `refused`, `malformed`, `unknown_protocol_version`, `install_failed`, `package_lost`,
        /// `missing_secrets`, `secrets_locked`, `secrets_unreadable`, `runner_lost`, `protocol_error`, or `stopped`. For a
        /// remote server also `unreachable`, `unauthorized`, `session_lost`, `forbidden`, `tls` or `no_mcp`.
        cause: Word,
        /// One sentence.
        message: String,
        /// Its exit code; absent when there was none.
        exit_code: Option<i32>,
        /// The signal that ended it; absent when none did.
        signal: Option<i32>,
        /// The last lines of its stderr.
        stderr_tail: Option<String>,
        /// When it ended, in milliseconds since 1970.
        timestamp: u64,
    }
    /// A running server.
    "Connection" ConnectionView {
        /// The server's id.
        server_id: String,
        /// What the server said about itself.
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
    /// A server's description of itself when contact was made.
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
        /// MCP's level; for `mcp` lines only.
        level: Option<String>,
        /// The text, cut at 8 KiB.
        text: String,
    }
}
