//! Servers that are container images: their confinement, and the command lines of the engine.
//!
//! ```text
//!  settings, facts, machine ─► held ─► Profile (what is shown) ─┐
//!  image as it was pinned, names of variables, own arguments ───┴─► run ─► the engine's arguments
//! ```
//!
//! Owns the translation of a sandbox into options of podman and docker. Must never soften a setting: one that an engine cannot
//! enforce is refused by name, or reported as missing. Must never put a value of a variable into an argument, nor let a word from
//! outside become an option.

use std::collections::BTreeSet;

use harbor_ipc_proto::client::{Level, NetworkKind, SandboxSettings};
use harbor_ipc_proto::link::sandbox::{PathAccess, Sandbox, SandboxLimits};

use crate::sandbox::{Profile, SandboxFacts, SandboxPlace, granted, settings};

pub mod engine;
mod labels;
pub mod reference;
pub mod variables;

pub use engine::Engine;
pub use labels::{INSTANCE_LABEL, SERVER_LABEL};

/// The path of the server's data directory, and home, in a container.
pub const DATA: &str = "/data";

/// The share of the processor of whoever has not stepped back.
const FULL_SHARE: f64 = 1024.0;

/// An image that is used until the person chooses another version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// The reference that the person asked for.
    pub reference: String,
    /// The engine that has it.
    pub engine: Engine,
    /// Its own name, made of its content: `sha256:…`.
    pub id: String,
    /// Its digest in a registry, if it came from one.
    pub digest: Option<String>,
    /// True if root in the container is the person outside.
    pub rootless: bool,
}

/// The facts of this machine that matter for containers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Machine {
    /// The person.
    pub user: u32,
    /// Their group.
    pub group: u32,
    /// True if control groups are version 2: only there can a person be given a part of them.
    pub unified: bool,
    /// The processes that the person may have at most.
    pub processes: Option<u64>,
    /// The files that a process of the person may have open at most.
    pub open_files: Option<u64>,
}

/// Decides what holds a container.
///
/// # Errors
/// A sentence: which setting cannot be followed and why.
pub fn held(
    settings: &SandboxSettings,
    facts: &SandboxFacts,
    image: Option<&Pinned>,
    machine: &Machine,
) -> Result<Profile, String> {
    settings::checked(settings).map_err(|wrong| wrong.to_string())?;
    let network = settings::network(settings);
    if network == NetworkKind::Hosts {
        return Err("a container engine cannot limit a container to some hosts: use `--network` none, loopback or all"
            .into());
    }
    if settings.listen.is_some() {
        return Err(
            "a container cannot be granted a port, since it has its own network; leave out the port (`--reset listen`)"
                .into(),
        );
    }
    let level = settings.level.unwrap_or_default();
    let missing = missing(level, image, machine);
    let is_required = settings.required == Some(true) || level == Level::Strict;
    if is_required && !missing.is_empty() {
        let level = level.as_str();
        return Err(format!(
            "the whole level {level} is required, but not available: {}",
            missing.join("; ")
        ));
    }
    let (places, mut warnings) = granted(settings, facts)?;
    Words::default().mounts(&places, facts)?;
    let limits =
        if level == Level::Off { SandboxLimits::default() } else { limits(settings, facts, machine)? };
    if matches!(level, Level::Off | Level::Basic) {
        warnings.push(format!(
            "at the level {} it is a container as the engine makes it: it can write its root file system, and it runs \
             as the user that its image names",
            level.as_str()
        ));
    }
    Ok(Profile {
        level,
        network,
        launch: Sandbox { limits, ..Sandbox::default() },
        places,
        held_by: image.map_or("container".into(), |image| format!("container ({})", image.engine.as_str())),
        missing,
        warnings,
    })
}

/// Without a part of the control groups, an engine of the person leaves limits out, with no more than a warning.
fn missing(level: Level, image: Option<&Pinned>, machine: &Machine) -> Vec<String> {
    let cannot = image.is_some_and(|image| image.rootless) && !machine.unified;
    let limits = "memory and processes are not limited: without root, that needs control groups version 2";
    if cannot && level != Level::Off { vec![limits.into()] } else { Vec::new() }
}

fn limits(
    settings: &SandboxSettings,
    facts: &SandboxFacts,
    machine: &Machine,
) -> Result<SandboxLimits<'static>, String> {
    let numbers = settings::numbers(settings).map_err(|wrong| wrong.to_string())?;
    let most = machine.open_files.unwrap_or(u64::MAX);
    if settings.open_files.is_some_and(|asked| asked > most) {
        return Err(format!(
            "your processes may open {most} files, so the sandbox's open_files cannot be higher"
        ));
    }
    Ok(SandboxLimits {
        memory: Some(numbers.memory),
        processes: Some(numbers.processes),
        open_files: Some(numbers.open_files.min(most)),
        file_size: Some(numbers.file_size),
        nice: settings.nice.map_or(0, |_| numbers.nice),
        disk: Some(numbers.disk),
        writable: vec![facts.data.clone().into()],
    })
}

