//! The bytes of `credentials.json` and of `key.age`, from the disk.
//!
//! Owns that nothing is read that is not this user's alone. Must never follow a link.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::geteuid;
use zeroize::Zeroizing;

use super::super::{StoreError, failed};
use super::refusal::refused;
use super::{age, form};

/// The most bytes of the file.
pub(super) const MAX_FILE: u64 = 32 << 20;

/// Checks that the file is this user's alone and can be read, as far as that takes no key. No file is fine, too.
///
/// # Errors
/// Why not, and what to do.
pub fn check(path: &Path) -> Result<(), StoreError> {
    match read(path)? {
        Some(bytes) if !age::is_age(&bytes) => parsed(path, &bytes).map(drop),
        _ => Ok(()),
    }
}

/// The secrets in its text.
pub(super) fn parsed(path: &Path, text: &[u8]) -> Result<form::SecretsByServer, StoreError> {
    form::parse(text).map_err(|why| {
        refused(
            path,
            &format!(
                "{why}; nothing was changed: repair the file, or move it away and set the secrets again"
            ),
        )
    })
}

/// The bytes. None if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>, StoreError> {
    // A link, or without a writer a FIFO, is not opened at all.
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let mut file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(Errno::ELOOP as i32) => {
            return Err(refused(path, "it is a symbolic link; replace it with the file itself"));
        }
        opened => opened.map_err(failed("read", path))?,
    };
    let about = file.metadata().map_err(failed("read", path))?;
    if !about.is_file() || about.uid() != geteuid().as_raw() {
        return Err(refused(path, "it is not a file that you own; move it away and set the secrets again"));
    }
    if about.mode() & 0o077 != 0 {
        let why = format!(
            "other users can read or change it; run `chmod 600 {}` or `harbor doctor --fix`",
            path.display()
        );
        return Err(refused(path, &why));
    }
    if about.len() > MAX_FILE {
        return Err(refused(path, "it is too long; move it away and set the secrets again"));
    }
    let mut text = Zeroizing::new(Vec::with_capacity(usize::try_from(about.len()).unwrap_or_default() + 1));
    file.by_ref().take(MAX_FILE).read_to_end(&mut text).map_err(failed("read", path))?;
    Ok(Some(text))
}
