//! Checks that settings of a sandbox can be followed at all, on any machine.
//!
//! Owns the ranges and the defaults. Must never repair: a wrong value is reported with the values that are allowed.

use std::fmt;
use std::ops::RangeInclusive;

use harbor_ipc_proto::client::{Level, NetworkKind, SandboxSettings};

use super::hosts::Allowed;
use super::paths::{MAX_PATH, clean};

/// A mebibyte.
const MIB: u64 = 1 << 20;
/// More entries of one list are not kept.
const MAX_ENTRIES: usize = 256;
/// The first port that is not the system's.
pub(super) const FIRST_PORT: u16 = 1024;

/// A setting that cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidSandboxSetting {
    /// The setting.
    pub field: &'static str,
    /// The values that are allowed, and what to do.
    pub expected: String,
}

impl fmt::Display for InvalidSandboxSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the sandbox's {} must be {}", self.field, self.expected)
    }
}

/// The numbers of a sandbox, checked and filled up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// Bytes of memory.
    pub memory: u64,
    /// Processes and threads.
    pub processes: u64,
    /// Open files of a process.
    pub open_files: u64,
    /// Bytes of a file.
    pub file_size: u64,
    /// Bytes below its directories.
    pub disk: u64,
    /// 0 to 19.
    pub nice: u8,
}

/// The network if the settings name none.
#[must_use]
pub fn network(settings: &SandboxSettings) -> NetworkKind {
    let strict = settings.level == Some(Level::Strict);
    settings.network.unwrap_or(if strict { NetworkKind::None } else { NetworkKind::All })
}

/// Checks that these settings can be followed.
///
/// # Errors
/// The first setting that cannot.
pub fn checked(settings: &SandboxSettings) -> Result<(), InvalidSandboxSetting> {
    numbers(settings)?;
    paths("read", settings.read.as_deref())?;
    paths("write", settings.write.as_deref())?;
    paths("sockets", settings.sockets.as_deref())?;
    network_fits(settings)?;
    hosts(settings)?;
    port(settings).map(drop)
}

/// The port of this machine on which it may listen, if any.
///
/// # Errors
/// When there can be none with these settings.
pub fn port(settings: &SandboxSettings) -> Result<Option<u16>, InvalidSandboxSetting> {
    let Some(port) = settings.listen else { return Ok(None) };
    let wrong = |expected: &str| Err(InvalidSandboxSetting { field: "listen", expected: expected.into() });
    match u16::try_from(port).ok().filter(|port| *port >= FIRST_PORT) {
        None => wrong("1024 to 65535"),
        Some(_) if matches!(settings.level, Some(Level::Off | Level::Basic)) => {
            wrong("left out at the levels off and basic, where it may listen on every port")
        }
        Some(_) if network(settings) != NetworkKind::All => wrong(
            "left out unless the network is all: in its own network it may listen anyway, and nobody else can reach it \
             there",
        ),
        port => Ok(port),
    }
}

/// The limits that hold.
///
/// # Errors
/// Which is out of its range.
pub fn numbers(settings: &SandboxSettings) -> Result<Numbers, InvalidSandboxSetting> {
    let mib = |field, asked, default, least| number(field, asked, default, least..=1_048_576, " MiB");
    let nice = number("nice", settings.nice, 5, 0..=19, "")?;
    Ok(Numbers {
        memory: mib("memory_mb", settings.memory_mb, 2_048, 64)? * MIB,
        processes: number("processes", settings.processes, 512, 8..=65_536, "")?,
        open_files: number("open_files", settings.open_files, 4_096, 64..=1_048_576, "")?,
        file_size: mib("file_size_mb", settings.file_size_mb, 1_024, 1)? * MIB,
        disk: mib("disk_mb", settings.disk_mb, 4_096, 1)? * MIB,
        nice: u8::try_from(nice).unwrap_or(19),
    })
}

fn number(
    field: &'static str,
    asked: Option<u64>,
    default: u64,
    range: RangeInclusive<u64>,
    unit: &str,
) -> Result<u64, InvalidSandboxSetting> {
    let value = asked.unwrap_or(default);
    if range.contains(&value) {
        return Ok(value);
    }
    Err(InvalidSandboxSetting { field, expected: format!("{} to {}{unit}", range.start(), range.end()) })
}

fn paths(field: &'static str, listed: Option<&[String]>) -> Result<(), InvalidSandboxSetting> {
    let listed = listed.unwrap_or_default();
    few(field, listed)?;
    if listed.iter().all(|path| clean(path).is_some()) {
        return Ok(());
    }
    let expected = format!("absolute paths of less than {MAX_PATH} bytes without `..` and NUL");
    Err(InvalidSandboxSetting { field, expected })
}

fn few(field: &'static str, listed: &[String]) -> Result<(), InvalidSandboxSetting> {
    let expected = || format!("a list of at most {MAX_ENTRIES}");
    if listed.len() <= MAX_ENTRIES {
        Ok(())
    } else {
        Err(InvalidSandboxSetting { field, expected: expected() })
    }
}

fn network_fits(settings: &SandboxSettings) -> Result<(), InvalidSandboxSetting> {
    let expected = match (settings.level.unwrap_or_default(), network(settings)) {
        (Level::Strict, NetworkKind::All) => {
            "none, loopback or hosts at the level strict; the level standard can have all"
        }
        (Level::Off | Level::Basic, NetworkKind::None | NetworkKind::Loopback | NetworkKind::Hosts) => {
            "all at the levels off and basic, which do not confine the network; the level standard can have less"
        }
        _ => return Ok(()),
    };
    Err(InvalidSandboxSetting { field: "network", expected: expected.into() })
}

