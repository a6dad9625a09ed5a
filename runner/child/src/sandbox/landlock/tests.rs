//! What the kernel refuses to a thread that has restricted itself, for each version that this kernel offers.

use super::*;

use std::fs::{self, File, OpenOptions};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::kill;
use nix::sys::stat::{Mode, mknod};
use nix::unistd::Pid;

/// The versions up to this kernel's.
fn offered() -> std::ops::RangeInclusive<u32> {
    assert!(abi() >= 6, "these tests say nothing on a kernel without Landlock");
    1..=abi()
}

/// A directory with `read`, `write` and `other` below, in each a file `file`.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("harbor-landlock-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let place = Self(fs::canonicalize(std::env::temp_dir()).unwrap().join(name));
        for directory in ["read", "write", "other"] {
            fs::create_dir_all(place.at(directory)).unwrap();
            fs::write(place.at(directory).join("file"), directory).unwrap();
        }
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn rules(&self) -> Vec<LandlockRule> {
        vec![rule(self.at("read"), Access::Read), rule(self.at("write"), Access::Write)]
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn rule(path: impl Into<PathBuf>, access: Access) -> LandlockRule {
    LandlockRule { path: path.into(), access }
}

/// In a thread of its own, which is as far as Landlock goes.
fn restricted<T: Send>(
    abi: u32,
    rules: &[LandlockRule],
    bind_tcp: bool,
    what: impl FnOnce() -> T + Send,
) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            restrict(abi, rules, bind_tcp).unwrap();
            what()
        });
        thread.join().unwrap()
    })
}

/// The error, 0 without one.
fn errno<T>(result: io::Result<T>) -> i32 {
    result.map_or_else(|error| error.raw_os_error().unwrap_or(-1), |_| 0)
}

fn of(result: nix::Result<()>) -> i32 {
    errno(result.map_err(io::Error::from))
}

#[test]
fn only_what_a_rule_names_can_be_read_or_written() {
    for abi in offered() {
        let place = Place::new();
        let device = Mode::from_bits_truncate(0o600);
        let seen = restricted(abi, &place.rules(), true, || {
            [
                errno(fs::read(place.at("read/file"))),
                errno(fs::read_dir(place.at("read"))),
                errno(OpenOptions::new().write(true).open(place.at("read/file"))),
                errno(File::create(place.at("read/new"))),
                errno(fs::remove_file(place.at("read/file"))),
                errno(fs::write(place.at("write/new"), "new")),
                errno(fs::create_dir(place.at("write/directory"))),
                errno(symlink("../other/file", place.at("write/link"))),
                errno(fs::read(place.at("write/link"))),
                errno(fs::remove_file(place.at("write/new"))),
                of(mknod(&place.at("write/pipe"), SFlag::S_IFIFO, device, 0)),
                of(mknod(&place.at("write/null"), SFlag::S_IFCHR, device, 0x103)),
                errno(fs::read(place.at("other/file"))),
                errno(fs::read_dir(place.at("other"))),
                errno(fs::read("/etc/passwd")),
            ]
        });
        let no = libc::EACCES;
        assert_eq!(seen, [0, 0, no, no, no, 0, 0, 0, no, 0, 0, no, no, no, no], "ABI {abi}");
    }
}

#[test]
fn a_program_is_executed_where_it_can_be_read() {
    let system = ["/usr", "/bin", "/lib", "/lib64", "/etc"];
    let rules: Vec<_> = system.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    let rules: Vec<_> = rules.into_iter().map(|path| rule(path, Access::Read)).collect();
    let place = Place::new();
    let program = place.at("other/true");
    // By a process of its own: another test's child that begins just now would hold a file that this one writes.
    assert!(Command::new("cp").arg("/bin/true").arg(&program).status().unwrap().success());
    let run = |path: &Path| {
        let mut command = Command::new(path);
        // Opening /dev/null is the parent's.
        let command = command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
        errno(command.status())
    };
    let seen = restricted(1, &rules, true, || [run(Path::new("/bin/true")), run(&program)]);
    assert_eq!(seen, [0, libc::EACCES]);
}

#[test]
fn renaming_across_directories_takes_version_two() {
    for abi in offered() {
        let place = Place::new();
        fs::create_dir(place.at("write/below")).unwrap();
        let seen = restricted(abi, &place.rules(), true, || {
            [
                errno(fs::rename(place.at("write/file"), place.at("write/below/file"))),
                errno(fs::hard_link(place.at("read/file"), place.at("write/link"))),
            ]
        });
        assert_eq!(seen, if abi < 2 { [libc::EXDEV; 2] } else { [0, libc::EXDEV] }, "ABI {abi}");
    }
}

#[test]
fn truncating_what_can_be_read_is_refused_from_version_three() {
    for abi in offered() {
        let place = Place::new();
        let seen =
            restricted(abi, &place.rules(), true, || of(nix::unistd::truncate(&place.at("read/file"), 0)));
        assert_eq!(seen, if abi < 3 { 0 } else { libc::EACCES }, "ABI {abi}");
    }
}

