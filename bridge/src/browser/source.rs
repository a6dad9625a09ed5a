//! One browser as a tool source, while its extension's connection lasts.
//!
//! Owns the way of one call: arguments, the caller's session, its tab, the address, the extension's answer. Must never
//! keep a call open that the extension can no longer answer.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use harbor_home::clock::{boot_clock, wall_clock};
use harbor_home::instance::random_token;
use harbor_ipc_proto::client::{SourceCall, SourceSession, SourceSessionEnded};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::Operation;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::consent::facts::{Holding, Reach};
use harbor_policy::consent::{Names, Permit};
use harbor_policy::slots::{Slot, Slots};
use harbor_policy::tabs::{Holder, MOST_TABS, NotYours, Session, TabEvent, Tabs};
use serde_json::Value;
use tokio::sync::Notify;

use super::arguments::{self, MAX_ARGUMENTS};
use super::batch::Batch;
use super::calls::{BrowserAnswer, BrowserCalls};
use super::channel::ExtensionChannel;
use super::files::{CarriedFile, ShownFiles};
use super::parts::BrowserParts;
use super::results::{denied, failed, stopped, wrong};
use super::tools::{BATCH, DOWNLOADS, SESSION, WITH_FILES};
use crate::alarm::Alarm;
use crate::host::consent::requested_call::{About, RequestedCall};
use crate::host::source::{Answering, DefaultTime, Steps, ToolSource};
use crate::link::{Audience, CallError, EndReport, Failure, ServerAnswer, TimeLimit, ToolList};
use crate::supervisor::UnansweredReason;

/// The time limit of a call that names none.
const TIME: Duration = Duration::from_secs(60);

/// Most calls at once, of all callers.
const AT_ONCE: u32 = 64;

/// The longest arguments of a call that brings files, in bytes: they go to the browser in pieces.
const MAX_WITH_FILES: usize = 6 * 1024 * 1024;

/// A browser.
#[derive(Debug)]
pub(super) struct Browser {
    id: SourceId,
    label: String,
    road: Rc<dyn ExtensionChannel>,
    pub(super) kit: Rc<BrowserParts>,
    pub(super) tabs: Rc<RefCell<Tabs>>,
    pub(super) calls: Rc<BrowserCalls>,
    /// The files of calls as they were judged.
    pub(super) shown_files: RefCell<ShownFiles>,
    /// Told when something has happened to a download.
    pub(super) downloaded: Notify,
    slots: Slots,
    alarm: Alarm,
    gone: Cell<bool>,
    /// Its abilities that not every browser has.
    abilities: BTreeSet<String>,
}

impl Browser {
    pub fn new(
        id: SourceId,
        label: &str,
        road: Rc<dyn ExtensionChannel>,
        kit: Rc<BrowserParts>,
        tabs: Rc<RefCell<Tabs>>,
        abilities: BTreeSet<String>,
    ) -> Rc<Self> {
        Rc::new(Self {
            id,
            label: label.to_owned(),
            road,
            kit,
            tabs,
            calls: Rc::default(),
            shown_files: RefCell::default(),
            downloaded: Notify::new(),
            slots: Slots::new(AT_ONCE),
            alarm: Alarm::default(),
            gone: Cell::new(false),
            abilities,
        })
    }

    pub fn is(&self, id: &SourceId) -> bool {
        self.id == *id
    }

    pub fn id_of(&self) -> SourceId {
        self.id.clone()
    }

    pub fn label_of(&self) -> &str {
        &self.label
    }

    pub fn road(&self) -> &dyn ExtensionChannel {
        &*self.road
    }

    pub fn tabs(&self) -> Rc<RefCell<Tabs>> {
        self.tabs.clone()
    }

    pub fn has_call(&self, id: &str) -> bool {
        self.calls.has(id)
    }

    pub fn end_call(&self, id: &str, ending: BrowserAnswer) -> bool {
        self.calls.end(id, ending)
    }

    /// Its connection has ended.
    pub fn lose(&self) {
        self.gone.set(true);
        self.calls.lose();
        self.downloaded.notify_waiters();
        self.alarm.clear();
    }

    pub(super) fn is_gone(&self) -> bool {
        self.gone.get()
    }

    /// The connection of a caller has ended.
    pub fn leave(self: &Rc<Self>, connection: u64) {
        self.tabs.borrow_mut().leave(connection, boot_clock());
        self.arm();
    }

