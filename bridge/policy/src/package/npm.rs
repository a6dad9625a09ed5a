//! The commands of npm.
//!
//! First only the lock file is made, then exactly what it says is installed: `npm ci` refuses what has another hash.

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

/// Of what is in a directory itself.
pub(super) fn resolve_source(dir: &str, may_build: bool) -> Step {
    let only = ["--package-lock-only", "--ignore-scripts", git(may_build)];
    line(&[&["npm", "install", "--prefix", dir], &only, QUIET])
}

pub(super) fn install(dir: &str) -> Step {
    line(&[&["npm", "ci", "--prefix", dir], QUIET])
}

/// What its `prepare` script does is done by npm itself.
pub(super) fn install_source(dir: &str, builds: bool) -> Vec<Step> {
    let mut steps = vec![install(dir)];
    if builds {
        steps.push(line(&[&["npm", "run", "--prefix", dir, "build"]]));
    }
    steps
}
