//! Runs a program once a server has ended: an engine's removal of its container.
//!
//! Owns that it ends in time. Must never hold up the end for longer, nor judge how it went: the next start looks for itself.

use std::fs::File;
use std::io;
use std::time::Duration;

use harbor_child::instructions::Server;
use harbor_child::reaper::{ChildGroup, Reaper, send_group};
use harbor_child::signal::Signal;
use harbor_child::spawn;

use super::plan::Plan;

/// The time limit of the program.
const LIMIT: Duration = Duration::from_secs(5);

/// Runs it to its end, where there is one.
pub async fn afterwards(plan: &Plan, reaper: &Reaper) {
    if let Some(server) = &plan.afterwards {
        // Whoever starts the server next meets what is left, and removes it.
        let _ = run(server, reaper).await;
    }
}

async fn run(server: &Server, reaper: &Reaper) -> io::Result<()> {
    let nothing = File::open("/dev/null")?;
    let helper = spawn::start_helper(server, nothing.into(), reaper.namespace())?;
    let mut exited = reaper.watch(helper.pid, ChildGroup::Own);
    if tokio::time::timeout(LIMIT, &mut exited).await.is_err() {
        // It may have ended this very moment.
        let _ = send_group(helper.pid, Signal::SIGKILL);
        let _ = exited.await;
    }
    Ok(())
}
