//! Has the disks that the person unmounts be unmounted for a server, too.
//!
//! ```text
//!  the kernel: the mounts have changed ─► a disk of the server is gone ─► harbor-runner unmount … in the server's mounts
//! ```
//!
//! Owns the watch, which lasts as long as the server's process, and its words in the server's log. Must never keep a server from
//! starting: without the watch a disk stays mounted until the server ends.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use harbor_child::instructions::Server;
use harbor_child::mounted::{Disk, Disks};
use harbor_child::reaper::{ChildGroup, Exit, Reaper};
use harbor_child::spawn;
use tokio::task::JoinHandle;

use super::Session;
use crate::confinement;

/// Begun before the start, so that no change is missed. None where nothing that is granted can be unmounted.
pub(super) fn disks(server: &Server) -> Option<Disks> {
    let profile = confinement::profile(&server.profile)?;
    let granted: Vec<_> = profile.rules.into_iter().map(|rule| rule.path).collect();
    Disks::with(&granted, &profile.mounts?.tmp).ok()?
}

/// Unmounts for one process of a server. Nobody does once this is dropped.
#[derive(Debug)]
pub(super) struct Unmounting(JoinHandle<()>);

impl Unmounting {
    /// Begins to wait for `disks` to be unmounted, for the server of that `name` and with these `mounts`.
    pub(super) fn start(
        session: &Session,
        name: &str,
        mut disks: Disks,
        mounts: OwnedFd,
        reaper: &Rc<Reaper>,
    ) -> Self {
        let (up, number, reaper, name) =
            (session.up.clone(), session.number, reaper.clone(), name.to_owned());
        Self(tokio::task::spawn_local(async move {
            loop {
                let gone = disks.unmounted().await;
                let is_done = unmount(&mounts, &gone, &reaper).await;
                for Disk { point, .. } in gone {
                    let point = point.display();
                    let text = if is_done {
                        format!(
                            "{point} was unmounted, also in its sandbox; run `harbor restart {name}` when it is \
                             mounted again"
                        )
                    } else {
                        format!(
                            "{point} was unmounted, but not in its sandbox: run `harbor stop {name}` before you unplug \
                             the disk"
                        )
                    };
                    up.remark(number, &text);
                }
            }
        }))
    }
}

impl Drop for Unmounting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn unmount(mounts: &OwnedFd, gone: &[Disk], reaper: &Reaper) -> bool {
    let started =
        mounts.try_clone().and_then(|mounts| spawn::start_unmounting(mounts, gone, reaper.namespace()));
    let Ok(pid) = started else { return false };
    matches!(reaper.watch(pid, ChildGroup::Shared).await, Ok(Exit::Code(0)))
}
