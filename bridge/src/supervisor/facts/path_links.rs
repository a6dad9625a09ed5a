//! The way that a path leads, one name and one link after the other.
//!
//! ```text
//!  /home/u/link/run.sh ── /home (link) ─► /var/home/u/link (link) ─► /srv/app/run.sh
//!                          each link: where it lies, and whether the server can have laid it there
//! ```
//!
//! Owns following links. Must never follow more than [`MAX_LINKS`], and never forget that a link lay in a directory that
//! the server can change: such a link leads to nothing outside of that directory.

use std::fs;
use std::io::ErrorKind;

use harbor_policy::sandbox::SandboxFacts;
use harbor_policy::sandbox::paths::{below, is_within, parent};

/// The kernel's own limit.
const MAX_LINKS: usize = 40;

/// Bytes of a path and of the links on its way together. The kernel takes 4,096 of each.
const MAX_TEXT: usize = 16 * 1024;

/// The target of a path, and the way there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ResolvedPath {
    /// Its end, without symbolic links; what does not exist keeps its name.
    pub real: String,
    /// True if the end exists.
    pub exists: bool,
    /// The places of the links that were followed.
    pub links: Vec<String>,
    /// The directories, which a server can change, of the links that it can have laid.
    pub laid: Vec<String>,
}

impl ResolvedPath {
    /// True if a place at its end lies where the links on it may lead.
    pub(super) fn may_reach(&self, place: &str) -> bool {
        self.laid.iter().all(|directory| is_within(place, directory))
    }

    /// True if its end lies there.
    pub(super) fn is_accepted(&self) -> bool {
        self.may_reach(&self.real)
    }

    /// The links on it, with the places that they lead to.
    pub(super) fn pairs(&self, facts: &SandboxFacts) -> Vec<(String, String)> {
        self.links.iter().filter_map(|link| pair(link, facts)).collect()
    }
}

/// Follows an absolute path. `None` for other text, for circles, and where `..` follows on what does not exist.
pub(super) fn walk(path: &str, facts: &SandboxFacts) -> Option<ResolvedPath> {
    if !path.starts_with('/') {
        return None;
    }
    let mut way = ResolvedPath { real: "/".into(), exists: true, ..ResolvedPath::default() };
    let (mut todo, mut followed, mut left) = (names(path), 0, MAX_TEXT.checked_sub(path.len())?);
    while let Some(name) = todo.pop() {
        if name == ".." {
            if !way.exists {
                return None;
            }
            way.real = parent(&way.real).to_owned();
            continue;
        }
        let place = below(&way.real, &name);
        match if way.exists { fs::read_link(&place) } else { Err(ErrorKind::NotFound.into()) } {
            Ok(target) => {
                followed += 1;
                let target = target.to_str().filter(|_| followed <= MAX_LINKS)?;
                left = left.checked_sub(target.len())?;
                way.laid.extend(changeable(&way.real, facts).map(ToOwned::to_owned));
                way.links.push(place);
                if target.starts_with('/') {
                    way.real = "/".into();
                }
                todo.extend(names(target));
            }
            Err(error) => {
                // What is no link is an invalid argument.
                way.exists &= error.kind() == ErrorKind::InvalidInput;
                way.real = place;
            }
        }
    }
    Some(way)
}

/// The way to something that exists, unless the server can have laid the way and it leads out of what the server can change.
pub(super) fn found(path: &str, facts: &SandboxFacts) -> Option<ResolvedPath> {
    walk(path, facts).filter(|way| way.exists && way.is_accepted())
}

/// A link with the place that it leads to, if there is something.
pub(super) fn pair(link: &str, facts: &SandboxFacts) -> Option<(String, String)> {
    let end = walk(link, facts).filter(|end| end.exists)?;
    Some((link.to_owned(), end.real))
}

/// The names in a path, the last one first.
fn names(path: &str) -> Vec<String> {
    let names = path.rsplit('/').filter(|name| !name.is_empty() && *name != ".");
    names.map(ToOwned::to_owned).collect()
}

/// The directories that a path lies in and that the server, its installer or another server can change, or once could:
/// links there lead where a server wants.
pub(super) fn changeable<'a>(path: &str, facts: &'a SandboxFacts) -> impl Iterator<Item = &'a str> {
    let own = [Some(&facts.data), Some(&facts.tmp), facts.package.as_ref()].into_iter().flatten();
    let all = own.chain(&facts.written).chain(&facts.ever_written).map(String::as_str);
    all.filter(move |directory| is_within(path, directory))
}

/// True if a server, or an installer, can have made what lies there.
pub(super) fn is_changeable(path: &str, facts: &SandboxFacts) -> bool {
    changeable(path, facts).next().is_some()
}
