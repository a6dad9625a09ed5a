//! The extension's events about tabs, and the bridge's verdicts.
//!
//! Owns the verdict on each page that a session's tab opens: the extension waits for it before it acts there.

use std::rc::Rc;
use std::sync::Arc;

use harbor_home::clock::{boot_clock, wall_clock};
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{SourceEvent, SourceEventResult};
use harbor_policy::tabs::{NotTaken, TabEvent};

use super::calls::BrowserAnswer;
use super::source::Browser;
use crate::host::invalid;

/// The longest text that is kept, in characters.
const MAX_TEXT: usize = 2000;

impl Browser {
    /// Takes an event.
    ///
    /// # Errors
    /// When there is no such event, or it lacks its tab.
    pub fn on_event(self: &Rc<Self>, message: SourceEvent) -> Result<SourceEventResult, ErrorBody> {
        let tab = || message.tab_id.ok_or_else(|| invalid("tab_id", "a tab"));
        let said = match message.event.as_str() {
            "tab_opened" => self.on_opened(&message, tab()?),
            "navigated" => self.on_navigated(&message, tab()?)?,
            "frame" => self.on_frame(&message, tab()?)?,
            "tab_closed" | "released" => self.on_parted(&message, tab()?),
            "stop" => self.on_stop(&message)?,
            "download" => accepted(self.on_download(&message, tab()?)?),
            "dialog" => {
                let session = message.session_id.as_deref().map(Arc::<str>::from);
                accepted(self.noted(&message, session.or_else(|| self.session_of(message.tab_id?))))
            }
            "tools_changed" => accepted(true),
            _ => return Err(invalid("event", EVENTS)),
        };
        self.arm();
        Ok(said)
    }

    pub(super) fn session_of(&self, tab: u64) -> Option<Arc<str>> {
        self.tabs.borrow().of_tab(tab).map(|session| session.id.clone())
    }

    fn on_opened(&self, message: &SourceEvent, tab: u64) -> SourceEventResult {
        let session = message.session_id.as_deref();
        let taken = self.tabs.borrow_mut().open(session, message.opener_tab_id, tab);
        match taken {
            Ok(session) => {
                self.noted(message, Some(session));
                SourceEventResult { accepted: true, verdict: Some("allowed".into()), reason: None }
            }
            Err(NotTaken::Full) => no("the session already has the most tabs that it may have", true),
            Err(NotTaken::Foreign) => no("the tab belongs to another session", false),
            Err(NotTaken::NoSession) => no("there is no such session", false),
        }
    }

    fn on_navigated(&self, message: &SourceEvent, tab: u64) -> Result<SourceEventResult, ErrorBody> {
        let url = message.url.as_deref().ok_or_else(|| invalid("url", "an address"))?;
        let Some(session) = self.session_of(tab) else { return Ok(accepted(false)) };
        let judged = self.judged(&session, url);
        self.tabs.borrow_mut().came(tab, judged.is_ok().then_some(url));
        match judged {
            Ok(_) => {
                self.noted(message, Some(session));
                Ok(SourceEventResult { accepted: true, verdict: Some("allowed".into()), reason: None })
            }
            Err(why) => {
                let text = Some(why.to_string());
                let event =
                    TabEvent { at: wall_clock(), what: "denied".into(), tab: Some(tab), url: None, text };
                self.tabs.borrow_mut().note(&session, event);
                Ok(no(&why.to_string(), true))
            }
        }
    }

    /// Judges whether a frame in a session's tab may be read.
    fn on_frame(&self, message: &SourceEvent, tab: u64) -> Result<SourceEventResult, ErrorBody> {
        let url = message.url.as_deref().ok_or_else(|| invalid("url", "an address"))?;
        let Some(session) = self.session_of(tab) else { return Ok(accepted(false)) };
        let allowed = SourceEventResult { accepted: true, verdict: Some("allowed".into()), reason: None };
        Ok(self.judged(&session, url).map_or_else(|why| no(&why.to_string(), true), |_| allowed))
    }

    fn on_parted(&self, message: &SourceEvent, tab: u64) -> SourceEventResult {
        let session = self.tabs.borrow_mut().part(tab);
        accepted(self.noted(message, session))
    }

    fn on_stop(&self, message: &SourceEvent) -> Result<SourceEventResult, ErrorBody> {
        let id = message.session_id.as_deref().ok_or_else(|| invalid("session_id", "a session"))?;
        let Some(session) = self.tabs.borrow_mut().stop(id, boot_clock()) else { return Ok(accepted(false)) };
        self.calls.end_all(id, || BrowserAnswer::Stopped);
        self.downloaded.notify_waiters();
        self.tell_ended(&session, false);
        Ok(accepted(true))
    }

    /// Notes an event for its session; false if there is no session.
    pub(super) fn noted(&self, message: &SourceEvent, session: Option<Arc<str>>) -> bool {
        let short = |text: &String| text.chars().take(MAX_TEXT).collect();
        let event = TabEvent {
            at: wall_clock(),
            what: message.event.clone(),
            tab: message.tab_id,
            url: message.url.as_ref().map(short),
            text: message.title.as_ref().map(short),
        };
        let session = session.filter(|id| self.tabs.borrow().get(id).is_some());
        session.inspect(|id| self.tabs.borrow_mut().note(id, event)).is_some()
    }
}

const EVENTS: &str =
    "tab_opened, tab_closed, navigated, frame, released, stop, dialog, download or tools_changed";

fn accepted(accepted: bool) -> SourceEventResult {
    SourceEventResult { accepted, verdict: None, reason: None }
}

fn no(reason: &str, accepted: bool) -> SourceEventResult {
    SourceEventResult { accepted, verdict: Some("denied".into()), reason: Some(reason.to_owned()) }
}