/// The facts of one start of a container.
#[derive(Debug)]
pub struct ContainerStart<'a> {
    /// The container's name.
    pub name: &'a str,
    /// The mark of the home.
    pub instance: &'a str,
    /// The server's id.
    pub server: &'a str,
    /// The image.
    pub image: &'a Pinned,
    /// Names of the variables that the container gets; their values are in the engine's own environment.
    pub variables: &'a [String],
    /// The server's own arguments.
    pub args: &'a [String],
}

/// The arguments of the engine that start a container.
///
/// # Errors
/// A sentence: what cannot be said to an engine.
pub fn run(
    start: &ContainerStart<'_>,
    held: &Profile,
    facts: &SandboxFacts,
    machine: &Machine,
) -> Result<Vec<String>, String> {
    let image = start.image;
    let mut words = Words::default();
    words.plain(&["run", "--rm", "--interactive", "--pull=never", "--stop-timeout=0"]);
    words.option("--name", start.name);
    words.option("--label", &format!("{INSTANCE_LABEL}={}", start.instance));
    words.option("--label", &format!("{SERVER_LABEL}={}", start.server));
    if matches!(held.network, NetworkKind::None | NetworkKind::Loopback) {
        // It has a loopback interface of its own all the same.
        words.option("--network", "none");
    }
    if image.engine == Engine::Podman {
        // What it gets is decided here.
        words.plain(&["--http-proxy=false"]);
    }
    words.level(held.level, image, machine);
    words.limits(&held.launch.limits, image.engine, machine);
    words.mounts(&held.places, facts)?;
    words.option("--env", &format!("HOME={DATA}"));
    for name in start.variables {
        words.option("--env", name);
    }
    words.plain(&[&image.id]);
    words.0.extend(start.args.iter().cloned());
    Ok(words.0)
}

#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn plain(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(ToString::to_string));
    }

    /// Adds an option in one word with its value, so that no value can be taken for an option.
    fn option(&mut self, name: &str, value: &str) {
        self.0.push(format!("{name}={value}"));
    }

    fn level(&mut self, level: Level, image: &Pinned, machine: &Machine) {
        if level != Level::Off {
            self.option("--security-opt", "no-new-privileges");
        }
        if matches!(level, Level::Standard | Level::Strict) {
            self.plain(&["--read-only", "--cap-drop=all", "--tmpfs=/tmp:rw,nosuid,nodev,mode=1777"]);
            let (user, group) = if image.rootless { (0, 0) } else { (machine.user, machine.group) };
            self.option("--user", &format!("{user}:{group}"));
        }
    }

    fn limits(&mut self, limits: &SandboxLimits<'_>, engine: Engine, machine: &Machine) {
        let mut bounded = |name: &str, number: Option<u64>| {
            if let Some(number) = number {
                self.option("--ulimit", &format!("{name}={number}:{number}"));
            }
        };
        bounded("nofile", limits.open_files);
        bounded("fsize", limits.file_size);
        if engine == Engine::Podman {
            // It asks for a number of its own, more than some machines allow. All of the person's processes count.
            bounded("nproc", machine.processes);
        }
        if let Some(bytes) = limits.memory {
            self.option("--memory", &format!("{bytes}b"));
        }
        if let Some(processes) = limits.processes {
            self.option("--pids-limit", &processes.to_string());
        }
        if limits.nice > 0 {
            self.option("--cpu-shares", &share(limits.nice).to_string());
        }
    }

    /// Adds the mounts. Places that do not exist are left out: engines refuse them, or make a directory of root's.
    fn mounts(&mut self, places: &[SandboxPlace], facts: &SandboxFacts) -> Result<(), String> {
        mountable(&facts.data)?;
        if facts.data.contains(':') {
            return Err(format!("{} contains a `:`, which separates the parts of a volume", facts.data));
        }
        // With a label of its own, where SELinux wants one: it is nobody else's.
        self.option("--volume", &format!("{}:{DATA}:rw,Z", facts.data));
        let named = places.iter().flat_map(|place| facts.granted.iter().map(move |names| (place, names)));
        let named = named.filter(|(place, (_, real))| *real == place.path);
        // Engines refuse to mount at one place twice.
        let mut mounted = BTreeSet::new();
        for (place, (target, source)) in named.filter(|(_, (given, _))| !facts.absent.contains(given)) {
            if !mounted.insert(target) {
                continue;
            }
            mountable(target)?;
            mountable(source)?;
            if target == DATA || target.starts_with("/data/") {
                return Err(format!("{target} is not granted: {DATA} is the container's own data directory"));
            }
            let access = if place.access == PathAccess::Read { ",readonly" } else { "" };
            self.option("--mount", &format!("type=bind,source={source},target={target}{access}"));
        }
        Ok(())
    }
}

/// Engines take a mount apart at commas, and some at quotes.
fn mountable(path: &str) -> Result<(), String> {
    let plain = !path.contains([',', '"']) && !path.chars().any(char::is_control);
    if plain {
        Ok(())
    } else {
        Err(format!("{path:?} cannot be given to a container: it contains `,`, `\"` or a control character"))
    }
}

/// The share of the processor at this nice level: each step divides it by 1.25, as nice(1) has it.
fn share(nice: u8) -> u64 {
    (FULL_SHARE / 1.25_f64.powi(i32::from(nice))).round().max(2.0) as u64
}

#[cfg(test)]
mod tests;
