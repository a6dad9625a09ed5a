//! A server's rights on this machine: options of `harbor add`, `harbor install` and `harbor sandbox`.
//!
//! Owns the options' names. Must never fill in a default or check a range: the bridge has them.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};
use harbor_client::settings::SETTINGS;
use harbor_ipc_proto::client::{Level, NetworkKind, SandboxSettings};
use harbor_policy::sandbox::hint::shell;

use super::supervision::setting_of;
use super::values::{one_of, read_by, server_id};
use crate::table::flatten;

/// The work of `harbor sandbox`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sandbox {
    pub server: String,
    /// True if every path and variable is shown.
    pub explain: bool,
    /// The settings that were typed; lists are added to the present ones. Paths may be relative.
    pub changes: SandboxSettings,
    /// List entries to remove: paths, sockets, hosts.
    pub forgotten: Vec<String>,
    /// Settings that go back to their default.
    pub reset: Vec<String>,
}

impl Sandbox {
    fn read(options: SandboxCommandOptions) -> Result<Self, String> {
        let SandboxCommandOptions { server, explain, forget: forgotten, reset, sandbox } = options;
        Ok(Self { server, explain, changes: sandbox.read()?, forgotten, reset })
    }

    /// True if anything is to be changed.
    pub fn changes_something(&self) -> bool {
        self.changes != SandboxSettings::default() || !self.forgotten.is_empty() || !self.reset.is_empty()
    }
}

read_by! { Sandbox: SandboxCommandOptions; }

/// Show or change what a server may do
///
/// Without options: shows what it may do. With options: changes that, and restarts the server if it runs and
/// something is different. Paths, sockets and hosts are added to those that are granted already. More:
/// docs/sandbox.md.
///
/// Example: `harbor sandbox files --write ~/notes`
#[derive(Debug, Args)]
struct SandboxCommandOptions {
    /// The server's name
    #[arg(value_parser = server_id)]
    server: String,
    /// Show every path and variable, and why
    #[arg(long)]
    explain: bool,
    /// Remove a path, socket or host; repeat for more
    #[arg(long, value_name = "ENTRY", value_parser = NonEmptyStringValueParser::new())]
    forget: Vec<String>,
    /// Set an option back to its default; repeat for more
    #[arg(long, value_name = "SETTING", value_parser = setting_of(SETTINGS))]
    reset: Vec<String>,
    #[command(flatten)]
    sandbox: SandboxOptions,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "What it may do on this machine")]
pub(super) struct SandboxOptions {
    /// The sandbox's level; standard if absent
    #[arg(long, value_name = "LEVEL", value_parser = one_of(["off", "basic", "standard", "strict"], Level::of))]
    sandbox: Option<Level>,
    /// Do not start it with less than its level
    #[arg(long)]
    required: bool,
    /// A file or directory that it may read; repeat for more
    #[arg(long, value_name = "PATH", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::AnyPath)]
    read: Vec<String>,
    /// A file or directory that it may read and write; repeat for more
    #[arg(long, value_name = "PATH", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::AnyPath)]
    write: Vec<String>,
    /// A Unix socket that it may connect to; repeat for more
    #[arg(long, value_name = "PATH", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::AnyPath)]
    socket: Vec<String>,
    /// The network that it has; loopback is its own network
    #[arg(long, value_name = "KIND", value_parser = one_of(["none", "loopback", "hosts", "all"], NetworkKind::of))]
    network: Option<NetworkKind>,
    /// A host for --network hosts, *.example.com too; repeat for more
    #[arg(long, value_name = "HOST[:PORT]", value_parser = NonEmptyStringValueParser::new())]
    host: Vec<String>,
    /// A port of 127.0.0.1 on which it may listen: 1024 to 65535
    #[arg(long, value_name = "PORT")]
    listen: Option<u64>,
    /// Memory of all its processes together: 64 to 1048576; 2048 if absent
    #[arg(long, value_name = "MIB")]
    memory: Option<u64>,
    /// Processes and threads: 8 to 65536; 512 if absent
    #[arg(long, value_name = "N")]
    processes: Option<u64>,
    /// Open files of each process: 64 to 1048576; 4096 if absent
    #[arg(long, value_name = "N")]
    open_files: Option<u64>,
    /// The largest file that it may write: 1 to 1048576; 1024 if absent
    #[arg(long, value_name = "MIB")]
    file_size: Option<u64>,
    /// Its data and temporary files together: 1 to 1048576; 4096 if absent
    #[arg(long, value_name = "MIB")]
    disk: Option<u64>,
    /// Its niceness, by which it gives way to other programs: 0 to 19; 5 if absent
    #[arg(long, value_name = "N")]
    nice: Option<u64>,
}

impl SandboxOptions {
    pub(super) fn read(self) -> Result<SandboxSettings, String> {
        let list = |list: Vec<String>| Some(list).filter(|list| !list.is_empty());
        let hosts = list(self.host);
        if let Some(kind) = self.network.filter(|kind| *kind != NetworkKind::Hosts && hosts.is_some()) {
            let kind = kind.as_str();
            return Err(format!(
                "--network {kind} and --host: hosts belong to --network hosts; leave out one of the two"
            ));
        }
        Ok(SandboxSettings {
            level: self.sandbox,
            required: self.required.then_some(true),
            read: list(self.read),
            write: list(self.write),
            sockets: list(self.socket),
            // Whoever names hosts means these and no others.
            network: self.network.or(hosts.as_ref().map(|_| NetworkKind::Hosts)),
            hosts,
            listen: self.listen,
            memory_mb: self.memory,
            processes: self.processes,
            open_files: self.open_files,
            file_size_mb: self.file_size,
            disk_mb: self.disk,
            nice: self.nice,
        })
    }
}

/// Settings, as the bridge shows them, as they are typed for `harbor sandbox`.
pub fn options_of(settings: &SandboxSettings) -> String {
    let word = |option: &str, word: Option<&str>| word.map(|word| format!("--{option} {word}"));
    let list = |option: &str, entries: &Option<Vec<String>>| {
        let entries = entries.iter().flatten().map(|entry| format!("--{option} {}", shell(&flatten(entry))));
        Some(entries.collect::<Vec<_>>().join(" ")).filter(|words| !words.is_empty())
    };
    let number = |option: &str, number: Option<u64>| number.map(|number| format!("--{option} {number}"));
    let said = [
        word("sandbox", settings.level.map(Level::as_str)),
        (settings.required == Some(true)).then(|| "--required".to_owned()),
        list("read", &settings.read),
        list("write", &settings.write),
        list("socket", &settings.sockets),
        word("network", settings.network.map(NetworkKind::as_str)),
        list("host", &settings.hosts),
        number("listen", settings.listen),
        number("memory", settings.memory_mb),
        number("processes", settings.processes),
        number("open-files", settings.open_files),
        number("file-size", settings.file_size_mb),
        number("disk", settings.disk_mb),
        number("nice", settings.nice),
    ];
    said.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
