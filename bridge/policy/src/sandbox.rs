//! Decides the confinement of a server: from its settings, the facts about its program, and the kernel's offer.
//!
//! ```text
//!  settings ─┐
//!  facts ────┼─► profile ─► Profile: rules for the launcher, what is missing, what to warn of
//!  offer ────┘         └──► Refusal: the kernel cannot hold what is required
//! ```
//!
//! Owns the decision. Must never look at the disk (the facts are given). Must never soften a requirement.

use std::borrow::Cow;

use harbor_ipc_proto::client::{Level, NetworkKind, SandboxSettings};
use harbor_ipc_proto::link::sandbox::{
    Filter, Listening, Mounts, Network, Offer, PathAccess, PathRule, Sandbox, SandboxLimits,
};

use crate::environment::{Confined, PROXY_PORT};

pub mod gaps;
pub mod hint;
pub mod hosts;
pub mod listening;
pub mod offer;
pub mod paths;
mod places;
pub(crate) use places::is_script;
pub mod prefixes;
pub mod protected;
mod reachable;
mod server_facts;
pub mod settings;
pub mod system;

pub use reachable::{SandboxPlace, Why};
pub use server_facts::{NamedPath, SandboxFacts};

/// Newer versions of Landlock's ABI are used as this one.
const NEWEST_LANDLOCK: u32 = 7;

/// Directories that are the server's own where a mount namespace exists.
const REPLACED: &[&str] = &["/tmp", "/var/tmp"];

/// The confinement of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The level.
    pub level: Level,
    /// The network of its connections.
    pub network: NetworkKind,
    /// The profile for the launcher.
    pub launch: Sandbox<'static>,
    /// The same paths with their reasons.
    pub places: Vec<SandboxPlace>,
    /// The means that enforce it: `landlock 7, seccomp, namespaces`, or less.
    pub held_by: String,
    /// The requirements of the level that the kernel cannot enforce, a sentence each.
    pub missing: Vec<String>,
    /// Ways out that this profile leaves, and what it reaches beyond what one would think, a sentence each.
    pub warnings: Vec<String>,
}

impl Profile {
    /// The changes that the profile makes to the server's environment. None at the level `off`.
    #[must_use]
    pub fn confined<'a>(&self, facts: &'a SandboxFacts) -> Option<Confined<'a>> {
        (self.level != Level::Off).then(|| Confined {
            home: &facts.data,
            tmp: &facts.tmp,
            no_proxy: match &self.launch.network {
                Network::Hosts { allowed, .. } => Some(direct(allowed)),
                _ => None,
            },
            program: &facts.program,
            installs_into: facts.package.as_deref().filter(|_| facts.installs),
        })
    }

    /// True if the profile allows this access to a path. A refusal then has another cause.
    #[must_use]
    pub fn allows(&self, path: &str, write: bool) -> bool {
        let enough = |access| if write { access != PathAccess::Read } else { true };
        let mut places = self.places.iter().filter(|place| enough(place.access));
        self.launch.landlock == 0 && self.launch.mounts.is_none()
            || places.any(|place| paths::is_within(path, &place.path))
    }
}

/// Names of its own loopback interface, except granted names, which mean this machine's.
fn direct(allowed: &[Cow<'_, str>]) -> String {
    let host = |entry: &str| match entry.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default().to_owned(),
        None => entry.split(':').next().unwrap_or_default().to_owned(),
    };
    let granted: Vec<_> = allowed.iter().map(|entry| host(entry)).collect();
    let own =
        ["localhost", "127.0.0.1", "::1"].into_iter().filter(|name| !granted.iter().any(|host| host == name));
    own.collect::<Vec<_>>().join(",")
}

/// Decides what a server is held to.
///
/// # Errors
/// A sentence: what is required and cannot be had, or which setting cannot be followed and why.
pub fn profile(
    settings: &SandboxSettings,
    facts: &SandboxFacts,
    offer: &Offer<'_>,
) -> Result<Profile, String> {
    settings::checked(settings).map_err(|wrong| wrong.to_string())?;
    match settings.level.unwrap_or_default() {
        level @ Level::Off => Ok(open(level, Sandbox::default(), "nothing")),
        level @ Level::Basic => {
            let launch = Sandbox { limits: limits(settings, facts)?, ..Sandbox::default() };
            Ok(open(level, launch, "limits"))
        }
        level @ (Level::Standard | Level::Strict) => held(level, settings, facts, offer),
    }
}

/// The means of a kernel with this offer, and the rules that it cannot enforce, a sentence each. Both are for a server whose
/// definition says nothing.
#[must_use]
pub fn of_kernel(offer: &Offer<'_>) -> (String, Vec<String>) {
    let landlock = offer.landlock.min(NEWEST_LANDLOCK);
    (gaps::held_by(offer, landlock), gaps::missing(&SandboxSettings::default(), offer, landlock))
}

