//! The tool `browser_session`, which the bridge answers itself.
//!
//! Owns what a caller is told of its sessions. Must never show the id of a session that somebody has: whoever knows an id
//! may go on with that session once its connection has ended.

use std::rc::Rc;
use std::sync::Arc;

use harbor_home::clock::boot_clock;
use harbor_ipc_proto::client::SourceError;
use harbor_policy::tabs::{Holder, MOST_TABS, NotYours, Session};
use serde_json::{Value, json};

use super::calls::BrowserAnswer;
use super::results::{denied, failed, result};
use super::source::Browser;
use crate::link::ServerAnswer;

/// The refusal for a session that the caller cannot go on with.
const NO_SUCH_SESSION: &str = "you have no session with this id whose connections have ended, or another connection \
                               of yours works in your present one";

impl Browser {
    /// Answers a call of the session tool.
    pub fn on_session(
        self: &Rc<Self>,
        (holder, connection): (&Holder, Option<u64>),
        own: &Arc<str>,
        arguments: &Value,
    ) -> ServerAnswer {
        let id = arguments["id"].as_str();
        let join = |id: &str| match id == &**own {
            true => Ok(()),
            false => self.rejoin(id, holder, connection.ok_or(NotYours)?),
        };
        match arguments["action"].as_str() {
            Some("info") => match id.map_or(Ok(()), join) {
                Ok(()) => self.info(id.unwrap_or(own)),
                Err(NotYours) => denied("no_such_session", NO_SUCH_SESSION),
            },
            Some("name") => match arguments["name"].as_str() {
                None => failed("invalid_params", "name: expected the session's new name"),
                Some(name) => {
                    self.tabs.borrow_mut().rename(own, name);
                    self.info(own)
                }
            },
            Some("list") => self.list(holder, own),
            Some("events") => self.events(own, arguments["after"].as_u64().unwrap_or_default()),
            _ => self.close(own),
        }
    }

    /// Hands the session with this id, whose connections have ended, to its holder in a new one.
    ///
    /// # Errors
    /// When the holder has no such session.
    pub fn rejoin(self: &Rc<Self>, id: &str, holder: &Holder, connection: u64) -> Result<(), NotYours> {
        let before = self.tabs.borrow_mut().join(id, holder, connection, boot_clock())?;
        before.iter().for_each(|session| self.tell_ended(session, false));
        self.arm();
        Ok(())
    }

    fn info(&self, id: &str) -> ServerAnswer {
        let tabs = self.tabs.borrow();
        let Some(session) = tabs.get(id) else { return failed("no_session", "the session is over") };
        result(&json!({
            "id": &*session.id,
            "name": session.name,
            "colour": session.colour,
            "browser": self.label_of(),
            "tabs": session.tabs(),
            "currentTabId": session.current(),
            "mostTabs": MOST_TABS,
            "nextEvent": session.events.next(),
        }))
    }

    fn list(&self, holder: &Holder, own: &Arc<str>) -> ServerAnswer {
        let tabs = self.tabs.borrow();
        let yours = tabs.all().filter(|session| holder.may_have_that_of(&session.holder));
        let shown = |session: &Session| {
            json!({
                "name": session.name,
                "colour": session.colour,
                "tabs": session.tabs().len(),
                "isThis": session.id == *own,
            })
        };
        result(&json!({"sessions": yours.map(shown).collect::<Vec<_>>()}))
    }

    fn events(&self, id: &str, after: u64) -> ServerAnswer {
        let tabs = self.tabs.borrow();
        let Some(session) = tabs.get(id) else { return failed("no_session", "the session is over") };
        let events = session.events.since(after).map(|(number, event)| {
            let mut shown = json!({"number": number, "at": event.at, "event": event.what});
            let more = [
                ("tabId", event.tab.map(Value::from)),
                ("url", event.url.clone().map(Value::from)),
                ("text", event.text.clone().map(Value::from)),
            ];
            more.into_iter().for_each(|(name, value)| {
                if let Some(value) = value {
                    shown[name] = value;
                }
            });
            shown
        });
        result(&json!({"events": events.collect::<Vec<_>>(), "next": session.events.next()}))
    }

    fn close(&self, id: &str) -> ServerAnswer {
        let ended = self.tabs.borrow_mut().end(id);
        ended.iter().for_each(|session| self.tell_ended(session, true));
        let over = || SourceError { code: "closed".into(), message: "the session was closed".into() };
        self.calls.end_all(id, || BrowserAnswer::Error(over()));
        result(&json!({"closed": ended.map_or(0, |session| session.tabs().len())}))
    }
}
