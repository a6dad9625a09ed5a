//! Finds the option against a lack that a server has named.
//!
//! Owns the sentences and the options. Must never blame the sandbox for a limit that it does not set.

use harbor_ipc_proto::client::NetworkKind;
use harbor_ipc_proto::link::runner::Lack;
use harbor_ipc_proto::link::sandbox::Network;

use super::advice::{Advice, shell};
use crate::sandbox::gaps::is_way_out;
use crate::sandbox::hosts::{Allowed, Target};
use crate::sandbox::paths::{below, is_within, parent};
use crate::sandbox::protected::why_never;
use crate::sandbox::settings::FIRST_PORT;
use crate::sandbox::{Profile, REPLACED, SandboxFacts};

/// The largest numbers that can be set: of MiB and open files, of processes.
const MOST: u64 = 1 << 20;
const MOST_PROCESSES: u64 = 65_536;

/// The stack of a thread, which counts as memory, in MiB: what the C library takes where nothing else is said.
const STACK: u64 = 8;

/// The ends of a program's file that is named without its end.
const ENDINGS: &[&str] = &["", ".js", ".mjs", ".cjs", ".json", ".node", ".ts", ".py", ".so"];

/// The most named scripts whose neighbours are looked at.
const MAX_SCRIPTS: usize = 8;

/// The words for sockets whose names are not told.
pub(super) const OWN_SOCKETS: &str = "Unix sockets of its own";

/// The sentence about sockets on which other programs answer.
const LEADS_OUT: &str = "a program that uses this socket can leave the sandbox";

/// The sentence about a granted port.
const REACHED: &str = "every program and web page on this machine can connect to it there";

/// The sentence in case another port is already granted.
const INSTEAD: &str =
    "instead of the port that it has; every program and web page on this machine can connect to it there";

/// The advice about a port that belongs to the system.
const OF_SYSTEM: &str = "ports below 1024 belong to the system; if the server can use another port, set that and grant \
                         it by `--listen PORT`";

/// The sentence about the port that it already has.
const ELSEWHERE: &str = "it may listen there only at 127.0.0.1 and ::1, but asked for another address";

/// The advice that listening needs its own network.
const ALONE: &str = "it then has its own loopback, where nobody else can reach it, and no other network";

/// The sentence about a port that no option allows.
const NO_LOOPBACK: &str = "a server may not listen on such a port; `--network loopback` would give it its own \
                           loopback, but needs namespaces, which do not work here";

/// The sentence about an allowed host.
const NO_PROXY: &str = "it is allowed, but the program looks up its address itself instead of using the proxy in \
                        HTTPS_PROXY; Node.js uses the proxy from 22.21 and 24.5 on";

/// The sentence in case no mount holds a server to its own files.
const NO_ATTRIBUTES: &str = "namespaces do not work here, so no server may change modes, owners, times and attributes \
                             by path, not even of its own files";

/// A thing that a server may have been refused, in words or as a path, and the option that would allow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// A path, or `more memory than 2048 MiB`.
    pub what: String,
    /// The hint counts only if this path exists outside the sandbox.
    pub only_if: Option<String>,
    /// The option that would allow it, or why nothing does.
    pub advice: Result<Advice, String>,
}

/// The things that a server may lack, the likeliest first. Empty if no sandbox is in the way.
#[must_use]
pub fn hints(lack: &Lack<'_>, profile: &Profile, facts: &SandboxFacts) -> Vec<Hint> {
    match lack {
        Lack::Module(name) => modules(name, profile, facts),
        Lack::Socket { path, listen } => socket(path, *listen, profile, facts).into_iter().collect(),
        Lack::Host(host) => of_host(host, profile).into_iter().collect(),
        Lack::Threads => threads(profile).into_iter().collect(),
        Lack::Attributes(path) => attributes(path, profile).into_iter().collect(),
        Lack::Listen(port) => listen(*port, profile).into_iter().collect(),
        Lack::Memory | Lack::FileSize | Lack::OpenFiles | Lack::Processes => {
            limit(lack, profile).into_iter().collect()
        }
    }
}

/// The words before the path whose attributes were refused.
pub(super) const CHANGES: &str = "changing the mode, owner, times or attributes of ";

/// The words before a port's number.
pub(super) const PORT: &str = "listening on port ";

/// The words for a port without a number.
pub(super) const ANY_PORT: &str = "listening on a port that the kernel chooses";