fn hosts(settings: &SandboxSettings) -> Result<(), InvalidSandboxSetting> {
    let wrong = |expected: String| InvalidSandboxSetting { field: "hosts", expected };
    let listed = settings.hosts.as_deref().unwrap_or_default();
    few("hosts", listed)?;
    match (network(settings) == NetworkKind::Hosts, listed) {
        (true, []) => Err(wrong(
            "at least one host, since the network is hosts; for no host at all choose the network none"
                .into(),
        )),
        (true, listed) => Allowed::parse(listed).map(drop).map_err(|bad| wrong(bad.to_string())),
        (false, []) => Ok(()),
        (false, _) => Err(wrong(
            "empty unless the network is hosts: choose that network, or leave the hosts out".into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> SandboxSettings {
        SandboxSettings::default()
    }

    fn list(entries: &[&str]) -> Option<Vec<String>> {
        Some(entries.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_is_not_said_has_the_documented_value() {
        let numbers = numbers(&asked()).unwrap();
        let wanted = Numbers {
            memory: 2 << 30,
            processes: 512,
            open_files: 4_096,
            file_size: 1 << 30,
            disk: 4 << 30,
            nice: 5,
        };
        assert_eq!(numbers, wanted);
        assert_eq!(checked(&asked()), Ok(()));
        assert_eq!(network(&asked()), NetworkKind::All);
        assert_eq!(network(&SandboxSettings { level: Some(Level::Strict), ..asked() }), NetworkKind::None);
    }

    #[test]
    fn ranges_are_exact() {
        type Field = fn(u64) -> SandboxSettings;
        let fields: [(&str, Field, u64, u64); 6] = [
            ("memory_mb", |n| SandboxSettings { memory_mb: Some(n), ..Default::default() }, 64, 1_048_576),
            ("processes", |n| SandboxSettings { processes: Some(n), ..Default::default() }, 8, 65_536),
            ("open_files", |n| SandboxSettings { open_files: Some(n), ..Default::default() }, 64, 1_048_576),
            (
                "file_size_mb",
                |n| SandboxSettings { file_size_mb: Some(n), ..Default::default() },
                1,
                1_048_576,
            ),
            ("disk_mb", |n| SandboxSettings { disk_mb: Some(n), ..Default::default() }, 1, 1_048_576),
            ("nice", |n| SandboxSettings { nice: Some(n), ..Default::default() }, 0, 19),
        ];
        for (field, of, least, most) in fields {
            assert_eq!((checked(&of(least)), checked(&of(most))), (Ok(()), Ok(())), "{field}");
            for beyond in [least.checked_sub(1), Some(most + 1), Some(u64::MAX)].into_iter().flatten() {
                assert_eq!(checked(&of(beyond)).unwrap_err().field, field);
            }
        }
        let wrong = checked(&SandboxSettings { memory_mb: Some(1), ..asked() }).unwrap_err();
        assert_eq!(wrong.to_string(), "the sandbox's memory_mb must be 64 to 1048576 MiB");
    }

    #[test]
    fn paths_are_absolute() {
        for path in ["a", "~/a", "", "/a/../b", "/a\0b"] {
            let read = checked(&SandboxSettings { read: list(&["/ok", path]), ..asked() }).unwrap_err();
            let write = checked(&SandboxSettings { write: list(&[path]), ..asked() }).unwrap_err();
            let sockets = checked(&SandboxSettings { sockets: list(&[path]), ..asked() }).unwrap_err();
            assert_eq!([read.field, write.field, sockets.field], ["read", "write", "sockets"], "{path:?}");
        }
        let many = Some(vec!["/a".to_owned(); MAX_ENTRIES + 1]);
        assert_eq!(checked(&SandboxSettings { read: many, ..asked() }).unwrap_err().field, "read");
    }

    #[test]
    fn level_network_and_hosts_fit_together() {
        use Level::{Basic, Off, Standard, Strict};
        use NetworkKind::{All, Hosts, Loopback, None as Nowhere};
        let field = |level, network, hosts: &[&str]| {
            let hosts = (!hosts.is_empty()).then(|| list(hosts)).flatten();
            let settings = SandboxSettings { level: Some(level), network: Some(network), hosts, ..asked() };
            checked(&settings).err().map(|wrong| wrong.field)
        };
        for level in [Standard, Strict] {
            assert_eq!([field(level, Nowhere, &[]), field(level, Loopback, &[])], [None, None]);
            assert_eq!(field(level, Hosts, &["example.com"]), None);
            assert_eq!(field(level, Hosts, &[]), Some("hosts"));
            assert_eq!(field(level, Hosts, &["https://example.com"]), Some("hosts"));
            assert_eq!(field(level, Nowhere, &["example.com"]), Some("hosts"));
        }
        assert_eq!((field(Standard, All, &[]), field(Strict, All, &[])), (None, Some("network")));
        for level in [Off, Basic] {
            assert_eq!((field(level, All, &[]), field(level, Nowhere, &[])), (None, Some("network")));
            assert_eq!(field(level, Hosts, &["example.com"]), Some("network"));
        }
    }
}
