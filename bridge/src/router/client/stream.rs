//! A request that stays open and pushes its results until its one answer.
//!
//! ```text
//!  request ─► Stream ── push 0, 1, 2 … ──────────────► the request's answer
//!               ▲ waits while there is no credit, or the client does not read
//!               └─ `more` of the client: so many further pushes
//! ```
//!
//! Owns the numbers of the pushes and their order. Must never leave a push out or give two the same number: a client that
//! finds a gap has lost something. A stream ends with its request: by the answer, or by being cancelled.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use harbor_ipc_proto::field::Message;
use harbor_policy::credit::Credit;
use tokio::sync::Notify;

use super::Client;
use super::account::Account;

/// The pushes of one open request.
#[derive(Debug)]
pub struct Stream {
    client: Rc<Client>,
    id: Rc<str>,
    seq: Cell<u64>,
    account: Rc<Account>,
}

impl Client {
    /// Begins the pushes of an open request. `counts` is true if its client gives credit. None if the request has ended.
    #[must_use]
    pub fn stream(self: &Rc<Self>, id: &Rc<str>, counts: bool) -> Option<Stream> {
        let account = Rc::new(Account { credit: RefCell::new(Credit::new(counts)), more: Notify::new() });
        let is_open = self.open.set_account(id, account.clone());
        is_open.then(|| Stream { client: self.clone(), id: id.clone(), seq: Cell::new(0), account })
    }

    /// Lets the client take `more` pushes of its open request `target`. False if there is no such stream.
    pub fn add_credit(&self, target: &str, more: u32) -> bool {
        let Some(account) = self.open.account(target) else { return false };
        account.credit.borrow_mut().add(more);
        account.more.notify_one();
        true
    }
}

impl Stream {
    /// Sends the next push, once the client has credit and reads; `make` makes it of the request's id and the
    /// push's number. False if it is larger than the client takes: then it was not sent, and the next one has
    /// its number.
    pub async fn push<P: Message>(&self, make: impl FnOnce(&str, u64) -> P) -> bool {
        while !self.account.credit.borrow_mut().take() {
            self.account.more.notified().await;
        }
        self.client.outbox.room().await;
        let seq = self.seq.get();
        let is_sent = self.client.send_if_it_fits(&make(&self.id, seq));
        match is_sent {
            true => self.seq.set(seq + 1),
            false => self.account.credit.borrow_mut().add(1),
        }
        is_sent
    }
}

#[cfg(test)]
mod tests;
