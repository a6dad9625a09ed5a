//! Progress of a call, as its caller hears of it.
//!
//! ```text
//!  told by the server ─► policy's pace ─► push          what came too fast waits as the newest one
//!                                 └─────► kept ─► push, once the call has come to its end and before its answer
//! ```
//!
//! Owns the promise that the last sign of progress is not lost. Must never push for a request that has ended.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::time::Instant;

use harbor_ipc_proto::client::Progress as Push;
use harbor_policy::progress::ProgressPace;

use super::client::Client;
use crate::link::{OnProgress, Progress};

struct ProgressReporter {
    client: Weak<Client>,
    request_id: String,
    began: Instant,
    pace: Cell<ProgressPace>,
    kept: RefCell<Option<Push>>,
}

/// The listener for the progress of this request, if its client wants it.
pub(super) fn progress_to(client: &Rc<Client>, request_id: &str, wanted: Option<bool>) -> Option<OnProgress> {
    if wanted != Some(true) {
        return None;
    }
    let telling = ProgressReporter {
        client: Rc::downgrade(client),
        request_id: request_id.to_owned(),
        began: Instant::now(),
        pace: Cell::default(),
        kept: RefCell::default(),
    };
    Some(Rc::new(move |progress| telling.hear(progress)))
}

impl ProgressReporter {
    fn hear(&self, Progress { progress, total, message }: &Progress) {
        let (progress, total, message) = (progress.clone(), total.clone(), message.clone());
        self.kept.replace(Some(Push { request_id: self.request_id.clone(), progress, total, message }));
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut pace = self.pace.get();
        if pace.tells(now) {
            self.tell();
        }
        self.pace.set(pace);
    }

    fn tell(&self) {
        let client = self.client.upgrade().filter(|client| client.is_open(&self.request_id));
        if let (Some(client), Some(push)) = (client, self.kept.take()) {
            client.send_push(&push);
        }
    }
}

/// The call is over, and its answer comes next.
impl Drop for ProgressReporter {
    fn drop(&mut self) {
        self.tell();
    }
}
