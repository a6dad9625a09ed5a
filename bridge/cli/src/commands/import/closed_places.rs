//! The places of the person's home that a variable of an imported server names: its sandbox hides the home.
//!
//! Owns finding them, and the command that opens one. Must never show a value that is not a directory which is there.

use std::env;
use std::path::{Path, PathBuf};

use harbor_client_configs::Launch;

use super::super::changes::quoted;
use super::candidate::secrets_of;

/// A place that a variable names.
pub(super) struct ClosedPlace {
    variable: String,
    /// The directory to open.
    directory: PathBuf,
}

impl ClosedPlace {
    /// A sentence for the person; `id` is the server's.
    pub(super) fn told(&self, id: &str) -> String {
        let directory = quoted(&self.directory.to_string_lossy());
        format!(
            "{id}: its variable {} names a place in your home, which its sandbox hides; open the directory: `harbor sandbox {id} \
             --write {directory}`",
            self.variable
        )
    }
}

/// The places in the person's home that variables of this launch name, other than secrets.
pub(super) fn closed_places(launch: &Launch) -> Vec<ClosedPlace> {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let (Some(home), None) = (home, &launch.remote) else { return Vec::new() };
    let secrets = secrets_of(launch);
    let plain = launch.env.iter().filter(|(name, _)| secrets.iter().all(|(key, ..)| key != *name));
    let found = plain.filter_map(|(name, value)| Some((name, directory(Path::new(value), &home)?)));
    found.map(|(name, directory)| ClosedPlace { variable: name.clone(), directory }).collect()
}

/// The directory of a path below the home: the path itself, or the directory of its file. None for the home as a whole.
fn directory(path: &Path, home: &Path) -> Option<PathBuf> {
    let directory = if path.is_dir() { path } else { path.parent()? };
    let is_meant = directory.is_dir() && directory != home && directory.starts_with(home);
    is_meant.then(|| directory.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_s_directory_is_named_and_neither_the_home_nor_what_is_elsewhere() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().join("home");
        let documents = home.join("Documents");
        std::fs::create_dir_all(&documents).unwrap();
        for (path, named) in [
            (documents.join("memory.jsonl"), Some(documents.clone())),
            (documents.clone(), Some(documents.clone())),
            (home.join("memory.jsonl"), None),
            (home.join("absent/memory.jsonl"), None),
            (scratch.path().join("a"), None),
            (PathBuf::from("/usr/bin/env"), None),
            (PathBuf::from("word"), None),
        ] {
            assert_eq!(directory(&path, &home), named, "{path:?}");
        }
    }
}
