//! The files of models: those that a person names, and those that were fetched.
//!
//! Owns how a file is found by what was said, and what is seen of it. Must never read more of one than its first bytes, and
//! never on the loop.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use harbor_home::files::regular_file;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_policy::engine::ModelForm;

use super::errors::wrong;

/// Bytes that are read of a file.
const HEAD: usize = 16;

/// A file of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelFile {
    /// Its path, without symbolic links.
    pub path: String,
    pub form: ModelForm,
    pub bytes: u64,
    /// True if it is in the directory of the fetched models.
    pub is_ours: bool,
}

/// The file that a person means: a path, or the name of one that was fetched.
///
/// # Errors
/// Says why it is none.
pub(super) fn find(said: &str, ours: &Path) -> Result<ModelFile, ErrorBody> {
    let none = |why: &str| wrong("model_id", format!("{said} {why}"));
    let named = match said.contains('/') {
        true => PathBuf::from(said),
        false => by_name(said, ours).ok_or_else(|| {
            let why =
                "is no fetched model; `harbor models local` lists them, and a path names any other file";
            none(why)
        })?,
    };
    if !named.is_absolute() {
        return Err(none("is no absolute path"));
    }
    let unread = |error: std::io::Error| none(&format!("cannot be read: {error}"));
    let path = named.canonicalize().map_err(unread)?;
    let mut file = regular_file(&path).map_err(unread)?;
    let bytes = file.metadata().map_err(unread)?.len();
    let mut head = [0; HEAD];
    let read = file.read(&mut head).map_err(unread)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let form = ModelForm::of(&name, head.get(..read).unwrap_or_default()).map_err(none)?;
    let is_ours = ours.canonicalize().is_ok_and(|ours| path.parent() == Some(&ours));
    let path = path.to_str().map(str::to_owned).ok_or_else(|| none("is no text"))?;
    Ok(ModelFile { path, form, bytes, is_ours })
}

/// A fetched file, by its name or by that without its ending.
fn by_name(name: &str, ours: &Path) -> Option<PathBuf> {
    if name.starts_with('.') || name.is_empty() {
        return None;
    }
    let endings = ["", ".gguf", ".llamafile"];
    endings.iter().map(|ending| ours.join(format!("{name}{ending}"))).find(|path| path.is_file())
}

/// The name of a model in requests: that of its file without the ending.
pub(super) fn model_name(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = [".gguf", ".llamafile"].iter().find_map(|ending| name.strip_suffix(ending));
    stem.unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_its_path_and_a_fetched_one_by_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let ours = directory.path().join("models");
        std::fs::create_dir(&ours).unwrap();
        std::fs::write(ours.join("a.gguf"), b"GGUF\x03\0\0\0more").unwrap();
        let elsewhere = directory.path().join("b.llamafile");
        std::fs::write(&elsewhere, b"#!/bin/sh\n").unwrap();
        for name in ["a", "a.gguf"] {
            let found = find(name, &ours).unwrap();
            assert_eq!((found.form, found.bytes, found.is_ours), (ModelForm::Gguf, 12, true));
            assert_eq!(model_name(&found.path), "a");
        }
        let found = find(elsewhere.to_str().unwrap(), &ours).unwrap();
        assert_eq!((found.form, found.is_ours), (ModelForm::Llamafile, false));
        // It is not waited for.
        let pipe = directory.path().join("pipe.gguf");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(find(pipe.to_str().unwrap(), &ours).is_err());
        for wrong in ["b", "", ".", "..", "../models/a.gguf", "/nowhere/x.gguf", "/"] {
            assert!(find(wrong, &ours).is_err(), "{wrong}");
        }
    }
}
