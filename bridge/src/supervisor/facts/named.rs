//! The paths that a definition names: its working directory, its arguments, and the packages that these belong to.
//!
//! Owns looking them up. For a file it gives at most the root of its package. Must never follow a link out of a directory
//! that the server can change: its next start would read what it wants.

use std::path::Path;

use harbor_policy::sandbox::paths::{below, is_within, parent};
use harbor_policy::sandbox::prefixes::{MANIFESTS, of_installed, path_in_argument};
use harbor_policy::sandbox::protected::why_not_by_name;
use harbor_policy::sandbox::{NamedPath, SandboxFacts};

use super::path_links::{ResolvedPath, changeable, found, walk};

/// Arguments that are looked at.
const MAX_ARGS: usize = 64;
/// Directories above a file that are looked at.
const MAX_LEVELS: usize = 32;

/// The paths that a definition names.
#[derive(Debug, Default)]
pub(super) struct NamedPaths {
    /// The working directory and the arguments that exist, each once.
    pub named: Vec<NamedPath>,
    /// The links on the ways to them, with the places that they lead to.
    pub links: Vec<(String, String)>,
    /// The given paths whose way a server may have laid, and that lead out.
    pub led_out: Vec<String>,
}

/// Looks for them.
pub(super) fn find(facts: &SandboxFacts, cwd: &str, args: &[String]) -> NamedPaths {
    let mut found = NamedPaths::default();
    if let Some(way) = found.accepted(cwd, cwd, facts).filter(|way| Path::new(&way.real).is_dir()) {
        found.add(way, true, facts);
    }
    for argument in args.iter().take(MAX_ARGS) {
        let path = in_argument(argument, cwd);
        let is_path = path_in_argument(argument).is_some();
        let way = path.and_then(|path| found.accepted(argument, &path, facts));
        // Words like `start` are no names of directories.
        if let Some(way) = way.filter(|way| is_path || Path::new(&way.real).is_file()) {
            found.add(way, false, facts);
        }
    }
    found
}

impl NamedPaths {
    /// The way to something that exists. If a server may have laid a way that leads out, the path is noted as `given`.
    fn accepted(&mut self, given: &str, path: &str, facts: &SandboxFacts) -> Option<ResolvedPath> {
        let way = walk(path, facts).filter(|way| way.exists)?;
        if !way.is_accepted() {
            self.led_out.push(given.to_owned());
            return None;
        }
        Some(way)
    }

    fn add(&mut self, way: ResolvedPath, is_cwd: bool, facts: &SandboxFacts) {
        self.links.extend(way.pairs(facts));
        if is_cwd || !self.named.iter().any(|named| named.path == way.real) {
            let root = match is_cwd {
                true => root_from(&way.real, facts),
                false if Path::new(&way.real).is_file() => package_root(&way.real, facts),
                false => None,
            };
            let package_root = root.filter(|root| way.may_reach(root));
            self.named.push(NamedPath { package_root, path: way.real, is_cwd });
        }
    }
}

/// The path in an argument: an absolute one, or one as seen from the working directory.
fn in_argument(argument: &str, cwd: &str) -> Option<String> {
    let relative = || (!argument.is_empty() && !argument.starts_with('-')).then(|| below(cwd, argument));
    path_in_argument(argument).or_else(relative)
}

/// The root of the package that a file belongs to.
pub(super) fn package_root(file: &str, facts: &SandboxFacts) -> Option<String> {
    let usable = |root: &&str| why_not_by_name(root, facts).is_none();
    match of_installed(file).filter(usable) {
        Some(root) => Some(root.to_owned()),
        None => root_from(parent(file), facts),
    }
}

/// The nearest directory with a manifest, up to what is too wide.
fn root_from(directory: &str, facts: &SandboxFacts) -> Option<String> {
    let above = std::iter::successors(Some(directory), |path| (*path != "/").then(|| parent(path)));
    let mut narrow = above.take(MAX_LEVELS).take_while(|path| why_not_by_name(path, facts).is_none());
    narrow.find(|path| MANIFESTS.iter().any(|name| marks(path, name, facts))).map(ToOwned::to_owned)
}

/// True if a directory has this in it, and the server cannot have put it there to get all of the directory.
pub(super) fn marks(directory: &str, name: &str, facts: &SandboxFacts) -> bool {
    found(&below(directory, name), facts)
        .is_some_and(|way| changeable(&way.real, facts).all(|own| is_within(directory, own)))
}
