//! File systems that are mounted, as the kernel tells it, and which of them a person can take away.
//!
//! ```text
//!  start ─► where do the granted places lie? ─► disks ─► the kernel tells of a change ─► which are mounted nowhere any more?
//! ```
//!
//! Owns reading that list. Must never look at a path itself: a file system that hangs would hang its reader.

use std::ffi::OsString;
use std::fs::{self, File};
use std::future::pending;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The list of this process's own mount namespace.
const LIST: &str = "/proc/self/mountinfo";

/// The kernel's own file systems.
const OF_THE_KERNEL: [&str; 3] = ["/dev", "/proc", "/sys"];

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The kernel's number of it.
    pub number: u64,
    /// The file system, as two numbers: `8:17`.
    pub device: String,
    /// Its place, as this process sees it.
    pub point: PathBuf,
}

/// All mounts that this process sees.
pub(crate) fn all() -> io::Result<Vec<Mount>> {
    Ok(parsed(&fs::read(LIST)?))
}

/// See proc_pid_mountinfo(5): `NUMBER PARENT DEVICE ROOT POINT …`.
fn parsed(list: &[u8]) -> Vec<Mount> {
    let lines = list.split(|byte| *byte == b'\n');
    let mount = |line: &[u8]| {
        let mut words = line.split(|byte| *byte == b' ');
        let mut number = || std::str::from_utf8(words.next()?).ok()?.parse().ok();
        let (number, _parent) = (number()?, number()?);
        let device = String::from_utf8(words.next()?.to_vec()).ok()?;
        let point = plain(words.nth(1)?);
        Some(Mount { number, device, point })
    };
    lines.filter_map(mount).collect()
}

/// The kernel writes spaces, line ends and backslashes as `\040` and the like.
fn plain(word: &[u8]) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::with_capacity(word.len()), word);
    while let Some((first, behind)) = rest.split_first() {
        let digits =
            behind.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[3..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

/// A file system that the person can unmount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    /// The file system, as in [`Mount::device`].
    pub(crate) device: String,
    /// The mount point when the server started.
    pub point: PathBuf,
}

/// The disks on which a server was granted something.
#[derive(Debug)]
pub struct Disks {
    changes: AsyncFd<File>,
    mounted: Vec<Disk>,
}

impl Disks {
    /// Finds the disks on which `granted` lies. The disks of `own` and of the machine's root stay mounted, so
    /// they are left out. Returns none if no disk is left, so that nobody waits in vain.
    ///
    /// # Errors
    /// When the kernel tells nothing.
    pub fn with(granted: &[PathBuf], own: &Path) -> io::Result<Option<Self>> {
        // Opened first: a change after the list was read is told.
        let changes = File::open(LIST)?;
        let mounted = disks(&all()?, granted, own);
        if mounted.is_empty() {
            return Ok(None);
        }
        // SAFETY: the AsyncFd owns the file, whose descriptor is the same for its whole life and closed after it was taken out
        // of the runtime; nothing here gives it away.
        #[allow(unsafe_code)]
        let changes = unsafe { AsyncFd::register_with_interest(changes, Interest::PRIORITY) };
        Ok(Some(Self { changes: changes?, mounted }))
    }

    /// Waits until some of them are mounted nowhere any more; each is told once.
    pub async fn unmounted(&mut self) -> Vec<Disk> {
        loop {
            let Ok(mut change) = self.changes.ready(Interest::PRIORITY).await else {
                // The runtime ends.
                return pending().await;
            };
            change.clear_ready();
            drop(change);
            let Ok(now) = all() else { continue };
            let is_gone = |disk: &mut Disk| !now.iter().any(|mount| mount.device == disk.device);
            let gone: Vec<_> = self.mounted.extract_if(.., is_gone).collect();
            if !gone.is_empty() {
                return gone;
            }
        }
    }
}

fn disks(mounts: &[Mount], granted: &[PathBuf], own: &Path) -> Vec<Disk> {
    let stays = [Path::new("/"), own].map(|path| holder(mounts, path).map(|mount| &mount.device));
    let mut disks: Vec<Disk> = Vec::new();
    for mount in granted.iter().filter_map(|path| holder(mounts, path)) {
        let is_kernels = OF_THE_KERNEL.iter().any(|path| mount.point.starts_with(path));
        let is_known = disks.iter().any(|disk| disk.device == mount.device);
        if !is_kernels && !is_known && !stays.contains(&Some(&mount.device)) {
            disks.push(Disk { device: mount.device.clone(), point: mount.point.clone() });
        }
    }
    disks
}

/// The mount that holds a path without links. Of several mounts at one place, the last one is seen.
fn holder<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.components().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEN: &str = "\
        21 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n\
        22 21 0:5 / /dev rw shared:2 - devtmpfs dev rw\n\
        23 21 254:1 / /home rw shared:3 - ext4 /dev/vdb rw\n\
        24 21 7:0 / /media/my\\040stick rw shared:4 - ext4 /dev/loop0 rw\n\
        25 24 7:1 /part /media/my\\040stick/in rw - vfat /dev/loop1 rw\n";

    #[test]
    fn the_kernels_words_are_read() {
        let mounts = parsed(SEEN.as_bytes());
        assert_eq!(mounts.len(), 5);
        let stick = Mount { number: 24, device: "7:0".into(), point: "/media/my stick".into() };
        assert_eq!(mounts[3], stick);
        assert_eq!(plain(br"a\134b\12"), Path::new(r"a\b\12"), "what is no number stays");
        assert!(all().unwrap().iter().any(|mount| mount.point == Path::new("/proc")));
    }

    #[test]
    fn only_what_can_be_taken_away_is_a_disk() {
        let mounts = parsed(SEEN.as_bytes());
        let found = |granted: &[&str]| {
            let granted: Vec<_> = granted.iter().map(PathBuf::from).collect();
            let found = disks(&mounts, &granted, "/home/u/.harbor/servers/s/tmp".as_ref());
            found.into_iter().map(|disk| disk.device).collect::<Vec<_>>()
        };
        assert_eq!(found(&["/usr", "/dev/null", "/home/u/notes", "/media"]), [""; 0]);
        assert_eq!(found(&["/media/my stick", "/media/my stick/a/b"]), ["7:0"]);
        assert_eq!(found(&["/media/my stick/in/a", "/media/my sticker"]), ["7:1"]);
    }
}
