//! Secrets whose server was removed while they could not be read: `secrets/dropped`, a name in each line.
//!
//! ```text
//!  a server is removed, its secrets cannot be read ─► its name is noted here, before its definition goes
//!  each read ──────► what is of these names is left out
//!  first read that finds such, each change ─► the file is written without them ─► the names go
//! ```
//!
//! Owns this file. It lies beside the secrets, not in harbor.db: it has to survive the loss of that, and is changed in the
//! same turn as they are. Must never lose a name while the secrets still have something of it.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use super::super::{StoreError, failed, own_directory, sync_directory, write_durably};
use super::changing::SecretsContent;
use super::forgotten::DROPPED;
use super::{Secrets, file};

impl Secrets {
    fn dropped_file(&self) -> PathBuf {
        self.path.with_file_name(DROPPED)
    }

    /// The names whose secrets are dropped.
    pub(super) fn dropped(&self) -> Result<BTreeSet<String>, StoreError> {
        let path = self.dropped_file();
        let Some(bytes) = file::read(&path)? else { return Ok(BTreeSet::new()) };
        let text = std::str::from_utf8(&bytes)
            .map_err(|error| failed("read", &path)(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        Ok(text.lines().map(ToOwned::to_owned).collect())
    }

    /// Drops the present secrets of this name: nobody gets them any more. Call it in the turn of whoever changes the secrets.
    pub(super) fn drop_later(&self, name: &str) -> Result<(), StoreError> {
        let mut names = self.dropped()?;
        if !names.insert(name.to_owned()) {
            return Ok(());
        }
        if let Some(directory) = self.path.parent() {
            own_directory(directory)?;
        }
        let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
        write_durably(&self.dropped_file(), lines.as_bytes())
    }

    /// Writes the read secrets without the dropped ones, and forgets the dropped names: secrets set from now
    /// on are another server's. Call it in the turn of whoever changes the secrets.
    pub(super) fn settle_dropped(&self, read: &SecretsContent) -> Result<(), StoreError> {
        if read.has_dropped {
            self.write(&read.all, &read.all.keys().cloned().collect(), read.form)?;
        }
        match std::fs::remove_file(self.dropped_file()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(failed("remove", &self.dropped_file())(error)),
            Ok(()) => self.path.parent().map_or(Ok(()), sync_directory),
        }
    }

    /// Deletes the dropped secrets, now that they can be read. Call it in the turn of whoever changes the secrets.
    pub(super) fn drop_now(&self) {
        let settled = self.read().and_then(|read| match read.has_dropped {
            true => self.settle_dropped(&read),
            false => Ok(()),
        });
        if let Err(error) = settled {
            tracing::warn!(%error, "secrets of a server that was removed are still on disk; nobody gets them");
        }
    }
}
