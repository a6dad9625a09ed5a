//! The person's browsers as tool sources: their tools are Harbor's, and the extension performs what the bridge has decided.
//!
//! ```text
//!  host ─► Browser ─ arguments, session, tab, address ─► source_call ─► extension
//!             ▲  └─ browser_session: answered here                         │
//!             │                                                            │
//!  Browsers ──┴── source_result, source_event: tabs that come and go ◄─────┘
//! ```
//!
//! Owns which browsers there are, and the rule that each is there as long as its connection. `policy::tabs` decides who
//! owns a tab and which addresses are opened, here and at each call. Must never pass on a call for a tab that is not the
//! caller's, nor log an address, a title or a text.

mod arguments;
mod asked_sites;
mod batch;
mod by_name;
mod calls;
mod channel;
mod consent_facts;
mod downloads;
mod events;
mod files;
mod finding;
mod page_source;
mod page_sources;
mod parts;
mod results;
mod secrets;
mod session;
mod source;
mod tools;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_home::clock::boot_clock;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    SourceEvent, SourceEventResult, SourceFile, SourceFileResult, SourceRegister, SourceResult, SourceView,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::{SourceId, SourceKind};
use harbor_policy::tabs::{GRACE, Holder, Tabs};

use crate::host::asker::Sender;
use crate::host::source::{SourceGuard, ToolSource as _};
use crate::host::{Host, invalid};
use crate::store::secrets::Secrets;
use calls::BrowserAnswer;
pub use channel::ExtensionChannel;
use page_sources::PageSources;
use parts::BrowserParts;
use source::Browser;
use tools::Tools;

/// The longest name of a browser, in bytes.
const MAX_LABEL: usize = 64;

/// The most abilities that a browser names.
const MOST_ABILITIES: usize = 16;

/// The most browsers at once.
const MOST: usize = 16;

/// All browsers.
#[derive(Debug)]
pub struct Browsers {
    host: Rc<Host>,
    kit: Rc<BrowserParts>,
    all: RefCell<Vec<RegisteredBrowser>>,
    pages: PageSources,
    /// The tabs of browsers whose connection has just ended: it may be back at once.
    parked: RefCell<Vec<ParkedBrowser>>,
}

#[derive(Debug)]
struct RegisteredBrowser {
    browser: Rc<Browser>,
    _added: SourceGuard,
}

#[derive(Debug)]
struct ParkedBrowser {
    browser_session: Arc<str>,
    id: SourceId,
    tabs: Rc<RefCell<Tabs>>,
    until: u64,
}

impl Browsers {
    /// Without browsers. `secrets` is the store of the secrets that tools type by name.
    #[must_use]
    pub fn new(host: Rc<Host>, secrets: Secrets) -> Rc<Self> {
        let kit = BrowserParts { tools: Tools::new(), config: host.config.clone(), secrets };
        let (all, pages, parked) = Default::default();
        Rc::new(Self { host, kit: Rc::new(kit), all, pages, parked })
    }

    /// Adds a browser, or a page that offers tools of its own.
    ///
    /// # Errors
    /// When the message is about neither, or there are too many.
    pub fn register(
        &self,
        road: Rc<dyn ExtensionChannel>,
        message: &SourceRegister,
    ) -> Result<SourceId, ErrorBody> {
        let label = message.name.trim();
        if label.is_empty() || label.len() > MAX_LABEL || label.contains(char::is_control) {
            return Err(invalid("name", "1 to 64 bytes without control characters"));
        }
        match message.kind.as_str() {
            "browser" => self.add_browser(road, label, message),
            "page" => self.pages.offer(&self.host, road, label, message),
            _ => Err(invalid("kind", "browser or page")),
        }
    }

