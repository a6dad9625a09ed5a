//! Namespaces of one server: a mount namespace and, where its network is its own, a network namespace.
//!
//! Root makes them as it is. Any other user needs a user namespace: that of the runner, whose launchers have the rights for
//! it, or one of the server's own. Owns entering them and setting them up. The caller must give up afterwards the rights
//! that this took.

use std::io;
use std::net::TcpListener;

use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

use super::{Profile, mounts, network};
use crate::user_maps::write_maps;

/// True if this server's rights are counted in a user namespace.
pub type InUserNamespace = bool;

/// Enters the namespaces that `profile` asks for and sets them up. `inside` says that this process is in a user namespace
/// with the rights for it already. Gives the egress proxy's socket, and whether there is a user namespace now.
///
/// # Errors
/// Refusals of the kernel.
pub fn enter(profile: &Profile, inside: bool) -> io::Result<(Option<TcpListener>, InUserNamespace)> {
    let mut kinds = CloneFlags::empty();
    if profile.mounts.is_some() {
        kinds |= CloneFlags::CLONE_NEWNS;
    }
    if profile.network.is_own() {
        kinds |= CloneFlags::CLONE_NEWNET;
    }
    if kinds.is_empty() {
        return Ok((None, inside));
    }
    let needs_user = !inside && !geteuid().is_root();
    if needs_user {
        enter_user_namespace()?;
    }
    unshare(kinds)?;
    if let Some(mounts) = &profile.mounts {
        mounts::arrange(profile, mounts)?;
    }
    Ok((network::set_up(profile.network)?, inside || needs_user))
}

/// Enters a user namespace in which this user keeps the outer ids, and all other users become nobody.
fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER)?;
    write_maps(user.as_raw(), group.as_raw())
}
