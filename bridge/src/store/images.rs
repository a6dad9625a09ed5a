//! The image that a server runs, as it was pinned when it was first found.
//!
//! ```text
//!  servers/ID/image/image.json    whole or not there
//! ```
//!
//! Owns this file; harbor.db has nothing of it, so it outlives that. Must never guess: a pin that cannot be read is not none,
//! which would be replaced by whatever the name means now.

use std::fs;
use std::io;
use std::path::Path;

use harbor_policy::container::{Engine, Pinned};
use serde::{Deserialize, Serialize};

use super::definitions::Image;
use super::{StoreError, private_directory, write_atomically};

/// The file's name.
const FILE: &str = "image.json";

/// The limit for reading such a file. Real ones are shorter.
const MAX: u64 = 16 * 1024;

#[derive(Serialize, Deserialize)]
struct ImageRow {
    reference: String,
    engine: String,
    id: String,
    digest: Option<String>,
    rootless: bool,
}

/// The image that was pinned for this definition in this directory, if one was and can be read.
#[must_use]
pub fn pinned(image: &Image, dir: &Path) -> Option<Pinned> {
    look(image, dir).ok().flatten()
}

/// The pinned image. None if there is no pin, or only a pin for another definition.
///
/// # Errors
/// Why the pin that is there cannot be read.
pub fn look(image: &Image, dir: &Path) -> Result<Option<Pinned>, String> {
    let path = dir.join(FILE);
    let why = |what: &dyn std::fmt::Display| format!("{} cannot be read: {what}", path.display());
    let found = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(|error| why(&error))?,
    };
    if !found.is_file() || found.len() > MAX {
        return Err(why(&"its content is not in Harbor's form"));
    }
    let text = fs::read(&path).map_err(|error| why(&error))?;
    let kept: ImageRow = serde_json::from_slice(&text).map_err(|error| why(&error))?;
    let is_id =
        kept.id.strip_prefix("sha256:").is_some_and(|hash| hash.bytes().all(|b| b.is_ascii_hexdigit()));
    let engine =
        Engine::of(&kept.engine).filter(|_| is_id).ok_or_else(|| why(&"it does not name an image"))?;
    let is_meant = kept.reference == image.reference && image.engine().is_none_or(|named| named == engine);
    Ok(is_meant.then_some(Pinned {
        reference: kept.reference,
        engine,
        id: kept.id,
        digest: kept.digest,
        rootless: kept.rootless,
    }))
}

/// Pins an image in this directory.
///
/// # Errors
/// When the file system refuses.
pub fn pin(pinned: &Pinned, dir: &Path) -> Result<(), StoreError> {
    private_directory(dir)?;
    let kept = ImageRow {
        reference: pinned.reference.clone(),
        engine: pinned.engine.as_str().into(),
        id: pinned.id.clone(),
        digest: pinned.digest.clone(),
        rootless: pinned.rootless,
    };
    let path = dir.join(FILE);
    let text = serde_json::to_vec(&kept).map_err(|error| StoreError::File {
        what: format!("write {}", path.display()),
        source: error.into(),
    })?;
    Ok(write_atomically(&path, &text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_pinned_for_what_it_was_pinned_for() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("package");
        let image = |reference: &str, engine: Option<&str>| Image {
            reference: reference.into(),
            engine: engine.map(Into::into),
        };
        assert_eq!(pinned(&image("a", None), &dir), None);
        let id = format!("sha256:{}", "0a".repeat(32));
        let whole = Pinned {
            reference: "a".into(),
            engine: Engine::Podman,
            id,
            digest: Some("docker.io/library/a@sha256:1".into()),
            rootless: true,
        };
        pin(&whole, &dir).unwrap();
        assert_eq!(pinned(&image("a", None), &dir).as_ref(), Some(&whole));
        assert_eq!(pinned(&image("a", Some("podman")), &dir).as_ref(), Some(&whole));
        assert_eq!(pinned(&image("a", Some("docker")), &dir), None);
        assert_eq!(pinned(&image("b", None), &dir), None);
        fs::remove_file(dir.join(FILE)).unwrap();
        assert_eq!(look(&image("a", None), &dir), Ok(None));
        pin(&Pinned { id: "--privileged".into(), ..whole }, &dir).unwrap();
        assert!(look(&image("a", None), &dir).is_err());
        fs::write(dir.join(FILE), "{").unwrap();
        assert!(look(&image("a", None), &dir).is_err());
        assert_eq!(pinned(&image("a", None), &dir), None);
    }
}
