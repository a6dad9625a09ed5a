//! Where programs are on this machine: node, npm, uv, python, docker, podman, git.
//!
//! Owns the search, and the one question to the login shell. `policy::runtimes` owns the order of places and what counts. Must
//! never be called where the loop waits, nor wait for a shell longer than [`SHELL_LIMIT`].

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use harbor_child::own;
use harbor_policy::environment::DEFAULT_PATH;
use harbor_policy::runtimes::{
    RUNTIMES, Runtime, RuntimeFacts, SearchedDirectory, USUAL, answer, choose, extended, of_managers, places,
    question, version,
};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

pub mod nodes;
pub mod pythons;

/// How long a login shell may take: its files may start much.
const SHELL_LIMIT: Duration = Duration::from_secs(5);
/// How long a program may take to say its version.
const VERSION_LIMIT: Duration = Duration::from_secs(5);
/// Bytes that are read of what they say.
const MAX_SAID: usize = 64 << 10;
/// Names in one directory that are looked at.
const MAX_NAMES: usize = 256;

/// This machine's programs. The answer of the login shell is kept; the disk is read each time.
#[derive(Debug, Default)]
pub struct Runtimes {
    login_path: OnceLock<Option<String>>,
}

/// This machine's programs. The answer of its login shell is kept, but the disk is read each time.
#[derive(Debug, Clone)]
pub struct FoundRuntimes {
    /// The directories, in the order in which they were looked at.
    pub places: Vec<SearchedDirectory>,
    /// The bridge's PATH with the directories of what was found behind it.
    pub path: String,
    programs: Vec<Option<(String, &'static str)>>,
}

impl FoundRuntimes {
    /// The programs when none could be looked for.
    #[must_use]
    pub fn none() -> Self {
        Self { places: Vec::new(), path: DEFAULT_PATH.into(), programs: Vec::new() }
    }

    /// A runtime by its name: its path, and how it is known.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<(&str, &'static str)> {
        let at = RUNTIMES.iter().position(|runtime| runtime.name == name)?;
        self.programs.get(at)?.as_ref().map(|(path, how)| (path.as_str(), *how))
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = (&'static Runtime, Option<(&str, &'static str)>)> {
        RUNTIMES.iter().map(|runtime| (runtime, self.get(runtime.name)))
    }

    /// A program that somebody names, in any of the directories.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<String> {
        choose(&self.places, &[name], is_program).map(|(path, _)| path)
    }
}

impl Runtimes {
    /// Looks at this machine. May take as long as the login shell does, once.
    #[must_use]
    pub fn look(&self) -> FoundRuntimes {
        let path = variable("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let mut found = RuntimeFacts {
            versions: Vec::new(),
            home: home.and_then(|home| home.into_os_string().into_string().ok()),
            login_path: None,
            path,
        };
        let own = places(&RuntimeFacts { home: None, ..found.clone() });
        let own: Vec<_> = own.into_iter().filter(|place| place.how == "PATH").collect();
        if USUAL.iter().any(|name| choose(&own, &[name], is_program).is_none()) {
            found.login_path = self.login_path.get_or_init(login_path).clone();
        }
        let paths = [found.path.as_str(), found.login_path.as_deref().unwrap_or_default()];
        let managers = of_managers(found.home.as_deref(), variable, &paths).into_iter();
        found.versions =
            managers.map(|(manager, dir)| (manager, dir.clone(), names(Path::new(&dir)))).collect();
        let places = places(&found);
        let program = |runtime: &Runtime| {
            choose(&places, runtime.files, is_program).map(|(path, place)| (path, place.how))
        };
        let programs: Vec<_> = RUNTIMES.iter().map(program).collect();
        let directories = programs.iter().flatten().filter_map(|(path, _)| Some(path.rsplit_once('/')?.0));
        let path = extended(&found.path, directories);
        FoundRuntimes { places, path, programs }
    }
}

fn is_program(path: &str) -> bool {
    Path::new(path).metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// A variable of the bridge's own.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The names in a directory. Empty if the directory cannot be read.
fn names(directory: &Path) -> Vec<String> {
    let entries = directory.read_dir().into_iter().flatten().flatten().take(MAX_NAMES);
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Asks the login shell.
fn login_path() -> Option<String> {
    let shell = std::env::var("SHELL").ok().filter(|shell| shell.starts_with('/'))?;
    let mut command = Command::new(shell);
    command.args(["-lc", &question()]);
    let said = ask(command, SHELL_LIMIT, |said| answer(said).is_some())?;
    let path = answer(&said).map(ToOwned::to_owned);
    tracing::debug!(found = path.is_some(), "the login shell was asked for its PATH");
    path
}

/// The version that a program says when it is asked for it.
#[must_use]
pub fn version_of(path: &str, search_path: &str) -> Option<String> {
    let mut command = Command::new(path);
    command.arg("--version").env("PATH", search_path);
    version(&ask(command, VERSION_LIMIT, |said| said.contains('\n'))?)
}

/// Runs a program in a group of its own until its output is enough, or it ends, or it takes too long. Then ends it.
fn ask(mut command: Command, limit: Duration, is_enough: impl Fn(&str) -> bool) -> Option<String> {
    let until = Instant::now() + limit;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().ok()?;
    let _ = own::files_as_before(child.id());
    let group = ProbeGroupGuard(Pid::from_raw(i32::try_from(child.id()).ok()?));
    let mut stdout = child.stdout.take()?;
    let (sender, pieces) = mpsc::channel();
    // It ends with the group, whose end it reads.
    let reader = std::thread::Builder::new().name("runtimes".into()).spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stdout.read(&mut buffer) {
            if sender.send(buffer.get(..read).unwrap_or_default().to_vec()).is_err() {
                return;
            }
        }
    });
    reader.ok()?;
    let mut said = Vec::new();
    while let Ok(piece) = pieces.recv_timeout(until.saturating_duration_since(Instant::now())) {
        said.extend(piece);
        if said.len() > MAX_SAID || is_enough(&String::from_utf8_lossy(&said)) {
            break;
        }
    }
    drop(group);
    // In the bridge its reaper may have been first.
    let _ = child.wait();
    Some(String::from_utf8_lossy(&said).into_owned())
}

/// A process group that ends with this.
struct ProbeGroupGuard(Pid);

impl Drop for ProbeGroupGuard {
    fn drop(&mut self) {
        let _ = killpg(self.0, Signal::SIGKILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_shell_that_never_ends_is_not_waited_for() {
        let begun = Instant::now();
        let said = ask(shell("echo hello; sleep 600"), Duration::from_secs(60), |said| said.contains('\n'));
        assert_eq!(said.as_deref(), Some("hello\n"));
        assert_eq!(ask(shell("sleep 600"), Duration::from_millis(50), |_| false).as_deref(), Some(""));
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_shell_that_floods_is_cut_off() {
        let said = ask(shell("yes"), Duration::from_secs(60), |_| false).unwrap();
        assert!(said.len() > MAX_SAID && said.len() <= MAX_SAID + 4096);
    }

    #[test]
    fn the_version_of_a_program_is_its_own_word() {
        let version = version_of("/bin/sh", DEFAULT_PATH);
        assert!(version.is_none_or(|version| version.starts_with(|c: char| c.is_ascii_digit())));
        assert_eq!(version_of("/no/such/program", DEFAULT_PATH), None);
    }
}
