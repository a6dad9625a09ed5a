//! The facts on the disk before a start: where a server's program, its arguments and the system really are.
//!
//! ```text
//!  command, PATH ── links, #! lines, venvs ──► program ┐
//!  cwd, arguments ── their packages ─────────► named   ├─► Facts ─► policy::sandbox::profile
//!  the lists of policy::sandbox ─────────────► system  ┘
//! ```
//!
//! Owns looking them up; the policy says which names count. Must never be called where a loop waits, must stay bounded whatever
//! lies there, and must never decide what is granted.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use harbor_ipc_proto::client::SandboxSettings;
use harbor_policy::environment::CA_FILES;
use harbor_policy::pythons::of_uv;
use harbor_policy::sandbox::paths::{below, is_within};
use harbor_policy::sandbox::{SandboxFacts, protected, system};

mod named;
mod path_links;
mod program;
mod repositories;

use path_links::{ResolvedPath, walk};

/// The program to start, and where its own things are.
#[derive(Debug)]
pub struct FactsQuery<'a> {
    /// The program.
    pub command: &'a str,
    /// Its arguments.
    pub args: &'a [String],
    /// The directory in which it runs.
    pub cwd: &'a str,
    /// Another of Harbor's programs that it starts.
    pub starts: Option<&'a Path>,
    /// Its own PATH, if it has one.
    pub path: Option<&'a str>,
    /// The PATH in which programs are looked for otherwise.
    pub search: &'a str,
    /// The grants in its definition.
    pub sandbox: &'a SandboxSettings,
    /// `$HARBOR_HOME`.
    pub harbor_home: &'a Path,
    /// The bridge's socket.
    pub socket: Option<&'a Path>,
    /// Its data directory.
    pub data: &'a Path,
    /// Its directory for temporary files.
    pub tmp: &'a Path,
    /// The directory of its installed package.
    pub package: Option<&'a Path>,
    /// True if this start installs it.
    pub installs: bool,
    /// True if the servers share a runner.
    pub shared: bool,
    /// Places where any server could ever write, besides those in `harbor_home`.
    pub ever_written: &'a [String],
}

/// The facts of this process and its environment that count.
#[derive(Debug, Default)]
struct Surroundings {
    home: Option<PathBuf>,
    path: String,
    /// Files and directories of certificates that environment variables name.
    authorities: Vec<String>,
    /// The directory of Harbor's programs.
    programs: PathBuf,
}

/// Directories of the root that are looked at.
const MAX_OF_ROOT: usize = 256;

/// The egress proxy's executable, beside the bridge's own.
const EGRESS: &str = "harbor-egress";

/// Looks at the disk.
#[must_use]
pub fn collect(wanted: &FactsQuery<'_>) -> SandboxFacts {
    let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let executable = std::env::current_exe().unwrap_or_default();
    look(
        wanted,
        &Surroundings {
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            path: wanted.search.to_owned(),
            authorities: CA_FILES.iter().filter_map(|name| text(name)).collect(),
            programs: executable.parent().map(Path::to_owned).unwrap_or_default(),
        },
    )
}

fn look(wanted: &FactsQuery<'_>, around: &Surroundings) -> SandboxFacts {
    let home = around.home.as_deref().and_then(settled);
    let own = |path: &Path| settled(path).unwrap_or_default();
    let mut facts = SandboxFacts {
        protected: home.as_deref().map(moved).unwrap_or_default(),
        home,
        harbor_home: own(wanted.harbor_home),
        data: own(wanted.data),
        tmp: own(wanted.tmp),
        package: wanted.package.map(own),
        installs: wanted.installs,
        system: of_the_system(),
        written: wanted.sandbox.write.iter().flatten().filter_map(|path| settled(Path::new(path))).collect(),
        ever_written: [&[own(wanted.harbor_home)], wanted.ever_written].concat(),
        absent: absent(wanted.sandbox),
        shared: wanted.shared,
        not_sockets: not_sockets(wanted.sandbox),
        hideable: hideable(),
        socket: wanted.socket.map(own).unwrap_or_default(),
        proxy: own(&around.programs.join(EGRESS)),
        ..SandboxFacts::default()
    };
    granted(wanted.sandbox, &mut facts);
    let path = wanted.path.unwrap_or(&around.path);
    let mut started = of_uv(wanted.command, wanted.args, wanted.cwd);
    started.extend(wanted.starts.and_then(Path::to_str).map(str::to_owned));
    let needed = program::find(&facts, wanted.command, &started, wanted.cwd, path, &around.authorities);
    let named = named::find(&facts, wanted.cwd, wanted.args);
    facts.links.extend(needed.links.into_iter().chain(named.links));
    facts.links.sort_unstable();
    facts.links.dedup();
    // The entries of the person's own PATH do not concern this server.
    let left_out = if wanted.path.is_some() { needed.left_out } else { Vec::new() };
    let not_followed = needed.led_out.into_iter().chain(named.led_out).collect();
    SandboxFacts { program: needed.program, named: named.named, left_out, not_followed, ..facts }
}

