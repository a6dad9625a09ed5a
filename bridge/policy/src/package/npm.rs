//! The commands of npm.
//!
//! First only the lock file is made, then exactly its versions are installed: `npm ci` refuses a package with another hash.
//! Scripts of packages run in a second `npm ci`. It finds everything in the cache and so needs no registry: npm hands its own
//! settings on to scripts. `npm rebuild` would not do: it fails for a script of an optional package, and prepares no
//! repositories.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::step::{Step, line};
use crate::environment::NO_SCRIPTS;

/// The file that says which versions, of everything, with their hashes.
pub const LOCK: &str = "package-lock.json";

const QUIET: &[&str] =
    &["--no-audit", "--no-fund", "--no-progress", "--loglevel=http", "--fetch-retry-mintimeout=1000"];

/// The option that names the program to fetch repositories, whatever an `.npmrc` names. npm has another npm
/// prepare a fetched repository, which obeys its `.npmrc`. A program that fails is passed on to that npm, too.
fn git(may_build: bool) -> &'static str {
    if may_build { "--git=git" } else { "--git=false" }
}

/// True if npm has failed because it may not fetch a repository.
#[must_use]
pub fn wanted_a_repository(words: &str) -> bool {
    words.contains("git error occurred") || words.contains("ENOGIT")
}

pub(super) fn resolve(dir: &str, spec: &str, may_build: bool) -> Step {
    let only = ["--package-lock-only", "--save-exact", "--ignore-scripts", git(may_build)];
    line(&[&["npm", "install", "--prefix", dir], &only, QUIET, &["--", spec]])
}

/// Asks for the newest version. npm silently takes an older one whose `engines` admit the present Node.
#[must_use]
pub fn newest(name: &str) -> Step {
    let asked = ["--", name, LATEST, ENGINES];
    line(&[&["npm", "view", "--json", NO_SCRIPTS, "--loglevel=error"], &asked])
}

/// The fields that npm is asked for. If there are two, each answer begins with its field.
const LATEST: &str = "dist-tags.latest";
const ENGINES: &str = "engines.node";

/// The newest version, in one of the answer's lines.
#[must_use]
pub fn newest_of(said: &str) -> Option<&str> {
    let version = answer(said, LATEST).or_else(|| said.trim().strip_prefix('"')?.strip_suffix('"'))?;
    super::names::is_npm_version(version).then_some(version)
}

/// The Node that the newest version requires, in the same way.
#[must_use]
pub fn engines_of(said: &str) -> Option<&str> {
    answer(said, ENGINES)
}

fn answer<'a>(said: &'a str, asked: &str) -> Option<&'a str> {
    let rest = said.trim().trim_end_matches(',').strip_prefix('"')?.strip_prefix(asked)?;
    rest.strip_prefix("\": \"")?.strip_suffix('"')
}

/// The Node that a package requires, by a lock file.
#[must_use]
pub fn engines(lock: &str, name: &str) -> Option<String> {
    let lock: Value = serde_json::from_str(lock).ok()?;
    lock["packages"][format!("node_modules/{name}")]["engines"]["node"].as_str().map(str::to_owned)
}

/// Resolves the package in the directory itself.
pub(super) fn resolve_source(dir: &str, may_build: bool) -> Step {
    let only = ["--package-lock-only", "--ignore-scripts", git(may_build)];
    line(&[&["npm", "install", "--prefix", dir], &only, QUIET])
}

/// True if some package of a lock file has a script that runs at its installation. A repository counts as well: scripts prepare
/// it, and no lock file names them.
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

/// Drops optional dependencies without an entry from a lock file: npm leaves out packages that it does not
/// find, and `npm ci` refuses such a file. True if there were any. All entries keep their hashes.
pub fn drop_absent(lock: &mut Value) -> bool {
    let Some(packages) = lock.get_mut("packages").and_then(Value::as_object_mut) else { return false };
    let places: BTreeSet<String> = packages.keys().cloned().collect();
    let mut dropped = false;
    for (place, package) in packages.iter_mut() {
        let Some(optional) = package.get_mut("optionalDependencies").and_then(Value::as_object_mut) else {
            continue;
        };
        let before = optional.len();
        optional.retain(|name, _| is_found(&places, place, name));
        dropped |= optional.len() < before;
    }
    dropped
}

/// True if Node finds a package from this place: in the place's own directory, or in one above.
fn is_found(places: &BTreeSet<String>, place: &str, name: &str) -> bool {
    let mut above = place;
    loop {
        let slash = if above.is_empty() { "" } else { "/" };
        if places.contains(&format!("{above}{slash}node_modules/{name}")) {
            return true;
        }
        let Some(at) = above.rfind("node_modules/") else { return false };
        above = above[..at].trim_end_matches('/');
    }
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

/// Installs a checked-out package and runs its `build` script, if it `builds`. npm itself runs the `prepare` script.
pub(super) fn install_source(dir: &str, builds: bool) -> Vec<Step> {
    let mut steps = install(dir, true);
    if builds {
        steps.push(line(&[&["npm", "run", "--prefix", dir, "build"]]));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_npm_says_of_the_newest_is_read_line_by_line() {
        let both = "{\n  \"dist-tags.latest\": \"2.0.0\",\n  \"engines.node\": \">=22\"\n}";
        assert_eq!(both.lines().find_map(newest_of), Some("2.0.0"));
        assert_eq!(both.lines().find_map(engines_of), Some(">=22"));
        assert_eq!((newest_of("\"2.0.0\""), engines_of("\"2.0.0\"")), (Some("2.0.0"), None));
        let lock = r#"{"packages":{"node_modules/a":{"engines":{"node":">=18"}},"node_modules/b":{}}}"#;
        assert_eq!((engines(lock, "a").as_deref(), engines(lock, "b")), (Some(">=18"), None));
    }
}
