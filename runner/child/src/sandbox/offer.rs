//! Finds out by trying how much of a sandbox this kernel offers to this user.
//!
//! Owns the attempt, which changes the process that makes it: this must be a throw-away process.

use std::path::PathBuf;

use super::network::Network;
use super::private_places::Mounts;
use super::{Profile, calls, landlock, namespaces, seccomp};

/// The parts of a sandbox that can be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The version of Landlock's ABI; 0: none.
    pub landlock: u32,
    /// True if system calls can be filtered.
    pub seccomp: bool,
    /// The reason why mount and network namespaces do not work, if they do not.
    pub namespaces: Result<(), String>,
    /// True if a runner can answer for its servers' calls.
    pub answers: bool,
}

/// How long the attempt may take, in seconds.
const LIMIT: u32 = 5;

/// Finds out, by doing to this process what launchers do.
#[must_use]
pub fn find_out() -> Offer {
    // A kernel that hangs on any of it must not keep a process for ever.
    nix::unistd::alarm::set(LIMIT);
    let (landlock, seccomp, namespaces) = (landlock::abi(), seccomp::offered(), try_namespaces());
    // The last: what is in a filter stays there.
    Offer { landlock, seccomp, namespaces, answers: seccomp && calls::offered() }
}

fn try_namespaces() -> Result<(), String> {
    let profile = Profile {
        mounts: Some(Mounts {
            hidden: vec![PathBuf::from("/run")],
            tmp: PathBuf::from("/tmp"),
            links: Vec::new(),
        }),
        network: Network::Loopback,
        ..Profile::default()
    };
    namespaces::enter(&profile, false).map(drop).map_err(|error| error.to_string())
}
