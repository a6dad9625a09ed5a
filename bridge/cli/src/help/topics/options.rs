//! Options that several commands have, and long texts.
//!
//! Owns their words. Must never name a command: each stands below several.

use super::super::{Opt, opt};

pub const SAVE: &str = "write images, audio and resources to new files in this directory";

/// The notes of `grant`, with every scope there is.
pub const SCOPES: &str = "\
ORIGIN is https://HOST[:PORT] of a web page, or client://NAME of an AI client. SCOPE is one of

    mcp:tools.list mcp:tools.call mcp:servers.register mcp:server.connect
    model:prompt model:tools model:list
    browser:activeTab.read browser:activeTab.interact
    browser:activeTab.screenshot browser:navigate
    browser:tabs.read browser:tabs.create
    web:fetch chat:open
    addressBar:suggest addressBar:context addressBar:history addressBar:execute
    agents:register agents:discover agents:invoke agents:message
    agents:crossOrigin agents:remote

A denial wins over whatever else is granted. An origin that calls tools needs mcp:tools.call, and
mcp:tools.list to find them.

    harbor grant https://example.com mcp:tools.call --always --tool 'time/*'";

pub const START: &[Opt] = &[
    opt("--auto-start", "", "start it with the bridge"),
    opt("--lazy", "", "a call starts it"),
    opt("--idle-stop", "SECONDS", "stop it after so long without a call: 1 to 604800, never if absent"),
    opt(
        "--start-timeout",
        "SECONDS",
        "how long a start may take: 1 to 600; 30, or 120 with npx and uvx, if absent",
    ),
    opt("--eof-grace", "SECONDS", "from the end of its stdin to SIGTERM: 0 to 60, 1.5 if absent"),
    opt("--term-grace", "SECONDS", "from SIGTERM to SIGKILL: 0 to 60, 1.5 if absent"),
];

pub const RESTART: &[Opt] = &[
    opt("--restart", "WHEN", "never, on-crash (once it had connected; if absent), always (also before that)"),
    opt(
        "--restart-attempts",
        "N",
        "how often without a stable minute: 0 to 1000000 or unlimited, 3 if absent",
    ),
    opt(
        "--restart-delays",
        "SECONDS,…",
        "the pauses before them, 0 to 3600; the last one repeats; 2,4,6 if absent",
    ),
    opt("--restart-jitter", "PERCENT", "how much longer a pause may be, at random: 0 to 100, 0 if absent"),
];

pub const CALLS: &[Opt] = &[
    opt("--call-timeout", "SECONDS", "how long a call may take that does not say: up to 3600, 30 if absent"),
    opt("--queue-wait", "SECONDS", "how long a call waits for a start: 0 (not at all) to 600, 10 if absent"),
    opt(
        "--hung-grace",
        "SECONDS",
        "from a call's timeout to the verdict that it hangs: 0.1 to 3600, 10 if absent",
    ),
];

pub const SANDBOX_LEVEL: Opt =
    opt("--sandbox", "LEVEL", "off, basic, standard (if nothing is said) or strict");

pub const SANDBOX_OF_ADD: &[Opt] = &[SANDBOX_LEVEL];

/// A server elsewhere.
pub const REMOTE: &[Opt] = &[
    opt("--transport", "KIND", "http, sse, or auto, which finds out; auto"),
    opt(
        "--header",
        "'NAME: VALUE'",
        "goes with each request; ${KEY} in it is filled at the start; repeat for more",
    ),
    opt("--allow-private", "", "its name may mean a private address"),
    opt("--allow-http", "", "without TLS, although it is not on this machine"),
];

/// A program that is downloaded.
pub const DOWNLOAD: &[Opt] = &[
    opt("--sha256", "HEX", "what the SHA-256 of the file has to be"),
    opt(
        "--minisign-key",
        "KEY",
        "a public key that this version and each later one has to be signed by: URL.minisig",
    ),
    opt("--bin", "PATH", "which file of an archive is the program, where there are several"),
];

/// What a server may reach and use, beyond its level.
pub const SANDBOX: &[Opt] = &[
    opt("--required", "", "rather do not start it than with less than its level"),
    opt("--read", "PATH", "a file or directory that it may read; repeat for more"),
    opt("--write", "PATH", "one that it may read and write; repeat for more"),
    opt("--socket", "PATH", "a Unix socket that it may connect to; repeat for more"),
    opt("--network", "KIND", "none, loopback (its own), hosts or all"),
    opt("--host", "HOST[:PORT]", "a host for --network hosts, *.example.com too; repeat for more"),
    opt("--memory", "MIB", "memory of all its processes together: 64 to 1048576; 2048"),
    opt("--processes", "N", "processes and threads: 8 to 65536; 512"),
    opt("--open-files", "N", "open files of each process: 64 to 1048576; 4096"),
    opt("--file-size", "MIB", "the largest file that it may write: 1 to 1048576; 1024"),
    opt("--disk", "MIB", "its data and temporary files together: 1 to 1048576; 4096"),
    opt("--nice", "N", "how much it steps back for others, 0 to 19; 5"),
];
