//! The calls that a browser has not answered.
//!
//! Owns the promise that each ends once: by its answer, by an end of all calls, or by being dropped, of which the browser
//! is told. Ids are random, so that no connection can answer another one's call.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use harbor_ipc_proto::client::{SourceCancel, SourceError};
use harbor_ipc_proto::json::Json;
use tokio::sync::oneshot;

use super::channel::ExtensionChannel;
use super::files::CarriedFile;
use super::results::{checked, denied, failed, stopped};
use crate::link::{CallError, ServerAnswer};
use crate::supervisor::UnansweredReason;

/// How a call ends.
#[derive(Debug)]
pub(super) enum BrowserAnswer {
    /// The tool's result.
    Result(Json),
    /// The extension's report of a failure.
    Error(SourceError),
    /// The person has stopped the session.
    Stopped,
}

/// The open calls of one browser.
#[derive(Debug, Default)]
pub(super) struct BrowserCalls(RefCell<HashMap<String, OpenBrowserCall>>);

#[derive(Debug)]
struct OpenBrowserCall {
    session: Arc<str>,
    /// The files that the extension may read while it is open.
    files: Rc<Vec<CarriedFile>>,
    caller: oneshot::Sender<BrowserAnswer>,
}

/// An open call. When it is dropped, the browser is told that the call's answer is no longer needed.
#[derive(Debug)]
pub(super) struct BrowserCall {
    calls: Rc<BrowserCalls>,
    road: Rc<dyn ExtensionChannel>,
    id: String,
    answer: oneshot::Receiver<BrowserAnswer>,
}

impl BrowserCalls {
    pub fn open(
        self: &Rc<Self>,
        road: &Rc<dyn ExtensionChannel>,
        id: String,
        session: Arc<str>,
        files: Rc<Vec<CarriedFile>>,
    ) -> BrowserCall {
        let (caller, answer) = oneshot::channel();
        self.0.borrow_mut().insert(id.clone(), OpenBrowserCall { session, files, caller });
        BrowserCall { calls: self.clone(), road: road.clone(), id, answer }
    }

    /// True if there is a call with this id.
    pub fn has(&self, id: &str) -> bool {
        self.0.borrow().contains_key(id)
    }

    /// The files of a call.
    pub fn files(&self, id: &str) -> Option<Rc<Vec<CarriedFile>>> {
        self.0.borrow().get(id).map(|open| open.files.clone())
    }

    /// Ends a call; false if there is none with this id.
    pub fn end(&self, id: &str, ending: BrowserAnswer) -> bool {
        let open = self.0.borrow_mut().remove(id);
        open.is_some_and(|open| open.caller.send(ending).is_ok())
    }

    /// Ends the calls of a session.
    pub fn end_all(&self, session: &str, ending: impl Fn() -> BrowserAnswer) {
        let mut all = self.0.borrow_mut();
        let ids: Vec<_> =
            all.iter().filter(|(_, open)| *open.session == *session).map(|(id, _)| id.clone()).collect();
        let over: Vec<_> = ids.iter().filter_map(|id| all.remove(id)).collect();
        drop(all);
        over.into_iter().for_each(|open| drop(open.caller.send(ending())));
    }

    /// Ends all calls without answers, since the connection has ended.
    pub fn lose(&self) {
        self.0.borrow_mut().clear();
    }
}

impl BrowserCall {
    /// Waits for the answer, for so long. `gone`: the reason where nobody can answer any more.
    pub async fn answered(
        mut self,
        most: Duration,
        gone: impl FnOnce() -> UnansweredReason,
    ) -> Result<ServerAnswer, UnansweredReason> {
        match tokio::time::timeout(most, &mut self.answer).await {
            Err(_) => Err(UnansweredReason::Lost(CallError::Timeout)),
            Ok(Err(_)) => Err(gone()),
            Ok(Ok(BrowserAnswer::Result(result))) => Ok(checked(result)),
            Ok(Ok(BrowserAnswer::Error(error))) if error.code == "denied" => {
                Ok(denied(&error.code, &error.message))
            }
            Ok(Ok(BrowserAnswer::Error(error))) => Ok(failed(&error.code, &error.message)),
            Ok(Ok(BrowserAnswer::Stopped)) => Ok(stopped()),
        }
    }
}

impl Drop for BrowserCall {
    fn drop(&mut self) {
        if self.calls.0.borrow_mut().remove(&self.id).is_some() {
            self.road.cancel(&SourceCancel { call_id: self.id.clone() });
        }
    }
}