    /// Ends the holder's session, if it has one.
    pub fn end_session_of(self: &Rc<Self>, holder: &Holder) {
        let ended = self.tabs.borrow_mut().end_of(holder);
        ended.iter().for_each(|session| self.tell_ended(session, false));
        self.arm();
    }

    /// Sets the alarm for the next session that ends by itself.
    pub fn arm(self: &Rc<Self>) {
        let due = self.tabs.borrow().due();
        let wait = due.map(|due| Duration::from_millis(due.saturating_sub(boot_clock())));
        self.alarm.set(self, wait, |browser| {
            let over = browser.tabs.borrow_mut().expire(boot_clock());
            over.iter().for_each(|session| browser.tell_ended(session, false));
            browser.arm();
        });
    }

    /// Tells the extension that a session is over. Its tabs stay, unless they should be closed.
    pub fn tell_ended(&self, session: &Session, close_tabs: bool) {
        self.road.ended(&SourceSessionEnded {
            source_id: self.id.to_string(),
            session_id: session.id.to_string(),
            close_tabs,
        });
    }

    async fn perform(
        self: &Rc<Self>,
        name: &str,
        given: &str,
        limit: TimeLimit,
        audience: &Audience,
    ) -> Result<ServerAnswer, UnansweredReason> {
        let most = if WITH_FILES.contains(&name) { MAX_WITH_FILES } else { MAX_ARGUMENTS };
        let (Some(schema), true) = (self.kit.tools.schema(name), given.len() <= most) else {
            return Ok(wrong("", "longer than a browser accepts"));
        };
        let mut arguments: Value = serde_json::from_str(given).unwrap_or_default();
        if let Err((path, why)) = arguments::check(schema, &arguments) {
            return Ok(wrong(&path, &why));
        }
        let meaning = match Self::meaning_of(name, &arguments) {
            Ok(meaning) => meaning,
            Err(refusal) => return Ok(refusal),
        };
        let holder = holder(audience);
        if self.tabs.borrow_mut().is_stopped(&holder, boot_clock()) {
            return Ok(stopped());
        }
        let (session, connection) = match self.session_for(&holder, audience) {
            Ok(found) => found,
            Err(refusal) => return Ok(refusal),
        };
        if name == SESSION {
            let hides = self.hides(&session);
            let answer = self.on_session((&holder, connection), &session, &arguments);
            self.arm();
            return Ok(self.hidden(&session, &hides, answer));
        }
        if name == DOWNLOADS {
            let hides = self.hides(&session);
            let answer = self.on_downloads((&holder, &session), (&arguments, given), limit).await;
            self.arm();
            return Ok(self.hidden(&session, &hides, answer));
        }
        let limit = match self.ask_about_sites((&holder, &session), &arguments, limit).await {
            Ok(left) => left,
            Err(refusal) => return Ok(refusal),
        };
        let tab = match self.prepare(name, &session, &mut arguments) {
            Ok(tab) => tab,
            Err(refusal) => return Ok(refusal),
        };
        let limit = match self.may_use(name, (&holder, &session), tab, &mut arguments, limit).await {
            Ok(left) => left,
            Err(refusal) => return Ok(refusal),
        };
        if let Err(refusal) = self.put_secrets_in(&session, tab, &mut arguments).await {
            return Ok(refusal);
        }
        let files = match self.open_files(name, &holder, (&mut arguments, given)).await {
            Ok(files) => files,
            Err(refusal) => return Ok(refusal),
        };
        let action = arguments["action"].as_str().map(str::to_owned);
        let hides = self.hides(&session);
        let answer = match meaning {
            Some(meaning) => {
                let search = audience.page_search.as_ref();
                self.find_meaning(meaning, (&holder, &session), tab, limit, search).await
            }
            None => self.ask((name, arguments, files), (&holder, &session), tab, limit).await,
        };
        if let Ok(ServerAnswer::Result(_)) = &answer {
            self.done((name, action.as_deref()), &session, tab);
        }
        self.arm();
        answer.map(|answer| self.hidden(&session, &hides, self.told(&session, answer)))
    }

    /// The session of a caller, and the connection in which it is used. The person's commands have one session, however short
    /// each is connected.
    fn session_for(
        &self,
        holder: &Holder,
        audience: &Audience,
    ) -> Result<(Arc<str>, Option<u64>), ServerAnswer> {
        let token = random_token();
        let token = token.map_err(|_| failed("internal", "this system gives no random numbers"))?;
        let new = || Arc::from(format!("b-{token}"));
        let mut tabs = self.tabs.borrow_mut();
        let session = tabs.session_of(holder, &group_name(holder), new, boot_clock());
        let party = audience.party.as_ref().filter(|_| *holder != Holder::Owner);
        let connection = party.map(|party| party.client);
        connection.iter().for_each(|connection| tabs.attend(&session, *connection));
        Ok((session, connection))
    }

