//! Finds out while nobody needs the secrets that they cannot be read.
//!
//! Must never ask for a key.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use harbor_policy::secret_store::StoreProtection;

use super::trouble::SecretsFingerprint;
use super::{Secrets, file};

impl Secrets {
    /// Checks after a change that the secrets can be read, and notes which servers have some. For a thread
    /// that may wait for the disk.
    pub fn look(&self) {
        if !self.trouble.is_due(look(&self.path)) {
            return;
        }
        let _turn = self.turn();
        let checked = file::check(&self.path);
        if checked.is_ok() && self.keys.is_open() {
            // Whether its key opens it is noted by this.
            self.drop_now();
            return;
        }
        if self.trouble.note(&checked) {
            self.unlocked.notify_one();
        }
        if let Ok((StoreProtection::Plain, _)) = self.load()
            && let Ok(read) = self.read()
        {
            self.drop_now();
            let names = read.all.keys().cloned().collect();
            if let Err(error) = self.note_names(&names) {
                tracing::warn!(%error, "whose secrets there are could not be noted");
            }
        }
    }
}

fn look(path: &Path) -> SecretsFingerprint {
    let about = path.symlink_metadata().ok()?;
    let times = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
    Some(([about.dev(), about.ino(), about.size()], about.mode(), times))
}