/// The beginning of `Hint::what`.
pub(super) fn label(lack: &Lack<'_>) -> String {
    match lack {
        Lack::Memory => "more memory than".into(),
        Lack::FileSize => "larger files than".into(),
        Lack::OpenFiles => "more open files than".into(),
        Lack::Processes => "more processes and threads than".into(),
        Lack::Threads => "more threads than".into(),
        Lack::Attributes(path) => format!("{CHANGES}{path}"),
        Lack::Listen(0) => ANY_PORT.into(),
        Lack::Listen(port) => format!("{PORT}{port}"),
        Lack::Module(path) => path.to_string(),
        Lack::Socket { path, .. } if path.is_empty() => OWN_SOCKETS.into(),
        Lack::Socket { path, .. } => format!("the socket {path}"),
        Lack::Host(host) => format!("the host {host}"),
    }
}

fn plain(what: String, option: String) -> Hint {
    Hint { what, only_if: None, advice: Ok(Advice::plain(option)) }
}

/// A hint for a lack that no option helps.
fn never(what: String, why: &str) -> Hint {
    Hint { what, only_if: None, advice: Err(why.to_owned()) }
}

/// Twice as many, and the memory for their stacks, where it is short.
fn threads(profile: &Profile) -> Option<Hint> {
    let limits = &profile.launch.limits;
    let (now, memory) = (limits.processes?, limits.memory.map_or(u64::MAX, |bytes| bytes >> 20));
    let more = now.saturating_mul(2).min(MOST_PROCESSES);
    let stacks = more.saturating_mul(STACK).min(MOST);
    let processes = (more > now).then(|| format!("--processes {more}"));
    let stacks = (stacks > memory).then(|| format!("--memory {stacks}"));
    let option: Vec<String> = [processes, stacks].into_iter().flatten().collect();
    let room = match now.saturating_mul(STACK) > memory {
        true => format!(", or than {memory} MiB have room for ({STACK} MiB each)"),
        false => String::new(),
    };
    let what = format!("{} {now}{room}", label(&Lack::Threads));
    (!option.is_empty()).then(|| plain(what, option.join(" ")))
}

/// The hint about a port. None if no runner answers, since then this start's refusals are not known.
fn listen(port: u16, profile: &Profile) -> Option<Hint> {
    let granted = profile.launch.listening?.port;
    let advised = |option: String, mind| Ok(Advice { mind: Some(mind), ..Advice::plain(option) });
    let advice = match port {
        0 if profile.launch.mounts.is_none() => Err(NO_LOOPBACK.to_owned()),
        0 => advised("--network loopback".into(), ALONE),
        port if port < FIRST_PORT => Err(OF_SYSTEM.to_owned()),
        port if granted == Some(port) => Err(ELSEWHERE.to_owned()),
        port => advised(format!("--listen {port}"), if granted.is_some() { INSTEAD } else { REACHED }),
    };
    Some(Hint { what: label(&Lack::Listen(port)), only_if: None, advice })
}

/// The hint for a path that the server may write. Any other path may not be written at all.
fn attributes(path: &str, profile: &Profile) -> Option<Hint> {
    let refused = profile.launch.filter.as_ref().is_some_and(|filter| !filter.attributes_by_path);
    let what = || label(&Lack::Attributes(path.into()));
    (refused && profile.allows(path, true)).then(|| never(what(), NO_ATTRIBUTES))
}

/// Twice as much as it has.
fn limit(lack: &Lack<'_>, profile: &Profile) -> Option<Hint> {
    let limits = &profile.launch.limits;
    let (option, now, most, unit) = match lack {
        Lack::Memory => ("--memory", limits.memory? >> 20, MOST, " MiB"),
        Lack::FileSize => ("--file-size", limits.file_size? >> 20, MOST, " MiB"),
        Lack::OpenFiles => ("--open-files", limits.open_files?, MOST, ""),
        _ => ("--processes", limits.processes?, MOST_PROCESSES, ""),
    };
    let more = now.saturating_mul(2).min(most);
    let what = format!("{} {now}{unit}", label(lack));
    (more > now).then(|| plain(what, format!("{option} {more}")))
}