/// The places that settings grant, with warnings, for a server that is confined by other means.
pub(crate) fn granted(
    settings: &SandboxSettings,
    facts: &SandboxFacts,
) -> Result<(Vec<SandboxPlace>, Vec<String>), String> {
    // Nothing else of the machine is within its reach.
    let facts = SandboxFacts {
        system: Vec::new(),
        named: Vec::new(),
        left_out: Vec::new(),
        not_followed: Vec::new(),
        ..facts.clone()
    };
    let found = places::find(settings, &facts, false)?;
    let granted = found.places.into_iter().filter(|place| place.why == Why::Granted);
    let about_program = |warning: &String| warning.starts_with(places::NEEDED);
    Ok((granted.collect(), found.warnings.into_iter().filter(|warning| !about_program(warning)).collect()))
}

/// Without a rule for anything outside the server.
fn open(level: Level, launch: Sandbox<'static>, held_by: &str) -> Profile {
    Profile {
        level,
        network: NetworkKind::All,
        launch,
        places: Vec::new(),
        held_by: held_by.into(),
        missing: Vec::new(),
        warnings: vec![gaps::open(level.as_str())],
    }
}

/// All that the kernel offers.
fn held(
    level: Level,
    settings: &SandboxSettings,
    facts: &SandboxFacts,
    offer: &Offer<'_>,
) -> Result<Profile, String> {
    needs_namespaces(level, settings, offer)?;
    let landlock = offer.landlock.min(NEWEST_LANDLOCK);
    let mut missing = gaps::missing(settings, offer, landlock);
    if facts.shared && offer.namespaces {
        missing.push(gaps::SHARED.into());
    }
    if settings.required == Some(true) && !missing.is_empty() {
        let missing = missing.join("; ");
        return Err(format!(
            "the whole level {} is required, but this kernel cannot enforce it: {missing}",
            level.as_str()
        ));
    }
    let found = places::find(settings, facts, offer.namespaces)?;
    let mut warnings = gaps::warnings(settings, offer);
    let listening = listening(settings, facts, offer)?;
    let is_of_machine = network_kind(settings, facts) == NetworkKind::All;
    if listening.is_none() && is_of_machine && has_own_sockets(settings, facts) {
        warnings.push(gaps::LISTENS.into());
    }
    warnings.extend(found.warnings);
    let rule = |place: &SandboxPlace| PathRule { path: place.path.clone().into(), access: place.access };
    let launch = Sandbox {
        landlock,
        paths: found.places.iter().map(rule).collect(),
        mounts: offer.namespaces.then(|| mounts(facts, &found.places)),
        network: network(settings, facts, landlock),
        filter: offer.seccomp.then(|| filter(settings, facts, offer)),
        limits: limits(settings, facts)?,
        fewer_capabilities: true,
        listening,
    };
    Ok(Profile {
        level,
        network: network_kind(settings, facts),
        launch,
        places: found.places,
        held_by: gaps::held_by(offer, landlock),
        missing,
        warnings,
    })
}

fn needs_namespaces(level: Level, settings: &SandboxSettings, offer: &Offer<'_>) -> Result<(), String> {
    let network = settings::network(settings);
    let who = match (level, network) {
        _ if offer.namespaces => return Ok(()),
        (Level::Strict, _) => "the level strict".to_owned(),
        (_, NetworkKind::All) => return Ok(()),
        (_, network) => format!("the network {}", network.as_str()),
    };
    let why = gaps::why_no_namespaces(offer);
    Err(format!("{who} needs namespaces, which do not work here: {why}"))
}

/// Each directory once, and none below another that is hidden or replaced. A directory that may be reached as
/// a whole is not hidden, since it would look empty.
fn mounts(facts: &SandboxFacts, places: &[SandboxPlace]) -> Mounts<'static> {
    let own = [facts.home.as_ref(), Some(&facts.harbor_home)].into_iter().flatten();
    let is_reached = |path: &&String| places.iter().any(|place| place.path == **path);
    let others = facts.hideable.iter().filter(|path| !is_reached(path));
    let mut all: Vec<_> = own.chain(others).filter_map(|path| paths::clean(path)).collect();
    all.retain(|path| system::can_be_hidden(path));
    all.sort_unstable();
    all.dedup();
    let mut hidden: Vec<String> = Vec::new();
    for path in all {
        let above = hidden.iter().map(String::as_str).chain(REPLACED.iter().copied());
        if !above.into_iter().any(|above| paths::is_within(&path, above)) {
            hidden.push(path);
        }
    }
    // Hidden and yet to be written, it is a small file system of the server's own.
    let memory = facts.system.iter().filter(|(path, _)| path == system::SHARED_MEMORY);
    hidden.extend(memory.map(|(path, _)| path.clone()));
    Mounts {
        links: links(facts, places, &hidden),
        hidden: hidden.into_iter().map(Into::into).collect(),
        tmp: facts.tmp.clone().into(),
    }
}

