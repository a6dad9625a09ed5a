//! The installation of a server's package: the way to its program, and whether it is whole.
//!
//! Owns a package's directory: how it is emptied, its stamp, what may be run in it. Its content is other people's data: it is
//! read within a limit, and nothing that leads out of the directory is used. Must never run an installer, nor be asked while the
//! loop waits: to remove a tree takes a while.

pub mod binary;
mod bins;
mod files;
pub mod lock;
mod missing;
pub mod python;
pub mod readme;
pub mod registries;
pub mod repository;
pub mod resolved;

use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use harbor_home::files::regular_file;
use harbor_policy::package::binary::FILES;
use harbor_policy::package::{Ecosystem, Package, git, no_program, npm_program};
use serde::{Deserialize, Serialize};

pub use self::bins::bins;
use self::files::{inside, read};
pub use self::missing::GONE;
use self::missing::not_installed;
use super::removal::remove_tree;
use super::{StoreError, failed, private_directory, write_atomically};

/// Bytes at its beginning by which the kernel sees how a file is run.
const FIRST_LINE: u64 = 256;
/// Says which installation a directory holds, once it is whole.
const STAMP: &str = "installed.json";
/// The programs of every venv, beside those of its packages. More may follow each of these names.
const OF_A_VENV: &[&str] = &["activate", "deactivate", "pip", "pydoc", "python"];

/// The content of the stamp.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    ecosystem: String,
    spec: String,
}

impl Stamp {
    fn of(package: &Package) -> Self {
        Self { ecosystem: package.ecosystem.as_str().into(), spec: package.spec.clone() }
    }
}

/// The file to run: the real path of the package's program.
///
/// # Errors
/// A sentence for people that says what to do.
pub fn entry(package: &Package, dir: &Path) -> Result<PathBuf, String> {
    let root = dir.canonicalize().map_err(|_| not_installed(package))?;
    let found = match package.ecosystem {
        Ecosystem::Npm => npm_entry(package, &root),
        Ecosystem::Pypi => python_entry(package, &root),
        Ecosystem::Git => repository::entry(package, &root),
        Ecosystem::Binary => binary::entry(package, &root),
    };
    let file = found?;
    runs(&file).map_err(|why| format!("the program of the package {} cannot be run: {why}", package.name))?;
    Ok(file)
}

/// The directory of a package's programs.
#[must_use]
pub fn program_dir(package: &Package, dir: &Path) -> PathBuf {
    match package.ecosystem {
        Ecosystem::Npm => dir.join("node_modules").join(".bin"),
        Ecosystem::Git if !dir.join("venv").is_dir() => {
            Path::new(&git::package_dir(package, &dir.to_string_lossy())).join("node_modules").join(".bin")
        }
        Ecosystem::Pypi | Ecosystem::Git => dir.join("venv").join("bin"),
        Ecosystem::Binary => dir.join(FILES),
    }
}

fn npm_entry(package: &Package, root: &Path) -> Result<PathBuf, String> {
    let modules = root.join("node_modules");
    let home = modules.join(&package.name);
    let manifest = home.join("package.json");
    if manifest.symlink_metadata().is_err() {
        return Err(not_installed(package));
    }
    let bins = inside(root, &manifest)
        .and_then(|manifest| bins(&read(&manifest)?))
        .map_err(|why| format!("package.json of {} {why}", package.name))?;
    let program = npm_program(package, &bins)?;
    let link = modules.join(".bin").join(&program);
    // Without links, as some people have npm configured, the package says itself where the file is.
    let linked = link.symlink_metadata().is_ok();
    let place = if linked { link } else { home.join(bins.path(package, &program).unwrap_or_default()) };
    inside(root, &place).map_err(|why| format!("the program {program} of {} {why}", package.name))
}

