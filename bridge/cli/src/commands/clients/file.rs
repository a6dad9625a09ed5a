//! A client's configuration on disk: read whole, replaced whole.
//!
//! Owns that nobody ever sees half a file, that a link stays one, and that mode and owner stay. Must never write over
//! what somebody else has written since it was read.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown,
};
use std::path::{Path, PathBuf};
use std::process;

use harbor_client::errors::Failure;

/// A client that keeps more than this there keeps no configuration, in bytes.
const MAX_SIZE: u64 = 64 * 1024 * 1024;

/// Copies beside it that one person may have.
const MOST_COPIES: u32 = 1000;

/// A configuration file, as it was found.
#[derive(Debug)]
pub struct Found {
    /// Its real path: links are followed.
    pub path: PathBuf,
    /// None if the file does not exist yet.
    pub text: Option<String>,
}

/// A failure that is about a file.
pub fn failed(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::Io("use the configuration", io::Error::other(format!("{}: {why}", path.display())))
}

impl Found {
    /// Reads it.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let path = follow(path).map_err(|error| failed(path, &error))?;
        let text = content(&path).map_err(|error| failed(&path, &error))?;
        Ok(Self { path, text })
    }

    /// Replaces it, or makes it; returns the directories that had to be made, the uppermost first.
    pub fn write(&self, text: &str) -> Result<Vec<PathBuf>, Failure> {
        let made = Directories::make(&self.path).map_err(|error| failed(&self.path, &error))?;
        self.put(text).map_err(|error| failed(&self.path, &error))?;
        Ok(made.keep())
    }

    /// Keeps the read text in a new file beside it, for this person only. Returns its path once it is on disk.
    pub fn keep(&self) -> Result<PathBuf, Failure> {
        let text = self.text.as_deref().unwrap_or_default();
        let name = |n: u32| {
            let more = if n == 1 { String::new() } else { format!("-{n}") };
            let mut path = self.path.clone().into_os_string();
            path.push(format!(".before-harbor{more}"));
            PathBuf::from(path)
        };
        for copy in (1..=MOST_COPIES).map(name) {
            match write_new(&copy, text) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                written => return written.map(|()| copy.clone()).map_err(|error| failed(&copy, &error)),
            }
        }
        Err(failed(
            &name(1),
            &format!("there are already {MOST_COPIES} copies of it; remove those that you do not need"),
        ))
    }

    /// Removes it, and of these directories those that are empty then.
    pub fn remove(&self, directories: &[PathBuf]) -> Result<(), Failure> {
        let remove = || self.check_unchanged().and_then(|()| fs::remove_file(&self.path));
        remove().map_err(|error| failed(&self.path, &error))?;
        // One that is not empty stays, as it has to.
        directories.iter().rev().for_each(|directory| drop(fs::remove_dir(directory)));
        Ok(())
    }

    fn put(&self, text: &str) -> io::Result<()> {
        let temporary = Temporary::beside(&self.path)?;
        let mut file = &temporary.file;
        file.write_all(text.as_bytes())?;
        if let Ok(old) = self.path.metadata() {
            let new = file.metadata()?;
            if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
                fchown(file, Some(old.uid()), Some(old.gid()))?;
            }
            file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))?;
        }
        file.sync_all()?;
        self.check_unchanged()?;
        temporary.rename(&self.path)?;
        // A file system that cannot do it has renamed all the same.
        let _ = self.path.parent().map(File::open).transpose()?.map(|directory| directory.sync_all());
        Ok(())
    }

    /// A client may write its configuration at any time.
    fn check_unchanged(&self) -> io::Result<()> {
        match content(&self.path)? == self.text {
            true => Ok(()),
            false => Err(io::Error::other("it changed in the meantime; run the command again")),
        }
    }
}

/// Writes a new file to the disk. Removes it again if that fails.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).and_then(|()| {
        // A file system that cannot do it has the file all the same.
        let _ = path.parent().map(File::open).transpose()?.map(|directory| directory.sync_all());
        Ok(())
    });
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

/// The file behind links. For a missing file, the path by its name.
fn follow(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound => match path.symlink_metadata() {
            Ok(_) => Err(io::Error::other(
                "it is a symbolic link without a target; create the target or remove the link",
            )),
            Err(_) => follow_directories(&std::path::absolute(path)?),
        },
        found => found,
    }
}

/// The real path of a file that does not exist yet, whose directories may be links.
fn follow_directories(path: &Path) -> io::Result<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(follow(parent)?.join(name)),
        _ => Ok(path.to_owned()),
    }
}

