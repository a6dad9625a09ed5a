//! Trees as somebody would make them who wants them to stay, or the bridge to go.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::thread;

use nix::fcntl::openat;
use nix::sys::stat::mkdirat;
use nix::unistd::{Uid, geteuid, mkfifo, setfsuid};
use tempfile::tempdir;

use super::*;

/// What no thread's stack would hold, frame by frame.
const DEEP: usize = 10_000;
/// Set for a process that only runs one test with other limits.
const ALONE: &str = "HARBOR_REMOVAL_ALONE";

/// Directories in each other, and a file in the last one.
fn dig(top: &Path, depth: usize, mode: Mode) {
    let flags = OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut here = open(top, flags, Mode::empty()).unwrap();
    for _ in 0..depth {
        mkdirat(&here, "d", Mode::S_IRWXU).unwrap();
        let below = openat(&here, "d", flags, Mode::empty()).unwrap();
        nix::sys::stat::fchmod(&here, mode).unwrap();
        here = below;
    }
    openat(&here, "file", OFlag::O_CREAT | OFlag::O_CLOEXEC, Mode::S_IRUSR).unwrap();
    nix::sys::stat::fchmod(&here, mode).unwrap();
}

/// Runs a test of this file in a process of its own, behind this line of a shell.
fn runs_alone(test: &str, first: &str) -> bool {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(format!("{first} && exec \"$0\" --exact \"$1\" --test-threads 1"));
    command.arg(program).arg(format!("store::removal::tests::{test}"));
    command.env(ALONE, "1").status().unwrap().success()
}

fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// Does it as somebody whom modes hold.
fn as_ordinary_user(work: impl FnOnce() + Send + 'static) {
    let done = thread::spawn(move || {
        if geteuid().is_root() {
            // Of this thread alone; its rights over files go with it.
            setfsuid(Uid::from_raw(65534));
        }
        work();
    });
    done.join().unwrap();
}

/// A program that is begun has all of root's rights again.
fn own(path: &Path, user: &str) {
    assert!(Command::new("chown").arg(user).arg(path).status().unwrap().success());
}

fn names_in(dir: &Path) -> usize {
    fs::read_dir(dir).unwrap().count()
}

#[test]
fn a_tree_deeper_than_any_stack_goes() {
    if !is_alone() {
        assert!(runs_alone("a_tree_deeper_than_any_stack_goes", "ulimit -Sn $(ulimit -Hn)"));
        return;
    }
    let scratch = tempdir().unwrap();
    let top = scratch.path().join("top");
    fs::create_dir(&top).unwrap();
    dig(&top, DEEP, Mode::S_IRWXU);
    remove_tree(&top).unwrap();
    assert_eq!(names_in(scratch.path()), 0);
}

#[test]
fn few_descriptors_are_enough() {
    if !is_alone() {
        assert!(runs_alone("few_descriptors_are_enough", "ulimit -Sn 64"));
        return;
    }
    let scratch = tempdir().unwrap();
    let top = scratch.path().join("top");
    for branch in ["a", "b", "c"] {
        let branch = top.join(branch);
        fs::create_dir_all(&branch).unwrap();
        dig(&branch, 1_000, Mode::S_IRWXU);
    }
    remove_tree(&top).unwrap();
    assert_eq!(names_in(scratch.path()), 0);
}

#[test]
fn a_wide_tree_goes() {
    let scratch = tempdir().unwrap();
    let top = scratch.path().join("top");
    for directory in 0..100 {
        let directory = top.join(directory.to_string());
        fs::create_dir_all(directory.join("empty")).unwrap();
        (0..10).for_each(|file| fs::write(directory.join(file.to_string()), "").unwrap());
    }
    // More than the kernel lists at once.
    (0..3_000).for_each(|file| fs::write(top.join(format!("f{file}")), "").unwrap());
    remove_tree(&top).unwrap();
    assert_eq!(names_in(scratch.path()), 0);
}

