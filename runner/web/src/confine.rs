//! The sandbox of a process that speaks HTTP and nothing else: it reads what strangers write, and needs little of this
//! machine.
//!
//! Owns this one profile. Must never be applied after bytes of the network were read.

use std::io;
use std::path::Path;

use harbor_child::sandbox::landlock::{self, Access, LandlockRule};
use harbor_child::sandbox::limits::{self, Limits};
use harbor_child::sandbox::seccomp::{self, Filter, Listen};

/// Paths that a lookup of names and the system's certificates need.
const READ: [&str; 6] = ["/etc", "/usr", "/lib", "/lib64", "/opt", "/nix/store"];
const TALK: [&str; 4] = ["/run/systemd/resolve", "/run/nscd", "/run/resolvconf", "/dev/urandom"];

/// The newest version of Landlock whose refusals are known to leave lookups alone.
const LANDLOCK: u32 = 6;

/// The limit for bytes of data. Each program counts its open requests and takes less: this limit is for the unforeseen.
const MEMORY: u64 = 1024 * 1024 * 1024;

/// A connection for each request, and a few.
const OPEN_FILES: u64 = 1024;

/// The process may only connect, also to the system's resolver, and start threads for that.
const FILTER: Filter = Filter {
    unix_sockets: true,
    udp: true,
    listen: Listen::Never,
    attributes_by_path: false,
    hiding: true,
    scheduling: false,
    processes: false,
};

/// Nothing of this machine can be written, nothing but the system's files read, no port opened, no process started or
/// signalled: by Landlock and seccomp, where the kernel has them. Processes are not limited by number: without a user
/// namespace that counts what else the person runs, and a lookup of a name takes a thread.
///
/// # Errors
/// When the kernel has these means and refuses them.
pub fn confine() -> io::Result<()> {
    let most = Limits { memory: Some(MEMORY), open_files: Some(OPEN_FILES), ..Limits::default() };
    limits::apply(&most, false)?;
    files()?;
    if seccomp::offered() { seccomp::install(&FILTER).map(drop) } else { Ok(()) }
}

fn files() -> io::Result<()> {
    let abi = landlock::abi().min(LANDLOCK);
    if abi == 0 {
        return Ok(());
    }
    let certificates = ["SSL_CERT_FILE", "SSL_CERT_DIR"].map(std::env::var_os);
    let read = READ.iter().map(Path::new).chain(certificates.iter().flatten().map(Path::new));
    let rule = |path: &Path, access| path.canonicalize().ok().map(|path| LandlockRule { path, access });
    let rules: Vec<LandlockRule> = read
        .filter_map(|path| rule(path, Access::Read))
        .chain(TALK.iter().filter_map(|path| rule(Path::new(path), Access::Device)))
        .collect();
    landlock::restrict(abi, &rules, abi < 4)
}
