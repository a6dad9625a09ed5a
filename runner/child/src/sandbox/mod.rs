//! The sandbox of a server: the launcher applies each part to itself, just before it becomes the server.
//!
//! ```text
//!  namespaces ─► mounts, network ─► limits ─► capabilities ─► landlock ─► seccomp ─► execve
//! ```
//!
//! Owns the parts and their order. Must never leave out what a profile asks for: a part that cannot be applied is an error,
//! and the server is not started.

pub mod calls;
pub mod landlock;
pub mod limits;
pub mod mounts;
pub mod namespaces;
pub mod network;
pub mod offer;
pub mod private_places;
pub mod seccomp;

use std::path::PathBuf;

use self::landlock::LandlockRule;
use self::limits::Limits;
use self::network::Network;
use self::private_places::Mounts;
use self::seccomp::Filter;

/// The profile of one server. The default restricts nothing.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// The version of Landlock's ABI to use; 0: none.
    pub landlock: u32,
    /// The places of the file system that it may reach.
    pub rules: Vec<LandlockRule>,
    /// Its own view of the file system.
    pub mounts: Option<Mounts>,
    /// The network of its connections.
    pub network: Network,
    /// The filter of its system calls.
    pub filter: Option<Filter>,
    /// The resources that it may use up.
    pub limits: Limits,
    /// True if root gives up the capabilities that ordinary programs do not need.
    pub fewer_capabilities: bool,
}

impl Profile {
    /// The paths that may be reached, for the mounts.
    fn shown(&self) -> impl Iterator<Item = (&PathBuf, bool)> {
        self.rules.iter().map(|rule| (&rule.path, rule.access == landlock::Access::Write))
    }
}