/// The links that lie where something is hidden or replaced and that the server needs. They lead to a place that it may reach, or
/// to a directory above one, which is on the way.
fn links(
    facts: &SandboxFacts,
    places: &[SandboxPlace],
    hidden: &[String],
) -> Vec<(Cow<'static, str>, Cow<'static, str>)> {
    let is_gone = |link: &str| {
        let mut covers = hidden.iter().map(String::as_str).chain(REPLACED.iter().copied());
        covers.any(|cover| link != cover && paths::is_within(link, cover))
            && !places.iter().any(|place| paths::is_within(link, &place.path))
    };
    let leads = |real: &str| {
        let mut near = places.iter().map(|place| &place.path);
        near.any(|place| paths::is_within(real, place) || paths::is_within(place, real))
    };
    let needed = facts.links.iter().filter(|(link, real)| is_gone(link) && leads(real));
    needed.map(|(link, real)| (link.clone().into(), real.clone().into())).collect()
}

/// The kind of network. A start that installs gets the whole network, since a missing package cannot be
/// installed without it. The person's settings say where packages come from.
fn network_kind(settings: &SandboxSettings, facts: &SandboxFacts) -> NetworkKind {
    if facts.installs { NetworkKind::All } else { settings::network(settings) }
}

fn network(settings: &SandboxSettings, facts: &SandboxFacts, landlock: u32) -> Network<'static> {
    match network_kind(settings, facts) {
        NetworkKind::All if landlock >= gaps::PORTS => Network::Outgoing,
        NetworkKind::All => Network::Machine,
        NetworkKind::None => Network::None,
        NetworkKind::Loopback => Network::Loopback,
        NetworkKind::Hosts => Network::Hosts {
            proxy: facts.proxy.clone().into(),
            port: PROXY_PORT,
            allowed: settings.hosts.iter().flatten().map(|host| host.clone().into()).collect(),
        },
    }
}

fn filter(settings: &SandboxSettings, facts: &SandboxFacts, offer: &Offer<'_>) -> Filter {
    let network = network_kind(settings, facts);
    Filter {
        unix_sockets: settings.sockets.as_ref().is_some_and(|sockets| !sockets.is_empty()),
        udp: network == NetworkKind::All,
        // In a network of its own nobody else reaches it.
        listen: network != NetworkKind::All || has_own_sockets(settings, facts),
        // Installers change modes; without read-only mounts nothing holds them to their own files.
        attributes_by_path: offer.namespaces || facts.installs,
        hiding: false,
        scheduling: offer.namespaces && !facts.shared,
    }
}

/// The rules by which its runner answers its calls to listen, on the machine's network.
fn listening(
    settings: &SandboxSettings,
    facts: &SandboxFacts,
    offer: &Offer<'_>,
) -> Result<Option<Listening>, String> {
    let port = settings::port(settings).map_err(|wrong| wrong.to_string())?;
    let is_asked = network_kind(settings, facts) == NetworkKind::All && offer.seccomp && offer.answers;
    if port.is_some() && !is_asked {
        return Err(gaps::NO_PORTS.into());
    }
    Ok(is_asked.then(|| Listening { port, unix_sockets: has_own_sockets(settings, facts) }))
}

/// True if it may make sockets in its own directories, on which its own programs find each other.
fn has_own_sockets(settings: &SandboxSettings, facts: &SandboxFacts) -> bool {
    let own = |path: &String| paths::is_within(path, &facts.data) || paths::is_within(path, &facts.tmp);
    settings.sockets.iter().flatten().any(own)
}

fn limits(settings: &SandboxSettings, facts: &SandboxFacts) -> Result<SandboxLimits<'static>, String> {
    let numbers = settings::numbers(settings).map_err(|wrong| wrong.to_string())?;
    let package = facts.package.as_ref().filter(|_| facts.installs);
    let writable = [Some(&facts.data), Some(&facts.tmp), package].into_iter().flatten();
    Ok(SandboxLimits {
        memory: Some(numbers.memory),
        processes: Some(numbers.processes),
        open_files: Some(numbers.open_files),
        file_size: Some(numbers.file_size),
        nice: numbers.nice,
        disk: Some(numbers.disk),
        writable: writable.map(|path| path.clone().into()).collect(),
    })
}

#[cfg(test)]
mod tests;
