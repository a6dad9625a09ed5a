//! Notes that undo an installation, kept in `HARBOR_HOME/clients` until then.
//!
//! Owns these notes. Afterwards the file does not show whether it had an empty object before, no object, or
//! did not exist. The note says so, and which piece of text went in. It is trusted only for a text that it
//! fits exactly.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use harbor_client_configs::Swap;
use harbor_home::Paths;
use harbor_home::files;
use harbor_home::parent_directories;
use harbor_ipc_proto::hex::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use harbor_client::errors::Failure;

/// The changes that were made to a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoNote {
    /// The file's path.
    pub file: PathBuf,
    /// The digest of its text afterwards.
    pub after: String,
    /// The swapped text; absent where only the entry's own values were renewed.
    pub swap: Option<(usize, String, String)>,
    /// True if there was no file.
    pub made_file: bool,
    /// True if there was no object for servers.
    pub made_key: bool,
    /// The directories that had to be made, the uppermost first.
    pub made_directories: Vec<PathBuf>,
    /// The client's servers that Harbor was put in the place of.
    #[serde(default)]
    pub taken: Vec<RemovedServer>,
    /// The digest of the text before them, which is kept whole; absent where more than one change led here.
    #[serde(default)]
    pub before: Option<String>,
}

/// A server that was taken out of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedServer {
    /// Its name in the file.
    pub name: String,
    /// The copy of the former file.
    pub copy: PathBuf,
}

impl UndoNote {
    /// A note of a change that can be taken back exactly.
    pub fn of(file: &Path, before: &str, after: &str) -> Self {
        let swap = Swap::between(before, after);
        let swap = Some((swap.at, swap.removed, swap.added));
        Self { file: file.to_owned(), after: digest(after), swap, ..Self::default() }
    }

    /// The former text. None if this text is not the one that we left.
    pub fn undo(&self, text: &str) -> Option<String> {
        let (at, removed, added) = self.swap.clone().filter(|_| self.after == digest(text))?;
        Swap { at, removed, added }.undo(text)
    }

    /// The note, with the file, object and directories that an earlier note had already made.
    pub fn made_by(self, earlier: &Self) -> Self {
        let made_directories = earlier.made_directories.clone();
        let taken = earlier.taken.clone();
        Self { made_file: earlier.made_file, made_key: earlier.made_key, made_directories, taken, ..self }
    }

    /// The note, with these servers taken out of `before`.
    pub fn with_taken(mut self, taken: impl Iterator<Item = RemovedServer>, before: &str) -> Self {
        self.before = self.taken.is_empty().then(|| digest(before));
        self.taken.extend(taken);
        self
    }

    /// The whole text before servers were taken out of it. None if this text is not the one that we left, or
    /// if the copy is gone.
    pub fn untouched(&self, text: &str) -> Option<String> {
        let before = self.before.as_ref().filter(|_| self.after == digest(text))?;
        let kept = fs::read_to_string(&self.taken.first()?.copy).ok()?;
        (digest(&kept) == *before).then_some(kept)
    }

    /// The note without a swap, for a change that leads back to no earlier text.
    pub fn inexact(self) -> Self {
        Self { swap: None, ..self }
    }

    /// The note about a file. None if it cannot be read, since Harbor can do without it.
    pub fn load(paths: &Paths, file: &Path) -> Option<Self> {
        let text = fs::read(place(paths, file)).ok()?;
        serde_json::from_slice(&text).ok().filter(|note: &Self| note.file == file)
    }

    /// All notes.
    pub fn all(paths: &Paths) -> Vec<Self> {
        let entries = fs::read_dir(paths.home().join("clients")).into_iter().flatten().flatten();
        entries.filter_map(|entry| serde_json::from_slice(&fs::read(entry.path()).ok()?).ok()).collect()
    }

    /// Keeps it.
    pub fn save(&self, paths: &Paths) -> Result<(), Failure> {
        let text = serde_json::to_vec(self).map_err(io::Error::other);
        let text = text.map_err(|error| Failure::Io("note how to undo it", error))?;
        let path = place(paths, &self.file);
        let directory = path.parent().unwrap_or(paths.home());
        let saved = parent_directories::home_directory(paths.home())
            .and_then(|()| files::private_directory(directory))
            .and_then(|()| files::write_atomically(&path, &text));
        saved.map_err(|error| Failure::Io("note how to undo it", io::Error::other(error)))
    }

    /// Forgets it.
    pub fn forget(paths: &Paths, file: &Path) {
        let path = place(paths, file);
        let _ = fs::remove_file(&path);
        // Only the last one takes the directory with it.
        let _ = path.parent().map(fs::remove_dir);
    }
}

fn place(paths: &Paths, file: &Path) -> PathBuf {
    let name = digest(&file.to_string_lossy());
    paths.home().join("clients").join(format!("{}.json", &name[..16]))
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
