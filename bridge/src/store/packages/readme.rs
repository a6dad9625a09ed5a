//! A package's words about itself: its README, or the text that was made of it for PyPI.
//!
//! Owns finding and reading it, up to the limit. It is other people's data.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use harbor_home::files::regular_file;
use harbor_policy::package::readme::MAX_README;
use harbor_policy::package::{Ecosystem, Package};

use super::files::inside;
use super::python;

/// Its possible names, in any case, in the order of preference.
const NAMES: &[&str] = &["readme.md", "readme", "readme.markdown", "readme.txt", "readme.rst"];

/// The beginning of the README of a package that is installed in this directory.
#[must_use]
pub fn readme(package: &Package, dir: &Path) -> Option<String> {
    let root = dir.canonicalize().ok()?;
    let file = match package.ecosystem {
        Ecosystem::Npm => named(&root.join("node_modules").join(&package.name)),
        Ecosystem::Pypi => python::about(package, &root).map(|about| about.join("METADATA")),
        // What is in a repository was read before it was installed.
        Ecosystem::Git | Ecosystem::Binary => None,
    };
    let opened = regular_file(&inside(&root, &file?).ok()?).ok()?;
    let mut text = Vec::new();
    opened.take(MAX_README as u64).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn named(directory: &Path) -> Option<PathBuf> {
    let entries = directory.read_dir().ok()?.flatten();
    let rank = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        NAMES.iter().position(|known| *known == name)
    };
    entries
        .map(|entry| entry.path())
        .filter_map(|path| Some((rank(&path)?, path)))
        .min()
        .map(|(_, path)| path)
}
