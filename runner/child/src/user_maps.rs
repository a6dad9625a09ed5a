//! The maps of a user namespace that has just begun.
//!
//! Must never map anybody but this user.

use std::fs;
use std::io;

/// Maps the user of the process that has just begun a user namespace to itself.
pub(crate) fn write_maps(user: u32, group: u32) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}
