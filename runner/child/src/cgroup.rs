//! Control groups (cgroup v2), where the session delegates one to this user: as under `Delegate=yes` in a systemd unit.
//!
//! ```text
//!  the delegated group      has no process itself, so that it may hand controllers on
//!    ├── harbor             the bridge and its runners
//!    └── server-PID-N       one start of a server, with its limits
//! ```
//!
//! Owns these names, and the groups that this process makes. Must never fail a start: without a group, rlimits and the
//! runner's watcher hold the limits, as they do anyway.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The group of the bridge and its runners.
const OWN: &str = "harbor";

/// The controllers that are handed on to servers.
const CONTROLLERS: &str = "+memory +pids +cpu";

/// The resources that a group may use up together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Share {
    /// Bytes of memory; what is over is not swapped out.
    pub memory: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// The niceness towards other groups, 0 to 19.
    pub nice: u8,
}

/// A group that was delegated to this user and hands its controllers on.
#[derive(Debug, Clone)]
pub struct Delegated(PathBuf);

impl Delegated {
    /// Makes way in the group of this process, the bridge, if it is delegated: moves this process into a group below.
    pub fn settle() {
        let Some(group) = own_group() else { return };
        if !is_delegated(&group) {
            return;
        }
        // A part that fails leaves things as they are for servers: they get no groups.
        let _ = move_below(&group);
    }

    /// The group that holds the group of a settled bridge, as one of its runners finds it.
    #[must_use]
    pub fn find() -> Option<Self> {
        let own = own_group()?;
        let group = own.parent().filter(|_| own.ends_with(OWN))?;
        let handed_on = fs::read_to_string(group.join("cgroup.subtree_control")).ok()?;
        let has = |name| handed_on.split_whitespace().any(|handed| handed == name);
        (has("memory") && has("pids")).then(|| Self(group.to_owned()))
    }

    /// Makes a group for one start of a server.
    ///
    /// # Errors
    /// When the kernel refuses; nothing is left behind then.
    pub fn group(&self, name: &str, share: &Share) -> io::Result<Cgroup> {
        let group = Cgroup(self.0.join(name));
        fs::create_dir(&group.0)?;
        group.limit(share)?;
        Ok(group)
    }
}

/// The group of one start of a server. Dropping it kills the remaining processes and removes the group.
#[derive(Debug)]
pub struct Cgroup(PathBuf);

impl Cgroup {
    /// The file by which a process joins it: whoever writes `0` there.
    #[must_use]
    pub fn entrance(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }

    /// True if the kernel has killed in it for want of memory.
    #[must_use]
    pub fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.0.join("memory.events")).unwrap_or_default();
        events.lines().any(|line| line.strip_prefix("oom_kill ").is_some_and(|count| count.trim() != "0"))
    }

    fn limit(&self, share: &Share) -> io::Result<()> {
        let write = |file: &str, value: String| fs::write(self.0.join(file), value);
        if let Some(memory) = share.memory {
            write("memory.max", memory.to_string())?;
            // Not everywhere: without it what is over goes to swap first.
            let _ = write("memory.swap.max", "0".into());
        }
        if let Some(processes) = share.processes {
            write("pids.max", processes.to_string())?;
        }
        // The controller may be missing; the processes' own niceness holds then.
        let _ = write("cpu.weight.nice", share.nice.to_string());
        Ok(())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // The kernel is older than 5.14, or there is nobody left.
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
        // One that is not empty yet stays, without limits for anybody else; the delegated group goes with its unit.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Enters a group by its [entrance](Group::entrance).
pub(crate) fn enter(entrance: &Path) -> io::Result<()> {
    fs::write(entrance, "0")
}

/// The directory of this process's group in the unified hierarchy.
fn own_group() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(mount_point(&fs::read_to_string("/proc/self/mountinfo").ok()?)?.join(path))
}

/// The mount point of the unified hierarchy, by proc_pid_mountinfo(5).
fn mount_point(mounts: &str) -> Option<PathBuf> {
    let is_unified = |line: &&str| {
        line.split_once(" - ").is_some_and(|(_, kind)| kind.split(' ').next() == Some("cgroup2"))
    };
    let line = mounts.lines().find(is_unified)?;
    line.split(' ').nth(4).map(PathBuf::from)
}

/// True if this user may hand on memory and processes in this group. Nobody may use the root of all groups.
fn is_delegated(group: &Path) -> bool {
    let offered = fs::read_to_string(group.join("cgroup.controllers")).unwrap_or_default();
    let has = |name| offered.split_whitespace().any(|offer| offer == name);
    let may_write =
        |file: &str| nix::unistd::access(&group.join(file), nix::unistd::AccessFlags::W_OK).is_ok();
    let is_root = !group.join("cgroup.type").exists();
    !is_root
        && has("memory")
        && has("pids")
        && may_write("cgroup.subtree_control")
        && may_write("cgroup.procs")
}

fn move_below(group: &Path) -> io::Result<()> {
    let below = group.join(OWN);
    match fs::create_dir(&below) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    enter(&below.join("cgroup.procs"))?;
    // Refused where others are in the group, as in a person's session: then this process goes back.
    let handed_on = fs::write(group.join("cgroup.subtree_control"), CONTROLLERS);
    if handed_on.is_err() {
        enter(&group.join("cgroup.procs"))?;
        fs::remove_dir(&below)?;
    }
    handed_on
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unified_hierarchy_is_found_where_it_is_mounted() {
        let mounts = "24 1 0:22 / /sys/fs/cgroup rw,nosuid - tmpfs tmpfs ro\n\
                      25 24 0:23 / /sys/fs/cgroup/unified rw,relatime shared:7 - cgroup2 cgroup2 rw\n";
        assert_eq!(mount_point(mounts), Some(PathBuf::from("/sys/fs/cgroup/unified")));
        assert_eq!(mount_point("24 1 0:22 / / rw - ext4 /dev/x rw\n"), None);
    }

    #[test]
    fn a_group_has_its_limits_and_goes() {
        let dir = std::env::temp_dir().join(format!("harbor-cgroup-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let share = Share { memory: Some(1 << 20), processes: Some(7), nice: 3 };
        let group = Delegated(dir.clone()).group("server-1", &share).unwrap();
        let read = |file: &str| fs::read_to_string(dir.join("server-1").join(file)).unwrap();
        assert_eq!(
            (read("memory.max"), read("pids.max"), read("cpu.weight.nice")),
            ("1048576".into(), "7".into(), "3".into())
        );
        assert!(!group.ran_out_of_memory());
        fs::write(dir.join("server-1/memory.events"), "low 0\noom 1\noom_kill 1\n").unwrap();
        assert!(group.ran_out_of_memory());
        drop(group);
        // Files of a real group need not be removed first.
        fs::remove_dir_all(&dir).unwrap();
    }
}
