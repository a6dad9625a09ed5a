//! A passphrase that a deployment gives by a file.
//!
//! ```text
//!  config.toml: passphraseFile ──► a file of this user's alone
//!  $CREDENTIALS_DIRECTORY ───────► harbor-passphrase, as systemd's LoadCredential= puts it there
//! ```
//!
//! Owns which file it is and whether it may be believed. Must never quote it.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use harbor_ipc_proto::secret::Secret;
use harbor_policy::secret_store::LONGEST_PASSPHRASE;
use nix::fcntl::OFlag;
use nix::unistd::geteuid;
use zeroize::Zeroizing;

/// The name of a credential of systemd's.
const CREDENTIAL: &str = "harbor-passphrase";

/// A file with a passphrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PassphraseFile {
    path: PathBuf,
    /// systemd sees to who may read it.
    is_of_systemd: bool,
}

impl PassphraseFile {
    /// The configured file, else the file from systemd.
    pub(super) fn find(configured: Option<&Path>) -> Option<Self> {
        let named = configured.map(|path| Self { path: path.to_owned(), is_of_systemd: false });
        named.or_else(|| {
            let path = Path::new(&std::env::var_os("CREDENTIALS_DIRECTORY")?).join(CREDENTIAL);
            path.exists().then_some(Self { path, is_of_systemd: true })
        })
    }

    /// The file's path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The passphrase; one newline at its end is the editor's.
    ///
    /// # Errors
    /// The fault of the file.
    pub(super) fn read(&self) -> Result<Secret, String> {
        self.checked().map_err(|why| format!("the passphrase in {}: {why}", self.path.display()))
    }

    fn checked(&self) -> Result<Secret, String> {
        let opened = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(&self.path);
        let file = opened.map_err(|error| match error.kind() {
            ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => error.to_string(),
        })?;
        let about = file.metadata().map_err(|error| error.to_string())?;
        let is_ours = about.uid() == geteuid().as_raw() && about.mode() & 0o077 == 0;
        if !about.is_file() || !(is_ours || self.is_of_systemd) {
            return Err("it must be a file that you own and that others cannot read (`chmod 600`)".into());
        }
        let mut bytes = Zeroizing::new(Vec::with_capacity(LONGEST_PASSPHRASE + 3));
        let read = file.take(LONGEST_PASSPHRASE as u64 + 3).read_to_end(&mut bytes);
        read.map_err(|error| error.to_string())?;
        let text = std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let text = text.strip_suffix('\n').map_or(text, |line| line.strip_suffix('\r').unwrap_or(line));
        if text.is_empty() || text.len() > LONGEST_PASSPHRASE || text.contains('\n') {
            return Err("it must be one line of at most 1 KiB".into());
        }
        Ok(Secret::new(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_of_ones_own_gives_one_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p");
        let read = |text: &str, mode| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            PassphraseFile::find(Some(&path)).unwrap().read()
        };
        assert!(
            PassphraseFile::find(Some(&path)).unwrap().read().unwrap_err().ends_with("there is no such file")
        );
        assert_eq!(read("a b\n", 0o600), Ok(Secret::new("a b".into())));
        assert_eq!(read("a b", 0o400), Ok(Secret::new("a b".into())));
        for (text, mode) in [("hunter2", 0o640), ("hunter2", 0o604), ("", 0o600), ("hunter2\nb", 0o600)] {
            let why = read(text, mode).unwrap_err();
            assert!(why.contains("/p: it must be ") && !why.contains("hunter2"), "{why}");
        }
        assert!(read(&"x".repeat(1025), 0o600).is_err());
    }
}
