//! A server's sandbox, from the bridge's message to the launcher's profile.
//!
//! ```text
//!  bridge ──Sandbox──► plan ──the same bytes, in a file without a name──► launcher: profile
//! ```
//!
//! Owns that translation, and the report to the bridge of what the kernel offers. Must never weaken anything.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;

use harbor_child::instructions::Server;
use harbor_child::link;
use harbor_child::sandbox::landlock::{Access, LandlockRule};
use harbor_child::sandbox::limits::Limits;
use harbor_child::sandbox::network::Network;
use harbor_child::sandbox::private_places::Mounts;
use harbor_child::sandbox::seccomp::{Filter, Listen};
use harbor_child::sandbox::{Profile, offer};
use harbor_ipc_proto::link::codec::{get_message, put_message};
use harbor_ipc_proto::link::runner::FromRunner;
use harbor_ipc_proto::link::sandbox::{self as wire, PathAccess, PathRule, Sandbox};
use harbor_ipc_proto::{BUILD, LINK_PROTOCOL};

/// Bytes of the length before a message, which stands on a link and not in a file.
const LENGTH: usize = 4;

/// The bridge sets it; see the policy on environments.
const INSTANCE_MARK: &str = "HARBOR_INSTANCE";

/// The bytes for [`profile`].
pub(crate) fn encoded(sandbox: &Sandbox<'_>) -> Vec<u8> {
    let mut frame = Vec::new();
    put_message(&mut frame, sandbox);
    frame.split_off(LENGTH.min(frame.len()))
}

/// The launcher's profile. None if the bytes hold none.
pub(crate) fn profile(bytes: &[u8]) -> Option<Profile> {
    let sandbox: Sandbox<'_> = get_message(bytes).ok()?;
    let path = |path: &str| PathBuf::from(path);
    let rule =
        |rule: &wire::PathRule<'_>| LandlockRule { path: path(&rule.path), access: access(rule.access) };
    let mounts = |mounts: wire::Mounts<'_>| Mounts {
        hidden: mounts.hidden.iter().map(|hidden| path(hidden)).collect(),
        tmp: path(&mounts.tmp),
        links: mounts.links.iter().map(|(link, to)| (path(link), path(to))).collect(),
    };
    Some(Profile {
        landlock: sandbox.landlock,
        rules: sandbox.paths.iter().map(rule).collect(),
        mounts: sandbox.mounts.map(mounts),
        network: network(&sandbox.network),
        filter: sandbox.filter.map(|filter| held(filter, sandbox.listening.is_some())),
        limits: limits(&sandbox.limits),
        fewer_capabilities: sandbox.fewer_capabilities,
    })
}

fn access(access: PathAccess) -> Access {
    match access {
        PathAccess::Read => Access::Read,
        PathAccess::Device => Access::Device,
        PathAccess::Write => Access::Write,
    }
}

fn network(network: &wire::Network<'_>) -> Network {
    match network {
        wire::Network::Machine => Network::Machine,
        wire::Network::Outgoing => Network::Outgoing,
        wire::Network::None => Network::None,
        wire::Network::Loopback => Network::Loopback,
        wire::Network::Hosts { port, .. } => Network::Proxied { port: *port },
    }
}

fn held(filter: wire::Filter, asks: bool) -> Filter {
    let wire::Filter { unix_sockets, udp, listen, attributes_by_path, hiding, scheduling } = filter;
    let listen = match listen {
        _ if asks => Listen::Ask,
        true => Listen::Freely,
        false => Listen::Never,
    };
    Filter { unix_sockets, udp, listen, attributes_by_path, hiding, scheduling, processes: true }
}

fn limits(limits: &wire::SandboxLimits<'_>) -> Limits {
    Limits {
        memory: limits.memory,
        processes: limits.processes,
        open_files: limits.open_files,
        file_size: limits.file_size,
        nice: limits.nice,
    }
}

/// How the egress proxy is started, for a server whose network is some hosts. The proxy may use only the
/// system's files and connections out. Of the server's environment it gets only the bridge's mark, by which a
/// leftover proxy is found.
pub(crate) fn proxy(sandbox: &Sandbox<'_>, env: &[(Cow<'_, str>, Cow<'_, str>)]) -> Option<Server> {
    let wire::Network::Hosts { proxy, allowed, .. } = &sandbox.network else { return None };
    let own = PathRule { path: proxy.clone(), access: PathAccess::Read };
    let read = sandbox.paths.iter().filter(|rule| rule.access != PathAccess::Write).cloned();
    let profile = Sandbox {
        landlock: sandbox.landlock,
        paths: read.chain([own]).collect(),
        network: if sandbox.landlock < 4 { wire::Network::Machine } else { wire::Network::Outgoing },
        filter: sandbox.filter.map(|_| wire::Filter {
            unix_sockets: false,
            udp: true,
            listen: false,
            attributes_by_path: false,
            hiding: true,
            scheduling: false,
        }),
        fewer_capabilities: true,
        ..Sandbox::default()
    };
    let marks = env.iter().filter(|(name, _)| name == INSTANCE_MARK);
    let words = [BUILD.to_owned()].into_iter().chain(allowed.iter().map(ToString::to_string));
    Some(Server {
        command: OsString::from(&**proxy),
        args: words.map(OsString::from).collect(),
        env: marks.map(|(name, value)| (OsString::from(&**name), OsString::from(&**value))).collect(),
        cwd: "/".into(),
        profile: encoded(&profile),
        group: None,
    })
}

/// Finds out what the kernel offers, and tells the bridge. This process is of no further use.
pub(crate) fn tell_offer() -> io::Result<()> {
    let link = link::take()?;
    let offer = offer::find_out();
    let mut frames = Vec::new();
    put_message(&mut frames, &FromRunner::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() });
    let why = offer.namespaces.as_ref().err().cloned().unwrap_or_default();
    let told = wire::Offer {
        landlock: offer.landlock,
        seccomp: offer.seccomp,
        namespaces: offer.namespaces.is_ok(),
        why_no_namespaces: why.into(),
        answers: offer.answers,
    };
    put_message(&mut frames, &FromRunner::Offer(told));
    (&link.to).write_all(&frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_profile_is_none_and_the_default_holds_to_nothing() {
        let profile_of = |sandbox: &Sandbox<'_>| profile(&encoded(sandbox)).unwrap();
        let nothing = profile_of(&Sandbox::default());
        assert_eq!((nothing.landlock, nothing.rules.len(), nothing.network), (0, 0, Network::Machine));
        assert!(nothing.filter.is_none() && nothing.mounts.is_none());
        assert!(
            profile(b"").is_none() && profile(&[encoded(&Sandbox::default()), vec![0]].concat()).is_none()
        );
    }
}
