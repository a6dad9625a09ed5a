//! A file of a package, read within a limit.
//!
//! Must never follow a link out of the package, nor wait for a FIFO.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use harbor_home::files::regular_file;

/// Bytes of a file that are read.
pub(super) const MAX_READ: u64 = 1 << 20;

/// The real path of a file in this directory, which is a real path itself.
pub(super) fn inside(root: &Path, path: &Path) -> Result<PathBuf, String> {
    let real = path.canonicalize().map_err(|error| format!("is missing: {error}"))?;
    if !real.starts_with(root) {
        return Err("leads out of its own directory".into());
    }
    if real.is_file() { Ok(real) } else { Err("is not a file".into()) }
}

pub(super) fn read(file: &Path) -> Result<Vec<u8>, String> {
    read_to(file, MAX_READ)
}

pub(super) fn read_to(file: &Path, most: u64) -> Result<Vec<u8>, String> {
    let opened = regular_file(file).map_err(|error| format!("cannot be read: {error}"))?;
    let mut text = Vec::new();
    opened.take(most + 1).read_to_end(&mut text).map_err(|error| format!("cannot be read: {error}"))?;
    if text.len() as u64 > most { Err("is too long".into()) } else { Ok(text) }
}
