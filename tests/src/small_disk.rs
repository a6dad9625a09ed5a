//! A home on a small file system of its own, for tests that fill it. Needs root.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;
use std::thread;

use harbor_tests::Home;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};

/// The file system, which this process and its children see.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// One of so many MiB, at `HARBOR_HOME`.
    pub fn below(home: &Home, mib: u32) -> Self {
        unshare(CloneFlags::CLONE_NEWNS).unwrap();
        let none = None::<&str>;
        mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).unwrap();
        let path = home.path();
        fs::create_dir_all(&path).unwrap();
        let size = format!("size={mib}m,mode=700");
        mount(Some("none"), &path, Some("tmpfs"), MsFlags::empty(), Some(size.as_str())).unwrap();
        Self(path)
    }

    /// Takes all room that there is.
    pub fn fill(&self) {
        let mut filler = File::options().create(true).append(true).open(self.0.join("filler")).unwrap();
        let block = [1; 4096];
        let full = std::iter::repeat_with(|| filler.write_all(&block)).find_map(Result::err).unwrap();
        assert_eq!(full.kind(), ErrorKind::StorageFull);
    }

    /// Has it be mounted read-only, or as it was; refused while a file there is open to be written.
    pub fn make_read_only(&self, is_read_only: bool) -> nix::Result<()> {
        let flags = if is_read_only { MsFlags::MS_RDONLY } else { MsFlags::empty() };
        let none = None::<&str>;
        mount(none, &self.0, none, flags | MsFlags::MS_REMOUNT | MsFlags::MS_BIND, none)
    }

    /// Gives back what `fill` took.
    pub fn make_room(&self) {
        fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let gone = umount2(&self.0, MntFlags::MNT_DETACH);
        assert!(gone.is_ok() || thread::panicking());
    }
}
