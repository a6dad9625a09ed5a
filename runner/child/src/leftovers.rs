//! Processes that carry a mark in their environment: an earlier life of this program left them behind.
//!
//! Owns finding and ending them. Must never touch this process or those that it descends from: a process that is started
//! from inside a server carries the server's mark.

use std::fs;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::mark::has_mark;
use crate::reaper::{parent_of, send};

/// How often the processes are looked for until they are gone.
const LOOK: Duration = Duration::from_millis(20);

/// How long killed processes may take to disappear.
const LAST: Duration = Duration::from_secs(2);

/// Ends every process whose environment has `name`=`value`. Processes called `polite` get SIGTERM first, and
/// the time `grace` to end their own children. Returns how many there were, and how many could not be ended.
pub async fn end(name: &str, value: &str, polite: &str, grace: Duration) -> (usize, usize) {
    let mark = format!("{name}={value}");
    let found = marked(&mark);
    let waited_for = |pid: &u32| called(*pid).as_deref() == Some(polite);
    for pid in found.iter().filter(|pid| waited_for(pid)) {
        // It may be on its way out already, or stopped.
        let _ = send(*pid, Signal::SIGTERM).and_then(|()| send(*pid, Signal::SIGCONT));
    }
    let _ = until(grace, || !marked(&mark).iter().any(waited_for)).await;
    let mut left = 0;
    let _ = until(LAST, || {
        let marked = marked(&mark);
        for pid in &marked {
            let _ = send(*pid, Signal::SIGKILL);
        }
        left = marked.len();
        left == 0
    })
    .await;
    (found.len(), left)
}

/// Looks again and again until `done` or the time limit. True if it was `done` in time.
async fn until(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let look = async {
        while !done() {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(limit, look).await.is_ok()
}

/// The processes with this mark that are not this one's ancestors.
fn marked(mark: &str) -> Vec<u32> {
    let mut own = vec![std::process::id()];
    while let Some(parent) = own.last().and_then(|pid| parent_of(*pid)).filter(|parent| *parent > 1) {
        own.push(parent);
    }
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| !own.contains(pid) && has_mark(*pid, mark)).collect()
}

/// The first word of its command line. The kernel's own name for it is that of a descriptor's link.
fn called(pid: u32) -> Option<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let word = line.split(|byte| *byte == 0).next()?;
    Some(String::from_utf8_lossy(word).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::process::{Child, Command, Stdio};

    /// A process with this mark that has answered once: before, while it still becomes its program, the kernel shows
    /// no environment for it.
    fn running(mark: &str) -> Child {
        let mut command = Command::new("cat");
        command.env("HARBOR_LEFT", mark).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(b"?").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        child
    }

    #[test]
    fn only_what_carries_the_mark_is_ended() {
        let value = format!("leftovers-{}", std::process::id());
        let (mut mine, mut other) = (running(&value), running("another"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ended = runtime.block_on(end("HARBOR_LEFT", &value, "harbor-runner", Duration::ZERO));
        assert_eq!(ended, (1, 0));
        assert!(!mine.wait().unwrap().success());
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
