//! The memory of this machine, and how much of it is left.
//!
//! Owns the look at the kernel's count, and at the limits of the control groups that this process is in. Must run off the loop.

use std::fs;
use std::path::Path;

use harbor_policy::windows;

/// Where control groups of the second version are.
const CGROUPS: &str = "/sys/fs/cgroup";

/// The memory of this machine, in bytes.
pub(super) async fn whole() -> Option<u64> {
    let read = tokio::task::spawn_blocking(|| fs::read_to_string("/proc/meminfo"));
    windows::memory(&read.await.ok()?.ok()?)
}

/// The memory that programs may still take, in bytes: what the kernel says is available, or less where a control group allows
/// less. None where the kernel does not say.
pub fn memory_left() -> Option<u64> {
    let available = windows::memory_available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let group = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let left = group_of(&group).and_then(|group| left_in(Path::new(CGROUPS), group));
    Some(left.map_or(available, |left| left.min(available)))
}

/// The path of a process's group of the second version, from /proc/PID/cgroup.
fn group_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::")).map(|path| path.trim_start_matches('/'))
}

/// The least that is left in a group and those above it.
fn left_in(root: &Path, group: &str) -> Option<u64> {
    let mut at = root.join(group);
    let mut least = None;
    loop {
        let number = |name: &str| fs::read_to_string(at.join(name)).ok()?.trim().parse::<u64>().ok();
        if let (Some(most), Some(used)) = (number("memory.max"), number("memory.current")) {
            let left = most.saturating_sub(used);
            least = Some(least.map_or(left, |least: u64| least.min(left)));
        }
        if at == root || !at.pop() {
            return least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_is_left_in_a_group_and_above_it_counts() {
        assert_eq!(group_of("12:cpu:/x\n0::/user.slice/a\n"), Some("user.slice/a"));
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(left_in(root.path(), "a/b"), None);
        for (group, most, used) in [("a", "1000", "400"), ("a/b", "max", "300")] {
            fs::write(root.path().join(group).join("memory.max"), most).unwrap();
            fs::write(root.path().join(group).join("memory.current"), used).unwrap();
        }
        assert_eq!(left_in(root.path(), "a/b"), Some(600));
    }
}
