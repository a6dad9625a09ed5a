//! The calls of origins that have left, each with the right that it runs on.
//!
//! ```text
//!  permit ─► Running ─► the source answers ─► over
//!                 └───► a revocation, a DENY: does a grant still cover it? ─ no ─► ended: the source is told, nobody gets the result
//! ```
//!
//! Owns which calls are under way. Must never decide whether a call is still covered: the grants know.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};

use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::grants::{Grant, Key, Verdict};
use harbor_policy::scope::Scope;

use super::asker::Asker;

/// All calls. Places are used again: as a rule a call takes no memory here.
#[derive(Debug, Default)]
pub(super) struct OriginCalls {
    places: RefCell<Vec<Option<OriginCall>>>,
}

#[derive(Debug)]
struct OriginCall {
    asker: Asker,
    source: SourceId,
    tool: Arc<str>,
    ended: Option<Verdict>,
    waker: Option<Waker>,
}

/// A call that is under way, until this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    calls: Rc<OriginCalls>,
    place: usize,
}

impl OriginCall {
    fn key(&self) -> Key {
        let (origin, profile) = (self.asker.origin.clone(), self.asker.profile.clone());
        Key { origin, profile, scope: Scope::McpToolsCall }
    }
}

impl OriginCalls {
    /// A call is sent now.
    pub(super) fn begin(self: &Rc<Self>, asker: Asker, source: SourceId, tool: Arc<str>) -> Running {
        let call = Some(OriginCall { asker, source, tool, ended: None, waker: None });
        let mut places = self.places.borrow_mut();
        let free = places.iter().position(Option::is_none);
        let place = free.unwrap_or(places.len());
        match free {
            Some(place) => places[place] = call,
            None => places.push(call),
        }
        Running { calls: self.clone(), place }
    }

    /// Ends the calls of a key that no grant covers any more, as `check` says. Returns their number.
    pub(super) fn end(&self, key: &Key, mut check: impl FnMut(&Asker, (&SourceId, &str)) -> Verdict) -> u32 {
        let mut ended = 0;
        for call in self.places.borrow_mut().iter_mut().flatten() {
            if call.ended.is_some() || call.key() != *key {
                continue;
            }
            let verdict = check(&call.asker, (&call.source, &call.tool));
            if !matches!(verdict, Verdict::Granted(_)) {
                call.ended = Some(verdict);
                call.waker.take().into_iter().for_each(Waker::wake);
                ended += 1;
            }
        }
        ended
    }

    /// The grant that each call runs on now.
    pub(super) fn grants(
        &self,
        mut check: impl FnMut(&Asker, (&SourceId, &str)) -> Verdict,
    ) -> Vec<(Key, Grant)> {
        let places = self.places.borrow();
        let open = places.iter().flatten().filter(|call| call.ended.is_none());
        open.filter_map(|call| match check(&call.asker, (&call.source, &call.tool)) {
            Verdict::Granted(grant) => Some((call.key(), grant)),
            _ => None,
        })
        .collect()
    }
}

impl Running {
    /// Waits until nothing covers the call any more.
    pub(super) async fn ended(&self) -> Verdict {
        std::future::poll_fn(|context| {
            let mut places = self.calls.places.borrow_mut();
            let Some(call) = places.get_mut(self.place).and_then(Option::as_mut) else {
                return Poll::Pending;
            };
            match call.ended.take() {
                Some(verdict) => {
                    call.ended = Some(verdict.clone());
                    Poll::Ready(verdict)
                }
                None => {
                    match &mut call.waker {
                        Some(waker) => waker.clone_from(context.waker()),
                        none => *none = Some(context.waker().clone()),
                    }
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Dropping the call may drop others, so the table must not be borrowed meanwhile.
        let call = self.calls.places.borrow_mut().get_mut(self.place).and_then(Option::take);
        drop(call);
    }
}