    /// Decides the bridge's part of a call: the tab that it means, and whether its addresses may be opened.
    fn prepare(&self, name: &str, session: &str, arguments: &mut Value) -> Result<Option<u64>, ServerAnswer> {
        if name == "browser_tabs" {
            self.may_change_tabs(session, arguments)?;
        }
        let tab = self.tab_meant(name, session, arguments)?;
        let others = arguments["tabIds"].as_array().into_iter().flatten().filter_map(Value::as_u64);
        for other in others {
            self.tabs.borrow().meant(session, Some(other)).map_err(|NotYours| foreign())?;
        }
        let judge = |url: &mut Value| -> Result<(), ServerAnswer> {
            let Some(text) = url.as_str() else { return Ok(()) };
            let opened = self.judged(session, text).map_err(|why| denied(why.as_str(), &why.to_string()))?;
            // The address that was judged is the one that is opened.
            *url = Value::from(opened);
            Ok(())
        };
        if let Some(url) = arguments.get_mut("url") {
            judge(url)?;
        }
        let urls = arguments.get_mut("urls").and_then(Value::as_array_mut);
        urls.into_iter().flatten().try_for_each(judge)?;
        Ok(tab)
    }

    fn tab_meant(&self, name: &str, session: &str, arguments: &Value) -> Result<Option<u64>, ServerAnswer> {
        let tabs = self.tabs.borrow();
        let index = arguments["index"].as_u64().filter(|_| name == "browser_tabs");
        let asked = match index {
            Some(index) => {
                let tab =
                    usize::try_from(index).ok().and_then(|at| tabs.get(session)?.tabs().get(at).copied());
                Some(tab.ok_or_else(|| {
                    failed("no_such_tab", "there is no tab with this index; browser_tabs lists yours")
                })?)
            }
            None => arguments["tabId"].as_u64(),
        };
        let tab = tabs.meant(session, asked).map_err(|NotYours| foreign())?;
        Ok(tab)
    }

    fn may_change_tabs(&self, session: &str, arguments: &Value) -> Result<(), ServerAnswer> {
        let tabs = self.tabs.borrow();
        let Some(session) = tabs.get(session) else { return Ok(()) };
        match arguments["action"].as_str() {
            Some("new") => {
                let more = arguments["urls"].as_array().map_or(1, |urls| urls.len().max(1));
                let fits = session.tabs().len() + more <= MOST_TABS;
                fits.then_some(()).ok_or_else(too_many)
            }
            Some("claim") => {
                let name = &session.name;
                let message = format!(
                    "only the person can give you one of their tabs: ask them to drag it into the tab group \"{name}\""
                );
                Err(denied("consent", &message))
            }
            _ => Ok(()),
        }
    }

    /// Asks the extension, and waits for its answer.
    pub(super) async fn ask(
        &self,
        (name, arguments, files): (&str, Value, Rc<Vec<CarriedFile>>),
        (holder, id): (&Holder, &Arc<str>),
        tab: Option<u64>,
        limit: TimeLimit,
    ) -> Result<ServerAnswer, UnansweredReason> {
        let session = self.tabs.borrow().get(id).map(|session| shown(session, tab));
        let (Some(session), Ok(call_id), false) = (session, random_token(), self.gone.get()) else {
            return Err(gone());
        };
        let left = limit.quiet.saturating_sub(limit.used);
        let call = self.calls.open(&self.road, call_id.clone(), id.clone(), files);
        let _counted = SessionCallGuard::begin(&self.tabs, id);
        self.road.call(&SourceCall {
            call_id,
            source_id: self.id.to_string(),
            session_id: id.to_string(),
            principal: holder.principal().to_owned(),
            tool_name: name.to_owned(),
            arguments: Json::from_valid(arguments.to_string()),
            timeout_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            session,
        });
        call.answered(left, gone).await
    }