#[test]
fn modes_do_not_hold_their_owner() {
    as_ordinary_user(|| {
        let scratch = tempdir().unwrap();
        let top = scratch.path().join("top");
        for mode in [0o000, 0o100, 0o300, 0o400, 0o500, 0o600] {
            let directory = top.join(format!("{mode:o}"));
            fs::create_dir_all(directory.join("below")).unwrap();
            fs::write(directory.join("below/file"), "").unwrap();
            fs::set_permissions(directory.join("below/file"), Permissions::from_mode(0o000)).unwrap();
            fs::set_permissions(directory.join("below"), Permissions::from_mode(mode)).unwrap();
            fs::set_permissions(&directory, Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(top.join("deep")).unwrap();
        dig(&top.join("deep"), 200, Mode::empty());
        fs::set_permissions(&top, Permissions::from_mode(0o000)).unwrap();
        remove_tree(&top).unwrap();
        assert_eq!(names_in(scratch.path()), 0);
    });
}

#[test]
fn what_links_lead_to_stays() {
    let (scratch, outside) = (tempdir().unwrap(), tempdir().unwrap());
    let kept = outside.path().join("kept");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("file"), "kept").unwrap();
    let mode = kept.metadata().unwrap().permissions();
    let top = scratch.path().join("top");
    fs::create_dir_all(top.join("below")).unwrap();
    symlink(&kept, top.join("directory")).unwrap();
    symlink(kept.join("file"), top.join("below/file")).unwrap();
    symlink("../..", top.join("below/up")).unwrap();
    symlink("loop", top.join("loop")).unwrap();
    fs::hard_link(kept.join("file"), top.join("name")).unwrap();
    remove_tree(&top).unwrap();
    symlink(&kept, &top).unwrap();
    remove_tree(&top).unwrap();
    assert_eq!((names_in(scratch.path()), names_in(outside.path())), (0, 1));
    assert_eq!(fs::read(kept.join("file")).unwrap(), b"kept");
    assert_eq!(kept.metadata().unwrap().permissions(), mode);
}

#[test]
fn whatever_has_a_name_goes_whatever_the_name() {
    let scratch = tempdir().unwrap();
    let top = scratch.path().join("top");
    let named = |name: &[u8]| top.join(std::ffi::OsStr::from_bytes(name));
    let long = [b'x'; 255];
    let names: [&[u8]; 7] = [b"a\nb", b"\xff\xfe", b"...", b" ", b"-rf", b"\x1b[2J", &long];
    for name in names {
        fs::create_dir_all(named(name).join("below")).unwrap();
        fs::write(named(name).join("below/\n"), "").unwrap();
    }
    mkfifo(&named(b"fifo"), Mode::S_IRUSR).unwrap();
    let socket = UnixListener::bind(named(b"socket")).unwrap();
    remove_tree(&top).unwrap();
    drop(socket);
    assert_eq!(names_in(scratch.path()), 0);
}

/// Those that are moved up find names there already.
#[test]
fn names_that_are_taken_are_no_obstacle() {
    let scratch = tempdir().unwrap();
    let top = scratch.path().join("top");
    fs::create_dir_all(top.join(".removed-0/full")).unwrap();
    fs::write(top.join(".removed-1"), "").unwrap();
    fs::create_dir(top.join(".removed-2")).unwrap();
    fs::create_dir(top.join("deep")).unwrap();
    dig(&top.join("deep"), 300, Mode::S_IRWXU);
    dig(&top.join(".removed-0/full"), 300, Mode::S_IRWXU);
    remove_tree(&top).unwrap();
    assert_eq!(names_in(scratch.path()), 0);
}

#[test]
fn what_is_not_there_is_removed_already() {
    let scratch = tempdir().unwrap();
    remove_tree(&scratch.path().join("nothing")).unwrap();
    remove_tree(&scratch.path().join("nothing/at/all")).unwrap();
    fs::write(scratch.path().join("file"), "").unwrap();
    remove_tree(&scratch.path().join("file")).unwrap();
    assert_eq!(names_in(scratch.path()), 0);
    assert_eq!(remove_tree(Path::new("/")).unwrap_err().kind(), io::ErrorKind::InvalidInput);
}

/// If not, it is said on stderr itself, as the tests' harness shows nothing of what passes.
fn is_root(what: &str) -> bool {
    let is_root = geteuid().is_root();
    if !is_root {
        let _ = writeln!(io::stderr(), "left out: {what}: it needs root");
    }
    is_root
}

/// Root's own, in the tree of an ordinary user.
#[test]
fn what_cannot_be_removed_is_told_and_the_rest_goes() {
    if !is_root("what_cannot_be_removed_is_told_and_the_rest_goes") {
        return;
    }
    as_ordinary_user(|| {
        let scratch = tempdir().unwrap();
        let top = scratch.path().join("top");
        fs::create_dir_all(top.join("roots/own")).unwrap();
        dig(&top, 100, Mode::S_IRWXU);
        own(&top.join("roots"), "0");
        assert_eq!(remove_tree(&top).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!((names_in(&top), names_in(&top.join("roots"))), (1, 1));
        own(&top.join("roots"), "65534");
    });
}

/// What is mounted in the tree is nobody's to empty, though it be of the same file system.
#[test]
fn what_is_mounted_in_it_stays() {
    if !is_root("what_is_mounted_in_it_stays") {
        return;
    }
    let Some(scratch) = std::env::var_os("HARBOR_REMOVAL_MOUNTED").filter(|_| is_alone()) else {
        let scratch = tempdir().unwrap();
        fs::create_dir_all(scratch.path().join("top/below/mounted")).unwrap();
        fs::create_dir_all(scratch.path().join("kept")).unwrap();
        fs::write(scratch.path().join("kept/file"), "kept").unwrap();
        let path = scratch.path().display();
        let script = format!(
            "unshare --mount sh -c 'mount --bind {path}/kept {path}/top/below/mounted && \
             HARBOR_REMOVAL_MOUNTED={path} exec \"$0\" \"$@\"'"
        );
        let program = std::env::current_exe().unwrap();
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(format!("{script} \"$0\" --exact \"$1\"")).arg(program);
        command.arg("store::removal::tests::what_is_mounted_in_it_stays").env(ALONE, "1");
        assert!(command.status().unwrap().success());
        assert_eq!(fs::read(scratch.path().join("kept/file")).unwrap(), b"kept");
        return;
    };
    let top = Path::new(&scratch).join("top");
    fs::write(top.join("file"), "").unwrap();
    assert_eq!(remove_tree(&top).unwrap_err().kind(), io::ErrorKind::ResourceBusy);
    assert_eq!((names_in(&top), names_in(&top.join("below/mounted"))), (1, 1));
}