    fn add_browser(
        &self,
        road: Rc<dyn ExtensionChannel>,
        label: &str,
        message: &SourceRegister,
    ) -> Result<SourceId, ErrorBody> {
        if message.tools.is_some() {
            return Err(invalid("tools", "no value: the tools of a browser are Harbor's own"));
        }
        // The extension has started again before its last connection was seen to end.
        let session = road.browser_session();
        self.remove(|browser| browser.road().browser_session() == session);
        if self.all.borrow().len() >= MOST {
            return Err(ErrorBody::new(Code::RateLimited, "too many browsers are connected"));
        }
        let back = self.take_parked(&session);
        let is_free = |id: &SourceId| self.get(id).is_none();
        let id = back.as_ref().map(|parked| parked.id.clone()).filter(is_free);
        let id = id.or_else(|| free_id(label, is_free)).ok_or_else(|| invalid("name", "another name"))?;
        let abilities = message.abilities.iter().flatten().take(MOST_ABILITIES).cloned().collect();
        let tabs = back.map_or_else(Rc::default, |parked| parked.tabs);
        tabs.borrow_mut().lose_downloads();
        let browser = Browser::new(id.clone(), label, road, self.kit.clone(), tabs, abilities);
        let added = self.host.add_source(browser.clone())?;
        self.host.vouch_for(&id, &self.kit.tools.every());
        browser.arm();
        self.all.borrow_mut().push(RegisteredBrowser { browser, _added: added });
        tracing::info!(source = %id, "a browser offers its tools");
        Ok(id)
    }

    /// Removes a browser or a page of this connection; true if there was one.
    pub fn unregister(&self, connection: u64, id: &SourceId) -> bool {
        self.remove(|browser| browser.is(id) && browser.road().connection() == connection)
            | self.pages.remove(|page| page.id() == *id && page.road.connection() == connection)
    }

    /// A connection has ended: its browser and its pages go. A caller that worked in a browser may come back for a while.
    /// True if a source went.
    pub fn leave(&self, connection: u64) -> bool {
        let now = boot_clock();
        for tabs in self.parked.borrow().iter().map(|parked| &parked.tabs) {
            tabs.borrow_mut().leave(connection, now);
        }
        self.all.borrow().iter().for_each(|kept| kept.browser.leave(connection));
        self.remove(|browser| browser.road().connection() == connection)
            | self.pages.remove(|page| page.road.connection() == connection)
    }

    /// Notes that an AI client is back. True if it has a session with this id whose connections have ended, or that it
    /// uses in another one. The client then takes up that session.
    pub fn rejoin(&self, sender: &Sender, origin: Arc<str>, id: &str) -> bool {
        let (holder, connection) =
            (Holder::Client { origin, token_id: sender.token_id.clone() }, sender.client);
        let is_joined =
            self.all.borrow().iter().any(|kept| kept.browser.rejoin(id, &holder, connection).is_ok());
        let join = |parked: &ParkedBrowser| {
            parked.tabs.borrow_mut().join(id, &holder, connection, boot_clock()).is_ok()
        };
        is_joined || self.parked.borrow().iter().any(join)
    }

    /// A conversation is over: its tabs now belong to the person.
    pub fn end_conversation(&self, id: &str) {
        let holder = Holder::Conversation(id.into());
        self.all.borrow().iter().for_each(|kept| kept.browser.end_session_of(&holder));
        for parked in self.parked.borrow().iter() {
            parked.tabs.borrow_mut().end_of(&holder);
        }
    }

    /// The extension has answered a call; true if somebody waits for it.
    ///
    /// # Errors
    /// When the message is no answer.
    pub fn answer(&self, connection: u64, message: SourceResult) -> Result<bool, ErrorBody> {
        let SourceResult { call_id, result, error } = message;
        let ending = match (result, error) {
            (Some(result), None) => BrowserAnswer::Result(result.0),
            (None, Some(error)) => BrowserAnswer::Error(error),
            _ => return Err(invalid("result", "either a result or an error")),
        };
        let ending = match self.pages.end_call(connection, &call_id, ending) {
            Ok(is_awaited) => return Ok(is_awaited),
            Err(ending) => ending,
        };
        let own = self.of_connection(connection);
        let mut ending = Some(ending);
        Ok(own.iter().any(|browser| {
            browser.has_call(&call_id)
                && ending.take().is_some_and(|ending| browser.end_call(&call_id, ending))
        }))
    }

    /// A piece of a file that an open call of this connection carries.
    ///
    /// # Errors
    /// When there is no such call or file, or the disk refuses.
    pub async fn file_piece(
        &self,
        connection: u64,
        message: SourceFile,
    ) -> Result<SourceFileResult, ErrorBody> {
        let SourceFile { call_id, file, offset } = message;
        let own = self.of_connection(connection);
        let files = own.iter().find_map(|browser| browser.calls.files(&call_id));
        let files = files.ok_or_else(|| ErrorBody::new(Code::NotFound, "there is no such open call"))?;
        let found = usize::try_from(file).ok().and_then(|at| files.get(at));
        let found = found.ok_or_else(|| invalid("file", "the place of a file in the call"))?;
        let piece = found.piece(offset).await;
        let piece = piece.map_err(|error| {
            ErrorBody::new(Code::Internal, format!("the file could not be read to its end: {error}"))
        })?;
        Ok(SourceFileResult { data: STANDARD.encode(piece) })
    }

