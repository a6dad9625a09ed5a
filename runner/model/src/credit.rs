//! How many deltas of a chat the bridge still takes.

use std::cell::Cell;

use tokio::sync::Notify;

/// The credit of one chat.
#[derive(Debug)]
pub struct Credit {
    /// None: without end.
    left: Cell<Option<u64>>,
    more: Notify,
}

impl Credit {
    /// Credit for `deltas` deltas to begin with; none: without limit.
    pub fn new(deltas: Option<u32>) -> Self {
        Self { left: Cell::new(deltas.map(u64::from)), more: Notify::new() }
    }

    /// Adds credit for `deltas` more.
    pub fn add(&self, deltas: u32) {
        self.left.set(self.left.get().map(|left| left.saturating_add(deltas.into())));
        self.more.notify_one();
    }

    /// Takes one, waiting for it where there is none; whether it had to wait.
    pub async fn take(&self) -> bool {
        let mut waited = false;
        while self.left.get() == Some(0) {
            waited = true;
            self.more.notified().await;
        }
        self.left.set(self.left.get().map(|left| left - 1));
        waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_has_none_waits_for_more() {
        let credit = Credit::new(Some(1));
        assert!(!credit.take().await);
        let (waited, ()) = tokio::join!(credit.take(), async { credit.add(1) });
        assert!(waited);
        let endless = Credit::new(None);
        for _ in 0..100 {
            assert!(!endless.take().await);
        }
    }
}
