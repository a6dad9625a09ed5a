//! Which Harbor this is among all others.
//!
//! Owns the names of a home. Must never take its lock: `harbor_bridge::store::instance` does.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;

use harbor_ipc_proto::hex::hex;
use sha2::{Digest as _, Sha256};

use crate::Paths;

/// Bytes of randomness in a token.
const TOKEN_BYTES: usize = 32;

/// The mark by which processes of this home are known: 16 hexadecimal digits. The same however the home is written;
/// it has to exist for that.
#[must_use]
pub fn mark(paths: &Paths) -> String {
    let home = paths.home().canonicalize().unwrap_or_else(|_| paths.home().to_owned());
    hex(&Sha256::digest(home.as_os_str().as_encoded_bytes())[..8])
}

/// The identity of this Harbor among all Harbors, until this machine starts again: 16 hexadecimal digits that
/// no other home has, on whatever machine. The mark does not do for that: people have their homes at the same
/// path everywhere.
#[must_use]
pub fn identity(paths: &Paths) -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let place = std::fs::metadata(paths.home()).map(|home| (home.dev(), home.ino())).ok();
    hex(&Sha256::digest(format!("{boot} {place:?} {}", mark(paths)))[..8])
}

/// Random bytes as text, too many to be guessed.
///
/// # Errors
/// When the system has none.
pub fn random_token() -> io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn mark_and_identity_are_the_same_however_the_home_is_written() {
        let place = tempfile::tempdir().unwrap();
        let (home, link) = (place.path().join("home"), place.path().join("link"));
        std::fs::create_dir(&home).unwrap();
        std::os::unix::fs::symlink(&home, &link).unwrap();
        let of = |path: &Path| (mark(&Paths::at(path)), identity(&Paths::at(path)));
        assert_eq!(of(&home), of(&link));
        assert_eq!(of(&home), of(&home.join("")));
        assert!(of(&home).0 != of(place.path()).0 && of(&home).1 != of(place.path()).1);
        let before = of(&home);
        std::fs::rename(&home, place.path().join("old")).unwrap();
        std::fs::create_dir(&home).unwrap();
        assert!(of(&home).0 == before.0 && of(&home).1 != before.1, "another home at the same path");
    }
}
