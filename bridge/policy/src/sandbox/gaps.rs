//! The gaps of a confinement: rules that a kernel cannot enforce, and ways that a profile leaves open.
//!
//! Owns the sentences about them. Must never promise: a rule that is not measured is reported as not enforced.

use harbor_ipc_proto::client::{NetworkKind, SandboxSettings};
use harbor_ipc_proto::link::sandbox::Offer;

use super::settings::network;

/// Landlock knows to hold: truncation.
const TRUNCATE: u32 = 3;
/// Landlock knows to hold: TCP ports.
pub(super) const PORTS: u32 = 4;
/// Landlock knows to hold: signals and abstract sockets.
const SCOPES: u32 = 6;

/// Parts of the path of a socket whose listener starts programs, or speaks for the person.
const WAYS_OUT: &[&str] = &[
    "agent.",
    "containerd",
    "crio",
    "dbus",
    "docker.sock",
    "gpg-agent",
    "incus",
    "keyring",
    "libvirt",
    "lxd",
    "podman",
    "snapd",
    "ssh-agent",
    "systemd",
    "tmux",
    "wayland",
    "x11",
];

/// The gap of one runner for all servers.
pub(super) const SHARED: &str = "the servers share a runner (HARBOR_MCP_ISOLATION=0), so there is no PID namespace: it sees the names and \
                                 command lines of all processes";

/// The gap of a server that has its own runner, but no PID namespace.
#[must_use]
pub fn without_pid_namespace(why: &str) -> String {
    format!(
        "there is no PID namespace ({why}): it sees the names and command lines of all processes, and Harbor has to \
         search for processes that it leaves behind"
    )
}

/// The reason why no single port can be granted.
pub(super) const NO_PORTS: &str = "Harbor cannot grant a port here: that needs seccomp, Linux 5.6 or newer, and no \
                                   program around Harbor that already answers its system calls; leave out the port \
                                   (`--reset listen`)";

/// The gap that this leaves for UDP.
const UDP_PORTS: &str = "it can bind UDP ports and be reached there: Linux 5.6 or newer prevents this, unless a \
                         program around Harbor already answers its system calls";

/// The gap that its own sockets leave.
pub(super) const LISTENS: &str = "with its own sockets it may listen, also on TCP ports that the kernel chooses: \
                                  `--network` sets who can reach it";

/// The means that confine a server, in short.
pub(super) fn held_by(offer: &Offer<'_>, landlock: u32) -> String {
    let landlock = (landlock > 0).then(|| format!("landlock {landlock}"));
    let seccomp = offer.seccomp.then(|| "seccomp".to_owned());
    let namespaces = offer.namespaces.then(|| "namespaces".to_owned());
    let all: Vec<_> = [landlock, seccomp, namespaces].into_iter().flatten().collect();
    if all.is_empty() { "nothing".into() } else { all.join(", ") }
}

/// The rules of the levels `standard` and `strict` that this kernel cannot enforce.
pub(super) fn missing(settings: &SandboxSettings, offer: &Offer<'_>, landlock: u32) -> Vec<String> {
    let own_network = network(settings) != NetworkKind::All;
    let sockets = settings.sockets.as_ref().is_some_and(|sockets| !sockets.is_empty());
    let mut all = Vec::new();
    if landlock == 0 {
        all.push(without_landlock(offer.namespaces).to_owned());
    }
    if (1..TRUNCATE).contains(&landlock) && !offer.namespaces {
        all.push(format!(
            "it can empty files that it may only read: Landlock {TRUNCATE} or newer prevents this"
        ));
    }
    if landlock < PORTS && !own_network && !offer.answers {
        let besides = if offer.seccomp { ", but not listen on them" } else { "" };
        all.push(format!("it can bind TCP ports{besides}: Landlock {PORTS} or newer prevents this"));
    }
    if landlock < SCOPES {
        let whose = if offer.namespaces { "that it can see" } else { "of yours" };
        all.push(format!("it can signal processes {whose}: Landlock {SCOPES} or newer prevents this"));
    }
    if landlock < SCOPES && !own_network && (sockets || !offer.seccomp) {
        all.push(format!(
            "it can connect to abstract Unix sockets: Landlock {SCOPES} or newer prevents this"
        ));
    }
    if offer.seccomp && !offer.answers && !own_network {
        all.push(UDP_PORTS.into());
    }
    if !offer.seccomp {
        all.push(
            "system calls are not filtered: Unix sockets (D-Bus, docker, ssh-agent), UDP and listening are open".into(),
        );
    }
    if !offer.namespaces {
        all.push(format!(
            "namespaces do not work here ({}): it can see names and sizes of other files, and /run and the home are \
             not hidden",
            why_no_namespaces(offer)
        ));
    }
    all
}

fn without_landlock(namespaces: bool) -> &'static str {
    if namespaces {
        "Landlock is missing: it can read your files outside the home, /run, /tmp and mounted disks; namespaces hide \
         these, and let it write only its own files"
    } else {
        "Landlock is missing: it can read and write every file that you can"
    }
}

/// Never empty.
pub(super) fn why_no_namespaces<'a>(offer: &'a Offer<'_>) -> &'a str {
    match offer.why_no_namespaces.trim() {
        "" => "the kernel does not say why",
        why => why,
    }
}

/// The gap of a server without rules for files.
pub(super) fn open(level: &str) -> String {
    format!(
        "the level {level} does not protect files: it can do everything that you can, even read run/token and so act \
         as Harbor's owner"
    )
}

/// Ways out that the settings leave.
pub(super) fn warnings(settings: &SandboxSettings, offer: &Offer<'_>) -> Vec<String> {
    let sockets = settings.sockets.as_deref().unwrap_or_default();
    let mut all = Vec::new();
    if network(settings) == NetworkKind::All {
        all.push(
            "its network is unrestricted: services of this machine, the local network and the metadata of a cloud \
             (169.254.169.254) are within reach"
                .to_owned(),
        );
    }
    if !sockets.is_empty() && !offer.namespaces {
        all.push("a granted socket opens all Unix sockets, since no mount namespace hides the others".into());
    }
    let ways_out = sockets.iter().filter(|path| is_way_out(path));
    all.extend(ways_out.map(|path| format!("with {path} it can leave the sandbox")));
    all
}

/// True if a program that speaks on this socket can start programs or act as the person.
pub(super) fn is_way_out(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.ends_with("bus") || WAYS_OUT.iter().any(|part| lower.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_that_lead_out_are_known() {
        for path in [
            "/run/user/1000/bus",
            "/run/dbus/system_bus_socket",
            "/var/run/docker.sock",
            "/run/user/1000/podman/podman.sock",
            "/run/containerd/containerd.sock",
            "/tmp/ssh-XXXXabc/agent.1234",
            "/tmp/.X11-unix/X0",
            "/run/user/1000/wayland-0",
            "/run/user/1000/systemd/private",
        ] {
            assert!(is_way_out(path), "{path}");
        }
        for path in ["/run/postgresql/.s.PGSQL.5432", "/var/run/mysqld/mysqld.sock", "/srv/app.sock"] {
            assert!(!is_way_out(path), "{path}");
        }
    }
}