    /// Takes an event of a browser.
    ///
    /// # Errors
    /// When there is no such browser of this connection, or no such event.
    pub fn on_event(&self, connection: u64, message: SourceEvent) -> Result<SourceEventResult, ErrorBody> {
        let browser =
            self.of_connection(connection).into_iter().find(|browser| browser.is(&message.source_id));
        let browser = browser.ok_or_else(|| {
            ErrorBody::new(Code::NotFound, "this connection does not offer this source")
                .with("field", "source_id")
        })?;
        browser.on_event(message)
    }

    /// All sources that are no servers.
    #[must_use]
    pub fn list(&self) -> Vec<SourceView> {
        let others =
            self.host.sources.all().into_iter().filter(|source| source.id().kind() != SourceKind::Server);
        others
            .map(|source| SourceView {
                source_id: source.id().to_string(),
                kind: source.id().kind().as_str().into(),
                label: source.label(),
                state: source.state().into(),
                tool_count: source.tools().map_or(0, |tools| u32::try_from(tools.len()).unwrap_or(u32::MAX)),
            })
            .collect()
    }

    fn get(&self, id: &SourceId) -> Option<Rc<Browser>> {
        self.all.borrow().iter().find(|kept| kept.browser.is(id)).map(|kept| kept.browser.clone())
    }

    fn of_connection(&self, connection: u64) -> Vec<Rc<Browser>> {
        let all = self.all.borrow();
        let own = all.iter().filter(|kept| kept.browser.road().connection() == connection);
        own.map(|kept| kept.browser.clone()).collect()
    }

    /// Removes these browsers, ends their calls and keeps their tabs for a while. True if there was one.
    fn remove(&self, is_meant: impl Fn(&Browser) -> bool) -> bool {
        let gone: Vec<_> = self.all.borrow_mut().extract_if(.., |kept| is_meant(&kept.browser)).collect();
        let until = boot_clock() + GRACE;
        for browser in gone.iter().map(|kept| &kept.browser) {
            browser.lose();
            tracing::info!(source = %browser.id_of(), "a browser is gone");
            self.parked.borrow_mut().push(ParkedBrowser {
                browser_session: browser.road().browser_session(),
                id: browser.id_of(),
                tabs: browser.tabs(),
                until,
            });
        }
        !gone.is_empty()
    }

    fn take_parked(&self, browser_session: &Arc<str>) -> Option<ParkedBrowser> {
        let mut parked = self.parked.borrow_mut();
        let now = boot_clock();
        parked.retain(|one| one.until > now);
        let at = parked.iter().position(|one| one.browser_session == *browser_session)?;
        Some(parked.swap_remove(at))
    }
}

/// A free id: `browser`, else `browser:NAME`, else that with a number.
fn free_id(label: &str, is_free: impl Fn(&SourceId) -> bool) -> Option<SourceId> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = label.chars().map(plain).take(24).collect();
    let name = name.trim_matches('-');
    let name = if ServerId::parse(name).is_some() { name } else { "other" };
    let further = (2..=MOST).map(|number| format!("browser:{name}-{number}"));
    let ids = ["browser".to_owned(), format!("browser:{name}")].into_iter().chain(further);
    ids.filter_map(|id| SourceId::parse(&id)).find(is_free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_browser_has_the_short_name() {
        let taken = RefCell::new(Vec::<String>::new());
        let is_free = |id: &SourceId| !taken.borrow().contains(&id.to_string());
        for (label, id) in [
            ("Chromium", "browser"),
            ("Mozilla Firefox", "browser:mozilla-firefox"),
            ("Mozilla Firefox", "browser:mozilla-firefox-2"),
            ("ä", "browser:other"),
        ] {
            let found = free_id(label, is_free).unwrap().to_string();
            assert_eq!(found, id);
            taken.borrow_mut().push(found);
        }
    }
}
