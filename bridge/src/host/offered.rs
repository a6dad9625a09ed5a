//! The last lists of servers' offers besides tools. A client is told of them while the server does not run: reading one
//! starts the server, as a call does.
//!
//! Owns the memory of these lists, here and in harbor.db. Must never tell of a server that a request would not start.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::server_id::ServerId;
use serde::de::IgnoredAny;

use crate::store::StoreError;
use crate::store::offers::{Offer, Offers};
use crate::supervisor::ListKind;

/// The longest list that is kept after its server's process has ended, in bytes.
const LONGEST: usize = 1024 * 1024;

/// The memory.
#[derive(Debug)]
pub(super) struct Offered {
    table: Offers,
    known: RefCell<HashMap<(String, &'static str), Json>>,
}

impl Offered {
    /// Opens the lists that earlier bridges have seen.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) async fn open(table: Offers) -> Result<Rc<Self>, StoreError> {
        let kind_of =
            |word: &str| ListKind::ALL.iter().map(|kind| kind.in_words()).find(|kind| *kind == word);
        let known = table.all().await?.into_iter().filter_map(|Offer { server_id, kind, items }| {
            let items =
                serde_json::from_str::<Vec<IgnoredAny>>(&items).is_ok().then(|| Json::from_valid(items))?;
            Some(((server_id, kind_of(&kind)?), items))
        });
        let known = RefCell::new(known.collect());
        Ok(Rc::new(Self { table, known }))
    }

    /// Keeps the list that a server has just given.
    pub(super) fn keep(self: &Rc<Self>, server: &ServerId, kind: ListKind, items: Json, count: u32) {
        let key = (server.to_string(), kind.in_words());
        let is_kept = count > 0 && items.as_str().len() <= LONGEST;
        let mut known = self.known.borrow_mut();
        let is_as_known = if is_kept { known.get(&key) == Some(&items) } else { !known.contains_key(&key) };
        if is_as_known {
            return;
        }
        match is_kept {
            true => drop(known.insert(key.clone(), items.clone())),
            false => drop(known.remove(&key)),
        }
        let (offered, (server_id, kind)) = (self.clone(), key);
        tokio::task::spawn_local(async move {
            let stored = match is_kept {
                true => {
                    offered
                        .table
                        .put(Offer { server_id, kind: kind.to_owned(), items: items.into_string() })
                        .await
                }
                false => offered.table.forget(server_id, Some(kind)).await,
            };
            if let Err(error) = stored {
                tracing::warn!(%error, "the lists of a server are known only until the bridge ends");
            }
        });
    }

    /// The last list of a server.
    pub(super) fn of(&self, server: &ServerId, kind: ListKind) -> Option<Json> {
        self.known.borrow().get(&(server.to_string(), kind.in_words())).cloned()
    }

    /// Forgets a server that was removed, or that runs another program now.
    pub(super) async fn forget(&self, server: &ServerId) {
        self.known.borrow_mut().retain(|(id, _), _| *id != server.as_str());
        if let Err(error) = self.table.forget(server.to_string(), None).await {
            tracing::warn!(%server, %error, "its former lists are still on disk");
        }
    }
}
