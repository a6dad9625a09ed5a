//! The one stream of notifications of a modern server: changed lists, and resources that somebody subscribed to.
//!
//! ```text
//!  subscribe, unsubscribe ─► another stream in the place of the one before ─► acknowledged ─► all who waited are answered
//!                                                                └─► an error ─► they are told; the rest is asked for again
//! ```
//!
//! Owns which stream it is, and who waits for it. All callers share it: it must never end because one of them leaves.

use harbor_ipc_proto::link::runner::{CallFailure, Outcome};

use super::Session;
use super::open::{Open, Waiting};
use crate::mcp::message::Answer;
use crate::mcp::write::{Request, put_cancelled, put_json_member};

impl Session {
    /// Opens the stream of notifications with a changed set of resources, and ends the one before. Requests
    /// that waited for the old stream wait for the new one.
    pub(super) fn listen(&self, more: Option<(u64, Option<String>)>, change: impl FnOnce(&mut Vec<String>)) {
        let (uris, before) = {
            let mut listening = self.listening.borrow_mut();
            change(&mut listening.0);
            (listening.0.clone(), listening.1.take())
        };
        let replaced = before.and_then(|before| self.open.borrow_mut().close(before));
        let mut waiting = match replaced {
            Some(Open::Listen(waiting)) => waiting,
            _ => Vec::new(),
        };
        waiting.extend(more);
        self.listening.borrow_mut().1 = self.send(Open::Listen(waiting), &listen_request(&uris), false);
        if let Some(before) = before {
            self.write(|out| put_cancelled(out, before, "replaced"));
        }
    }

    /// The stream stands: those that have waited for it have their answers.
    pub(super) fn on_stream_stands(&self, id: u64) {
        let waiting = match self.open.borrow_mut().get_mut(id) {
            Some(Open::Listen(waiting)) => std::mem::take(waiting),
            _ => return,
        };
        waiting.into_iter().for_each(|(id, _)| self.reply(id, Outcome::Result("{}".into())));
    }

    /// The stream has ended. After an error the last wish cannot be had, and the rest is asked for again.
    /// Otherwise the stream is opened again with the next subscription.
    pub(super) fn on_stream_ended(&self, waiting: Waiting, answer: &Answer<'_>) {
        self.listening.borrow_mut().1 = None;
        for (id, _) in &waiting {
            match answer {
                Answer::Result(_) => self.reply(*id, Outcome::Result("{}".into())),
                Answer::Error { code, message, data } => {
                    let (message, data) = (message.as_ref().into(), data.map(Into::into));
                    self.reply(*id, Outcome::ServerError { code: *code, message, data });
                }
                Answer::Malformed(why) => self.fail(*id, CallFailure::Malformed((*why).into())),
            }
        }
        if !waiting.is_empty() && !matches!(answer, Answer::Result(_)) {
            let refused: Vec<_> = waiting.into_iter().filter_map(|(_, uri)| uri).collect();
            self.listen(None, |uris| uris.retain(|uri| !refused.contains(uri)));
        }
    }

    /// A call waits for the stream no more. The stream is shared, and goes on.
    pub(super) fn wait_no_more(&self, id: u64) {
        let stream = self.listening.borrow().1;
        if let Some(stream) = stream
            && let Some(Open::Listen(waiting)) = self.open.borrow_mut().get_mut(stream)
        {
            waiting.retain(|(waiting, _)| *waiting != id);
        }
    }
}

fn listen_request(uris: &[String]) -> Request {
    let mut filter = Vec::new();
    for list in ["toolsListChanged", "promptsListChanged", "resourcesListChanged"] {
        put_json_member(&mut filter, list, "true");
    }
    if !uris.is_empty() {
        let uris = serde_json::to_string(uris).unwrap_or_else(|_| "[]".into());
        put_json_member(&mut filter, "resourceSubscriptions", &uris);
    }
    let mut members = Vec::new();
    put_json_member(&mut members, "notifications", &format!("{{{}}}", String::from_utf8_lossy(&filter)));
    Request::new("subscriptions/listen", members)
}
