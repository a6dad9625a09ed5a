//! File systems of this process's own: a small one for a home, for whoever fills it, and mounts that come and go. Needs the right to mount.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;
use std::thread;

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};

use crate::Home;

/// From now on what this thread, threads that it starts and their children mount is nobody else's. `flags` say whether the children's
/// own namespaces hear of it: `MS_SHARED`, as systemd has it, or `MS_PRIVATE`.
///
/// # Errors
/// When the kernel does not allow it.
pub fn own_mounts(flags: MsFlags) -> Result<(), Errno> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    let none = None::<&str>;
    for flags in [MsFlags::MS_PRIVATE, flags] {
        mount(none, "/", none, MsFlags::MS_REC | flags, none)?;
    }
    Ok(())
}

/// The file system, which this process and its children see.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// One of so many MiB, at `HARBOR_HOME`.
    ///
    /// # Panics
    /// When the kernel does not allow it.
    #[must_use]
    pub fn below(home: &Home, mib: u32) -> Self {
        own_mounts(MsFlags::MS_PRIVATE).and_then(|()| Self::at(home, mib)).expect("root may mount")
    }

    /// The same in mounts that are this process's own already.
    ///
    /// # Errors
    /// When the kernel does not allow it.
    ///
    /// # Panics
    /// When there is no room for a directory.
    pub fn at(home: &Home, mib: u32) -> Result<Self, Errno> {
        let path = home.path();
        fs::create_dir_all(&path).expect("a directory can be made there");
        let size = format!("size={mib}m,mode=700");
        mount(Some("none"), &path, Some("tmpfs"), MsFlags::empty(), Some(size.as_str()))?;
        Ok(Self(path))
    }

    /// Takes all room that there is.
    ///
    /// # Panics
    /// When something else is wrong with it.
    pub fn fill(&self) {
        let mut filler =
            File::options().create(true).append(true).open(self.0.join("filler")).expect("a file");
        let block = [1; 4096];
        let full = std::iter::repeat_with(|| filler.write_all(&block)).find_map(Result::err);
        assert_eq!(full.map(|full| full.kind()), Some(ErrorKind::StorageFull));
    }

    /// Has it be mounted read-only, or as it was; refused while a file there is open to be written.
    pub fn make_read_only(&self, is_read_only: bool) -> nix::Result<()> {
        let flags = if is_read_only { MsFlags::MS_RDONLY } else { MsFlags::empty() };
        let none = None::<&str>;
        mount(none, &self.0, none, flags | MsFlags::MS_REMOUNT | MsFlags::MS_BIND, none)
    }

    /// Gives back what `fill` took.
    ///
    /// # Panics
    /// When it took nothing.
    pub fn make_room(&self) {
        fs::remove_file(self.0.join("filler")).expect("it was filled");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let gone = umount2(&self.0, MntFlags::MNT_DETACH);
        assert!(gone.is_ok() || thread::panicking());
    }
}
