//! The memory of this machine. Must be read off the loop.

use harbor_policy::windows;

/// The memory of this machine, in bytes.
pub(super) async fn memory() -> Option<u64> {
    let read = tokio::task::spawn_blocking(|| std::fs::read_to_string("/proc/meminfo"));
    windows::memory(&read.await.ok()?.ok()?)
}
