//! The script that Harbor keeps for a server, as a file for its interpreter.
//!
//! ```text
//!  definition (database, journal) ─► servers/ID/script/NAME.js, before a start
//! ```
//!
//! Owns this file. The definition has the text, so the file is only a copy: whatever was done to it, the next start has what was
//! added. Must never take anything from the file.

use std::fs;
use std::path::{Path, PathBuf};

use super::removal::remove_tree;
use super::{StoreError, private_directory, write_atomically};

/// Writes the script that the first of these arguments names, unless it is there. Anything else in the directory goes.
///
/// # Errors
/// When the file system refuses.
pub fn write(dir: &Path, args: &[String], script: &str) -> Result<(), StoreError> {
    let file = file(dir, args);
    let is_there = |found: fs::Metadata| found.is_file() && found.len() == script.len() as u64;
    let same = fs::symlink_metadata(&file).is_ok_and(is_there)
        && fs::read(&file).is_ok_and(|old| old == script.as_bytes());
    if same {
        return Ok(());
    }
    let _ = remove_tree(dir);
    private_directory(dir)?;
    Ok(write_atomically(&file, script.as_bytes())?)
}

/// These arguments, with the kept script in the place of the file that was added.
#[must_use]
pub fn in_place(dir: &Path, args: &[String]) -> Vec<String> {
    let own = file(dir, args).to_string_lossy().into_owned();
    std::iter::once(own).chain(args.iter().skip(1).cloned()).collect()
}

/// Its name is the one that its author knows: errors show it.
fn file(dir: &Path, args: &[String]) -> PathBuf {
    let name = args.first().map(Path::new).and_then(Path::file_name);
    dir.join(name.unwrap_or_else(|| "script.js".as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_what_was_added_whatever_was_done_to_it() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("script");
        let args = ["/x/hello.js".to_owned(), "--busy".to_owned(), "9".to_owned()];
        let now = || fs::read_to_string(&in_place(&dir, &args)[0]).unwrap();
        write(&dir, &args, "one").unwrap();
        assert_eq!(now(), "one");
        fs::write(dir.join("hello.js"), "two").unwrap();
        write(&dir, &args, "one").unwrap();
        assert_eq!(now(), "one");
        write(&dir, &["/x/other.js".to_owned()], "three").unwrap();
        assert!(!dir.join("hello.js").exists(), "of another definition");
        let placed =
            [dir.join("hello.js").to_string_lossy().into_owned(), "--busy".to_owned(), "9".to_owned()];
        assert_eq!(in_place(&dir, &args), placed);
    }
}
