//! The commands of npm.
//!
//! First only the lock file is made, then exactly what it says is installed: `npm ci` refuses what has another hash.

use super::{Step, line};

/// The file that says which versions, of everything, with their hashes.
pub const LOCK: &str = "package-lock.json";

const QUIET: &[&str] =
    &["--no-audit", "--no-fund", "--no-progress", "--loglevel=http", "--fetch-retry-mintimeout=1000"];

pub(super) fn resolve(dir: &str, spec: &str) -> Step {
    let only = ["--package-lock-only", "--save-exact", "--ignore-scripts"];
    line(&[&["npm", "install", "--prefix", dir], &only, QUIET, &["--", spec]])
}

/// Of what is in a directory itself. An `.npmrc` in it may not name the program that fetches repositories.
pub(super) fn resolve_source(dir: &str) -> Step {
    let only = ["--package-lock-only", "--ignore-scripts", "--git=git"];
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
