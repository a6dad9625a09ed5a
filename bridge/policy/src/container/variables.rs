//! The variables that a container gets, and those that the engine's program has.
//!
//! A container gets a variable by its name; the value is in the environment of the engine's program. Everybody can see values in
//! arguments. A variable that the engine's program itself obeys cannot be given: this program runs outside of the container.
//! Owns the lists.

use std::collections::BTreeMap;

use crate::environment::{DEFAULT_PATH, INSTANCE_MARK, OF_PYTHON_SETS, SERVER_MARK};

/// The variables of the bridge's environment that the engine's program needs.
const OF_THE_ENGINE: &[&str] = &[
    "CONTAINERS_CONF",
    "CONTAINERS_REGISTRIES_CONF",
    "CONTAINERS_STORAGE_CONF",
    "CONTAINER_HOST",
    "CONTAINER_SSHKEY",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_CERT_PATH",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "DOCKER_TLS_VERIFY",
    "HOME",
    "LANG",
    "LOGNAME",
    "PATH",
    "REGISTRY_AUTH_FILE",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

/// Names that programs themselves obey: the loader, the C library, Go, the engines and what they start.
const OBEYED: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "GCONV_PATH",
    "GETCONF_DIR",
    "GNUPGHOME",
    "GOCOVERDIR",
    "GODEBUG",
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "GORACE",
    "GOTRACEBACK",
    "HOSTALIASES",
    "KUBECONFIG",
    "LISTEN_FDS",
    "LISTEN_FDNAMES",
    "LISTEN_PID",
    "LOCALDOMAIN",
    "LOCPATH",
    "NIS_PATH",
    "NLSPATH",
    "NOTIFY_SOCKET",
    "RESOLV_HOST_CONF",
    "RES_OPTIONS",
    "SHELL",
    "TMP",
    "TEMP",
];

/// The beginnings of such names.
const OBEYED_FAMILIES: &[&str] = &[
    "AARDVARK_",
    "BUILDAH_",
    "BUILDX_",
    "CNI_",
    "CONTAINER",
    "DBUS_",
    "DOCKER_",
    "GLIBC_",
    "LD_",
    "MALLOC_",
    "NETAVARK_",
    "OCI_",
    "OTEL_",
    "PODMAN_",
    "SSH_",
    "STORAGE_",
    "SYSTEMD_",
    "XDG_",
    "_",
];

/// The variables by which programs find a proxy. They count in small letters, too.
const PROXIES: &[&str] = &["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"];

/// The reason why a variable cannot be given to a container. None if it can.
#[must_use]
pub fn wrong(name: &str) -> Option<String> {
    let plain = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b));
    let obeyed = OF_THE_ENGINE.contains(&name)
        || OBEYED.contains(&name)
        || OBEYED_FAMILIES.iter().any(|start| name.starts_with(start))
        || is_proxy(name);
    if !plain {
        return Some(format!(
            "{name:?} cannot be given to a container: a name has only letters, digits and `_`"
        ));
    }
    obeyed.then(|| {
        format!(
            "{name} cannot be given to a container: the engine's own program would obey it, outside the sandbox. Set \
             it in the image"
        )
    })
}

fn is_proxy(name: &str) -> bool {
    PROXIES.contains(&name.to_ascii_uppercase().as_str())
}

/// The environment of the engine's program when it does not start a server.
#[must_use]
pub fn of_engine(
    inherited: impl IntoIterator<Item = (String, String)>,
    instance: &str,
    server: &str,
) -> BTreeMap<String, String> {
    let passed = |name: &str| OF_THE_ENGINE.contains(&name) || name.starts_with("LC_") || is_proxy(name);
    let mut all: BTreeMap<_, _> = inherited.into_iter().filter(|(name, _)| passed(name)).collect();
    all.entry("PATH".into()).or_insert_with(|| DEFAULT_PATH.into());
    all.insert(INSTANCE_MARK.into(), instance.into());
    all.insert(SERVER_MARK.into(), server.into());
    all.insert(OF_PYTHON_SETS.0.into(), OF_PYTHON_SETS.1.into());
    all
}

/// The names that a container gets: the server's own, the marks and what each server has, and the proxies where it has a network.
#[must_use]
pub fn of_container(
    engine: &BTreeMap<String, String>,
    own: &BTreeMap<String, String>,
    network: bool,
) -> Vec<String> {
    let proxies = engine.keys().filter(|name| network && is_proxy(name));
    let marks = [INSTANCE_MARK, SERVER_MARK, OF_PYTHON_SETS.0].map(ToOwned::to_owned);
    let mut all: Vec<_> = own.keys().chain(proxies).cloned().chain(marks).collect();
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn what_the_engine_would_obey_is_not_given() {
        for good in ["GITHUB_PERSONAL_ACCESS_TOKEN", "API_KEY", "GOOGLE_KEY", "k", "a.b-c"] {
            assert_eq!(wrong(good), None, "{good}");
        }
        for bad in [
            "LD_PRELOAD",
            "PATH",
            "HOME",
            "DOCKER_HOST",
            "CONTAINERS_CONF",
            "GODEBUG",
            "https_proxy",
            "XDG_X",
        ] {
            assert!(wrong(bad).unwrap().contains("obey"), "{bad}");
        }
        // Podman would give all that begin like this.
        for bad in ["AWS*", "A=B", "", "1A", "-v", "a b"] {
            assert!(wrong(bad).is_some(), "{bad}");
        }
        assert!(OF_THE_ENGINE.iter().all(|name| wrong(name).is_some()));
    }

    #[test]
    fn the_engine_has_what_it_needs_and_the_container_what_is_its_own() {
        let person = [("AWS_SECRET", "s"), ("DOCKER_HOST", "d"), ("HOME", "/h"), ("https_proxy", "p")];
        let engine = of_engine(map(&person), "i", "s");
        let wanted = [
            ("DOCKER_HOST", "d"),
            ("HARBOR_INSTANCE", "i"),
            ("HARBOR_SERVER", "s"),
            ("HOME", "/h"),
            ("PATH", DEFAULT_PATH),
            ("PYTHONHASHSEED", "0"),
            ("https_proxy", "p"),
        ];
        assert_eq!(engine, map(&wanted));
        let own = map(&[("KEY", "k")]);
        assert_eq!(
            of_container(&engine, &own, false),
            ["HARBOR_INSTANCE", "HARBOR_SERVER", "KEY", "PYTHONHASHSEED"]
        );
        assert_eq!(
            of_container(&engine, &own, true),
            ["HARBOR_INSTANCE", "HARBOR_SERVER", "KEY", "PYTHONHASHSEED", "https_proxy"]
        );
    }
}