fn content(path: &Path) -> io::Result<Option<String>> {
    // Not blocking: a named pipe in its place would hold us for ever.
    let opened = OpenOptions::new().read(true).custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits()).open(path);
    let file = match opened {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_SIZE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_SIZE {
        return Err(io::Error::other("it is larger than 64 MiB"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// Directories that go again unless they are kept.
struct Directories(Vec<PathBuf>);

impl Directories {
    fn make(file: &Path) -> io::Result<Self> {
        let missing: Vec<_> = file.ancestors().skip(1).take_while(|above| !above.exists()).collect();
        let mut made = Self(Vec::new());
        for directory in missing.into_iter().rev() {
            DirBuilder::new().mode(0o700).create(directory)?;
            made.0.push(directory.to_owned());
        }
        Ok(made)
    }

    fn keep(mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Directories {
    fn drop(&mut self) {
        self.0.iter().rev().for_each(|directory| drop(fs::remove_dir(directory)));
    }
}

/// A new file beside another one, removed unless it takes its place.
struct Temporary {
    path: PathBuf,
    file: File,
    renamed: bool,
}

impl Temporary {
    fn beside(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or_else(|| io::Error::other("it has no name"))?;
        let path = path.with_file_name(format!(".{}.harbor-{}", name.to_string_lossy(), process::id()));
        // From a run that was killed, if it is there at all: nobody else has this process id now.
        let _ = fs::remove_file(&path);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { path, file, renamed: false })
    }

    fn rename(mut self, to: &Path) -> io::Result<()> {
        fs::rename(&self.path, to)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(directory: &Path) -> Vec<String> {
        let names = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_link_stays_and_what_it_leads_to_keeps_its_mode() {
        let home = tempfile::tempdir().unwrap();
        let (link, real) = (home.path().join("link"), home.path().join("dotfiles/real"));
        fs::create_dir(real.parent().unwrap()).unwrap();
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
        symlink("dotfiles/real", &link).unwrap();
        let found = Found::read(&link).unwrap();
        assert_eq!(found.text.as_deref(), Some("old"));
        assert_eq!(found.write("new").unwrap(), [""; 0].map(PathBuf::from));
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(real.metadata().unwrap().mode() & 0o7777, 0o640);
        assert_eq!(names(real.parent().unwrap()), ["real"]);
    }

    #[test]
    fn what_changed_meanwhile_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f");
        fs::write(&path, "one").unwrap();
        let found = Found::read(&path).unwrap();
        fs::write(&path, "two").unwrap();
        let said = found.write("three").unwrap_err().message().unwrap();
        assert!(said.contains("it changed in the meantime"), "{said}");
        assert!(found.remove(&[]).is_err());
        assert_eq!(
            (fs::read_to_string(&path).unwrap(), names(home.path())),
            ("two".into(), vec!["f".into()])
        );
        let gone = Found::read(&home.path().join("a/b/c")).unwrap();
        fs::create_dir_all(home.path().join("a/b")).unwrap();
        fs::write(&gone.path, "come").unwrap();
        assert!(gone.write("x").is_err());
    }

    #[test]
    fn a_copy_is_private_and_in_the_place_of_no_other_one() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f");
        fs::write(&path, "one").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        // Also a link to nothing is in the way.
        symlink("elsewhere", home.path().join("f.before-harbor-2")).unwrap();
        let found = Found::read(&path).unwrap();
        let copies = [found.keep().unwrap(), found.keep().unwrap()];
        assert_eq!(copies, ["f.before-harbor", "f.before-harbor-3"].map(|name| home.path().join(name)));
        for copy in copies {
            assert_eq!(
                (fs::read_to_string(&copy).unwrap(), copy.metadata().unwrap().mode() & 0o777),
                ("one".into(), 0o600)
            );
        }
        assert!(!home.path().join("elsewhere").exists());
    }

    #[test]
    fn a_new_file_is_private_and_goes_with_its_directories() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b/c");
        let made = Found::read(&path).unwrap().write("x").unwrap();
        assert_eq!(made, [home.path().join("a"), home.path().join("a/b")]);
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o600);
        fs::write(home.path().join("a/other"), "").unwrap();
        Found::read(&path).unwrap().remove(&made).unwrap();
        assert_eq!(names(&home.path().join("a")), ["other"]);
    }

    #[test]
    fn what_is_no_file_of_text_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let said = |path: &Path| Found::read(path).unwrap_err().message().unwrap();
        assert!(said(home.path()).ends_with("it is not a file"));
        let path = home.path().join("f");
        fs::write(&path, [0xff]).unwrap();
        assert!(said(&path).ends_with("f: it is not UTF-8"));
        symlink("nothing", home.path().join("l")).unwrap();
        assert!(said(&home.path().join("l")).contains("it is a symbolic link without a target"));
        let large = home.path().join("large");
        File::create(&large).unwrap().set_len(MAX_SIZE + 1).unwrap();
        assert!(said(&large).ends_with("it is larger than 64 MiB"));
    }
}
