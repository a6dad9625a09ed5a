//! The one reaper of a process: it alone waits for children.
//!
//! ```text
//!  SIGCHLD ─► waitid(all, keep the zombie) ─► end its process group ─► waitpid ─► tell whoever watches
//! ```
//!
//! A group is ended while its leader is still a zombie: until then the kernel keeps the number, so the signal can hit nobody
//! else. Children that nobody watches are orphans of servers, which the kernel gave to this process because it is a
//! subreaper. They are reaped, and ended on request. In a PID namespace its init gets them, and ends them on the same
//! request.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;
use tokio::sync::{Notify, oneshot};

use crate::mark::has_mark;
use crate::namespace::Namespace;
use crate::signals::Signals;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The process exited with this code.
    Code(i32),
    /// This signal ended the process.
    Signal(i32),
}

/// How far the end of a child ends its process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildGroup {
    /// The child leads a group of its own. Processes left in the group are killed.
    Own,
    /// The child shares its parent's group.
    Shared,
}

#[derive(Debug)]
struct Watch {
    group: ChildGroup,
    exited: Option<oneshot::Sender<Exit>>,
}

/// Waits for all children of this process. A process has one reaper, used from one thread.
#[derive(Debug, Default)]
pub struct Reaper {
    watched: RefCell<HashMap<u32, Watch>>,
    /// Children from before this program: whoever replaced itself by it may have had some.
    foreign: RefCell<HashSet<u32>>,
    reaped: Notify,
    /// The namespace of this process's children, if it is not the one of this process.
    namespace: Option<Namespace>,
}

impl Reaper {
    /// Starts reaping, on the current local runtime.
    ///
    /// # Errors
    /// When SIGCHLD cannot be listened to.
    pub fn start() -> io::Result<Rc<Self>> {
        Self::start_with(None)
    }

