//! The module of WebAssembly that Harbor keeps for a server, as a file that is named by its hash.
//!
//! ```text
//!  servers/ID/module/SHA256.wasm ─► the same hash? ─► its interpreter
//! ```
//!
//! Owns these files. The definition has the hash, so a file with other bytes is never run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{StoreError, private_directory, write_atomically};

/// The SHA-256 of these bytes, in hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // A text takes everything.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The file of a module.
#[must_use]
pub fn file(dir: &Path, sha256: &str) -> PathBuf {
    dir.join(format!("{sha256}.wasm"))
}

/// Writes a module that has this hash, unless it is there.
///
/// # Errors
/// When the file system refuses.
pub fn write(dir: &Path, sha256: &str, bytes: &[u8]) -> Result<(), StoreError> {
    if is_there(dir, sha256) {
        return Ok(());
    }
    private_directory(dir)?;
    Ok(write_atomically(&file(dir, sha256), bytes)?)
}

/// True if a module is there and is the one that was added.
#[must_use]
pub fn is_there(dir: &Path, sha256: &str) -> bool {
    let file = file(dir, sha256);
    fs::symlink_metadata(&file).is_ok_and(|found| found.is_file())
        && fs::read(&file).is_ok_and(|bytes| self::sha256(&bytes) == sha256)
}

/// Removes all modules but this one.
///
/// # Errors
/// When the file system refuses.
pub fn remove_others(dir: &Path, kept: Option<&str>) -> io::Result<()> {
    let kept = kept.map(|sha256| file(dir, sha256));
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| Some(path) != kept.as_ref()) {
        fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_module_that_was_added_is_run() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("module");
        let (one, two) = (sha256(b"one"), sha256(b"two"));
        assert!(!is_there(&dir, &one));
        write(&dir, &one, b"one").unwrap();
        write(&dir, &two, b"two").unwrap();
        assert!(is_there(&dir, &one) && is_there(&dir, &two));
        fs::write(file(&dir, &one), "two").unwrap();
        assert!(!is_there(&dir, &one));
        write(&dir, &one, b"one").unwrap();
        assert!(is_there(&dir, &one));
        remove_others(&dir, Some(&two)).unwrap();
        assert!(!is_there(&dir, &one) && is_there(&dir, &two));
        remove_others(&dir, None).unwrap();
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        remove_others(&home.path().join("none"), None).unwrap();
    }
}
