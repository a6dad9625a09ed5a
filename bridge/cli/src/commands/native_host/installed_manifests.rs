//! Which manifests stand where, and what it takes to undo them: `HARBOR_HOME/native-host/installed.json`.
//!
//! Owns this file. The relay reads from it which extensions are let in beside Harbor's own.

use std::fs;
use std::path::{Path, PathBuf};

use harbor_client::errors::Failure;
use harbor_home::Paths;
use harbor_home::files;
use harbor_home::parent_directories;
use serde::{Deserialize, Serialize};

use super::failures::own_failure;

/// All manifests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledManifests {
    manifests: Vec<Entry>,
}

/// One of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub file: PathBuf,
    /// The browser's name.
    pub browser: String,
    /// The extensions that it lets in beside Harbor's own.
    pub extension_ids: Vec<String>,
    /// The directories that had to be made, the uppermost first.
    pub made_directories: Vec<PathBuf>,
    /// The present place of another program's manifest.
    pub aside: Option<PathBuf>,
}

impl InstalledManifests {
    /// The note. Empty if it cannot be read, since Harbor can do without it.
    pub fn load(paths: &Paths) -> Self {
        let text = fs::read(paths.native_hosts()).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Saves the note, or removes its file if it is empty.
    pub fn save(&self, paths: &Paths) -> Result<(), Failure> {
        let path = paths.native_hosts();
        if self.is_empty() {
            let _ = fs::remove_file(&path);
            return Ok(());
        }
        let text = serde_json::to_vec(self).map_err(own_failure)?;
        make_directory(paths)?;
        files::write_atomically(&path, &text).map_err(own_failure)
    }

    pub fn entry(&self, file: &Path) -> Option<&Entry> {
        self.manifests.iter().find(|entry| entry.file == file)
    }

    pub fn entries(&self) -> &[Entry] {
        &self.manifests
    }

    pub fn put(&mut self, entry: Entry) {
        self.forget(&entry.file);
        self.manifests.push(entry);
    }

    pub fn forget(&mut self, file: &Path) {
        self.manifests.retain(|entry| entry.file != file);
    }

    pub fn is_empty(&self) -> bool {
        self.manifests.is_empty()
    }
}

/// The directory of what is kept about browsers.
pub fn make_directory(paths: &Paths) -> Result<(), Failure> {
    let path = paths.native_hosts();
    let directory = path.parent().unwrap_or(paths.home());
    let made =
        parent_directories::home_directory(paths.home()).and_then(|()| files::private_directory(directory));
    made.map_err(own_failure)
}