fn of_host(host: &str, profile: &Profile) -> Option<Hint> {
    let allowed = match &profile.launch.network {
        Network::Hosts { allowed, .. } => allowed.iter().map(ToString::to_string).collect(),
        _ if profile.network == NetworkKind::All => return None,
        _ => Vec::new(),
    };
    let (target, allowed) = (Target::parse(host, Some(443))?, Allowed::parse(&allowed).ok()?);
    let what = label(&Lack::Host(host.into()));
    Some(match allowed.permits(&target) {
        true => never(what, NO_PROXY),
        false => plain(what, format!("--host {}", shell(&target.rule()))),
    })
}

fn socket(path: &str, listen: bool, profile: &Profile, facts: &SandboxFacts) -> Option<Hint> {
    let what = label(&Lack::Socket { path: path.into(), listen });
    let filter = profile.launch.filter.as_ref();
    let replaced = profile.launch.mounts.is_some() && REPLACED.iter().any(|tmp| is_within(path, tmp));
    let own = match path {
        _ if is_within(path, &facts.data) => Some(&facts.data),
        path if path.is_empty() || replaced || is_within(path, &facts.tmp) => Some(&facts.tmp),
        _ => None,
    };
    // With sockets allowed, what it does not find in its own /tmp may be in that of all others.
    let hidden =
        replaced && !listen && filter.is_none_or(|filter| filter.unix_sockets) && !profile.allows(path, true);
    if let Some(own) = own.filter(|_| !hidden) {
        let refused = filter.is_some_and(|filter| !filter.unix_sockets || listen && !filter.listen);
        return refused.then(|| plain(what, format!("--socket {}", shell(own))));
    }
    if filter.is_none_or(|filter| filter.unix_sockets) && profile.allows(path, true) {
        return None;
    }
    let is_bridge = [&facts.harbor_home, &facts.socket].into_iter().any(|own| is_within(path, own));
    let advice = match listen {
        _ if is_bridge => Err("it leads to Harbor itself, so it is never granted".to_owned()),
        true => Err(format!(
            "it may listen only in its own directories: name a place below {} and allow it by `--socket {0}`",
            shell(&facts.tmp)
        )),
        false => {
            let mind = is_way_out(path).then_some(LEADS_OUT);
            Ok(Advice { mind, ..Advice::plain(format!("--socket {}", shell(path))) })
        }
    };
    // A socket that nobody has made has nobody behind it.
    let only_if = Some(if listen { parent(path) } else { path }.to_owned());
    Some(Hint { what, only_if, advice })
}

/// The places where a part of its program may be that it cannot reach, each by itself.
fn modules(name: &str, profile: &Profile, facts: &SandboxFacts) -> Vec<Hint> {
    let places = match name.starts_with('/') {
        true => vec![name.to_owned()],
        false => {
            let beside = |directory: &str| [below(directory, name), in_packages(directory, name)];
            alone(profile, facts).iter().flat_map(|directory| beside(directory)).collect()
        }
    };
    let files = places.iter().flat_map(|place| ENDINGS.iter().map(move |ending| format!("{place}{ending}")));
    files.filter(|file| !profile.allows(file, false)).map(|file| module(file, facts)).collect()
}

/// Node's packages, beside a script.
fn in_packages(directory: &str, name: &str) -> String {
    below(&below(directory, "node_modules"), name)
}

/// Directories of which it may reach a file that it was started with, and no more.
fn alone(profile: &Profile, facts: &SandboxFacts) -> Vec<String> {
    let named = facts.named.iter().filter(|named| !named.is_cwd).map(|named| parent(&named.path));
    // Of a program, whole installations are known, too: what these lie in is nobody's neighbour.
    let programs = facts.program.iter().map(|path| parent(path));
    let programs = programs.filter(|directory| why_never(directory, facts).is_none());
    let mut alone: Vec<String> = Vec::new();
    for directory in named.chain(programs).filter(|directory| !profile.allows(directory, false)) {
        if alone.len() < MAX_SCRIPTS && !alone.iter().any(|known| known == directory) {
            alone.push(directory.to_owned());
        }
    }
    alone
}

/// Its directory: who needs one neighbour needs the next one, too.
fn module(file: String, facts: &SandboxFacts) -> Hint {
    let directory = parent(&file);
    let granted = if why_never(directory, facts).is_some() { &file } else { directory };
    let option = Advice::plain(format!("--read {}", shell(granted)));
    let advice = why_never(granted, facts).map_or(Ok(option), Err);
    Hint { only_if: Some(file.clone()), advice, what: file }
}
