//! Waits of a module: for a clock, or for files.
//!
//! Owns that the next stretch begins behind a wait.

use wasmi_wasi::sched::SyncSched;
use wasmi_wasi::wasi_common::Error;
use wasmi_wasi::wasi_common::sched::{Duration, Poll, WasiSched};

use crate::stretch::Stretch;

/// The usual waits, noted.
pub(crate) struct Waiting(pub(crate) Stretch);

#[wiggle::async_trait]
impl WasiSched for Waiting {
    async fn poll_oneoff<'a>(&self, poll: &mut Poll<'a>) -> Result<(), Error> {
        let done = SyncSched::new().poll_oneoff(poll).await;
        self.0.begin();
        done
    }

    /// No wait: there is one thread, and it goes on.
    async fn sched_yield(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn sleep(&self, duration: Duration) -> Result<(), Error> {
        let done = SyncSched::new().sleep(duration).await;
        self.0.begin();
        done
    }
}
