//! The installations of Node.js on this machine, beside the usual one.
//!
//! Owns the search; `policy::nodes` says which one counts. Must never be called where the loop waits, nor without need: each one
//! that is found is started once.

use std::collections::BTreeSet;
use std::path::Path;

use harbor_policy::pythons::{Python, version};

use super::{FoundRuntimes, is_program, version_of};

/// The most of them that are asked.
const MOST: usize = 16;

/// All installed Node.js, each once, the usual one first.
#[must_use]
pub fn installed(looked: &FoundRuntimes) -> Vec<Python> {
    let mut seen = BTreeSet::new();
    // What lies in one of shims is no interpreter.
    let dirs = looked.places.iter().map(|place| &place.dir).filter(|dir| !dir.ends_with("/shims"));
    let all = dirs.map(|dir| format!("{dir}/node")).filter(|path| is_program(path));
    let real = all.filter(|path| Path::new(path).canonicalize().is_ok_and(|real| seen.insert(real)));
    let asked = |path: String| Some(Python { version: version(&version_of(&path, &looked.path)?)?, path });
    real.take(MOST).filter_map(asked).collect()
}
