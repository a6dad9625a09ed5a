//! Has this process's allocator give free memory back.
//!
//! ```text
//!  read_some ─► stir ─► keeper: nothing read for 300 ms? ─► malloc_trim, and it waits for the next read
//! ```
//!
//! Owns when free memory goes back to the system: large blocks at once, the rest once the process has come to rest.
//! Must never run while there is traffic, nor wake a process that is idle.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;

/// The process rests once it has read nothing for this long. A person who looks a second later does not see the load.
const REST: Duration = Duration::from_millis(300);

thread_local! {
    static STIRRED: Cell<bool> = const { Cell::new(false) };
    static WOKEN: Rc<Notify> = Rc::default();
}

/// Gives blocks over 128 KiB back to the system as soon as they are freed, so that one large answer does not
/// stay in memory for the rest of a process's life. Call it once, before threads exist.
pub fn return_large_blocks() {
    const THRESHOLD: libc::c_int = 128 * 1024;
    // SAFETY: mallopt only sets two numbers of the allocator; both options and values are documented as valid,
    // and no other thread exists yet.
    #[allow(unsafe_code)]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, THRESHOLD);
        libc::mallopt(libc::M_TRIM_THRESHOLD, THRESHOLD);
    }
}

/// How much memory this machine has, in bytes.
#[must_use]
pub fn of_machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Notes that this thread is at work.
pub(crate) fn stir() {
    if !STIRRED.replace(true) {
        WOKEN.with(|woken| woken.notify_one());
    }
}

/// Gives back what is free whenever the process comes to rest: of thousands of small blocks a few live on and
/// pin the rest, which the allocator alone never returns. A task of its own, in the thread that reads.
pub async fn return_at_rest() {
    let woken = WOKEN.with(Rc::clone);
    loop {
        woken.notified().await;
        while STIRRED.replace(false) {
            tokio::time::sleep(REST).await;
        }
        trim();
    }
}

/// Other allocators than glibc's decide that for themselves.
fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: malloc_trim takes the allocator's own locks and may be called at any time, by any thread.
    #[allow(unsafe_code)]
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
#[cfg(target_env = "gnu")]
mod tests {
    use super::*;

    const BLOCKS: usize = 64 * 1024;
    const BLOCK: usize = 1024;

    /// The memory of this process, in bytes.
    fn resident() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().trim().parse::<usize>().unwrap() * 1024
    }

    #[tokio::test(flavor = "local")]
    async fn what_many_small_blocks_leave_goes_back_once_nothing_is_read_any_more() {
        tokio::task::spawn_local(return_at_rest());
        let before = resident();
        let mut blocks: Vec<Vec<u8>> = (0..BLOCKS).map(|at| vec![at as u8; BLOCK]).collect();
        // A few live on everywhere, so that the allocator's own trimming of the heap's end finds nothing.
        let mut at = 0;
        blocks.retain(|_| {
            at += 1;
            at % 1024 == 0
        });
        stir();
        let half = before + BLOCKS * BLOCK / 2;
        let given_back = async {
            while resident() > half {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), given_back).await.unwrap();
        assert_eq!(blocks.len(), BLOCKS / 1024);
    }
}