#[test]
fn binding_is_refused_from_version_four_and_connecting_never() {
    let server = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let free = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let address = server.local_addr().unwrap();
    for abi in offered() {
        for bind_tcp in [false, true] {
            if abi < 4 && !bind_tcp {
                assert_eq!(errno(restrict(abi, &[], bind_tcp)), libc::EOPNOTSUPP);
                continue;
            }
            let seen = restricted(abi, &[], bind_tcp, || {
                [errno(TcpListener::bind(free)), errno(TcpStream::connect(address))]
            });
            assert_eq!(seen, [if bind_tcp { 0 } else { libc::EACCES }, 0], "ABI {abi}");
        }
    }
}

#[test]
fn a_device_is_used_and_controlled_but_not_made_or_removed() {
    for abi in offered() {
        let rules = [rule("/dev/null", Access::Device), rule("/dev/zero", Access::Read)];
        let seen = restricted(abi, &rules, true, || {
            let null = OpenOptions::new().read(true).write(true).truncate(true).open("/dev/null");
            let zero = File::open("/dev/zero").unwrap();
            [errno(null), errno(fs::remove_file("/dev/null")), control(&zero)]
        });
        // Without the right the call does not reach the device, which does not know the request.
        let controlled = if abi < 5 { libc::ENOTTY } else { libc::EACCES };
        assert_eq!(seen, [0, libc::EACCES, controlled], "ABI {abi}");
        let allowed = [rule("/dev/zero", Access::Device)];
        assert_eq!(
            restricted(abi, &allowed, true, || control(&File::open("/dev/zero").unwrap())),
            libc::ENOTTY
        );
    }
}

fn control(device: &File) -> i32 {
    use std::os::fd::AsRawFd as _;
    let mut size = [0_u16; 4];
    // SAFETY: the kernel writes four numbers at most, and has them here.
    #[allow(unsafe_code)]
    let result = unsafe { libc::ioctl(device.as_raw_fd(), libc::TIOCGWINSZ, size.as_mut_ptr()) };
    of(Errno::result(result).map(drop))
}

/// A process outside, which ends with its input.
fn outsider() -> Child {
    Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn signals_and_abstract_sockets_stay_inside_from_version_six() {
    let name = format!("harbor-landlock-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(name).unwrap();
    let _server = UnixListener::bind_addr(&address).unwrap();
    let mut outsider = outsider();
    let pid = Pid::from_raw(i32::try_from(outsider.id()).unwrap());
    for abi in offered() {
        let seen =
            restricted(abi, &[], true, || [of(kill(pid, None)), errno(UnixStream::connect_addr(&address))]);
        assert_eq!(seen, [if abi < 6 { 0 } else { libc::EPERM }; 2], "ABI {abi}");
    }
    drop(outsider.stdin.take());
    outsider.wait().unwrap();
}

#[test]
fn a_missing_path_is_passed_over_and_a_link_in_one_is_an_error() {
    let place = Place::new();
    symlink(place.at("other"), place.at("link")).unwrap();
    let missing = [rule(place.at("nowhere/at/all"), Access::Write), rule(place.at("read"), Access::Read)];
    let read = restricted(abi(), &missing, true, || errno(fs::read(place.at("read/file"))));
    assert_eq!(read, 0);
    for path in ["link", "link/file"] {
        assert_eq!(errno(restrict(abi(), &[rule(place.at(path), Access::Read)], true)), libc::ELOOP);
    }
    assert_eq!(
        errno(restrict(abi(), &[rule(place.at("read/file/below"), Access::Read)], true)),
        libc::ENOTDIR
    );
    assert_eq!(errno(fs::read(place.at("other/file"))), 0, "after an error this thread is what it was");
}

#[test]
fn what_the_kernel_does_not_offer_is_an_error() {
    assert_eq!(errno(restrict(0, &[], true)), libc::EOPNOTSUPP);
    // As long as the kernel is older than what the crate knows.
    if abi() < 9 {
        assert_eq!(errno(restrict(99, &[], true)), libc::EOPNOTSUPP);
    }
}

#[test]
fn each_version_has_its_rights_and_a_file_those_of_files() {
    let place = Place::new();
    let file = |abi| opened(&rule(place.at("write/file"), Access::Write), abi).unwrap().unwrap().1;
    let written = make_bitflags!(AccessFs::{Execute | ReadFile | WriteFile});
    assert_eq!(file(ABI::V2), written);
    assert_eq!(file(ABI::V6), written | AccessFs::Truncate | AccessFs::IoctlDev);
    let made = make_bitflags!(AccessFs::{MakeChar | MakeBlock});
    assert_eq!(Access::Write.rights(ABI::V6) | made, AccessFs::from_all(ABI::V6));
    assert_eq!(Access::Read.rights(ABI::V6), make_bitflags!(AccessFs::{Execute | ReadFile | ReadDir}));
    let device = make_bitflags!(AccessFs::{ReadFile | WriteFile});
    assert_eq!(Access::Device.rights(ABI::V1), device);
    assert_eq!(Access::Device.rights(ABI::V6), device | AccessFs::Truncate | AccessFs::IoctlDev);
}

#[test]
fn an_opening_for_reading_that_truncates_takes_the_right_to() {
    let place = Place::new();
    let truncated = || OpenOptions::new().read(true).custom_flags(libc::O_TRUNC).open(place.at("read/file"));
    let seen = [2, 3].map(|abi| restricted(abi, &place.rules(), true, || errno(truncated())));
    assert_eq!(seen, [0, libc::EACCES], "before version three nothing refuses this one");
}
