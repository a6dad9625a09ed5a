//! locks/: each installation's lock in a file that is named by its hash.
//!
//! ```text
//!  locks/9f86d0…   {"kind":"npm","requested":"a","spec":"a@1.2.3", …, "tree":"{…package-lock.json…}"}
//! ```
//!
//! A tree may have megabytes, and the journal is replaced with each change: so rows of both have the name, and a file never
//! changes. It is whole before a row names it, and goes after no row does. Owns that directory. Must never give out a text whose
//! hash is not its name, nor follow a link.

use std::path::{Path, PathBuf};

use harbor_ipc_proto::hex::hex;
use sha2::{Digest as _, Sha256};

use super::super::lines::{open_to_read, read_block};
use super::super::lock_names::is_name;
use super::super::{StoreError, own_directory, write_durably};

/// No lock has more bytes: its tree has four million at most, of which JSON can make more.
const MAX: u64 = 64 << 20;

/// The directory.
#[derive(Debug, Clone)]
pub(in crate::store) struct LockFiles(PathBuf);

impl LockFiles {
    pub fn at(dir: &Path) -> Self {
        Self(dir.to_owned())
    }

    /// Stores a lock's text. Returns its name.
    pub fn put(&self, text: &[u8]) -> Result<String, StoreError> {
        own_directory(&self.0)?;
        let name = hex(&Sha256::digest(text));
        if self.get(&name).is_err() {
            write_durably(&self.0.join(&name), text)?;
        }
        Ok(name)
    }

    /// The text with that name, or the reason why there is none.
    pub fn get(&self, name: &str) -> Result<Vec<u8>, String> {
        if !is_name(name) {
            return Err("the row that names it is damaged".into());
        }
        let path = self.0.join(name);
        let read =
            open_to_read(&path).and_then(|(file, _)| read_block(&file, 0, file.metadata()?.len().min(MAX)));
        let text = read.map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        let is_it = hex(&Sha256::digest(&text)) == name;
        if is_it { Ok(text) } else { Err(format!("{} is not what Harbor stored", path.display())) }
    }

    /// Removes all files but these, and what an interrupted write has left.
    pub fn keep_only(&self, names: &[String]) {
        for entry in self.0.read_dir().into_iter().flatten().flatten() {
            let file = entry.file_name();
            let Some(name) = file.to_str() else { continue };
            let is_ours = is_name(name.strip_suffix(".new").unwrap_or(name));
            if is_ours && !names.iter().any(|kept| kept == name) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_given_out_has_the_hash_that_it_is_named_by() {
        let home = tempfile::tempdir().unwrap();
        let files = LockFiles::at(&home.path().join("locks"));
        let name = files.put(b"one").unwrap();
        let path = home.path().join("locks").join(&name);
        assert_eq!(files.get(&name).unwrap(), b"one");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, "two").unwrap();
        assert!(files.get(&name).unwrap_err().contains("is not what Harbor stored"));
        assert_eq!(files.put(b"one").unwrap(), name, "it is mended");
        assert_eq!(files.get(&name).unwrap(), b"one");

        // The right bytes, at the end of a link.
        fs::rename(&path, home.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(home.path().join("elsewhere"), &path).unwrap();
        assert!(files.get(&name).unwrap_err().contains("cannot be read"));
        for wrong in ["", "../harbor.db", &name[1..], &name.to_uppercase()] {
            assert!(files.get(wrong).unwrap_err().contains("damaged"), "{wrong}");
        }
    }

    #[test]
    fn what_no_row_names_goes_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let files = LockFiles::at(home.path());
        let [one, two] = [b"one", b"two"].map(|text| files.put(text).unwrap());
        fs::write(home.path().join(format!("{two}.new")), "half").unwrap();
        fs::write(home.path().join("notes"), "mine").unwrap();
        files.keep_only(std::slice::from_ref(&one));
        let mut left: Vec<_> = home
            .path()
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [one, "notes".to_owned()]);
    }
}
