//! Saves sessions: after each round, and with each call and result of the current round.
//!
//! ```text
//!  answer with calls ─► written ─► call ─► result ─► written ─► …          a bridge that dies leaves open calls: "may have had its effect"
//!  the disk refuses ─► kept, told in health ─► tried again every few seconds, and at the end
//! ```
//!
//! Owns the promise that no message is lost because a disk was full for a while. Must never write down a private session,
//! or one that was deleted.

use std::rc::Rc;
use std::time::Duration;

use super::Agent;
use super::session::Session;
use super::transcript::text;
use super::turn_log::{TurnLog, TurnLogItem};
use super::unsaved::Unsaved;
use crate::store::StoreError;

/// The pause after a failure, before the next try.
const AGAIN: Duration = Duration::from_secs(5);

impl Agent {
    /// Writes a session down, unless it is private. If it cannot be, those who watch are told.
    pub(super) async fn save(self: &Rc<Self>, session: &Rc<Session>, log: &TurnLog) {
        if let Err(error) = self.store_session(session).await {
            log.add(TurnLogItem::Status(format!(
                "this session is not written to the disk yet, and Harbor keeps trying: {error}"
            )));
        }
    }

    /// Writes a session down, unless it is private, with the answer that a turn works on.
    pub(super) async fn store_session(self: &Rc<Self>, session: &Rc<Session>) -> Result<(), StoreError> {
        let is_kept = !session.head.borrow().private && !session.is_gone();
        let stored = match is_kept {
            true => self.store.write(&session.id, text(session)).await,
            false => Ok(()),
        };
        match &stored {
            Ok(()) => drop(self.unsaved.borrow_mut().remove(&session.id)),
            Err(error) => {
                let unsaved = Unsaved { session: session.clone(), why: error.to_string() };
                let is_first = self.unsaved.borrow().is_empty();
                self.unsaved.borrow_mut().insert(session.id.clone(), unsaved);
                if is_first {
                    self.try_again();
                }
            }
        }
        self.tell_unsaved();
        stored
    }

    fn try_again(self: &Rc<Self>) {
        let agent = Rc::downgrade(self);
        tokio::task::spawn_local(async move {
            loop {
                tokio::time::sleep(AGAIN).await;
                let Some(agent) = agent.upgrade() else { return };
                agent.save_all().await;
                if agent.unsaved.borrow().is_empty() {
                    return;
                }
            }
        });
    }

    /// Writes down the sessions that the disk has not taken so far.
    pub async fn save_all(self: &Rc<Self>) {
        let waiting: Vec<_> = self.unsaved.borrow().values().map(|unsaved| unsaved.session.clone()).collect();
        for session in waiting {
            // A session that fails again stays among them.
            let _ = self.store_session(&session).await;
        }
    }

    fn tell_unsaved(&self) {
        let unsaved = self.unsaved.borrow();
        let named = unsaved.iter().map(|(id, unsaved)| format!("{id}: {}", unsaved.why)).collect();
        *self.host.unsaved_sessions.borrow_mut() = named;
    }
}
