//! A directory that an archive is unpacked into.
//!
//! Owns that nothing is written through a link: links are made when all files are there, and only in real directories.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::archive::Place;

/// The directory, and the links that are not made yet.
pub(super) struct Disk {
    root: PathBuf,
    links: Vec<(String, String)>,
}

impl Disk {
    /// Makes the directory.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        fs::create_dir(root)?;
        Ok(Self { root: root.to_owned(), links: Vec::new() })
    }

    /// Makes the links.
    pub(super) fn finish(self) -> Result<(), String> {
        for (path, target) in &self.links {
            let made = self.parent(path).and_then(|()| symlink(target, self.root.join(path)));
            made.map_err(|error| format!("the link {path} of the archive cannot be made: {error}"))?;
        }
        Ok(())
    }

    /// Makes the directories above a path. Each must be a real directory.
    fn parent(&self, path: &str) -> io::Result<()> {
        match path.rsplit_once('/') {
            Some((parent, _)) => self.directories(parent),
            None => Ok(()),
        }
    }

    fn directories(&self, path: &str) -> io::Result<()> {
        let mut at = self.root.clone();
        for part in path.split('/') {
            at.push(part);
            match at.symlink_metadata() {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
                Err(_) => DirBuilder::new().mode(0o755).create(&at)?,
            }
        }
        Ok(())
    }
}

impl Place for Disk {
    fn directory(&mut self, path: &str) -> io::Result<()> {
        self.directories(path)
    }

    /// Takes over no other bits of a mode, setuid among them.
    fn file(&mut self, path: &str, executable: bool, content: &mut dyn Read) -> io::Result<()> {
        self.parent(path)?;
        let mode = if executable { 0o755 } else { 0o644 };
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(mode).open(self.root.join(path))?;
        io::copy(content, &mut file).map(drop)
    }

    fn link(&mut self, path: &str, target: &str) -> io::Result<()> {
        self.links.push((path.to_owned(), target.to_owned()));
        Ok(())
    }

    fn second_name(&mut self, path: &str, of: &str) -> io::Result<()> {
        self.parent(path)?;
        fs::hard_link(self.root.join(of), self.root.join(path))
    }
}