    /// Notes a call that has succeeded for its session.
    fn done(&self, (name, action): (&str, Option<&str>), session: &str, tab: Option<u64>) {
        let mut tabs = self.tabs.borrow_mut();
        let text = Some(name.to_owned());
        tabs.note(session, TabEvent { at: wall_clock(), what: "call".into(), tab, url: None, text });
        match (name, action, tab) {
            ("browser_tabs", Some("select"), Some(tab)) => {
                // The tab may have gone meanwhile.
                let _ = tabs.select(session, tab);
            }
            ("browser_tabs", Some("release"), Some(tab)) => drop(tabs.part(tab)),
            _ => {}
        }
    }
}

/// A call that counts as open in its session.
struct SessionCallGuard {
    tabs: Rc<RefCell<Tabs>>,
    session: Arc<str>,
}

impl SessionCallGuard {
    fn begin(tabs: &Rc<RefCell<Tabs>>, session: &Arc<str>) -> Self {
        tabs.borrow_mut().count_call(session, true, boot_clock());
        Self { tabs: tabs.clone(), session: session.clone() }
    }
}

impl Drop for SessionCallGuard {
    fn drop(&mut self) {
        self.tabs.borrow_mut().count_call(&self.session, false, boot_clock());
    }
}

/// The holder of the session of a call.
fn holder(audience: &Audience) -> Holder {
    let Some(party) = &audience.party else { return Holder::Owner };
    match (&party.origin, &audience.conversation) {
        (Some(origin), _) => Holder::Client { origin: origin.clone(), token_id: party.token_id.clone() },
        (None, Some(conversation)) => Holder::Conversation(conversation.clone()),
        (None, None) => Holder::Owner,
    }
}

/// The name of a new session's tab group.
fn group_name(holder: &Holder) -> String {
    match holder {
        Holder::Owner => "harbor call".to_owned(),
        Holder::Conversation(_) => "Harbor".to_owned(),
        Holder::Client { origin, .. } => {
            let name = origin.strip_prefix("client://").unwrap_or(origin);
            percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned()
        }
    }
}

pub(super) fn shown(session: &Session, tab: Option<u64>) -> SourceSession {
    SourceSession {
        label: session.name.clone(),
        colour: session.colour.into(),
        tabs: session.tabs().to_vec(),
        tab_id: tab,
    }
}

fn foreign() -> ServerAnswer {
    denied("foreign_tab", "this is not one of your tabs; browser_tabs lists them")
}

fn too_many() -> ServerAnswer {
    failed("too_many_tabs", &format!("a session can have at most {MOST_TABS} tabs; close some"))
}

fn gone() -> UnansweredReason {
    let why = EndReport::because(
        "browser_gone",
        "the browser, or Harbor's extension in it, has ended or restarted",
    );
    UnansweredReason::Lost(CallError::Ended(Rc::new(why)))
}

impl ToolSource for Browser {
    fn id(&self) -> SourceId {
        self.id.clone()
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn tools(&self) -> Option<Rc<ToolList>> {
        Some(self.kit.tools.list(&self.kit.config.now().browser_groups, &self.abilities))
    }

    fn holding<'a>(self: Rc<Self>) -> Answering<'a, Holding> {
        // Each call tells one page only.
        let holding = Holding { reach: Reach::Enforced, opens: true, writes_theirs: true };
        Box::pin(std::future::ready(holding))
    }

    fn about(&self, wish: &RequestedCall<'_>) -> About {
        self.about_call(wish)
    }

    fn files<'a>(self: Rc<Self>, wish: &'a RequestedCall<'a>) -> Answering<'a, Names> {
        Box::pin(async move { self.files_shown(wish).await })
    }

    fn steps(&self, tool: &str, arguments: &str) -> Option<Result<Box<dyn Steps>, Failure>> {
        if tool != BATCH {
            return None;
        }
        let schema = self.kit.tools.schema(BATCH)?;
        Some(Batch::read(schema, arguments).map(|batch| Box::new(batch) as _))
    }

    fn default_time(&self) -> DefaultTime {
        DefaultTime { timeout: TIME, is_set: true }
    }

    fn slot(&self) -> Option<Slot> {
        self.slots.take()
    }

    fn call<'a>(
        self: Rc<Self>,
        _permit: Permit,
        slot: Slot,
        operation: Operation<'a>,
        limit: TimeLimit,
        audience: Audience,
    ) -> Answering<'a, Result<ServerAnswer, UnansweredReason>> {
        Box::pin(async move {
            let _slot = slot;
            match operation {
                Operation::CallTool { name, arguments, .. } => {
                    self.perform(&name, &arguments, limit, &audience).await
                }
                _ => Ok(ServerAnswer::Failed(Failure::NotOffered("anything except tools".into()))),
            }
        })
    }
}
