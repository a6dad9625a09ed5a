//! Tells if a directory has a git repository in it: whoever may write there says what git runs.
//!
//! Owns the search. Must never follow a link, nor look further than [`MAX_DIRECTORIES`]: it is for a warning.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// The most directories that are looked at, the nearest first.
const MAX_DIRECTORIES: usize = 256;
/// The most names of each directory.
const MAX_NAMES: usize = 1024;

/// True if there is a repository in it, so far as the search went.
pub(super) fn holds_one(path: &str) -> bool {
    let mut todo = VecDeque::from([PathBuf::from(path)]);
    for _ in 0..MAX_DIRECTORIES {
        let Some(directory) = todo.pop_front() else { return false };
        if is_one(&directory) {
            return true;
        }
        let names = fs::read_dir(&directory).into_iter().flatten().take(MAX_NAMES).flatten();
        let below = names.filter(|name| name.file_type().is_ok_and(|kind| kind.is_dir()));
        let room = MAX_DIRECTORIES.saturating_sub(todo.len());
        todo.extend(below.take(room).map(|name| name.path()));
    }
    false
}

/// True for a work tree, or a bare repository.
fn is_one(directory: &Path) -> bool {
    let has = |name: &str| fs::symlink_metadata(directory.join(name)).is_ok();
    has(".git") || has("HEAD") && has("objects")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_found_near_by_and_not_behind_links() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let make = |name: &str| fs::create_dir_all(at(name)).unwrap();
        ["a/b/c/.git", "bare.git/objects", "plain/x/y", "links"].into_iter().for_each(make);
        fs::write(at("bare.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::os::unix::fs::symlink(at("a"), at("links/a")).unwrap();
        make("module");
        fs::write(at("module/.git"), "gitdir: ../x\n").unwrap();
        let found = |name: &str| holds_one(at(name).to_str().unwrap());
        for name in ["a", "a/b", "a/b/c", "bare.git", "module"] {
            assert!(found(name), "{name}");
        }
        for name in ["plain", "links", "a/b/c/.git", "absent"] {
            assert!(!found(name), "{name}");
        }
    }

    #[test]
    fn large_trees_are_not_looked_through() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..MAX_DIRECTORIES * 2 {
            fs::create_dir(dir.path().join(number.to_string())).unwrap();
        }
        assert!(!holds_one(dir.path().to_str().unwrap()));
    }
}
