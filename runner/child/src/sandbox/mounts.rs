//! A server's own view of the file system: read-only, with some directories that look empty.
//!
//! ```text
//!  /                    read-only, all of it
//!  /tmp, /var/tmp       the server's own temporary directory
//!  hidden directories   empty, but for what the server may reach below them
//!  writable paths       as they are
//! ```
//!
//! Owns the mounts of one mount namespace, which nobody else is in. Must run before Landlock, which refuses mounts,
//! and must never follow a symbolic link that somebody could have changed: paths come without any.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat2};
use nix::mount::{MsFlags, mount};

use super::Profile;
use super::private_places::Mounts;

/// Directories where programs expect temporary files.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// The size of a hidden directory that may be written, such as /dev/shm.
const PRIVATE: &str = "size=256m,nr_inodes=16384,mode=1777";

/// The size of a hidden directory that only leads to other mounts.
const EMPTY: &str = "size=4m,nr_inodes=16384,mode=0755";

/// A path that may be reached, held open from before the mounts that cover it.
struct Shown<'a> {
    path: &'a Path,
    place: File,
    is_dir: bool,
    writable: bool,
}

/// Arranges the view that `profile` asks for, in this process's mount namespace.
///
/// # Errors
/// Refusals of the kernel.
pub fn arrange(profile: &Profile, mounts: &Mounts) -> io::Result<()> {
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | propagation(profile.landlock), none)?;
    let covers = covers(profile, mounts);
    let tmp = held(&mounts.tmp).map_err(about(&mounts.tmp))?;
    let shown = shown(profile, &covers)?;
    let read_only = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID;
    set_attributes("/".as_ref(), libc::AT_RECURSIVE, read_only, 0).map_err(about("/".as_ref()))?;
    for cover in &covers {
        cover_up(cover, &tmp).map_err(about(cover.path))?;
    }
    let mut covered = Vec::new();
    for shown in &shown {
        cover_by_copy(shown, &mut covered).and_then(|()| show(shown)).map_err(about(shown.path))?;
    }
    for (path, target) in &mounts.links {
        link(path, target, &covers).map_err(about(path))?;
    }
    for cover in covers.iter().filter(|cover| cover.kind == CoverKind::Hidden) {
        set_attributes(cover.path, 0, read_only, 0).map_err(about(cover.path))?;
    }
    Ok(())
}

/// How mounts outside reach the server. An unmount by the person has to reach it, since the kernel writes a disk back
/// with its last mount. The kernel does that, except for the mounts that are bound here, which the runner unmounts.
/// New mounts come in as they are. Without Landlock, which restricts what may be reached of them, nothing comes in.
fn propagation(landlock: u32) -> MsFlags {
    if landlock > 0 { MsFlags::MS_SLAVE } else { MsFlags::MS_PRIVATE }
}

/// Names the path at which something failed.
fn about<E: Into<io::Error>>(path: &Path) -> impl Fn(E) -> io::Error {
    move |error| {
        let error = error.into();
        io::Error::new(error.kind(), format!("mounts, {}: {error}", path.display()))
    }
}

/// A directory over which something is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cover<'a> {
    path: &'a Path,
    kind: CoverKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CoverKind {
    /// Empty, and stays so.
    Hidden,
    /// Empty, and may be filled.
    Private,
    /// The server's own temporary directory.
    Temporary,
}

/// The places to cover, outer ones first. A place inside a covered one has vanished with it.
fn covers<'a>(profile: &Profile, mounts: &'a Mounts) -> Vec<Cover<'a>> {
    let may_write = |path: &Path| profile.shown().any(|(shown, writable)| shown == path && writable);
    let hidden = mounts.hidden.iter().map(|path| {
        let kind = if may_write(path) { CoverKind::Private } else { CoverKind::Hidden };
        Cover { path, kind }
    });
    let temporary = TEMPORARY.iter().map(|path| Cover { path: Path::new(*path), kind: CoverKind::Temporary });
    let mut all: Vec<_> = hidden.chain(temporary).filter(|cover| is_plain_directory(cover.path)).collect();
    all.sort();
    let mut covers: Vec<Cover<'_>> = Vec::new();
    for cover in all {
        if !covers.iter().any(|outer| cover.path.starts_with(outer.path)) {
            covers.push(cover);
        }
    }
    covers
}

