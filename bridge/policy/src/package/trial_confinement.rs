//! The definition for other people's code that the person has not yet seen at work: an installer, and a new version on trial.
//!
//! ```text
//!  the server's definition ─┬─► of an installer: its level, its limits, PATH                ─┐ no variables, no grants,
//!                           └─► of a version on trial: the same, its network without hosts  ─┘ no secrets
//! ```
//!
//! Owns which parts of the server's definition remain. Must never let through what the person has given to the server in its
//! present version.

use std::collections::BTreeMap;

use harbor_ipc_proto::client::{Level, NetworkKind, SandboxSettings};

/// The sandbox of an installer. `repository`: the directory on this machine that it installs from. The network is not the
/// server's to say: a start that installs has all of it.
#[must_use]
pub fn of_installer(server: &SandboxSettings, repository: Option<&str>) -> SandboxSettings {
    let read = repository.map(|path| vec![path.to_owned()]);
    SandboxSettings { read, network: None, ..without_grants(server) }
}

/// The sandbox in which a new version is started to see its tools.
#[must_use]
pub fn of_trial(server: &SandboxSettings) -> SandboxSettings {
    let network = match server.network {
        // Hosts are granted one by one, so without grants there is none.
        Some(NetworkKind::Hosts) => Some(NetworkKind::None),
        // The port is that of the version that runs; the new one may listen where nobody reaches it.
        _ if server.listen.is_some() => Some(NetworkKind::Loopback),
        network => network,
    };
    SandboxSettings { network, ..without_grants(server) }
}

/// The PATH is the only variable that an installer gets from the server, so that the same programs compile
/// and run it.
#[must_use]
pub fn variables(server: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    server
        .iter()
        .filter(|(name, _)| *name == "PATH")
        .map(|(name, path)| (name.clone(), path.clone()))
        .collect()
}

/// Never less than `standard`; its limits stay.
fn without_grants(server: &SandboxSettings) -> SandboxSettings {
    let level = match server.level {
        Some(Level::Strict) => Level::Strict,
        Some(Level::Off | Level::Basic | Level::Standard) | None => Level::Standard,
    };
    SandboxSettings {
        level: Some(level),
        read: None,
        write: None,
        sockets: None,
        hosts: None,
        listen: None,
        ..server.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::sandbox::settings;
    use super::*;

    fn given(level: Level, network: Option<NetworkKind>) -> SandboxSettings {
        let list = |path: &str| Some(vec![path.to_owned()]);
        SandboxSettings {
            level: Some(level),
            required: Some(true),
            read: list("/r"),
            write: list("/w"),
            sockets: list("/s"),
            network,
            hosts: (network == Some(NetworkKind::Hosts)).then(|| vec!["example.com".into()]),
            listen: (network == Some(NetworkKind::All)).then_some(9009),
            memory_mb: Some(512),
            ..SandboxSettings::default()
        }
    }

    #[test]
    fn nothing_that_was_granted_is_left_and_what_is_left_can_be_followed() {
        for level in Level::ALL.iter().copied() {
            for network in [None].into_iter().chain(NetworkKind::ALL.iter().copied().map(Some)) {
                let given = given(level, network);
                if settings::checked(&given).is_err() {
                    continue;
                }
                for left in [of_installer(&given, None), of_trial(&given)] {
                    settings::checked(&left).unwrap();
                    assert_eq!(
                        (&left.read, &left.write, &left.sockets, &left.hosts, &left.listen),
                        (&None, &None, &None, &None, &None)
                    );
                    assert_eq!((left.required, left.memory_mb), (Some(true), Some(512)));
                    let wanted = if level == Level::Strict { Level::Strict } else { Level::Standard };
                    assert_eq!(left.level, Some(wanted));
                }
                assert_eq!(of_installer(&given, Some("/repo")).read, Some(vec!["/repo".into()]));
                let narrower = match network {
                    Some(NetworkKind::Hosts) => Some(NetworkKind::None),
                    Some(NetworkKind::All) if given.listen.is_some() => Some(NetworkKind::Loopback),
                    network => network,
                };
                assert_eq!(of_trial(&given).network, narrower);
            }
        }
    }

    #[test]
    fn only_the_way_to_programs_is_taken_over() {
        let own = [("PATH", "/opt/node/bin"), ("API_KEY", "k"), ("NODE_OPTIONS", "--require=/x")];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(variables(&own), BTreeMap::from([("PATH".to_owned(), "/opt/node/bin".to_owned())]));
    }
}
