//! What a definition names: its working directory, its arguments, and the packages that these belong to.
//!
//! Owns the looking. Must never give a directory for a file but the root of its package, nor follow a link out of a
//! directory that the server can change: its next start would read what it wants.

use std::path::Path;

use harbor_policy::sandbox::paths::{below, is_within, parent};
use harbor_policy::sandbox::prefixes::{MANIFESTS, of_installed, path_in_argument};
use harbor_policy::sandbox::protected::why_not_by_name;
use harbor_policy::sandbox::{Facts, Named};

use super::way::{Way, changeable, found};

/// Arguments that are looked at.
const MAX_ARGS: usize = 64;
/// Directories above a file that are looked at.
const MAX_LEVELS: usize = 32;

/// The working directory and the arguments that exist, each once; and the links on the ways to them.
pub(super) fn find(facts: &Facts, cwd: &str, args: &[String]) -> (Vec<Named>, Vec<(String, String)>) {
    let (mut all, mut links): (Vec<Named>, Vec<_>) = (Vec::new(), Vec::new());
    let mut add = |way: Way, is_cwd: bool| {
        links.extend(way.pairs(facts));
        if is_cwd || !all.iter().any(|named| named.path == way.real) {
            let root = match is_cwd {
                true => root_from(&way.real, facts),
                false if Path::new(&way.real).is_file() => package_root(&way.real, facts),
                false => None,
            };
            let package_root = root.filter(|root| way.may_reach(root));
            all.push(Named { package_root, path: way.real, is_cwd });
        }
    };
    if let Some(way) = found(cwd, facts).filter(|way| Path::new(&way.real).is_dir()) {
        add(way, true);
    }
    let arguments = args.iter().take(MAX_ARGS);
    arguments.filter_map(|argument| in_argument(argument, cwd, facts)).for_each(|way| add(way, false));
    (all, links)
}

/// What an argument names: an absolute path, or a file as seen from the working directory.
fn in_argument(argument: &str, cwd: &str, facts: &Facts) -> Option<Way> {
    if let Some(path) = path_in_argument(argument) {
        return found(&path, facts);
    }
    // Words like `start` are no names of directories.
    let file = !argument.is_empty() && !argument.starts_with('-');
    file.then(|| found(&below(cwd, argument), facts)).flatten().filter(|way| Path::new(&way.real).is_file())
}

/// The root of the package that a file belongs to.
pub(super) fn package_root(file: &str, facts: &Facts) -> Option<String> {
    let usable = |root: &&str| why_not_by_name(root, facts).is_none();
    match of_installed(file).filter(usable) {
        Some(root) => Some(root.to_owned()),
        None => root_from(parent(file), facts),
    }
}

/// The nearest directory with a manifest, up to what is too wide.
fn root_from(directory: &str, facts: &Facts) -> Option<String> {
    let above = std::iter::successors(Some(directory), |path| (*path != "/").then(|| parent(path)));
    let mut narrow = above.take(MAX_LEVELS).take_while(|path| why_not_by_name(path, facts).is_none());
    narrow.find(|path| MANIFESTS.iter().any(|name| marks(path, name, facts))).map(ToOwned::to_owned)
}

/// Whether a directory has this in it, and the server cannot have put it there to have all of the directory.
pub(super) fn marks(directory: &str, name: &str, facts: &Facts) -> bool {
    found(&below(directory, name), facts)
        .is_some_and(|way| changeable(&way.real, facts).all(|own| is_within(directory, own)))
}