fn python_entry(package: &Package, root: &Path) -> Result<PathBuf, String> {
    let (directory, named) = (root.join("venv/bin"), package.program_or_name());
    if !directory.is_dir() {
        return Err(not_installed(package));
    }
    let program = match directory.join(named).symlink_metadata() {
        Ok(_) => named.to_owned(),
        Err(_) => match (python::own_programs(package, root), &package.program) {
            (Some(own), None) if own.len() == 1 => own.concat(),
            (own, _) => {
                let listed = own.unwrap_or_else(|| programs(&directory));
                return Err(no_program(package, listed.iter().map(String::as_str)));
            }
        },
    };
    let place = directory.join(&program);
    inside(root, &place).map_err(|why| format!("the program {program} of {} {why}", package.name))
}

/// The programs that packages put into a venv.
fn programs(directory: &Path) -> Vec<String> {
    let is_own = |name: &String| {
        let lower = name.to_ascii_lowercase();
        !OF_A_VENV.iter().any(|start| lower.starts_with(start)) && !name.contains(char::is_control)
    };
    let entries = directory.read_dir().into_iter().flatten().flatten();
    let mut names: Vec<_> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(is_own).collect();
    names.sort();
    names
}

/// Checks that the kernel can start the file.
fn runs(file: &Path) -> Result<(), String> {
    let opened = regular_file(file).map_err(|error| error.to_string())?;
    let mode = opened.metadata().map_err(|error| error.to_string())?.permissions().mode();
    if mode & 0o111 == 0 {
        return Err(format!("{file:?} is not executable; `chmod +x` makes it so"));
    }
    let mut start = Vec::new();
    opened.take(FIRST_LINE).read_to_end(&mut start).map_err(|error| error.to_string())?;
    match interpreter(&start) {
        // A venv names its Python, which an upgrade or a move of the home takes away.
        Some(program) if program.is_absolute() && !program.exists() => {
            Err(format!("its interpreter {program:?} is missing"))
        }
        // Harbor's own interpreter runs it.
        None if start.starts_with(b"\0asm") => Ok(()),
        None if !start.starts_with(b"\x7fELF") => Err(format!(
            "{file:?} has no `#!` line that names its interpreter; add the server as `PROGRAM {}`",
            file.display()
        )),
        _ => Ok(()),
    }
}

/// The program that the `#!` line names.
fn interpreter(start: &[u8]) -> Option<&Path> {
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = line.trim_ascii().split(|byte| b" \t".contains(byte)).next()?;
    Some(Path::new(std::ffi::OsStr::from_bytes(word)))
}

/// True if a directory holds the whole installation of this package in this version, and it can still be run.
#[must_use]
pub fn is_installed(package: &Package, dir: &Path) -> bool {
    let stamp = read(&dir.join(STAMP)).ok().and_then(|text| serde_json::from_slice::<Stamp>(&text).ok());
    stamp.is_some_and(|stamp| stamp == Stamp::of(package)) && entry(package, dir).is_ok()
}

/// Makes the directory private and empty. Files of an interrupted installation, or of another version, must not mix in.
///
/// # Errors
/// When the file system refuses.
pub fn prepare(dir: &Path) -> Result<(), StoreError> {
    if let Some(parent) = dir.parent() {
        private_directory(parent)?;
    }
    remove_tree(dir).map_err(failed("empty", dir))?;
    Ok(private_directory(dir)?)
}

/// The number of a directory that is not there yet, beside those of other installations.
#[must_use]
pub fn next_place(parent: &Path) -> u32 {
    let entries = parent.read_dir().into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.max().map_or(1, |last| last.saturating_add(1))
}

/// Removes the directories of all installations but these. A directory that cannot be removed is logged and left.
pub fn keep_only(parent: &Path, places: &[u32]) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_kept = name.to_str().and_then(|name| name.parse().ok()).is_some_and(|at| places.contains(&at));
        if !is_kept && let Err(error) = remove_tree(&entry.path()) {
            tracing::warn!(directory = %entry.path().display(), %error, "it could not be removed");
        }
    }
}

/// Marks the installation as whole. Call it last.
///
/// # Errors
/// When the file system refuses.
pub fn mark_installed(package: &Package, dir: &Path) -> Result<(), StoreError> {
    let path = dir.join(STAMP);
    let text =
        serde_json::to_vec(&Stamp::of(package)).map_err(|error| failed("write", &path)(error.into()))?;
    Ok(write_atomically(&path, &text)?)
}

#[cfg(test)]
mod tests;