/// The real paths of these paths.
#[must_use]
pub fn settled_all(paths: &[String]) -> Vec<String> {
    paths.iter().filter_map(|path| settled(Path::new(path))).collect()
}

/// A path without symbolic links. A part that does not exist keeps its name. None if the result is no text, or not absolute.
fn settled(path: &Path) -> Option<String> {
    let (mut above, mut missing) = (path, Vec::new());
    let mut real = loop {
        match above.canonicalize() {
            Ok(real) => break real,
            Err(_) => {
                missing.push(above.file_name()?);
                above = above.parent()?;
            }
        }
    };
    real.extend(missing.iter().rev());
    real.into_os_string().into_string().ok().filter(|path| path.starts_with('/'))
}

/// The path without symbolic links of something that exists.
fn real(path: &str) -> Option<String> {
    Path::new(path).canonicalize().ok()?.into_os_string().into_string().ok()
}

/// The targets of protected places that are symbolic links.
fn moved(home: &str) -> Vec<String> {
    let elsewhere = |path: String| real(&path).filter(|real| *real != path);
    protected::of_home(home).into_iter().filter_map(elsewhere).collect()
}

/// The paths of the system that exist. If one lies in another and both are equally open, only the outer one.
fn of_the_system() -> Vec<(String, harbor_ipc_proto::link::sandbox::PathAccess)> {
    let mut all: Vec<_> =
        system::SYSTEM.iter().filter_map(|(path, access)| Some((real(path)?, *access))).collect();
    all.sort();
    all.dedup();
    let outer = all.clone();
    all.retain(|(path, access)| {
        !outer.iter().any(|(above, wide)| above != path && wide == access && is_within(path, above))
    });
    all
}

fn hideable() -> Vec<String> {
    let keeps_run = Path::new(system::KEEPS_RUN).exists();
    let root = fs::read_dir("/").into_iter().flatten().flatten().take(MAX_OF_ROOT);
    let names = root.filter_map(|entry| entry.file_name().into_string().ok());
    let somebodys = names.filter(|name| system::is_somebodys(name)).map(|name| below("/", &name));
    let all = system::HIDEABLE.iter().map(ToString::to_string).chain(somebodys);
    let all = all.filter(|path| !(keeps_run && path == "/run")).filter_map(|path| real(&path));
    let mut all: Vec<_> = all.filter(|path| Path::new(path).is_dir()).collect();
    all.sort();
    all.dedup();
    all
}

/// Finds where granted paths lead. Paths that may be written are found first, with all of them taken for
/// writable: a server that may write one of two directories must not choose the place of the other.
fn granted(sandbox: &SandboxSettings, facts: &mut SandboxFacts) {
    let ways = |paths: &Option<Vec<String>>, facts: &SandboxFacts| {
        let way = |path: &String| (path.clone(), walk(path, facts).filter(ResolvedPath::is_accepted));
        paths.iter().flatten().map(way).collect::<Vec<_>>()
    };
    let written = ways(&sandbox.write, facts);
    facts.written = written.iter().filter_map(|(_, way)| Some(way.as_ref()?.real.clone())).collect();
    facts.repositories = facts.written.iter().filter(|path| repositories::holds_one(path)).cloned().collect();
    let others = [&sandbox.read, &sandbox.sockets].into_iter().flat_map(|paths| ways(paths, facts));
    for (given, way) in others.collect::<Vec<_>>().into_iter().chain(written) {
        match way {
            Some(way) => {
                let pairs = way.pairs(facts);
                facts.links.extend(pairs);
                facts.granted.push((given, way.real));
            }
            None => facts.led_out.push(given),
        }
    }
}

fn absent(sandbox: &SandboxSettings) -> Vec<String> {
    let all = [&sandbox.read, &sandbox.write, &sandbox.sockets].into_iter().flatten().flatten();
    all.filter(|path| fs::symlink_metadata(path).is_err()).cloned().collect()
}

fn not_sockets(sandbox: &SandboxSettings) -> Vec<String> {
    let other = |path: &&String| fs::metadata(path).is_ok_and(|found| !found.file_type().is_socket());
    sandbox.sockets.iter().flatten().filter(other).cloned().collect()
}

#[cfg(test)]
mod tests;
