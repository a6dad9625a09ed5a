//! The messages that go up to the bridge.
//!
//! Owns the queue. Whoever reads a provider's stream waits for room in it, so a bridge that does not read slows the provider.

use harbor_child::outbox::Outbox;
use harbor_ipc_proto::link::codec::put_message;
use harbor_ipc_proto::link::model::{Event, FromModel};

/// Bytes that may wait for a bridge that does not read: far more than [`Up::room`] lets gather.
const LIMIT: usize = 256 * 1024 * 1024;

/// The way up.
#[derive(Debug)]
pub struct Up {
    outbox: Outbox,
}

impl Default for Up {
    fn default() -> Self {
        Self { outbox: Outbox::new(LIMIT) }
    }
}

impl Up {
    /// Sends a message. Refused only where the bridge is gone: nobody waits for this one then.
    pub fn send(&self, message: &FromModel) {
        let _ = self.outbox.push(|out| put_message(out, message));
    }

    /// Sends something of a chat.
    pub fn event(&self, id: u32, event: Event) {
        self.send(&FromModel::Event { id, event });
    }

    /// Waits until little waits.
    pub async fn room(&self) {
        self.outbox.room().await;
    }

    /// For whoever drives it.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }
}
