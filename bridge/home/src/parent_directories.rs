//! The directories above Harbor's own.
//!
//! Owns the check that no other user can replace what lies there, and the making of the home. Must never
//! change what is above it.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::unistd::{getegid, geteuid};

use crate::files::{FileError, private_directory};

/// The owner of files that belong to no user of this user namespace.
const NOBODY: u32 = 65_534;

/// The sticky bit. Without it, anybody who may write a directory may move its files away.
const STICKY: u32 = 0o1000;

/// Checks that only this user and root can replace the file at `path`, which `variable` names.
///
/// # Errors
/// Says which directory lets others do that.
pub fn is_ours_alone(path: &Path, variable: &str) -> Result<(), FileError> {
    let above = || path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    // Where links lead, and what is above that.
    let place = path.ancestors().find_map(|above| above.canonicalize().ok());
    let real = place.iter().flat_map(|place| place.ancestors().skip(usize::from(path.exists())));
    let link = path.is_symlink().then_some(path);
    for directory in link.into_iter().chain(above()).chain(real) {
        let leads_to = if Some(directory) == link { None } else { fs::metadata(directory).ok() };
        for found in directory.symlink_metadata().into_iter().chain(leads_to) {
            if let Some(why) = why_not(&found) {
                let why = format!(
                    "{why}, so they could replace {}; set {variable} to a directory below one that only you can write to",
                    path.display()
                );
                return Err(FileError::of("use", directory)(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    why,
                )));
            }
        }
    }
    Ok(())
}

/// Creates the home for this user only. An existing home stays unchanged, but only this user may own it and
/// write to it: `HARBOR_HOME=/tmp` is a mistake that must not come true.
///
/// # Errors
/// When it is not, or the file system refuses.
pub fn home_directory(path: &Path) -> Result<(), FileError> {
    is_ours_alone(path, "HARBOR_HOME")?;
    let Ok(found) = path.metadata() else { return private_directory(path) };
    if found.uid() == geteuid().as_raw() && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    let why = "it is another user's, or others may write to it; set HARBOR_HOME to a directory that you own";
    Err(FileError::of("use", path)(io::Error::new(io::ErrorKind::PermissionDenied, why)))
}

fn why_not(found: &Metadata) -> Option<String> {
    let owner = found.uid();
    let is_nobodys = owner == NOBODY && is_in_a_namespace();
    if ![0, geteuid().as_raw()].contains(&owner) && !is_nobodys {
        return Some(format!("it is another user's ({owner})"));
    }
    // Many systems give each user a group of its own, with the user's number, and let it write: nobody else is in it.
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let own_group = user != 0 && found.gid() == user && group == user;
    let others = if own_group { 0o002 } else { 0o022 };
    let is_open = found.is_dir() && found.mode() & others != 0 && found.mode() & STICKY == 0;
    is_open.then(|| format!("others may write to it (its mode is {:o})", found.mode() & 0o7777))
}

/// True in a user namespace where some users have no number. Root may be one of them.
fn is_in_a_namespace() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().collect::<Vec<_>>() != ["0", "0", "4294967295"]
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_home_that_others_may_write_to_is_refused_and_left_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        fs::set_permissions(home.path(), Permissions::from_mode(0o1777)).unwrap();
        assert!(home_directory(home.path()).is_err());
        assert_eq!(home.path().metadata().unwrap().permissions().mode() & 0o7777, 0o1777);
        assert!(home_directory(&home.path().join("new")).is_ok());
    }

    #[test]
    fn what_is_above_is_nobody_elses_to_write() {
        let place = tempfile::tempdir().unwrap();
        let (open, link) = (place.path().join("open"), place.path().join("link"));
        fs::create_dir_all(open.join("a/b")).unwrap();
        symlink(open.join("a"), &link).unwrap();
        let with = |mode| fs::set_permissions(&open, Permissions::from_mode(mode)).unwrap();
        let why = |path: &Path| is_ours_alone(path, "HARBOR_HOME").err().map(|error| error.to_string());
        let paths =
            [open.join("a/b"), open.join("new"), open.join("a/new/newer"), link.join("b"), link.clone()];
        for mode in [0o777, 0o775, 0o757] {
            with(mode);
            for path in &paths {
                let why = why(path).unwrap();
                assert!(
                    why.contains(&format!("/open: others may write to it (its mode is {mode:o})")),
                    "{path:?}: {why}"
                );
            }
        }
        for mode in [0o700, 0o755, 0o1777] {
            with(mode);
            assert!(paths.iter().all(|path| why(path).is_none()));
        }
        with(0o777);
        assert_eq!(why(&open), None, "what it is itself is looked at by who uses it");
    }
}
