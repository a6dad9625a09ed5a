//! Lists of models that providers are asked for at this moment.
//!
//! Owns that a provider is asked once, however many wait for its list. Must never hold up whoever asks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use harbor_ipc_proto::link::model::Model;
use tokio::sync::watch;

/// A list on its way: none while it is not there, none in it if it does not come.
pub(super) type ComingList = Option<Option<Rc<[Model]>>>;

/// The lists on their way, by provider.
#[derive(Debug, Default)]
pub(super) struct ComingLists {
    lists: RefCell<BTreeMap<String, watch::Receiver<ComingList>>>,
}

impl ComingLists {
    /// The list that a provider was asked for, if it is still on its way.
    pub(super) fn of(&self, provider: &str) -> Option<watch::Receiver<ComingList>> {
        let mut lists = self.lists.borrow_mut();
        // One whose other end is gone has come, or never will.
        lists.retain(|_, list| list.has_changed().is_ok());
        lists.get(provider).cloned()
    }

    /// A provider is asked now: both ends of its list.
    pub(super) fn begin(&self, provider: &str) -> (watch::Sender<ComingList>, watch::Receiver<ComingList>) {
        let (told, list) = watch::channel(None);
        self.lists.borrow_mut().insert(provider.to_owned(), list.clone());
        (told, list)
    }

    /// A provider was changed: nobody waits for its old list any more.
    pub(super) fn forget(&self, provider: &str) {
        self.lists.borrow_mut().remove(provider);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_asks_meanwhile_waits_for_the_same_list() {
        let lists = ComingLists::default();
        assert!(lists.of("p").is_none());
        let (told, _) = lists.begin("p");
        let mut waiting = lists.of("p").unwrap();
        told.send(Some(None)).unwrap();
        drop(told);
        assert_eq!(*waiting.wait_for(Option::is_some).await.unwrap(), Some(None));
        assert!(lists.of("p").is_none(), "it has come");
        let (_told, _) = lists.begin("p");
        lists.forget("p");
        assert!(lists.of("p").is_none());
    }
}