/// True for a directory that is no link. A link, such as /var/tmp sometimes is, leads to a place that is covered itself.
fn is_plain_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// The places that must be mounted to be seen, or to be written: outer paths first.
fn shown<'a>(profile: &'a Profile, covers: &[Cover<'_>]) -> io::Result<Vec<Shown<'a>>> {
    let mut all = Vec::new();
    for (path, writable) in profile.shown() {
        let is_covered = covers.iter().any(|cover| path.starts_with(cover.path));
        let is_cover = covers.iter().any(|cover| path == cover.path);
        if is_cover || !is_covered && !writable {
            continue;
        }
        match held(path) {
            Ok(place) => {
                let is_dir = place.metadata()?.is_dir();
                all.push(Shown { path, place, is_dir, writable });
            }
            Err(Errno::ENOENT | Errno::ENOTDIR) => {}
            Err(error) => return Err(about(path)(error)),
        }
    }
    all.sort_by(|one, other| one.path.cmp(other.path));
    Ok(all)
}

/// The place itself, without any right to it. A link on the way there would have been made since the path was judged.
fn held(path: &Path) -> nix::Result<File> {
    let how = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    openat2(AT_FDCWD, path, how).map(File::from)
}

fn cover_up(cover: &Cover<'_>, tmp: &File) -> io::Result<()> {
    let size = match cover.kind {
        CoverKind::Temporary => {
            bind(tmp, cover.path)?;
            return writable_again(cover.path);
        }
        CoverKind::Private => PRIVATE,
        CoverKind::Hidden => EMPTY,
    };
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    Ok(mount(Some("tmpfs"), cover.path, Some("tmpfs"), flags, Some(size))?)
}

/// Binds the mount in which `shown` lies over itself, so that `shown` is bound in the copy. When the person
/// unmounts a mount, the kernel keeps it if another mount is inside it, and releases it if one is on top of
/// it. The runner unmounts the copy (see [`unmounting`](crate::unmounting)).
fn cover_by_copy<'a>(shown: &Shown<'a>, covered: &mut Vec<&'a Path>) -> io::Result<()> {
    let device = shown.place.metadata()?.dev();
    let is_on_it = |path: &&Path| fs::symlink_metadata(path).is_ok_and(|found| found.dev() == device);
    let top = shown.path.ancestors().skip(1).take_while(is_on_it).last();
    // The machine's root stays, whatever the person does.
    let Some(top) = top.filter(|top| top.parent().is_some() && !covered.contains(top)) else { return Ok(()) };
    bind(&held(top)?, top)?;
    covered.push(top);
    Ok(())
}

/// Makes a whole disk writable that is already seen at its place. False for anything else. Without a bind,
/// the kernel itself unmounts it with the person's mount.
fn opened_whole(shown: &Shown<'_>) -> io::Result<bool> {
    let there = held(shown.path)?;
    let number = |file: &File| file.metadata().map(|found| (found.dev(), found.ino()));
    // The kernel takes nothing but the root of a mount.
    Ok(number(&there)? == number(&shown.place)? && writable_again(&way_to(&there)).is_ok())
}

fn show(shown: &Shown<'_>) -> io::Result<()> {
    if !shown.path.exists() {
        make_place_for(shown)?;
    }
    if shown.writable && opened_whole(shown)? {
        return Ok(());
    }
    bind(&shown.place, shown.path)?;
    if shown.writable { writable_again(shown.path) } else { Ok(()) }
}

/// Only where it has been covered: elsewhere it is there.
fn link(path: &Path, target: &Path, covers: &[Cover<'_>]) -> io::Result<()> {
    let is_covered = covers.iter().any(|cover| path != cover.path && path.starts_with(cover.path));
    if !is_covered || fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(Path::new("/"));
    fs::DirBuilder::new().recursive(true).mode(0o755).create(parent)?;
    std::os::unix::fs::symlink(target, path)
}

fn make_place_for(shown: &Shown<'_>) -> io::Result<()> {
    let parent = shown.path.parent().unwrap_or(Path::new("/"));
    fs::DirBuilder::new().recursive(true).mode(0o755).create(parent)?;
    match shown.is_dir {
        true => fs::DirBuilder::new().mode(0o755).create(shown.path),
        false => File::create(shown.path).map(drop),
    }
}

/// Mounts below the place come along: parts of a tree from another user's namespace cannot be taken alone.
fn bind(place: &File, target: &Path) -> io::Result<()> {
    let none: Option<&str> = None;
    Ok(mount(Some(&way_to(place)), target, none, MsFlags::MS_BIND | MsFlags::MS_REC, none)?)
}

/// A path that leads to what is held open, whatever lies on top of it.
fn way_to(place: &File) -> PathBuf {
    format!("/proc/self/fd/{}", place.as_raw_fd()).into()
}

/// Makes a mount writable again. A place that the machine itself mounts read-only stays read-only.
fn writable_again(path: &Path) -> io::Result<()> {
    match set_attributes(path, 0, 0, libc::MOUNT_ATTR_RDONLY) {
        Err(Errno::EPERM) => Ok(()),
        set => Ok(set?),
    }
}

fn set_attributes(path: &Path, flags: libc::c_int, set: u64, clear: u64) -> nix::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::EINVAL)?;
    let attributes = libc::mount_attr { attr_set: set, attr_clr: clear, propagation: 0, userns_fd: 0 };
    // SAFETY: both pointers are to live values, and the size given is that of the structure.
    #[allow(unsafe_code)]
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of_val(&attributes),
        )
    };
    Errno::result(result).map(drop)
}
