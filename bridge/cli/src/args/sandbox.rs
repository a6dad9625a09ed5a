//! What a server may do on this machine, as it is typed: for `harbor add` and `harbor sandbox`.
//!
//! Owns the options' names. Must never fill in a default or check a range: the bridge has them.

use harbor_client::settings::SETTINGS;
use harbor_ipc_proto::client::{Level, NetworkKind, SandboxSettings};
use harbor_policy::sandbox::hint::shell;

use super::Words;
use crate::table::flatten;

/// What `harbor sandbox` is to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sandbox {
    pub server: String,
    /// Whether every path and variable is to be shown.
    pub explain: bool,
    /// What is said anew; lists are added to what is there. Paths may be relative.
    pub changes: SandboxSettings,
    /// Entries of lists that are to go: paths, sockets, hosts.
    pub forgotten: Vec<String>,
    /// Settings that go back to their default.
    pub reset: Vec<String>,
}

impl Sandbox {
    /// Whether anything is to be changed.
    pub fn changes_something(&self) -> bool {
        self.changes != SandboxSettings::default() || !self.forgotten.is_empty() || !self.reset.is_empty()
    }
}

impl Words {
    pub(super) fn sandbox(&self) -> Result<Sandbox, String> {
        let reset = self.all("--reset").map(setting).collect::<Result<_, _>>()?;
        Ok(Sandbox {
            server: self.server()?,
            explain: self.has("--explain"),
            changes: self.sandbox_settings()?,
            forgotten: self.named("--forget", "a path, socket or host that was granted")?,
            reset,
        })
    }

    pub(super) fn sandbox_settings(&self) -> Result<SandboxSettings, String> {
        let list = |name, what| Ok::<_, String>(Some(self.named(name, what)?).filter(|all| !all.is_empty()));
        let hosts = list("--host", "a host, such as example.com")?;
        let network = self.word("--network", "none, loopback, hosts or all", NetworkKind::of)?;
        if let Some(kind) = network.filter(|kind| *kind != NetworkKind::Hosts && hosts.is_some()) {
            let kind = kind.as_str();
            return Err(format!(
                "--network {kind} and --host: hosts belong to --network hosts; leave out one of the two"
            ));
        }
        Ok(SandboxSettings {
            level: self.word("--sandbox", "off, basic, standard or strict", Level::of)?,
            required: self.has("--required").then_some(true),
            read: list("--read", "a file or directory; `.` is the current one")?,
            write: list("--write", "a file or directory; `.` is the current one")?,
            sockets: list("--socket", "a Unix socket")?,
            // Whoever names hosts means these and no others.
            network: network.or(hosts.as_ref().map(|_| NetworkKind::Hosts)),
            hosts,
            memory_mb: self.amount("--memory", "MiB, 64 to 1048576")?,
            processes: self.amount("--processes", "processes and threads, 8 to 65536")?,
            open_files: self.amount("--open-files", "files, 64 to 1048576")?,
            file_size_mb: self.amount("--file-size", "MiB, 1 to 1048576")?,
            disk_mb: self.amount("--disk", "MiB, 1 to 1048576")?,
            nice: self.amount("--nice", "0 to 19")?,
        })
    }

    /// A whole number; whether it is in its range is the bridge's to say.
    fn amount(&self, name: &str, expected: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.option(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| format!("{name} {text}: use a whole number ({expected})"))
    }

    fn word<T>(&self, name: &str, expected: &str, read: fn(&str) -> Option<T>) -> Result<Option<T>, String> {
        let Some(text) = self.option(name) else { return Ok(None) };
        read(text).map(Some).ok_or_else(|| format!("{name} {text}: use {expected}"))
    }
}

/// The setting behind the name of an option.
fn setting(name: &str) -> Result<String, String> {
    let found = SETTINGS.iter().find(|(option, field)| name == *option || name == *field);
    found.map(|(_, field)| (*field).to_owned()).ok_or_else(|| {
        let names: Vec<_> = SETTINGS.iter().map(|(option, _)| *option).collect();
        format!("--reset {name}: use one of {}", names.join(", "))
    })
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
        number("memory", settings.memory_mb),
        number("processes", settings.processes),
        number("open-files", settings.open_files),
        number("file-size", settings.file_size_mb),
        number("disk", settings.disk_mb),
        number("nice", settings.nice),
    ];
    said.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