    /// As [`start`](Self::start), for a process whose children are in a namespace.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_with(namespace: Option<Namespace>) -> io::Result<Rc<Self>> {
        let mut ended = Signals::listen(&[Signal::SIGCHLD])?;
        let reaper = Rc::new(Self { namespace, ..Self::default() });
        reaper.foreign.borrow_mut().extend(children());
        let weak = Rc::downgrade(&reaper);
        tokio::task::spawn_local(async move {
            loop {
                ended.recv().await;
                let Some(reaper) = weak.upgrade() else { return };
                while reaper.reap_one() {}
                reaper.reaped.notify_waiters();
            }
        });
        Ok(reaper)
    }

    /// Watches a child that was just started, before anything else could run. The receiver gets its end.
    pub fn watch(&self, pid: u32, group: ChildGroup) -> oneshot::Receiver<Exit> {
        let (sender, receiver) = oneshot::channel();
        self.watched.borrow_mut().insert(pid, Watch { group, exited: Some(sender) });
        receiver
    }

    /// Notes a process group whose leader is a grandchild: if it ever becomes a child of this process, its
    /// group ends with it.
    pub fn expect_orphan(&self, leader: u32) {
        self.watched.borrow_mut().entry(leader).or_insert(Watch { group: ChildGroup::Own, exited: None });
    }

    /// Forgets [`expect_orphan`](Self::expect_orphan).
    pub fn forget_orphan(&self, leader: u32) {
        let mut watched = self.watched.borrow_mut();
        if watched.get(&leader).is_some_and(|watch| watch.exited.is_none()) {
            watched.remove(&leader);
        }
    }

    /// Kills all children that were not started as watched ones, and their children, until none is left or
    /// `limit` has passed. True if none is left.
    pub async fn end_orphans(&self, limit: Duration) -> bool {
        tokio::time::timeout(limit, async {
            self.end_strays(limit).await;
            self.end_orphans_that(|_| true).await;
        })
        .await
        .is_ok()
    }

    /// Like [`end_orphans`](Self::end_orphans), but only for orphans that have the variable `mark`
    /// (`NAME=VALUE`) in their environment: other servers in this process keep their orphans.
    pub async fn end_marked_orphans(&self, mark: &str, limit: Duration) -> bool {
        let marked = self.end_orphans_that(|pid| has_mark(pid, mark));
        tokio::time::timeout(limit, marked).await.is_ok()
    }

    async fn end_orphans_that(&self, are_meant: impl Fn(u32) -> bool) {
        loop {
            let reaped = self.reaped.notified();
            let orphans: Vec<_> = self.orphans().into_iter().filter(|pid| are_meant(*pid)).collect();
            if orphans.is_empty() {
                return;
            }
            for pid in orphans {
                let _ = send(pid, Signal::SIGKILL);
            }
            reaped.await;
        }
    }

    /// Orphans that were started with the variable `mark` in their environment: a server has left them to
    /// this process. In a namespace its init has them.
    #[must_use]
    pub fn orphans_of(&self, mark: &str) -> Vec<u32> {
        if self.namespace.is_some() {
            return Vec::new();
        }
        self.orphans().into_iter().filter(|pid| has_mark(*pid, mark)).collect()
    }

    /// Kills everything in the namespace, where there is one: to be called when what was started there has ended,
    /// so that only what it left behind is there. Without a namespace this does nothing.
    pub async fn end_strays(&self, limit: Duration) {
        if let Some(namespace) = &self.namespace {
            namespace.end_all(limit).await;
        }
    }

    /// The namespace in which children are started.
    #[must_use]
    pub fn namespace(&self) -> Option<&Namespace> {
        self.namespace.as_ref()
    }

    /// Children of this process that nobody here started.
    fn orphans(&self) -> Vec<u32> {
        let (watched, foreign) = (self.watched.borrow(), self.foreign.borrow());
        let started_here = |pid: &u32| watched.get(pid).is_some_and(|watch| watch.exited.is_some());
        children().into_iter().filter(|pid| !started_here(pid) && !foreign.contains(pid)).collect()
    }

    /// Reaps one ended child; false when there is none.
    fn reap_one(&self) -> bool {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        let Some(pid) = waitid(Id::All, flags).ok().and_then(|status| status.pid()) else { return false };
        let number = u32::try_from(pid.as_raw()).unwrap_or_default();
        let watch = self.watched.borrow_mut().remove(&number);
        self.foreign.borrow_mut().remove(&number);
        if watch.as_ref().is_some_and(|watch| watch.group == ChildGroup::Own) {
            let _ = killpg(pid, Signal::SIGKILL);
        }
        let exit = match waitpid(pid, None) {
            Ok(WaitStatus::Exited(_, code)) => Exit::Code(code),
            Ok(WaitStatus::Signaled(_, signal, _)) => Exit::Signal(signal as i32),
            _ => Exit::Code(-1),
        };
        if let Some(exited) = watch.and_then(|watch| watch.exited) {
            let _ = exited.send(exit);
        }
        true
    }
}

/// The children of this process's main thread, which starts them all.
fn children() -> Vec<u32> {
    let path = format!("/proc/self/task/{}/children", nix::unistd::gettid());
    let children = fs::read_to_string(path).unwrap_or_default();
    children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// The parent of a process. None when there is no such process.
#[must_use]
pub fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything; behind it come state and parent.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Sends a signal to one process.
///
/// # Errors
/// When there is no such process.
pub fn send(pid: u32, signal: Signal) -> io::Result<()> {
    Ok(kill(as_pid(pid)?, signal)?)
}

/// Sends a signal to a process group.
///
/// # Errors
/// When there is no such group.
pub fn send_group(leader: u32, signal: Signal) -> io::Result<()> {
    Ok(killpg(as_pid(leader)?, signal)?)
}

/// A pid that is safe to signal: 0 and 1 mean something else to kill(2).
fn as_pid(pid: u32) -> io::Result<Pid> {
    match i32::try_from(pid) {
        Ok(pid) if pid > 1 => Ok(Pid::from_raw(pid)),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}
