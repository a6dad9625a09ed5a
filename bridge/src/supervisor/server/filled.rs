//! A server whose data exceeds its disk limit is not started anew: it would be ended again, and use as much more of the disk each
//! time.
//!
//! Owns counting its data before. Must never keep a server from starting whose data cannot be counted in time: its runner counts,
//! too.

use std::time::{Duration, Instant};

use harbor_child::usage::Walk;
use harbor_ipc_proto::client::Level;
use harbor_policy::sandbox::settings::numbers;

use super::Server;
use crate::link::EndReport;

/// How long the count may take.
const LIMIT: Duration = Duration::from_secs(2);

/// The most entries that one step looks at.
const AT_ONCE: usize = 256;

const MIB: u64 = 1 << 20;

impl Server {
    /// The reason not to start it: its data has more than the limit.
    pub(super) async fn is_too_full(&self) -> Option<EndReport> {
        let most = self.most_of_disk()?;
        let data = self.root().join("data");
        let place = data.display().to_string();
        let counted = tokio::task::spawn_blocking(move || {
            let (mut walk, end) = (Walk::through(&[data]), Instant::now() + LIMIT);
            while Instant::now() < end {
                if let Some(found) = walk.step(AT_ONCE, most) {
                    return found.bytes;
                }
            }
            0
        });
        let used = counted.await.ok().filter(|bytes| *bytes > most)?;
        let (used, limit, id) = (used.div_ceil(MIB), most / MIB, self.id());
        let message = format!(
            "it is not started: its data has {used} MiB or more, and the limit is {limit}; delete what it does not need in {place}, or raise the limit: `harbor sandbox {id} --disk {}`",
            limit.saturating_mul(2)
        );
        Some(EndReport::because("disk_full", message))
    }

    /// The limit of its settings: before its first start there is no profile yet.
    fn most_of_disk(&self) -> Option<u64> {
        let settings = &self.definition().sandbox;
        let is_held = settings.level != Some(Level::Off);
        numbers(settings).ok().filter(|_| is_held).map(|numbers| numbers.disk)
    }
}
