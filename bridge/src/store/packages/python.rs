//! An environment of Python: its interpreter, and which of its programs belong to the package, not to its dependencies.
//!
//! Owns reading what pip and uv have written down of an installation (`RECORD`). It names files that the package brought along,
//! so it is other people's data: read within a limit, and only names of programs are taken from it.

use std::path::{Path, PathBuf};

use harbor_policy::package::{Package, is_program, pypi};
use harbor_policy::pythons::Version;

use super::files::{inside, read_to};
use super::lock::normal;
use crate::store::removal::remove_tree;

/// A package has a line for each of its files.
const MAX_RECORD: u64 = 16 << 20;

/// Bytes of its settings that are read.
const MAX_SETTINGS: u64 = 4 << 10;

/// The interpreter of an installation's environment: its real path, and its version.
#[must_use]
pub fn interpreter(root: &Path) -> (Option<String>, Option<Version>) {
    let real = root.join(pypi::INTERPRETER).canonicalize().ok();
    let settings = read_to(&root.join(pypi::SETTINGS), MAX_SETTINGS).unwrap_or_default();
    let path = real.and_then(|real| real.into_os_string().into_string().ok());
    (path, pypi::version_in(&String::from_utf8_lossy(&settings)))
}

/// Makes room for an environment with another interpreter. Removes the results of the one before, since uv
/// would reuse them.
///
/// # Errors
/// When the file system refuses.
pub fn remove_environment(root: &Path) -> Result<(), String> {
    let [report, lock] = pypi::NEWER;
    let found = [pypi::LOCK, pypi::REPORT, report, lock];
    let mut all = [pypi::ENVIRONMENT].into_iter().chain(found);
    all.try_for_each(|name| remove_tree(&root.join(name))).map_err(|error| error.to_string())
}

/// The names of its programs. None if the list of its files is not known.
pub(super) fn own_programs(package: &Package, root: &Path) -> Option<Vec<String>> {
    let record = inside(root, &about(package, root)?.join("RECORD")).ok()?;
    let text = String::from_utf8(read_to(&record, MAX_RECORD).ok()?).ok()?;
    let mut names: Vec<_> = text.lines().filter_map(program).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    Some(names)
}

/// The directory with the facts about the installation: `NAME-VERSION.dist-info`, beside the package's files.
pub(super) fn about(package: &Package, root: &Path) -> Option<PathBuf> {
    let wanted = normal(&package.name);
    let is_meant = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let named = name.strip_suffix(".dist-info").and_then(|name| name.rsplit_once('-'));
        named.is_some_and(|(name, _)| normal(name) == wanted)
    };
    let list = |dir: PathBuf| dir.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let pythons = list(root.join("venv/lib"));
    pythons.flat_map(|python| list(python.join("site-packages"))).find(is_meant)
}

/// `../../../bin/NAME,sha256=…,123`.
fn program(line: &str) -> Option<&str> {
    let (directory, name) = line.split(',').next()?.rsplit_once('/')?;
    let is_bin = directory.strip_suffix("/bin").is_some_and(|up| up.split('/').all(|part| part == ".."));
    (is_bin && is_program(name)).then_some(name)
}
