//! The commands of npm.
//!
//! First only the lock file is made, then exactly what it says is installed: `npm ci` refuses what has another hash. Scripts of
//! packages run in a second `npm ci`, which finds everything in the cache and so needs no registry: npm hands its own settings on to
//! them. Not by `npm rebuild`: it fails for a script of an optional package, and prepares no repositories.

use serde_json::{Map, Value};

use super::{Step, line};

/// The file that says which versions, of everything, with their hashes.
pub const LOCK: &str = "package-lock.json";

const QUIET: &[&str] =
    &["--no-audit", "--no-fund", "--no-progress", "--loglevel=http", "--fetch-retry-mintimeout=1000"];

/// The program that fetches repositories, whatever an `.npmrc` names: npm prepares what it has fetched, and has another npm do
/// that, which obeys the `.npmrc` there. One that fails is told to that one, too.
fn git(may_build: bool) -> &'static str {
    if may_build { "--git=git" } else { "--git=false" }
}

/// Whether npm has failed since it may not fetch a repository.
#[must_use]
pub fn wanted_a_repository(words: &str) -> bool {
    words.contains("git error occurred") || words.contains("ENOGIT")
}

pub(super) fn resolve(dir: &str, spec: &str, may_build: bool) -> Step {
    let only = ["--package-lock-only", "--save-exact", "--ignore-scripts", git(may_build)];
    line(&[&["npm", "install", "--prefix", dir], &only, QUIET, &["--", spec]])
}

/// Which version is the newest. npm goes back in silence to one whose `engines` admit the Node that is here.
#[must_use]
pub fn newest(name: &str) -> Step {
    line(&[&["npm", "view", "--json", NO_SCRIPTS, "--loglevel=error", "--", name, "dist-tags.latest"]])
}

/// What that says, in one of its lines.
#[must_use]
pub fn newest_of(said: &str) -> Option<&str> {
    let version = said.trim().strip_prefix('"')?.strip_suffix('"')?;
    super::is_npm_version(version).then_some(version)
}

/// Of what is in a directory itself.
pub(super) fn resolve_source(dir: &str, may_build: bool) -> Step {
    let only = ["--package-lock-only", "--ignore-scripts", git(may_build)];
    line(&[&["npm", "install", "--prefix", dir], &only, QUIET])
}

/// What says that an npm command runs no scripts: it may know the registry then.
pub(crate) const NO_SCRIPTS: &str = "--ignore-scripts";

/// Whether something of a lock file has a script that is run where it is installed. A repository is prepared by scripts that
/// no lock tells.
#[must_use]
pub fn runs_scripts(lock: &str) -> bool {
    let packages = serde_json::from_str::<Map<String, Value>>(lock)
        .ok()
        .and_then(|mut lock| lock.remove("packages"))
        .unwrap_or_default();
    let mut all = packages.as_object().into_iter().flat_map(Map::values);
    all.any(|package| {
        let resolved = package["resolved"].as_str().unwrap_or_default();
        package["hasInstallScript"] == true || resolved.starts_with("git")
    })
}

/// `scripts`: whether any are to run.
pub(super) fn install(dir: &str, scripts: bool) -> Vec<Step> {
    let ci = ["npm", "ci", "--prefix", dir];
    let mut steps = vec![line(&[&ci, &[NO_SCRIPTS], QUIET])];
    if scripts {
        steps.push(line(&[&ci, &["--prefer-offline"], QUIET]));
    }
    steps
}

/// What its `prepare` script does is done by npm itself.
pub(super) fn install_source(dir: &str, builds: bool) -> Vec<Step> {
    let mut steps = install(dir, true);
    if builds {
        steps.push(line(&[&["npm", "run", "--prefix", dir, "build"]]));
    }
    steps
}
